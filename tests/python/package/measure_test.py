# SPDX-License-Identifier: Apache-2.0
"""Measuring from Python: into a table, with progress, stopped by Ctrl-C and by exceptions."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import oplat
from support import IS_WHEEL, RELU, network, sample, scratch

# Seconds that end none of these campaigns: each is stopped when some rows are measured. Under a
# minute no campaign looks at the machine's memory first.
LONG = 55
KEYS = [f"Relu/14{{}}(f32[1,{size}])->(f32[1,{size}])" for size in range(64, 4096, 64)]


def running_in_group(group):
    """Processes of a group that are not zombies."""
    found = []
    for each in os.listdir("/proc"):
        try:
            with open(f"/proc/{each}/stat", encoding="utf-8", errors="replace") as file:
                state, _, its_group = file.read().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(each)
    return found


def is_measured(progress):
    """Whether some rows are in the table."""
    return progress.what == "measuring" and progress.done >= 2


class MeasureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oplat-measure-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "new.oplat")
        # A shell starts what runs in the background with SIGINT ignored, and Python leaves it so.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

    def test_profile_says_what_it_did(self):
        seen = []
        result = oplat.profile([], self.path, "reference", 2, keys=[RELU], progress=seen.append)
        self.assertEqual(result.table, self.path)
        self.assertGreaterEqual(result.measured, 1)
        self.assertGreater(result.seconds, 0)
        self.assertTrue(seen and all(isinstance(one, oplat.Progress) for one in seen))
        self.assertEqual(result.to_dict()["schema"], "oplat.profile/1")
        rows = oplat.Table(self.path).rows(key=RELU, with_time=True)
        self.assertEqual(set(rows["runtime"]), {"reference"})
        self.assertTrue((rows["median_ms"] > 0).all())

    def test_replay_gives_the_recorded_times(self):
        """Without a runtime: the times of a table, in virtual time."""
        oplat.profile([], self.path, "reference", 2, keys=[RELU])
        recorded = oplat.Table(self.path).rows(key=RELU, with_time=True)
        copied = os.path.join(os.path.dirname(self.path), "replayed.oplat")
        result = oplat.profile([], copied, "replay", keys=[RELU], worker_arguments=[self.path])
        self.assertGreaterEqual(result.measured, 1)
        again = oplat.Table(copied).rows(key=RELU, with_time=True)
        self.assertEqual(set(again["runtime"]), {"reference"})
        self.assertEqual(again["reuse_bytes"].tolist(), recorded["reuse_bytes"].tolist())
        for now, then in zip(again["median_ms"], recorded["median_ms"]):
            self.assertAlmostEqual(now / then, 1, delta=0.2)

    def assert_kept(self):
        """What was measured before a stop is in the table, which is whole and not locked."""
        table = oplat.Table(self.path)
        kept = len(table.rows(with_time=True))
        self.assertGreater(kept, 0)
        self.assertLess(len(table.kernels(with_time=True)), len(KEYS))
        oplat.profile([], self.path, "reference", 1, keys=KEYS[:1])

    def test_ctrl_c_in_the_middle(self):
        done = threading.Event()

        def interrupt(progress):
            if is_measured(progress) and not done.is_set():
                done.set()
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            oplat.profile([], self.path, "reference", LONG, keys=KEYS, progress=interrupt)
        self.assertLess(time.monotonic() - begin, LONG)
        self.assert_kept()

    def test_ctrl_c_of_a_terminal_ends_the_workers_too(self):
        """The signal goes to all processes of the group."""
        code = ("import sys, oplat\n"
                f"oplat.profile([], {self.path!r}, 'reference', {LONG}, keys={KEYS!r}, progress=lambda now: print(now.what, now.done, flush=True))\n")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as child:
            for line in child.stdout:
                what, number = line.split()
                if what == "measuring" and int(number) >= 2:
                    break
            os.killpg(child.pid, signal.SIGINT)
            said = child.communicate(timeout=200)[1]
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", said)
        until = time.monotonic() + 60
        while (left := running_in_group(child.pid)) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(left, [])
        self.assert_kept()

    def test_a_program_may_end_while_a_daemon_thread_measures(self):
        """The thread's call is stopped first: one that asks for the interpreter's lock later aborts
        the process."""
        code = ("import sys, threading, oplat\n"
                "started = [threading.Event(), threading.Event()]\n"
                "def show(progress):\n    if progress.what == 'measuring' and progress.done >= 2:\n        started[0].set()\n"
                f"def measure():\n    oplat.profile([], {self.path!r}, 'reference', {LONG}, keys={KEYS!r}, progress=show)\n"
                f"def ask():\n    table = oplat.Table({sample()[0]!r})\n    while True:\n        table.predict({sample()[1]!r})\n        started[1].set()\n"
                "for work in (measure, ask):\n    threading.Thread(target=work, daemon=True).start()\n"
                "for each in started:\n    each.wait()\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assert_kept()

    def test_an_exception_of_the_callable_stops_it(self):
        class Enough(Exception):
            pass

        def stop(progress):
            if is_measured(progress):
                raise Enough("of it")

        with self.assertRaises(Enough):
            oplat.profile([], self.path, "reference", LONG, keys=KEYS, progress=stop)
        self.assert_kept()

    def test_other_threads_run_meanwhile(self):
        ticks = 0
        running = threading.Event()

        def work():
            oplat.profile([], self.path, "reference", 1, keys=[RELU])
            running.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not running.is_set():
            ticks += 1
            time.sleep(0.001)
        thread.join()
        self.assertGreater(ticks, 20)

    def test_a_program_that_ignores_its_children(self):
        """The system reaps them then, and nobody learns how they ended."""
        self.addCleanup(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertGreaterEqual(oplat.profile([], self.path, "reference", 1, keys=[RELU]).measured, 1)
        program = os.path.join(os.path.dirname(self.path), "ends")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 3\n")
        os.chmod(program, 0o755)
        with unittest.mock.patch.dict(os.environ, {"OPLAT_PROGRAM": program}):
            with self.assertRaisesRegex(oplat.RuntimeUnavailable, "worker ended: .*ignores SIGCHLD"):
                oplat.profile([], self.path, "reference", 1, keys=KEYS[:1])

    def test_every_kernel_failed(self):
        with self.assertRaises(oplat.RuntimeUnavailable) as caught:
            oplat.profile([], self.path, "reference", keys=["NoSuchOperator/1{}(f32[4])->(f32[4])"])
        self.assertIn("every kernel failed", str(caught.exception))

    def test_a_fit_of_too_few_rows_is_refused(self):
        oplat.profile([], self.path, "reference", 1, keys=[RELU])
        with self.assertRaises(oplat.Refused):
            oplat.Table(self.path).fit()

    @unittest.skipUnless(IS_WHEEL, "the wheel is tested with ONNX Runtime")
    def test_with_onnx_runtime(self):
        model = sample()[1]
        table = oplat.Table(sample()[0])
        plan = oplat.plan(model, runtime="onnxruntime")
        self.assertEqual([kernel.key for kernel in plan.kernels], [kernel.key for kernel in table.predict(model).kernels])
        measured = oplat.measure(model, budget=5)
        self.assertEqual([one.path for one in measured.models], [model])
        self.assertTrue(0 < measured.models[0].timing.lo <= measured.models[0].ms <= measured.models[0].timing.hi)
        validation = table.validate([model])
        self.assertEqual(len(validation.models), 1)
        self.assertIsNotNone(validation.models[0].error)
        other = network(scratch() / "other.onnx", channels=(8, 16, 16))
        with self.assertRaises(oplat.MissingKernels):
            table.predict(other)
        by_roofline = table.predict(other, missing="roofline")
        self.assertIn("roofline", by_roofline.coverage)
        self.assertTrue(0 < by_roofline.lo < by_roofline.ms < by_roofline.hi)

    @unittest.skipUnless(IS_WHEEL and "OPLAT_MNN_PYTHON" in os.environ, "the whole wheel is tested with MNN")
    def test_with_mnn(self):
        """By an interpreter that has MNN and not oplat: what it runs lies in the wheel."""
        from oplat.mmt import meter, operators

        model = network(scratch() / "mnn.onnx")
        self.assertIn("mnn:Convolution", " ".join(kernel.key for kernel in oplat.plan(model, runtime="mnn").kernels))
        converted = scratch() / "net.mnn"
        operators.mnn_tool("convert", model, converted)
        times = meter.get_latency(converted, 5, verbose=False)
        self.assertTrue(0 < times["Min"] <= times["Avg"] <= times["Max"], times)


if __name__ == "__main__":
    unittest.main()
