#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the models of ../shared/cases again, and further members of their families, and writes
silent-wrong-numbers.md of docs/results, family by family.

Each model's kernels and its own time go into a table of its own with a small budget; then it is
predicted, and both times are compared. A number that lies outside its interval and off by more than
15 %, without a warning, is a silent wrong number: the command ends with exit code 1. Figures from
before stand in bench/cases.tsv; the tests that hold a family in bench/cases-tests.tsv. Results are
kept in FOLDER, one line a model: run it again to go on. Takes about 16 minutes on a quiet machine,
which should have nothing else to do.
"""
import argparse
import dataclasses
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text, verdicts  # noqa: E402
from lib.entry import require_onnx, run_command  # noqa: E402
from lib.oplat import RESULTS, ROOT, RUNTIME, Failed, Oplat, say  # noqa: E402
from lib.progress import Lines, Progress  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402
from lib.verdicts import Outcome  # noqa: E402

SHARED = ROOT.parent / "shared" / "cases"
LARGE_BYTES = 2469605376  # of w.bin, which the README of family 08 makes with truncate
TRIPS = 300
NEW = "new"  # in place of what oplat said before: a model of lib/neighbours.py


@dataclasses.dataclass
class Case:
    family: str
    model: str
    arguments: list
    before: str

    @property
    def name(self):
        return " ".join([f"{self.family}/{self.model}", *self.arguments])


def tab_separated(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def read_cases():
    from lib.neighbours import neighbours
    cases = [Case(family, model, arguments.split(), before) for family, model, arguments, before in tab_separated(ROOT / "bench/cases.tsv")]
    return cases + [Case(family, model, [], NEW) for family, model in neighbours()]


def save_neighbours(folder):
    """Models of lib/neighbours.py as FOLDER/FAMILY/NAME.onnx."""
    from lib.neighbours import neighbours
    for (family, name), model in neighbours().items():
        path = folder / family / f"{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString())


def read_tests():
    """Family: (title, test files). A file that is gone, or that lacks the named test, is an
    error."""
    families = {}
    for family, title, tests in tab_separated(ROOT / "bench/cases-tests.tsv"):
        for test in tests.split():
            path, _, name = test.partition(":")
            if not (ROOT / path).is_file() or name not in (ROOT / path).read_text(encoding="utf-8"):
                raise Failed(f"bench/cases-tests.tsv: {family}: no test {test}")
        families[family] = (title, tests.split())
    return families


def loop_of_an_input(path):
    """A Loop whose trip count is an input of the graph, which family 09 has no file of."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    info = helper.make_tensor_value_info
    weights = numpy.random.default_rng(1).uniform(-0.1, 0.1, (64, 64)).astype(numpy.float32)
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["go"]), helper.make_node("MatMul", ["s", "w"], ["t"])], "body",
                             [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [1, 64])],
                             [info("go", TensorProto.BOOL, []), info("t", TensorProto.FLOAT, [1, 64])])
    graph = helper.make_graph([helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)], "g",
                              [info("m", TensorProto.INT64, []), info("x", TensorProto.FLOAT, [1, 64])], [info("y", TensorProto.FLOAT, [1, 64])],
                              [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 16)])
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    numpy.save(path.with_name(f"m{TRIPS}.npy"), numpy.array(TRIPS, numpy.int64))


def prepare(case, folder):
    """The path of the model; what the shared folder cannot hold is made in `folder`."""
    source = SHARED / case.family
    if case.before == NEW:
        source = folder / "neighbours" / case.family
    elif case.family.startswith("07"):
        # Links that a copy made files of.
        copy = folder / case.family
        if not copy.exists():
            shutil.copytree(source, copy)
            for file in sorted(copy.glob("snapshots/*/*/*")):
                if not file.is_symlink():
                    target = file.read_text(encoding="utf-8").strip()
                    file.unlink()
                    file.symlink_to(target)
        source = copy
    elif case.family.startswith("08"):
        copy = folder / case.family
        copy.mkdir(exist_ok=True)
        shutil.copyfile(source / f"{case.model}.onnx", copy / f"{case.model}.onnx")
        with (copy / "w.bin").open("wb") as weights:
            weights.truncate(LARGE_BYTES)
        source = copy
    elif case.family.startswith("09"):
        source = folder / case.family
        source.mkdir(exist_ok=True)
        if not (source / f"{case.model}.onnx").exists():
            loop_of_an_input(source / f"{case.model}.onnx")
    return source / f"{case.model}.onnx"


def arguments_of(case, model):
    """The arguments with files of data named in full."""
    return [f"{argument.split('=')[0]}={model.parent / argument.split('=')[1]}" if argument.endswith(".npy") else argument
            for argument in case.arguments]


def try_case(oplat, case, folder, number, budget):
    model = prepare(case, folder)
    options = arguments_of(case, model)
    table = folder / f"{number:02}.oplat"
    table.unlink(missing_ok=True)
    for attempt in range(verdicts.TRIES):
        outcome = Outcome(case.name)
        code, output, messages = verdicts.call(oplat, "profile", "--model", model, "--table", table, "--runtime", RUNTIME, "--budget",
                                               f"{budget * 2**attempt}s", "--json", "--quiet", *options)
        # A model that is refused has no row; a kernel that is refused is for the prediction to
        # tell.
        if code != 0 and not output.startswith("{"):
            outcome.exit, outcome.message = code, verdicts.last_line(messages)
        else:
            verdicts.predict(oplat, outcome, model, table, options)
            verdicts.measured(oplat, [outcome], [model], table, options)
        if outcome.verdict != verdicts.OPEN:
            break
    outcome.load = text.load()
    return outcome


