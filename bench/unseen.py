#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts models of families that no measured kernel comes from, and writes the page `unseen` of
docs/results.

Steps, each of which goes on where it was cut short (facts are kept in TABLE.bench.json): 'oplat
measure' of each reported model into another table (--whole), a share of --within each, in rounds of
which a third comes first; one budgeted run of 'oplat profile --space' into TABLE, unless TABLE is
there already; another third of the rounds; the run into --short; the other rounds; then TABLE
predicts each model from the runtime's plan. Each number of threads has a run of its own.
The models are those of data/zoo.tsv whose families are in the reported half (bench/lib/halves.py).
Simpler predictors are fitted to the same rows. The machine should have nothing else to do until
the predictions begin.
"""
import argparse
import contextlib
import json
import sqlite3
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import rival_predictors, text, unseen_page, unseen_steps  # noqa: E402
from lib.entry import require_onnx, run_command  # noqa: E402
from lib.oplat import RESULTS, ROOT, Failed, Oplat, say  # noqa: E402
from lib.settings import SETTINGS, choose_settings, networks_of, require_files  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402


# sources of a prediction from rows of the model's own kernels
NOT_ESTIMATED = {"measured", "free", "overhead"}


def errors_of(oplat, store, table, setting, networks, measured, estimates=True):
    """The errors of another table's predictions, by model; without `estimates` only of models whose
    every kernel it has."""
    rows, digest = unseen_steps.rows_of(oplat, table)
    if not any(row["setting"]["threads"] == setting.threads for row in rows):
        return {}
    found = unseen_steps.predictions(oplat, store, table, setting, networks, digest)
    return {name: of["latency_ns"] / measured[name]["latency_ns"] - 1 for name, of in found.items()
            if of["latency_ns"] is not None and (estimates or NOT_ESTIMATED.issuperset(of["time"]))}


def part_of(oplat, store, setting, networks, rows, digest, options):
    measured = store.section("whole", setting.name)
    some = [network for network in networks_of(setting, networks) if network.name in measured]
    training = unseen_steps.training_rows(rows, setting.threads)
    if not some or not training:
        say(f"{setting.title}: {'no rows in the table' if some else 'no measured model'}; left out")
        return None
    predicted = unseen_steps.predictions(oplat, store, options.table, setting, some, digest)
    rivals = rival_predictors.fitted(training)
    lines = []
    for network in some:
        kernels = predicted[network.name]["kernels"]
        others = {method: rival_predictors.model_ns(rival, kernels) for method, rival in rivals.items()} if kernels else {}
        times = [one["latency_ns"] for one in unseen_steps.that_count(store.section("rounds", setting.name).get(network.name, []))]
        lines.append(unseen_page.Line(network.name, network.family, measured[network.name], predicted[network.name], others, times))
    further = {name: errors_of(oplat, store, table, setting, some, measured, name != "full") for name, table in (("short", options.short), ("full", options.full)) if table}
    return unseen_page.Part(setting, lines, further)


def summary_of(store, options, threads):
    """What the profile run said of itself: kept by this command, or in the file that --summary
    names; {} if neither is there."""
    if options.summary:
        return json.loads(Path(options.summary).read_text(encoding="utf-8"))
    return store.section("profile", options.table.name, str(threads)).get("summary", {})


def expected_error(summary, precision):
    """What a profile said of models never seen in this precision; None if it said nothing."""
    kind = {"fp32": "expected_error_of_others", "int8": "expected_error_in_8_bits"}[precision]
    space = summary.get("space") or {}
    if kind not in space:
        return None  # what an earlier oplat said was of both kinds
    # Of a space whose networks are all of one kind it is said of all.
    return (space.get(kind) or space.get("expected_error") or {}).get("mean")


def commits_of(table):
    """The commits of oplat that measured the table's rows; none of a table that is not there."""
    if not table.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"{table.as_uri()}?mode=ro", uri=True)) as open_table:
        return sorted({commit[:12] for commit, in open_table.execute("SELECT DISTINCT commit_id FROM campaign")})


