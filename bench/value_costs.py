#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which element-wise functions of ONNX Runtime take some numbers longer than others?

Times each function on numbers of several kinds and prints the time of each kind relative to that of
random numbers between -1 and 1, which kernels are measured on. The spreads of
src/ir/value_costs.cpp come from this. Wants a quiet machine for three minutes: a ratio that is far
from 1 in one kind only, of a function that cannot branch, is noise.
"""
import argparse
import os
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy
import onnxruntime
from onnx import TensorProto, helper

ONE_OPERAND = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu Hardmax HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log LogSoftmax Mish Neg "
    "Reciprocal ReduceLogSumExp Relu Round Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Tan Tanh ThresholdedRelu").split()
OF_MICROSOFT = "FastGelu QuickGelu".split()
TWO_OPERANDS = {"Pow": {}, "Mod": {"fmod": 1}, "Div": {}, "Mul": {}, "PRelu": {}}
TYPES = (numpy.float32, numpy.float64, numpy.float16)


def kinds(count):
    numbers = numpy.random.RandomState(0)
    return {"-1..1": numbers.uniform(-1, 1, count), "0": numpy.zeros(count), "0..1": numbers.uniform(0, 1, count), "0, 1, .. 299": numpy.arange(count) % 300,
            "-100..100": numbers.uniform(-100, 100, count), "-1000..1000": numbers.uniform(-1000, 1000, count)}


def session(domain, op, dtype, count, operands, attributes):
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    names = ["x", "y"][:operands]
    inputs = [helper.make_tensor_value_info(name, kind, [count]) for name in names]
    output = helper.make_tensor_value_info("z", TensorProto.BOOL if op in ("IsInf", "IsNaN") else kind, None)
    graph = helper.make_graph([helper.make_node(op, names, ["z"], domain=domain, **attributes)], "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # not of this type: onnxruntime has no class of its own for it
        return None


def microseconds(running, feed, runs):
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        running.run(None, feed)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=32768, help="numbers in a tensor (default 32768)")
    parser.add_argument("--runs", type=int, default=25, help="runs of each, of which the fastest counts (default 25)")
    arguments = parser.parse_args()
    numpy.seterr(over="ignore")
    asked = [("", op, 1, {}) for op in ONE_OPERAND] + [("com.microsoft", op, 1, {}) for op in OF_MICROSOFT]
    asked += [("", op, 2, attributes) for op, attributes in TWO_OPERANDS.items()]
    second = numpy.random.RandomState(1).uniform(0.5, 3, arguments.count)
    print("type     operator            us  " + "  ".join(f"{kind:>12}" for kind in kinds(1)))
    for dtype in TYPES:
        for domain, op, operands, attributes in asked:
            running = session(domain, op, dtype, arguments.count, operands, attributes)
            if running is None:
                continue
            times = []
            for numbers in kinds(arguments.count).values():
                feed = {"x": numbers.astype(dtype)} | ({"y": second.astype(dtype)} if operands == 2 else {})
                times.append(microseconds(running, feed, arguments.runs))
            print(f"{numpy.dtype(dtype).name:8} {op:15} {times[0]:7.1f}  " + "  ".join(f"{one / times[0]:12.2f}" for one in times), flush=True)


if __name__ == "__main__":
    main()
