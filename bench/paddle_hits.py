#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/paddle-hits.md: which operators of Paddle's networks PaddleSlim's table of an
RK3288 holds, and why it lacks others.

Asks `oplat predict` for every network under models/paddle (scripts/paddle_nets) and looks in the
table itself for the row that is nearest to each operator that it lacks. Needs: scripts/build
release oplat; scripts/paddle_nets models/paddle. The first run learns from the table, which takes
some minutes.
"""
import argparse
import collections
import math
import pickle
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat  # noqa: E402
from lib.store import write_atomically  # noqa: E402

CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
FIELD = re.compile(r"(\w+)=((?:\([^)]*\))+|\[[^\]]*\]|\S+)")
MOST_SHOWN = 6
ESTIMATES = {True: "What else it lacks is estimated: the total says with which interval.", False: "Totals are those of networks of which it lacks nothing else."}


class Table:
    """The pickle itself, for what oplat does not say: which row comes near."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.rows = pickle.load(file)
        self.of_type = collections.defaultdict(list)
        self.planes = set()
        for row in self.rows:
            told = fields(row)
            self.of_type[row.split()[0]].append(told)
            self.planes |= {plane(value) for value in told.values()}

    def explain(self, key):
        kind, asked = key.split()[0], fields(key)
        if kind not in self.of_type:
            return f"the table has no `{kind}`"
        if kind == "conv2d" and kernel(asked) != "1x1" and channels(asked) != 3:
            return f"the table's only convolutions above 1x1 are 3x3 on an image of 3 channels; these are {kernel(asked)} on more"
        if kind == "conv2d" and kernel(asked) not in ("1x1", "3x3"):
            return f"the table's convolutions on an image are 3x3; this is {kernel(asked)}"
        if kind.endswith(("elementwise_add", "elementwise_add_activation")) and asked["X"] == asked["Y"] and plane(asked["X"]) == (1, 1):
            return "the bias of a convolution within a squeeze-and-excitation block, which these programs add in an operator of its own; the networks behind the table had it in the convolution"
        if kind == "fusion_elementwise_add_activation" and plane(asked["X"]):
            return f"the table's `{kind}` are all of fully connected layers; these add a bias or a residual to planes"
        lacking = [shape for shape in map(plane, asked.values()) if shape and shape not in self.planes]
        if lacking:
            return f"no row of the table works on planes of {lacking[0][0]}x{lacking[0][1]}"
        told = min(self.of_type[kind], key=lambda one: distance(asked, one))
        return "nearest row: " + ", ".join(f"{name}={told.get(name)} for {asked[name]}" for name in asked if asked[name] != told.get(name))


def numbers(value):
    return [int(number) for number in re.findall(r"-?\d+", value or "")]


def plane(value):
    """Height and width of a tensor of four dimensions."""
    dims = numbers(value) if value and value.startswith("(") and ")(" not in value else []
    return tuple(dims[2:]) if len(dims) == 4 else None


def distance(asked, told):
    """Ranks that differ, then how far sizes lie apart."""
    ranks, apart = 0, 0.0
    for name, value in asked.items():
        a, b = numbers(value), numbers(told.get(name))
        if len(a) != len(b):
            ranks += 1
        elif a:
            apart += sum(abs(math.log((abs(x) + 1) / (abs(y) + 1))) + (x != y) * 0.1 for x, y in zip(a, b))
        else:
            apart += value != told.get(name)
    return ranks, apart, sorted(told.items())


def fields(key):
    return dict(FIELD.findall(key))


def kernel(asked):
    dims = asked.get("weight", "").strip("()").split(", ")
    return "x".join(dims[2:4])


def channels(asked):
    return int(asked["in"].strip("()").split(", ")[1])


def text_of(why):
    """The text that was looked up, as oplat quotes it where no row answers."""
    found = re.search(r"no row of '(.*?)'(?:;|$)", why)
    return found[1] if found else None


def kind_of(key):
    return key.split(":", 1)[1].split("{", 1)[0]


class Net:
    def __init__(self, name, looked_up, predicted):
        self.name, self.plan = name, looked_up["plan"]["source"]
        self.kernels, self.predicted = looked_up["kernels"], predicted

    def hits(self, kinds=None):
        """Calls in the table, and calls; views that it lacks cost nothing and are part of
        neither."""
        chosen = [k for k in self.kernels if (kinds is None or kind_of(k["key"]) in kinds) and k["source"] != "free"]
        return sum(k["count"] for k in chosen if k["source"] == "measured"), sum(k["count"] for k in chosen)

    def kinds(self):
        return list(dict.fromkeys(kind_of(k["key"]) for k in self.kernels))

    def missed(self):
        """(key, its text, calls)"""
        found = collections.OrderedDict()
        for k in self.kernels:
            if k["source"] == "missing":
                found.setdefault(k["key"], [text_of(k["why"]), 0])[1] += k["count"]
        return [(key, *rest) for key, rest in found.items()]


