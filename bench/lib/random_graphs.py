# SPDX-License-Identifier: Apache-2.0
"""Small random ONNX graphs from a seed: what networks are made of, put together as networks are
not.

A graph starts from an input of a random kind (matrix, tokens, image, sequence) and grows by random
parts, each of which reads a value that is there already and adds another. Parts are chosen so that
a prediction has to get right what is easy to get wrong: branches, shared weights, views at the
edges of the graph, sizes that integers decide (constants, or computed from data), bodies of control
flow, weights that may be replaced, results that nobody uses, several types. No kernel does more
than some 60 million operations, so that a graph takes 5 us to 5 ms. The same seed gives the same
bytes.
"""
import random

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MAX_ELEMENTS = 300_000
MAX_MULTIPLY_ADDS = 25_000_000
MAX_ATTEMPTS = 40
OPSETS = (15, 17, 18, 21)
IR_VERSION = 8
FLOATS = (numpy.float32, numpy.float64, numpy.float16)
UNARY = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Softplus", "HardSigmoid", "Erf", "Abs", "Neg", "Elu", "Floor", "Softsign")
UNARY_OF_ALL_FLOATS = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Floor")
REDUCTIONS = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare")


class NotHere(Exception):
    """The part does not fit the value; another is tried."""


class Value:
    def __init__(self, name, dtype, shape, fixed=True):
        self.name, self.dtype, self.shape = name, numpy.dtype(dtype), tuple(int(size) for size in shape)
        self.fixed = fixed  # whether the graph alone says the shape

    @property
    def elements(self):
        return int(numpy.prod(self.shape, dtype=numpy.int64))

    def info(self, name=None):
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        return helper.make_tensor_value_info(name or self.name, kind, self.shape if self.fixed else [None] * len(self.shape))


def require(condition):
    if not condition:
        raise NotHere


