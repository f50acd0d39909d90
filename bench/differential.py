#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts random small graphs from measured kernels, measures them, and writes differential.md of
docs/results: no silent wrong number may be among them.

The graphs come from lib/random_graphs.py: onnx.checker accepts each, and ONNX Runtime executes it.
Their kernels and their own times go into one table, a few graphs at a time, kernels that several
share once. A prediction that lies outside its interval and is off by more than 15 %, without a
warning, is a silent wrong number: the command ends with exit code 1. Graphs, table and results are
kept in FOLDER: run it again to go on. 200 graphs take at most 20 minutes on a quiet machine, which
should have nothing else to do. --again asks for the predictions of graphs that were measured before
once more, from the table as it is now: after a change to the program, say.

Each number of --threads has results of its own in FOLDER. With --without-rows TABLE each graph is
predicted from that table, too, such as a profile of general-cpu of the same machine, which should
hold no row of the graphs: then estimates are tried as well as sums. Their intervals are of 90 %,
and nothing there ends the command.
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
from lib.entry import require_onnx, run_command, whole  # noqa: E402
from lib.oplat import RESULTS, ROOT, RUNTIME, Oplat, say  # noqa: E402
from lib.progress import Lines, Progress  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402
from lib.verdicts import Outcome  # noqa: E402

AT_A_TIME = 10
WORST = 10
HEAD = ["graph", ">predicted", "interval", ">measured", ">error", "verdict", "operators"]
CALL_SECONDS = 600
# Of a minute of the command: planning, starting processes and predicting take the rest.
MEASURING_SHARE = 0.8


def make_graphs(folder, seed, count):
    """Paths of the graphs; those that are there already are not made again."""
    from lib import random_graphs
    paths = [folder / f"s{seed}_{number:03}.onnx" for number in range(count)]
    missing = [(number, path) for number, path in enumerate(paths) if not path.exists()]
    if missing:
        say(f"making {len(missing)} graphs")
    for number, path in missing:
        write = path.with_suffix(".part")
        write.write_bytes(random_graphs.random_model(seed, number).SerializeToString())
        write.rename(path)
    return paths


def try_graphs(oplat, paths, table, threads, seconds):
    """Outcomes of a few graphs: profiled together, predicted one by one, measured."""
    models = [argument for path in paths for argument in ("--model", path)]
    for attempt in range(verdicts.TRIES):
        outcomes = [Outcome(path.name) for path in paths]
        code, output, messages = verdicts.call(oplat, "profile", *models, "--table", table, "--runtime", RUNTIME, *threads, "--budget",
                                               f"{seconds * 2**attempt:.0f}s", "--json", "--quiet", most_seconds=CALL_SECONDS)
        if code != 0 and not output.startswith("{"):
            # One of them is to blame: each by itself shows which.
            if len(paths) > 1:
                return [outcome for path in paths for outcome in try_graphs(oplat, [path], table, threads, seconds / len(paths))]
            return [dataclasses.replace(outcomes[0], exit=code, message=verdicts.last_line(messages), load=text.load())]
        for outcome, path in zip(outcomes, paths):
            verdicts.predict(oplat, outcome, path, table, threads)
        verdicts.measured(oplat, outcomes, paths, table, threads)
        if all(outcome.verdict != verdicts.OPEN for outcome in outcomes):
            break
    for outcome in outcomes:
        outcome.load = text.load()
    return outcomes


def operators_of(path):
    """The operators of a graph in order, each once."""
    import onnx
    return ", ".join(dict.fromkeys(node.op_type for node in onnx.load(path).graph.node))


def line_of(outcome, folder):
    predicted = "-" if outcome.predicted_ns is None else text.duration(outcome.predicted_ns)
    measured = "-" if outcome.measured_ns is None else text.duration(outcome.measured_ns)
    return [f"`{outcome.name}`", predicted, verdicts.interval_text(outcome), measured, text.signed_percent(outcome.error), verdicts.verdict_text(outcome),
            operators_of(folder / outcome.name)]


def badness(outcome):
    if outcome.error is None:
        return -1.0 if outcome.verdict in verdicts.GOOD else float("inf")
    # Outside the interval first, then by the error.
    return outcome.beyond * 1000 + abs(outcome.error) if outcome.beyond > 1 else abs(outcome.error)


def asked_again(oplat, outcomes, folder, table, threads):
    """The measured graphs, predicted from a table."""
    asked = []
    for outcome in outcomes:
        if outcome.measured_ns is None:
            continue
        other = dataclasses.replace(outcome, exit=0, message="", predicted_ns=None, interval_ns=None, warnings=[])
        verdicts.predict(oplat, other, folder / outcome.name, table, threads)
        asked.append(other)
    return asked


def section_without_rows(asked, folder, oplat, table):
    said = [outcome for outcome in asked if outcome.error is not None]
    errors = sorted(abs(outcome.error) for outcome in said)
    if not said:
        return ["", "## Without rows of their own", "", "None could be predicted."]
    share = lambda chosen: text.percent(sum(chosen) / len(said))  # noqa: E731
    info = oplat.json("table", "info", table)["populations"][0]
    lines = ["", "## Without rows of their own", "",
             f"The same graphs, predicted from another table of this machine, of {info['rows']:,} rows, by what was learned from them: kernels are estimated. "
             f"{len(said)} of {len(asked)} could be predicted.", "",
             f"Inside the 90 % interval: {share([outcome.beyond == 1 for outcome in said])}; median error {text.percent(errors[len(errors) // 2])}, mean "
             f"{text.percent(sum(errors) / len(errors))}; within 15 %: {share([error <= verdicts.TOLERANCE for error in errors])}. Further outside than a factor of 1.5: "
             f"{sum(outcome.beyond > 1.5 for outcome in said)}.", ""]
    outside = sorted((outcome for outcome in said if outcome.beyond > 1), key=badness, reverse=True)[:WORST]
    return lines + (text.table(HEAD, [line_of(outcome, folder) for outcome in outside]) if outside else [])