def cell(hits):
    return f"{hits[0]} of {hits[1]}" if hits[1] else "-"


def summary(nets):
    rows = []
    for net in nets:
        p = net.predicted
        low, high = p["interval_ns"] or (None, None)
        total = f"{p['latency_ns'] / 1e6:.1f}" if p["latency_ns"] else "-"
        between = f"{low / 1e6:.1f} to {high / 1e6:.1f}" if low else "-"
        measured = text.percent(p["coverage"]["time"].get("measured", 0)) if p["latency_ns"] else "-"
        rows.append([net.name, net.plan.removeprefix("rules:"), cell(net.hits(("conv2d",))), cell(net.hits(("depthwise_conv2d",))), cell(net.hits()), measured, total, between])
    return "\n".join(text.table(["network", "rules", ">conv2d", ">depthwise", ">all operators", ">of the time", ">ms", ">90 % interval"], rows))


def section(net, table):
    rows = [[f"`{kind}`", cell(net.hits((kind,)))] for kind in net.kinds() if net.hits((kind,))[1]]
    free = [kind for kind in net.kinds() if not net.hits((kind,))[1]]
    parts = [f"## {net.name}", "\n".join(text.table(["type", ">in the table"], rows))]
    if free:
        parts.append("Counted as free, since they move nothing and no row of the table is of such an operator: " + ", ".join(f"`{kind}`" for kind in free) + ".")
    reasons = collections.OrderedDict()
    for key, asked, calls in net.missed():
        reason = table.explain(asked) if asked else f"PaddleSlim has no text for `{kind_of(key)}`"
        reasons.setdefault(reason, []).append((asked or key, calls))
    if reasons:
        lines = []
        for reason, keys in list(reasons.items()):
            shown = "; ".join(f"{calls}x `{key}`" for key, calls in keys[:MOST_SHOWN]) + (f"; {len(keys) - MOST_SHOWN} more" if len(keys) > MOST_SHOWN else "")
            lines.append(f"- {reason}: {shown}")
        parts.append("Missed:\n" + "\n".join(lines))
    return "\n\n".join(parts)


def page(nets, table, oplat, estimates):
    return "\n\n".join([
        "# Paddle's networks in PaddleSlim's table of an RK3288",
        f"Written by `bench/paddle_hits.py` on {text.today()}, commit {text.commit()}. {oplat}.",
        "Networks of `paddle.vision.models` as `scripts/paddle_nets` exports them, fused by the rules of the Paddle-Lite whose operators the table has rows of, and each operator looked up by PaddleSlim's own "
        "text. A row whose batch is -1 answers for one image, and an `axis` counted from either end is the same. Views of operators that the table has no row of are left out of the counts. " + ESTIMATES[estimates],
        summary(nets),
        *(section(net, table) for net in nets),
    ]) + "\n"


def ask(oplat, model, options):
    """What the table holds of it, and the whole prediction."""
    looked_up = oplat.json("paddleslim", "predict", "--model", model, "--table", options.table, "--quiet", allowed=(0, 4), quiet=True)
    if options.no_estimates or looked_up["latency_ns"]:
        return looked_up, looked_up
    return looked_up, oplat.json("predict", model, "--table", options.table, "--missing", "roofline", "--quiet")


def run(options):
    oplat = Oplat(options.oplat)
    nets = []
    for folder in sorted(path for path in options.models.iterdir() if path.is_dir()):
        model = folder / f"{folder.name}.pdmodel"
        if not model.is_file() or folder.name.endswith(("-int8", "-batch")):
            continue
        nets.append(Net(folder.name, *ask(oplat, model, options)))
        print(f"{folder.name}: {cell(nets[-1].hits())}", flush=True)
    if not nets:
        raise Failed(f"{options.models}: holds no networks; make them with scripts/paddle_nets")
    write_atomically(options.out, page(nets, Table(options.table), oplat.version(), not options.no_estimates))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=ROOT.parent / "shared/data/paddleslim/rk3288_threads_4_power_mode_0.pkl")
    parser.add_argument("--models", type=Path, default=ROOT / "models/paddle", help="folder of exported networks (default: models/paddle)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/paddle-hits.md"), help="page to write (default: docs/results/paddle-hits.md)")
    parser.add_argument("--no-estimates", action="store_true", help="only look up: a network with kernels that the table lacks has no total")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    run_command(run, parser.parse_args())


if __name__ == "__main__":
    main()
