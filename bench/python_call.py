#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs above the same call in C++: Table.predict() and Key().

usage: python_call.py [--build build/release] [--rounds 20] [--calls 200] TABLE MODEL

MODEL's plan is in TABLE. Needs the targets oplat_python and python_call of a build with
OPLAT_PYTHON=ON, and runs under .venv-python. Python and C++ take turns, a process of C++ a round;
of each the fastest call counts, since other programs only ever add time.
"""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

KEY = "Relu/14{}(f32[1,16])->(f32[1,16])"


def ns_of(calls, call):
    """The fastest of these calls."""
    best = float("inf")
    clock = time.perf_counter_ns
    for _ in range(calls):
        start = clock()
        call()
        best = min(best, clock() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("table")
    parser.add_argument("model")
    asked = parser.parse_args()
    sys.path.insert(0, str((asked.build / "python").resolve()))
    import oplat

    table = oplat.Table(asked.table)
    table.predict(asked.model)
    nothing = ns_of(20 * asked.calls, lambda: None)
    python, cpp = {}, {}
    for _ in range(asked.rounds):
        said = subprocess.run([asked.build / "python_call", asked.table, asked.model, KEY, str(asked.calls)],
                              check=True, capture_output=True, text=True).stdout
        for name, ns in json.loads(said).items():
            cpp[name] = min(cpp.get(name, ns), ns)
        for name, ns in (("predict", ns_of(asked.calls, lambda: table.predict(asked.model))),
                         ("key", ns_of(20 * asked.calls, lambda: oplat.Key(KEY)))):
            python[name] = min(python.get(name, ns), ns)
    print(f"{'call':10} {'Python':>12} {'C++':>12} {'difference':>12}   (a lambda and the clock: {nothing / 1e3:.2f} us)")
    for name in cpp:
        print(f"{name:10} {python[name] / 1e3:9.2f} us {cpp[name] / 1e3:9.2f} us {(python[name] - cpp[name]) / 1e3:9.2f} us")


if __name__ == "__main__":
    main()
