# SPDX-License-Identifier: Apache-2.0
"""A table that is shared: with threads, with children, with other processes, with whoever deletes
it."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings
from concurrent.futures import ThreadPoolExecutor

import oplat
from support import RELU, sample


class SharingTest(unittest.TestCase):
    def setUp(self):
        path, self.model = sample()
        folder = tempfile.TemporaryDirectory(prefix="oplat-sharing-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "shared.oplat")
        shutil.copy(path, self.path)
        self.table = oplat.Table(self.path)
        self.expected = self.table.predict(self.model).to_dict()

    def test_eight_threads_get_the_same_numbers(self):
        fresh = oplat.Table(self.path)  # nothing is looked up yet
        start = threading.Barrier(8)

        def work(_):
            start.wait()
            return [fresh.predict(self.model).to_dict() for _ in range(20)] + [len(fresh.rows())]

        with ThreadPoolExecutor(8) as pool:
            for *documents, rows in pool.map(work, range(8)):
                self.assertTrue(all(document == self.expected for document in documents))
                self.assertEqual(rows, len(self.table))

    def in_child(self, call):
        """What `call` returns in a forked child, as text."""
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of forks while threads run
            child = os.fork()
        if child == 0:
            try:
                os.write(write, str(call()).encode())
            finally:
                os._exit(0)
        os.close(write)
        with open(read, encoding="utf-8") as answer:
            said = answer.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        return said

    def test_a_child_predicts_the_same(self):
        self.assertEqual(self.in_child(lambda: self.table.predict(self.model).to_dict() == self.expected), "True")
        self.assertEqual(self.table.predict(self.model).to_dict(), self.expected)

    def test_a_child_of_a_busy_parent_does_not_wait_for_it(self):
        stop = threading.Event()

        def work():
            while not stop.is_set():
                self.table.predict(self.model)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(5):
                self.assertEqual(self.in_child(lambda: self.table.predict(self.model).ms),
                                 str(self.expected["latency_ns"] / 1e6))
        finally:
            stop.set()
            thread.join()

    @unittest.skipIf("OPLAT_TEST_SANITIZED" in os.environ, "a sanitizer's own locks are not safe in a child")
    def test_a_child_of_a_campaign_is_refused(self):
        """It could hang: a lock of SQLite may have been held."""
        path = os.path.join(os.path.dirname(self.path), "campaign.oplat")
        started, stop = threading.Event(), threading.Event()

        def show(_):
            started.set()
            if stop.is_set():
                raise StopIteration

        def work():
            with self.assertRaises(StopIteration):
                oplat.profile([], path, "reference", 300, keys=[RELU.replace("16", str(size)) for size in range(16, 999)],
                              progress=show)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            self.assertTrue(started.wait(60))
            self.assertEqual(self.in_child(lambda: type(self.refusal_of_child()).__name__), "Refused")
        finally:
            stop.set()
            thread.join()
        self.assertEqual(self.in_child(lambda: self.table.predict(self.model).ms), str(self.expected["latency_ns"] / 1e6))

    def test_a_deleted_table_answers_as_long_as_it_is_open(self):
        fresh = oplat.Table(self.path)
        os.remove(self.path)
        for table in (self.table, fresh):
            self.assertEqual(table.predict(self.model).to_dict()["latency_ns"], self.expected["latency_ns"])
            self.assertEqual(len(table.rows()), len(table))
        with self.assertRaises(oplat.InputError):
            oplat.Table(self.path)
        with self.assertRaises(oplat.InputError):
            fresh.reopen()
        # The connection that was there still answers.
        self.assertEqual(fresh.predict(self.model).to_dict()["latency_ns"], self.expected["latency_ns"])
        said = self.in_child(lambda: type(self.refusal_of_child()).__name__)
        self.assertEqual(said, "InputError")

    def refusal_of_child(self):
        """A child has to open the file, which is gone."""
        try:
            return self.table.predict(self.model)
        except oplat.Error as error:
            return error

    def test_a_signal_s_handler_may_not_use_the_table_of_the_call_that_it_interrupts(self):
        """It would wait for itself."""
        class Stop(Exception):
            pass

        refusals = []

        def handle(*_):
            try:
                self.assertEqual(oplat.Table(self.path).predict(self.model).ms, self.expected["latency_ns"] / 1e6)
                self.table.predict(self.model)
            except oplat.Refused as error:
                refusals.append(str(error))
                raise Stop from error

        program = os.path.join(os.path.dirname(self.path), "never_answers")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec sleep 600\n")
        os.chmod(program, 0o755)
        before = signal.signal(signal.SIGALRM, handle)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
        with unittest.mock.patch.dict(os.environ, {"OPLAT_PROGRAM": program}), self.assertRaises(Stop):
            self.table.predict(self.model, plan="runtime")
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertRegex(refusals[0], "in use by a call of this very thread")
        self.assertEqual(self.table.predict(self.model).to_dict(), self.expected)

    def test_repeated_predictions_are_of_the_table_as_it_was_opened(self):
        """What another process changes is seen once the table is reopened: all of it, or
        nothing."""
        key = next(kernel.key for kernel in self.table.predict(self.model).kernels if kernel.source == "measured")
        narrow = self.table.predict(self.model, level=0.5).to_dict()
        estimated = self.table.estimate(key).kernels[0].ms
        program = ("import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as table:\n"
                   "    table.execute('UPDATE row SET median_ns = 3 * median_ns, ci_low_ns = 3 * ci_low_ns, '\n"
                   "                  'ci_high_ns = 3 * ci_high_ns')\n")
        subprocess.run([sys.executable, "-c", program, self.path], check=True)
        for _ in range(3):
            self.assertEqual(self.table.predict(self.model).to_dict(), self.expected)
            self.assertEqual(self.table.predict(self.model, level=0.5).to_dict(), narrow)
            self.assertEqual(self.table.estimate(key).kernels[0].ms, estimated)
        fresh = oplat.Table(self.path)
        changed = fresh.predict(self.model).to_dict()
        self.assertGreater(changed["latency_ns"], self.expected["latency_ns"])
        self.assertAlmostEqual(fresh.estimate(key).kernels[0].ms / estimated, 3)
        self.table.reopen()
        for _ in range(3):
            self.assertEqual(self.table.predict(self.model).to_dict(), changed)
        self.assertEqual(fresh.predict(self.model).to_dict(), changed)

    def test_another_process_writes_meanwhile(self):
        path = os.path.join(os.path.dirname(self.path), "growing.oplat")
        oplat.profile([], path, "reference", 1, keys=[RELU])
        table = oplat.Table(path)
        median = table.rows(key=RELU)["median_ms"].tolist()
        keys = os.path.join(os.path.dirname(self.path), "keys.txt")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("".join(RELU.replace("16", str(size)) + "\n" for size in (32, 64, 128)))
        with subprocess.Popen([oplat.program(), "profile", "--keys", keys, "--table", path, "--runtime", "reference",
                               "--quiet"], stdout=subprocess.DEVNULL) as writer:
            asked = 0
            while writer.poll() is None:
                self.assertEqual(table.rows(key=RELU)["median_ms"].tolist(), median)
                asked += 1
        self.assertEqual(writer.returncode, 0)
        self.assertGreater(asked, 0)
        table.reopen()
        self.assertEqual(len(table.kernels(with_time=True)), 4)

    def test_a_table_that_another_process_writes_is_refused_to_a_second_writer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "busy.oplat")
            started = threading.Event()
            first = threading.Thread(target=lambda: oplat.profile(
                [], path, "reference", 3, keys=[RELU], progress=lambda _: started.set()))
            first.start()
            try:
                self.assertTrue(started.wait(60))
                with self.assertRaises(oplat.Refused):
                    oplat.profile([], path, "reference", 1, keys=[RELU])
            finally:
                first.join()

    def test_a_campaign_of_another_process_keeps_the_table_to_itself(self):
        path = os.path.join(os.path.dirname(self.path), "held.oplat")
        keys = os.path.join(os.path.dirname(self.path), "keys.txt")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("".join(RELU.replace("16", str(size)) + "\n" for size in range(16, 999)))
        oplat.profile([], path, "reference", 1, keys=[RELU])
        command = [oplat.program(), "profile", "--keys", keys, "--table", path, "--runtime", "reference", "--budget", "300s"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
            try:
                until = time.monotonic() + 60
                while len(oplat.Table(path).kernels()) < 2 and time.monotonic() < until:
                    time.sleep(0.05)
                with self.assertRaisesRegex(oplat.Refused, "held.oplat"):
                    oplat.profile([], path, "reference", 0.1, keys=[RELU.replace("16", "9")])
                self.assertIsNone(writer.poll())
                self.assertGreater(len(oplat.Table(path).rows(key=RELU)), 0)
            finally:
                writer.terminate()
        # nothing is left locked
        oplat.profile([], path, "reference", 0.1, keys=[RELU.replace("16", "9")])


if __name__ == "__main__":
    unittest.main()
