#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX network of 500 MB: eight matrix products with weights of their own. Run with the
Python of .venv."""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS = 8
WIDTH = 3953  # 8 x 3953 x 3953 floats are 500.04 MB


def network():
    random = numpy.random.Generator(numpy.random.PCG64(1))
    nodes, weights = [], []
    for layer in range(LAYERS):
        values = random.standard_normal((WIDTH, WIDTH), dtype=numpy.float32) / numpy.float32(WIDTH**0.5)
        weights.append(numpy_helper.from_array(values, f"weights{layer}"))
        result = "output" if layer == LAYERS - 1 else f"value{layer + 1}"
        nodes.append(helper.make_node("MatMul", ["input" if layer == 0 else f"value{layer}", f"weights{layer}"], [result]))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("input", "output")]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: large_model.py FILE.onnx")
    onnx.save(network(), sys.argv[1])
