# SPDX-License-Identifier: Apache-2.0
"""One JSON request and one JSON answer a line between scripts/models and the two interpreters that make networks."""

import json
import os
import subprocess
import sys
import traceback


class NotStarted(Exception):
    """The interpreter ended before its first request: something that it imports is not installed."""


class Helper:
    """A child interpreter that stays alive, since importing torch or onnxruntime takes longer than making most networks."""

    def __init__(self, python, module, folder):
        environment = dict(os.environ, OMP_NUM_THREADS="1", ORT_DISABLE_TELEMETRY="1", PYTHONDONTWRITEBYTECODE="1")
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(python), "-W", "ignore", "-m", module], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self._process.stdout.readline():
            raise NotStarted(f"{python} -m {module} ended with status {self._process.wait()}")

    def ask(self, **request):
        """The answer, or RuntimeError with the reason for which there is none."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"{self._process.args[0]} ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ended(self):
        return self._process.poll() is not None

    def close(self):
        if not self.ended():
            self._process.stdin.close()
        self._process.wait()


def serve(handle):
    """Greets, then answers requests until standard input ends. Whatever libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answers.write("{}\n")
    answers.flush()
    for line in sys.stdin:
        try:
            answer = handle(**json.loads(line))
        except Exception as error:  # the caller reports it next to the network's name and goes on with the next one
            if os.environ.get("OPLAT_ZOO_TRACEBACK"):
                traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