def plain(message, folder):
    """A message without the paths of the machine at hand."""
    return verdicts.short(message.replace(str(SHARED), "../shared/cases").replace(str(folder), "FOLDER"))


def cell(case, outcome):
    if outcome is None:
        return "not tried", "-", "-"
    predicted = "-" if outcome.predicted_ns is None else text.duration(outcome.predicted_ns)
    measured = "-" if outcome.measured_ns is None else text.duration(outcome.measured_ns)
    return predicted, verdicts.interval_text(outcome), measured


def page(cases, results, store, oplat, folder):
    families = read_tests()
    outcomes = [results[case.name] for case in cases if case.name in results]
    counts = Counter(outcome.verdict for outcome in outcomes)
    facts = store.section("run")
    lines = ["# Models that were silently wrong, before and now", "",
             f"Written by `bench/cases.py` on {text.today()}, commit {text.commit()}: {facts['machine']}. {oplat.version()}. 1 thread.", "",
             "Each family is a kind of model from public bug reports. *Before* is what the README of `../shared/cases/FAMILY` says of the build of "
             "2026-11-25, measured on another day: predicted for measured, or how far off, or the exit code; *new* marks members of a family that no report "
             "brought (bench/lib/neighbours.py). The rest is of this run: kernels and model "
             f"measured within {facts['budget']} s, the model predicted from its kernels.", "",
             verdicts.load_lines(outcomes, facts["load_before"], facts["load_after"]), "",
             *text.table(["verdict", ">models"], [[name, str(counts[name])] for name in verdicts.ALL]), "",
             verdicts.EXPLANATION]
    for family, (title, tests) in families.items():
        lines += ["", f"## {title}", ""]
        rows, notes = [], []
        for case in (case for case in cases if case.family == family):
            outcome = results.get(case.name)
            name = "`" + " ".join([case.model.split("/")[-1], *case.arguments]) + "`"
            predicted, interval, measured = cell(case, outcome)
            verdict = verdicts.verdict_text(outcome) if outcome else "-"
            error = "-" if outcome is None else text.signed_percent(outcome.error)
            rows.append([name, case.before, predicted, interval, measured, error, verdict])
            if outcome is not None and outcome.verdict in (verdicts.REFUSED, verdicts.BROKEN, verdicts.OPEN):
                notes.append(f"- {name}: \"{plain(outcome.message, folder)}\"")
            elif outcome is not None and outcome.verdict == verdicts.WARNED:
                notes.append(f"- {name}: \"{plain(outcome.warnings[0], folder)}\"")
        lines += text.table(["model", "before", ">predicted", "interval", ">measured", ">error", "verdict"], rows)
        if notes:
            lines += ["", *notes]
        lines += ["", "Tests: " + ", ".join(f"`{test}`" for test in tests) + "."]
    return "\n".join(lines) + "\n"


def run(options):
    if not SHARED.is_dir():
        say(f"skipped: no {SHARED}, where the models are")
        sys.exit(77)
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve()
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in read_cases() if not options.families or case.family[:2] in options.families]
    read_tests()
    save_neighbours(folder / "neighbours")
    lines = Lines(folder / "results.jsonl")
    store = Store(folder / "run.json")
    facts = store.section("run")
    facts.setdefault("load_before", text.load())
    facts["budget"] = options.budget
    done = verdicts.finished(lines.of)
    progress = Progress(len(cases), sum(case.name in done for case in cases))
    start = time.monotonic()
    for number, case in enumerate(cases):
        if case.name in done:
            continue
        outcome = try_case(oplat, case, folder, number, options.budget)
        lines.add(dataclasses.asdict(outcome))
        progress.step(f"{case.name}: {verdicts.verdict_text(outcome)} {text.signed_percent(outcome.error)}")
        table = folder / f"{number:02}.oplat"
        if "machine" not in facts and table.exists():
            populations = oplat.json("table", "info", table)["populations"]
            if populations:
                facts["machine"] = text.machine(populations[0]["device"])
        facts["load_after"] = text.load()
        store.save()
    say(f"{(time.monotonic() - start) / 60:.1f} minutes")
    results = {name: Outcome(**line) for name, line in lines.of.items()}
    facts.setdefault("machine", "unknown machine")
    facts.setdefault("load_after", text.load())
    write_atomically(options.out, page(cases, results, store, oplat, folder))
    print(f"wrote {options.out}")
    bad = [outcome for outcome in results.values() if outcome.verdict not in verdicts.GOOD]
    for outcome in bad:
        say(f"{outcome.verdict}: {outcome.name}: {text.signed_percent(outcome.error)} {outcome.message}")
    if bad:
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--folder", default=str(ROOT / "build/cases"), help="where tables and results are kept (default: build/cases)")
    parser.add_argument("--families", nargs="+", default=[], metavar="NN", help="only these families: 01 02 ... (default: all)")
    parser.add_argument("--budget", type=int, default=6, metavar="SECONDS", help="for measuring each model and its kernels (default %(default)s)")
    parser.add_argument("--out", default=str(RESULTS / "silent-wrong-numbers.md"),
                        help="page to write (default: silent-wrong-numbers.md in docs/results)")
    parser.add_argument("--fresh", action="store_true", help="discard earlier results")
    options = parser.parse_args()
    require_onnx()
    run_command(run, options)


if __name__ == "__main__":
    main()
