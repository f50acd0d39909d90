# SPDX-License-Identifier: Apache-2.0
"""Other members of the families of ../shared/cases: small models that no report brought, for
bench/cases.py.

Made with the `onnx` package, one after the other and always alike. They were written when the
families had been mended, to see whether the mechanism was.
"""
import numpy
from onnx import TensorProto, helper, numpy_helper

F, I32, I64, BOOL, U8 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8
MS = "com.microsoft"
FAMILIES = {"01": "01-work-decided-by-integers", "02": "02-results-nobody-uses", "09": "09-loop-trips-made-up", "12": "12-steps-of-loops",
            "14": "14-initialisers-that-are-inputs", "15": "15-work-decided-by-data", "16": "16-views-that-copy"}


def value(name, shape=None, kind=F):
    """An input, or an output of which nothing is said but its type."""
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, **attributes):
    """`inputs` and `outputs`: names with blanks between; "-" is one that is left out."""
    return helper.make_node(op, *([name if name != "-" else "" for name in names.split()] for names in (inputs, outputs)), **attributes)


class Models:
    def __init__(self):
        self.of = {}  # (family, name): ModelProto
        self.random = numpy.random.default_rng(7)

    def weights(self, name, *shape):
        return numpy_helper.from_array(self.random.normal(0, 0.1, shape).astype(numpy.float32), name)

    def bytes(self, name, *shape):
        return numpy_helper.from_array(self.random.integers(-100, 100, shape).astype(numpy.int8), name)

    def add(self, family, name, nodes, inputs, outputs, constants=(), opset=17):
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
        domains = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)]
        self.of[FAMILIES[family], name] = helper.make_model(graph, ir_version=8, opset_imports=domains)


def constant(name, numbers, kind=numpy.int64):
    return numpy_helper.from_array(numpy.array(numbers, kind), name)


