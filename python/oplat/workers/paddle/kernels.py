# SPDX-License-Identifier: Apache-2.0
"""From a key to a program of k copies of its kernel.

oneDNN's own operators cannot be written into a file; they come from Paddle's by the passes of the
optimiser, so that a fused operator is written as what it is fused from. A kernel that finds its
operand in a layout of oneDNN gets it from a convolution of one tap, as in a network.
"""
import math
from dataclasses import dataclass, field

from ..errors import Unsupported
from ..inputs import NUMPY_OF, Type
from ..keys import Alias, Key, Tensor
from . import operators
from .operators import OPERATORS
from .pir import PIR_OF, Writer

PIR_OF_ATTRIBUTE = {"i32": "0.a_i32", "i64": "0.a_i64", "f32": "0.a_f32", "bool": "0.a_bool", "str": "0.a_str"}
MOST_ELEMENTS = 1 << 40
# Fused operators whose parts stand for themselves.
ELEMENTWISE = {"fused_elementwise_" + name: whole for name, whole in
               (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("div", "divide"))}


def attribute_node(kind, value):
    if kind.endswith("[]"):
        return {"#": "0.a_array", "D": [attribute_node(kind[:-2], each) for each in value]}
    if kind == "bool":
        value = value in (True, "true")
    return {"#": PIR_OF_ATTRIBUTE[kind], "D": float(value) if kind == "f32" else value}


def elements(tensor):
    """The values of a printed constant, one for each element."""
    values = tensor.value if isinstance(tensor.value, list) else [tensor.value] * max(1, tensor.elements())
    if len(values) != max(1, tensor.elements()):
        raise Unsupported(f"a constant of {tensor.elements()} elements with {len(values)} values")
    return values


