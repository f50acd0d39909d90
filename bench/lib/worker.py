# SPDX-License-Identifier: Apache-2.0
"""A worker of the program under test, asked by its protocol (docs/reference/worker-protocol.md):
many models in one process."""
import json
import os
import select
import signal
import subprocess
import tempfile

from lib.oplat import ROOT, RUNTIME

LAST_WORDS = 600


class Lost(Exception):
    """The worker ended or did not answer in time."""


class Worker:
    """Started at the first request, and again after a crash."""

    def __init__(self, program, seconds):
        self.program, self.seconds = program, seconds
        self.child = self.stderr = self.hello = None
        self.number = 0

    def start(self):
        self.stderr = tempfile.TemporaryFile("w+", errors="replace")
        self.child = subprocess.Popen([self.program, "worker", RUNTIME], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
                                      text=True, start_new_session=True, env={**os.environ, "ORT_DISABLE_TELEMETRY": "1"})
        self.hello, _ = self.ask("hello", protocol=1)

    def ask(self, method, **parameters):
        """(result, None) or (None, error); raises Lost."""
        if self.child is None:
            self.start()
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        try:
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            self.lose("it ended")
        if not select.select([self.child.stdout], [], [], self.seconds)[0]:
            self.lose(f"no answer within {self.seconds} s")
        line = self.child.stdout.readline()
        if not line.endswith("\n"):
            self.lose("it ended")
        answer = json.loads(line)
        return answer.get("result"), answer.get("error")

    def lose(self, why):
        try:
            code = self.child.wait(1)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            code = self.child.wait()
        self.stderr.seek(0)
        words = " ".join(self.stderr.read()[-LAST_WORDS:].split())
        self.child = None
        raise Lost(f"{why}, exit status {code}: {words}")

    def close(self):
        if self.child is not None:
            self.child.stdin.close()
            self.child.wait()
            self.child = None