def number(name, of):
    return constant(name, of, numpy.float32)


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def work_decided_by_integers(models):
    add = models.add
    add("01", "range_of_a_shape", [node("Shape", "x", "s"), node("Gather", "s one", "n"), node("Range", "zero n one", "r"), node("Gather", "table r", "e"),
                                   node("Squeeze", "x axes", "flat"), node("Add", "flat e", "y")], [value("x", [1, 400, 128])], [value("y")],
        [constant("one", 1), constant("zero", 0), constant("axes", [0]), models.weights("table", 512, 128)])
    add("01", "bilstm_lengths_of_a_mask", [node("ReduceSum", "m axes", "long", keepdims=0), node("Cast", "long", "n", to=I32),
                                           node("LSTM", "x w r - n", "y", hidden_size=64, direction="bidirectional")],
        [value("x", [80, 2, 64]), value("m", [2, 80], I64)], [value("y")],
        [constant("axes", [1]), models.weights("w", 2, 256, 64), models.weights("r", 2, 256, 64)])
    add("01", "rnn_const_lengths", [node("RNN", "x w r - n", "y", hidden_size=96)], [value("x", [120, 3, 64])], [value("y")],
        [models.weights("w", 1, 96, 64), models.weights("r", 1, 96, 96), constant("n", [120, 7, 3], numpy.int32)])
    add("01", "pad_computed", [node("Shape", "b", "s"), node("Sub", "s t", "p"), node("Concat", "z p", "pads", axis=0), node("Pad", "x pads", "y")],
        [value("x", [1, 64, 32, 32]), value("b", [1, 64, 48, 48])], [value("y")], [constant("t", [1, 64, 32, 32]), constant("z", [0] * 4)])
    add("01", "resize_to_twice_the_shape", [node("Shape", "x", "s"), node("Mul", "s two", "twice"), node("Resize", "x - - twice", "y", mode="linear")],
        [value("x", [1, 16, 40, 40])], [value("y")], [constant("two", [1, 1, 2, 2])])
    add("01", "topk_min", [node("Shape", "x", "s"), node("Gather", "s one", "n"), node("Min", "n most", "k"), node("TopK", "x k", "v i")],
        [value("x", [64, 1000])], [value("v"), value("i", kind=I64)], [constant("one", [1]), constant("most", [50])])
    add("01", "one_hot_depth", [node("Shape", "x", "s"), node("Gather", "s first", "d"), node("OneHot", "ids d v", "o"), node("MatMul", "o x", "y")],
        [value("x", [300, 64]), value("ids", [20], I64)], [value("y")], [constant("first", [0]), number("v", [0, 1])])
    add("01", "gather_2000_constants", [node("Gather", "x i", "y")], [value("x", [50000, 32])], [value("y")],
        [constant("i", models.random.integers(0, 50000, 2000))])
    add("01", "reverse_sequence_constants", [node("ReverseSequence", "x n", "y", batch_axis=1, time_axis=0)], [value("x", [60, 100, 32])], [value("y")],
        [constant("n", models.random.integers(1, 60, 100))])
    add("01", "slice_to_the_greatest", [node("ReduceMax", "n", "most", keepdims=1), node("Slice", "x zero most", "part"), node("Exp", "part", "y")],
        [value("x", [2000, 64]), value("n", [4], I64)], [value("y")], [constant("zero", [0])])
    add("01", "attention_key_lengths", [node("MultiHeadAttention", "q k v - m", "y", domain=MS, num_heads=8)],
        [*(value(name, [1, 128, 256]) for name in "qkv"), value("m", [1], I32)], [value("y")])
    add("01", "attention_of_a_cache", [node("GroupQueryAttention", "q k v pk pv n t", "y nk nv", domain=MS, num_heads=8, kv_num_heads=2)],
        [value("q", [1, 1, 512]), value("k", [1, 1, 128]), value("v", [1, 1, 128]), value("pk", [1, 2, 1024, 64]), value("pv", [1, 2, 1024, 64]),
         value("n", [1], I32), value("t", [], I32)], [value("y"), value("nk"), value("nv")])
    add("01", "trilu_cumsum", [node("Trilu", "x k", "a"), node("CumSum", "a axis", "y")], [value("x", [8, 128, 128]), value("k", [], I64)], [value("y")],
        [constant("axis", 2)])
    add("01", "stft", [node("STFT", "x step - length", "y")], [value("x", [1, 8000, 1])], [value("y")], [constant("step", 160), constant("length", 400)])
    add("01", "tile_by_a_quotient", [node("Shape", "b", "s"), node("Div", "s t", "times"), node("Tile", "x times", "y")],
        [value("x", [8, 64]), value("b", [400, 64])], [value("y")], [constant("t", [8, 64])])


def results_nobody_uses(models):
    add = models.add
    add("02", "lstm_cell_only", [node("LSTM", "x w r", "- - c", hidden_size=64)], [value("x", [40, 1, 64])], [value("c")],
        [models.weights("w", 1, 256, 64), models.weights("r", 1, 256, 64)])
    add("02", "unique_inverse_only", [node("Unique", "x", "u - inverse", sorted=1)], [value("x", [3000], I64)], [value("inverse", kind=I64)])
    add("02", "split_middle_only", [node("Split", "x", "a b c", axis=1), node("Exp", "b", "y")], [value("x", [64, 96, 64])], [value("y")], opset=13)
    add("02", "dead_branch", [node("Exp", "x", "y"), node("MatMul", "x w", "dead")], [value("x", [64, 256])], [value("y")], [models.weights("w", 256, 256)])


