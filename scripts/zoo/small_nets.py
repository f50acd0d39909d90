# SPDX-License-Identifier: Apache-2.0
"""Small networks, written node by node."""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A graph under construction: each function adds a node and gives the name of its result."""

    def __init__(self, signed=False, opset=17):
        self.nodes, self.constants, self.opset, self.count = [], [], opset, 0
        self.type = np.int8 if signed else np.uint8

    def constant(self, values):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, op, *operands, results=1, **attributes):
        self.count += 1
        names = [f"t{self.count}" + (f"_{i}" if results > 1 else "") for i in range(results)]
        self.nodes.append(helper.make_node(op, [one for one in operands], names, name=f"{op.lower()}_{self.count}", **attributes))
        return names if results > 1 else names[0]

    def scales(self, scale, kind=None):
        return self.constant(np.float32(scale)), self.constant((kind or self.type)(0 if kind or self.type == np.int8 else 128))

    def quantised(self, x, scale=0.02):
        """Through eight bits and back."""
        numbers = self.scales(scale)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *numbers), *numbers)

    def weight(self, dims, per_channel=False):
        count = int(np.prod(dims))
        values = self.constant(((np.arange(count) * 7) % 201 - 100).astype(np.int8).reshape(dims))
        if per_channel:
            return self.node("DequantizeLinear", values, self.constant(np.linspace(0.01, 0.02, dims[0], dtype=np.float32)),
                             self.constant(np.zeros(dims[0], np.int8)), axis=0)
        return self.node("DequantizeLinear", values, *self.scales(0.01, np.int8))

    def bias(self, size, per_channel, given):
        scale = np.float32(given) * (np.linspace(0.01, 0.02, size, dtype=np.float32) if per_channel else np.float32(0.01))
        zero = np.zeros(size, np.int32) if per_channel else np.int32(0)
        return self.node("DequantizeLinear", self.constant(np.arange(size).astype(np.int32)), self.constant(scale), self.constant(zero),
                         **({"axis": 0} if per_channel else {}))

    def conv(self, x, channels, results, size=1, per_channel=False, scale=0.02, given=0.02, **attributes):
        """`given`: the scale of x, in whose units the bias is."""
        conv = self.node("Conv", x, self.weight([results, channels, size, size], per_channel), self.bias(results, per_channel, given), kernel_shape=[size, size],
                         pads=[size // 2] * 4, **attributes)
        return self.quantised(conv, scale)

    def linear(self, x, rows, columns, scale=0.02):
        product = self.node("MatMul", x, self.weight([rows, columns]))
        return self.quantised(self.node("Add", product, self.constant(np.linspace(-1, 1, columns, dtype=np.float32))), scale)

    def real(self, *dims):
        """A constant of floats."""
        return self.constant(np.linspace(-0.5, 0.5, int(np.prod(dims)), dtype=np.float32).reshape(dims))

    def real_conv(self, x, channels, results, size=1, **attributes):
        weights = self.real(results, channels // attributes.get("group", 1), size, size)
        return self.node("Conv", x, weights, self.real(results), kernel_shape=[size, size], **{"pads": [size // 2] * 4, **attributes})

    def real_linear(self, x, rows, columns):
        return self.node("Add", self.node("MatMul", x, self.real(rows, columns)), self.real(columns))

    def ints(self, *numbers):
        return self.constant(np.int64(numbers))

    def norm(self, x, size):
        return self.node("LayerNormalization", x, self.real(size), self.real(size), axis=-1)

    def save(self, folder, name, dims, result, infer=True):
        value = lambda one, shape: helper.make_tensor_value_info(one, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, name, [value("x", dims)], [value(result, None)], self.constants)
        domains = {"": self.opset, **{node.domain: 1 for node in self.nodes if node.domain}}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*one) for one in domains.items()], ir_version=8, producer_name="reference_plans")
        onnx.save(onnx.shape_inference.infer_shapes(model) if infer else model, Path(folder) / f"{name}.onnx")
