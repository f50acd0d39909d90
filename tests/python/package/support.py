# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: a table and a model that it predicts.

With OPLAT_SAMPLE_TABLE and OPLAT_SAMPLE_MODEL (the program with_predicted_table sets them) those.
Else, as for an installed wheel, a small network is measured with ONNX Runtime, once a process.
"""
import atexit
import functools
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import oplat

RELU = "Relu/14{}(f32[1,16])->(f32[1,16])"
IS_WHEEL = os.environ.get("OPLAT_TEST_WHEEL") == "1"


@functools.cache
def scratch():
    """A folder that is removed at the end of the process that made it."""
    folder = Path(tempfile.mkdtemp(prefix="oplat-python-"))
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


def network(path, channels=(8, 16, 8), size=16):
    """Writes a chain of convolutions; returns its path."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import numpy

    numbers = numpy.random.default_rng(1)
    nodes, weights, name = [], [], "x"
    for i, (before, after) in enumerate(zip((3, *channels), channels)):
        shape = (after, before, 3, 3)
        weights.append(numpy_helper.from_array(numbers.normal(size=shape).astype("float32"), f"w{i}"))
        nodes.append(helper.make_node("Conv", [name, f"w{i}"], [f"c{i}"], f"conv{i}", pads=[1, 1, 1, 1]))
        name = f"c{i}"
    shapes = [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, depth, size, size])
              for tensor, depth in (("x", 3), (name, channels[-1]))]
    graph = helper.make_graph(nodes, "chain", shapes[:1], shapes[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return str(path)


def profile_whole(model, path, budget=3):
    """Profiles until each kernel and the model have a time, with twice the seconds every time: a
    busy machine takes longer."""
    for attempt in range(7):
        result = oplat.profile([model], path, budget=budget * 2 ** attempt)
        counts = result.to_dict()
        if counts["rows"]["left"] == 0 == counts["models"]["left"]:
            return result
    raise AssertionError(counts)


@functools.cache
def sample():
    """(path of a table, path of a model that it predicts)"""
    if "OPLAT_SAMPLE_TABLE" in os.environ:
        return os.environ["OPLAT_SAMPLE_TABLE"], os.environ["OPLAT_SAMPLE_MODEL"]
    model = network(scratch() / "sample.onnx")
    table = str(scratch() / "sample.oplat")
    profile_whole(model, table)
    return table, model


def table_without_a_row(path):
    """A copy of the sample table that lacks the rows of one of its model's kernels; returns that
    key."""
    table, model = sample()
    key = next(kernel.key for kernel in oplat.Table(table).predict(model).kernels
               if kernel.source == "measured")
    shutil.copy(table, path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "DELETE FROM row WHERE kernel = (SELECT id FROM kernel WHERE key = ?)", (key,))
    connection.close()
    return key


def command(*arguments):
    """The program `oplat` that belongs to the package."""
    return subprocess.run([oplat.program(), *map(str, arguments)], capture_output=True, text=True, check=False)
