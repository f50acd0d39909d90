#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the 200 keys of data/keys-200.txt, 30 of their rows again, and writes the section
"Measuring" of docs/results/speed.md.

First the keys are profiled at the stop rule into a fresh table: rows (key, cache state) an hour.
Then 30 rows, chosen at random with a fixed seed, are measured again with at least 20 blocks, each
in a process of its own: how many differ by at most 3 %. A command that was cut short goes on where
it stopped; --fresh begins anew. The machine should have nothing else to do.
"""
import argparse
import random
import sqlite3
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import speed_page, text  # noqa: E402
from lib.baselines import operator_class  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, RUNTIME, Oplat, say  # noqa: E402
from lib.store import Store  # noqa: E402

SEED = 4
AGAIN = 30
PROCESSES = 20
MOST_DIFFERENCE = 0.03
LEAST_ROWS_AN_HOUR = 1000
LEAST_SHARE = 0.9
ROWS = ('SELECT kernel.key, reuse_bytes, outcome, median_ns, (ci_high_ns - ci_low_ns) / 2 / median_ns, blocks, processes, flags '
        'FROM "row" JOIN kernel ON kernel.id = "row".kernel ORDER BY kernel.key, reuse_bytes')


class Row:
    def __init__(self, cells):
        self.key, self.state, self.outcome, self.ns, self.half_width, self.blocks, self.processes, self.flags = cells


def rows_of(table):
    """All rows by key and cache state."""
    with sqlite3.connect(f"file:{table}?mode=ro", uri=True) as database:
        return {(row.key, row.state): row for row in map(Row, database.execute(ROWS))}


def profile(oplat, store, step, table, keys, *more):
    """One resumable call of oplat profile; its facts stay in the store."""
    facts = store.section(step)
    if not facts.get("done"):
        say(f"== {step}; load {text.load()}")
        facts.setdefault("load", text.load())
        facts["summary"] = oplat.timed_json(facts, store.save, "profile", "--keys", keys, "--table", table, "--runtime", RUNTIME,
                                            "--quiet", *more)
        facts["done"] = not facts["summary"]["budget_ended"] and not facts["summary"]["interrupted"]
        facts["load_after"] = text.load()
        store.save()
    return facts


def differences(first, again, chosen):
    """Second measurement over the first, less one, of the chosen rows that both tables hold as
    times."""
    found = []
    for identity in chosen:
        row, other = first[identity], again.get(identity)
        if other is not None and other.outcome == "timing":
            found.append((row, other, other.ns / row.ns - 1))
    return found


def state_text(state):
    return "-" if state is None else f"{state / 2**20:.3g} MiB"


def section(provenance, keys, first_facts, again_facts, first, pairs, asked):
    timings = [row for row in first.values() if row.outcome == "timing"]
    seconds = first_facts["seconds"]
    rate = len(timings) / seconds * 3600
    near = sum(abs(change) <= MOST_DIFFERENCE for _, _, change in pairs)
    share = near / asked
    refused = len(first) - len(timings)
    precise = first_facts["summary"]["rows"]["precise"]
    target = speed_page.target_row
    lines = [provenance, "", *text.table(["figure", ">value", ">target", ""], [
        target("rows (key, cache state) an hour at the stop rule", f"{rate:,.0f}", f">= {LEAST_ROWS_AN_HOUR:,}", rate >= LEAST_ROWS_AN_HOUR),
        target(f"rows of {asked} that differ by at most {text.percent(MOST_DIFFERENCE, 0)} when measured again with {PROCESSES} processes",
               f"{near} ({text.percent(share, 0)})", f">= {text.percent(LEAST_SHARE, 0)}", share >= LEAST_SHARE)]), "",
        f"{len({row.key for row in first.values()})} keys of `{keys}`: {len(timings)} rows with a time, {precise} of them within the target of the "
        f"stop rule, {refused} without one, in {seconds / 60:.1f} minutes and {first_facts['summary']['blocks']} blocks (load {first_facts['load']} before, "
        f"{first_facts['load_after']} after). Median half-width of a row's interval: {text.percent(statistics.median(row.half_width for row in timings), 2)}. "
        f"Measuring {asked} rows again took {again_facts['seconds'] / 60:.1f} minutes; a row that was not measured again counts as differing."]
    if pairs:
        changes = [change for _, _, change in pairs]
        lines += ["", f"Differences: median {text.signed_percent(statistics.median(changes))}, median magnitude "
                  f"{text.percent(statistics.median(map(abs, changes)), 2)}, largest {text.signed_percent(max(changes, key=abs))}.", ""]
        lines += text.table(["operator", ">bytes between uses", ">first", ">its CI", ">again", ">its CI", ">processes", ">difference"],
                            [[operator_class(row.key), state_text(row.state), text.duration(row.ns), f"+-{text.percent(row.half_width)}",
                              text.duration(other.ns), f"+-{text.percent(other.half_width)}", str(other.processes), text.signed_percent(change)]
                             for row, other, change in sorted(pairs, key=lambda pair: -abs(pair[2]))])
    return lines


def run(options):
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    first_table, again_table, again_keys = (folder / name for name in ("throughput.oplat", "again.oplat", "again.txt"))
    store = Store(folder / "throughput.bench.json")
    if options.fresh:
        for path in (first_table, again_table, again_keys, store.path):
            path.unlink(missing_ok=True)
        store = Store(store.path)
    load_before = store.section("load").setdefault("before", text.load())
    first_facts = profile(oplat, store, "first", first_table, Path(options.keys).resolve())
    first = rows_of(first_table)
    timings = sorted(identity for identity, row in first.items() if row.outcome == "timing")
    chosen = random.Random(SEED).sample(timings, min(AGAIN, len(timings)))
    again_keys.write_text("".join(f"{key}\n" for key in sorted({key for key, _ in chosen})), encoding="utf-8")
    again_facts = profile(oplat, store, "again", again_table, again_keys, "--blocks", PROCESSES)
    pairs = differences(first, rows_of(again_table), chosen)
    device = oplat.json("table", "info", first_table)["populations"][0]["device"]
    provenance = speed_page.provenance("bench/throughput.py", device, oplat.version(), load_before)
    speed_page.write_section(options.out, speed_page.MEASURING, section(provenance, Path(options.keys).name, first_facts, again_facts, first, pairs,
                                                                          len(chosen)))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default=str(ROOT / "data/keys-200.txt"), help="file of keys (default: data/keys-200.txt)")
    parser.add_argument("--folder", default=str(ROOT / "build/bench"), help="folder for tables (default: build/bench)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/speed.md"), help="page to write (default: docs/results/speed.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--fresh", action="store_true", help="discard earlier measurements")
    options = parser.parse_args()
    run_command(run, options)


if __name__ == "__main__":
    main()
