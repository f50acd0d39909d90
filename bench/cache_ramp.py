#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the last level of this machine loses data: kernels timed over pools of operands or weights
of several sizes. Writes docs/results/cache-ramp.md.

Copies of one kernel, with operands and results or with weights of their own, are run in turn by
ONNX Runtime, so that the whole pool lies between two uses of a byte, as the footprint of a network
lies between two uses of a weight. The machine should have nothing else to do; it takes about a
minute.
"""
import argparse
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
PINNED_PYTHON = ROOT / ".venv" / "bin" / "python"
if Path(sys.prefix).resolve() != PINNED_PYTHON.parents[1].resolve():
    os.execv(PINNED_PYTHON, [PINNED_PYTHON, *sys.argv])
sys.path.insert(0, str(ROOT / "bench"))

import numpy  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from lib import text  # noqa: E402
from lib.store import write_atomically  # noqa: E402

MIB = 2**20
SECONDS = 0.25
LEAST_ROUNDS = 7
POOLS = (4, 8, 12, 16, 20, 24, 32, 48, 64, 96)  # MiB
HOT_COPIES = 16
KERNELS = (("Add", {}, ((1, 14, 14, 384), (1, 14, 14, 384)), (1, 14, 14, 384)),
           ("Relu", {}, ((1, 28, 28, 192),), (1, 28, 28, 192)),
           ("Transpose", {"perm": [0, 2, 1, 3]}, ((4, 49, 12, 32),), (4, 12, 49, 32)),
           ("Concat", {"axis": 3}, ((1, 28, 28, 96), (1, 28, 28, 96)), (1, 28, 28, 192)))
# Operator, operand, weights: 1 MiB of them each, read for little, for some and for much arithmetic.
WEIGHTED = (("MatMul", (1, 512), (512, 512)), ("MatMul", (16, 512), (512, 512)), ("Conv", (1, 512, 7, 7), (512, 512, 1, 1)))


def device():
    """What lib.text says a machine by."""
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    sizes = [int(file.read_text().strip().removesuffix("K")) << 10 for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return {"cpu": names[0] if names else "unknown", "cores": os.cpu_count(), "llc_bytes": max(sizes, default=0),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}


def own_bytes(kernel):
    return 4 * sum(int(numpy.prod(dims)) for dims in (*kernel[2], kernel[3]))


def session_of(nodes, inputs, outputs, initializers=()):
    """`nodes` as they stand, on one thread."""
    graph = helper.make_graph(nodes, "copies", inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class WeightedCopies:
    """A session of k copies that read the same operand, each with weights of its own, and write
    over one another."""

    def __init__(self, kernel, count):
        operator, operand, weights = kernel
        random = numpy.random.default_rng(1)
        data = [numpy_helper.from_array(random.uniform(-1, 1, weights).astype(numpy.float32), f"w{copy}") for copy in range(count)]
        nodes = [helper.make_node(operator, ["x", f"w{copy}"], [f"y{copy}"]) for copy in range(count)]
        nodes.append(helper.make_node("Shape", [f"y{count - 1}"], ["shape"]))
        self.session = session_of(nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, operand)],
                                  [helper.make_tensor_value_info("shape", TensorProto.INT64, (len(operand),))], data)
        self.feed = {"x": random.uniform(-1, 1, operand).astype(numpy.float32)}

    def seconds(self):
        start = time.perf_counter()
        self.session.run(None, self.feed)
        return time.perf_counter() - start


class Copies:
    """A session of k copies. Distinct: each reads operands and writes a result of its own; else all
    read the same, and results lie over one another."""

    def __init__(self, kernel, count, distinct):
        operator, attributes, operands, result = kernel
        nodes, inputs, outputs, data = [], [], [], {}
        for copy in range(count):
            names = [f"x{i}_{copy if distinct else 0}" for i in range(len(operands))]
            for name, dims in zip(names, operands, strict=True):
                if name not in data:
                    data[name] = numpy.random.default_rng(1).uniform(0.75, 1.25, dims).astype(numpy.float32)
                    inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
            nodes.append(helper.make_node(operator, names, [f"y{copy}"], **attributes))
            if distinct:
                outputs.append((f"y{copy}", TensorProto.FLOAT, result, numpy.float32))
        if not distinct:
            nodes.append(helper.make_node("Shape", [f"y{count - 1}"], ["shape"]))
            outputs.append(("shape", TensorProto.INT64, (len(result),), numpy.int64))
        self.session = session_of(nodes, inputs, [helper.make_tensor_value_info(name, dtype, dims) for name, dtype, dims, _ in outputs])
        self.binding = self.session.io_binding()
        self.values = [(self.binding.bind_ortvalue_input, name, onnxruntime.OrtValue.ortvalue_from_numpy(value)) for name, value in data.items()]
        self.values += [(self.binding.bind_ortvalue_output, name, onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros(dims, dtype)))
                        for name, _, dims, dtype in outputs]
        for bind, name, value in self.values:
            bind(name, value)

    def seconds(self):
        start = time.perf_counter()
        self.session.run_with_iobinding(self.binding)
        return time.perf_counter() - start


def kernel_seconds(one, many, count):
    """Slope of lower quartiles between one copy and `count`, as oplat measures."""
    times = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < LEAST_ROUNDS:
        times.append((one.seconds(), many.seconds()))
    first, last = (numpy.quantile(side, 0.25) for side in zip(*times[2:], strict=True))
    return (last - first) / (count - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=str(ROOT / "docs/results/cache-ramp.md"), help="page to write (default: docs/results/cache-ramp.md)")
    options = parser.parse_args()
    onnxruntime.disable_telemetry_events()
    load = text.load()
    head = ["kernel", ">own bytes", ">shared", *(f">{pool} MiB" for pool in POOLS)]
    rows, weighted = [], []
    for kernel in KERNELS:
        own = own_bytes(kernel)
        counts = [(HOT_COPIES, False)] + [(round(pool * MIB / own), True) for pool in POOLS]
        times = [kernel_seconds(Copies(kernel, 1, distinct), Copies(kernel, count, distinct), count) for count, distinct in counts]
        rows.append([f"{kernel[0]} {'x'.join(map(str, kernel[2][0]))}", f"{own / MIB:.2f} MiB", *(f"{1e6 * value:.1f} us" for value in times)])
    for kernel in WEIGHTED:
        own = 4 * int(numpy.prod(kernel[2]))
        times = [kernel_seconds(WeightedCopies(kernel, 1), WeightedCopies(kernel, count), count) for count in (round(pool * MIB / own) for pool in POOLS)]
        weighted.append([f"{kernel[0]} {'x'.join(map(str, kernel[1]))}", f"{own / MIB:.2f} MiB", *(f"{1e6 * value:.1f} us" for value in times)])
    page = ["# Where the last level loses data", "",
            f"Written by `bench/cache_ramp.py` on {text.today()}, commit {text.commit()}: {text.machine(device())}; load average {load} at the start. "
            f"onnxruntime {onnxruntime.__version__}, 1 thread.", "",
            "Copies of one kernel, run in turn. *Shared*: all read the same operands and write over one another. Else each has operands and a result of its own, in all so many MiB, "
            "which lie between two uses of a byte.", "", *text.table(head, rows), "",
            "The same of weights: all copies read one operand, each has weights of its own.", "", *text.table([head[0], head[1], *head[3:]], weighted)]
    write_atomically(options.out, "\n".join(page) + "\n")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