def loops_and_branches(models):
    add, weights = models.add, models.weights
    row = [1, 96]
    step = body("step", [node("Identity", "ci", "co"), node("MatMul", "s w", "t"), node("Tanh", "t", "so"), node("Identity", "so", "seen")],
                [value("i", [], I64), value("ci", [], BOOL), value("s", row)], [value("co", [], BOOL), value("so", row), value("seen", row)])
    add("12", "trips_of_a_shape", [node("Shape", "q", "sizes"), node("Gather", "sizes zero", "m"), node("Loop", "m - x", "y ys", body=step)],
        [value("x", row), value("q", [75, 3])], [value("y"), value("ys")], [constant("zero", 0), weights("w", 96, 96)])
    add("09", "trips_of_a_sum", [node("ReduceSum", "q", "m", keepdims=0), node("Loop", "m - x", "y ys", body=step)],
        [value("x", row), value("q", [5], I64)], [value("y"), value("ys")], [weights("w", 96, 96)], opset=13)
    add("09", "condition_is_an_input", [node("Loop", "m k x", "y ys", body=step)], [value("x", row), value("k", [], BOOL)], [value("y"), value("ys")],
        [constant("m", 40), weights("w", 96, 96)])
    inner = body("inner", [node("Identity", "c2", "c2o"), node("MatMul", "s2 w", "t2"), node("Sigmoid", "t2", "s2o")],
                 [value("i2", [], I64), value("c2", [], BOOL), value("s2", row)], [value("c2o", [], BOOL), value("s2o", row)])
    outer = body("outer", [node("Identity", "c1", "c1o"), node("Loop", "m2 - s1", "s1o", body=inner)],
                 [value("i1", [], I64), value("c1", [], BOOL), value("s1", row)], [value("c1o", [], BOOL), value("s1o", row)])
    add("12", "loop_in_a_loop", [node("Loop", "m1 - x", "y", body=outer)], [value("x", row)], [value("y")],
        [constant("m1", 12), constant("m2", 7), weights("w", 96, 96)])
    four = [4, 64]
    scanned = body("scanned", [node("Mul", "h a", "ha"), node("Add", "ha part", "ho"), node("Gemm", "ho w", "o")], [value("h", four), value("part", four)],
                   [value("ho", four), value("o", four)])
    add("12", "scan_reversed", [node("Scan", "h x", "last ys", body=scanned, num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1])],
        [value("h", four), value("x", [90, 4, 64])], [value("last"), value("ys")], [number("a", 0.9), weights("w", 64, 64)])
    branches = {"then_branch": body("then", [node("MatMul", "x w", "ty")], [], [value("ty", [128, 256])]),
                "else_branch": body("else", [node("Relu", "x", "ey")], [], [value("ey", [128, 256])])}
    add("12", "if_of_a_mean", [node("ReduceMean", "x", "mean", keepdims=0), node("Greater", "mean limit", "c"), node("If", "c", "y", **branches)],
        [value("x", [128, 256])], [value("y")], [number("limit", 100), weights("w", 256, 256)], opset=13)
    wide = [16, 128]
    halves = {"then_branch": body("then", [node("MatMul", "s w", "to")], [], [value("to", wide)]),
              "else_branch": body("else", [node("Neg", "s", "eo")], [], [value("eo", wide)])}
    switching = body("switching", [node("Identity", "ci", "co"), node("Less", "i half", "early"), node("If", "early", "so", **halves)],
                     [value("i", [], I64), value("ci", [], BOOL), value("s", wide)], [value("co", [], BOOL), value("so", wide)])
    add("12", "if_in_a_loop", [node("Loop", "m - x", "y", body=switching)], [value("x", wide)], [value("y")],
        [constant("m", 20), constant("half", 5), weights("w", 128, 128)])
    growing = body("growing", [node("Add", "s s", "so"), node("ReduceMax", "so", "most", keepdims=0), node("Less", "most limit", "co")],
                   [value("i", [], I64), value("ci", [], BOOL), value("s", [64, 64])], [value("co", [], BOOL), value("so", [64, 64])])
    add("12", "while_data_grow", [node("Loop", "m go x", "y", body=growing)], [value("x", [64, 64])], [value("y")],
        [constant("m", 1000), constant("go", True, numpy.bool_), number("limit", 1e6)], opset=13)


