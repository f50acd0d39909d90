#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries oplat on every operator that ONNX Runtime executes on CPU, and writes a page of what is supported.

Models: the one-node models of the `onnx` package's own backend tests (each operator with several sets of attributes, types and optional operands), once more
under each older operator set from 7 on that defines the operator differently, and those of lib/contrib_models.py for com.microsoft. Integer operands but the
first are constants, as networks have them. A model that ONNX Runtime itself does not execute is left out.
Of each model: its plan, rows of its kernels, whether a kernel built from a key is planned with the same key, and its predicted against its measured time.
Goes on where it was cut short: results stand in FOLDER, one file a step. --seconds bounds a run; run it again to go on.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib.contrib_models import models as contrib_models  # noqa: E402
from lib.oplat import ROOT  # noqa: E402

FIRST_OPSET, LAST_OPSET = 7, 24
KEYS_PER_CALL = 25
MODELS_PER_CALL = 10
MODELS_PER_STEP = 25
CALL_SECONDS = 120
NOT_EXECUTED = "the runtime does not execute it"
NEAR = 1.1


class Out(Exception):
    """The time of this run is over."""


class Steps:
    """Results of each step by the model's or key's name, kept in a file of JSON lines."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.jsonl"
        self.of = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                name, result = json.loads(line)
                self.of[name] = result

    def add(self, name, result):
        self.of[name] = result
        with self.path.open("a") as out:
            out.write(json.dumps([name, result]) + "\n")


def fixed_operands(case):
    """The test's model with its integer operands but the first as initialisers."""
    import onnx
    from onnx import numpy_helper
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    values = case.data_sets[0][0]
    kept = []
    for i, info in enumerate(list(model.graph.input)):
        tensor = info.type.HasField("tensor_type")
        value = values[i] if i < len(values) else None
        dtype = getattr(value, "dtype", None)
        if i > 0 and tensor and dtype is not None and dtype.kind in "iub" and value.size <= 64:
            model.graph.initializer.append(numpy_helper.from_array(value, info.name))
        else:
            kept.append(info)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model


def test_models(cases_per_operator):
    """(operator, label, model) of the package's backend tests, evenly chosen, and of older operator sets."""
    import onnx
    from onnx import defs
    from onnx.backend.test import loader
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    by_operator = defaultdict(list)
    for case in tests:
        if case.model is not None and len(case.model.graph.node) == 1 and "_expanded" not in case.name:
            node = case.model.graph.node[0]
            by_operator[node.domain, node.op_type].append(case)
    versions = defaultdict(set)
    for schema in defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name].add(schema.since_version)
    for (domain, op), cases in sorted(by_operator.items()):
        step = max(1, len(cases) / cases_per_operator)
        chosen = [cases[int(i * step)] for i in range(min(cases_per_operator, len(cases)))]
        for case in chosen:
            yield f"{domain}:{op}" if domain else op, case.name, fixed_operands(case)
        if domain:
            continue
        for version in sorted(versions[domain, op]):
            if FIRST_OPSET <= version <= LAST_OPSET:
                model = fixed_operands(chosen[0])
                for opset in model.opset_import:
                    if opset.domain == domain:
                        opset.version = version
                yield op, f"{chosen[0].name}_opset{version}", model


