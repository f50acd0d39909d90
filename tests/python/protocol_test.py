# SPDX-License-Identifier: Apache-2.0
"""The loop of Python workers, with a worker that stands still: a clock of its own makes its times."""
import json
import os
import subprocess
import sys
import unittest

FAKE = """
import sys
from oplat.workers import protocol
from oplat.workers.errors import Failed, Skipped, Unsupported, WorkerError
from oplat.workers.probe import Probe

class Fake:
    def __init__(self):
        self.probe = Probe()
        self.open_handles = set()

    def hello(self):
        return {"runtime": "fake", "version": "1", "device": self.probe.device()}

    def plan(self, request):
        print("a runtime that prints")
        raise WorkerError("input", request["model"] + ": no model")

    def open(self, request):
        kinds = {"unsupported": Unsupported, "skipped": Skipped, "failed": Failed}
        if request["key"] in kinds:
            raise kinds[request["key"]]("because")
        if request["key"] == "bug":
            raise ZeroDivisionError("a bug")
        self.open_handles.add(1)
        return {"handle": 1, "bytes": 8, "topology": "single"}

    def run(self, handle):
        if handle not in self.open_handles:
            raise Failed(f"no open handle {handle}")
        begin = self.probe.now_ns()
        sum(range(1000))
        return self.probe.now_ns() - begin

    def close(self, handle):
        self.open_handles.discard(handle)

descriptor = protocol.claim_descriptor()
failure = WorkerError("runtime", "not here") if sys.argv[1:] == ["absent"] else None
sys.exit(protocol.serve(protocol.Server(Fake(), failure), sys.stdin.buffer, descriptor))
"""


def talk(*lines, arguments=()):
    """Answers to lines (objects or bytes), and the status with which the worker ended."""
    data = b""
    for number, line in enumerate(lines, 1):
        if isinstance(line, tuple):
            line = {"jsonrpc": "2.0", "id": number, "method": line[0], "params": line[1]}
        data += line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
    done = subprocess.run([sys.executable, "-B", "-c", FAKE, *arguments], input=data, capture_output=True, timeout=60, check=False,
                          env=os.environ)
    return [json.loads(answer) for answer in done.stdout.splitlines()], done.returncode


OPEN = ("open", {"key": "Relu{}(f32[1])->(&0)"})
SHUTDOWN = ("shutdown", {})


class Protocol(unittest.TestCase):
    def test_a_session_from_hello_to_shutdown(self):
        answers, status = talk(("hello", {"protocol": 1}), OPEN, ("block", {"handles": [1, 1], "duration_ns": 1000, "least_rounds": 4}),
                               ("close", {"handle": 1}), SHUTDOWN)
        self.assertEqual(status, 0)
        self.assertEqual([answer["id"] for answer in answers], [1, 2, 3, 4, 5])
        hello, opened, block = (answer["result"] for answer in answers[:3])
        self.assertEqual(hello["protocol"], 1)
        self.assertGreaterEqual(hello["device"]["cores"], 1)
        self.assertEqual(opened, {"opened": {"handle": 1, "bytes": 8, "topology": "single"}})
        samples = block["samples"]
        self.assertEqual([len(times) >= 4 for times in samples["ns"]], [True, True])
        self.assertEqual(len(samples["ns"][0]), len(samples["ns"][1]))
        self.assertGreater(samples["reference_compute_ns"], 0)
        self.assertGreater(samples["reference_memory_ns"], 0)

    def test_scrub_and_wake_and_no_references(self):
        answers, _ = talk(OPEN, ("block", {"handles": [1], "duration_ns": 0, "least_rounds": 2, "scrub_bytes": 65536, "wake": 1,
                                           "references": False}), SHUTDOWN)
        samples = answers[1]["result"]["samples"]
        self.assertEqual(len(samples["ns"][0]), 2)
        self.assertIsNone(samples["reference_compute_ns"])

    def test_a_block_waits_no_longer_than_it_may_for_better_cores(self):
        best = {"look_ns": 0.001, "trip_ns": 0.001}  # that no core will ever be
        cores = len(os.sched_getaffinity(0))
        answers, _ = talk(OPEN, ("block", {"handles": [1], "duration_ns": 0, "least_rounds": 2, "references": False, "apart": cores, "patience_ns": 50_000_000,
                                           "best_cores": best}), ("block", {"handles": [1], "best_cores": {"look_ns": "x"}}), SHUTDOWN)
        samples = answers[1]["result"]["samples"]
        self.assertEqual(samples["best_cores"], best)
        if samples["waited_ns"]:  # hardware threads of one core are never asked for
            self.assertGreaterEqual(samples["waited_ns"], 50_000_000)
            self.assertGreater(samples["steal_ticks"], 0)
        self.assertIn("best_cores", answers[2]["error"]["message"])

    def test_what_the_runtime_prints_is_no_answer(self):
        answers, _ = talk(("plan", {"model": "x", "setting": {}}), SHUTDOWN)
        self.assertEqual(answers[0]["error"]["data"]["code"], "input")
        self.assertEqual(len(answers), 2)

    def test_refusals_are_results(self):
        for kind in ("unsupported", "skipped", "failed"):
            answers, _ = talk(("open", {"key": kind}), SHUTDOWN)
            self.assertEqual(answers[0]["result"], {kind: "because"})
        answers, _ = talk(("block", {"handles": [7], "references": False}), SHUTDOWN)
        self.assertIn("no open handle 7", answers[0]["result"]["failed"])

    def test_a_fault_of_the_worker_does_not_end_it(self):
        answers, status = talk(("open", {"key": "bug"}), SHUTDOWN)
        self.assertEqual(answers[0]["error"]["data"]["code"], "internal")
        self.assertIn("a bug", answers[0]["error"]["message"])
        self.assertEqual(status, 0)

    def test_rubbish_is_answered_and_survived(self):
        lines = (b"no json\n", b"[]\n", b"{}\n", b'{"jsonrpc":"1.0","id":1,"method":"hello"}\n', b'{"a":"\0"}\n',
                 b'{"a":' + b"[" * 100 + b"]" * 100 + b"}\n")
        answers, status = talk(*lines, ("fly", {}), ("open", {"key": "a", "model": "b"}), ("open", {"key": "a", "copies": 0}),
                               ("block", {"handles": "x"}), ("block", {"handles": []}), ("block", {"handles": [1], "least_rounds": 10**9}),
                               ("open", {"key": "a", "setting": {"threads": 0}}), ("open", {"key": "a", "shapes": {"x": [-1]}}), SHUTDOWN)
        self.assertEqual(status, 0)
        numbers = [answer["error"]["code"] for answer in answers[:-1]]
        self.assertEqual(numbers[:4], [-32700, -32700, -32600, -32600])
        self.assertEqual(numbers[6], -32601)
        self.assertEqual(len(numbers), 14)

    def test_too_long_a_line_ends_it(self):
        answers, status = talk(b" " * ((16 << 20) + 2))
        self.assertEqual(status, 1)
        self.assertEqual(answers[0]["error"]["code"], -32600)

    def test_a_runtime_that_is_absent_is_told_by_hello(self):
        answers, status = talk(("hello", {"protocol": 1}), SHUTDOWN, arguments=["absent"])
        self.assertEqual(answers[0]["error"], {"code": -32000, "message": "not here", "data": {"code": "runtime"}})
        self.assertEqual(status, 0)

    def test_the_end_of_input_ends_it(self):
        self.assertEqual(talk(("hello", {"protocol": 1}))[1], 0)


if __name__ == "__main__":
    unittest.main()