def initialisers_that_are_inputs(models):
    add, weights = models.add, models.weights
    add("14", "conv_transpose_listed", [node("ConvTranspose", "x w", "y", strides=[2, 2])], [value("x", [1, 32, 20, 20]), value("w", [32, 32, 2, 2])],
        [value("y")], [weights("w", 32, 32, 2, 2)])
    add("14", "conv_batch_norm_listed", [node("Conv", "x w", "a", pads=[1] * 4), node("BatchNormalization", "a s b m v", "n"), node("Relu", "n", "y")],
        [value("x", [1, 32, 28, 28]), value("w", [64, 32, 3, 3]), *(value(name, [64]) for name in "sbmv")], [value("y")],
        [weights("w", 64, 32, 3, 3), number("s", [1] * 64), weights("b", 64), weights("m", 64), number("v", [1] * 64)], opset=15)
    add("14", "rnn_listed", [node("RNN", "x w r", "y", hidden_size=128)], [value("x", [30, 1, 128]), value("w", [1, 128, 128]), value("r", [1, 128, 128])],
        [value("y")], [weights("w", 1, 128, 128), weights("r", 1, 128, 128)])
    add("14", "qlinear_conv_listed", [node("QLinearConv", "x xs xz w ws wz ys yz", "y", pads=[1] * 4)],
        [value("x", [1, 32, 28, 28], U8), value("w", [64, 32, 3, 3], TensorProto.INT8)], [value("y", kind=U8)],
        [models.bytes("w", 64, 32, 3, 3), number("xs", 0.1), constant("xz", 128, numpy.uint8), number("ws", 0.01), constant("wz", 0, numpy.int8),
         number("ys", 0.2), constant("yz", 128, numpy.uint8)])
    add("14", "shape_listed", [node("Reshape", "x s", "a"), node("Softmax", "a", "y")], [value("x", [16, 40, 64]), value("s", [2], I64)], [value("y")],
        [constant("s", [640, 64])])


def work_decided_by_data(models):
    add = models.add
    add("15", "compress_of_a_mean", [node("ReduceMean", "x", "r", axes=[1], keepdims=0), node("Greater", "r z", "k"), node("Compress", "x k", "y", axis=0)],
        [value("x", [2000, 64])], [value("y")], [number("z", 0)], opset=13)
    add("15", "nonzero_gather_nd", [node("Greater", "x z", "k"), node("NonZero", "k", "n"), node("Transpose", "n", "t"), node("GatherND", "x t", "g"),
                                    node("Exp", "g", "y")], [value("x", [100, 200])], [value("y")], [number("z", 0.3)])
    add("15", "unique_of_rounded", [node("Round", "x", "r"), node("Unique", "r", "u", sorted=1)], [value("x", [5000])], [value("u")])
    add("15", "nms_constant_thresholds", [node("NonMaxSuppression", "b s most iou least", "y")], [value("b", [1, 500, 4]), value("s", [1, 3, 500])],
        [value("y", kind=I64)], [constant("most", [50]), number("iou", [0.5]), number("least", [0.2])])
    add("15", "multinomial", [node("Multinomial", "x", "y", sample_size=200)], [value("x", [4, 1000])], [value("y", kind=I32)])
    add("15", "scatter_elements_add", [node("ScatterElements", "d i u", "y", axis=0, reduction="add")],
        [value("d", [400, 64]), value("i", [300, 64], I64), value("u", [300, 64])], [value("y")], opset=16)
    add("15", "max_unpool", [node("MaxPool", "x", "p i", kernel_shape=[2, 2], strides=[2, 2]), node("MaxUnpool", "p i", "y", kernel_shape=[2, 2], strides=[2, 2])],
        [value("x", [1, 16, 64, 64])], [value("y")])
    add("15", "where_divisible", [node("Mod", "a b", "m"), node("Equal", "m z", "e"), node("Where", "e p q", "y")],
        [value("a", [50000], I64), value("b", [50000], I64), value("p", [50000]), value("q", [50000])], [value("y")], [constant("z", 0)])
    add("15", "grid_sample", [node("GridSample", "x g", "y")], [value("x", [1, 16, 64, 64]), value("g", [1, 64, 64, 2])], [value("y")], opset=16)
    add("15", "tf_idf", [node("TfIdfVectorizer", "x", "y", max_gram_length=1, max_skip_count=0, min_gram_length=1, mode="TF", ngram_counts=[0],
                              ngram_indexes=list(range(100)), pool_int64s=list(range(100)))], [value("x", [2000], I64)], [value("y")])
    add("15", "power_of_2.5", [node("Pow", "x p", "y")], [value("x", [200, 200])], [value("y")], [number("p", 2.5)])
    add("15", "denormal_numbers", [node("Mul", "x tiny", "a"), node("MatMul", "a w", "y")], [value("x", [64, 256])], [value("y")],
        [number("tiny", 1e-39), models.weights("w", 256, 256)])
    add("15", "prelu_between_convolutions", [node("Conv", "x w1", "a", pads=[1, 1, 1, 1]), node("PRelu", "a slopes", "b"), node("Conv", "b w2", "y", pads=[1, 1, 1, 1])],
        [value("x", [1, 8, 40, 40])], [value("y")], [models.weights("w1", 16, 8, 3, 3), models.weights("slopes", 16, 1, 1), models.weights("w2", 8, 16, 3, 3)])
    add("15", "prelu_of_the_input", [node("PRelu", "x slope", "y")], [value("x", [100, 200])], [value("y")], [number("slope", [0.5])])
    add("15", "shrink", [node("Shrink", "x", "y", lambd=0.5)], [value("x", [100, 200])], [value("y")])
    add("15", "embedding_of_many_ids", [node("Gather", "table ids", "rows"), node("ReduceSum", "rows axes", "y", keepdims=0)],
        [value("ids", [16, 50], I64)], [value("y")], [models.weights("table", 50000, 32), constant("axes", [1])])
    add("15", "boxes_of_a_product", [node("MatMul", "x w", "a"), node("Sigmoid", "a", "c"), node("Reshape", "c four", "b"),
                                     node("Sigmoid", "t", "s"), node("NonMaxSuppression", "b s most iou", "y")],
        [value("x", [300, 32]), value("t", [1, 1, 300])], [value("y", kind=I64)],
        [models.weights("w", 32, 4), constant("four", [1, 300, 4]), constant("most", [50]), number("iou", [0.5])])
    add("15", "sort", [node("TopK", "x k", "v i")], [value("x", [20000])], [value("v"), value("i", kind=I64)], [constant("k", [20000])])


