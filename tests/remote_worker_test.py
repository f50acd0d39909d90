#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures over a real ssh: --worker of plan, measure, profile, verify and validate.

usage: remote_worker_test.py OPLAT MODELS

Starts an sshd of its own on a free port of 127.0.0.1, as an unprivileged process with its own keys,
home folder and cache. The worker shares nothing with the client: a log of all requests shows that
no path of the client's ever reaches it, and a test that runs as root gives the server a user of its
own, who cannot read the client's folder (a private mount namespace adds that user). Connections are
cut in the middle of a campaign, on both sides.

Needs ssh and sshd (scripts/setup unpacks one into .sshd), ONNX Runtime and the test models; without
them it exits with 77. OPLAT_TEST_REQUIRE=1 allows no skip.
"""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from runtime_state import why_missing

ROOT = Path(__file__).resolve().parents[1]
UNPACKED = ROOT / ".sshd" / "usr"
SKIP = 77
USER, USER_ID = "oplat-test", 54321
INSIDE = "OPLAT_REMOTE_TEST_INSIDE"
# The noise of a busy machine; a wrong time, of another kernel or of two at once, is farther off.
FACTOR = 6


def skip(why):
    required = os.environ.get("OPLAT_TEST_REQUIRE") == "1"
    print(("OPLAT_TEST_REQUIRE=1, but " if required else "skipped: ") + why)
    sys.exit(1 if required else SKIP)


def find_sshd():
    for path in (shutil.which("sshd"), "/usr/sbin/sshd", UNPACKED / "sbin" / "sshd"):
        if path and os.access(path, os.X_OK):
            return str(Path(path).resolve())
    return skip("there is no sshd; scripts/setup unpacks one")


def enter_namespace():
    """As root: starts this test again where /etc/passwd has the user of the server."""
    if os.geteuid() != 0 or os.environ.get(INSIDE):
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        skip("as root it needs a mount namespace of its own; run it as another user")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B", *sys.argv])


def add_user(folder, home):
    lines = Path("/etc/passwd").read_text().rstrip("\n")
    passwd = folder / "passwd"
    passwd.write_text(f"{lines}\n{USER}:x:{USER_ID}:{USER_ID}::{home}:/bin/sh\n")
    passwd.chmod(0o644)
    subprocess.run(["mount", "--bind", passwd, "/etc/passwd"], check=True)


class Device:
    """The other machine: a home folder and an sshd."""

    def __init__(self, folder, oplat, library):
        self.folder = folder
        self.home = folder / "device"
        self.log = self.home / "requests"
        self.owner = {}
        self.user = os.environ.get("USER") or subprocess.check_output(["id", "-un"], text=True).strip()
        for part in ("bin", "tmp", "keys"):
            (self.home / part).mkdir(parents=True)
        if os.geteuid() == 0:
            add_user(folder, self.home)
            self.user = USER
            self.owner = {"user": USER_ID, "group": USER_ID, "extra_groups": []}
        keys = self.home / "keys"
        self.client_key = folder / "client" / "key"
        for key in (keys / "host", self.client_key):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        shutil.copy(f"{self.client_key}.pub", keys / "authorized")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        wrapper = self.home / "bin" / "oplat"
        wrapper.write_text(f'#!/bin/sh\ntee -a {self.log} | "{oplat}" "$@"\n')
        wrapper.chmod(0o755)
        (keys / "config").write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {keys}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {keys}/authorized\nStrictModes no\nPasswordAuthentication no\n"
            f"SetEnv PATH={self.home}/bin:/usr/bin:/bin HOME={self.home} TMPDIR={self.home}/tmp "
            f"OPLAT_ONNXRUNTIME={library} OMP_NUM_THREADS=7\n")
        client = folder / "client"
        (client / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {(keys / 'host.pub').read_text()}")
        (client / "ssh").write_text(
            f"Host device\n HostName 127.0.0.1\n Port {self.port}\n User {self.user}\n BatchMode yes\n"
            f" IdentityFile {self.client_key}\n IdentitiesOnly yes\n UserKnownHostsFile {client}/known_hosts\n")
        self.log.touch()
        if self.owner:
            for path in (self.home, *self.home.rglob("*")):
                os.chown(path, USER_ID, USER_ID)
        self.server = None

    def start(self):
        environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(next(UNPACKED.glob("lib/*-linux-gnu"), ""))}
        with open(self.folder / "sshd.log", "ab") as log:
            self.server = subprocess.Popen(
                [find_sshd(), "-D", "-e", "-f", self.home / "keys" / "config"], env=environment,
                start_new_session=True, stderr=log, cwd="/", **self.owner)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.server.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError("sshd does not start: " + (self.folder / "sshd.log").read_text())

    def sessions(self):
        """Processes of the server that serve one connection each."""
        return [pid for pid in processes() if pid != self.server.pid and b"sshd" in command_of(pid).split(b"\0")[0]
                and is_below(pid, self.server.pid)]

    def workers(self):
        """Processes that serve a runtime on the device."""
        home = f"HOME={self.home}".encode()
        found = []
        for pid in processes():
            words = command_of(pid).split(b"\0")
            if len(words) > 1 and words[1] == b"worker" and home in environment_of(pid).split(b"\0"):
                found.append(pid)
        return found

    def stop(self):
        if self.server is None:
            return
        for pid in (*self.sessions(), self.server.pid):
            end(pid)
        self.server.wait()
        self.server = None


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read_proc(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def command_of(pid):
    return read_proc(pid, "cmdline")


def environment_of(pid):
    return read_proc(pid, "environ")


def parent_of(pid):
    fields = read_proc(pid, "stat").rsplit(b")", 1)[-1].split()
    return int(fields[1]) if len(fields) > 1 else 0


def is_below(pid, ancestor):
    while pid > 1:
        if pid == ancestor:
            return True
        pid = parent_of(pid)
    return False


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def within(seconds, what):
    """Whether `what` becomes true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.02)
    return False