def page(outcomes, folder, options, facts, oplat, table):
    counts = Counter(outcome.verdict for outcome in outcomes)
    device = oplat.json("table", "info", table)["populations"][0]["device"]
    errors = sorted(abs(outcome.error) for outcome in outcomes if outcome.error is not None)
    times = sorted(outcome.measured_ns for outcome in outcomes if outcome.measured_ns)
    median = errors[len(errors) // 2] if errors else None
    within = sum(error <= verdicts.TOLERANCE for error in errors) / len(errors) if errors else None
    flags = f" --threads {options.threads}" * (options.threads > 1) + " --again" * options.again + " --without-rows TABLE" * bool(options.without_rows)
    lines = ["# Random graphs, predicted and measured", "",
             f"Written by `bench/differential.py --seed {options.seed} --count {options.count}{flags}` on {text.today()}, commit {text.commit()}: "
             f"{text.machine(device)}. {oplat.version()}. {text.counted(options.threads, 'thread')}.", "",
             f"{len(outcomes)} random graphs: branches, shared weights, views at the edges, integers that decide sizes, control flow, replaceable weights, "
             "unused results, several types. Each is predicted from kernels that were measured by themselves, and measured."
             + (f" They take {text.duration(times[0])} to {text.duration(times[-1])}." if times else ""), "",
             verdicts.load_lines(outcomes, facts["load_before"], facts["load_after"]), "",
             *text.table(["verdict", ">graphs"], [[name, str(counts[name])] for name in verdicts.ALL]), "",
             f"Median error {text.percent(median)}; within 15 %: {text.percent(within)}. " + verdicts.EXPLANATION, "",
             f"## The worst {WORST}", "", "Those outside their interval come first.", "",
             *text.table(HEAD, [line_of(outcome, folder) for outcome in sorted(outcomes, key=badness, reverse=True)[:WORST]])]
    refused = [outcome for outcome in outcomes if outcome.verdict == verdicts.REFUSED]
    if refused:
        lines += ["", "## Refused", "", *[f"- `{outcome.name}`, exit {outcome.exit}: \"{verdicts.short(outcome.message)}\"" for outcome in refused]]
    return "\n".join(lines) + "\n"


def run(options):
    oplat = Oplat(options.oplat)
    folder = Path(options.folder).resolve()
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    paths = make_graphs(folder, options.seed, options.count)
    table = folder / "differential.oplat"
    threads = ("--threads", options.threads)
    lines = Lines(folder / f"results-{options.threads}.jsonl")
    store = Store(folder / "run.json")
    facts = store.section(f"seed {options.seed}, {options.threads}")
    facts.setdefault("load_before", text.load())
    done = verdicts.finished(lines.of)
    todo = [path for path in paths if path.name not in done]
    progress = Progress(len(paths), len(paths) - len(todo))
    seconds = 60 * options.minutes * MEASURING_SHARE / options.count
    for at in range(0, len(todo), AT_A_TIME):
        some = todo[at:at + AT_A_TIME]
        for outcome in try_graphs(oplat, some, table, threads, seconds * len(some)):
            lines.add(dataclasses.asdict(outcome))
            progress.step(f"{outcome.name}: {verdicts.verdict_text(outcome)} {text.signed_percent(outcome.error)}")
        facts["load_after"] = text.load()
        store.save()
    say(f"{(time.monotonic() - start) / 60:.1f} minutes")
    facts.setdefault("load_after", text.load())
    outcomes = [Outcome(**lines.of[path.name]) for path in paths]
    if options.again:
        again = {outcome.name: outcome for outcome in asked_again(oplat, outcomes, folder, table, threads)}
        outcomes = [again.get(outcome.name, outcome) for outcome in outcomes]
    written = page(outcomes, folder, options, facts, oplat, table)
    if options.without_rows:
        other = Path(options.without_rows).resolve()
        written += "\n".join(section_without_rows(asked_again(oplat, outcomes, folder, other, threads), folder, oplat, other)) + "\n"
    write_atomically(options.out, written)
    print(f"wrote {options.out}")
    bad = [outcome for outcome in outcomes if outcome.verdict not in verdicts.GOOD]
    for outcome in bad:
        say(f"{outcome.verdict}: {outcome.name}: {text.signed_percent(outcome.error)} {outcome.message}")
    if bad:
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=whole(0), default=1, help="random seed of the graphs (default %(default)s)")
    parser.add_argument("--count", type=whole(1), default=200, help="number of graphs (default %(default)s)")
    parser.add_argument("--threads", type=whole(1), default=1, help="threads of the runtime (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=18, help="for all graphs, about (default %(default)s)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--folder", default=str(ROOT / "build/differential"), help="where graphs, table and results are kept (default: build/differential)")
    parser.add_argument("--out", default=str(RESULTS / "differential.md"), help="page to write (default: differential.md in docs/results)")
    parser.add_argument("--again", action="store_true", help="predict the graphs that were measured before once more")
    parser.add_argument("--without-rows", metavar="TABLE", help="predict each graph from this table, too, which was not made from them")
    parser.add_argument("--fresh", action="store_true", help="discard earlier graphs and results")
    options = parser.parse_args()
    require_onnx()
    run_command(run, options)


if __name__ == "__main__":
    main()