@dataclass
class Build:
    """A program under construction."""

    writer: Writer = field(default_factory=Writer)
    inputs: dict = field(default_factory=dict)  # name -> Type
    weights: dict = field(default_factory=dict)  # name of the parameter -> (Type, draw, fan-in)

    def feed(self, tensor):
        name = f"x{len(self.inputs)}"
        kind = Type(tensor.dtype, tensor.dims)
        self.inputs[name] = kind
        value, = self.writer.add("pd_op.data", [], {
            "name": attribute_node("str", name), "shape": {"#": "1.a_intarray", "D": tensor.dims},
            "dtype": {"#": "1.a_dtype", "D": NUMPY_OF[tensor.dtype]}, "place": {"#": "1.a_place", "D": [0, 0, ""]}}, [kind])
        return value

    def weight(self, tensor, draw):
        value, name = self.writer.parameter(Type(tensor.dtype, tensor.dims))
        fan_in = math.prod(tensor.dims[1:]) if len(tensor.dims) == 4 else tensor.dims[0] if len(tensor.dims) == 2 else 1
        self.weights[name] = (Type(tensor.dtype, tensor.dims), draw, fan_in)
        return value

    def constant(self, tensor):
        values = elements(tensor)
        place = {"#": "1.a_place", "D": [1, 0, ""]}
        dtype = {"#": "1.a_dtype", "D": NUMPY_OF[tensor.dtype]}
        kind = [Type(tensor.dtype, tensor.dims)]
        if tensor.dtype == "i64" and len(tensor.dims) == 1:
            return self.writer.add("pd_op.full_int_array", [], {"value": attribute_node("i64[]", values), "dtype": dtype, "place": place}, kind)[0]
        if len(set(values)) > 1:
            raise Unsupported(f"a constant of type {tensor.dtype} with different values")
        value = {"#": "0.a_f64", "D": float(values[0] in (1, "true") if tensor.dtype == "bool" else values[0])}
        return self.writer.add("pd_op.full", [], {"shape": {"#": "1.a_intarray", "D": tensor.dims}, "value": value, "dtype": dtype, "place": place}, kind)[0]

    def operation(self, op, operands, attributes, results):
        """An operator of OPERATORS; gives the values of its results."""
        spec = OPERATORS[op]
        types = spec.types()
        nodes = {name: attribute_node(kind, value) for name, (kind, value) in spec.fixed.items()}
        for name, kind in types.items():
            if name in attributes:
                nodes[name] = attribute_node(kind, attributes[name])
        unknown = set(attributes) - set(types)
        if unknown:
            raise Unsupported(f"{op} with {', '.join(sorted(unknown))}")
        kinds = [Type(each.dtype, each.dims) for each in results]
        if spec.vector_result:
            vector, = self.writer.add("pd_op." + (spec.name or op), operands, nodes, [kinds])
            return self.writer.add("builtin.split", [vector], {}, kinds)
        for more in spec.more_results[len(kinds) - 1:]:
            channels = results[0].dims[1:2] or results[0].dims
            kinds.append(Type("f32", channels) if more == "c" else Type("u8", [-1] if more == "?" else results[0].dims))
        return self.writer.add("pd_op." + (spec.name or op), operands, nodes, kinds)

    def combine(self, values, tensors):
        return self.writer.add("builtin.combine", values, {}, [[Type(each.dtype, each.dims) for each in tensors]])[0]

    def fetch(self, value, tensor):
        self.writer.add("pd_op.fetch", [value], {"name": attribute_node("str", "y"), "col": attribute_node("i32", 0)}, [Type(tensor.dtype, tensor.dims)])

    def in_onednn_layout(self, value, tensor, apart):
        """The same shape in oneDNN's layout. `apart`: with a pooling of one element behind the
        convolution, which nothing fuses with."""
        if len(tensor.dims) != 4 or tensor.dtype != "f32":
            raise Unsupported("a layout of oneDNN for a tensor other than four dimensions of f32")
        channels = tensor.dims[1]
        attributes = {"strides": [1, 1], "paddings": [0, 0], "padding_algorithm": "EXPLICIT", "dilations": [1, 1], "groups": channels, "data_format": "NCHW"}
        weights = self.weight(Tensor("f32", [channels, 1, 1, 1], True), 0)
        value, = self.operation("depthwise_conv2d", [value, weights], attributes, [tensor])
        if not apart:
            return value
        pool = {"strides": [1, 1], "paddings": [0, 0], "ceil_mode": False, "exclusive": True, "data_format": "NCHW", "pooling_type": "max",
                "global_pooling": False, "adaptive": False, "padding_algorithm": "EXPLICIT"}
        return self.operation("pool2d", [value, self.constant(Tensor("i64", [2], True, 1))], pool, [tensor])[0]


def dispatched(key):
    """The kernel by which an empty call is timed comes from no model and is ONNX's; Paddle has the
    same."""
    return Key("paddle", "relu", {}, key.operands, key.results) if (key.domain, key.op) == ("", "Relu") else key


