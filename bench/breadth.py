#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries oplat on every operator that ONNX Runtime executes on CPU, and writes the page of what is
supported, docs/reference/support.md.

Two parts, each of which goes on where it was cut short (results stand in FOLDER, a line each):

plan   plans every model of lib/breadth_models.py, runs each kernel as a campaign would, builds it again from its key and looks whether it is planned with the
       same key. Times do not matter: any machine will do, and --jobs may be as many as it has
       cores.
times  compares predicted with measured times of as many models as --seconds allows, on a quiet machine. Rounds of one model of each operator, chosen by
       --seed, are measured for a few seconds a dozen models; the page says how many there were.

Both write the page. Exit code 1 says that oplat crashed, hung or ended with a code that
docs/reference/exit-codes.md does not list for a model; they are named.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.breadth_models import cpu_kernels, make_models, run_by_runtime  # noqa: E402
from lib.breadth_page import page_text  # noqa: E402
from lib.oplat import ROOT, RUNTIME, say  # noqa: E402
from lib.store import write_atomically  # noqa: E402
from lib.worker import Lost, Worker  # noqa: E402

CALL_SECONDS = 150
MODELS_PER_CAMPAIGN = 40
PLAN_SECONDS = 0.1
SAY_SECONDS = 10
REFUSALS = {2, 3, 5, 6}  # what a plan may end with
NOT_EXECUTED = ("load", "run")
SAME = "same"
NUMPY_TYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "<i1", "u64": "<u8", "u32": "<u4", "u16": "<u2",
               "u8": "<u1", "bool": "?"}


class Out(Exception):
    """The time of this run is over."""