class Builder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = numpy.random.RandomState(seed % 2**32)
        self.opset = self.random.choice(OPSETS)
        self.nodes, self.initialisers, self.inputs, self.values = [], [], [], []
        self.weights = {}  # (dtype, shape): names, to be shared
        self.names = 0
        self.outputs = []

    # Names, constants, nodes.
    def fresh(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def chance(self, share):
        return self.random.random() < share

    def constant(self, array):
        name = self.fresh("c")
        self.initialisers.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def weight(self, shape, dtype=numpy.float32, scale=None):
        """Random numbers that keep values bounded; now and then those of an earlier node."""
        key = (numpy.dtype(dtype).name, tuple(shape))
        if key in self.weights and self.chance(0.5):
            return self.random.choice(self.weights[key])
        scale = scale or 1 / max(1.0, numpy.sqrt(numpy.prod(shape[1:] or shape)))
        name = self.constant(self.numbers.uniform(-scale, scale, shape).astype(dtype))
        self.weights.setdefault(key, []).append(name)
        return name

    def input(self, shape, dtype=numpy.float32, stem="x"):
        value = Value(self.fresh(stem), dtype, shape)
        self.inputs.append(value)
        return value

    def node(self, op, inputs, results, **attributes):
        """`results`: (dtype, shape) of each, None for one that nobody reads and that has no
        name."""
        names = [self.fresh() if result is not None else "" for result in results]
        domain = attributes.pop("domain", "")
        inputs = [entry.name if isinstance(entry, Value) else entry for entry in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, name=self.fresh("n"), domain=domain, **attributes))
        made = [Value(name, *result) for name, result in zip(names, results) if result is not None]
        return made[0] if len(made) == 1 else made

    def like(self, op, value, *more, **attributes):
        return self.node(op, [value, *more], [(value.dtype, value.shape, value.fixed)], **attributes)

    def take(self, value):
        self.values.append(value)
        return value

    # Integers that decide sizes.
    def computed(self, value):
        """[value] as a one-element integer tensor that no optimiser folds: the number of elements
        of an input that are not 0."""
        marks = self.input([value], stem="m")
        found = self.node("NonZero", [marks], [(numpy.int64, (1, value), False)])
        shape = self.node("Shape", [found], [(numpy.int64, (2,))])
        return self.node("Gather", [shape, self.integers(1)], [(numpy.int64, (1,))], axis=0)

    def size(self, value):
        """(one-element integer tensor, whether the graph alone says it)."""
        if self.chance(0.4) and value <= 4000:
            return self.computed(value), False
        return self.integers(value), True

    def sizes(self, *values):
        parts = [self.size(value) if value > 1 else (self.integers(value), True) for value in values]
        if all(fixed for _, fixed in parts):
            return self.integers(*values), True
        return self.node("Concat", [part for part, _ in parts], [(numpy.int64, (len(values),))], axis=0), False

    # Parts. Each takes a value and gives another, or raises NotHere.
    def unary(self, x):
        require(x.dtype in FLOATS)
        return self.like(self.random.choice(UNARY if x.dtype == numpy.float32 else UNARY_OF_ALL_FLOATS), x)

    def binary(self, x):
        require(x.dtype in FLOATS and x.shape)
        others = [v for v in self.values if v.shape == x.shape and v.dtype == x.dtype and v is not x]
        other = self.random.choice(others) if others and self.chance(0.7) else self.weight(x.shape[-1:], x.dtype, 1.0)
        return self.like(self.random.choice(("Add", "Mul", "Sub")), x, other)

    def branches(self, x):
        """Two ways from one value, which meet again."""
        require(x.dtype in FLOATS and x.shape and x.elements <= MAX_ELEMENTS // 2)
        left, right = self.unary(x), self.unary(x) if self.chance(0.7) else x
        if self.chance(0.4) and x.fixed:
            axis = self.random.randrange(len(x.shape))
            shape = [2 * size if i == axis else size for i, size in enumerate(x.shape)]
            return self.node("Concat", [left, right], [(x.dtype, shape)], axis=axis)
        return self.like(self.random.choice(("Add", "Mul", "Max")), left, right)

    def matmul(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and len(x.shape) in (2, 3))
        k, rows = x.shape[-1], x.elements // max(1, x.shape[-1])
        n = self.random.choice((16, 64, 128, 256, k))
        require(k > 1 and rows * k * n <= MAX_MULTIPLY_ADDS)
        y = self.node("MatMul", [x, self.weight([k, n], x.dtype)], [(x.dtype, (*x.shape[:-1], n), x.fixed)])
        return self.like("Add", y, self.weight([n], x.dtype)) if self.chance(0.5) else y

    def gemm(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and len(x.shape) == 2)
        rows, k = x.shape
        n = self.random.choice((10, 64, 128, 512))
        require(k > 1 and rows * k * n <= MAX_MULTIPLY_ADDS)
        turned = self.chance(0.5)
        operands = [x, self.weight([n, k] if turned else [k, n], x.dtype)] + ([self.weight([n], x.dtype)] if self.chance(0.7) else [])
        return self.node("Gemm", operands, [(x.dtype, (rows, n), x.fixed)], transB=int(turned))

    def conv(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 4 and x.fixed and min(x.shape[2:]) >= 3)
        n, c, h, w = x.shape
        kernel, stride = self.random.choice((1, 3, 3, 5)), self.random.choice((1, 1, 2))
        kind = self.random.choice(("full", "full", "depthwise", "groups"))
        groups = c if kind == "depthwise" else 2 if kind == "groups" and c % 2 == 0 else 1
        out = c if kind == "depthwise" else self.random.choice((8, 16, 32, 64))
        pad = kernel // 2
        oh, ow = (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1
        require(n * out * oh * ow * (c // groups) * kernel * kernel <= MAX_MULTIPLY_ADDS and n * out * oh * ow <= MAX_ELEMENTS)
        operands = [x, self.weight([out, c // groups, kernel, kernel])] + ([self.weight([out])] if self.chance(0.6) else [])
        y = self.node("Conv", operands, [(x.dtype, (n, out, oh, ow))], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)
        return self.like("Relu", y) if self.chance(0.5) else y

    def pool(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 4 and x.fixed and min(x.shape[2:]) >= 4)
        n, c, h, w = x.shape
        kind = self.random.choice(("MaxPool", "AveragePool", "GlobalAveragePool", "indices"))
        if kind == "GlobalAveragePool":
            return self.node(kind, [x], [(x.dtype, (n, c, 1, 1))])
        shape = (n, c, h // 2, w // 2)
        if kind == "indices":  # nobody uses the values
            indices = self.node("MaxPool", [x], [(x.dtype, shape), (numpy.int64, shape)], kernel_shape=[2, 2], strides=[2, 2])[1]
            return self.node("Cast", [indices], [(numpy.float32, shape)], to=TensorProto.FLOAT)
        return self.node(kind, [x], [(x.dtype, shape)], kernel_shape=[2, 2], strides=[2, 2])

    def resize(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 4 and x.fixed and 4 * x.elements <= MAX_ELEMENTS)
        n, c, h, w = x.shape
        mode = self.random.choice(("nearest", "linear"))
        sizes, fixed = self.sizes(n, c, 2 * h, 2 * w) if self.chance(0.5) else (None, True)
        if sizes is not None:
            return self.node("Resize", [x, "", "", sizes], [(x.dtype, (n, c, 2 * h, 2 * w), fixed)], mode=mode)
        scales = self.constant(numpy.array([1, 1, 2, 2], numpy.float32))
        return self.node("Resize", [x, "", scales], [(x.dtype, (n, c, 2 * h, 2 * w))], mode=mode)

    def norm(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) >= 2)
        if len(x.shape) == 4:
            c = x.shape[1]
            ones, zeros = self.constant(numpy.full(c, 1.1, numpy.float32)), self.constant(numpy.full(c, 0.1, numpy.float32))
            if self.chance(0.5):
                return self.like("BatchNormalization", x, ones, zeros, zeros, ones)
            return self.like("InstanceNormalization", x, ones, zeros)
        require(self.opset >= 17 and x.shape[-1] > 1)
        return self.like("LayerNormalization", x, self.constant(numpy.full(x.shape[-1], 1.1, numpy.float32)), self.weight(x.shape[-1:]), axis=-1)

    def softmax(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and x.shape)
        return self.like(self.random.choice(("Softmax", "LogSoftmax")), x, axis=self.random.choice((-1, -1, 0)))

    def reduction(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and x.shape and x.fixed)
        axis = self.random.randrange(len(x.shape))
        op = self.random.choice((*REDUCTIONS, "ReduceSum"))
        shape = [1 if i == axis else size for i, size in enumerate(x.shape)]
        if op == "ReduceSum" or self.opset >= 18:
            return self.node(op, [x, self.integers(axis)], [(x.dtype, shape)], keepdims=1)
        return self.node(op, [x], [(x.dtype, shape)], axes=[axis], keepdims=1)

    def transpose(self, x):
        require(len(x.shape) >= 2)
        order = list(range(len(x.shape)))
        self.random.shuffle(order)
        return self.node("Transpose", [x], [(x.dtype, [x.shape[i] for i in order], x.fixed)], perm=order)

    def view(self, x):
        """What moves nothing except at an edge of the graph."""
        kind = self.random.choice(("Reshape", "Flatten", "Unsqueeze", "Squeeze", "Identity", "Dropout"))
        if kind == "Identity" or kind == "Dropout" and x.dtype not in FLOATS:
            return self.like("Identity", x)
        if kind == "Dropout":
            return self.like("Dropout", x)
        require(x.fixed and x.shape)
        if kind == "Flatten":
            return self.node("Flatten", [x], [(x.dtype, (x.shape[0], x.elements // x.shape[0]))], axis=1)
        if kind == "Unsqueeze":
            return self.node("Unsqueeze", [x, self.integers(0)], [(x.dtype, (1, *x.shape))])
        if kind == "Squeeze":
            require(len(x.shape) > 1 and x.shape[0] == 1)
            return self.node("Squeeze", [x, self.integers(0)], [(x.dtype, x.shape[1:])])
        shape = (x.shape[0], x.elements // x.shape[0]) if len(x.shape) > 2 else (1, *x.shape)
        return self.node("Reshape", [x, self.integers(*shape)], [(x.dtype, shape)])

    def slice(self, x):
        require(x.fixed and x.shape and max(x.shape) >= 4)
        axis = x.shape.index(max(x.shape))
        end = self.random.randint(2, x.shape[axis] - 1)
        ends, fixed = self.size(end)
        shape = [end if i == axis else size for i, size in enumerate(x.shape)]
        return self.node("Slice", [x, self.integers(0), ends, self.integers(axis)], [(x.dtype, shape, fixed)])

    def split(self, x):
        """One of the parts is used by nobody, sometimes."""
        require(x.fixed and x.shape and max(x.shape) >= 4)
        axis = x.shape.index(max(x.shape))
        first = self.random.randint(1, x.shape[axis] - 1)
        shapes = [[size if i == axis else other for i, other in enumerate(x.shape)] for size in (first, x.shape[axis] - first)]
        parts = self.node("Split", [x, self.integers(first, x.shape[axis] - first)], [(x.dtype, shape) for shape in shapes], axis=axis)
        if self.chance(0.6):
            self.take(parts[0])
        return parts[1]

    def pad(self, x):
        require(x.dtype in FLOATS and x.fixed and x.shape and 2 * x.elements <= MAX_ELEMENTS)
        by = self.random.randint(1, 3)
        shape = [size + (2 * by if i == len(x.shape) - 1 else 0) for i, size in enumerate(x.shape)]
        pads = [0] * (len(x.shape) - 1) + [by]
        mode = self.random.choice(("constant", "edge"))
        return self.node("Pad", [x, self.integers(*pads, *pads)], [(x.dtype, shape)], mode=mode)

    def tile(self, x):
        require(x.fixed and x.shape and x.dtype != numpy.float16 and 4 * x.elements <= MAX_ELEMENTS)
        times = self.random.randint(2, 4)
        repeats, fixed = self.sizes(*[times if i == 0 else 1 for i in range(len(x.shape))])
        return self.node("Tile", [x, repeats], [(x.dtype, (times * x.shape[0], *x.shape[1:]), fixed)])

    def expand(self, x):
        require(x.fixed and x.shape and x.elements <= 4000)
        times = self.random.choice((4, 16, 64))
        sizes, fixed = self.sizes(times, *[1] * len(x.shape))
        return self.node("Expand", [x, sizes], [(x.dtype, (times, *x.shape), fixed)])

    def top(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and x.fixed and x.shape and 8 <= x.shape[-1] <= 8000)
        k = self.random.randint(1, x.shape[-1] // 2)
        size, fixed = self.size(k)
        shape = (*x.shape[:-1], k)
        values, indices = self.node("TopK", [x, size], [(x.dtype, shape, fixed), (numpy.int64, shape, fixed)], axis=-1)
        used = self.random.choice(("values", "indices", "both"))
        if used == "values":
            return values
        floats = self.node("Cast", [indices], [(x.dtype, shape, fixed)], to=helper.np_dtype_to_tensor_dtype(x.dtype))
        return floats if used == "indices" else self.node("Add", [values, floats], [(x.dtype, shape, fixed)])

    def gather(self, x):
        require(x.fixed and x.shape and x.shape[0] >= 2)
        count = self.random.choice((4, 32, 200))
        require(count * x.elements // x.shape[0] <= MAX_ELEMENTS)
        if self.chance(0.5):
            indices = self.constant(self.numbers.randint(0, x.shape[0], count).astype(numpy.int64))
        else:
            indices = self.input([count], numpy.int64, "i")
        return self.node("Gather", [x, indices], [(x.dtype, (count, *x.shape[1:]))], axis=0)

    def integer_work(self, x):
        """Integers that are computed with, and their way back."""
        require(x.dtype == numpy.float32 and x.fixed and x.shape and x.shape[-1] > 1)
        shape = x.shape[:-1]
        best = self.node("ArgMax", [x], [(numpy.int64, shape)], axis=-1, keepdims=0)
        moved = self.like("Add", best, self.integers(3))
        if self.chance(0.6):
            moved = self.like(self.random.choice(("Mul", "Div", "Mod")), moved, self.integers(2))
        if self.chance(0.5):
            return self.node("Cast", [moved], [(numpy.float32, shape)], to=TensorProto.FLOAT)
        return moved

    def range_of(self, x):
        """A length that is computed, added to the last axis."""
        require(x.dtype == numpy.float32 and x.fixed and x.shape and 2 <= x.shape[-1] <= 4000)
        size, fixed = self.size(x.shape[-1])
        limit = self.node("Squeeze", [size, self.integers(0)], [(numpy.int64, ())])
        zero, one = self.constant(numpy.int64(0)), self.constant(numpy.int64(1))
        numbers = self.node("Range", [zero, limit, one], [(numpy.int64, (x.shape[-1],), fixed)])
        floats = self.node("Cast", [numbers], [(numpy.float32, (x.shape[-1],), fixed)], to=TensorProto.FLOAT)
        return self.like("Add", x, floats)

    def where(self, x):
        require(x.dtype in (numpy.float32, numpy.float64) and x.shape)
        above = self.node("Greater", [x, self.constant(numpy.array(0.1, x.dtype))], [(numpy.bool_, x.shape, x.fixed)])
        return self.node("Where", [above, x, self.constant(numpy.array(0.5, x.dtype))], [(x.dtype, x.shape, x.fixed)])

    def attention(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 3 and x.fixed and x.shape[-1] % 4 == 0 and x.shape[1] <= 256)
        b, t, d = x.shape
        heads = self.random.choice((1, 2, 4))
        require(b * t * d * max(d, t) <= MAX_MULTIPLY_ADDS)
        sides = []
        for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)):
            y = self.node("MatMul", [x, self.weight([d, d])], [(x.dtype, x.shape)])
            y = self.node("Reshape", [y, self.integers(b, t, heads, d // heads)], [(x.dtype, (b, t, heads, d // heads))])
            sides.append(self.node("Transpose", [y], [(x.dtype, [y.shape[i] for i in order])], perm=list(order)))
        scores = self.like("Softmax", self.node("MatMul", sides[:2], [(x.dtype, (b, heads, t, t))]), axis=-1)
        y = self.node("MatMul", [scores, sides[2]], [(x.dtype, (b, heads, t, d // heads))])
        y = self.node("Transpose", [y], [(x.dtype, (b, t, heads, d // heads))], perm=[0, 2, 1, 3])
        return self.node("Reshape", [y, self.integers(b, t, d)], [(x.dtype, (b, t, d))])

    def recurrent(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 3 and x.fixed)
        steps, batch, size = x.shape
        hidden = self.random.choice((16, 32, 64))
        op, gates = self.random.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
        require(steps * batch * gates * hidden * (size + hidden) <= MAX_MULTIPLY_ADDS)
        operands = [x, self.weight([1, gates * hidden, size]), self.weight([1, gates * hidden, hidden])]
        lengths = self.random.choice(("none", "equal", "unequal", "input"))
        if lengths == "input":
            operands += ["", self.input([batch], numpy.int32, "n").name]
        elif lengths != "none":
            values = [steps if lengths == "equal" else self.random.randint(1, steps) for _ in range(batch)]
            operands += ["", self.constant(numpy.array(values, numpy.int32))]
        y, last = (x.dtype, (steps, 1, batch, hidden)), (x.dtype, (1, batch, hidden))
        results = self.random.choice(([y], [None, last], [y, last]))
        made = self.node(op, operands, results, hidden_size=hidden)
        made = made[-1] if isinstance(made, list) else made
        if len(made.shape) == 3:
            return made
        return self.node("Squeeze", [made, self.integers(1)], [(x.dtype, (steps, batch, hidden))])

    def other_type(self, x):
        require(x.dtype == numpy.float32)
        dtype = numpy.dtype(self.random.choice((numpy.float64, numpy.float16)))
        return self.node("Cast", [x], [(dtype, x.shape, x.fixed)], to=helper.np_dtype_to_tensor_dtype(dtype))

    def back_to_float(self, x):
        require(x.dtype != numpy.float32)
        return self.node("Cast", [x], [(numpy.float32, x.shape, x.fixed)], to=TensorProto.FLOAT)

    def quantised(self, x):
        require(x.dtype == numpy.float32 and x.shape and x.fixed)
        scale, zero = self.constant(numpy.float32(0.02)), self.constant(numpy.uint8(128))
        q = self.node("QuantizeLinear", [x, scale, zero], [(numpy.uint8, x.shape)])
        if len(x.shape) == 2 and x.elements * 64 <= MAX_MULTIPLY_ADDS and self.chance(0.7):
            weights = self.constant(self.numbers.randint(-100, 100, (x.shape[1], 64)).astype(numpy.int8))
            if self.chance(0.5):
                y = self.node("MatMulInteger", [q, weights, zero], [(numpy.int32, (x.shape[0], 64))])
                return self.node("Cast", [y], [(numpy.float32, y.shape)], to=TensorProto.FLOAT)
            q = self.node("QLinearMatMul", [q, scale, zero, weights, scale, self.constant(numpy.int8(0)), scale, zero], [(numpy.uint8, (x.shape[0], 64))])
        return self.node("DequantizeLinear", [q, scale, zero], [(numpy.float32, q.shape)])

    # Control flow.
    def body_step(self, name_in, size, weights, stem):
        """Two nodes of a body that map [1, size] onto itself."""
        middle, out = f"{stem}_mid", f"{stem}_out"
        return [helper.make_node("MatMul", [name_in, weights], [middle]), helper.make_node("Tanh", [middle], [out])], out

    def loop(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 2 and x.fixed)
        rows, size = x.shape
        trips = self.random.choice((2, 5, 20))
        require(rows * size * size * trips <= MAX_MULTIPLY_ADDS)
        stem = self.fresh("b")
        nodes, out = self.body_step(f"{stem}_s", size, self.weight([size, size]), stem)
        nodes.append(helper.make_node("Identity", [f"{stem}_c"], [f"{stem}_go"]))
        info = helper.make_tensor_value_info
        body = helper.make_graph(nodes, stem, [info(f"{stem}_i", TensorProto.INT64, []), info(f"{stem}_c", TensorProto.BOOL, []),
                                               info(f"{stem}_s", TensorProto.FLOAT, x.shape)],
                                 [info(f"{stem}_go", TensorProto.BOOL, []), info(out, TensorProto.FLOAT, x.shape)])
        if self.chance(0.5):
            trip = self.constant(numpy.int64(trips))
        else:
            trip = self.node("Squeeze", [self.computed(trips), self.integers(0)], [(numpy.int64, ())])
        return self.node("Loop", [trip, "", x], [(x.dtype, x.shape)], body=body)

    def scan(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 3 and x.fixed and x.shape[0] <= 64)
        steps, rows, size = x.shape
        require(steps * rows * size * size <= MAX_MULTIPLY_ADDS)
        stem = self.fresh("b")
        nodes, out = self.body_step(f"{stem}_x", size, self.weight([size, size]), stem)
        nodes.append(helper.make_node("Add", [out, f"{stem}_s"], [f"{stem}_sum"]))
        nodes.append(helper.make_node("Identity", [f"{stem}_sum"], [f"{stem}_y"]))
        info = helper.make_tensor_value_info
        body = helper.make_graph(nodes, stem, [info(f"{stem}_s", TensorProto.FLOAT, (rows, size)), info(f"{stem}_x", TensorProto.FLOAT, (rows, size))],
                                 [info(f"{stem}_sum", TensorProto.FLOAT, (rows, size)), info(f"{stem}_y", TensorProto.FLOAT, (rows, size))])
        first = self.constant(numpy.zeros((rows, size), numpy.float32))
        state, rows_of = self.node("Scan", [first, x], [(x.dtype, (rows, size)), (x.dtype, x.shape)], body=body, num_scan_inputs=1)
        return rows_of if self.chance(0.6) else state

    def branch(self, x):
        require(x.dtype == numpy.float32 and len(x.shape) == 2 and x.fixed)
        rows, size = x.shape
        require(rows * size * size <= MAX_MULTIPLY_ADDS)
        sides = []
        for kind in ("then", "else"):
            stem = self.fresh("b")
            nodes, out = self.body_step(x.name, size, self.weight([size, size]), stem)
            if kind == "else":
                nodes.append(helper.make_node("Relu", [out], [f"{stem}_more"]))
                out = f"{stem}_more"
            sides.append(helper.make_graph(nodes, stem, [], [helper.make_tensor_value_info(out, TensorProto.FLOAT, x.shape)]))
        if self.chance(0.5):
            condition = self.input([], numpy.bool_, "p")
        else:  # of data, but always the same
            count = self.node("Squeeze", [self.computed(8), self.integers(0)], [(numpy.int64, ())])
            condition = self.node("Less", [count, self.constant(numpy.int64(self.random.choice((4, 100))))], [(numpy.bool_, ())])
        return self.node("If", [condition], [(x.dtype, x.shape)], then_branch=sides[0], else_branch=sides[1])

    PARTS = (("unary", 3), ("binary", 3), ("branches", 3), ("matmul", 5), ("gemm", 4), ("conv", 9), ("pool", 4), ("resize", 2), ("norm", 3), ("softmax", 2),
             ("reduction", 2), ("transpose", 2), ("view", 2), ("slice", 2), ("split", 2), ("pad", 1), ("tile", 2), ("expand", 2), ("top", 3), ("gather", 2),
             ("integer_work", 1), ("range_of", 1), ("where", 1), ("attention", 6), ("recurrent", 9), ("other_type", 1), ("back_to_float", 4),
             ("quantised", 2), ("loop", 4), ("scan", 5), ("branch", 3))

    def grow(self, x):
        """A random part on top of `x`."""
        names, weights = zip(*self.PARTS)
        for _ in range(200):
            part = self.random.choices(names, weights)[0]
            before = (len(self.nodes), len(self.initialisers), len(self.inputs), len(self.values), {key: list(names) for key, names in self.weights.items()})
            try:
                return self.take(getattr(self, part)(x))
            except NotHere:
                # What a part made before it gave up goes with it.
                del self.nodes[before[0]:], self.initialisers[before[1]:], self.inputs[before[2]:], self.values[before[3]:]
                self.weights = before[4]
        raise NotHere

    def start(self):
        kind = self.random.choice(("matrix", "tokens", "image", "image", "sequence"))
        pick = self.random.choice
        shape = {"matrix": (pick((1, 4, 16, 64)), pick((64, 128, 256, 512))), "tokens": (1, pick((16, 49, 128)), pick((64, 128))),
                 "image": (1, pick((8, 16, 32)), *[pick((8, 16, 28, 56))] * 2), "sequence": (pick((8, 20, 60)), pick((1, 2, 4)), pick((32, 64)))}[kind]
        x = self.take(self.input(shape))
        if self.chance(0.3):  # a view whose source is an input
            try:
                x = self.take(self.view(x))
            except NotHere:
                pass
        return x

    def build(self):
        x = self.start()
        for _ in range(self.random.randint(1, 4)):
            # Mostly the last value, now and then an earlier one: what is left behind becomes an
            # output, or is used by nobody.
            x = self.grow(self.random.choice(self.values) if self.chance(0.25) else x)
        if self.chance(0.4):  # a view whose result is an output
            try:
                x = self.take(self.view(x))
            except NotHere:
                pass
        read = {name for node in self.nodes for name in node.input}
        loose = [value for value in self.values if value.name not in read and value is not x and value not in self.inputs]
        outputs = [x] + [value for value in loose if self.chance(0.5)]
        return self.model(outputs)

    def model(self, outputs):
        listed = []
        if self.chance(0.15):  # weights that may be replaced
            listed = [helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)) for tensor in self.initialisers
                      if tensor.data_type in (TensorProto.FLOAT, TensorProto.DOUBLE) and tensor.dims]
        graph = helper.make_graph(self.nodes, "random", [value.info() for value in self.inputs] + listed, [value.info() for value in outputs],
                                  self.initialisers)
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="oplat bench")


def feeds(model):
    """Data for every input that has none: none of it is 0, integers are 1, conditions true."""
    given = {tensor.name for tensor in model.graph.initializer}
    numbers = numpy.random.RandomState(1)
    made = {}
    for info in model.graph.input:
        if info.name in given:
            continue
        dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        made[info.name] = (numbers.uniform(0.5, 1, shape).astype(dtype) if dtype in FLOATS else numpy.ones(shape, dtype))
    return made


def runs(model):
    """Whether onnx.checker accepts the model and ONNX Runtime executes it."""
    import onnxruntime
    try:
        onnx.checker.check_model(model, full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds(model))
    except Exception:  # noqa: BLE001: the checker's and the runtime's errors have no common class
        return False
    return True


def random_model(seed, number):
    """The `number`-th graph of this seed, the first one that is executed; the same bytes each
    time."""
    for attempt in range(MAX_ATTEMPTS):
        try:
            model = Builder((seed * 1_000_003 + number) * MAX_ATTEMPTS + attempt).build()
        except NotHere:
            continue
        if runs(model):
            return model
    raise RuntimeError(f"no executable graph for seed {seed}, number {number}")
