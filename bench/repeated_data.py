#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which operators are quicker when they are given the same data again and again?

A processor learns how the branches of a loop went the last time. An operator that branches by its
data is then quicker on the data of the run before than on data it has not seen, as every
application gives it. Runs each operator on one input and on 32 in turn, and prints the ratio of the
two times. The list in src/ir/value_costs.cpp (`branches_on_data`) comes from this. Wants a quiet
machine for five minutes.
"""
import argparse
import os
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

F32, F64, I64, I32, BOOL, TEXT = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.STRING
ML, MS = "ai.onnx.ml", "com.microsoft"
SETS = 32
UNARY = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax IsInf IsNaN LeakyRelu Log LogSoftmax "
         "LpNormalization Mish Neg Reciprocal ReduceLogSumExp ReduceMax ReduceMean Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt "
         "Tan Tanh ThresholdedRelu").split()
random = numpy.random.RandomState(0)


def uniform(*shape):
    return random.uniform(-1, 1, shape).astype(numpy.float32)


def integers(below, *shape):
    return random.randint(0, below, shape).astype(numpy.int64)


def corners(boxes, size):
    """[boxes, 4] of y1, x1, y2, x2, ordered."""
    ends = numpy.sort(random.uniform(0, size, (boxes, 2, 2)), axis=1)
    return ends.reshape(boxes, 4).astype(numpy.float32)


def constant(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def trees(count, depth):
    """Attributes of a TreeEnsembleRegressor of complete binary trees over 30 features."""
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    at = {"nodes_treeids": [], "nodes_nodeids": [], "nodes_featureids": [], "nodes_values": [], "nodes_modes": [], "nodes_truenodeids": [],
          "nodes_falsenodeids": [], "target_treeids": [], "target_nodeids": [], "target_ids": [], "target_weights": []}
    for tree in range(count):
        for node in range(nodes):
            is_inner = node < inner
            at["nodes_treeids"].append(tree)
            at["nodes_nodeids"].append(node)
            at["nodes_featureids"].append(int(random.randint(30)) if is_inner else 0)
            at["nodes_values"].append(float(random.uniform(-0.5, 0.5)) if is_inner else 0.0)
            at["nodes_modes"].append("BRANCH_LEQ" if is_inner else "LEAF")
            at["nodes_truenodeids"].append(2 * node + 1 if is_inner else 0)
            at["nodes_falsenodeids"].append(2 * node + 2 if is_inner else 0)
            if not is_inner:
                for name, value in (("treeids", tree), ("nodeids", node), ("ids", 0), ("weights", 0.1)):
                    at[f"target_{name}"].append(value)
    return dict(at, n_targets=1)


def trials():
    """(what, op, domain, attributes, operands (name, how to make it) or constants, types of the
    results)"""
    for op in UNARY:
        yield op, op, "", {}, [lambda: uniform(100, 200)], [], 1
    yield "Relu f64", "Relu", "", {}, [lambda: uniform(100, 200).astype(numpy.float64)], [], 1
    yield "MaxPool", "MaxPool", "", {"kernel_shape": [3, 3]}, [lambda: uniform(1, 16, 40, 40)], [], 1
    yield "MaxPool with indices", "MaxPool", "", {"kernel_shape": [3, 3]}, [lambda: uniform(1, 16, 40, 40)], [], 2
    yield "AveragePool", "AveragePool", "", {"kernel_shape": [3, 3]}, [lambda: uniform(1, 16, 40, 40)], [], 1
    yield "LpPool", "LpPool", "", {"kernel_shape": [3, 3]}, [lambda: uniform(1, 16, 40, 40)], [], 1
    for op in ("ArgMax", "ArgMin"):
        yield op, op, "", {"axis": 1}, [lambda: uniform(100, 200)], [], 1
    yield "TopK 8000, 2000", "TopK", "", {}, [lambda: uniform(1, 8000)], [constant("k", numpy.array([2000], numpy.int64))], 2
    yield "TopK 1000, 5", "TopK", "", {}, [lambda: uniform(1, 1000)], [constant("k", numpy.array([5], numpy.int64))], 2
    yield "NonZero", "NonZero", "", {}, [lambda: (uniform(1, 20000) > 0).astype(numpy.float32)], [], 1
    yield "Unique", "Unique", "", {}, [lambda: uniform(5000)], [], 1
    yield "Compress", "Compress", "", {}, [lambda: uniform(20000), lambda: random.rand(20000) > 0.5], [], 1
    yield "Where", "Where", "", {}, [lambda: random.rand(20000) > 0.5, lambda: uniform(20000), lambda: uniform(20000)], [], 1
    slope = constant("slope", numpy.full(1, 0.5, numpy.float32))
    yield "PRelu", "PRelu", "", {}, [lambda: uniform(100, 200)], [slope], 1
    yield "PRelu of channels", "PRelu", "", {}, [lambda: uniform(1, 32, 25, 25)], [constant("slopes", numpy.full((32, 1, 1), 0.5, numpy.float32))], 1
    for op in ("Min", "Max", "Div", "Pow", "Greater", "Mul"):
        yield op, op, "", {}, [lambda: numpy.abs(uniform(20000)) + 0.1, lambda: numpy.abs(uniform(20000)) + 0.1], [], 1
    yield "Mod", "Mod", "", {"fmod": 1}, [lambda: uniform(20000), lambda: uniform(20000)], [], 1
    yield "Mod i64", "Mod", "", {}, [lambda: integers(1000, 20000), lambda: 1 + integers(100, 20000)], [], 1
    yield "Mod i64, signs", "Mod", "", {}, [lambda: integers(1000, 20000) - 500, lambda: 1 + integers(100, 20000)], [], 1
    yield "Div i64", "Div", "", {}, [lambda: integers(1000, 20000), lambda: 1 + integers(100, 20000)], [], 1
    yield "Pow i64", "Pow", "", {}, [lambda: integers(5, 20000), lambda: integers(6, 20000)], [], 1
    boxes = constant("most", numpy.array([100], numpy.int64)), constant("overlap", numpy.array([0.5], numpy.float32))
    for count in (200, 2000):
        yield (f"NonMaxSuppression {count}", "NonMaxSuppression", "", {},
               [lambda n=count: corners(n, 1)[None], lambda n=count: numpy.abs(uniform(1, 1, n))], list(boxes), 1)
    yield "RoiAlign", "RoiAlign", "", {"output_height": 7, "output_width": 7}, [lambda: uniform(1, 16, 32, 32), lambda: corners(50, 32)[:, [1, 0, 3, 2]]], [
        constant("images", numpy.zeros(50, numpy.int64))], 1
    yield "GridSample", "GridSample", "", {}, [lambda: uniform(1, 8, 32, 32), lambda: uniform(1, 32, 32, 2)], [], 1
    yield "MaxRoiPool", "MaxRoiPool", "", {"pooled_shape": [7, 7]}, [
        lambda: uniform(1, 16, 32, 32), lambda: numpy.hstack([numpy.zeros((50, 1), numpy.float32), corners(50, 31)[:, [1, 0, 3, 2]]])], [], 1
    yield "CropAndResize", "CropAndResize", MS, {}, [lambda: uniform(1, 16, 32, 32), lambda: corners(50, 1)], [
        constant("images", numpy.zeros(50, numpy.int32)), constant("size", numpy.array([7, 7], numpy.int32))], 1
    yield "Gather rows", "Gather", "", {}, [lambda: integers(50000, 2000)], [constant("table", uniform(50000, 16))], 1
    yield "GatherElements", "GatherElements", "", {"axis": 1}, [lambda: uniform(100, 200), lambda: integers(200, 100, 200)], [], 1
    yield "ScatterElements", "ScatterElements", "", {"axis": 1}, [
        lambda: uniform(100, 200), lambda: numpy.argsort(random.rand(100, 200), axis=1), lambda: uniform(100, 200)], [], 1
    yield "OneHot", "OneHot", "", {}, [lambda: integers(50, 400)], [constant("depth", numpy.array([50], numpy.int64)),
                                                                   constant("both", numpy.array([0, 1], numpy.float32))], 1
    for to, name in ((I32, "i32"), (BOOL, "bool"), (TEXT, "string")):
        yield f"Cast to {name}", "Cast", "", {"to": to}, [lambda n=2000 if to == TEXT else 20000: uniform(n)], [], 1
    yield "QuantizeLinear", "QuantizeLinear", "", {}, [lambda: uniform(100, 200)], [constant("s", numpy.float32(0.01)), constant("z", numpy.uint8(128))], 1
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", "", {}, [lambda: uniform(100, 200)], [], 3
    yield "CumSum", "CumSum", "", {}, [lambda: uniform(100, 200)], [constant("axis", numpy.int64(1))], 1
    yield "LayerNormalization", "LayerNormalization", "", {}, [lambda: uniform(100, 200)], [constant("scale", uniform(200))], 1
    yield "MatMul", "MatMul", "", {}, [lambda: uniform(20, 200)], [constant("w", uniform(200, 200))], 1
    yield "LSTM", "LSTM", "", {"hidden_size": 32}, [lambda: uniform(30, 1, 16)], [constant("w", uniform(1, 128, 16)), constant("r", uniform(1, 128, 32))], 1
    yield "GRU", "GRU", "", {"hidden_size": 32}, [lambda: uniform(30, 1, 16)], [constant("w", uniform(1, 96, 16)), constant("r", uniform(1, 96, 32))], 1
    for count, depth in ((10, 4), (100, 6), (500, 6)):
        yield f"TreeEnsembleRegressor {count} x {2 ** depth - 1}", "TreeEnsembleRegressor", ML, trees(count, depth), [lambda: uniform(1, 30)], [], 1
    yield "TreeEnsembleRegressor, batch of 64", "TreeEnsembleRegressor", ML, trees(100, 6), [lambda: uniform(64, 30)], [], 1
    yield "SVMRegressor", "SVMRegressor", ML, {"coefficients": [0.1] * 100, "support_vectors": uniform(100 * 30).tolist(), "rho": [0.1], "n_supports": 100,
                                               "kernel_type": "RBF", "kernel_params": [0.1, 0.0, 3.0]}, [lambda: uniform(10, 30)], [], 1
    yield "LabelEncoder i64", "LabelEncoder", ML, {"keys_int64s": list(range(5000)), "values_floats": uniform(5000).tolist()}, [lambda: integers(6000, 5000)], [], 1
    words = numpy.array([f"w{i}" for i in range(5000)], dtype=object)
    yield "LabelEncoder string", "LabelEncoder", ML, {"keys_strings": words.tolist(), "values_int64s": list(range(5000))}, [
        lambda: words[integers(5000, 1000)]], [], 1
    yield "OneHotEncoder", "OneHotEncoder", ML, {"cats_int64s": list(range(50))}, [lambda: integers(50, 400)], [], 1
    yield "Binarizer", "Binarizer", ML, {"threshold": 0.1}, [lambda: uniform(100, 200)], [], 1
    yield "Scaler", "Scaler", ML, {"offset": [0.1], "scale": [2.0]}, [lambda: uniform(100, 200)], [], 1
    yield "Normalizer", "Normalizer", ML, {"norm": "MAX"}, [lambda: uniform(100, 200)], [], 1
    yield "Imputer", "Imputer", ML, {"imputed_value_floats": [0.5], "replaced_value_float": 0.0}, [
        lambda: uniform(100, 200) * (random.rand(100, 200) > 0.5).astype(numpy.float32)], [], 1
    yield "TfIdfVectorizer", "TfIdfVectorizer", "", {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 200],
                                                    "ngram_indexes": list(range(300)), "pool_int64s": list(range(200)) + [int(i) for i in integers(300, 200)]}, [
        lambda: integers(300, 1000)], [], 1
    yield "StringNormalizer", "StringNormalizer", "", {"case_change_action": "UPPER"}, [lambda: words[integers(5000, 1000)]], [], 1


def session(op, domain, attributes, operands, constants, results):
    # Tables come before what chooses from them.
    first = [each.name for each in constants if each.name == "table"]
    names = [f"x{i}" for i in range(len(operands))]
    if op in ("LayerNormalization", "PRelu") or not constants:
        order = names + [each.name for each in constants]
    else:
        order = first + names + [each.name for each in constants if each.name != "table"]
    inputs = []
    for name, make in zip(names, operands):
        made = make()
        kind = TEXT if made.dtype == object else helper.np_dtype_to_tensor_dtype(made.dtype)
        inputs.append(helper.make_tensor_value_info(name, kind, list(made.shape)))
    outputs = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(results)]
    graph = helper.make_graph([helper.make_node(op, order, [each.name for each in outputs], domain=domain, **attributes)], "g", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(ML, 3), helper.make_opsetid(MS, 1)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def seconds(running, feeds, runs):
    """The median of `runs` runs on `feeds` in turn, after each was run once or more."""
    for i in range(max(len(feeds), 20)):
        running.run(None, feeds[i % len(feeds)])
    times = []
    for i in range(runs):
        start = time.perf_counter()
        running.run(None, feeds[i % len(feeds)])
        times.append(time.perf_counter() - start)
    return float(numpy.median(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="of both, in turn; the lower quartile of each counts (default 9)")
    parser.add_argument("--only", metavar="TEXT", default="", help="only operators with TEXT in their name")
    arguments = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}; ratio: {SETS} inputs in turn / one input\n")
    for what, op, domain, attributes, operands, constants, results in trials():
        if arguments.only not in what:
            continue
        try:
            running = session(op, domain, attributes, operands, constants, results)
            feeds = [{f"x{i}": make() for i, make in enumerate(operands)} for _ in range(SETS)]
            one, many = [], []
            for _ in range(arguments.rounds):
                one.append(seconds(running, feeds[:1], 2 * SETS))
                many.append(seconds(running, feeds, 2 * SETS))
        except Exception as error:  # onnxruntime has no class of its own for what it refuses
            print(f"{what:40} not run: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        a, b = (1e6 * float(numpy.quantile(times, 0.25)) for times in (one, many))
        print(f"{what:40} {a:9.1f} us {b:9.1f} us  {b / a:5.2f}{'  <--' if b > 1.15 * a else ''}", flush=True)


if __name__ == "__main__":
    main()
