#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command line prints on a terminal of 80 and of 120 columns.

usage: terminal_test.py OPLAT

Every command runs on a pseudo-terminal, for standard output and standard error alike. Some outputs
are compared as a whole, of others every line must fit. Nothing but the program is needed.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

OPLAT = str(Path(sys.argv[1]).resolve())
LIBRARY = """{Regular,1,3,224,224,32,3,2,1} 0.21
{Regular,1,32,112,112,64,1,1,0} 0.34
{Depthwise,1,64,112,112,64,3,1,1} 0.12
"""
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
            "row  median     +-  reuse  outcome  key",
            "  1  210 us  0.0 %      -  timing   tinynas:Conv{group=1,...1,32,112,112])->(&2)",
        ], text)
        self.assert_fits(text, 80)

    def test_rows_in_120_columns(self):
        status, text = self.run_in(120, "table", "rows", "t.oplat")
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
        _, text = self.run_in(200, "table", "rows", "t.oplat", COLUMNS="80")
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

    def test_no_color(self):
        _, text = self.run_in(80, "estimate", KEY, "--table", "t.oplat", NO_COLOR="1")
        self.assertNotIn("\x1b[1m", text)
        self.assertNotIn("\x1b[31m", text)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