def measure_all(oplat, store, settings, networks, options):
    """The budgeted runs, into tables that are not there or that this command began, with the rounds
    of the models before, between and after them: a shared host is another one each hour."""
    threads = sorted({setting.threads for setting in settings})
    unseen_steps.measure(oplat, store, settings, networks, options, rounds_until(1, options))
    for part, (table, budget, counts) in enumerate(((options.table, options.budget, threads), (options.short, options.short_budget, threads[:1])), start=2):
        if table and (not table.exists() or store.section("profile", table.name)):
            for count in counts:
                unseen_steps.profile_space(oplat, store, table, budget, count, options)
        unseen_steps.measure(oplat, store, settings, networks, options, rounds_until(part, options))


def rounds_until(part, options):
    """Of the models, by the end of this one of three parts."""
    return round(part * options.rounds / 3)


def run(options):
    oplat = Oplat(options.oplat)
    settings = choose_settings(options.settings)
    networks = unseen_steps.reported_networks(options.networks)
    require_files(networks)
    store = Store(f"{options.table}.bench.json")
    load_before = text.load()
    if not options.skip_measuring:
        store.section("load")["before"] = load_before
        measure_all(oplat, store, settings, networks, options)
    rows, digest = unseen_steps.rows_of(oplat, options.table)
    parts = [part_of(oplat, store, setting, networks, rows, digest, options) for setting in settings]
    parts = [part for part in parts if part is not None]
    if not parts:
        raise Failed(f"{options.table} has no rows, or no reported model was measured, for these settings")
    summaries = [summary_of(store, options, threads) for threads in sorted({part.setting.threads for part in parts})]
    summary = summaries[0]
    facts = {"device": oplat.json("table", "info", options.table)["populations"][0]["device"], "oplat": oplat.version(), "load_before": store.section("load").get("before", load_before),
             "measured_by": commits_of(options.table), "rows": len(rows), "space": options.space, "seconds": sum(one.get("seconds", 0) for one in (summaries[:1] if options.summary else summaries)), "short_budget": options.short_budget,
             "expected_error": {part.setting.name: expected_error(summary_of(store, options, part.setting.threads), part.setting.precision) for part in parts},
             "budget": options.budget if any("summary" in one for one in store.section("profile", options.table.name).values()) else None}
    write_atomically(options.out, unseen_page.page(parts, facts))
    print(f"wrote {options.out}; load average {text.load()} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default=str(ROOT / "unseen.oplat"), help="table of the budgeted run; made if missing (default: unseen.oplat)")
    parser.add_argument("--whole", default=str(ROOT / "unseen-whole.oplat"), help="table for the models' own times (default: unseen-whole.oplat)")
    parser.add_argument("--short", metavar="TABLE", help="table of a second run within --short-budget, for one figure; made if missing (default: none)")
    parser.add_argument("--full", metavar="TABLE", help="table of models whose every kernel is measured, for one figure (default: none)")
    parser.add_argument("--space", default="general-cpu", help="space of kernels to draw from (default: general-cpu)")
    parser.add_argument("--budget", default="30m", metavar="TIME", help="time of the run (default: 30m)")
    parser.add_argument("--short-budget", default="5m", metavar="TIME", help="time of the second run (default: 5m)")
    parser.add_argument("--summary", metavar="FILE", help="what 'oplat profile --json' printed, if the table was made without this command")
    parser.add_argument("--settings", nargs="+", default=[], metavar="NAME", help=f"settings to report (default: {' '.join(s.name for s in SETTINGS)})")
    parser.add_argument("--networks", nargs="+", default=[], metavar="NAME", help="models to report (default: all of the reported half)")
    parser.add_argument("--within", type=float, default=60, metavar="MINUTES", help="for all models end to end, calls before this one included (default: 60; 0: a minute each)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each model is measured: a third of the rounds before the run into --table, a third between it and the run into --short, a third after that (default: 3)")
    parser.add_argument("--skip-measuring", action="store_true", help="only predict and write the page")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--out", default=str(RESULTS / "unseen.md"), help="page to write (default: unseen.md in docs/results)")
    options = parser.parse_args()
    for name in ("table", "whole", "short", "full"):
        if getattr(options, name):
            setattr(options, name, Path(getattr(options, name)).resolve())
    require_onnx()  # the same Python has numpy
    run_command(run, options)


if __name__ == "__main__":
    main()
