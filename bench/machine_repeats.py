#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the measured memory of this machine repeat? Runs `oplat machine` several times and compares
curves and levels; writes a section of docs/results/machines.md.

The machine should have nothing else to do. Three runs take about a minute. Needs scripts/build
release.
"""
import argparse
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import memory_repeats, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import RESULTS, ROOT, Failed, Oplat, say  # noqa: E402
from lib.sections import put_last_section  # noqa: E402

RUNS = 3


def measure(oplat, count, arguments):
    """`count` runs, one after another."""
    runs = []
    for number in range(1, count + 1):
        load, start = text.load(), time.monotonic()
        say(f"== run {number} of {count}; load {load}")
        document = oplat.json("machine", *arguments)
        runs.append(memory_repeats.Run(document, time.monotonic() - start, load))
    return runs


def run(options):
    if options.runs < 2:
        raise Failed("--runs must be 2 or more: one run has nothing to be compared with")
    arguments = ["--budget", options.budget] if options.budget else []
    typed = (f" --runs {options.runs}" if options.runs != RUNS else "") + "".join(f" {word}" for word in arguments)
    runs = measure(Oplat(options.oplat), options.runs, arguments)
    put_last_section(options.out, memory_repeats.HEADING, memory_repeats.section(runs, typed))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="program to run (default: build/release/oplat)")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"number of runs (default: {RUNS})")
    parser.add_argument("--budget", help="as of oplat machine: time after which no pass begins (default: that of oplat machine)")
    parser.add_argument("--out", default=str(RESULTS / "machines.md"), help="page whose last section is written (default: docs/results/machines.md)")
    run_command(run, parser.parse_args())


if __name__ == "__main__":
    main()
