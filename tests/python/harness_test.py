# SPDX-License-Identifier: Apache-2.0
"""liboplat_worker: one recorded session replayed with a worker in C and with one in Python, and
what a worker in Python can get wrong. `harness_test.py --record` writes the sessions anew from the
worker in C."""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "reference" / "worker-protocol.md"
SESSIONS = HERE.parent / "data" / "worker"
IN_C = [os.environ.get("OPLAT_FAKE_KERNELS", "fake_kernels")]
IN_PYTHON = [sys.executable, "-B", str(HERE / "fake_kernels.py")]
# What differs from run to run and from machine to machine.
COUNTERS = ("faults", "switches", "steal_ticks", "other_load", "waited_ns")
REFERENCES = ("reference_compute_ns", "reference_memory_ns")
# Messages of the worker itself must arrive as they are; those of the library are for people and may
# be worded anew.
MESSAGES = ("no such model", "there is no option 'x'", "no such handle")


def relu(op="Relu", **more):
    return "open", {"key": op + "{}(f32[1])->(&0)", "setting": {}} | more


def block(*handles, **more):
    quiet = {"duration_ns": 0, "least_rounds": 3, "references": False, "alone": False}
    return "block", {"handles": list(handles)} | quiet | more


SHARED = [
    ("hello", {"protocol": 1}),
    ("plan", {"model": "net", "setting": {}}),
    ("plan", {"model": "absent", "setting": {}}),
    ("plan", {"setting": {}}),
    relu(),
    relu(copies=8, topology="fan", distinct_weights=True, seed=7, setting={"threads": 2, "options": {"level": "0"}}),
    relu("Unsupported"), relu("Skipped"), relu("Failed"), relu("Wrong"),
    ("open", {"key": "a", "model": "b", "setting": {}}), ("open", {"key": "a"}), relu(copies=0), relu(setting={"threads": 0}), relu(shapes={"x": [-1]}),
    block(1, 2), block(2, 1, 1, least_rounds=5, most_rounds=5, warmup_rounds=0),
    block(1, scrub_bytes=65536), block(1, wake=2), block(1, references=True, warmup_rounds=3),
    block(1, duration_ns=10**15), block(), block("x"), block(1, least_rounds=10**9), block(1, best_cores={"look_ns": "x"}),
    relu("Tired"), block(3), block(3),
    ("close", {"handle": 1}), ("close", {"handle": 1}), block(1), ("close", {}),
    ("put", {"folder": "x", "hash": "y", "name": "n", "size": 1, "offset": 0, "data": ""}),
    ("fly", {}), b"no json", b"[]", b"{}", b'{"jsonrpc":"1.0","id":1,"method":"hello"}', b'{"a":"\0"}',
    b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
    ("shutdown", {}),
]
# Recorded times need no quiet machine: everything of their blocks can be compared.
VIRTUAL = SHARED[:-1] + [
    ("block", {"handles": [2]}), ("block", {"handles": [2, 2], "duration_ns": 100_000, "least_rounds": 2}),
    ("block", {"handles": [2], "duration_ns": 10**9, "least_rounds": 50, "scrub_bytes": 1 << 40, "apart": 2, "patience_ns": 10**12}),
    ("shutdown", {}),
]


def lines_of(requests):
    for number, request in enumerate(requests, 1):
        if isinstance(request, bytes):
            yield request
        else:
            yield json.dumps({"jsonrpc": "2.0", "id": number, "method": request[0], "params": request[1]}).encode()


def talk(command, mode, lines):
    """The answers to lines, and the status with which the worker ended."""
    done = subprocess.run([*command, mode], input=b"".join(line + b"\n" for line in lines), capture_output=True, timeout=120, check=False)
    return [json.loads(answer) for answer in done.stdout.splitlines()], done.returncode


def comparable(answer, exact):
    """An answer without what differs from machine to machine."""
    result = answer.get("result", {})
    if "device" in result:
        result["device"] = sorted(result["device"])
    if "oplat" in result:
        result["oplat"] = "..." if result["oplat"] else ""
    samples = result.get("samples", {})
    for name in () if exact else COUNTERS:
        samples.pop(name, None)
    for name in REFERENCES:
        if samples.get(name):
            samples[name] = "positive" if samples[name] > 0 else "not positive"
    error = answer.get("error", {})
    if error and error["message"] not in MESSAGES:
        error["message"] = "..." if error["message"] else ""
    return answer


