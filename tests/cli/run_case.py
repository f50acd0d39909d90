#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs command-line cases, each in an empty folder of its own, and counts them.

A case is a text file. Its name is what it claims; it consists of steps:

  needs WHAT            skip if WHAT is not there: models (scripts/models tests), a user without root's rights
                        (unprivileged), or one of the runtimes onnxruntime, qnnpack, paddle, mnn
  file NAME:            makes a file of the indented lines that follow
  write NAME TEXT       makes a file of one line, with backslash escapes as in Python and no line end of its own
  mkdir NAME
  readonly NAME         takes the write permission away
  $ COMMAND             a script of bash, which indented lines may continue. `oplat` is the program under test, $MODELS
                        the folder of test networks, $DATA that of data/, $CASES that of this
                        script; the cache is empty

and of what the command before them did:

  exit N                its exit status (0 if not said)
  stdout:               all that it printed, as the indented lines that follow (see ../expected_output.py); `stderr:`
  no-stdout             it printed nothing; `no-stderr`
  stdout REGEX          some line of what it printed matches; `stderr`
  not-stdout REGEX      no line matches; `not-stderr`
  json PATH VALUE       it printed a JSON document with VALUE at PATH: `json kernels[0].source measured`. [*] is every
                        element, `.length` a number of elements or members; VALUE is JSON or a bare
                        word, LOW..HIGH a range, `exists` anything but null

Lines are indented by two spaces. In files and in what is printed, \\t is a tab. Lines that begin
with # are comments. A long write, stdout or stderr goes on in indented lines, too: what stands
after two spaces follows at once, so that a third space separates two words.

OPLAT_TEST_REQUIRE=1 turns skips into failures, except what a fresh clone cannot avoid: the wheel of
Paddle, which scripts/setup could not install, and running as root.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from expected_output import mismatch, updated  # noqa: E402
from runtime_state import why_missing  # noqa: E402

SKIP = 77
SECONDS = 240  # for one command; a sanitizer on a busy machine is slow
HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
NEEDS = ("mnn", "models", "onnxruntime", "paddle", "qnnpack", "unprivileged")
UNAVOIDABLE = ("mnn", "paddle", "unprivileged")
SETTINGS = ("needs", "file", "write", "mkdir", "readonly", "$")
# by indented lines, joined without a break
CONTINUED = ("write", "stdout", "stderr", "not-stdout", "not-stderr")
BLOCKS = re.compile(r"(file \S+|stdout|stderr):")


class Failure(Exception):
    """What a step expected and did not find."""


class Step:
    """One step: its word, the rest of its line, the indented lines below it, and where these lie in
    the file."""

    def __init__(self, line, text):
        self.line, self.body = line, []
        self.is_block = BLOCKS.fullmatch(text) is not None
        self.word, _, self.rest = (text[:-1] if self.is_block else text).partition(" ")

    @property
    def takes_lines(self):
        return self.is_block or self.word == "$" or self.word in CONTINUED

    def join(self):
        if self.word in CONTINUED and not self.is_block:
            self.rest, self.body = "".join([self.rest, *self.body]), []


def steps_of(text):
    steps, blank = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("  "):
            if not steps or not steps[-1].takes_lines:
                raise Failure(f"line {number}: an indented line, but nothing that it continues")
            steps[-1].body += [""] * blank + [line[2:]]
            blank = 0
        elif not line.strip():
            blank += 1 if steps and steps[-1].body else 0
        elif not line.startswith("#"):
            steps.append(Step(number, line))
            blank = 0
        else:
            blank = 0
    for step in steps:
        step.join()
    return steps


def with_tabs(lines):
    return [line.replace("\\t", "\t") for line in lines]


def values_at(document, path):
    """Every value at a path such as a.b[0].c, a[*].b or a.length."""
    found = [document]
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+|\*)\]", path):
        if index == "*":
            found = [each for value in found for each in value]
        elif index:
            found = [value[int(index)] for value in found]
        elif name == "length" and not any(isinstance(value, dict) and name in value for value in found):
            found = [len(value) for value in found]
        else:
            found = [value[name] for value in found]
    return found


