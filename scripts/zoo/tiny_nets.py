# SPDX-License-Identifier: Apache-2.0
"""Small networks for the tests, written node by node; a millisecond of work, but every construct that a reader must know."""

import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A graph under construction; operators return the name of their result."""

    def __init__(self, seed):
        self.random = numpy.random.Generator(numpy.random.PCG64(seed))
        self.nodes, self.initializers, self.sparse, self.count = [], [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, values, stem="constant"):
        name = self.name(stem)
        self.initializers.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def weight(self, *shape, fan_in):
        values = self.random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(math.sqrt(2.0 / fan_in))
        return self.constant(values, "weight")

    def vector(self, size, mean=0.0):
        return self.constant((mean + 0.1 * self.random.standard_normal(size)).astype(numpy.float32), "vector")

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [self.name(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, inputs, outputs, kernel, stride=1, group=1):
        weight = self.weight(outputs, inputs // group, kernel, kernel, fan_in=inputs // group * kernel * kernel)
        return self.op("Conv", x, weight, self.vector(outputs), kernel_shape=[kernel, kernel], strides=[stride, stride],
                       pads=[kernel // 2] * 4, group=group)

    def norm(self, x, channels):
        variance = self.constant(self.random.uniform(0.6, 1.4, channels).astype(numpy.float32), "variance")
        return self.op("BatchNormalization", x, self.vector(channels, 1.0), self.vector(channels), self.vector(channels),
                       variance)

    def linear(self, x, inputs, outputs):
        return self.op("Add", self.op("MatMul", x, self.weight(inputs, outputs, fan_in=inputs)), self.vector(outputs))

    def classifier(self, x, channels, classes):
        x = self.op("Flatten", self.op("GlobalAveragePool", x), axis=1)
        return self.op("Gemm", x, self.weight(classes, channels, fan_in=channels), self.vector(classes), transB=1)

    def graph(self, name, inputs, outputs):
        return helper.make_graph(self.nodes, name, inputs, outputs, self.initializers,
                                 sparse_initializer=self.sparse)


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def cnn(net):
    x = net.op("Relu", net.norm(net.conv("input", 3, 16, 3, stride=2), 16))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    y = net.op("Relu", net.norm(net.conv(x, 16, 16, 3), 16))
    x = net.op("Relu", net.op("Add", net.norm(net.conv(y, 16, 16, 3), 16), x))
    zero, six = net.constant(numpy.float32(0)), net.constant(numpy.float32(6))
    x = net.op("Clip", net.norm(net.conv(x, 16, 16, 3, stride=2, group=16), 16), zero, six)
    x = net.op("Relu", net.conv(x, 16, 32, 1))
    logits = net.classifier(x, 32, 10)
    return [floats("input", 1, 3, 32, 32)], [floats(logits, 1, 10)]


def transformer(net, length=16, width=32, heads=4, layers=2, vocabulary=64):
    x = net.op("Gather", net.weight(vocabulary, width, fan_in=2), "tokens")
    x = net.op("Add", x, net.weight(1, length, width, fan_in=2))
    for _ in range(layers):
        x = net.op("Add", x, attention(net, layer_norm(net, x, width), length, width, heads))
        y = net.linear(layer_norm(net, x, width), width, 4 * width)
        x = net.op("Add", x, net.linear(gelu(net, y), 4 * width, width))
    logits = net.linear(layer_norm(net, x, width), width, vocabulary)
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, length])
    return [tokens], [floats(logits, 1, length, vocabulary)]


def layer_norm(net, x, width):
    return net.op("LayerNormalization", x, net.vector(width, 1.0), net.vector(width), axis=-1)


def gelu(net, x):
    erf = net.op("Erf", net.op("Div", x, net.constant(numpy.float32(math.sqrt(2.0)))))
    return net.op("Mul", net.op("Mul", x, net.op("Add", erf, net.constant(numpy.float32(1)))), net.constant(numpy.float32(0.5)))


def attention(net, x, length, width, heads):
    split = net.constant(numpy.array([1, length, heads, width // heads], dtype=numpy.int64))
    joined = net.constant(numpy.array([1, length, width], dtype=numpy.int64))
    query, key, value = (net.op("Reshape", net.linear(x, width, width), split) for _ in range(3))
    query, value = (net.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (query, value))
    scores = net.op("MatMul", query, net.op("Transpose", key, perm=[0, 2, 3, 1]))
    scores = net.op("Mul", scores, net.constant(numpy.float32(1.0 / math.sqrt(width // heads))))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), value)
    return net.linear(net.op("Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), joined), width, width)


def external(net):
    """Weights in a file of their own, as exporters write large networks."""
    x = net.op("Relu", net.conv("input", 3, 32, 3, stride=2))
    return [floats("input", 1, 3, 32, 32)], [floats(net.classifier(x, 32, 10), 1, 10)]


def dynamic(net):
    """Batch, height and width left open."""
    x = net.op("Relu", net.conv("input", 3, 16, 3, stride=2))
    x = net.op("MaxPool", net.op("Relu", net.conv(x, 16, 16, 3)), kernel_shape=[2, 2], strides=[2, 2])
    logits = net.classifier(x, 16, 10)
    return [floats("input", "batch", 3, "height", "width")], [floats(logits, "batch", 10)]


def lstm(net, length=5, features=8, hidden=16):
    weights = net.weight(1, 4 * hidden, features, fan_in=features)
    recurrent = net.weight(1, 4 * hidden, hidden, fan_in=hidden)
    bias = net.constant(0.1 * net.random.standard_normal((1, 8 * hidden), dtype=numpy.float32))
    sequence, _, _ = net.op("LSTM", "input", weights, recurrent, bias, hidden_size=hidden, outputs=3)
    axes = net.constant(numpy.array([1], dtype=numpy.int64))
    logits = net.linear(net.op("Squeeze", sequence, axes), hidden, 4)
    return [floats("input", length, 1, features)], [floats(logits, length, 1, 4)]


def branch(net, width=8):
    """An If whose two sides differ; the condition depends on the input."""
    sides = []
    for kind in ("Relu", "Tanh"):
        side = Net(net.random.integers(1 << 30))
        result = side.op(kind, side.linear("input", width, width))
        sides.append(side.graph(kind.lower(), [], [floats(result, 1, width)]))
    total = net.op("ReduceSum", "input", keepdims=0)
    condition = net.op("Greater", total, net.constant(numpy.float32(0)))
    result = net.op("If", condition, then_branch=sides[0], else_branch=sides[1])
    logits = net.linear(result, width, 4)
    return [floats("input", 1, width)], [floats(logits, 1, 4)]


def loop(net, width=8, trips=5):
    """A recurrent cell in a Loop with a fixed number of trips; every state is collected."""
    body = Net(net.random.integers(1 << 30))
    state = body.op("Tanh", body.linear("state_in", width, width))
    goes_on, collected = body.op("Identity", "goes_on_in"), body.op("Identity", state)
    graph = body.graph(
        "step",
        [helper.make_tensor_value_info("trip", TensorProto.INT64, []),
         helper.make_tensor_value_info("goes_on_in", TensorProto.BOOL, []), floats("state_in", 1, width)],
        [helper.make_tensor_value_info(goes_on, TensorProto.BOOL, []), floats(state, 1, width), floats(collected, 1, width)])
    count, yes = net.constant(numpy.int64(trips)), net.constant(numpy.bool_(True))
    last, states = net.op("Loop", count, yes, "input", body=graph, outputs=2)
    logits = net.linear(last, width, 4)
    return [floats("input", 1, width)], [floats(logits, 1, 4), floats(states, trips, 1, width)]


def hard_swish_int8(net):
    """The runtime makes two readers of HardSwish, and while it loads that, a second DequantizeLinear."""
    scale, zero = net.constant(numpy.float32(0.02)), net.constant(numpy.uint8(128))
    x = net.op("DequantizeLinear", net.op("QuantizeLinear", "input", scale, zero), scale, zero)
    x = net.op("HardSwish", x)
    return [floats("input", 1, 8, 16, 16)], [floats(x, 1, 8, 16, 16)]


def remainder(net):
    """A remainder takes a step for each bit by which its operands differ: here a hundred, by itself a few."""
    x = net.op("Add", net.op("Mod", "input", net.constant(numpy.full((64, 64), 1e-37, numpy.float32)), fmod=1), "input")
    return [floats("input", 64, 64)], [floats(x, 64, 64)]


def sparse(net):
    """A weight of which three values are stored."""
    name = net.name("sparse")
    values = numpy_helper.from_array(numpy.array([1, 2, 3], numpy.float32), name)
    places = numpy_helper.from_array(numpy.array([0, 5, 31], numpy.int64), name + "_places")
    net.sparse.append(helper.make_sparse_tensor(values, places, [8, 4]))
    x = net.op("Relu", net.op("MatMul", "input", name))
    return [floats("input", 2, 8)], [floats(x, 2, 4)]


def folded(net):
    """Nothing is left to execute: the shape of the input is fixed."""
    x = net.op("Add", net.op("Shape", "input"), net.constant(numpy.array([1, 2], numpy.int64)))
    return [floats("input", 3, 5)], [helper.make_tensor_value_info(x, TensorProto.INT64, [2])]


def handed_on(net):
    """No node at all: the input is the result."""
    return [floats("input", 2, 8)], [floats("input", 2, 8)]


def cache(net):
    """One step of a decoder; the cache may be empty."""
    x = net.op("Concat", "past", "new", axis=2)
    x = net.op("Relu", x)
    return ([floats("past", 1, 8, "length", 64), floats("new", 1, 8, 1, 64)],
            [floats(x, 1, 8, None, 64)])


def lengths(net, length=32, features=8, hidden=16):
    """A GRU whose sequences are as long as an input says."""
    weights = net.weight(1, 3 * hidden, features, fan_in=features)
    recurrent = net.weight(1, 3 * hidden, hidden, fan_in=hidden)
    bias = net.constant(0.1 * net.random.standard_normal((1, 6 * hidden), dtype=numpy.float32))
    counts = net.op("Cast", "lengths", to=TensorProto.INT32)
    sequence, _ = net.op("GRU", "input", weights, recurrent, bias, counts, hidden_size=hidden, outputs=2)
    sizes = helper.make_tensor_value_info("lengths", TensorProto.INT64, [2])
    return [floats("input", length, 2, features), sizes], [floats(sequence, length, 1, 2, hidden)]


BUILDERS = {f.__name__: f for f in (cnn, transformer, external, dynamic, lstm, branch, loop, hard_swish_int8, remainder,
                                    sparse, folded, handed_on, cache, lengths)}


def make(builder, path, opset, seed, data=None):
    """Writes the network; `data` names the file that its weights go to, if not into the network's own."""
    net = Net(seed)
    inputs, outputs = BUILDERS[builder](net)
    graph = net.graph(builder, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="oplat")
    onnx.checker.check_model(model, full_check=not net.sparse)  # its shape inference reads no sparse weights
    if data is None:
        onnx.save_model(model, path)
    else:
        onnx.save_model(model, path, save_as_external_data=True, location=data, size_threshold=0)
