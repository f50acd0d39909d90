# SPDX-License-Identifier: Apache-2.0
"""oplat.mmt: tables and spaces; with torch, predictions; with torch and MNN ($OPLAT_MNN_PYTHON), the whole workflow."""
import contextlib
import io
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest
import warnings
from pathlib import Path

import oplat
from oplat.mmt import operators
from oplat.mmt.parser import parse_yaml, predict_latency

try:
    import torch
except ImportError:
    torch = None

MNN = os.environ.get("OPLAT_MNN_PYTHON", "")
HAS_MNN = bool(MNN) and subprocess.run([MNN, "-c", "import MNN"], capture_output=True, check=False).returncode == 0

SPACE = """
torch.nn:
    Linear:
        in_features: [8]
        out_features: [10, 100]
        input_shape: [[1, 8]]
    Conv2d:
        in_channels: [4]
        out_channels: [6]
        kernel_size: [3]
        padding: [0]
        groups: [1, 3]
        input_shape: [[1, 4, 8, 8]]
    ReLU:
        no_params: true
        input_shape: [[1, 4, 8, 8]]
"""


def entry(name, shape, avg, low=None, high=None):
    return {"input_shape": shape, "init_param": None, "mnn_fname": f"{name}.mnn", "avg": avg, "max": high or avg, "min": low or avg,
            "repr": name, "set_path": ""}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="oplat-mmt-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def table(self, *entries):
        path = self.folder / "meta_latency.pkl"
        operators.store(path, list(entries))
        return path


class Tables(Files):
    def test_what_is_stored_is_loaded(self):
        made = entry("Block", [1, 8], 0.5)
        made["init_param"] = {"pair": (1, 2.5), "list": [[1], []], "none": None, "flag": True, "tuple": {1: "a"}}
        self.assertEqual(operators.load(self.table(made)), [made])
        self.assertEqual(list(operators.load(self.table(made))[0]), list(made))

    def test_other_globals_are_refused_by_name_and_offset(self):
        path = self.folder / "bad.pkl"
        path.write_bytes(b"\x80\x02](cos\nsystem\n)\x81}be.")
        with self.assertRaisesRegex(oplat.InputError, "bad.pkl: byte 4: the global os.system could run code"):
            operators.load(path)
        with self.assertRaises(oplat.InputError):
            operators.load(self.folder / "missing.pkl")

    def test_spaces(self):
        found = parse_yaml(self.write("ops.yaml", SPACE))
        self.assertEqual([each["class"] for each in found], ["Linear", "Linear", "Conv2d", "Conv2d", "ReLU"])
        self.assertEqual(found[2]["parameters"]["padding"], 0)
        self.assertIsNone(found[4]["parameters"])
        for text, word in (("- 1", "a list"), ("torch.nn: 1", "'1'"), ("torch.nn:\n    ReLU:\n        no_params: 3", "no_params")):
            with self.assertRaisesRegex(oplat.InputError, word):
                parse_yaml(self.write("bad.yaml", text))