def is_value(value, expected):
    if expected == "exists":
        return value is not None
    if bounds := re.fullmatch(r"(-?[\d.e+-]+)\.\.(-?[\d.e+-]+)", expected):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and float(bounds[1]) <= value <= float(bounds[2])
    try:
        wanted = json.loads(expected)
    except ValueError:
        wanted = expected
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


class Command:
    """A command that ran; its checks follow, its exit status is checked when the next command
    starts."""

    def __init__(self, step, folder, environment):
        self.step, self.expected_status = step, 0
        self.script = "\n".join([step.rest, *step.body])
        try:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", self.script], capture_output=True, text=True,
                                  timeout=SECONDS, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                                  errors="replace")
        except subprocess.TimeoutExpired:
            raise Failure(f"line {step.line}: $ {self.script}\nstill running after {SECONDS} s") from None
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    def fail(self, what, line):
        raise Failure(f"line {line}: $ {self.script}\n{what}\nexit {self.status}\n"
                      f"--- stdout\n{self.stdout}--- stderr\n{self.stderr}")

    def check_status(self):
        if self.status != self.expected_status:
            self.fail(f"expected exit {self.expected_status}", self.step.line)

    def check(self, step):
        word, rest = step.word, step.rest
        if word == "exit":
            self.expected_status = int(rest)
        elif word == "json":
            self.check_json(step)
        elif match := re.fullmatch(r"(no-|not-)?(stdout|stderr)", word):
            printed = getattr(self, match[2]).splitlines()
            if step.is_block:
                if problem := mismatch(with_tabs(step.body), printed):
                    self.fail(f"{match[2]} differs (--update rewrites the case):\n{problem}", step.line)
            elif match[1] == "no-" and printed:
                self.fail(f"expected no {match[2]}", step.line)
            elif match[1] == "not-" and any(re.search(rest, line) for line in printed):
                self.fail(f"a line of {match[2]} matches: {rest}", step.line)
            elif match[1] is None and not any(re.search(rest, line) for line in printed):
                self.fail(f"no line of {match[2]} matches: {rest}", step.line)
        else:
            raise Failure(f"line {step.line}: unknown step: {word}")

    def check_json(self, step):
        path, _, expected = step.rest.partition(" ")
        if not expected:
            raise Failure(f"line {step.line}: no value; write json PATH VALUE")
        try:
            values = values_at(json.loads(self.stdout), path)
        except ValueError as error:
            self.fail(f"no JSON document: {error}", step.line)
        except (KeyError, IndexError, TypeError) as error:
            self.fail(f"the document has no {path}: {error}", step.line)
        if not values:
            self.fail(f"the document has nothing at {path}", step.line)
        for value in values:
            if not is_value(value, expected):
                self.fail(f"{path} is {json.dumps(value)}, expected {expected}", step.line)


