#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks of data/zoo.tsv kernel by kernel on MNN, predicts them, and writes
docs/results/mnn.md.

All networks are profiled in one campaign for each number of threads (`oplat profile`), kernels by
themselves and networks end to end, so that what drifts on the machine meets all of them. Then each
network is predicted as the table has it (`oplat validate`) and by a composition fitted to the other
families (`oplat fit`). scripts/models makes the networks. Facts next to the table
(TABLE.bench.json) say what is done: a call that was cut short is to be run again, and --again adds
blocks to what is done. The page holds all that the table holds. The machine should have nothing
else to do.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import mnn_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat, say  # noqa: E402
from lib.settings import Setting, require_files, zoo_networks  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

RUNTIME = "mnn"
NETS = ("mobilenet_v1_224", "mobilenet_v2_224", "mobilenet_v3_small", "mobilenet_v3_large", "resnet18", "resnet50", "shufflenet_v2_x1_0",
        "squeezenet1_1", "mnasnet1_0", "efficientnet_b0", "resnet20_cifar", "vit_tiny_224", "bert_mini", "mlp_mixer", "lstm_tagger",
        "gru_speech")
INPUT_ERROR, MISSING_KERNELS = 3, 4  # exit codes


def settings(threads):
    return [Setting(f"{number}t", "1 thread" if number == 1 else f"{number} threads", "fp32", number, mnn_page.MOST_MAPE) for number in threads]


def taken(oplat, store, networks):
    """The networks that MNN runs; why it does not run the others is in the store."""
    refused = store.section("refused")
    planned = store.section("planned")
    for network in networks:
        if network.name in refused or network.name in planned:
            continue
        done = subprocess.run(oplat.command("plan", network.path, "--runtime", RUNTIME, "--quiet", "--json"), text=True, check=False, cwd=ROOT,
                              capture_output=True)
        if done.returncode == INPUT_ERROR:
            refused[network.name] = done.stderr.strip().rpartition(f"{network.path.name}: ")[2]
        elif done.returncode != 0:
            raise Failed(f"oplat plan {network.path}: exit {done.returncode}: {done.stderr.strip()}")
        else:
            planned[network.name] = len({kernel["key"] for kernel in json.loads(done.stdout)["kernels"]})
        store.save()
    return [network for network in networks if network.name not in refused]


def measure(oplat, store, chosen, networks, options):
    """One campaign for each setting."""
    for setting in chosen:
        facts = store.section("profiling", setting.name)
        names = [network.name for network in networks]
        if facts.get("done") == names and not options.again:
            continue
        before = text.load()
        say(f"== {setting.title}, {len(networks)} networks; load {before}")
        models = [flag for network in networks for flag in ("--model", network.path)]
        summary = oplat.timed_json(facts, store.save, "profile", *models, "--table", options.table, "--runtime", RUNTIME, "--threads", setting.threads,
                                   "--budget", f"{60 * options.within / len(chosen):.0f}s", "--quiet")
        facts.setdefault("loads", []).append(f"{before} at the start and {text.load()} at the end")
        facts.update(rows=summary["rows"], date=text.today(), networks=names, done=None if summary["interrupted"] else names)
        store.save()


def part_of(oplat, setting, networks, options):
    """Validation and fit of one setting."""
    files = [network.path for network in networks]
    arguments = ("--runtime", RUNTIME, "--threads", setting.threads)
    validation = oplat.json("validate", *files, "--unfitted", "--table", options.table, *arguments, "--quiet", allowed=(0, MISSING_KERNELS))
    families = {network.path.name: network.family for network in networks}
    return {"validation": validation, "fit": oplat.composition(options.table, options.table.parent, families, *arguments, "--max-half-width", mnn_page.MOST_HALF_WIDTH)}


def run(options):
    oplat = Oplat(options.oplat)
    networks = zoo_networks(options.networks or NETS)
    require_files(networks)
    options.table.parent.mkdir(parents=True, exist_ok=True)
    store = Store(f"{options.table}.bench.json")
    networks = taken(oplat, store, networks)
    chosen = settings(options.threads)
    if not options.skip_measuring:
        measure(oplat, store, chosen, networks, options)
    chosen = settings(sorted(int(name[:-1]) for name in store.section("profiling")))
    parts = {}
    for setting in chosen:
        measured = [network for network in networks if network.name in store.section("profiling", setting.name).get("networks", [])]
        if measured:
            parts[setting.name] = part_of(oplat, setting, measured, options)
    if not parts:
        raise Failed(f"{options.table} holds none of these networks")
    population = oplat.json("table", "info", options.table)["populations"][0]
    write_atomically(options.out, mnn_page.page(chosen, parts, store, population, oplat.version()))
    print(f"wrote {options.out}; load average {text.load()} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", metavar="NAME", help=f"networks of data/zoo.tsv (default: {', '.join(NETS)})")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N", help="numbers of threads to measure with (default: 1 2)")
    parser.add_argument("--within", type=float, default=60, metavar="MINUTES", help="for profiling in this call (default: 60)")
    parser.add_argument("--table", type=Path, default=ROOT / "build/bench/mnn/mnn.oplat", help="table to fill (default: build/bench/mnn/mnn.oplat)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/mnn.md"), help="page to write (default: docs/results/mnn.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--again", action="store_true", help="profile what is done, too: more blocks where rows are not precise yet")
    parser.add_argument("--skip-measuring", action="store_true", help="only write the page, from the rows of the table")
    options = parser.parse_args()
    options.table = options.table.resolve()
    run_command(run, options)


if __name__ == "__main__":
    main()
