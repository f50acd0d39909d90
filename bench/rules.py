#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans by rules against ONNX Runtime's own, network by network. Writes the page rules.md of
docs/results.

Every network of the sets demo, zoo and tests of data/zoo.tsv (scripts/models zoo; scripts/models
tests) is planned twice: by the installed runtime, and by the rules rules:onnxruntime, which see
nothing but the model. Kernels are compared by their keys and how often they run. With --table, a
table that holds rows of these kernels (bench/accuracy.py makes one), both plans are also predicted
from it. With predict_bench (scripts/build release predict_bench) the page says how long a
prediction takes from a graph and from a file. No measurement: any machine will do but for that last
part.
"""
import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.oplat import RESULTS, RUNTIME, Failed, Oplat, say  # noqa: E402
from lib.settings import zoo  # noqa: E402
from lib.store import write_atomically  # noqa: E402

SAME_SHARE, MOST_CHANGE, CHANGED_SHARE = 0.99, 0.005, 0.95
GRAPH_US, FILE_MS = 200, 10
DEMO = "mobilenet_v2_224"
SETS = ("demo", "zoo", "tests")
SHAPES = {"tiny_dynamic": ["--shape", "input=1x3x32x32"], "tiny_cache": ["--shape", "past=1x8x0x64"]}


@dataclass
class Compared:
    name: str
    precision: str
    runtime: Counter
    rules: Counter = field(default_factory=Counter)
    refused: str = ""
    predicted: dict = field(default_factory=dict)  # plan: ns or None

    @property
    def kernels(self):
        return sum(self.runtime.values())

    @property
    def same(self):
        return sum((self.runtime & self.rules).values())

    @property
    def change(self):
        both = [self.predicted.get(plan) for plan in ("runtime", "rules")]
        return both[1] / both[0] - 1 if all(both) else None


def counted(document):
    kernels = Counter()
    for kernel in document["kernels"]:
        kernels[kernel["key"]] += kernel["count"]
    return kernels


def reason_of(oplat, *arguments):
    done = subprocess.run(oplat.command(*arguments), text=True, check=False, capture_output=True)
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("oplat: ").removeprefix("error: ") if lines else f"exit {done.returncode}"


def planned(oplat, recipe, table, *which):
    """Kernels by a plan and, with a table, what is predicted from it. Without `which` that is the
    runtime's own plan, which the table holds or a worker asks for."""
    shapes = SHAPES.get(recipe.name, [])
    if table:
        try:
            document = oplat.json("predict", recipe.path, "--table", table, *which, *shapes, quiet=True)
            return counted(document), document["latency_ns"]
        except Failed:
            pass
    return counted(oplat.json("plan", recipe.path, *(which or ("--runtime", RUNTIME)), *shapes, quiet=True)), None


def compare(oplat, recipe, table):
    kernels, predicted = planned(oplat, recipe, table)
    found = Compared(recipe.name, recipe.precision, kernels, predicted={"runtime": predicted})
    which = ("--plan", f"rules:{RUNTIME}")
    try:
        found.rules, found.predicted["rules"] = planned(oplat, recipe, table, *which)
    except Failed:
        found.refused = reason_of(oplat, "plan", recipe.path, *which, *SHAPES.get(recipe.name, [])).replace(str(recipe.path), recipe.path.name)
    return found


def differences(one):
    """Kernels that only one of both has, each with how often."""
    for sign, more in (("-", one.runtime - one.rules), ("+", one.rules - one.runtime)):
        for key, count in sorted(more.items()):
            yield f"{sign} {count} {key}"


