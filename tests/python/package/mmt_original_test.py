# SPDX-License-Identifier: Apache-2.0
"""Tables of oplat.mmt and of the original, each loaded by the other: PyPI's mnn-meter in the two
layouts that it had.

`OPLAT_REQUIRE_MMT=1 scripts/setup` installs the original into .venv-mmt. Its modules run in
processes of their own, on this interpreter's torch.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import oplat
from oplat.mmt import converter, operators
from oplat.mmt.parser import predict_latency

try:
    import torch
except ImportError:
    torch = None

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / ".venv-mmt"
# Where the modules of each version lie.
VERSIONS = {"2.2.0": HOME / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages", "1.0.2": HOME / "older"}
# Of .venv-mmt only what the original needs: torch has a numpy of its own.
PACKAGES = ("mmt", "tabulate", "tabulate.py", "yaml")
REASON = "no .venv-mmt, or no torch; OPLAT_REQUIRE_MMT=1 scripts/setup --no-export makes the first, and Debian's python3-torch is the second"

MODEL = """
import json, pickle, sys
from pathlib import Path
import torch

torch.manual_seed(0)
SHAPES = {"Conv2d": [1, 3, 8, 8], "ReLU": [1, 4, 6, 6]}

def model():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
"""
# The original's own class makes, fills and stores operators, as its converter and meter do around
# torch and MNN.
WRITE = MODEL + """
from mmt.utils import ops_meta

folder, protocol = Path(sys.argv[1]), int(sys.argv[2])
shared = [1, 4, 6, 6]
made = [ops_meta(torch.nn.Conv2d, SHAPES["Conv2d"], init_param={"in_channels": 3, "out_channels": 4, "kernel_size": 3}),
        ops_meta(torch.nn.ReLU, shared), ops_meta(torch.nn.Sigmoid, shared)]
for number, each in enumerate(made):
    each.return_instance()
    each.set_path = str(folder)
    each.record_mnn_fname(f"{number}.mnn")
    each.record_mnn_performance({"Avg": 0.5 + number, "Min": 0.25, "Max": 4.0})
for name, content in (("meta.pkl", made), ("meta_latency.pkl", made)):
    with open(folder / name, "wb") as file:
        pickle.dump(content, file, protocol)
"""
READ = MODEL + """
from mmt.parser import predict_latency
from mmt.utils import ops_meta

with open(sys.argv[1], "rb") as file:
    found = pickle.load(file)
assert all(type(each) is ops_meta for each in found)
total = predict_latency(model(), sys.argv[1], SHAPES["Conv2d"])
attributes = [{name: value for name, value in each.__dict__.items() if name != "classname"} for each in found]
print(json.dumps({"total": total, "attributes": attributes, "classes": [getattr(each, "classname", None) and each.classname.__name__ for each in found]}))
"""
namespace = {}


@unittest.skipUnless(torch and HOME.exists(), REASON)
class Original(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oplat-mmt-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        exec(MODEL, namespace)  # ours

    def original(self, version, program, *arguments):
        links = self.folder / f"packages-{version}"
        if not links.exists():
            links.mkdir()
            for name in PACKAGES:
                for home in (VERSIONS[version], VERSIONS["2.2.0"]):
                    if (home / name).exists():
                        (links / name).symlink_to(home / name)
                        break
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", program, *map(str, arguments)],
                              env={**os.environ, "PYTHONPATH": str(links)}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def predicted(self, path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return float(predict_latency(namespace["model"](), path, [1, 3, 8, 8]))

    def test_their_tables_are_loaded_here_and_ours_there(self):
        for version in VERSIONS:
            for protocol in (2, 3, 4, 5):
                with self.subTest(version=version, protocol=protocol):
                    place = self.folder / f"{version}-{protocol}"
                    place.mkdir()
                    self.original(version, WRITE, place, protocol)
                    path = place / "meta_latency.pkl"
                    found = operators.load(path)
                    self.assertEqual([each["avg"] for each in found], [0.5, 1.5, 2.5])
                    self.assertEqual([each["input_shape"] for each in found], [[1, 3, 8, 8], [1, 4, 6, 6], [1, 4, 6, 6]])
                    self.assertEqual(found[0]["init_param"], {"in_channels": 3, "out_channels": 4, "kernel_size": 3})
                    self.assertEqual(found[0].get("classname"),
                                     operators.ClassName("torch.nn.modules.conv", "Conv2d") if version == "1.0.2" else None)
                    self.assertEqual(self.predicted(path), 2.0)
                    for each in found:
                        each.update(avg=10 * each["avg"])
                    operators.store(path, found)
                    answer = json.loads(self.original(version, READ, path))
                    self.assertEqual(answer["total"], 20.0)
                    self.assertEqual(answer["total"], self.predicted(path))
                    self.assertEqual(answer["classes"], ["Conv2d", "ReLU", "Sigmoid"] if version == "1.0.2" else [None] * 3)
                    for theirs, ours in zip(answer["attributes"], found):
                        ours.pop("classname", None)
                        self.assertEqual(theirs, ours)
                        self.assertEqual(list(theirs), list(ours))

    def test_exported_tables_are_theirs_again(self):
        """Through a table of oplat, by the command line."""
        for version in VERSIONS:
            with self.subTest(version=version):
                place = self.folder / version
                place.mkdir()
                self.original(version, WRITE, place, 4)
                before = operators.load(place / "meta_latency.pkl")
                for arguments in (("import", place / "meta_latency.pkl", "--format", "mmt", "--device", "D", "--table", place / "t.oplat"),
                                  ("export", place / "t.oplat", "--format", "mmt", "--out", place / "again.pkl")):
                    done = subprocess.run([oplat.program(), *map(str, arguments)], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(operators.load(place / "again.pkl"), before)
                self.assertEqual(json.loads(self.original(version, READ, place / "again.pkl"))["total"], 2.0)

    def test_the_original_predicts_from_a_folder_that_we_made(self):
        """Of which MNN made none of the models: only the table and the classes count."""
        place = self.folder / "ops"
        place.mkdir()
        made = []
        for number, (cls, parameters) in enumerate(((torch.nn.Conv2d, {"in_channels": 3, "out_channels": 4, "kernel_size": 3}),
                                                    (torch.nn.ReLU, None))):
            name = converter.file_name(cls.__name__, str(parameters), namespace["SHAPES"][cls.__name__])
            converter.store_class(cls, place / f"{name}.pj")
            made.append({"input_shape": namespace["SHAPES"][cls.__name__], "init_param": parameters, "mnn_fname": name, "avg": 0.125 * (1 + number),
                         "max": 1.0, "min": 0.0625, "repr": repr(cls(**(parameters or {}))), "set_path": str(place),
                         "measured": {"by": "MNN 3.6.1", "threads": 4, "precision": "low", "processor": "p", "runs": 30}})
        operators.store(place / "meta_latency.pkl", made)
        answer = json.loads(self.original("2.2.0", READ, place / "meta_latency.pkl"))
        self.assertEqual(answer["total"], 0.375)
        self.assertEqual(answer["total"], self.predicted(place / "meta_latency.pkl"))


if __name__ == "__main__":
    unittest.main()
