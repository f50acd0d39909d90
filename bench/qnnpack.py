#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures int8 Caffe2 nets kernel by kernel on QNNPACK, predicts them, and writes
docs/results/qnnpack.md.

The nets are those of scripts/zoo/caffe2_nets.py, two of them drawn from seeds, and ChamNet-A where
../shared holds it. Their operators are measured into one look-up table (`oplat lut build`), each
net is measured end to end on the same kernels and compared (`oplat validate`). Run it again after
an interruption: what is measured stays (--folder). The machine should have nothing else to do.
"""
import argparse
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import qnnpack_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Oplat, say  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

RUNTIME = "qnnpack"
CHAMNET = ROOT.parent / "shared/data/mobile-vision/ChamNet-A"


@dataclass(frozen=True)
class Net:
    """A net and the size of its images."""

    name: str
    size: int
    network: str = ""  # of scripts/zoo/caffe2_nets.py; empty: is in its own folder
    seed: int = 0


NETS = (
    Net("mobilenet_v2", 224, "mobilenet_v2"),
    Net("mobilenet_v2_128", 128, "mobilenet_v2"),
    Net("resnet18", 160, "resnet18"),
    Net("shufflenet", 224, "shufflenet"),
    Net("squeezenet", 160, "squeezenet"),
    Net("vgg_small", 64, "vgg_small"),
    Net("fbnet_seed_11", 160, "fbnet", 11),
    Net("fbnet_seed_12", 224, "fbnet", 12),
)
PUBLISHED = Net("ChamNet-A", 224)


def model_file(net, folder):
    """Writes the net where it is one of ours."""
    if not net.network:
        return CHAMNET / "model.pbtxt"
    place = folder / net.name
    subprocess.run([ROOT / "scripts/caffe2_net", place, "--binary", "--network", net.network, "--size", str(net.size), "--seed",
                    str(net.seed)], check=True)
    # Rows of whole nets are told apart by file name; folders of look-up tables hold a model.pb.
    for name in ("model", "model_init"):
        shutil.copyfile(place / f"{name}.pb", place / f"{name.replace('model', net.name)}.pb")
    return place / f"{net.name}.pb"


def profile(oplat, store, net, model, options, table):
    facts = store.section("profile", net.name)
    if facts.get("done"):
        return facts
    facts.setdefault("load", text.load())
    facts["summary"] = oplat.timed_json(facts, store.save, "profile", "--model", model, "--shape", f"data=1x3x{net.size}x{net.size}",
                                        "--table", table, "--runtime", RUNTIME, "--threads", options.threads, "--device", options.device, "--budget", options.budget)
    facts["done"] = not facts["summary"]["interrupted"]
    store.save()
    return facts


def look_up(oplat, net, model, folder, table, options):
    """Sum of the look-up table that `oplat lut build` makes of the rows, in us, and how long the
    look-up took, in s."""
    dims = f'{{"data": [1, 3, {net.size}, {net.size}]}}'
    lut = folder / "luts" / net.name / f"{options.device}-op_lut_database.json"
    lut.parent.mkdir(parents=True, exist_ok=True)
    oplat.text("lut", "build", "--models", model.parent, "--input_dims", dims, "--device", options.device, "--runtime", RUNTIME,
               "--threads", options.threads, "--table", table, "--out", lut, "--budget", "1s", "--quiet")
    start = time.monotonic()
    document = oplat.json("lut", "--model_path", model.parent, "--input_dims", dims, "--db_dir", lut.parent, "--device", options.device)
    return {"us": document["models"][0]["latency_us"], "seconds": time.monotonic() - start,
            "operators": len(document["models"][0]["operators"]), "records": len(lut.read_text(encoding="utf-8").splitlines())}


def compose(oplat, table, folder, nets, models):
    """What a composition predicts that was fitted without a net and its relatives, by name of the
    net; empty where too few were measured well."""
    by_file = {models[net.name].name: net for net in nets}
    document = oplat.composition(table, folder, {file: net.network or net.name for file, net in by_file.items()})
    return {by_file[line["name"]].name: line for line in document["left_out"] if line["name"] in by_file} if document else {}


def run(options):
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "qnnpack.oplat"
    store = Store(folder / "qnnpack.bench.json")
    nets = [net for net in NETS if not options.networks or net.name in options.networks]
    if CHAMNET.is_dir() and (not options.networks or PUBLISHED.name in options.networks):
        nets.append(PUBLISHED)
    models = {net.name: model_file(net, folder) for net in nets}
    facts = {}
    for net in nets:
        say(f"== {net.name}")
        facts[net.name] = profile(oplat, store, net, models[net.name], options, table)
    composed = compose(oplat, table, folder, nets, models)
    lines = []
    for net in nets:
        validation = oplat.json("validate", models[net.name], "--unfitted", "--shape", f"data=1x3x{net.size}x{net.size}", "--table", table,
                                "--runtime", RUNTIME, "--threads", options.threads, "--device", options.device, "--quiet")
        lines.append(qnnpack_page.Line(net, validation, facts[net.name], look_up(oplat, net, models[net.name], folder, table, options),
                                       composed.get(net.name)))
    population = oplat.json("table", "info", table)["populations"][0]
    write_atomically(options.out, qnnpack_page.page(lines, population, oplat.version()))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", metavar="NAME", choices=[net.name for net in (*NETS, PUBLISHED)], help="nets to measure (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (default: 1)")
    parser.add_argument("--device", default="this-machine", help="name in the look-up tables (default: this-machine)")
    parser.add_argument("--budget", default="4m", help="time for profiling each net (default: 4m)")
    parser.add_argument("--folder", default=str(ROOT / "build/bench/qnnpack"), help="folder for measurements (default: build/bench/qnnpack)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/qnnpack.md"), help="page to write (default: docs/results/qnnpack.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    options = parser.parse_args()
    run_command(run, options)


if __name__ == "__main__":
    main()
