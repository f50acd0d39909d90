#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command line prints on a terminal of 80 and of 120 columns.

usage: terminal_test.py OPLAT [--update]

Every command runs on a pseudo-terminal, for standard output and standard error alike. Outputs of
Golden are compared as a whole with the files of the folder terminal, with times of day and of the
machine masked; --update writes them. Of others every line must fit. Nothing but the program is
needed: times are those of made tables, replayed where something measures.
"""
import fcntl
import os
import pty
import re
import shlex
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

OPLAT = str(Path(sys.argv[1]).resolve())
HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "terminal"
UPDATE = "--update" in sys.argv
LIBRARY = """{Regular,1,3,224,224,32,3,2,1} 0.21
{Regular,1,32,112,112,64,1,1,0} 0.34
{Depthwise,1,64,112,112,64,3,1,1} 0.12
"""
COLOUR = r"\x1b\[[0-9;]+m"
KEY = ("tinynas:Conv{group=1,kernel_shape=[3,3],strides=[2,2]}(f32[1,3,224,224],f32c[32,3,3,3])"
       "->(f32[1,32,112,112])")


def run(arguments, columns, folder, **more):
    """Exit status and output of a command whose terminal has so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("OPLAT_") and name not in ("COLUMNS", "NO_COLOR")}
    environment |= {"XDG_CACHE_HOME": folder, "LC_ALL": "C.UTF-8"} | more
    process = subprocess.Popen([OPLAT, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=follower, stderr=follower)
    os.close(follower)
    output = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        output += piece
    os.close(leader)
    return process.wait(), output.decode().replace("\r\n", "\n")


def plain(text):
    """Without colours, and without what a later drawing of the bar wiped."""
    text = re.sub(r"[^\n]*\r", "", text)
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


class Terminal(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="oplat-terminal-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        Path(cls.folder, "lib.out").write_text(LIBRARY)
        subprocess.run([OPLAT, "import", "lib.out", "--format", "tinynas", "--device", "desk", "--precision", "FP32",
                        "--table", "t.oplat", "--quiet"], cwd=cls.folder, check=True, capture_output=True)

    def run_in(self, columns, *arguments, **more):
        return run(arguments, columns, self.folder, **more)

    def assert_fits(self, text, columns):
        for line in plain(text).split("\n"):
            self.assertLessEqual(len(line), columns, line)

    def test_rows_in_80_columns(self):
        status, text = self.run_in(80, "table", "rows", "t.oplat")
        self.assertEqual(status, 0, text)
        self.assertEqual(plain(text).split("\n")[:2], [
            "row  median     +-  reuse  outcome  kernel",
            "  1  210 us  0.0 %      -  timing   Conv 3x3 s2, 32 ch, 1...32x112x112, residual",
        ], text)
        self.assert_fits(text, 80)

    def test_keys_of_rows_in_80_columns(self):
        status, text = self.run_in(80, "table", "rows", "t.oplat", "--keys")
        self.assertEqual(status, 0, text)
        self.assertEqual(plain(text).split("\n")[:2], [
            "row  median     +-  reuse  outcome  key",
            "  1  210 us  0.0 %      -  timing   tinynas:Conv{group=1,...1,32,112,112])->(&2)",
        ], text)
        self.assert_fits(text, 80)

    def test_rows_in_120_columns(self):
        status, text = self.run_in(120, "table", "rows", "t.oplat", "--keys")
        self.assertEqual(status, 0, text)
        line = plain(text).split("\n")[1]
        self.assertLessEqual(len(line), 120)
        self.assertGreater(len(line), 100)
        self.assertIn("...", line)

    def test_piped_rows_are_whole(self):
        done = subprocess.run([OPLAT, "table", "rows", "t.oplat"], cwd=self.folder, capture_output=True, text=True)
        self.assertNotIn("...", done.stdout)
        self.assertGreater(max(map(len, done.stdout.splitlines())), 120)

    def test_columns_count(self):
        _, text = self.run_in(200, "table", "rows", "t.oplat", "--keys", COLUMNS="80")
        self.assert_fits(text, 80)
        self.assertIn("...", text)

    def test_help_fits(self):
        for columns in (80, 120):
            for command in ((), ("predict",), ("measure",), ("profile",), ("tinynas", "predict"), ("lut", "build")):
                status, text = self.run_in(columns, *command, "--help")
                self.assertEqual(status, 0, text)
                self.assert_fits(text, columns)

    def test_errors_wrap(self):
        for columns in (80, 120):
            status, text = self.run_in(columns, "predict", "a model with a name.onnx")
            self.assertEqual(status, 2, text)
            self.assert_fits(text, columns)
            self.assertIn("oplat profile --model", " ".join(plain(text).split()))
        status, text = self.run_in(80, "predict", "a model with a name.onnx")
        self.assertEqual(plain(text), """\
oplat: --table is required: it names a latency table, as OPLAT_TABLE does; make
  one with: oplat profile --model 'a model with a name.onnx' --table net.oplat
  --runtime onnxruntime; see 'oplat predict --help'
""")

    def test_estimates_fit(self):
        for columns in (80, 120):
            _, text = self.run_in(columns, "estimate", KEY, "--table", "t.oplat")
            self.assert_fits(text, columns)


def field(number, content):
    """A field of bytes, or a small number, of a protocol buffer."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def relu_model():
    """y = Relu(x) with x f32[1,8], as ONNX."""
    def value(name):
        dims = field(1, field(1, 1)) + field(1, field(1, 8))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))
    node = field(1, b"x") + field(2, b"y") + field(3, b"n0") + field(4, b"Relu")
    graph = field(1, node) + field(2, b"g") + field(11, value(b"x")) + field(12, value(b"y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


# As OUTCOME of made_times.py, without any noise.
TIMING = "'timing', NULL, ?, 0.0, ?, ?, 0.95, ?, ?, ?, 5, 5, 1, '', '[]'"
COLUMNS = ("outcome, reason, median_ns, sd_log, ci_low_ns, ci_high_ns, ci_level, min_ns, p10_ns, p90_ns, blocks, "
           "processes, copies, topology, flags")


def record_model(table, name, identity, kernels, ns):
    """Puts a model of these kernels, of the first calls of each so many, and its time into a
    table."""
    device, setting = table.execute("SELECT device, setting FROM row LIMIT 1").fetchone()
    plan = table.execute("INSERT INTO plan(identity, model, source, batch, weight_bytes, activation_bytes) "
                         "VALUES (?, ?, 'runtime', 1, 4096, 8192)", [identity, name]).lastrowid
    for position, (kernel, count) in enumerate(kernels):
        table.execute("INSERT INTO plan_kernel(plan, position, name, kernel, count) VALUES (?, ?, ?, ?, ?)",
                      [plan, position, f"node{position}", kernel, count])
    table.execute(f"INSERT INTO model_row(plan_identity, device, setting, name, batch, {COLUMNS}) "
                  f"VALUES (?, ?, ?, ?, 1, {TIMING})", [identity, device, setting, name, *[ns] * 6])


def masked(text):
    """Without what the clock says."""
    text = re.sub(r"\b\d+:\d\d\b", "M:SS", text)
    return re.sub(r"\babout \d+ more (second|minute|hour)s?\b", "about N more minutes", text)


class Golden(unittest.TestCase):
    """Whole outputs, at both widths."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="oplat-terminal-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

        def make(*command):
            subprocess.run(command, cwd=cls.folder, check=True, capture_output=True)

        program, table = str(HERE / "paddle_program.py"), str(HERE / "paddle_table.py")
        make(sys.executable, program, "net")
        make(sys.executable, program, "wide", "--wide")
        make(sys.executable, table, "D_threads_4_power_mode_0.pkl")
        make(OPLAT, "import", "D_threads_4_power_mode_0.pkl", "--format", "paddleslim", "--table", "d.oplat", "--quiet")
        Path(cls.folder, "lib.out").write_text(LIBRARY)
        make(OPLAT, "import", "lib.out", "--format", "tinynas", "--device", "desk", "--precision", "FP32", "--table",
             "recorded.oplat", "--quiet")
        Path(cls.folder, "a model of many layers.onnx").write_bytes(relu_model())
        connection = sqlite3.connect(Path(cls.folder, "recorded.oplat"))
        with connection as recorded:
            kernels = [kernel for kernel, in recorded.execute("SELECT id FROM kernel ORDER BY id")]
            record_model(recorded, "a model of many layers.onnx", 32 * "0", zip(kernels, (1, 3, 2)), 1.5e6)
        connection.close()
        cls.replay = ("--runtime", "replay", "--worker-argument", "recorded.oplat")

    def check(self, name, *arguments, status=0):
        for columns in (80, 120):
            with self.subTest(columns=columns):
                self.check_one(name, columns, *arguments, status=status)

    def check_one(self, name, columns, *arguments, status=0):
        found, text = run(arguments, columns, self.folder)
        text = masked(plain(text))
        for line in text.split("\n"):
            self.assertLessEqual(len(line), columns, line)
        self.assertEqual(found, status, text)
        golden = GOLDEN / f"{name}-{columns}.txt"
        if UPDATE:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text)
        self.assertEqual(text, golden.read_text())

    def test_predict(self):
        self.check("predict", "predict", "net.pdmodel", "--table", "d.oplat")

    def test_no_color(self):
        question = ("predict", "net.pdmodel", "--table", "d.oplat")
        for more in ({}, {"NO_COLOR": ""}):
            _, text = run(question, 80, self.folder, **more)
            self.assertRegex(text, COLOUR, "without NO_COLOR, or if that is empty")
        _, text = run(question, 80, self.folder, NO_COLOR="1")
        self.assertIn("7.94 ms", text)
        self.assertNotRegex(text, COLOUR)
        done = subprocess.run([OPLAT, *question], cwd=self.folder, capture_output=True, text=True)
        self.assertNotIn("\x1b", done.stdout + done.stderr, "piped")

    def test_predict_per_op(self):
        self.check("predict-per-op", "predict", "net.pdmodel", "--table", "d.oplat", "--per-op")

    def test_predict_keys(self):
        self.check("predict-keys", "predict", "net.pdmodel", "--table", "d.oplat", "--keys")

    def test_predict_sweep(self):
        self.check("predict-sweep", "predict", "net.pdmodel", "--table", "d.oplat", "--threads", "2,4,8", status=6)

    def test_predict_several(self):
        self.check("predict-several", "predict", "net.pdmodel", "gone.pdmodel", "--table", "d.oplat", status=3)

    def test_missing_kernels(self):
        self.check("missing", "predict", "wide.pdmodel", "--table", "d.oplat", status=4)

    def test_compare(self):
        self.check("compare", "compare", "net.pdmodel", "net.pdmodel", "--table", "d.oplat")

    def test_advise(self):
        self.check("advise", "advise", "net.pdmodel", "--table", "d.oplat", "--max-latency", "8ms", "--threads", "2,4")

    def test_inspect(self):
        self.check("inspect", "inspect", "net.pdmodel")

    def test_measure(self):
        self.check("measure", "measure", "a model of many layers.onnx", "gone.onnx", *self.replay, status=3)

    def test_measure_per_op(self):
        worker = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'made_worker.py'))}"
        self.check("measure-per-op", "measure", "a model of many layers.onnx", "--per-op", "--worker", worker)

    def test_validate(self):
        self.check("validate", "validate", "a model of many layers.onnx", "--table", "recorded.oplat", *self.replay)

    def test_plan(self):
        self.check("plan", "plan", "net.pdmodel", "--plan", "rules:paddle-lite")

    def test_plan_keys(self):
        self.check("plan-keys", "plan", "net.pdmodel", "--plan", "rules:paddle-lite", "--keys")

    def test_measure_sweep(self):
        self.check("measure-sweep", "measure", "a model of many layers.onnx", "--batch", "1,2", *self.replay, status=3)

    def test_profile(self):
        for columns in (80, 120):
            Path(self.folder, "profiled.oplat").unlink(missing_ok=True)
            with self.subTest(columns=columns):
                self.check_one("profile", columns, "profile", "--model", "a model of many layers.onnx", "--table",
                               "profiled.oplat", *self.replay)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if word != "--update")])