class Steps:
    """Results of a step by the name of a model or by key, kept in a file of JSON lines."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.jsonl"
        self.of = {}
        self.lock = threading.Lock()
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                each, result = json.loads(line)
                self.of[each] = result

    def add(self, name, result):
        with self.lock:
            self.of[name] = result
            with self.path.open("a", encoding="utf-8") as out:
                out.write(json.dumps([name, result]) + "\n")


class Progress:
    """Says every few seconds how far a step is and how long the rest will take."""

    def __init__(self, what, todo):
        self.what, self.todo, self.done = what, todo, 0
        self.start = self.said = time.monotonic()

    def step(self, count=1):
        self.done += count
        now = time.monotonic()
        if now - self.said < SAY_SECONDS and self.done < self.todo:
            return
        self.said = now
        left = (now - self.start) / self.done * (self.todo - self.done)
        say(f"{self.what}: {self.done} of {self.todo}, about {left / 60:.1f} min left; load {text.load()}")


class Breadth:
    def __init__(self, arguments):
        self.oplat = str(Path(arguments.oplat).resolve())
        self.builder = str(Path(arguments.kernel_models).resolve())
        self.jobs, self.seed, self.row_seconds = arguments.jobs, arguments.seed, arguments.row_seconds
        self.folder = Path(arguments.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.table = self.folder / "breadth.oplat"
        self.models = make_models(self.folder, arguments.cases)
        self.end = time.monotonic() + arguments.seconds
        self.workers, self.local = [], threading.local()
        self.plans = Steps(self.folder, "plans")
        self.rebuilt = Steps(self.folder, "rebuilt")
        self.times = Steps(self.folder, "times")
        self.facts = Steps(self.folder, "facts")

    def left(self):
        return self.end - time.monotonic()

    def call(self, *arguments, seconds=CALL_SECONDS, late=False):
        """(exit code, standard output, standard error); the code is "hang" where it took too long.
        `late`: also after the end of this run."""
        if self.left() <= 0 and not late:
            raise Out
        with subprocess.Popen([self.oplat, *map(str, arguments)], text=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              errors="replace", start_new_session=True) as child:
            try:
                out, err = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGTERM)
                child.communicate()
                return "hang", "", f"longer than {seconds:.0f} s"
        return child.returncode, out, err

    def model(self, label):
        return self.folder / "models" / f"{label}.onnx"

    # ---- plans

    def worker(self):
        """That of this thread."""
        if not hasattr(self.local, "worker"):
            self.local.worker = Worker(self.oplat, CALL_SECONDS)
            self.workers.append(self.local.worker)
        return self.local.worker

    def ask_plan(self, path, inputs, options):
        """Keys of a model's kernels, or why there are none. `inputs`: files by name."""
        if self.left() <= 0:
            raise Out
        try:
            plan, error = self.worker().ask("plan", model=str(path), shapes={}, batch=None, inputs=inputs, setting={"threads": 1, "options": options})
        except Lost as lost:
            return {"exit": "crash", "reason": str(lost).replace(str(path), "MODEL"), "fault": True}
        if error:
            return {"exit": error["data"]["code"], "reason": error["message"].replace(str(path), "MODEL")[:600], "fault": error["data"]["code"] == "internal"}
        return {"exit": 0, "keys": [kernel["key"] for kernel in plan["kernels"]]}

    def plan_model(self, label):
        """What the worker refuses although the runtime executes it, the program itself is asked
        again, for its exit code."""
        path = self.model(label)
        plan = self.ask_plan(path, {}, {})
        if plan["exit"] != 0:
            plan["runtime"] = run_by_runtime(path, self.folder / "data" / f"{label}.npz")
        if plan["exit"] != 0 and plan["runtime"] not in NOT_EXECUTED:
            code, _, err = self.call("plan", path, "--runtime", RUNTIME, "--json", "--quiet")
            plan["fault"] = plan["fault"] or code not in REFUSALS
            plan["exit"] = code
            if err.strip():
                plan["reason"] = err.strip().splitlines()[-1][:600].replace(str(path), "MODEL")
        self.plans.add(label, plan)

    def in_parallel(self, what, todo, function, *more):
        progress = Progress(what, len(todo))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(function, *each) for each in zip(todo, *more)]
            try:
                for done in concurrent.futures.as_completed(waiting):
                    done.result()
                    progress.step()
            finally:
                pool.shutdown(cancel_futures=True)
                for worker in self.workers:
                    worker.close()
                self.workers, self.local = [], threading.local()

    def run_plans(self):
        self.in_parallel("models planned", [label for _, label, _ in self.models if label not in self.plans.of], self.plan_model)
        keys = list(dict.fromkeys(key for _, label, _ in self.models for key in self.plans.of[label].get("keys", ())))
        left = [key for key in keys if key not in self.rebuilt.of]
        files = self.folder / "kernels"
        files.mkdir(exist_ok=True)
        if left:
            self.in_parallel("kernels built again", left, self.plan_again, self.build(files, left))

    def build(self, files, keys):
        """For each key the file of its kernel, or why there is none."""
        done = subprocess.run([self.builder, str(files)], input="".join(key + "\n" for key in keys), text=True, capture_output=True, check=False)
        lines = done.stdout.splitlines()
        if done.returncode != 0 and len(keys) > 1:
            return [self.build_alone(files, i, key) for i, key in enumerate(keys)]
        if done.returncode != 0:
            return [f"fault: kernel_models ended with {done.returncode}: {done.stderr.strip()[-300:]}"]
        return [line[2:] if line.startswith("-") else (files / f"{i}.onnx", self.values(files, i, line)) for i, line in enumerate(lines)]

    @staticmethod
    def values(files, i, line):
        """Files of the inputs whose values decide what a kernel does, by name; `line` lists them:
        "fan x1:i64[3]"."""
        found = {}
        for name, dtype, dims in re.findall(r" (\w+):(\w+)\[([\d,]*)\]", line):
            raw = (files / f"{i}.{name}.bin").read_bytes()
            array = numpy.frombuffer(raw, NUMPY_TYPES[dtype]) if dtype in NUMPY_TYPES else None
            if array is not None:
                found[name] = str(files / f"{i}.{name}.npy")
                numpy.save(found[name], array.reshape([int(dim) for dim in dims.split(",") if dim]))
        return found

    def build_alone(self, files, i, key):
        folder = files / str(i)
        folder.mkdir(exist_ok=True)
        return self.build(folder, [key])[0]

    def open_kernel(self, key):
        """Why a campaign has no time of the kernel; None if it runs."""
        try:
            opened, error = self.worker().ask("open", key=key, copies=3, setting={"threads": 1, "options": {}}, topology="auto", distinct_weights=False, seed=1)
            if error:
                return {"outcome": f"failed: {error['message']}"[:600], "fault": error["data"]["code"] == "internal"}
            if "opened" not in opened:
                return {"outcome": ": ".join(map(str, next(iter(opened.items()))))[:600], "fault": False}
            self.worker().ask("close", handle=opened["opened"]["handle"])
        except Lost as lost:
            return {"outcome": f"crash: {lost}", "fault": True}
        return None

    def plan_again(self, key, built):
        if isinstance(built, str):
            self.rebuilt.add(key, {"outcome": built, "fault": built.startswith("fault")})
            return
        if failed := self.open_kernel(key):
            self.rebuilt.add(key, failed)
            return
        again = self.ask_plan(*built, {"level": "0"})
        if again["exit"] != 0:
            outcome = f"{again['exit']}: {again['reason']}"
        else:
            outcome = SAME if key in again["keys"] else "another key: " + " ".join(again["keys"] or ["none"])[:1500]
        self.rebuilt.add(key, {"outcome": outcome, "fault": again.get("fault", False)})

    # ---- times

    def rounds(self):
        """Lists of planned models: the first holds one of each operator, and so on."""
        chosen = defaultdict(list)
        for operator, label, _ in self.models:
            if self.plans.of.get(label, {}).get("exit") == 0 and self.plans.of[label]["keys"]:
                chosen[operator].append(label)
        generator = random.Random(self.seed)
        for labels in chosen.values():
            generator.shuffle(labels)
        longest = max(map(len, chosen.values()), default=0)
        for number in range(longest):
            of_round = [labels[number] for labels in chosen.values() if number < len(labels)]
            generator.shuffle(of_round)
            yield of_round

    def run_times(self):
        self.facts.add("load_before", text.load())
        all_rounds = list(self.rounds())
        done = sum(len(labels) for labels in all_rounds)
        left = [[label for label in labels if label not in self.times.of] for labels in all_rounds]
        say(f"{done} models planned, {done - sum(map(len, left))} of them compared already; {self.left() / 60:.0f} min")
        try:
            for number, labels in enumerate(left, 1):
                self.measure_round(number, labels)
        finally:
            self.facts.add("load_after", text.load())

    def measure_round(self, number, labels):
        for at in range(0, len(labels), MODELS_PER_CAMPAIGN):
            some = labels[at:at + MODELS_PER_CAMPAIGN]
            rows = len(some) + len({key for label in some for key in self.plans.of[label]["keys"]} - self.measured_keys())
            budget = rows * self.row_seconds
            if self.left() < budget + 2 * PLAN_SECONDS * len(some):
                raise Out
            say(f"round {number}: models {at + 1} to {at + len(some)} of {len(labels)}, {rows} rows in {budget:.0f} s; {self.left() / 60:.1f} min left; "
                f"load {text.load()}")
            models = [argument for label in some for argument in ("--model", self.model(label))]
            self.call("profile", *models, "--table", self.table, "--runtime", RUNTIME, "--budget", f"{budget:.0f}s", "--quiet",
                      seconds=budget + CALL_SECONDS)
            self.compare(some)

    def measured_keys(self):
        """Keys of which the table has a row, whatever came of it."""
        return {key for key, in self.select("SELECT DISTINCT kernel.key FROM row JOIN kernel ON kernel.id = row.kernel")}

    def select(self, statement):
        if not self.table.exists():
            return []
        with sqlite3.connect(f"file:{self.table}?mode=ro", uri=True) as table:
            return table.execute(statement).fetchall()

    def compare(self, labels):
        measured = {Path(name).stem for name, in self.select("SELECT name FROM model_row WHERE outcome = 'timing'")}
        for label in labels:
            if label not in measured:
                self.times.add(label, {"reason": "the whole model was not measured"})
        labels = [label for label in labels if label in measured]
        if not labels:
            return
        code, out, err = self.call("validate", *map(self.model, labels), "--table", self.table, "--runtime", RUNTIME, "--json", "--quiet",
                                   late=True, seconds=CALL_SECONDS * 2)
        if not out.startswith("{"):
            if len(labels) == 1:
                self.times.add(labels[0], {"reason": err.strip()[-300:], "exit": code})
            else:
                for label in labels:
                    self.compare([label])
            return
        found = json.loads(out)
        by_label = {Path(model["name"]).stem: model for model in found["models"]}
        for label in labels:
            self.times.add(label, by_label.get(label, {"reason": "it was not measured", "exit": code}))

    # ---- the page

    def reasons(self):
        """Of rows without a time, by key."""
        found = self.select("SELECT kernel.key, row.reason FROM row JOIN kernel ON kernel.id = row.kernel WHERE row.outcome <> 'timing'")
        return dict(found)

    def faults(self):
        return [f"{name}: {result.get('reason') or result['outcome']}" for steps in (self.plans, self.rebuilt) for name, result in steps.of.items()
                if result.get("fault") and result.get("runtime") not in NOT_EXECUTED]

    def write_page(self, page):
        worker = Worker(self.oplat, CALL_SECONDS)
        worker.start()
        worker.close()
        version = subprocess.run([self.oplat, "version"], text=True, capture_output=True, cwd=ROOT, check=False).stdout.strip()
        write_atomically(page, page_text(self, version, worker.hello, cpu_kernels()))

    def forget(self):
        """Makes room for another try of what was refused, or not built again with the same key."""
        keys = {key for key, each in self.rebuilt.of.items() if each["outcome"] != SAME}
        bad = {label for label, plan in self.plans.of.items() if keys.intersection(plan.get("keys", ())) or
               plan["exit"] != 0 and plan["runtime"] not in NOT_EXECUTED}
        for steps, names in ((self.plans, bad), (self.rebuilt, keys)):
            kept = {name: result for name, result in steps.of.items() if name not in names}
            write_atomically(steps.path, "".join(json.dumps([name, result]) + "\n" for name, result in kept.items()))
            steps.of = kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("plan", "times", "page"), help="what to do; page only writes the page of what is there")
    parser.add_argument("--oplat", default="build/release/oplat", help="program under test (default %(default)s)")
    parser.add_argument("--kernel-models", default="build/release/kernel_models", help="the program kernel_models of bench (default %(default)s)")
    parser.add_argument("--folder", default="build/breadth", help="where models, table and results are kept (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600, help="time of this run (default %(default)s)")
    parser.add_argument("--cases", type=int, default=6, help="test models an operator, when the models are made (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time, of the part plan (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of models whose times are compared (default %(default)s)")
    parser.add_argument("--row-seconds", type=float, default=0.5, help="of a kernel or whole model in the part times: two to four blocks (default %(default)s)")
    parser.add_argument("--retry", action="store_true", help="try again what was refused or not built again with the same key")
    parser.add_argument("--page", default="docs/reference/support.md", help="page to write (default %(default)s)")
    arguments = parser.parse_args()
    run = Breadth(arguments)
    if arguments.retry:
        run.forget()
    try:
        if arguments.part == "plan":
            run.run_plans()
        elif arguments.part == "times":
            run.run_times()
    except Out:
        say("the time is over; run it again to go on")
    except KeyboardInterrupt:
        say("interrupted; run it again to go on")
    run.write_page(Path(arguments.page))
    for fault in run.faults():
        say(f"fault: {fault}")
    return 1 if run.faults() else 0


if __name__ == "__main__":
    sys.exit(main())