@unittest.skipUnless(torch, "torch is not installed")
class Predictions(Files):
    def block(self, name):
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(4, 4, 3, padding=1)

            def forward(self, x):
                return self.conv(x).relu()

            def __repr__(self):
                return name

        return Block()

    def model(self):
        first, second = self.block("Block-1"), self.block("Block-2")

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second, self.head = first, second, torch.nn.Linear(4, 10)

            def forward(self, x):
                x = self.second(self.first(x)) + x
                return self.head(x.mean((2, 3)))

        return Net()

    def test_blocks_count_whole_and_the_rest_is_estimated(self):
        path = self.table(entry("Block-1", [1, 4, 8, 8], 2.0, 1.5, 3.0), entry("Block-1", [1, 4, 8, 8], 9.0), entry("Block-2", [1, 4, 8, 8], 4.0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            total = predict_latency(self.model(), path, [1, 4, 8, 8])
        known = [part.ms for part in total.parts if part.source == "table"]
        self.assertEqual(known, [2.0, 4.0])
        names = [part.name for part in total.parts if part.source == "estimate"]
        self.assertEqual(names, ["Net: add", "Net: mean", "Linear: addmm"])
        self.assertGreater(total, 6.0)
        self.assertTrue(all(0 < part.low < part.ms < part.high for part in total.parts if part.source == "estimate"))
        self.assertLess(total.low, total)
        self.assertLess(total, total.high)
        self.assertTrue(any(issubclass(each.category, oplat.PredictionWarning) and "3 operators" in str(each.message) for each in caught))

    def test_everything_in_the_table_is_a_sum(self):
        model = torch.nn.Sequential(self.block("A"), self.block("B"))
        path = self.table(entry("A", [1, 4, 8, 8], 0.25), entry("B", [1, 4, 8, 8], 0.5))
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            self.assertEqual(predict_latency(model, path, [1, 4, 8, 8], verbose=True), 0.75)
        lines = printed.getvalue().splitlines()
        self.assertRegex(lines[0], r"ops +input_shape +output_shape +Avg latency\(ms\)")
        self.assertRegex(lines[-1], r"Sum +- +- +0.7500")

    def test_the_model_stays_as_it_was(self):
        model = self.model().train()
        path = self.table(entry("Block-1", [1, 4, 8, 8], 2.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predict_latency(model, path, [1, 4, 8, 8])
        self.assertTrue(all(module.training for module in model.modules()))
        self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()))

    def test_what_cannot_be_predicted_is_an_error(self):
        path = self.table(entry("Block-1", [1, 4, 9, 9], 2.0))
        with self.assertRaises(oplat.MissingKernels) as missing:
            predict_latency(self.model(), path, [1, 4, 8, 8])
        self.assertEqual(len(missing.exception.keys), 7)
        with self.assertRaisesRegex(oplat.InputError, "Net cannot run on an input of"):
            predict_latency(self.model(), path, [1, 5, 8, 8])
        with self.assertRaisesRegex(oplat.InputError, "Module cannot run"):
            predict_latency(torch.nn.Module(), path, [1])
        with self.assertRaisesRegex(oplat.InputError, "no operator with a latency"):
            predict_latency(self.model(), self.table(entry("A", [1], 0)), [1, 4, 8, 8])

    def test_embeddings_get_indices(self):
        model = torch.nn.Sequential(torch.nn.Embedding(10, 4), torch.nn.Linear(4, 4))
        path = self.table(entry("Linear(in_features=4, out_features=4, bias=True)", [1, 3, 4], 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertGreater(predict_latency(model, path, [1, 3]), 0.5)


@unittest.skipUnless(torch and HAS_MNN, "torch or MNN is not installed")
class Workflow(Files):
    def test_the_recipe_of_the_guide(self):
        page = Path(__file__).resolve().parents[3] / "docs/guide/from-mmt.md"
        if not page.exists():
            self.skipTest(f"no {page}")
        recipe, = re.findall(r"^```python recipe\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(recipe, str(page), "exec"), {})  # our own page
        self.assertRegex(printed.getvalue(), r"Linear: addmm .* estimate")
        self.assertRegex(printed.getvalue(), r"Conv2d\(3, 16.* table")
        self.assertRegex(printed.getvalue(), r"\n[0-9.]+ ms, [0-9.]+ to [0-9.]+\n$")

    def test_from_the_space_to_a_prediction(self):
        from oplat.mmt.converter import generate_ops_list, register
        from oplat.mmt.meter import get_latency, meter_ops

        ops = self.folder / "ops"
        with contextlib.redirect_stdout(io.StringIO()):
            made = generate_ops_list(self.write("ops.yaml", SPACE), ops)
        self.assertEqual(len(made.operators), 4)
        self.assertEqual(len(made.left_out), 1)
        self.assertIn("groups=3", made.left_out[0])
        self.assertEqual(len({each["mnn_fname"] for each in made.operators}), 4)
        added = register(torch.nn.Sigmoid, ops, no_params=True, input_shape=[[1, 4, 8, 8]])
        self.assertEqual(len(added.operators), 1)
        copied = self.folder / "copied"
        shutil.copytree(ops, copied)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = meter_ops(copied, times=5)
            self.assertEqual(found, meter_ops(copied, times=5))  # all done: nothing is measured again
        self.assertEqual([each["repr"] for each in found][0], "Sigmoid()")
        self.assertTrue(all(0 < each["min"] <= each["avg"] <= each["max"] for each in found))
        self.assertEqual(get_latency(copied / found[0]["mnn_fname"], times=7, verbose=False)["repeat"], 7)
        model = torch.nn.Sequential(torch.nn.Linear(8, 10))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            total = predict_latency(model, copied / "meta_latency.pkl", [1, 8])
        self.assertEqual(total, found[1]["avg"])

    def test_unknown_classes_are_errors_before_anything_is_written(self):
        from oplat.mmt.converter import generate_ops_list

        for text, word in (("torch.nn:\n    Fly:\n        no_params: true\n        input_shape: [[1]]", "torch.nn.Fly"),
                           ("no_such_package:\n    A:\n        no_params: true\n        input_shape: [[1]]", "no_such_package")):
            with self.assertRaisesRegex(oplat.InputError, word):
                generate_ops_list(self.write("ops.yaml", text), self.folder / "ops")
        self.assertFalse((self.folder / "ops").exists())


class MissingMnn(Files):
    def test_the_error_says_how_to_install_it(self):
        from oplat.mmt.meter import get_latency

        before = os.environ.get("OPLAT_MNN_PYTHON")
        os.environ["OPLAT_MNN_PYTHON"] = "missing/python"
        try:
            with self.assertRaisesRegex(oplat.RuntimeUnavailable, "pip install MNN"):
                get_latency(self.write("a.mnn", "no model"))
        finally:
            os.environ.pop("OPLAT_MNN_PYTHON")
            if before is not None:
                os.environ["OPLAT_MNN_PYTHON"] = before


if __name__ == "__main__":
    unittest.main()
