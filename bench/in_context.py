#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares, operator by operator, kernels measured by themselves with the same kernels inside their
network, and writes docs/results/in-context.md.

Inside: the runtime's own profile of the network, which adds the profiler's cost to each node; what
views cost there (they compute nothing) shows how much. By themselves: rows of a table that holds
the networks, as bench/accuracy.py leaves one, at the state that the prediction takes them at, no
scale applied. The machine should be the table's and have nothing else to do; a network takes
seconds.
"""
import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, RUNTIME, Oplat, say  # noqa: E402
from lib.settings import require_files, zoo_networks  # noqa: E402
from lib.steps import session_profile  # noqa: E402
from lib.store import write_atomically  # noqa: E402

THREADS = 1
NETWORKS = ("swin_t", "vit_tiny_96", "mlp_mixer", "mobilenet_v2_224", "resnet50", "vit_tiny_224_int8")
LEAST_SHARE = 0.01  # of a network's profile; rarer operators are one line
OPERATOR = re.compile(r"(?:[\w.]+:)?(\w+)")


def alone(oplat, table, network):
    """Of each operator: nanoseconds of its kernels, and how many of them are views."""
    document = oplat.json("predict", network.path, "--table", table, "--runtime", RUNTIME, "--threads", THREADS, "--plan", "cached", "--per-op", quiet=True)
    sums, views = Counter(), Counter()
    for kernel in document["kernels"]:
        name = OPERATOR.match(kernel["key"])[1]
        sums[name] += kernel["count"] * kernel["latency_ns"]
        views[name] += kernel["count"] if kernel["source"] == "free" else 0
    return sums, views


def lines_of(profile, sums, views):
    total = sum(one["ns"] for one in profile.values())
    rest, kernels = {"count": 0, "ns": 0}, 0
    for name, one in sorted(profile.items(), key=lambda item: -item[1]["ns"]):
        if one["ns"] < LEAST_SHARE * total:
            rest = {key: rest[key] + one[key] for key in rest}
            kernels += sums[name]
            continue
        yield name + (" (view)" if views[name] else ""), one, sums[name]
    if rest["count"]:
        yield "others", rest, kernels
    yield "**all**", {"count": sum(one["count"] for one in profile.values()), "ns": total}, sum(sums.values())


def section(oplat, table, network):
    say(f"== {network.name}")
    rows = [[name, f"{one['count']:.0f}", text.duration(one["ns"]), text.duration(ns), text.signed_percent(ns / one["ns"] - 1),
             text.duration((one["ns"] - ns) / one["count"]) if one["ns"] > ns else "-"]
            for name, one, ns in lines_of(session_profile(network, THREADS)["operators"], *alone(oplat, table, network))]
    return ["", f"## {network.name}", "", *text.table(["operator", ">nodes", ">inside", ">by themselves", ">difference", ">missing, a node"], rows)]


def run(options):
    oplat = Oplat(options.oplat)
    networks = zoo_networks(options.networks)
    require_files(networks)
    load = text.load()
    device = oplat.json("table", "info", options.table)["populations"][0]["device"]
    page = ["# Kernels inside their network and by themselves", "",
            f"Written by `bench/in_context.py` on {text.today()}, commit {text.commit()}: {text.machine(device)}; load average {load} at the start. 1 thread. {oplat.version()}.", "",
            "*Inside* is the runtime's own profile, which costs some microseconds a node: what it says of a view, which computes nothing, is that cost and little else. "
            "*By themselves* are the rows that a prediction adds up, at the cache state of the network, no scale applied. *Missing, a node*: how much less a kernel takes by itself."]
    for network in networks:
        page += section(oplat, options.table, network)
    write_atomically(options.out, "\n".join(page) + "\n")
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), metavar="NAME", help=f"networks to compare (default: {' '.join(NETWORKS)})")
    parser.add_argument("--table", default=str(ROOT / "accuracy.oplat"), help="latency table (default: accuracy.oplat)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/in-context.md"), help="page to write (default: docs/results/in-context.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    options = parser.parse_args()
    options.table = Path(options.table).resolve()
    run_command(run, options)


if __name__ == "__main__":
    main()