def times(program, table, model):
    """Real times of predictions by rules in ns, from a graph and from a file; nothing without the
    program."""
    if not program.exists() or not table:
        return {}
    done = subprocess.run([program, "--benchmark_format=json", "--benchmark_filter=by_rules", "--benchmark_repetitions=5"], check=False, capture_output=True,
                          text=True, env={**os.environ, "OPLAT_BENCH_TABLE": str(table), "OPLAT_BENCH_MODEL": str(model)})
    if done.returncode != 0:
        return {}
    found = {}
    for one in json.loads(done.stdout)["benchmarks"]:
        if one.get("aggregate_name") == "median" and "error_message" not in one:
            found[one["name"].removesuffix("_median")] = one["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[one["time_unit"]]
    return found


def page(networks, took, device):
    planned = [one for one in networks if not one.refused]
    kernels, same = sum(one.kernels for one in planned), sum(one.same for one in planned)
    whole = sum(one.runtime == one.rules for one in planned)
    lines = ["# Plans by rules", "",
             f"Written by `bench/rules.py`. What the rules `rules:{RUNTIME}` make of a model, compared with what ONNX Runtime itself makes of it: "
             f"every network of the sets {', '.join(SETS)} of `data/zoo.tsv` on {device}. A kernel is the same if its key is, byte for byte.", "", "## Result", ""]
    rows = [["networks compared", str(len(networks)), ""],
            ["networks planned by rules", str(len(planned)), ""],
            ["kernels of those", str(kernels), ""],
            ["kernels that are the same", f"{same} ({text.percent(same / max(1, kernels), 2)})", f">= {text.percent(SAME_SHARE, 0)}"],
            ["networks of which every kernel is", str(whole), ""]]
    changes = [one.change for one in planned if one.change is not None]
    if changes:
        within = sum(abs(change) <= MOST_CHANGE for change in changes) / len(changes)
        rows.append([f"predicted latency within {text.percent(MOST_CHANGE)} of that by the runtime's plan", f"{text.percent(within)} of {len(changes)} networks",
                     f">= {text.percent(CHANGED_SHARE, 0)}"])
    for name, title, bound in (("from_graph_by_rules/explain:0", f"{DEMO}, from a graph to the answer", f"<= {GRAPH_US} us"),
                               ("from_graph_by_rules/explain:1", "the same, with a sentence for every kernel on where its time comes from", "-"),
                               ("from_file_by_rules", f"{DEMO}, from its file to the answer", f"<= {FILE_MS} ms")):
        if name in took:
            rows.append([title, text.duration(took[name]), bound])
    lines += text.table(["", ">figure", ">target"], rows)
    lines += ["", "## Networks", ""]
    rows = []
    for one in networks:
        share = "refused" if one.refused else text.percent(one.same / max(1, one.kernels), 1)
        rows.append([one.name, one.precision, str(one.kernels), share, text.percent(one.change, 2) if one.change is not None else "-"])
    lines += text.table(["network", "precision", ">kernels", ">the same", ">predicted, change"], rows)
    refused = [one for one in networks if one.refused]
    if refused:
        lines += ["", "## Refused", "", "Networks that the rules cannot plan; `--plan runtime` does."]
        for one in refused:
            lines += ["", f"`{one.name}`:", "", "```text", one.refused, "```"]
    lines += ["", "## Differences", ""]
    unlike = [one for one in planned if one.runtime != one.rules]
    if not unlike:
        lines += ["None."]
    else:
        lines += ["`-`: a kernel of the runtime's plan alone, `+`: of the rules' alone, with the number of calls."]
    for one in unlike:
        lines += ["", f"`{one.name}`:", "", "```text", *differences(one), "```"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oplat", type=Path, default=Path("build/release/oplat"), help="the program (default build/release/oplat)")
    parser.add_argument("--table", type=Path, help="predict both plans from this table")
    parser.add_argument("--networks", nargs="*", default=[], help="only these networks; the page is not written")
    options = parser.parse_args()
    oplat = Oplat(options.oplat)
    table = options.table.resolve() if options.table else None
    recipes = [one for one in zoo.read_zoo().values() if one.set in SETS and (not options.networks or one.name in options.networks)]
    missing = [one.name for one in recipes if not one.path.exists()]
    if missing:
        raise Failed(f"missing: {' '.join(missing)}; make them with scripts/models zoo and scripts/models tests")
    networks = []
    for recipe in recipes:
        networks.append(compare(oplat, recipe, table))
        one = networks[-1]
        say(f"{one.name}: {one.refused or f'{one.same} of {one.kernels} kernels'}")
        if options.networks:
            print("\n".join(differences(one)))
    if options.networks:
        return
    demo = next(one.path for one in recipes if one.name == DEMO)
    took = times(oplat.path.parent / "predict_bench", table, demo)
    device = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")),
                  "this machine")
    write_atomically(RESULTS / "rules.md", page(networks, took, device))
    say(f"wrote {RESULTS / 'rules.md'}")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"rules.py: {error}")
