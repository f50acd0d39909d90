#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which kernels of ONNX Runtime may write over an operand?

Runs ONNX's own example of each operator, and some of com.microsoft, twice: once with an operand
that nobody else reads, once with one that also leaves the graph, which must stay. A kernel that
works in place allocates one tensor more in the second run. Prints the operators that do and the
operands; `overwritable` in src/ir/operators/ is to say the same. Takes half a minute, needs no
quiet machine, and a C compiler.
"""
import collections
import ctypes
import os
import subprocess
import sys
import tempfile
import warnings

COUNTING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static long allocations;
long count_of_allocations(void) { return allocations; }
void* aligned_alloc(size_t alignment, size_t size) {
  static void* (*next)(size_t, size_t);
  if (!next) next = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  __sync_fetch_and_add(&allocations, 1);
  return next(alignment, size);
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  static int (*next)(void**, size_t, size_t);
  if (!next) next = (int (*)(void**, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  __sync_fetch_and_add(&allocations, 1);
  return next(to, alignment, size);
}
"""
LAST_OPSET = 26
LAST_IR = 10


def run_with_counting():
    """Starts this program anew with a library that counts the runtime's allocations."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "counting.c")
        library = os.path.join(folder, "counting.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(COUNTING)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)
        return subprocess.run([sys.executable, *sys.argv], env=dict(os.environ, LD_PRELOAD=library, ORT_DISABLE_TELEMETRY="1"), check=False).returncode


def allocations(model, feed):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in feed.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    count = ctypes.CDLL(None).count_of_allocations
    count.restype = ctypes.c_long
    for _ in range(2):  # the first run allocates more
        binding.clear_binding_outputs()
        for output in session.get_outputs():
            binding.bind_output(output.name, "cpu")
        before = count()
        session.run_with_iobinding(binding)
    return count() - before


def with_intermediate(model, feed, operand, leaves):
    """The model's node behind a Transpose that copies an operand; its results are read by Shapes."""
    import onnx
    from onnx import helper

    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.ir_version = min(made.ir_version, LAST_IR)
    for opset in made.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = min(opset.version, LAST_OPSET)
    graph = made.graph
    node = onnx.NodeProto()
    node.CopyFrom(graph.node[0])
    del graph.node[:], graph.output[:], graph.value_info[:]
    name = node.input[operand]
    node.input[operand] = name + "_copied"
    rank = feed[name].ndim
    graph.node.append(helper.make_node("Transpose", [name], [name + "_copied"], perm=list(range(rank))))
    graph.node.append(node)
    for i, result in enumerate(node.output):
        if not result:
            continue
        graph.node.append(helper.make_node("Shape", [result], [f"shape{i}"]))
        graph.output.append(helper.make_tensor_value_info(f"shape{i}", onnx.TensorProto.INT64, None))
    if leaves:
        kind = helper.np_dtype_to_tensor_dtype(feed[name].dtype)
        graph.output.append(helper.make_tensor_value_info(name + "_copied", kind, feed[name].shape))
    return made


def of_microsoft():
    """Models of one operator of com.microsoft, and what they read."""
    import numpy
    from onnx import helper, numpy_helper

    single = numpy.float32
    plane = numpy.ones((30, 40), single)
    row = numpy.ones(40, single)
    image = numpy.ones((1, 8, 8, 8), single)
    scale = {"s": numpy.array(0.1, single), "z": numpy.array(1, numpy.uint8), "s2": numpy.array(0.1, single), "z2": numpy.array(1, numpy.uint8)}
    small = plane.astype(numpy.uint8)
    for op, operands, constants, attributes in (
            ("Trilu", [plane], {}, {}), ("Gelu", [plane], {}, {}), ("FastGelu", [plane], {"b": row}, {}), ("QuickGelu", [plane], {}, {}),
            ("BiasGelu", [plane], {"b": row}, {}), ("SkipLayerNormalization", [plane[None], plane[None]], {"g": row}, {}),
            ("FusedMatMul", [plane, plane.T.copy()], {}, {}), ("Inverse", [numpy.eye(8, dtype=single)], {}, {}),
            ("FusedConv", [image, numpy.ones((8, 8, 1, 1), single), numpy.ones(8, single), image], {}, {"activation": "Relu"}),
            ("QLinearSigmoid", [small], scale, {}), ("QLinearLeakyRelu", [small], scale, {})):
        feed = {f"x{i}": value for i, value in enumerate(operands)}
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in feed.items()]
        node = helper.make_node(op, [*feed, *constants], ["y"], domain="com.microsoft", **attributes)
        graph = helper.make_graph([node], op, inputs, [], [numpy_helper.from_array(value, name) for name, value in constants.items()])
        yield helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8), feed


def examples():
    import numpy
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        model = case.model
        values = list(model.graph.input) + list(model.graph.output)
        if len(model.graph.node) != 1 or not case.data_sets or any(value.type.WhichOneof("value") != "tensor_type" for value in values):
            continue
        feed = {}
        for value, data in zip(model.graph.input, case.data_sets[0][0]):
            feed[value.name] = numpy.asarray(numpy_helper.to_array(data) if isinstance(data, onnx.TensorProto) else data)
        yield model, feed
    yield from of_microsoft()


def main():
    warnings.simplefilter("ignore")
    found = collections.defaultdict(set)
    seen = set()
    unknown = set()
    for model, feed in examples():
        node = model.graph.node[0]
        op = f"{node.domain}:{node.op_type}" if node.domain else node.op_type
        for operand, name in enumerate(node.input):
            if name not in feed or list(node.input).count(name) > 1:
                continue
            try:
                kept, free = (allocations(with_intermediate(model, feed, operand, leaves), feed) for leaves in (True, False))
            except Exception:  # no such kernel, or not for these operands: onnxruntime has no class of its own for it
                unknown.add(op)
                continue
            seen.add(op)
            if free < kept:
                found[op].add(operand)
    for op in sorted(found):
        print(op, *sorted(found[op]))
    print("never:", *sorted(seen - set(found)))
    print("not tried:", *sorted(unknown - seen))


if __name__ == "__main__":
    if hasattr(ctypes.CDLL(None), "count_of_allocations"):
        main()
    else:
        sys.exit(run_with_counting())
