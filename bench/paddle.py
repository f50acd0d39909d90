#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures networks of paddle.vision.models kernel by kernel on Paddle Inference, predicts them,
and writes docs/results/paddle.md.

The networks are made by scripts/paddle_nets, which like the runtime needs .venv-paddle
(scripts/setup). All their kernels are measured into one table (`oplat profile`), each network is
measured end to end in the same campaign and compared (`oplat validate`); the table is then exported
in PaddleSlim's format. Run it again after an interruption: what is measured stays (--folder). The
machine should have nothing else to do.
"""
import argparse
import pickle
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import paddle_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat, say  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

RUNTIME = "paddle"
NETS = ("mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "resnet18", "resnet34", "resnet50", "squeezenet1_1", "shufflenet_v2_x1_0", "alexnet",
        "vgg11")


def models(folder, names):
    """Exports what is not there yet; name -> file."""
    subprocess.run([ROOT / "scripts/paddle_nets", folder, *names], check=True)
    found = {name: folder / name / "pir" / f"{name}.json" for name in names}
    for name, path in found.items():
        if not path.exists():
            raise Failed(f"{path}: scripts/paddle_nets did not make {name}")
    return found


def measure(oplat, store, options, files, table):
    """One campaign for all networks, so that their kernels and they themselves are measured under
    the same conditions."""
    facts = store.section("profile")
    if not facts.get("done"):
        facts.setdefault("load", text.load())
        flags = ["--option", f"onednn={options.onednn}", "--budget", options.budget]
        models_flags = [flag for path in files.values() for flag in ("--model", path)]
        facts["summary"] = oplat.timed_json(facts, store.save, "profile", *models_flags, "--table", table, "--runtime", RUNTIME, "--threads", options.threads,
                                            "--device", options.device, *flags)
        facts["done"] = not facts["summary"]["interrupted"]
        facts["end_load"] = text.load()
        store.save()
    return facts


def fit(oplat, table, folder, files):
    """How well a composition does that was fitted without a network and its relatives; None if too
    few networks were measured well."""
    families = {path.name: name.partition("_v")[0].rstrip("0123456789") for name, path in files.items()}
    return oplat.composition(table, folder, families, "--max-half-width", paddle_page.MOST_HALF_WIDTH)


def export(oplat, table, folder, options):
    """The table as PaddleSlim would load it; its name and how many keys Python's pickle finds in
    it."""
    path = folder / f"{options.device}_threads_{options.threads}_power_mode_0.pkl"
    oplat.text("export", table, "--format", "paddleslim", "--out", path)
    keys = pickle.loads(path.read_bytes())  # our own file
    return {"name": path.name, "keys": len(keys), "kinds": sorted({key.partition(" ")[0] for key in keys}), "bytes": path.stat().st_size}


def run(options):
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve() / f"onednn-{options.onednn}"
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "paddle.oplat"
    store = Store(folder / "paddle.bench.json")
    names = options.networks or list(NETS)
    files = models(Path(options.models).resolve(), names)
    facts = measure(oplat, store, options, files, table)
    say("== validate")
    validation = oplat.json("validate", *files.values(), "--unfitted", "--table", table, "--runtime", RUNTIME, "--threads", options.threads, "--device", options.device,
                            "--option", f"onednn={options.onednn}", "--quiet")
    population = oplat.json("table", "info", table)["populations"][0]
    exported = export(oplat, table, folder, options)
    write_atomically(options.out, paddle_page.page(names, validation, facts, population, exported, fit(oplat, table, folder, files), oplat.version()))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", metavar="NAME", help=f"networks of scripts/paddle_nets (default: {', '.join(NETS)})")
    parser.add_argument("--onednn", choices=("on", "off"), default="on", help="compute with oneDNN (default: on)")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (default: 1)")
    parser.add_argument("--device", default="this-machine", help="name in the tables (default: this-machine)")
    parser.add_argument("--budget", default="12m", help="time for profiling (default: 12m)")
    parser.add_argument("--models", default=str(ROOT / "models/paddle"), help="folder of the networks (default: models/paddle)")
    parser.add_argument("--folder", default=str(ROOT / "build/bench/paddle"), help="folder for measurements (default: build/bench/paddle)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/paddle.md"), help="page to write (default: docs/results/paddle.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    options = parser.parse_args()
    run_command(run, options)


if __name__ == "__main__":
    main()
