# SPDX-License-Identifier: Apache-2.0
"""Calls of the program under test."""
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

from lib.store import write_atomically

ROOT = Path(__file__).resolve().parents[2]
PINNED_PYTHON = ROOT / ".venv" / "bin" / "python"
RESULTS = ROOT / "docs" / "results"  # where pages are written
RUNTIME = "onnxruntime"
SAVE_SECONDS = 20
STOP_SECONDS = 30


class Failed(Exception):
    """A call ended with another exit code than the ones allowed."""


class Oplat:
    """One binary of oplat. Calls run in the root of the project, where the runtime of .venv is
    found: name files in full."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        if not self.path.is_file():
            raise Failed(f"{self.path}: no such program; build it with scripts/build release")

    def command(self, *arguments):
        return [str(self.path), *map(str, arguments)]

    def text(self, *arguments, allowed=(0,), quiet=False):
        """Standard output of a call; its messages go to ours."""
        command = self.command(*arguments)
        done = subprocess.run(command, text=True, check=False, cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL if quiet else None)
        if done.returncode not in allowed:
            raise Failed(f"{' '.join(command)}: exit {done.returncode}")
        return done.stdout

    def json(self, *arguments, **options):
        return json.loads(self.text(*arguments, "--json", **options))

    def composition(self, table, folder, families, *options):
        """`oplat fit` of the composition, each network predicted from the other families.
        `families`: file name -> family. None where too few networks were measured well enough to
        teach."""
        groups = folder / "groups.tsv"
        write_atomically(groups, "".join(f"{name}\t{family}\n" for name, family in families.items()))
        try:
            document = self.json("fit", table, "--only", "composition", "--groups", groups, *options, "--dry-run", quiet=True)
        except Failed:
            return None
        return document if document["composition"] else None

    def version(self):
        return self.text("version").strip()

    def digest(self):
        """Of everything that measures: the program, the library of workers next to it, and the
        workers in Python."""
        parts = [self.path, *sorted(self.path.parent.glob("liboplat_worker.so.*")), *sorted((ROOT / "python/oplat/workers").rglob("*.py"))]
        total = hashlib.sha256()
        for part in parts:
            total.update(hashlib.sha256(part.read_bytes()).digest())
        return total.hexdigest()[:16]

    def require_same(self, store, table):
        """Binds the measurements of `store` to this program; Failed if another one made them."""
        binary = store.section("binary")
        now = {"digest": self.digest(), "version": self.version()}
        if binary and binary["digest"] != now["digest"]:
            raise Failed(f"{table}: was measured by another program or other workers ({binary['version']}), and this is {now['version']}; begin in another "
                         "--folder, or write the page of what is there with --skip-measuring")
        binary.update(now)
        store.save()

    def timed_json(self, seconds, save, *arguments):
        """A long call. Adds its time to seconds["seconds"] while it runs and calls save(), so that
        a kill loses little."""
        before, start = seconds.get("seconds", 0.0), time.monotonic()
        with subprocess.Popen(self.command(*arguments, "--json"), text=True, cwd=ROOT, stdout=subprocess.PIPE) as child:
            try:
                while True:
                    try:
                        output, _ = child.communicate(timeout=SAVE_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        seconds["seconds"] = before + time.monotonic() - start
                        save()
            except BaseException:
                # Ctrl-C has reached the child, too: it stores what it has, and a second signal
                # would end it at once.
                try:
                    child.wait(timeout=STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    child.terminate()
                    child.wait()
                raise
            finally:
                seconds["seconds"] = before + time.monotonic() - start
                save()
        if child.returncode != 0:
            raise Failed(f"oplat {arguments[0]}: exit {child.returncode}; run this command again to resume")
        return json.loads(output)


def say(text):
    print(text, file=sys.stderr, flush=True)