def session(mode):
    with open(SESSIONS / f"{mode}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def record():
    SESSIONS.mkdir(parents=True, exist_ok=True)
    for mode, requests in (("real", SHARED), ("virtual", VIRTUAL)):
        lines = list(lines_of(requests))
        answers, status = talk(IN_C, mode, lines)
        assert status == 0 and len(answers) == len(lines), (status, len(answers), len(lines))
        with open(SESSIONS / f"{mode}.jsonl", "w", encoding="utf-8") as file:
            for line, answer in zip(lines, answers):
                one = {"request": line.decode(), "answer": comparable(answer, mode == "virtual")}
                file.write(json.dumps(one) + "\n")


def answers_in_python(*requests, mode="real"):
    answers, status = talk(IN_PYTHON, mode, lines_of(requests))
    assert status == 0, status
    return answers


class Harness(unittest.TestCase):
    maxDiff = None

    def replay(self, command, mode):
        recorded = session(mode)
        answers, status = talk(command, mode, [each["request"].encode() for each in recorded])
        self.assertEqual(status, 0)
        self.assertEqual(len(answers), len(recorded))
        for each, answer in zip(recorded, answers):
            self.assertEqual(comparable(answer, mode == "virtual"), each["answer"], each["request"])

    def test_a_session_in_c(self):
        self.replay(IN_C, "real")

    def test_a_session_in_python(self):
        self.replay(IN_PYTHON, "real")

    def test_a_session_of_recorded_times_in_c(self):
        self.replay(IN_C, "virtual")

    def test_a_session_of_recorded_times_in_python(self):
        self.replay(IN_PYTHON, "virtual")

    def test_blocks_are_in_the_sessions(self):
        times = [each["answer"]["result"]["samples"]["ns"] for mode in ("real", "virtual") for each in session(mode)
                 if "samples" in each["answer"].get("result", {})]
        self.assertGreater(len(times), 8)
        self.assertIn([[1001.5, 1002.5, 1000.0], [8002.0, 8003.0, 8000.5]], times)

    def test_a_block_that_looks_at_the_machine(self):
        _, answer = answers_in_python(relu(), ("block", {"handles": [1], "duration_ns": 60_000_000, "least_rounds": 2}))
        samples = answer["result"]["samples"]
        self.assertGreaterEqual(len(samples["ns"][0]), 2)
        for name in REFERENCES:
            self.assertGreater(samples[name], 0)

    def test_another_kernel_keeps_threads_awake_between_calls(self):
        for command in (IN_C, IN_PYTHON):
            # Made-up times repeat, so that as many calls as make up their period do not show.
            requests = [block(1, scrub_bytes=65536, wake=2)] * 8
            answers, _ = talk(command, "real", lines_of([relu(), relu(copies=8), *requests]))
            blocks = [answer["result"]["samples"]["ns"][0] for answer in answers[2:]]
            for times in blocks:
                self.assertEqual([int(ns) // 1000 for ns in times], [1, 1, 1])
            # Calls of the other came in between: else the next time is 0.5 more, or 3 less.
            steps = [after - before for times in blocks for before, after in zip(times, times[1:])]
            self.assertTrue(set(steps) - {0.5, -3.0}, blocks)

    def test_what_the_runtime_prints_is_not_an_answer(self):
        done = subprocess.run([*IN_PYTHON, "real"], input=b"\n".join(lines_of([("plan", {"model": "net", "setting": {}})])) + b"\n",
                              capture_output=True, timeout=60, check=True)
        self.assertNotIn(b"a runtime that prints", done.stdout)
        self.assertIn(b"a runtime that prints", done.stderr)

    def test_a_mistake_of_the_worker_does_not_end_it(self):
        bug, memory, hello = answers_in_python(relu("Bug"), relu("Memory"), ("hello", {}))
        self.assertEqual(bug["error"]["data"]["code"], "internal")
        self.assertEqual(bug["error"]["message"], "open: ZeroDivisionError: a bug")
        self.assertEqual(memory["result"], {"failed": "out of memory"})
        self.assertEqual(hello["result"]["runtime"], "fake")

    def test_a_method_that_leaves_without_an_answer(self):
        quit_, hello = answers_in_python(relu("Quit"), ("hello", {}))
        self.assertEqual(quit_["error"]["data"]["code"], "internal")
        self.assertIn("gave no answer", quit_["error"]["message"])
        self.assertEqual(hello["result"]["runtime"], "fake")

    def test_another_version_is_refused_with_both_named(self):
        for command in (IN_C, IN_PYTHON):
            answers, status = talk(command, "old", lines_of([("hello", {"protocol": 1}), ("shutdown", {})]))
            self.assertEqual(status, 1)
            self.assertEqual(answers[0]["error"]["data"]["code"], "runtime")
            self.assertIn("version 2 of liboplat_worker, this is version 1", answers[0]["error"]["message"])

    def test_a_runtime_that_does_not_load_is_reported_by_hello(self):
        for command in (IN_C, IN_PYTHON):
            answers, status = talk(command, "absent", lines_of([("hello", {"protocol": 1}), ("shutdown", {})]))
            self.assertEqual(status, 1)
            self.assertEqual(answers[0]["error"], {"code": -32000, "message": "libfake is not installed", "data": {"code": "runtime"}})
            self.assertEqual(answers[1]["result"], {})

    def test_a_library_that_is_missing_or_another_one_is_named(self):
        for path, word in (("absent.so", "cannot load absent.so"), ("libc.so.6", "oplat_worker_abi")):
            done = subprocess.run([*IN_PYTHON, "real"], input=b"", capture_output=True, timeout=60, check=False,
                                  env=os.environ | {"OPLAT_WORKER_LIBRARY": path})
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr.decode())
            self.assertIn("OPLAT_WORKER_LIBRARY", done.stderr.decode())

    def test_too_long_a_line_ends_it(self):
        answers, status = talk(IN_PYTHON, "real", [b" " * ((16 << 20) + 2)])
        self.assertEqual(status, 1)
        self.assertEqual(answers[0]["error"]["code"], -32600)

    def test_the_end_of_input_ends_it(self):
        for command in (IN_C, IN_PYTHON):
            self.assertEqual(talk(command, "real", lines_of([("hello", {"protocol": 1})]))[1], 0)

    def test_the_worker_of_the_documentation_works(self):
        code = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
        command = [sys.executable, "-B", "-c", code + "\nraise SystemExit(main([]))"]
        plan = ("plan", {"model": "net", "setting": {}})
        opening = ("open", {"key": "adder:sum{}(f32[1000])->(f32[])", "copies": 2, "setting": {}})
        answers, status = talk(command, "", lines_of([("hello", {"protocol": 1}), plan, opening, relu(), block(1), ("close", {"handle": 1}), block(1)]))
        self.assertEqual(status, 0)
        hello, planned, opened, refused, timed, closed, failed = (answer["result"] for answer in answers)
        self.assertEqual((hello["runtime"], hello["protocol"]), ("adder", 1))
        self.assertEqual(planned["kernels"][0]["key"], opening[1]["key"])
        self.assertEqual(opened["opened"], {"handle": 1, "bytes": 16000, "topology": "fan"})
        self.assertEqual(refused, {"unsupported": "adder has no Relu"})
        self.assertEqual([ns > 0 for ns in timed["samples"]["ns"][0]], [True] * 3)
        self.assertEqual((closed, failed), ({}, {"failed": "handle 1 is not open"}))

    def test_the_library_needs_only_what_every_system_has(self):
        """Python of any version, with libraries of its own, must be able to load it."""
        listing = subprocess.run(["readelf", "-dW", os.environ["OPLAT_WORKER_LIBRARY"]], capture_output=True, text=True, check=True).stdout
        needed = [line.partition("[")[2].rstrip("]") for line in listing.splitlines() if "(NEEDED)" in line]
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not name.startswith(("libc.so", "libm.so", "ld-linux", "libpthread.so"))], [])

    def test_the_library_shows_only_its_own_functions(self):
        listing = subprocess.run(["nm", "-D", "--defined-only", os.environ["OPLAT_WORKER_LIBRARY"]], capture_output=True, text=True, check=True).stdout
        names = [line.split()[-1].partition("@")[0] for line in listing.splitlines()]
        self.assertIn("oplat_worker_serve", names)
        self.assertIn("oplat_probe_now_ns", names)
        self.assertEqual([name for name in names if not name.startswith(("oplat_worker_", "oplat_probe_"))], [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        unittest.main()
