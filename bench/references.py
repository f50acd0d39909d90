#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Would correcting times by the reference kernels make rows better? An A/B on committed blocks
(data/reference-blocks.tsv).

Each block of a row is timed next to two reference kernels, one of arithmetic and one of memory.
This fits log time = row + b1 log(compute reference) + b2 log(memory reference) on one half of the
rows, for each cache state, and shows how much that narrows the spread of the blocks of the other
half. Blocks that the stop rule leaves out anyway (disturbed ones) are left out here too. --export
TABLE writes the data file anew from a table.
"""
import argparse
import math
import random
import sqlite3
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data/reference-blocks.tsv"
SEED = 1
ROWS_PER_STATE = 80
LEAST_COMMON = 50  # rows
NEEDED_GAIN = 0.05  # a narrowing by less is not worth a correction that may also be wrong
MOST_REFERENCE_RATIO = 1.5  # as in measure/stopping.cpp


def export(table):
    """Rows chosen at random for each threads and state, with all their blocks."""
    db = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
    rows = db.execute(
        "SELECT row.id, threads, reuse_bytes FROM row JOIN setting ON setting.id = row.setting WHERE outcome = 'timing' AND origin = 'own' ORDER BY row.id").fetchall()
    # Every kernel is hot at its own size; the other states are common to many.
    common = sorted(reuse for reuse, count in Counter(reuse for _, _, reuse in rows).items() if count >= LEAST_COMMON)
    names = {reuse: "cold" if reuse == common[-1] else "last-level" for reuse in common[-2:]}
    by_state = defaultdict(list)
    for row, threads, reuse in rows:
        by_state[threads, names.get(reuse, "hot")].append(row)
    choose = random.Random(SEED)
    with DATA.open("w") as out:
        out.write("# SPDX-License-Identifier: Apache-2.0\n")
        out.write("# Blocks of rows chosen at random from the table behind docs/results/accuracy.md; made by bench/references.py --export.\n")
        out.write("# row, threads, state, ns, compute reference ns, memory reference ns, switches, steal ticks, rounds\n")
        for (threads, state), ids in sorted(by_state.items()):
            for row in sorted(choose.sample(ids, min(ROWS_PER_STATE, len(ids)))):
                for block in db.execute(
                        "SELECT value_ns, reference_compute_ns, reference_memory_ns, switches, steal_ticks, rounds FROM block WHERE row = ? ORDER BY id", (row,)):
                    if None not in block:
                        out.write("\t".join(map(str, (row, threads, state, *(f"{v:.1f}" for v in block[:3]), *block[3:]))) + "\n")


def read():
    """{(threads, state): {row: [(log ns, log compute, log memory)]}} of undisturbed blocks."""
    blocks = []
    for line in DATA.read_text().splitlines():
        if not line.startswith("#"):
            row, threads, state, *numbers = line.split("\t")
            blocks.append((row, int(threads), state, *map(float, numbers)))
    compute = statistics.median(block[4] for block in blocks)
    memory = statistics.median(block[5] for block in blocks)
    groups = defaultdict(lambda: defaultdict(list))
    for row, threads, state, ns, c, m, switches, steal, rounds in blocks:
        if switches <= 0.05 * rounds and steal == 0 and c <= MOST_REFERENCE_RATIO * compute and m <= MOST_REFERENCE_RATIO * memory:
            groups[threads, state][row].append((math.log(ns), math.log(c), math.log(m)))
    return groups


def centred(rows):
    """All blocks of some rows, each column less its row's mean."""
    return numpy.concatenate([numpy.array(blocks) - numpy.mean(blocks, axis=0) for blocks in rows])


def compare(rows):
    """Median spread of the blocks of held-out rows, as measured and corrected, with the
    coefficients of both folds."""
    names = sorted(row for row, blocks in rows.items() if len(blocks) >= 4)
    random.Random(SEED).shuffle(names)
    halves = names[::2], names[1::2]
    raw, corrected, coefficients = [], [], []
    for train, test in (halves, halves[::-1]):
        fitted = centred([rows[name] for name in train])
        b, *_ = numpy.linalg.lstsq(fitted[:, 1:], fitted[:, 0], rcond=None)
        coefficients.append(b)
        for name in test:
            blocks = centred([rows[name]])
            raw.append(numpy.std(blocks[:, 0], ddof=1))
            corrected.append(numpy.std(blocks[:, 0] - blocks[:, 1:] @ b, ddof=1))
    return len(names), statistics.median(raw), statistics.median(corrected), coefficients


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", metavar="TABLE", help="write the data file from this table first")
    options = parser.parse_args()
    if options.export:
        export(options.export)
    if not DATA.exists():
        sys.exit(f"{DATA}: missing; make it with --export TABLE")
    worth = False
    for (threads, state), rows in sorted(read().items()):
        count, raw, corrected, ((c1, m1), (c2, m2)) = compare(rows)
        gain = 1 - corrected / raw
        worth |= gain >= NEEDED_GAIN
        print(f"{threads} thread(s), {state}: {count} rows, median spread of blocks {100 * raw:.2f} %, corrected {100 * corrected:.2f} %: gain {100 * gain:+.1f} % "
              f"(b1 {c1:.2f} and {c2:.2f}, b2 {m1:.2f} and {m2:.2f} in the two halves)")
    print("a correction by references would pay" if worth else f"no group gains {100 * NEEDED_GAIN:.0f} %: references are recorded, not applied")


if __name__ == "__main__":
    main()
