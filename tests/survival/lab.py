# SPDX-License-Identifier: Apache-2.0
"""What the survival tests share: a recorded table whose replay is a fast campaign, and looks into a
table from outside."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIP = 77
RECORDING = "recorded.oplat"
KEYS = "keys.txt"
# for what takes a second: only a hang is longer, on the slowest machine and under sanitizers
PATIENCE_S = 120


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def wait_until(condition, what):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            raise Failure(f"waited {PATIENCE_S} s in vain until {what}")
        time.sleep(0.005)


class Lab:
    """A folder with a copy of the recording, whose path no other process knows; oplat on it."""

    def __init__(self, oplat, recording, folder):
        self.oplat = oplat
        self.folder = Path(folder)
        for name in (RECORDING, KEYS):
            shutil.copy(Path(recording) / name, self.folder / name)
        self.source = self.folder / RECORDING
        self.keys = (self.folder / KEYS).read_text().split()

    def command(self, table, *more):
        # The recording's noise is small, so every row ends with exactly as many blocks as are asked
        # for.
        return [self.oplat, "profile", "--keys", str(self.folder / KEYS), "--table", str(table), "--runtime", "replay",
                "--worker-argument", str(self.source), "--quiet", *more]

    def start(self, table, *more):
        return subprocess.Popen(self.command(table, *more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def run(self, *words):
        return subprocess.run([self.oplat, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=PATIENCE_S)

    def profile(self, table, *more, expect=0):
        done = subprocess.run(self.command(table, *more), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=PATIENCE_S)
        check(done.returncode == expect, f"exit {done.returncode} instead of {expect}\n{done.stdout}{done.stderr}")
        return done

    def workers(self):
        """Ids of processes that were started with this lab's recording."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"worker" in words and os.fsencode(self.source) in words:
                    found.append(int(entry.name))
        return found

    def check_opens(self, table):
        shown = self.run("table", "info", table)
        check(shown.returncode == 0, f"the table does not open: exit {shown.returncode}\n{shown.stderr}")
        with contextlib.closing(sqlite3.connect(table, timeout=PATIENCE_S)) as database:
            found = database.execute("PRAGMA integrity_check").fetchall()
            check(found == [("ok",)], f"integrity_check: {found}")
            check(database.execute("PRAGMA foreign_key_check").fetchall() == [], "foreign_key_check finds rows")


def blocks_by_row(table):
    """(key, reuse_bytes) -> number of blocks."""
    with contextlib.closing(sqlite3.connect(table, timeout=PATIENCE_S)) as database:
        rows = database.execute('SELECT kernel.key, row.reuse_bytes, (SELECT count(*) FROM block WHERE block."row" = row.id) '
                                "FROM row JOIN kernel ON kernel.id = row.kernel").fetchall()
    return {(key, reuse): count for key, reuse, count in rows}


def blocks(table):
    """Blocks that another process can see now; 0 before the table has any."""
    if not Path(table).exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(table, timeout=PATIENCE_S)) as database:
            return database.execute("SELECT count(*) FROM block").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return 0
        raise


def end(process):
    """Whatever a failed check left running."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.communicate()


def main(test):
    """Runs test(lab) in a folder of its own: argv is the executable and the folder of the
    recording."""
    oplat, recording = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="oplat-survival-") as folder:
        try:
            test(Lab(oplat, recording, folder))
        except Skipped as reason:
            print(f"skipped: {reason}")
            sys.exit(SKIP)
        except Failure as failure:
            print(f"failed: {failure}", file=sys.stderr)
            sys.exit(1)


def summary(done):
    return json.loads(done.stdout)
