#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs of bench/lib/random_graphs.py: valid, the same each time, and planned by oplat.

usage: random_graphs_test.py OPLAT

OPLAT_TEST_REQUIRE=1 allows no skip.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), *map(str, ROOT.glob(".venv/lib/python3.11/site-packages"))]
SKIP = 77
SEED = 1
GRAPHS = 8


def main(oplat):
    try:
        import onnx
        import onnxruntime  # noqa: F401: which executes the graphs
    except ImportError as error:
        print(f"skipped: {error}; scripts/setup installs it")
        return 1 if os.environ.get("OPLAT_TEST_REQUIRE") == "1" else SKIP
    from lib import random_graphs

    failures = []
    graphs = [random_graphs.random_model(SEED, number).SerializeToString() for number in range(GRAPHS)]
    if len(set(graphs)) < GRAPHS:
        failures.append("two graphs are the same")
    again = [random_graphs.random_model(SEED, number).SerializeToString() for number in range(GRAPHS)]
    if graphs != again:
        failures.append("a seed gives other graphs the second time")
    if graphs[0] == random_graphs.random_model(SEED + 1, 0).SerializeToString():
        failures.append("another seed gives the same graph")
    with tempfile.TemporaryDirectory() as folder:
        for number, graph in enumerate(graphs):
            onnx.checker.check_model(onnx.load_from_string(graph), full_check=True)
            path = Path(folder) / f"{number}.onnx"
            path.write_bytes(graph)
            done = subprocess.run([oplat, "plan", path, "--runtime", "onnxruntime", "--quiet"], text=True, capture_output=True, cwd=ROOT, check=False)
            if done.returncode != 0:
                failures.append(f"graph {number}: oplat plan ends with exit {done.returncode}: {done.stderr.strip()}")
    print("\n".join(failures) or f"{GRAPHS} graphs are valid, the same each time, and planned")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
