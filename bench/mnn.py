#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks of data/zoo.tsv kernel by kernel on MNN, predicts them, and writes docs/results/mnn.md.

Every network is profiled into one table (`oplat profile`), with each number of threads: its kernels by themselves and the network end to end. Then
each is predicted as the table has it (`oplat validate`) and by a composition fitted to the other families (`oplat fit`). scripts/models makes the
networks. A call that is cut short, or that --within ends, goes on where it stopped: facts next to the table (TABLE.bench.json) say what is done.
The machine should have nothing else to do.
"""
import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import mnn_page, steps, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat, say  # noqa: E402
from lib.settings import Setting, require_files, zoo_networks  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

RUNTIME = "mnn"
NETS = ("mobilenet_v1_224", "mobilenet_v2_224", "mobilenet_v3_small", "mobilenet_v3_large", "resnet18", "resnet50", "shufflenet_v2_x1_0",
        "squeezenet1_1", "mnasnet1_0", "efficientnet_b0", "googlenet", "resnet20_cifar", "vit_tiny_224", "bert_mini", "mlp_mixer", "lstm_tagger",
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
            planned[network.name] = True
        store.save()
    return [network for network in networks if network.name not in refused]


def measure(oplat, store, chosen, networks, options):
    """Profiles what is not done yet, setting after setting, and begins nothing that would end after --within."""
    begin = time.monotonic()
    for setting in chosen:
        done = store.section("profiling", setting.name)
        for network in networks:
            if network.name in done and not options.recheck:
                continue
            left = 60 * options.within - (time.monotonic() - begin)
            if options.within and left < options.budget:
                raise Failed(f"{options.within:g} minutes are over; run this command again to go on")
            steps.profile_network(oplat, store, setting, network, options, options.budget, RUNTIME)


def part_of(oplat, setting, networks, options):
    """Validation and fit of one setting."""
    files = [network.path for network in networks]
    arguments = ("--runtime", RUNTIME, "--threads", setting.threads)
    validation = oplat.json("validate", *files, "--table", options.table, *arguments, "--quiet", allowed=(0, MISSING_KERNELS))
    families = {network.path.name: network.family for network in networks}
    return {"validation": validation, "fit": oplat.composition(options.table, options.table.parent, families, *arguments)}


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
    parts = {}
    for setting in chosen:
        done = store.section("profiling", setting.name)
        measured = [network for network in networks if network.name in done]
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
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N", help="numbers of threads (default: 1 2)")
    parser.add_argument("--budget", type=float, default=40, metavar="SECONDS", help="for profiling one network with one number of threads (default: 40)")
    parser.add_argument("--within", type=float, default=0, metavar="MINUTES", help="begin no network that would end later (default: 0, all of them)")
    parser.add_argument("--table", type=Path, default=ROOT / "build/bench/mnn/mnn.oplat", help="table to fill (default: build/bench/mnn/mnn.oplat)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/mnn.md"), help="page to write (default: docs/results/mnn.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--recheck", action="store_true", help="run oplat profile again for networks that are done")
    parser.add_argument("--skip-measuring", action="store_true", help="only write the page, from the rows of the table")
    options = parser.parse_args()
    options.table = options.table.resolve()
    run_command(run, options)


if __name__ == "__main__":
    main()
