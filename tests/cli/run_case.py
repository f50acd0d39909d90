#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one case of the command line in an empty folder.

A case is a text file of steps:
  needs onnxruntime     skip (exit 77) where that runtime does not answer
  needs qnnpack         likewise
  needs paddle          likewise, even where everything else is required: its wheel is large
  needs models          skip where models/tests has not been made
  write NAME TEXT       makes a file (backslash escapes as in Python)
  mkdir NAME
  readonly NAME         takes the write permission away
  $ COMMAND             a shell command; `oplat` is the executable under test, $MODELS the folder of test networks, $DATA that of data/, $CASES that of
                        this script
  exit N                of the command before it: checked before the next step (default 0)
  stdout REGEX          some line of stdout matches
  stderr REGEX          some line of stderr matches
  no-stdout             stdout is empty
  not-stdout REGEX      no line of stdout matches
Lines that begin with # are comments.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
DATA = Path(__file__).resolve().parents[2] / "data"


class Failure(Exception):
    pass


class Run:
    """A command that ran, checked when the next one starts."""

    def __init__(self, command, environment):
        self.command = command
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=240, env=environment,
                              stdin=subprocess.DEVNULL, errors="replace")
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.expected_status = 0

    def fail(self, what):
        raise Failure(f"$ {self.command}\n{what}\nexit {self.status}\n--- stdout\n{self.stdout}--- stderr\n{self.stderr}")

    def check_status(self):
        if self.status != self.expected_status:
            self.fail(f"expected exit {self.expected_status}")

    def check(self, word, rest):
        if word == "exit":
            self.expected_status = int(rest)
        elif word in ("stdout", "stderr"):
            if not any(re.search(rest, line) for line in getattr(self, word).splitlines()):
                self.fail(f"no line of {word} matches: {rest}")
        elif word == "no-stdout":
            if self.stdout:
                self.fail("expected no stdout")
        elif word == "not-stdout":
            if any(re.search(rest, line) for line in self.stdout.splitlines()):
                self.fail(f"a line of stdout matches: {rest}")
        else:
            raise Failure(f"unknown step: {word}")


def skip_reason(need, oplat, models):
    if need == "models" and not (models / "tiny_cnn.onnx").exists():
        return f"no {models}/tiny_cnn.onnx; make it with scripts/models tests"
    if need == "onnxruntime":
        probe = subprocess.run([oplat, "plan", str(models / "tiny_cnn.onnx"), "--runtime", "onnxruntime"], capture_output=True, text=True)
        if probe.returncode == 5:
            return probe.stderr.strip()
    if need in ("qnnpack", "paddle"):
        listed = json.loads(subprocess.run([oplat, "runtimes", "--json"], capture_output=True, text=True).stdout)
        entry = next(runtime for runtime in listed["runtimes"] if runtime["name"] == need)
        if not entry["available"]:
            return entry["why"]
    if need == "unprivileged" and os.geteuid() == 0:
        return "the superuser may write everywhere"
    if need not in ("models", "onnxruntime", "paddle", "qnnpack", "unprivileged"):
        raise Failure(f"unknown need: {need}")
    return None


def run_case(oplat, case, models):
    environment = dict(os.environ, MODELS=str(models), DATA=str(DATA), CASES=str(Path(__file__).resolve().parent), PATH=f"{Path(oplat).parent}:{os.environ['PATH']}", NO_COLOR="1")
    for name in ("OPLAT_TABLE", "OPLAT_TABLES"):
        environment.pop(name, None)
    run = None
    for line in case.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word in ("needs", "write", "mkdir", "readonly", "$") and run is not None:
            run.check_status()
        if word == "needs":
            reason = skip_reason(rest, oplat, models)
            if reason and os.environ.get("OPLAT_TEST_REQUIRE") == "1" and rest not in ("paddle", "unprivileged"):
                raise Failure(f"OPLAT_TEST_REQUIRE is set, but {reason}")
            if reason:
                print(f"skipped: {reason}")
                return SKIP
        elif word == "write":
            name, _, text = rest.partition(" ")
            Path(name).write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
        elif word == "mkdir":
            Path(rest).mkdir()
        elif word == "readonly":
            os.chmod(rest, 0o555 if Path(rest).is_dir() else 0o444)
        elif word == "$":
            run = Run(rest, environment)
        elif run is None:
            raise Failure(f"a check before any command: {line}")
        else:
            run.check(word, rest)
    if run is None:
        raise Failure("the case runs nothing")
    run.check_status()
    return 0


def main():
    oplat, case, models = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    folder = tempfile.mkdtemp(prefix="oplat-case.")
    os.chdir(folder)
    try:
        return run_case(oplat, case, models)
    except Failure as failure:
        print(failure)
        return 1
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
