#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Goes once round TinyNAS's loop on this machine and writes docs/results/tinynas-loop.md: how far
off is the sum of convolutions?

The spaces of data/spaces are sampled and measured with ONNX Runtime, one thread, into a table; its
rows become a library; the structures there are predicted from it by the original's method and by
oplat's, written as ONNX models and measured end to end. Run it again after an interruption: what is
measured stays (--folder). The machine should have nothing else to do.
"""
import argparse
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import loop_page, text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, RUNTIME, Failed, Oplat, say  # noqa: E402
from lib.sections import put_last_section  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

SPACES = ROOT / "data/spaces"
PRECISION = "FP32"
ESTIMATORS = ("original", "best")


def sample(oplat, options, folder):
    """The samples of all spaces as one list, and the keys of the kernels that execute them."""
    lines = []
    for space, multiple in options.spaces:
        lines += oplat.text("tinynas", "sample", space, "--channel-multiple", multiple, "--quiet").splitlines()
    samples = folder / "samples.txt"
    write_atomically(samples, "".join(f"{line}\n" for line in lines))
    keys = folder / "keys.txt"
    oplat.text("tinynas", "keys", samples, "--out", keys)
    return len(lines), keys


def profile(oplat, store, options, keys, table):
    """Resumable: rows that are good enough are left alone, and the budget counts over all calls."""
    facts = store.section("profile")
    left = options.budget - facts.get("seconds", 0.0)
    if not facts.get("done") and left >= 1:
        facts.setdefault("load", text.load())
        facts["summary"] = oplat.timed_json(facts, store.save, "profile", "--keys", keys, "--table", table, "--runtime", RUNTIME,
                                            "--budget", f"{left:.0f}s")
        facts["done"] = not facts["summary"]["interrupted"]
        store.save()
    if "summary" not in facts:
        raise Failed("the budget ended before a network was measured; set a larger --budget")
    return facts


def predictions(oplat, options, structure, library):
    """{(estimator, batch): the document's part for that batch}"""
    found = {}
    for estimator in ESTIMATORS:
        document = oplat.json("tinynas", "predict", structure, "--library", library, "--precision", PRECISION, "--estimator", estimator,
                              "--rules", "corrected", "--batch", ",".join(map(str, options.batches)), "--resolution", options.resolution,
                              allowed=(0, 4))
        for part in document.get("batches", [document]):
            found[estimator, part["batch"]] = part
    return found


def measured(oplat, options, structure, folder, table):
    """{batch: the measured model}, end to end."""
    names = oplat.text("tinynas", "onnx", structure, "--resolution", options.resolution, "--batch", ",".join(map(str, options.batches)),
                       "--out", folder / "models").split()
    document = oplat.json("measure", *names, "--runtime", RUNTIME, "--table", table, "--quiet")
    return {model["batch"]: model for model in document["models"]}


def run(options):
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows, whole, library = (folder / name for name in ("loop.oplat", "loop-models.oplat", "conv_data.out"))
    store = Store(folder / "loop.bench.json")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # fits of this library only
    samples, keys = sample(oplat, options, folder)
    facts = profile(oplat, store, options, keys, rows)
    oplat.text("export", rows, "--format", "tinynas", "--out", library)
    lines = []
    for structure in options.structures:
        say(f"== {structure.stem}")
        by_batch = measured(oplat, options, structure, folder, whole)
        predicted = predictions(oplat, options, structure, library)
        lines += [loop_page.Line(structure.stem, batch, by_batch[batch], {name: predicted[name, batch] for name in ESTIMATORS})
                  for batch in options.batches if batch in by_batch]
    population = oplat.json("table", "info", rows)["populations"][0]
    # Both before the first of them makes the checkout a changed one.
    page = loop_page.page(lines, facts, samples, options, population, oplat.version())
    section = loop_page.section(lines, Path(options.out).name)
    write_atomically(options.out, page)
    put_last_section(options.accuracy, loop_page.HEADING, section)
    print(f"wrote {options.out} and its section of {options.accuracy}")


def space_of(argument):
    """PATH[:MULTIPLE]"""
    path, _, multiple = argument.partition(":")
    return Path(path).resolve(), multiple or "16"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", nargs="+", type=space_of, metavar="FILE[:MULTIPLE]",
                        default=[(SPACES / "cpu.in", "16"), (SPACES / "cpu-stem.in", "1")],
                        help="search spaces, each with the multiple of its channels (default: cpu.in:16 and cpu-stem.in:1 of data/spaces)")
    parser.add_argument("--structures", nargs="+", type=lambda path: Path(path).resolve(), metavar="FILE",
                        default=[SPACES / "R18-like.txt", SPACES / "R50-like.txt"], help="network structures (default: both of data/spaces)")
    parser.add_argument("--resolution", type=int, default=64, metavar="N", help="height and width of the input (default: 64)")
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8], metavar="N", help="batch sizes (default: 1 8)")
    parser.add_argument("--budget", type=float, default=900, metavar="SECONDS", help="time for measuring the samples (default: 900)")
    parser.add_argument("--folder", default=str(ROOT / "build/bench/tinynas-loop"), help="folder for measurements (default: build/bench/tinynas-loop)")
    parser.add_argument("--out", default=str(ROOT / "docs/results/tinynas-loop.md"), help="page to write (default: docs/results/tinynas-loop.md)")
    parser.add_argument("--accuracy", default=str(ROOT / "docs/results/accuracy.md"), help="page whose last section receives the sums (default: docs/results/accuracy.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    options = parser.parse_args()
    run_command(run, options)


if __name__ == "__main__":
    main()