class Kernel:
    """One kernel, ready to be written again and again."""

    def __init__(self, key):
        self.key = key = dispatched(key)
        if key.domain not in ("paddle", "paddle.onednn"):
            raise Unsupported(f"{key.domain or 'onnx'}:{key.op}: is not an operator of Paddle")
        for entry in key.operands + key.results:
            if isinstance(entry, Tensor):
                if entry.dtype not in PIR_OF or NUMPY_OF[entry.dtype] is None or entry.dims is None or None in entry.dims:
                    raise Unsupported("a tensor of unknown type or shape")
                if entry.elements() > MOST_ELEMENTS:
                    raise Unsupported(f"a tensor of {entry.elements()} elements")
        if not key.results or not isinstance(key.results[0], Tensor):
            raise Unsupported("a kernel without a result")
        if None in key.attributes.values():
            raise Unsupported("an unknown attribute")
        self.layouts = key.tags.get("onednn_layout", [])
        if not isinstance(self.layouts, list) or set(key.tags) - {"onednn_layout"}:
            raise Unsupported("unknown tags")
        if key.op not in OPERATORS and key.op not in ELEMENTWISE and key.op != "fused_conv2d":
            raise Unsupported(f"{key.domain}:{key.op}: oplat cannot build this operator")

    def is_view(self):
        return self.key.domain == "paddle" and self.key.op in operators.VIEWS and isinstance(self.key.operands[0], Tensor)

    def chained(self):
        """The operand that a copy takes from the one before; None where shapes differ."""
        result = self.key.results[0]
        if self.is_view():  # there and back again
            return 0
        for index, entry in enumerate(self.key.operands):
            if isinstance(entry, Tensor) and not entry.constant and (entry.dims, entry.dtype) == (result.dims, result.dtype):
                # The result of a kernel that reads oneDNN's layout is in it, or the copies would
                # differ.
                return index if (index in self.layouts) == self.result_in_onednn() else None
        return None

    def result_in_onednn(self):
        if self.key.domain != "paddle.onednn":
            return False
        return self.key.op in operators.CONVOLUTIONS or (0 in self.layouts and self.key.op not in operators.PLAIN_RESULT)

    def bytes(self, copies, distinct):
        """What k copies hold, about."""
        weights = activations = 0
        for entry in self.key.operands + self.key.results:
            if isinstance(entry, Tensor):
                size = entry.elements() * 8 if entry.dtype in ("i64", "f64") else entry.elements() * 4
                if entry.constant:
                    weights += size
                else:
                    activations += size
        # oneDNN packs the weights of every copy anew.
        own = copies if distinct or self.key.domain == "paddle.onednn" else 1
        return weights * (own + 1) + activations * 3

    def build(self, copies, chain, distinct):
        build = Build()
        fixed, shared = self._operands(build)
        link = self.chained() if chain else None
        if link is not None and self.is_view():
            return self._there_and_back(build, copies, fixed)
        value = None
        for copy in range(copies):
            operands = []
            for index, entry in enumerate(self.key.operands):
                if link is not None and copy and self._root(index) == link:
                    operands.append(value)
                elif index in fixed:
                    operands.append(fixed[index])
                elif isinstance(entry, Tensor) and entry.constant:
                    if copy == 0 or distinct:
                        shared[index] = build.weight(entry, copy if distinct else 0)
                    operands.append(shared[index])
                else:
                    operands.append(0)
            value = self._write(build, operands)
        build.fetch(value, self.key.results[0])
        if not build.weights:  # Paddle wants a file of parameters that is not empty
            build.weight(Tensor("f32", [1], True), 0)
        return build

    def _there_and_back(self, build, copies, fixed):
        """A view changes the shape; every second copy gives the operand's back, so that each finds
        an operand that it may reuse."""
        there, back = self.key.results[0], self.key.operands[0]
        shape = build.constant(Tensor("i64", [len(back.dims)], True, back.dims))
        value = fixed[0]
        for copy in range(copies):
            if copy % 2:
                value, = build.operation("reshape", [value, shape], {}, [back])
            else:
                value = self._write(build, [value] + [fixed[index] for index in range(1, len(self.key.operands))])
        build.fetch(value, there if copies % 2 else back)
        build.weight(Tensor("f32", [1], True), 0)
        return build

    def _root(self, index):
        entry = self.key.operands[index]
        return entry.index if isinstance(entry, Alias) else index

    def _operands(self, build):
        """Values that all copies share: inputs, and constants whose elements the key tells."""
        fixed = {}
        fusing = self.key.op not in ("conv2d", "fused_conv2d", "pool2d")
        for index, entry in enumerate(self.key.operands):
            if isinstance(entry, Alias):
                fixed[index] = fixed[entry.index]
            elif isinstance(entry, Tensor) and not entry.constant:
                fixed[index] = build.feed(entry)
                if index in self.layouts:
                    fixed[index] = build.in_onednn_layout(fixed[index], entry, fusing or index > 0)
            elif isinstance(entry, Tensor) and entry.value is not None:
                fixed[index] = build.constant(entry)
        return fixed, {}

    def _write(self, build, operands):
        key, op = self.key, self.key.op
        results = [entry for entry in key.results if isinstance(entry, Tensor)]
        attributes = dict(key.attributes)
        if op == "fused_conv2d":
            return self._conv(build, operands, attributes, results)
        if op in ELEMENTWISE:
            activation = self._activation(attributes)
            value, = build.operation(ELEMENTWISE[op], operands, self._without(attributes, {"axis": -1}), results)
            return activation(build, value, results)
        if op == "fc":
            activation = self._activation(attributes)
            value, = build.operation(op, operands, {"activation_type": "", **attributes}, results)
            return activation(build, value, results)
        if op == "batch_norm" and attributes.pop("fuse_with_relu", None):
            value = build.operation(op, operands, attributes, results)[0]
            return build.operation("relu", [value], {}, results)[0]
        if op == "shuffle_channel" and key.domain == "paddle.onednn":
            return self._shuffle(build, operands[0], attributes.get("group"), results[0])
        spec = OPERATORS[op]
        if spec.vector:
            count = sum(1 for entry in key.operands if not (isinstance(entry, Tensor) and entry.value is not None))
            tensors = [key.operand(index) for index in range(count)]
            operands = [build.combine(operands[:count], tensors), *operands[count:]]
        operands += [0] * sum(1 for index in spec.optional if index >= len(operands))
        return build.operation(op, operands, attributes, results)[0]

    @staticmethod
    def _without(attributes, neutral):
        """Takes attributes out that have no say; what is left cannot be made."""
        return {name: value for name, value in attributes.items() if neutral.get(name) != value}

    @staticmethod
    def _activation(attributes):
        """Takes the fused activation out of `attributes`; gives the function that writes it."""
        name = attributes.pop("fuse_activation", "")
        coefficients = {each: attributes.pop(each, 0.0) for each in ("fuse_alpha", "fuse_beta")}
        if not name:
            return lambda build, value, results: value
        if name not in operators.ACTIVATIONS:
            raise Unsupported(f"the fused activation {name}")
        op, sources = operators.ACTIVATIONS[name]
        given = {each: coefficients.get(source, source) for each, source in sources.items()}
        return lambda build, value, results: build.operation(op, [value], given, results)[0]

    def _conv(self, build, operands, attributes, results):
        activation = self._activation(attributes)
        residual = attributes.pop("fuse_residual_connection", "false") == "true"
        operands = operands + [0] * (4 - len(operands))
        value, = build.operation("conv2d", operands[:2], attributes, results)
        if operands[2]:
            value, = build.operation("add", [value, operands[2]], {}, results)
        if residual:
            value, = build.operation("add", [value, operands[3]], {}, results)
        return activation(build, value, results)

    @staticmethod
    def _shuffle(build, value, group, result):
        if len(result.dims) != 4 or not isinstance(group, int) or group < 1 or result.dims[1] % group:
            raise Unsupported("a shuffle of something other than groups of channels")
        n, c, h, w = result.dims
        apart, turned = [n, group, c // group, h, w], [n, c // group, group, h, w]
        shape = build.constant(Tensor("i64", [5], True, apart))
        value, = build.operation("reshape", [value, shape], {}, [Tensor(result.dtype, apart)])
        value, = build.operation("transpose", [value], {"perm": [0, 2, 1, 3, 4]}, [Tensor(result.dtype, turned)])
        shape = build.constant(Tensor("i64", [4], True, result.dims))
        return build.operation("reshape", [value, shape], {}, [result])[0]


def draw_weights(numpy, build, seed):
    """Weights of such a size that what a chain of copies computes stays in range; no zeros, no
    denormals."""
    arrays = {}
    for name, (kind, draw, fan_in) in build.weights.items():
        generator = numpy.random.default_rng([seed, draw, len(kind.dims), fan_in])
        dtype = NUMPY_OF[kind.dtype]
        if dtype not in ("float32", "float64", "float16"):
            arrays[name] = numpy.ones(kind.dims, dtype)
            continue
        least = 0.5 if len(kind.dims) < 2 else 0.01  # variances of a batch norm are positive
        values = generator.uniform(least, 1.0, kind.dims)
        if len(kind.dims) > 1:
            values *= generator.choice([-1.0, 1.0], kind.dims) * math.sqrt(6.0 / max(1, fan_in))
        arrays[name] = values.astype(dtype)
    return arrays
