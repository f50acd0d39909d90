#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks, predicts them, and writes the page docs/accuracy.md.

Every network is profiled into one table (a call that was cut short goes on where it stopped), measured end to end in the
same campaign, predicted from the table, and set beside its measurement. The machine must have nothing else to do.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_NETWORKS = ["mobilenet_v2_224", "vit_tiny_224", "resnet18_int8"]


def oplat(*arguments, **options):
    return subprocess.run([ROOT / "build/release/oplat", *map(str, arguments)], text=True, check=False, **options)


def answer(*arguments):
    done = oplat(*arguments, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"oplat {' '.join(map(str, arguments))}: exit {done.returncode}")
    return done.stdout


def network_files(names):
    files = [ROOT / "models" / f"{name}.onnx" for name in names]
    for file in files:
        if not file.exists():
            sys.exit(f"{file}: no such network; make it with scripts/models {file.stem}")
    return files


def profile(files, options):
    """Profiles one network after the other; gives seconds and row counts of those that were measured in this call."""
    for file in files:
        print(f"== {file.stem}", file=sys.stderr)
        start = time.monotonic()
        done = oplat("profile", "--model", file, "--table", options.table, "--runtime", "onnxruntime", "--threads", options.threads,
                     "--quiet", "--json", stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"profiling {file.name} ended with exit {done.returncode}; run this command again to go on")
        summary = json.loads(done.stdout)
        seconds_file = Path(f"{options.table}.seconds.json")
        seconds = json.loads(seconds_file.read_text()) if seconds_file.exists() else {}
        entry = seconds.setdefault(file.stem, {"seconds": 0.0, "rows": 0})
        entry["seconds"] += time.monotonic() - start
        entry["rows"] = summary["rows"]["total"]
        seconds_file.write_text(json.dumps(seconds))


def duration(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.0f} ns"


def page(report, options, machine):
    models = report["models"]
    errors = [m["signed_error"] for m in models if m["signed_error"] is not None]
    halves = [(m["interval_ns"][1] - m["interval_ns"][0]) / 2 / m["predicted_ns"] for m in models if m["interval_ns"]]
    seconds = json.loads(Path(f"{options.table}.seconds.json").read_text())
    setting = report["setting"]
    lines = [
        "# Accuracy: predicted against measured end to end",
        "",
        f"Written by `bench/accuracy.py` on {datetime.date.today()}: {machine}. {setting['runtime']} {setting['version']}, "
        f"{setting['threads']} thread(s). {answer('version').strip()}.",
        "",
        "Every kernel of each network is measured by itself; the prediction is their sum at the network's cache state plus the measured "
        "empty call. Nothing is fitted to whole networks. *Measured* is the median over blocks of at least five fresh processes, with its own "
        "95 % confidence interval: below about 1.5 % a difference is not one.",
        "",
        "| network | predicted | 90 % interval | measured | its CI | error | inside | kernel rows | profiling |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for m in models:
        cost = seconds.get(Path(m["name"]).stem, {"seconds": 0, "rows": 0})
        ci = m["measured"]["ci_ns"]
        half = (ci[1] - ci[0]) / 2 / m["measured"]["median_ns"]
        lines.append(
            f"| {Path(m['name']).stem} | {duration(m['predicted_ns'])} | {duration(m['interval_ns'][0])} to {duration(m['interval_ns'][1])} "
            f"| {duration(m['measured']['median_ns'])} | +-{100 * half:.1f} % | {100 * m['signed_error']:+.1f} % "
            f"| {'yes' if m['inside_interval'] else 'no'} | {cost['rows']} | {cost['seconds']:.0f} s |")
    within = lambda bound: sum(abs(e) <= bound for e in errors)
    inside = sum(bool(m["inside_interval"]) for m in models)
    lines += [
        "",
        f"{len(errors)} networks: MAPE {100 * statistics.fmean(map(abs, errors)):.1f} %, mean signed error {100 * statistics.fmean(errors):+.1f} %, "
        f"within 5 %: {within(0.05)}, within 10 %: {within(0.10)}, inside the 90 % interval: {inside}, median half-width of the interval "
        f"{100 * statistics.median(halves):.1f} %. Profiling took {sum(c['seconds'] for c in seconds.values()) / 60:.1f} minutes in all; rows that "
        "networks share are measured once, with the first.",
        "",
    ]
    return "\n".join(lines)


def machine_text(report):
    device = report["device"]
    load = os.getloadavg()[0]
    return f"{device['cpu']}, {device['cores']} cores, {device['llc_bytes'] >> 20} MiB last-level cache, load average {load:.1f} at the end"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=DEFAULT_NETWORKS, help="names of networks of scripts/models")
    parser.add_argument("--table", default="accuracy.oplat", help="the table that is filled (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=str(ROOT / "docs/accuracy.md"), help="the page (default: docs/accuracy.md)")
    options = parser.parse_args()
    files = network_files(options.networks)
    profile(files, options)
    report = json.loads(answer("validate", *files, "--table", options.table, "--runtime", "onnxruntime", "--threads", options.threads,
                               "--quiet", "--json"))
    Path(options.out).write_text(page(report, options, machine_text(report)))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
