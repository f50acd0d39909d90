#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times predictions, as processes and in the library, and writes the section "Predicting" of
docs/results/speed.md.

Processes run interleaved with `oplat version`, whose time is that of starting the program; their
figure is the difference of medians. Needs: scripts/build release oplat predict_bench grow_table,
and table that holds mobilenet_v2_224 (bench/accuracy.py --settings fp32 --networks
mobilenet_v2_224). What is made stays in build/bench and is used again.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import speed_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import PINNED_PYTHON, ROOT, RUNTIME, Failed, Oplat, say  # noqa: E402

RUNS = 20
ROWS = 100_000
SMALL_MODEL = ROOT / "models" / "mobilenet_v2_224.onnx"


def need(path, way):
    if not path.exists():
        raise Failed(f"{path.name} is missing; {way}")
    return path


def program(options, name):
    return need(Path(options.oplat).resolve().parent / name, f"build it with scripts/build release {name}")


def large_model(oplat, folder):
    """A 500 MB network and a table that knows its path, size, time and plan."""
    model, table = folder / "large.onnx", folder / "large.oplat"
    if not model.exists():
        say("making a network of 500 MB")
        unfinished = folder / "large.unfinished"
        subprocess.run([PINNED_PYTHON, ROOT / "bench/large_model.py", unfinished], check=True)
        unfinished.replace(model)
        table.unlink(missing_ok=True)
    if not table.exists():
        say("profiling it")
        unfinished = folder / "large.unfinished.oplat"
        unfinished.unlink(missing_ok=True)
        oplat.text("profile", "--model", model, "--table", unfinished, "--runtime", RUNTIME, "--budget", "1m", "--quiet", "--json")
        unfinished.replace(table)
    return model, table


def large_table(options, folder):
    """The given table with made rows besides its own."""
    table = folder / f"rows-{ROWS}.oplat"
    if not table.exists() or table.stat().st_mtime < options.table.stat().st_mtime:
        say(f"making a table of {ROWS} rows")
        unfinished = folder / "rows.unfinished.oplat"
        shutil.copyfile(options.table, unfinished)
        subprocess.run([program(options, "grow_table"), unfinished, str(ROWS)], check=True)
        unfinished.replace(table)
    return table


def process_ms(command):
    """From start to end of one process, its output thrown away."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, descriptor) for descriptor in (0, 1, 2)]
        start = time.perf_counter_ns()
        child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        _, status = os.waitpid(child, 0)
        elapsed = time.perf_counter_ns() - start
    finally:
        os.close(null)
    if os.waitstatus_to_exitcode(status) != 0:
        raise Failed(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    return elapsed / 1e6


def interleaved(commands):
    """Medians over RUNS runs of each command, one after the other, after two rounds that are not
    counted."""
    times = {name: [] for name in commands}
    for run in range(-2, RUNS):
        for name, command in commands.items():
            elapsed = process_ms(command)
            if run >= 0:
                times[name].append(elapsed)
    return times


def library(options, table):
    """Real times of bench/predict_bench.cpp in ns, median of five repetitions."""
    # Those of plans by rules are bench/rules.py's.
    done = subprocess.run([program(options, "predict_bench"), "--benchmark_filter=-by_rules", "--benchmark_format=json", "--benchmark_repetitions=5",
                           "--benchmark_report_aggregates_only=true"],
                          check=True, text=True, stdout=subprocess.PIPE, env=os.environ | {"OPLAT_BENCH_TABLE": str(table)})
    units = {"ns": 1.0, "us": 1e3, "ms": 1e6}
    found = {}
    for one in json.loads(done.stdout)["benchmarks"]:
        if one.get("error_occurred"):
            raise Failed(f"predict_bench: {one['name']}: {one['error_message']}")
        if one.get("aggregate_name") == "median":
            found[one["run_name"].removesuffix("/explain:0")] = one["real_time"] * units[one["time_unit"]]
    return found


def section(times, inside, facts):
    start = statistics.median(times["version"])
    above = {name: statistics.median(values) - start for name, values in times.items()}
    row = speed_page.target_row
    rows = [
        row("process: mobilenet_v2_224, plan cached, above `oplat version`", f"{above['small']:.2f} ms", "<= 20 ms", above["small"] <= 20),
        row("process: a model of 500 MB whose path, size and time are known, above `oplat version`", f"{above['large']:.2f} ms", "<= 60 ms",
            above["large"] <= 60),
        row("library: 100 measured kernels, table open", text.duration(inside["predict_100_kernels_again"]), "<= 50 us",
            inside["predict_100_kernels_again"] <= 50e3),
        row("the same, with a sentence for every kernel on where its time comes from", text.duration(inside["predict_100_kernels_again/explain:1"]),
            "-", None),
        row(f"library: open a table of {ROWS:,} rows, first prediction", text.duration(inside["open_select_and_predict"]), "<= 30 ms",
            inside["open_select_and_predict"] <= 30e6),
    ]
    spread = [[name, f"{statistics.median(times[key]):.2f} ms", f"{min(times[key]):.2f} ms", f"{max(times[key]):.2f} ms"]
              for name, key in (("`oplat version`", "version"), ("`oplat predict` mobilenet_v2_224", "small"),
                                ("`oplat predict` of 500 MB", "large"), (f"`oplat predict` mobilenet_v2_224, {ROWS:,} rows", "rows"))]
    parts = [["open", "open_only"], ["find which rows answer", "select_rows"], ["open, find, read the plan, predict", "open_select_and_predict"]]
    return [
        facts, "",
        *text.table(["figure", ">value", ">target", ""], rows), "",
        f"Processes: {RUNS} runs of each, one after the other, page cache warm.", "",
        *text.table(["process", ">median", ">min", ">max"], spread), "",
        f"Library, 100 kernels that an open table is asked about for the first time: {text.duration(inside['predict_100_kernels_first'])}. "
        f"A table of {ROWS:,} rows:", "",
        *text.table(["step", ">time"], [[name, text.duration(inside[key])] for name, key in parts]),
    ]


def run(options):
    oplat = Oplat(options.oplat)
    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    need(options.table, "make it with bench/accuracy.py")
    need(SMALL_MODEL, "make it with scripts/models demo")
    load_before = text.load()
    model, model_table = large_model(oplat, folder)
    rows_table = large_table(options, folder)
    predict = lambda file, table: oplat.command("predict", file, "--table", table, "--threads", 1, "--plan", "cached")
    times = interleaved({"version": oplat.command("version"), "small": predict(SMALL_MODEL, options.table),
                         "large": predict(model, model_table), "rows": predict(SMALL_MODEL, rows_table)})
    device = oplat.json("table", "info", options.table)["populations"][0]["device"]
    facts = speed_page.provenance("bench/speed.py", device, oplat.version(), load_before)
    lines = section(times, library(options, rows_table), facts)
    speed_page.write_section(options.out, speed_page.PREDICTING, lines)
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default=str(ROOT / "accuracy.oplat"), help="table that holds mobilenet_v2_224 (default: accuracy.oplat)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/speed.md"), help="page to write (default: docs/results/speed.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat, with the benchmarks next to it (default: build/release/oplat)")
    options = parser.parse_args()
    options.table = Path(options.table).resolve()
    run_command(run, options)


if __name__ == "__main__":
    main()
