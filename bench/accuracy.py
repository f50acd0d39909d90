#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the networks of data/zoo.tsv, predicts each from the others, and writes
docs/results/accuracy.md.

For each setting (fp32 and int8 with 1 thread, fp32 with 2): every network is profiled into one
table, kernels and end to end; the runtime's own profile is taken as a baseline; the composition is
fitted; each network is predicted from a fit without its family. A command that was cut short goes
on where it stopped: facts next to the table (TABLE.bench.json) say what is done and how long it
took. Each network has a share of the time (--within): on a machine that other processes keep busy
some rows stay wider than they should be. The machine should have nothing else to do.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import accuracy_page, baselines, loop_page, steps, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat, say  # noqa: E402
from lib.settings import SETTINGS, choose_settings, networks_of, require_files, zoo_networks  # noqa: E402
from lib.sections import last_section  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402


def part_of(oplat, store, setting, networks, fit, options):
    families = {network.name: network.family for network in networks}
    measured = steps.measured_models(fit, setting, networks)
    predictions = steps.predictions(oplat, setting, networks, options)
    by_flops = baselines.flops_proportional(predictions, measured, families)
    by_roofline = baselines.roofline_per_class(predictions, families)
    profiled = store.section("session_profile", setting.name)
    lines = []
    for name, entry in measured.items():
        ways = {"unfitted": entry["unfitted_ns"], "flops": by_flops.get(name), "roofline": by_roofline.get(name),
                "profile": profiled.get(name, {}).get("sum_ns")}
        lines.append(accuracy_page.Line(name, entry, ways))
    absent = [network.name for network in networks_of(setting, networks) if network.name not in measured]
    return accuracy_page.Part(setting, lines, absent, fit)


def run(options):
    oplat = Oplat(options.oplat)
    settings = choose_settings(options.settings)
    networks = zoo_networks(options.networks)
    require_files(networks)
    store = Store(f"{options.table}.bench.json")
    load_before = text.load()
    say(f"load average {load_before} at the start")
    if not options.skip_measuring:
        store.section("load")["before"] = load_before
        steps.profile(oplat, store, settings, networks, options)
        for setting in settings:
            steps.session_profiles(store, setting, networks)
    settings = [setting for setting in settings if networks_of(setting, networks)]
    fits = steps.fits(oplat, store, settings, options)
    parts = [part_of(oplat, store, setting, networks, fits[setting.threads], options) for setting in settings]
    parts = [part for part in parts if part.lines]
    if not parts:
        raise Failed(f"{options.table} holds none of these networks for these settings")
    facts = {"device": oplat.json("table", "info", options.table)["populations"][0]["device"], "oplat": oplat.version(),
             "load_before": store.section("load").get("before", load_before)}
    page = accuracy_page.page(parts, store, steps.seconds_of(store, settings), facts)
    # bench/tinynas_loop.py writes the last section.
    before = Path(options.out).read_text(encoding="utf-8") if Path(options.out).exists() else ""
    write_atomically(options.out, page + last_section(before, loop_page.HEADING))
    print(f"wrote {options.out}; load average {text.load()} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="+", default=[], metavar="NAME", help=f"settings to measure (default: {' '.join(s.name for s in SETTINGS)})")
    parser.add_argument("--networks", nargs="+", default=[], metavar="NAME", help="networks to measure (default: the sets demo and zoo of data/zoo.tsv)")
    parser.add_argument("--table", default=str(ROOT / "accuracy.oplat"), help="table to fill (default: accuracy.oplat)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/accuracy.md"), help="page to write (default: docs/results/accuracy.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--within", type=float, default=88, metavar="MINUTES", help="for the whole command, calls before this one included; what it "
                        "is too short for has wide intervals, and the page tells (default: 88; 0: until every row is good enough)")
    parser.add_argument("--recheck", action="store_true", help="run oplat profile again for networks that are done")
    parser.add_argument("--skip-measuring", action="store_true", help="only write the page, from the rows of the table")
    options = parser.parse_args()
    options.table = Path(options.table).resolve()
    run_command(run, options)


if __name__ == "__main__":
    main()
