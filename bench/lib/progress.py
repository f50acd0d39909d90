# SPDX-License-Identifier: Apache-2.0
"""Steps of a long command: their results in a file of JSON lines, and how long the rest will
take."""
import json
import os
import time
from pathlib import Path

from lib.oplat import say


class Lines:
    """Results by name, one JSON line each; a line that a kill cut short is dropped, and its step is
    done again."""

    def __init__(self, path):
        self.path = Path(path)
        self.of = {}
        kept = []
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []:
            try:
                result = json.loads(line)
            except ValueError:
                continue
            self.of[result["name"]] = result
            kept.append(line + "\n")
        if kept:
            self.path.write_text("".join(kept), encoding="utf-8")

    def add(self, result):
        self.of[result["name"]] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
            file.flush()
            os.fsync(file.fileno())


class Progress:
    """Says after each step how many are done and, from the pace of this run, when the last will
    be."""

    def __init__(self, total, done):
        self.total, self.done, self.of_run, self.start = total, done, 0, time.monotonic()

    def step(self, what):
        self.done += 1
        self.of_run += 1
        left = (time.monotonic() - self.start) / self.of_run * (self.total - self.done)
        say(f"[{self.done}/{self.total}] {what}; {left / 60:.1f} min left")
