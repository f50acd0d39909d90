# SPDX-License-Identifier: Apache-2.0
"""docs/guide/python.md does what it shows: its sessions and its recipes run, in order.

Numbers differ from machine to machine, so each stands for any other. Only for an installed wheel:
the page needs ONNX Runtime, pyarrow, Optuna and Ray. torch_test.py runs what needs torch.
"""
import doctest
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import oplat
from support import IS_WHEEL, network, profile_whole

FENCE = re.compile(r"^```(pycon|python recipe|python nets\.py)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]\d+)?")
UNIT = re.compile(r"# (?:ns|us|ms|s)\b")
MAX_RECIPE_LINES = 30


def without_numbers(text):
    return UNIT.sub("# TIME", NUMBER.sub("#", text))


class AnyNumbers(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return super().check_output(without_numbers(want), without_numbers(got), optionflags)


def is_installed(package):
    return importlib.util.find_spec(package) is not None


@unittest.skipUnless(IS_WHEEL, "the wheel is tested with what the page needs")
class GuideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        page = (Path(__file__).parent / "python.md").read_text(encoding="utf-8")
        blocks = FENCE.findall(page)
        # Of the rows, which the table holds by then, none needs so long.
        cls.sessions = [text.replace('budget="20s"', 'budget="1s"') for kind, text in blocks if kind == "pycon"]
        cls.recipes = [text for kind, text in blocks if kind == "python recipe"]
        nets, = [text for kind, text in blocks if kind == "python nets.py"]
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        profile_whole(network("net.onnx"), "desk.oplat")
        Path("nets.py").write_text(nets, encoding="utf-8")

    def test_the_page_has_what_is_tested_here(self):
        self.assertEqual((len(self.sessions), [re.search(r"^import (optuna|ray)$", text, flags=re.MULTILINE)[1] for text in self.recipes]),
                         (5, ["optuna", "ray"]))

    @unittest.skipUnless(is_installed("pyarrow"), "pyarrow is not installed")
    def test_sessions(self):
        runner = doctest.DocTestRunner(AnyNumbers(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        session = doctest.DocTestParser().get_doctest("\n".join(self.sessions), {}, "python.md", None, 0)
        said = []
        runner.run(session, out=said.append)
        self.assertEqual(runner.summarize(verbose=False).failed, 0, "".join(said))

    @unittest.skipUnless(is_installed("optuna"), "optuna is not installed")
    def test_with_optuna(self):
        self.run_recipe(self.recipes[0])

    @unittest.skipUnless(is_installed("ray"), "ray is not installed")
    def test_with_ray(self):
        self.run_recipe(self.recipes[1])

    def run_recipe(self, recipe):
        lines = [line for line in recipe.splitlines() if line.strip()]
        self.assertLessEqual(len(lines), MAX_RECIPE_LINES)
        Path("recipe.py").write_text(recipe, encoding="utf-8")
        # A socket's path, which Ray makes below its folder, is short.
        with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as short:
            done = subprocess.run([sys.executable, "-W", "error::FutureWarning:__main__", "recipe.py"], capture_output=True, text=True,
                                  timeout=300, check=False, env={**os.environ, "RAY_TMPDIR": short, "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        last = done.stdout.strip().splitlines()[-1]
        self.assertRegex(last, r"^\{'width0': \d+, .*\} \d+\.\d+ ms at most$")
        ms = float(re.search(r"\} (\S+) ms", last)[1])
        self.assertLessEqual(ms, float(re.search(r"LIMIT_MS = (\S+)", recipe)[1]))


if __name__ == "__main__":
    unittest.main()