def views_that_copy(models):
    add = models.add
    square, cube = [300, 300], [8, 100, 100]
    add("16", "squeeze_of_an_input", [node("Squeeze", "x a", "y")], [value("x", [1, 500, 400])], [value("y")], [constant("a", [0])])
    add("16", "transpose_of_a_one", [node("Relu", "x", "r"), node("Transpose", "r", "y", perm=[0, 2, 1, 3])], [value("x", [1, 1, 400, 300])], [value("y")])
    add("16", "cast_to_the_same", [node("Exp", "x", "e"), node("Cast", "e", "c", to=F), node("Tanh", "c", "y")], [value("x", [200, 300])], [value("y")])
    add("16", "two_views_of_an_input", [node("Reshape", "x s", "y1"), node("Flatten", "x", "y2")], [value("x", cube)], [value("y1"), value("y2")],
        [constant("s", [80, 1000])])
    add("16", "chain_of_views", [node("Relu", "x", "a"), node("Reshape", "a s", "b"), node("Unsqueeze", "b axis", "c"), node("Flatten", "c", "d", axis=2),
                                 node("Exp", "d", "y")], [value("x", cube)], [value("y")], [constant("s", [80, 1000]), constant("axis", [0])])
    add("16", "dropout_of_none_training", [node("Relu", "x", "a"), node("Dropout", "a r t", "d"), node("Exp", "d", "y")], [value("x", [200, 300])], [value("y")],
        [number("r", 0), constant("t", True, numpy.bool_)])
    add("16", "two_identities", [node("Sigmoid", "x", "a"), node("Identity", "a", "y1"), node("Identity", "a", "y2")], [value("x", square)],
        [value("y1"), value("y2")])
    add("16", "slice_of_all", [node("Slice", "x s e", "a"), node("Abs", "a", "y")], [value("x", square)], [value("y")],
        [constant("s", [0]), constant("e", [1 << 40])])
    add("16", "concat_of_one", [node("Relu", "x", "a"), node("Concat", "a", "b", axis=0), node("Exp", "b", "y")], [value("x", square)], [value("y")])
    add("16", "expand_to_the_same", [node("Expand", "x s", "a"), node("Abs", "a", "y")], [value("x", square)], [value("y")], [constant("s", [1, 1])])


def neighbours():
    """{(family, name): ModelProto}, in the order of the families."""
    models = Models()
    for group in (work_decided_by_integers, results_nobody_uses, loops_and_branches, initialisers_that_are_inputs, work_decided_by_data, views_that_copy):
        group(models)
    return dict(sorted(models.of.items()))
