#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which element-wise functions of MNN take some numbers longer than others?

As bench/value_costs.py does it for ONNX Runtime: each function on numbers of several kinds, and the
time of each kind relative to that of random numbers between -1 and 1, which kernels are measured
on. `changing`: numbers between -3 and 3, 32 sets in turn, relative to one such set again and again.
The lists of src/ir/value_costs.cpp and python/oplat/workers/mnn/data.py come from this. Run it by
the runtime's own interpreter, on a quiet machine:

    PYTHONPATH=python OPLAT_WORKER_LIBRARY=build/release/liboplat_worker.so.1 .venv-mnn/bin/python
    bench/value_costs_elsewhere.py
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.pop(0)  # this folder, whose scripts are named like the runtimes' packages

import numpy  # noqa: E402

FUNCTIONS = ("ABS NEG FLOOR CEIL SQUARE SQRT RSQRT EXP LOG SIN COS TAN ASIN ACOS ATAN RECIPROCAL LOG1P BNLL ACOSH SINH ASINH ATANH SIGN ROUND COSH ERF ERFC "
             "ERFINV EXPM1 SIGMOID TANH HARDSWISH GELU GELU_STANDARD SILU").split()
SHAPE = (1, 16, 36, 36)
SETS = 32


def kinds():
    numbers = numpy.random.RandomState(0)
    count = int(numpy.prod(SHAPE))
    made = {"-1..1": numbers.uniform(-1, 1, count), "0": numpy.zeros(count), "0..1": numbers.uniform(0, 1, count), "-3..3": numbers.uniform(-3, 3, count),
            "0, 1, .. 299": numpy.arange(count) % 300, "-100..100": numbers.uniform(-100, 100, count), "-1000..1000": numbers.uniform(-1000, 1000, count)}
    return {name: [array.astype("float32").reshape(SHAPE)] for name, array in made.items()}


def fastest(session, first, count, seconds):
    """us of a run, lower quartile over `seconds`, on `count` sets of data in turn."""
    times, end, number = [], time.perf_counter() + seconds, 0
    while time.perf_counter() < end or number < 2 * SETS:
        session.next_set = first + number % count
        session.refill()
        begin = time.perf_counter_ns()
        session.run()
        times.append(time.perf_counter_ns() - begin)
        number += 1
    return 1e-3 * float(numpy.quantile(times[len(times) // 4:], 0.25))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each function and kind, five times (default 0.05)")
    options = parser.parse_args()
    from oplat.workers import keys
    from oplat.workers.mnn.engine import Engine
    from oplat.workers.mnn.kernels import Kernel
    from oplat.workers.mnn.worker import session_config

    engine = Engine()
    config = session_config({"precision": "model", "threads": 1, "options": {}})
    sets = kinds()
    changing = [numpy.random.RandomState(seed).uniform(-3, 3, SHAPE).astype("float32") for seed in range(SETS)]
    print(f"{'function':14} {'us':>8}  " + "  ".join(f"{kind:>12}" for kind in [*sets, "changing"]))
    for function in FUNCTIONS:
        dims = ",".join(map(str, SHAPE))
        build = Kernel(keys.parse(f"mnn:UnaryOp{{opType={function}}}(f32[{dims}])->(f32[{dims}])")).build(1, False, False)
        with tempfile.TemporaryDirectory() as folder:
            build.write(engine, Path(folder, "k.mnn"), 1)
            session = engine.session(Path(folder, "k.mnn"), config, {})
        name = next(iter(build.inputs))
        for array in [*(each for arrays in sets.values() for each in arrays), *changing]:
            session.add_feed({name: array})
        rounds = [[fastest(session, place, 1, options.seconds) for place in range(len(sets))]
                  + [fastest(session, len(sets), 1, options.seconds), fastest(session, len(sets), SETS, options.seconds)] for _ in range(5)]
        times = numpy.min(rounds, axis=0)
        ratios = [*(times[:len(sets)] / times[0]), times[-1] / times[-2]]
        print(f"{function:14} {times[0]:8.1f}  " + "  ".join(f"{one:12.2f}" for one in ratios), flush=True)


if __name__ == "__main__":
    main()