def runs(path):
    """Whether ONNX Runtime itself loads the model, asked in a process of its own: it may crash."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            import onnxruntime
            onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            os._exit(0)
        except BaseException:  # noqa: BLE001
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def make_models(folder, cases_per_operator):
    listing = folder / "models.json"
    if listing.exists():
        return json.loads(listing.read_text())
    files = folder / "models"
    files.mkdir(exist_ok=True)
    made = []
    met = Counter()
    candidates = [(f"com.microsoft:{op}", label, model) for op, label, model in contrib_models()] + list(test_models(cases_per_operator))
    for operator, label, model in candidates:
        (files / f"{label}.onnx").write_bytes(model.SerializeToString())
        made.append([met[operator], operator, label])
        met[operator] += 1
    # One model of every operator first: a run that is cut short has seen all of them.
    made = [[operator, label] for _, operator, label in sorted(made, key=lambda each: each[0])]
    listing.write_text(json.dumps(made))
    return made


class Breadth:
    def __init__(self, arguments):
        self.oplat = str(Path(arguments.oplat).resolve())
        self.builder = arguments.kernel_models and str(Path(arguments.kernel_models).resolve())
        self.without_times = arguments.without_times
        self.folder = Path(arguments.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.table = self.folder / "breadth.oplat"
        self.models = make_models(self.folder, arguments.cases)
        self.end = time.monotonic() + arguments.seconds
        self.plans = Steps(self.folder, "plans")
        self.asked = Steps(self.folder, "asked")
        self.rebuilt = Steps(self.folder, "rebuilt")
        self.times = Steps(self.folder, "times")

    def call(self, *arguments):
        if time.monotonic() > self.end:
            raise Out
        try:
            done = subprocess.run([self.oplat, *map(str, arguments)], text=True, capture_output=True, cwd=ROOT, timeout=CALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return -1, "", f"longer than {CALL_SECONDS} s"
        return done.returncode, done.stdout, done.stderr

    def path(self, label):
        return self.folder / "models" / f"{label}.onnx"

    def plan(self, path, *options):
        code, out, err = self.call("plan", path, "--runtime", "onnxruntime", "--json", "--quiet", *options)
        if code != 0:
            return {"exit": code, "reason": err.strip().splitlines()[-1][:300] if err.strip() else ""}
        return {"exit": 0, "keys": [kernel["key"] for kernel in json.loads(out)["kernels"]]}

    def run(self):
        """Step by step for a few models at a time."""
        for at in range(0, len(self.models), MODELS_PER_STEP):
            labels = [label for _, label in self.models[at:at + MODELS_PER_STEP]]
            for label in labels:
                if label not in self.plans.of:
                    plan = self.plan(self.path(label))
                    if plan["exit"] != 0 and not runs(self.path(label)):
                        plan["exit"] = NOT_EXECUTED
                    self.plans.add(label, plan)
            keys = list(dict.fromkeys(key for label in labels for key in self.plans.of[label].get("keys", ())))
            self.measure_keys(keys)
            if self.builder:
                self.rebuild_keys(keys)
            if not self.without_times:
                self.measure_models(labels)

    def measure_keys(self, keys):
        left = [key for key in keys if key not in self.asked.of]
        for at in range(0, len(left), KEYS_PER_CALL):
            some = left[at:at + KEYS_PER_CALL]
            listing = self.folder / "keys.txt"
            listing.write_text("".join(key + "\n" for key in some))
            code, _, _ = self.call("profile", "--keys", listing, "--runtime", "onnxruntime", "--table", self.table, "--budget", f"{KEYS_PER_CALL}s", "--quiet")
            for key in some:
                self.asked.add(key, code)

    def rebuild_keys(self, keys):
        rows = self.rows()
        left = [key for key in keys if key not in self.rebuilt.of and rows.get(key, ("", ""))[0] == "timing"]
        files = self.folder / "kernels"
        files.mkdir(exist_ok=True)
        done = subprocess.run([self.builder, str(files)], input="".join(key + "\n" for key in left), text=True, capture_output=True, check=True)
        for i, (key, line) in enumerate(zip(left, done.stdout.splitlines())):
            if line.startswith("-"):
                self.rebuilt.add(key, line[2:])
                continue
            again = self.plan(files / f"{i}.onnx", "--option", "level=0")
            same = key in again.get("keys", ())
            self.rebuilt.add(key, "same" if same else again.get("reason") or "another key: " + (again["keys"] or ["none"])[0])

    def rows(self):
        """Outcome and reason by key."""
        if not self.table.exists():
            return {}
        with sqlite3.connect(f"file:{self.table}?mode=ro", uri=True) as table:
            return {key: (outcome, reason) for key, outcome, reason in
                    table.execute("SELECT kernel.key, row.outcome, row.reason FROM row JOIN kernel ON kernel.id = row.kernel")}

    def measure_models(self, labels):
        left = [label for label in labels if label not in self.times.of and self.plans.of.get(label, {}).get("exit") == 0]
        for at in range(0, len(left), MODELS_PER_CALL):
            some = left[at:at + MODELS_PER_CALL]
            _, out, err = self.call("validate", *map(self.path, some), "--table", self.table, "--runtime", "onnxruntime", "--json", "--quiet")
            found = {}
            if out.startswith("{"):
                found = {Path(model["model"]).stem: model for model in json.loads(out)["models"]}
            for label in some:
                self.times.add(label, found.get(label, {"reason": err.strip()[-300:]}))


def is_near(time_of):
    predicted, measured = time_of.get("latency_ns") or time_of.get("predicted_ns"), time_of.get("measured_ns")
    if not predicted or not measured:
        return None
    interval = time_of.get("interval") or {}
    low, high = interval.get("low_ns", predicted), interval.get("high_ns", predicted)
    return min(low, predicted / NEAR) <= measured <= max(high, predicted * NEAR)


def verdict_of(run, label, rows):
    """("supported" | "caveat" | "refused" | "open", reason)."""
    plan = run.plans.of.get(label)
    if plan is None:
        return "open", ""
    if plan["exit"] == NOT_EXECUTED:
        return "none", ""
    if plan["exit"] != 0:
        return "refused", plan["reason"]
    for key in plan["keys"]:
        outcome, reason = rows.get(key, ("open", ""))
        if outcome == "open" or outcome is None:
            return "open", ""
        if outcome != "timing":
            return ("caveat" if "*" in key else "refused"), reason
        again = run.rebuilt.of.get(key, "same")
        if again != "same":
            return "caveat", f"built again: {again}"
    near = is_near(run.times.of.get(label, {}))
    if near is False:
        return "caveat", "its measured time lies outside the interval"
    return "supported", ""


def short(reason):
    text = " ".join((reason or "").split()).replace("|", "/")
    return text if len(text) <= 160 else text[:157] + "..."


def write_page(run, page):
    rows = run.rows()
    by_operator = defaultdict(list)
    for operator, label in run.models:
        by_operator[operator].append(verdict_of(run, label, rows))
    counts = Counter(verdict for verdicts in by_operator.values() for verdict, _ in verdicts)
    tried = sum(counts.values()) - counts["open"] - counts["none"]
    same = Counter("same" if each == "same" else "other" for each in run.rebuilt.of.values())
    near = Counter(is_near(each) for each in run.times.of.values())
    lines = ["# Supported operators", "",
             "One-node models of every operator that ONNX Runtime executes on CPU and that the `onnx` package",
             "tests, in operator sets 7 to 24, and of com.microsoft. `bench/breadth.py` writes this page.", "",
             f"Models: {len(run.models)}, of {len(by_operator)} operators. ONNX Runtime does not execute {counts['none']};",
             f"not tried yet: {counts['open']}; tried: {tried}, of which",
             f"{counts['supported']} supported, {counts['caveat']} measured with a caveat, {counts['refused']} refused.", "",
             f"Kernels built again from their keys: {same['same']} of {same['same'] + same['other']} are planned with the same key.",
             f"Model times compared: {near[True] + near[False]}, of which {near[False]} lie outside the interval and 10 %.", "",
             "- **supported**: planned, and every kernel is measured;",
             "- **caveat**: the time is an estimate or unlike the one inside the model; the reason says why;",
             "- **refused**: no time, with the reason.", "",
             "| operator | supported | caveat | refused | not tried | reasons |", "| --- | --- | --- | --- | --- | --- |"]
    for operator, verdicts in sorted(by_operator.items()):
        each = Counter(verdict for verdict, _ in verdicts)
        if each["none"] == len(verdicts):
            continue
        reasons = list(dict.fromkeys(short(reason) for verdict, reason in verdicts if verdict in ("caveat", "refused")))
        lines.append(f"| `{operator}` | {each['supported'] or ''} | {each['caveat'] or ''} | {each['refused'] or ''} | {each['open'] or ''} | "
                     f"{'; '.join(reasons[:2])} |")
    page.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oplat", default="build/release/oplat", help="program under test (default %(default)s)")
    parser.add_argument("--kernel-models", help="the program kernel_models of bench; without it no key is built again")
    parser.add_argument("--folder", default="build/breadth", help="where models, table and results are kept (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600, help="time of this run (default %(default)s)")
    parser.add_argument("--cases", type=int, default=6, help="test models an operator (default %(default)s)")
    parser.add_argument("--without-times", action="store_true", help="do not measure whole models, which takes most of the time")
    parser.add_argument("--page", default="build/breadth/support.md", help="page to write (default %(default)s)")
    arguments = parser.parse_args()
    run = Breadth(arguments)
    try:
        run.run()
    except Out:
        print("the time is over; run it again to go on", file=sys.stderr)
    write_page(run, Path(arguments.page))


if __name__ == "__main__":
    main()
