#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the kernels that networks execute, and writes the space of kernels that 'oplat profile
--space' draws from.

The networks are those of data/zoo.tsv whose families are in the inventory (bench/lib/halves.py: a
hash of the family's name decides); bench/unseen.py reports on the others. ONNX Runtime plans each
of them, some also with a larger batch. Layers of further published models
(bench/lib/published_*.py) reach operators and kinds of which the networks have few or none. Views
and calls with empty results are left out. If the networks' part of the file would become too
large, whole networks are left out: each family keeps one of each precision as long as there is
room, then further sizes follow, those with few new kernels first. Nothing is measured. Plans are
kept in build/bench, so that the command goes on where it was cut short.
"""
import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import space_page  # noqa: E402
from lib.entry import require_onnx, run_command  # noqa: E402
from lib.halves import in_inventory  # noqa: E402
from lib.keys import class_of, parse_key  # noqa: E402
from lib.oplat import ROOT, RUNTIME, Failed, Oplat, say  # noqa: E402
from lib.sections import put_last_section  # noqa: E402
from lib.settings import require_files, zoo  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

SETS = ("demo", "zoo", "wide")
# Networks that are also planned with another batch, as services run them.
BATCHES = {"mobilenet_v2_224": 4, "efficientnet_lite0": 8, "se_resnet18": 4, "squeezenet1_1": 2, "mlp_tabular": 64, "vae_64": 8, "mobilefacenet_112": 16,
           "fbnet_c_128": 8, "resnet20_cifar": 16}


@dataclass
class Network:
    """A network of the inventory, or the same with another batch."""

    name: str
    recipe: object
    batch: int = 0
    counts: dict = field(default_factory=dict)  # key: executions of one run

    @property
    def family(self):
        return self.recipe.family


def inventory(recipes):
    found = []
    for recipe in recipes.values():
        if recipe.set in SETS and in_inventory(recipe.family):
            found.append(Network(recipe.name, recipe))
            if recipe.name in BATCHES:
                found.append(Network(f"{recipe.name}_batch{BATCHES[recipe.name]}", recipe, BATCHES[recipe.name]))
    return found


def counted(document):
    counts = Counter()
    for kernel in document["kernels"]:
        parsed = parse_key(kernel["key"])
        if not parsed.is_view and not parsed.is_empty and kernel["count"] > 0:
            counts[kernel["key"]] += kernel["count"]
    return dict(counts)


def plan(oplat, store, network, recipes):
    """Fills network.counts from the runtime's plan, or from that of an earlier call."""
    section, stamp = store.section("plans"), zoo.stamp(network.recipe, recipes)
    kept = section.get(network.name)
    if kept is None or kept["stamp"] != stamp or kept["batch"] != network.batch:
        say(f"plan of {network.name}")
        batch = ["--batch", network.batch] if network.batch else []
        document = oplat.json("plan", network.recipe.path, "--runtime", RUNTIME, "--quiet", *batch)
        kept = section[network.name] = {"stamp": stamp, "batch": network.batch, "counts": counted(document)}
        store.save()
    network.counts = kept["counts"]


def layers():
    """All tables of published layers, each source as Layers."""
    from lib import (published_convolutions, published_eight_bits, published_layers,
                     published_operators, published_products)
    from lib.published_calls import Layers
    for source, executions, calls in published_layers.TABLE:
        yield Layers(source, calls, None, executions)
    for module in (published_convolutions, published_operators, published_products,
                   published_eight_bits):
        yield from module.TABLE


def published(oplat, store):
    """Kernels of published layers: key -> executions in one run of the model that has them. What
    the runtime refuses is left out."""
    import numpy
    import onnx
    from lib.operator_models import one_node_model
    section, found = store.section("published"), {}
    with tempfile.TemporaryDirectory() as folder:
        for source in layers():
            for call in source.calls:
                kept = section.get(name := f"{source.source}: {call}"[:400])
                if kept is None:
                    path = Path(folder) / "call.onnx"
                    onnx.save(one_node_model(*call[:4], numpy.random.default_rng(1), *call[4:]), path)
                    say(f"plan of a layer of {source.source}: {call[0]}")
                    try:
                        kept = section[name] = counted(oplat.json("plan", path, "--runtime", RUNTIME, "--quiet"))
                    except Failed as error:
                        say(f"   left out: {error}")
                        continue
                    store.save()
                for key, count in kept.items():
                    if source.takes(parse_key(key).op):
                        found[key] = max(found.get(key, 0), count * source.executions)
    return found


def chosen(networks):
    """The networks whose kernels fit into the file; and those left out."""
    taken, keys, size = [], set(), 0
    groups = defaultdict(list)
    for network in networks:
        groups[network.family, network.recipe.precision].append(network)
    for members in groups.values():
        members.sort(key=lambda network: (network.batch > 0, len(network.counts)))
    rounds = max(map(len, groups.values()), default=0)
    for turn in range(rounds):
        waiting = [members[turn] for members in groups.values() if turn < len(members)]
        while waiting:
            new = lambda network: [key for key in network.counts if key not in keys]
            network = min(waiting, key=lambda network: (len(new(network)), network.name))
            waiting.remove(network)
            added = new(network)
            bytes_added = sum(len(key) + 11 for key in added) + 6 * len(network.counts) + 80
            if len(keys) + len(added) > space_page.MAX_KERNELS or size + bytes_added > space_page.MAX_BYTES:
                continue
            keys.update(added)
            size += bytes_added
            taken.append(network)
    order = {network.name: i for i, network in enumerate(networks)}
    taken.sort(key=lambda network: order[network.name])
    return taken, [network for network in networks if network not in taken]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def space_text(name, description, networks, further):
    """The file: classes with their kernels, the most executed class first, and the networks by positions of kernels. `further`: executions of kernels of no network."""
    executions, classes = Counter(), defaultdict(list)
    for network in networks:
        executions.update(network.counts)
    executions.update(further)
    for key in sorted(executions):
        classes[class_of(parse_key(key))].append(key)
    order = sorted(classes, key=lambda one: (-sum(executions[key] for key in classes[one]), one))
    lines = ["# SPDX-License-Identifier: Apache-2.0", "# Written by bench/inventory.py; README.md describes it.", "format: oplat.kernel-space/1", f"name: {name}", f"runtime: {RUNTIME}",
             "description: |", *(f"  {line}" for line in description), "classes:"]
    position = {}
    for one in order:
        lines += [f"- name: {quoted(one)}", "  kernels:"]
        for key in classes[one]:
            position[key] = len(position)
            several = further.get(key, 1) > 1  # one execution is what a key alone stands for
            lines.append(f"  - {{key: {quoted(key)}, count: {further[key]}}}" if several
                         else f"  - {quoted(key)}")
    lines.append("networks:")
    for network in networks:
        parts = [f"{position[key]}*{count}" if count != 1 else str(position[key]) for key, count in sorted(network.counts.items(), key=lambda item: position[item[0]])]
        lines.append(f"- {{name: {network.name}, family: {network.family}, precision: {network.recipe.precision}, kernels: \"{' '.join(parts)}\"}}")
    return "\n".join(lines) + "\n"


def run(options):
    oplat = Oplat(options.oplat)
    recipes = zoo.read_zoo()
    networks = inventory(recipes)
    there = [network for network in networks if network.recipe.path.exists()]
    if not options.partial:
        require_files([network.recipe for network in networks])
    (ROOT / "build/bench").mkdir(parents=True, exist_ok=True)
    store = Store(ROOT / "build/bench/inventory.bench.json")
    planned, failed = [], []
    for network in there:
        try:
            plan(oplat, store, network, recipes)
        except Failed as error:
            say(f"{network.name}: {error}")
            failed += [] if network.batch else [network.name]  # not every network can be given another batch
            continue
        planned.append(network)
    if failed and not options.partial:
        raise Failed(f"no plan of {', '.join(failed)}; run this command again, or leave them out with --partial")
    taken, left = chosen(planned)
    held = {key for network in taken for key in network.counts}
    further = {key: count for key, count in published(oplat, store).items() if key not in held}
    out = Path(options.out)
    content = space_text(out.stem, space_page.description(taken, left, further), taken, further)
    write_atomically(out, content)
    put_last_section(out.parent / "README.md", f"The kernel space `{out.name}`", space_page.section(taken, left, further, content))
    print(f"wrote {out}: {len(held)} kernels and {len(further)} of published layers, of {len(taken)} networks, {len(content) / 1024:.0f} KiB; left out: {', '.join(network.name for network in left) or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--out", default=str(ROOT / "data/spaces/general-cpu.yaml"), help="file to write (default: data/spaces/general-cpu.yaml)")
    parser.add_argument("--partial", action="store_true", help="leave out networks that are not made or not planned")
    options = parser.parse_args()
    require_onnx()
    run_command(run, options)


if __name__ == "__main__":
    main()
