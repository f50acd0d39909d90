#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops of 2e12 steps, and loops that only data would end, are refused in bounded memory:
endless_loops_test.py OPLAT

The runtime's profiler keeps more than a kilobyte for every kernel that it runs, for as long as it
runs.
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "cli"))
from paddle_program import block, number  # noqa: E402
from runtime_state import why_missing  # noqa: E402

OPLAT = Path(sys.argv[1]).resolve()
SKIP = 77
STEPS = 2_000_000_000_000
FLOAT, INT64, BOOL = 1, 7, 9
# Of the worker: its libraries, the bound on the growth of one run, and what sanitizers add.
MAX_RESIDENT_MIB = 1600


def value(name, kind, dims):
    shape = b"".join(block(1, number(1, dim)) for dim in dims)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, shape)))


def tensor(name, kind, data, dims=()):
    return b"".join(number(1, dim) for dim in dims) + number(2, kind) + block(8, name) + block(9, data)


def node(op, inputs, outputs, body=None):
    made = b"".join(block(1, one) for one in inputs) + b"".join(block(2, one) for one in outputs) + block(3, op.lower()) + block(4, op)
    if body is not None:
        made += block(5, block(1, "body") + number(20, 5) + block(6, body))
    return made


def graph(nodes, inputs, outputs, constants=()):
    return (b"".join(block(1, one) for one in nodes) + block(2, "g") + b"".join(block(5, one) for one in constants)
            + b"".join(block(11, one) for one in inputs) + b"".join(block(12, one) for one in outputs))


def model(ends_by_data):
    """y = a loop over x: counted, or as long as its step is below a number that it never
    reaches."""
    condition = node("Less", ["i", "steps"], ["c2"]) if ends_by_data else node("Identity", ["c"], ["c2"])
    body = graph([condition, node("Add", ["v", "one"], ["v2"])], [value("i", INT64, []), value("c", BOOL, []), value("v", FLOAT, [4])],
                 [value("c2", BOOL, []), value("v2", FLOAT, [4])])
    constants = [tensor("steps", INT64, struct.pack("<q", STEPS)), tensor("true", BOOL, b"\1"), tensor("one", FLOAT, struct.pack("<f", 1))]
    loop = node("Loop", ["" if ends_by_data else "steps", "true", "x"], ["y"], body)
    return number(1, 8) + block(8, number(2, 17)) + block(7, graph([loop], [value("x", FLOAT, [4])], [value("y", FLOAT, [4])], constants))


def main():
    if why := why_missing(str(OPLAT), "onnxruntime"):
        print(f"skipped: no onnxruntime: {why}")
        return 1 if os.environ.get("OPLAT_TEST_REQUIRE") == "1" else SKIP
    wrong = []
    with tempfile.TemporaryDirectory(prefix="oplat-loops-") as folder:
        for ends_by_data in (False, True):
            file = Path(folder) / f"loop{ends_by_data}.onnx"
            file.write_bytes(model(ends_by_data))
            done = subprocess.run([str(OPLAT), "plan", file.name, "--runtime", "onnxruntime"], cwd=folder, capture_output=True, text=True, timeout=300)
            if done.returncode != 3 or not done.stderr.splitlines()[-1].startswith(f"oplat: {file.name}: "):
                wrong.append(f"{file.name}: exit {done.returncode}: {done.stderr}")
            elif "a plan holds at most" not in done.stderr:
                wrong.append(f"{file.name}: another reason: {done.stderr}")
    resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if resident > MAX_RESIDENT_MIB:
        wrong.append(f"a process held {resident:.0f} MiB")
    print("\n".join(wrong) or f"refused; the largest process held {resident:.0f} MiB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