class Runner:
    """Runs cases with one program and one folder of networks; from several threads at a time."""

    def __init__(self, oplat, models, update):
        self.oplat, self.models, self.update = oplat, models, update
        self.skips, self.lock = {}, threading.Lock()

    def skip_reason(self, need):
        """Why what a case needs is not there; None if it is. Asked once for all cases."""
        with self.lock:
            if need not in self.skips:
                self.skips[need] = self.find_skip_reason(need)
            return self.skips[need]

    def find_skip_reason(self, need):
        if need not in NEEDS:
            raise Failure(f"unknown need: {need}; known are {', '.join(NEEDS)}")
        if need == "models":
            known = self.models / "tiny_cnn.onnx"
            return None if known.exists() else f"no {known}; make it with scripts/models tests"
        if need == "unprivileged":
            return "root may write everywhere" if os.geteuid() == 0 else None
        return why_missing(self.oplat, need)

    def run(self, case):
        """Runs a case: "passed", "failed" or "skipped", what there is to say about it, and its
        seconds."""
        began = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="oplat-case."))
        try:
            outcome, text = self.run_in(case, folder)
        except Failure as failure:
            outcome, text = "failed", str(failure)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome, text, time.monotonic() - began

    def run_in(self, case, folder):
        environment = dict(os.environ, MODELS=str(self.models), DATA=str(DATA), CASES=str(HERE), NO_COLOR="1",
                           PATH=f"{Path(self.oplat).parent}:{os.environ['PATH']}", XDG_CACHE_HOME=str(folder / "cache"))
        for name in ("OPLAT_TABLE", "OPLAT_TABLES"):
            environment.pop(name, None)
        command, changes = None, {}
        for step in steps_of(case.read_text(encoding="utf-8")):
            if step.word in SETTINGS and command is not None:
                command.check_status()
            if step.word == "needs":
                if reason := self.skip_reason(step.rest):
                    required = os.environ.get("OPLAT_TEST_REQUIRE") == "1" and step.rest not in UNAVOIDABLE
                    return ("failed", f"OPLAT_TEST_REQUIRE is set, but {reason}") if required else ("skipped", reason)
            elif step.word == "file":
                (folder / step.rest).write_text("".join(line + "\n" for line in with_tabs(step.body)), encoding="utf-8")
            elif step.word == "write":
                name, _, text = step.rest.partition(" ")
                (folder / name).write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
            elif step.word == "mkdir":
                (folder / step.rest).mkdir()
            elif step.word == "readonly":
                os.chmod(folder / step.rest, 0o555 if (folder / step.rest).is_dir() else 0o444)
            elif step.word == "$":
                command = Command(step, folder, environment)
            elif command is None:
                raise Failure(f"line {step.line}: a check before any command")
            elif self.update and step.is_block:
                printed = getattr(command, step.word).replace("\t", "\\t").splitlines()
                changes[step.line] = updated(step.body, printed)
            else:
                command.check(step)
        if command is None:
            raise Failure("the case runs nothing")
        command.check_status()
        if changes:
            rewrite(case, changes)
        return "passed", ""


def rewrite(case, changes):
    """Puts new indented lines below the steps at the given lines of a case."""
    lines, result, skipping = case.read_text(encoding="utf-8").splitlines(), [], False
    for number, line in enumerate(lines, 1):
        following = next((later for later in lines[number:] if later.strip()), "")
        if skipping and (line.startswith("  ") or (not line.strip() and following.startswith("  "))):
            continue
        skipping = number in changes
        result.append(line)
        if skipping:
            result += ["  " + each if each else "" for each in changes[number]]
    case.write_text("\n".join(result) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Runs command-line cases (the head of this file says their form).")
    parser.add_argument("oplat", help="the program under test")
    parser.add_argument("cases", help="a case, or a folder of *.test files")
    parser.add_argument("models", help="the folder of test networks")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cases at a time (default 1)")
    parser.add_argument("--only", default="", metavar="REGEX", help="run the cases whose name matches")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="run every N-th case, from the I-th on")
    parser.add_argument("--update", action="store_true", help="rewrite the blocks stdout: and stderr: to what is printed")
    parser.add_argument("--times", type=int, default=0, metavar="N", help="list the N slowest cases")
    options = parser.parse_args()
    path = Path(options.cases).resolve()
    cases = [path] if path.is_file() else sorted(path.glob("*.test"))
    cases = [case for case in cases if re.search(options.only, case.stem)]
    if not cases:
        parser.error(f"no case in {path}")
    shard, shards = (int(number) for number in options.shard.split("/"))
    cases = cases[shard - 1 :: shards]
    runner = Runner(os.path.abspath(options.oplat), Path(options.models).resolve(), options.update)
    counts, times = {"passed": 0, "failed": 0, "skipped": 0}, []
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, (outcome, text, seconds) in zip(cases, pool.map(runner.run, cases)):
            counts[outcome] += 1
            times.append((seconds, case.stem))
            if outcome != "passed":
                print(f"{outcome}: {case.stem}: {text.rstrip()}", flush=True)
    for seconds, name in sorted(times, reverse=True)[: options.times]:
        print(f"{seconds:6.1f} s  {name}")
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else SKIP if not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
