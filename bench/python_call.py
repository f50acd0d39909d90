#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs above the same call in C++: Table.predict(), oplat.Key() and
as_objective(). Writes the section "Calling from Python" of docs/results/speed.md.

MODEL's plan is in TABLE. Needs the targets oplat, oplat_python and python_call of a release build,
and runs under .venv-python:

  scripts/build release oplat oplat_python python_call
  .venv-python/bin/python bench/python_call.py TABLE MODEL

Python and C++ take turns, a process of C++ a round; of each the fastest call counts, since other
programs only ever add time.
"""
import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import speed_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat  # noqa: E402

KEY = "Relu/14{}(f32[1,16])->(f32[1,16])"
MOST_US = 5
CALLS = {"predict": "`table.predict(path)`", "objective": "`table.as_objective()(path)`, next to the same", "key": "`oplat.Key(text)`"}
IN_CPP = {"objective": "predict"}  # what the others are compared with
WITH_MORE = {"objective"}  # that do more than the call in C++


def ns_of(calls, call):
    """The fastest of these calls."""
    best = float("inf")
    clock = time.perf_counter_ns
    for _ in range(calls):
        start = clock()
        call()
        best = min(best, clock() - start)
    return best


def measure(options):
    """(Python, C++) in ns by name; a lambda that does nothing; kernels of the model, warnings of
    its prediction."""
    sys.path.insert(0, str((options.build / "python").resolve()))
    import oplat

    warnings.simplefilter("ignore")  # of the objective, whose predictions warn
    table = oplat.Table(options.table)
    prediction = table.predict(options.model)
    kernels, warned = len(prediction.kernels), len(prediction.warnings)
    objective = table.as_objective()
    calls = {"predict": (options.calls, lambda: table.predict(options.model)), "objective": (options.calls, lambda: objective(options.model)),
             "key": (20 * options.calls, lambda: oplat.Key(KEY))}
    nothing = ns_of(20 * options.calls, lambda: None)
    python, cpp = {}, {}
    for _ in range(options.rounds):
        said = subprocess.run([options.build / "python_call", options.table, options.model, KEY, str(options.calls)],
                              check=True, capture_output=True, text=True).stdout
        for name, ns in json.loads(said).items():
            cpp[name] = min(cpp.get(name, ns), ns)
        for name, (count, call) in calls.items():
            ns = ns_of(count, call)
            python[name] = min(python.get(name, ns), ns)
    return {name: (python[name], cpp[IN_CPP.get(name, name)]) for name in calls}, nothing, kernels, warned


def section(found, nothing, kernels, warned, options, facts):
    rows = []
    for name, (python, cpp) in found.items():
        target, met = ("-", None) if name in WITH_MORE else (f"<= {MOST_US} us", python - cpp <= MOST_US * 1e3)
        rows.append([CALLS[name], f"{python / 1e3:.2f} us", f"{cpp / 1e3:.2f} us",
                     *speed_page.target_row("", f"{(python - cpp) / 1e3:+.2f} us", target, met)[1:]])
    return [facts, "", f"The model is {Path(options.model).name}, {kernels} kernels, planned by the table, which is open. The fastest of "
            f"{options.rounds} x {options.calls} calls, of `oplat.Key` twenty times as many. A Python function that does nothing, and the clock "
            f"around each call, take {nothing / 1e3:.2f} us of what Python takes. An objective also makes Python warnings of those of its "
            f"prediction, {warned} here.", "",
            *text.table(["call", ">Python", ">C++", ">difference", ">target", ""], rows)]


def run(options):
    for name in ("python_call", "python/oplat"):
        if not (options.build / name).exists():
            raise Failed(f"{options.build / name} is missing; build it with scripts/build release oplat oplat_python python_call")
    oplat = Oplat(options.build / "oplat")
    load_before = text.load()
    found, nothing, kernels, warned = measure(options)
    device = oplat.json("table", "info", Path(options.table).resolve())["populations"][0]["device"]
    facts = speed_page.provenance("bench/python_call.py", device, oplat.version(), load_before)
    lines = section(found, nothing, kernels, warned, options, facts)
    print("\n".join(lines))
    if options.out != "-":
        speed_page.write_section(options.out, speed_page.CALLING, lines)
        print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--out", default=str(ROOT / "docs/results/speed.md"), help="page to write (default: docs/results/speed.md); -: print only")
    parser.add_argument("table")
    parser.add_argument("model")
    run_command(run, parser.parse_args())


if __name__ == "__main__":
    main()
