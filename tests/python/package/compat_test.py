# SPDX-License-Identifier: Apache-2.0
"""oplat.compat.install(): programs written for other systems run as they are, in processes of their own."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import oplat
import oplat.compat
from oplat.mmt import operators


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oplat-compat-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, program, status=0):
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(program)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr


class Install(Folder):
    def test_names_are_those_of_oplat_afterwards(self):
        self.assertEqual(self.run_program("""
            import oplat.compat
            oplat.compat.install("mmt")
            oplat.compat.install("mmt")
            from mmt.converter import generate_ops_list
            from mmt.meter import meter_ops
            from mmt.parser import predict_latency
            import mmt.predictor, oplat.mmt.meter
            print(meter_ops is oplat.mmt.meter.meter_ops, mmt.predictor.latency_predictor.__module__)
            """), "True oplat.mmt.predictor\n")

    def test_what_is_imported_already_stays(self):
        (self.folder / "mmt.py").write_text("theirs = True\n", encoding="utf-8")
        self.assertEqual(self.run_program("""
            import mmt, oplat, oplat.compat, sys
            try:
                oplat.compat.install("mmt")
            except oplat.UsageError as error:
                print("mmt.py; call install('mmt') first" in str(error))
            print(mmt.theirs, "mmt.meter" in sys.modules)
            """), "True\nTrue False\n")

    def test_unknown_systems_are_refused(self):
        with self.assertRaisesRegex(oplat.UsageError, "'nn-meter': expected 'mmt'"):
            oplat.compat.install("nn-meter")

    def test_pickles_of_mmt_load_to_their_class(self):
        operators.store(self.folder / "meta_latency.pkl", [{"input_shape": [1, 8], "init_param": None, "mnn_fname": "a.mnn", "avg": 0.5, "max": 0.5,
                                                            "min": 0.5, "repr": "Block-8", "set_path": ""}])
        self.assertEqual(self.run_program("""
            import oplat.compat
            oplat.compat.install("mmt")
            import pickle
            with open("meta_latency.pkl", "rb") as file:
                found = pickle.load(file)
            print(found, found[0].avg, found[0].input_shape)
            """), "[Block-8] 0.5 [1, 8]\n")


if __name__ == "__main__":
    unittest.main()
