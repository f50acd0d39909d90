#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `oplat tinynas predict --method original` with scipy: tinynas_original_test.py OPLAT

Synthetic libraries on grids, where both diagonals of a cell are Delaunay's and several rows are
equally near; a library of scattered rows and one of repeated rows. Random questions lie on, between
and beyond the rows. Answers agree to 12 digits, and oplat has none where the original raises.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIP = 77
TOLERANCE = 1e-12
QUESTIONS = 1500

sys.path[:0] = [str(path) for path in ROOT.glob(".venv/lib/python3.11/site-packages")]
try:
    from tinynas_original import NoAnswer, Original
except ImportError as error:
    print(f"skipped: {error}; scripts/setup installs it")
    sys.exit(1 if os.environ.get("OPLAT_TEST_REQUIRE") == "1" else SKIP)

KINDS = (("Regular", 3, 1, 0), ("Regular", 1, 1, 1), ("Regular", 5, 2, 0), ("Depthwise", 3, 1, 0))
LIBRARIES = {
    "a regular grid": (1, dict(sizes=(7, 14, 28, 56, 112), channels=(16, 32, 64, 128, 256, 512),
                               batches=(1, 32), ratios=(0.5, 1, 2))),
    "an uneven grid": (2, dict(sizes=(4, 5, 9, 13, 40, 80), channels=(8, 24, 40, 96, 160, 384),
                               batches=(1, 8, 64), ratios=(0.25, 1))),
    "two sizes": (3, dict(sizes=(8, 16), channels=(16, 32), batches=(1, 16), ratios=(1,))),
    "large numbers": (4, dict(sizes=(500, 750, 1000, 4000), channels=(1000, 3000, 10000),
                              batches=(2,), ratios=(0.5, 1))),
    "scattered rows": (5, dict(sizes=range(6, 200), channels=range(16, 600, 4), batches=(1, 16),
                               ratios=(0.5, 1), count=1200)),
    "repeated rows": (6, dict(sizes=(7, 14, 28), channels=(16, 48, 64), batches=(1, 8),
                              ratios=(0.5, 1), count=900)),
}


def made_time(choose, batch, in_c, in_h, out_c, kernel, stride, fused):
    """ms of a machine that works off tiles, with noise: not a plane over sizes and channels."""
    out_h = -(-in_h // stride)
    tiles = -(-batch * out_h * out_h // 64) * -(-out_c // 32)
    macs = tiles * 64 * 32 * in_c * kernel * kernel
    return (4e-3 + macs * 2e-9 + fused * out_c * out_h * out_h * 1e-7) * choose.uniform(0.8, 1.25)


def library(choose, sizes, channels, batches, ratios, count=None):
    """Rows in the order of a sampler, the second half shuffled; `count` rows drawn with
    repetition."""
    rows = []
    for kind, kernel, stride, fused in KINDS:
        for batch in batches:
            for out_c in channels:
                for in_h in sizes:
                    inputs = [3, *(int(out_c * ratio) for ratio in ratios)]
                    for in_c in [out_c] if kind == "Depthwise" else inputs:
                        rows.append((kind, batch, in_c, in_h, out_c, kernel, stride, fused))
    if count:
        rows = choose.choices(rows, k=count)
    # Some measurements failed.
    timed = [(*row, -1 if choose.random() < 0.02 else made_time(choose, row[1], *row[2:])) for row in rows]
    tail = timed[len(timed) // 2:]
    choose.shuffle(tail)
    return timed[:len(timed) // 2] + tail


def question(choose, rows):
    """A convolution near the rows: one of them, or moved along some of its axes."""
    kind, batch, in_c, in_h, out_c, kernel, stride, fused, _ = choose.choice(rows)
    if choose.random() < 0.6:
        in_h = max(1, in_h + choose.randint(-9, 9))
    if choose.random() < 0.6:
        out_c = max(1, out_c + choose.randint(-40, 40))
    if choose.random() < 0.1:
        out_c, in_h = choose.randint(1, 900), choose.randint(1, 300)
    if kind == "Depthwise":
        in_c = out_c
    elif in_c != 3 and choose.random() < 0.7:
        in_c = max(4, int(out_c * choose.choice((0.25, 0.3, 0.5, 0.9, 1, 1.5, 2, 6))))
    if choose.random() < 0.3:
        batch = choose.choice((1, 2, 8, 20, 64))
    if choose.random() < 0.02:
        kernel = 7
    return kind, batch, in_c, in_h, out_c, kernel, stride, fused


def answers(oplat, folder, rows, questions):
    """oplat's ms for each question; None if it has none."""
    library_file, tests = folder / "conv_data.out", folder / "tests.tsv"
    with library_file.open("w") as out:
        for kind, batch, in_c, in_h, out_c, kernel, stride, fused, time in rows:
            numbers = f"{batch},{in_c},{in_h},{in_h},{out_c},{kernel},{stride},{fused}"
            out.write(f"{{{kind},{numbers}}} {time!r}\n")
    with tests.open("w") as out:
        for kind, batch, in_c, in_h, out_c, kernel, stride, fused in questions:
            fields = (kind, stride, fused, kernel, batch, in_c, in_h, out_c)
            out.write("\t".join(map(str, fields)) + "\n")
    done = subprocess.run(
        [oplat, "tinynas", "predict", "--library", library_file, "--precision", "FP32",
         "--method", "original", "--tests", tests, "--json", "--quiet"],
        capture_output=True, text=True, timeout=240)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"exit {done.returncode}\n{done.stderr}")
    return [conv["latency_ms"] for conv in json.loads(done.stdout)["convs"]]


def compare(oplat, name, seed, **grid):
    """Prints the differences; returns their number and that of the original's answers."""
    choose = random.Random(seed)
    rows = library(choose, **grid)
    original = Original(rows)
    questions = [question(choose, rows) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory(prefix="oplat-original.") as folder:
        got = answers(oplat, Path(folder), rows, questions)
    if len(got) != len(questions):
        raise RuntimeError(f"{len(got)} answers to {len(questions)} questions")
    differences = answered = 0
    for asked, answer in zip(questions, got):
        try:
            expected, why = original.predict(*asked), "scipy"
            answered += 1
            same = answer is not None and abs(answer - expected) <= TOLERANCE * abs(expected)
        except NoAnswer as reason:
            expected, why, same = None, str(reason), answer is None
        if not same:
            differences += 1
            if differences <= 10:
                print(f"{name}: {asked}: oplat {answer!r}, the original {expected!r} ({why})")
    print(f"{name}: {len(rows)} rows, {QUESTIONS} questions, {answered} answered, {differences} differ")
    return differences, answered


def main():
    oplat = os.path.abspath(sys.argv[1])
    failed = 0
    for name, (seed, grid) in LIBRARIES.items():
        differences, answered = compare(oplat, name, seed, **grid)
        failed += differences > 0 or answered < QUESTIONS // 2
    print(f"{len(LIBRARIES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