class RemoteWorker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="oplat-remote.")
        cls.folder = Path(cls.held.name)
        cls.folder.chmod(0o711)
        cls.client = cls.folder / "client"
        cls.client.mkdir(mode=0o700)
        for model in MODELS.glob("tiny_*"):
            shutil.copy(model, cls.client)
        cls.environment = {**os.environ, "HOME": str(cls.client), "XDG_CACHE_HOME": str(cls.client / "cache"),
                           "OPLAT_ONNXRUNTIME": LIBRARY}
        cls.measured_there = {}
        cls.device = Device(cls.folder, OPLAT, LIBRARY)
        cls.device.start()

    @classmethod
    def tearDownClass(cls):
        cls.device.stop()
        if os.environ.get(INSIDE):
            subprocess.run(["umount", "/etc/passwd"])
        cls.held.cleanup()

    def ssh(self, words="oplat worker onnxruntime"):
        return f"ssh -F {self.client}/ssh device {words}"

    def start(self, *words):
        return subprocess.Popen([OPLAT, *words], cwd=self.client, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def oplat(self, *words, exit=0):
        done = subprocess.run([OPLAT, *words], cwd=self.client, env=self.environment, text=True, capture_output=True,
                              timeout=300)
        self.assertEqual(done.returncode, exit, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def one_line(self, done):
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def requests(self):
        return self.device.log.read_text(errors="replace")

    def times(self, table):
        """Median by key and state, of rows that have one."""
        with sqlite3.connect(self.client / table) as connection:
            return {(key, reuse): ns for key, reuse, ns in connection.execute(
                "select kernel.key, row.reuse_bytes, row.median_ns from row join kernel on kernel.id = row.kernel "
                "where row.median_ns is not null")}

    def measure_rows(self, table, *words):
        """Every row of tiny_cnn, however slow the machine: a campaign goes on where its budget
        ended, here soon."""
        for seconds in (4, 8, 15, 30, 60, 120, 240):
            done = self.oplat("profile", "--model", "tiny_cnn.onnx", "--table", table, *words, "--target-error", "50%",
                              "--budget", f"{seconds}s", "--quiet")
            if " left" not in done.stdout:
                return
        self.fail(done.stdout)

    def times_there(self):
        """Times of tiny_cnn by key and state, in there.oplat: measured once, on the device."""
        if not self.measured_there:
            self.measure_rows("there.oplat", "--worker", self.ssh())
            self.measured_there.update(self.times("there.oplat"))
        return self.measured_there

    def test_plans_are_those_of_here(self):
        for model in ("tiny_cnn.onnx", "tiny_external.onnx", "tiny_lstm.onnx"):
            here = self.oplat("plan", model, "--runtime", "onnxruntime", "--json")
            there = self.oplat("plan", model, "--worker", self.ssh(), "--json")
            self.assertEqual(json.loads(there.stdout), json.loads(here.stdout), model)
        self.assertNotIn(str(self.client), self.requests())

    def test_a_model_is_sent_once(self):
        self.oplat("plan", "tiny_external.onnx", "--worker", self.ssh())
        before = len(self.requests())
        self.oplat("plan", "tiny_external.onnx", "--worker", self.ssh())
        pieces = [json.loads(line)["params"] for line in self.requests()[before:].splitlines() if '"put"' in line]
        self.assertEqual({piece["name"] for piece in pieces}, {"tiny_external.onnx", "tiny_external.onnx.data"})
        self.assertEqual({piece["data"] for piece in pieces}, {""})

    def test_data_of_inputs_is_sent(self):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 32, 32), }"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\0\0\x80?" * 3072
        (self.client / "x.npy").write_bytes(data)
        words = ("plan", "tiny_cnn.onnx", "--input", "input=x.npy", "--json")
        here = self.oplat(*words, "--runtime", "onnxruntime")
        self.assertEqual(self.oplat(*words, "--worker", self.ssh()).stdout, here.stdout)
        self.assertNotIn('"x.npy"}', self.requests())

    def test_measures_and_records_nothing_of_this_machine(self):
        done = self.oplat("measure", "tiny_cnn.onnx", "--worker", self.ssh(), "--table", "m.oplat", "--budget", "4s",
                          "--target-error", "50%", "--json", "--quiet")
        self.assertGreater(json.loads(done.stdout)["models"][0]["latency_ns"], 0)
        with sqlite3.connect(self.client / "m.oplat") as connection:
            rows = connection.execute("select kernel, hostname_hash, load_average, facts from environment").fetchall()
        self.assertEqual(len(rows), 1)
        kernel, host, _, facts = rows[0]
        self.assertEqual((kernel, host), ("", ""))
        self.assertEqual(set(json.loads(facts)), {"worker", "worker_command", "harness_version", "harness_commit", "empty_call_alone"})
        self.assertNotIn(str(self.client), self.requests())

    def test_profile_verify_and_validate_go_together(self):
        self.measure_rows("here.oplat", "--runtime", "onnxruntime")
        here, there = self.times("here.oplat"), self.times_there()
        self.assertEqual(set(here), set(there))
        for row, ns in there.items():
            self.assertLess(max(ns / here[row], here[row] / ns), FACTOR, row)
        # Whether the machine is as quiet as before is not the question: 7 says that it is not.
        for seconds in (4, 15, 60):
            done = subprocess.run([OPLAT, "verify", "there.oplat", "--worker", self.ssh(), "--rows", "5", "--budget",
                                   f"{seconds}s", "--json", "--quiet"], cwd=self.client, env=self.environment, text=True,
                                  capture_output=True)
            self.assertIn(done.returncode, (0, 7), done.stderr)
            compared = json.loads(done.stdout)["counts"]["compared"]
            if compared > 0:
                break
        self.assertGreater(compared, 0)
        self.oplat("validate", "tiny_cnn.onnx", "--table", "there.oplat", "--worker", self.ssh(), "--quiet")
        self.assertNotIn(str(self.client), self.requests())

    def cut_within_a_block(self, campaign, how):
        """Cuts the connection once the worker is at a block, and waits until that worker is
        gone."""
        def at_a_block():
            return campaign.poll() is not None or (self.device.workers() and '"block"' in self.requests()[-3000:])
        before = len(self.requests())
        within(60, lambda: campaign.poll() is not None or '"block"' in self.requests()[before:])
        within(10, at_a_block)
        workers = self.device.workers()
        if campaign.poll() is not None:
            return False
        for pid in how():
            end(pid)
        self.assertTrue(within(5, lambda: not set(workers) & set(self.device.workers())),
                        "a worker whose connection was cut still keeps the device busy")
        return bool(workers)

    def test_a_connection_cut_in_a_block_makes_no_wrong_row(self):
        whole = self.times_there()
        campaign = self.start("profile", "--model", "tiny_cnn.onnx", "--worker", self.ssh(), "--target-error", "50%",
                              "--quiet", "--table", "cut.oplat")

        def ssh_client():
            return [pid for pid in processes() if parent_of(pid) == campaign.pid and b"ssh" in command_of(pid)]
        cuts = [self.cut_within_a_block(campaign, how)
                for how in (ssh_client, self.device.sessions, ssh_client)]
        self.assertGreaterEqual(cuts.count(True), 2, "too few connections were cut to test anything")
        # It goes on over new connections. What it would still measure to be precise is not the
        # question.
        before = len(self.requests())
        self.assertTrue(within(120, lambda: campaign.poll() is not None or self.requests()[before:].count('"block"') > 5),
                        "the campaign does not go on")
        ended = campaign.poll() is not None
        campaign.send_signal(signal.SIGINT)
        out, errors = campaign.communicate(timeout=300)
        self.assertIn(campaign.returncode, (0,) if ended else (0, 130), out + errors)
        self.measure_rows("cut.oplat", "--worker", self.ssh())
        cut = self.times("cut.oplat")
        self.assertLessEqual(set(cut), set(whole))
        self.assertGreaterEqual(len(cut), len(whole) - 1, out)  # a row may have failed twice
        for row, ns in cut.items():
            self.assertLess(max(ns / whole[row], whole[row] / ns), FACTOR, row)
        self.assertEqual(self.device.workers(), [])

    def test_a_device_that_goes_away_ends_the_campaign_and_it_goes_on_later(self):
        words = ("profile", "--model", "tiny_cnn.onnx", "--table", "gone.oplat", "--worker", self.ssh(),
                 "--target-error", "50%", "--quiet")
        campaign = self.start(*words)
        before = len(self.requests())
        self.assertTrue(within(60, lambda: self.requests()[before:].count('"block"') > 3))
        self.device.stop()
        try:
            out, errors = campaign.communicate(timeout=120)
        finally:
            self.device.start()
        self.assertEqual(campaign.returncode, 5, out + errors)
        self.assertIn("Connection refused", errors)
        self.measure_rows("gone.oplat", "--worker", self.ssh(), "--resume")
        self.assertGreaterEqual(len(self.times("gone.oplat")), 10)

    def test_another_version_is_refused_and_both_are_named(self):
        script = self.device.home / "bin" / "older"
        script.write_text("#!/bin/sh\nread line\n" + """echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"runtime":"""
                          """"onnxruntime","version":"1","oplat":"0.0.9","device":{"name":"d"}}}'\nread line\n""")
        script.chmod(0o755)
        done = self.oplat("plan", "tiny_cnn.onnx", "--worker", self.ssh("older"), exit=5)
        version = re.search(r"\d+\.\d+\.\d+", self.oplat("--version").stdout)[0]
        self.assertRegex(self.one_line(done), rf"oplat 0\.0\.9, this is oplat {re.escape(version)}")

    def test_what_is_no_worker_gives_one_message(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            unreachable = f"ssh -F {self.client}/ssh -p {port} device oplat worker onnxruntime"
            for command, said in ((unreachable, "Connection refused"),
                                  (self.ssh("echo hello"), "rubbish.*hello"),
                                  (self.ssh("true"), "worker ended: exit status 0"),
                                  (self.ssh("no-such-program worker"), "exit status 127.*not found"),
                                  (self.ssh("oplat worker nothing"), "unknown runtime nothing"),
                                  ("no-such-ssh device", "no-such-ssh.*No such file")):
                done = self.oplat("measure", "tiny_cnn.onnx", "--worker", command, exit=5)
                self.assertRegex(self.one_line(done), said)
                self.assertEqual(done.stdout, "")

    def test_flags_that_cannot_go_with_it_are_refused(self):
        profile = ("profile", "--model", "tiny_cnn.onnx", "--table", "none.oplat")
        done = self.oplat(*profile, "--worker", self.ssh(), "--cpu", "0", exit=2)
        self.assertIn("--cpu 0", self.one_line(done))
        done = self.oplat(*profile, "--worker", self.ssh(), "--runtime", "reference", exit=5)
        self.assertRegex(self.one_line(done), "--runtime reference: .* serves onnxruntime")
        self.assertIn("not closed", self.oplat(*profile, "--worker", "ssh 'device", exit=2).stderr)
        self.assertIn("empty", self.oplat(*profile, "--worker", " ", exit=2).stderr)
        # no model says which runtime fits
        keys = ("profile", "--keys", "keys.txt", "--table", "none.oplat")
        self.assertIn("--runtime is required", self.oplat(*keys, exit=2).stderr)
        self.oplat("plan", "tiny_cnn.onnx", "--worker", self.ssh(), "--plan", "rules:onnxruntime", exit=2)
        self.assertFalse((self.client / "none.oplat").exists())

    def test_replayed_times_are_not_taken_for_measured_ones(self):
        key = "Relu/14{}(f32[1,64])->(f32[1,64])"
        (self.client / "keys.txt").write_text(key + "\n")
        profile = ("profile", "--keys", "keys.txt", "--table", "r.oplat", "--target-error", "50%", "--quiet")
        self.oplat(*profile, "--worker", self.ssh("oplat worker reference"), "--budget", "2s")
        recorded = self.device.home / "recorded.oplat"
        shutil.copy(self.client / "r.oplat", recorded)
        recorded.chmod(0o644)
        done = self.oplat(*profile, "--worker", self.ssh(f"oplat worker replay {recorded}"), "--blocks", "9", exit=6)
        self.assertIn("replayed", done.stderr)

    def test_the_logins_environment_does_not_reach_the_runtime(self):
        with subprocess.Popen(self.ssh().split(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
            worker.stdin.write('{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}\n')
            worker.stdin.flush()
            self.assertIn('"runtime":"onnxruntime"', worker.stdout.readline())
            (pid,) = self.device.workers()
            names = {one.split(b"=")[0] for one in environment_of(pid).split(b"\0")}
            worker.stdin.close()
        self.assertIn(b"OPLAT_ONNXRUNTIME", names)
        self.assertNotIn(b"OMP_NUM_THREADS", names)


def onnxruntime_library():
    if why := why_missing(OPLAT, "onnxruntime"):
        skip("ONNX Runtime does not start: " + why)
    given = os.environ.get("OPLAT_ONNXRUNTIME")
    found = [given] if given else sorted(str(path) for path in ROOT.glob(
        ".venv/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
    return found[0] if found else ""


if __name__ == "__main__":
    OPLAT, MODELS = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    if shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        skip("there is no ssh")
    find_sshd()
    if not (MODELS / "tiny_cnn.onnx").exists():
        skip("there are no test models; scripts/models tests makes them")
    enter_namespace()
    LIBRARY = onnxruntime_library()
    del sys.argv[1:3]
    unittest.main(verbosity=2)
