# SPDX-License-Identifier: Apache-2.0
"""oplat.mmt: tables and spaces; with torch, predictions; with torch and MNN ($OPLAT_MNN_PYTHON),
the whole workflow."""
import contextlib
import importlib
import io
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings
from pathlib import Path
from unittest import mock

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


@unittest.skipUnless(os.environ.get("OPLAT_TEST_REQUIRE") == "1", "OPLAT_TEST_REQUIRE is not 1")
class Environment(unittest.TestCase):
    def test_torch_is_there(self):
        """Else most of what is about MMT and PyTorch would be skipped, and nobody would see it."""
        self.assertIsNotNone(torch, "scripts/setup installs Debian's python3-torch")


class Tables(Files):
    def test_what_is_stored_is_loaded(self):
        made = entry("Block", [1, 8], 0.5)
        made["init_param"] = {"pair": (1, 2.5), "list": [[1], []], "none": None, "flag": True, "tuple": {1: "a"}}
        self.assertEqual(operators.load(self.table(made)), [made])
        self.assertEqual(list(operators.load(self.table(made))[0]), list(made))

    def test_it_is_no_table_of_oplat_but_can_be_imported(self):
        path = self.table(entry("Block", [1, 8], 0.5))
        with self.assertRaisesRegex(oplat.InputError, "meta_latency.pkl.* import it with: oplat import .* --format mmt "):
            oplat.Table(path)

    def test_other_globals_are_refused_by_name_and_offset(self):
        path = self.folder / "bad.pkl"
        path.write_bytes(b"\x80\x02](cos\nsystem\n)\x81}be.")
        with self.assertRaisesRegex(oplat.InputError, "bad.pkl: byte 4: the global os.system could run code"):
            operators.load(path)
        with self.assertRaises(oplat.InputError):
            operators.load(self.folder / "missing.pkl")

    def test_the_class_in_tables_of_mmt_1_is_a_name(self):
        """MMT 1 and 2.0 keep the class itself; nothing of it is imported."""
        path = self.folder / "meta.pkl"
        path.write_bytes(b"\x80\x02](cmmt.utils\nops_meta\n)\x81}(X\x09\0\0\0classnamecno_such\nBlock\nX\x03\0\0\0avgK\x01ube.")
        found = operators.load(path)
        self.assertEqual(found, [{"classname": operators.ClassName("no_such", "Block"), "avg": 1}])
        operators.store(path, found)
        self.assertEqual(operators.load(path), found)
        self.assertNotIn("no_such", sys.modules)
        path.write_bytes(path.read_bytes().replace(b"classname", b"otherwise"))
        with self.assertRaisesRegex(oplat.InputError, r"byte \d+: the global no_such.Block could run code"):
            operators.load(path)

    def test_spaces(self):
        found = parse_yaml(self.write("ops.yaml", SPACE))
        self.assertEqual([each["class"] for each in found], ["Linear", "Linear", "Conv2d", "Conv2d", "ReLU"])
        self.assertEqual(found[2]["parameters"]["padding"], 0)
        self.assertIsNone(found[4]["parameters"])
        for text, word in (("- 1", "a list"), ("torch.nn: 1", "'1'"), ("torch.nn:\n    ReLU:\n        no_params: 3", "no_params"),
                           ("", "is empty"), ("torch.nn", "expected packages"), ("torch.nn: {ReLU: None}", "'None'"),
                           ("torch.nn: {ReLU: {? [1, 2] : [1]}}", "bad.yaml"), ("torch.nn: {A: {b: [{c: 1}], input_shape: [[1]]}}", "a map"),
                           ("torch.nn: {A: {b: [1], input_shape: [[1, -1]]}}", "dimension -1"), ("a: {b: [", "bad.yaml")):
            with self.assertRaisesRegex(oplat.InputError, word):
                parse_yaml(self.write("bad.yaml", text))
        self.write("bad.yaml", "torch.nn").write_bytes(b"torch.nn: {A: {b: ['\xff'], input_shape: [[1]]}}")
        with self.assertRaisesRegex(oplat.InputError, "bad.yaml: is not UTF-8"):
            parse_yaml(self.folder / "bad.yaml")

    def test_scalars_are_what_yaml_says(self):
        values = "[1, -2, 1.5, 1e-3, true, no, null, text, 'two words', inf, nan, [1, [2]], '', '3', \"yes\", ~]"
        found = parse_yaml(self.write("ops.yaml", f"p: {{A: {{b: {values}, input_shape: [{', '.join(['[1]'] * 16)}]}}}}"))
        self.assertEqual([each["parameters"]["b"] for each in found],
                         [1, -2, 1.5, 1e-3, True, False, None, "text", "two words", "inf", "nan", [1, [2]], "", "3", "yes", None])


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
        self.assertRegex(lines[0], r"ops +input_shape +output_shape +Avg latency\(ms\) +interval\(ms\) +source$")
        self.assertRegex(lines[1], r"^A +\[1, 4, 8, 8\] +\[1, 4, 8, 8\] +0\.2500 +0\.2500 to 0\.2500 +table$")
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

    def test_decisions_by_values_are_said(self):
        class Choice(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

            def forward(self, x):
                return self.first(x) if x.sum() > 0 else self.second(x)

        path = self.table(entry("Linear(in_features=8, out_features=8, bias=True)", [1, 8], 0.5))
        for _ in range(3):  # the same input each time
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                total = predict_latency(Choice(), path, [1, 8])
            self.assertEqual([part.ms for part in total.parts if part.source == "table"], [0.5])
            self.assertIn("Choice decides by values of its tensors (Choice: local_scalar_dense)", str(caught[0].message))

    def test_shapes_of_tensors_and_arrays(self):
        import numpy

        path = self.table(entry("A", [1, 4, 8, 8], 0.25))
        shape = (1, 4, 8, 8)
        for given in (shape, torch.ones(shape).shape, numpy.array(shape), [numpy.int64(dim) for dim in shape]):
            self.assertEqual(predict_latency(torch.nn.Sequential(self.block("A")), path, given), 0.25)

    def test_shapes_that_are_none(self):
        path = self.table(entry("Block-1", [1, 4, 8, 8], 2.0))
        for shape in ("1,4,8,8", 4, [], None, [1, -4, 8, 8], [1, 4.0, 8, 8], [True]):
            with self.assertRaisesRegex(oplat.InputError, "the input shape is"):
                predict_latency(self.model(), path, shape)
        with self.assertRaisesRegex(oplat.InputError, r"the input shape is tensor\(\[\[.{1,60}; expected.*\(list\(tensor.shape\) is that of a tensor\)$"):
            predict_latency(self.model(), path, torch.ones(1, 4, 8, 8))
        with self.assertRaisesRegex(oplat.InputError, "expected a torch.nn.Module"):
            predict_latency("resnet18", path, [1, 4, 8, 8])

    def test_modules_that_fail_inside_are_left_where_they_were_called(self):
        block = self.block("Block-1")

        class Careful(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.wrong, self.block = torch.nn.Linear(3, 3), block

            def forward(self, x):
                try:
                    x = self.wrong(x)
                except RuntimeError:
                    pass
                return self.block(x)

        path = self.table(entry("Block-1", [1, 4, 8, 8], 2.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = predict_latency(torch.nn.Sequential(Careful(), torch.nn.ReLU()), path, [1, 4, 8, 8]).parts
        self.assertEqual([part.name for part in parts], ["Block-1", "ReLU: relu"])

    def test_summary_lists_the_modules_of_some_classes(self):
        from oplat.mmt.parser import summary_model

        model = self.model()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = summary_model(model, [1, 4, 8, 8], [type(model.first), type(model.second), torch.nn.Conv2d, torch.nn.Linear],
                                  verbose=True)
        self.assertEqual(found, [("Block-1", [1, 4, 8, 8], [1, 4, 8, 8]), ("Block-2", [1, 4, 8, 8], [1, 4, 8, 8]),
                                 ("Linear(in_features=4, out_features=10, bias=True)", [1, 4], [1, 10])])
        lines = printed.getvalue().splitlines()
        self.assertEqual(lines[0], "first belongs to Block")
        self.assertRegex(lines[-4], r"^ops +input_shape +out_shape$")
        self.assertRegex(lines[-3], r"^Block-1 +\[1, 4, 8, 8\] +\[1, 4, 8, 8\]$")
        with contextlib.redirect_stdout(printed):
            self.assertEqual(summary_model(model, [1, 4, 8, 8], torch.nn.Linear), found[2:])
        with self.assertRaisesRegex(oplat.InputError, "classes"):
            summary_model(model, [1, 4, 8, 8], ["Conv2d"])

    def test_embeddings_get_indices(self):
        model = torch.nn.Sequential(torch.nn.Embedding(10, 4), torch.nn.Linear(4, 4))
        path = self.table(entry("Linear(in_features=4, out_features=4, bias=True)", [1, 3, 4], 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertGreater(predict_latency(model, path, [1, 3]), 0.5)

    def test_layers_of_attention_are_their_modules(self):
        """torch evaluates them in one operator, inside of which no module is called."""
        from oplat.mmt.parser import Call, record

        encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.5, batch_first=True), 1)
        layer = record(encoder, [2, 256, 64]).root.calls[0]
        modules = [each.name for each in layer.calls if isinstance(each, Call)]
        self.assertEqual([modules.count(name) for name in ("MultiheadAttention", "Linear", "LayerNorm")], [1, 2, 2], modules)
        rows, weights = 2 * 256, 4 * 64 * 64 + 2 * 64 * 128
        products = 2 * rows * weights + 4 * rows * 256 * 64
        self.assertTrue(products < layer.work() < 4 * products, layer.work() / products)
        self.assertTrue(all(each.training for each in encoder.modules()), "flags are as they were")
        self.assertEqual(encoder.layers[0].self_attn.dropout, 0.5)

    def test_recurrent_layers_count_as_their_products(self):
        """Some versions of torch execute one as one operator."""
        from oplat.mmt.parser import record

        lstm = record(torch.nn.LSTM(32, 64), [200, 3, 32]).root
        products = 2 * 600 * 4 * 64 * (32 + 64)
        self.assertTrue(products <= lstm.work() < 10 * products, lstm.work() / products)

    def test_a_table_that_is_looked_up_is_not_read_whole(self):
        from oplat.mmt.parser import record

        self.assertLess(record(torch.nn.Embedding(100_000, 8), [1, 4]).root.work(), 100_000)


@unittest.skipUnless(torch and HAS_MNN, "torch or MNN is not installed")
class Workflow(Files):
    def test_what_the_guide_shows(self):
        """Its files and recipes, then the lines of MMT's own page that it quotes, as they are."""
        page = Path(__file__).resolve().parents[3] / "docs/guide/from-mmt.md"
        if not page.exists():
            self.skipTest(f"no {page}")
        blocks = re.findall(r"^```(\S+) (\S+)\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for _, name, text in blocks:
            if name in ("ops.yaml", "resnet18.py"):
                self.write(name, text)
        recipes = [text for kind in blocks for text in kind[2:] if kind[:2] == ("python", "recipe")]
        quoted = [text for kind in blocks for text in kind[2:] if kind[:2] == ("python", "mmt")]
        self.assertEqual((len(recipes), len(quoted)), (3, 4))
        # 224 x 224 takes a table of its own. The fragment of a class is not a program, and the
        # folder not one of a test.
        rows = [entry("Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", [1, 3, 224, 224], 2.0),
                entry("ResNetBasicBlock-16-16-1-3-", [1, 16, 224, 224], 8.0)]
        table = f"path = {str(self.table(*rows))!r}"
        lines = [table, *(text.replace('"/path/ops_folder"', '"ops"') for text in quoted[1:]), "print(f'quoted {pred_latency:.3f}')"]
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", "\n".join([*recipes, *lines])], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (r"\nResNetBasicBlock-16-16-1-3- +\[1, 16, 32, 32\] +\[1, 16, 32, 32\]\n", r"Linear: addmm .* estimate", r"Conv2d\(3, 16.* table",
                      r"\n[0-9.]+ ms, [0-9.]+ to [0-9.]+\n", r"\n5 models, mean error ", r"\nsum [0-9.]+ ms, corrected [0-9.]+ ms",
                      r"\nquoted (18|19|2\d)\.\d+\n$"):
            self.assertRegex(done.stdout, words)

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
            # all done: nothing is measured again
            self.assertEqual(found, meter_ops(copied, times=5))
        self.assertEqual([each["repr"] for each in found][0], "Sigmoid()")
        self.assertTrue(all(0 < each["min"] <= each["avg"] <= each["max"] for each in found))
        self.assertEqual(get_latency(copied / found[0]["mnn_fname"], times=7, verbose=False)["repeat"], 7)
        model = torch.nn.Sequential(torch.nn.Linear(8, 10))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            total = predict_latency(model, copied / "meta_latency.pkl", [1, 8])
        self.assertEqual(total, found[1]["avg"])

    def test_an_export_goes_on_where_it_was_stopped(self):
        from oplat.mmt.converter import generate_ops_list

        self.write("oplat_grown.py", """
            import torch

            class Grown(torch.nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.inner = torch.nn.Linear(width, 2)

                def forward(self, x):
                    return self.inner(x)

                def __repr__(self):
                    return "Grown"
            """)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.addCleanup(sys.modules.pop, "oplat_grown", None)
        space = self.write("ops.yaml", """
            torch.nn:
                Linear:
                    in_features: [8]
                    out_features: [1, 2, 3]
                    input_shape: [[1, 8]]
            oplat_grown:
                Grown:
                    width: [8]
                    input_shape: [[1, 8]]
            """)
        ops, converted = self.folder / "ops", []
        real = operators.mnn_tool

        def tool(task, source, target):
            converted.append(target.name)
            if len(converted) == 3:
                target.write_bytes(b"half a mod")
                raise KeyboardInterrupt
            return real(task, source, target)

        with mock.patch.object(operators, "mnn_tool", tool), contextlib.redirect_stdout(io.StringIO()):
            with self.assertRaises(KeyboardInterrupt):
                generate_ops_list(space, ops)
            self.assertFalse((ops / "meta.pkl").exists())
            made = generate_ops_list(space, ops)
            self.assertEqual(len(converted), 5)  # the third one again, and the fourth
            self.assertEqual(generate_ops_list(space, ops), made)
            self.assertEqual(len(converted), 5)
            # A class that changed, though its repr did not, and a file that is damaged.
            self.write("oplat_grown.py", (self.folder / "oplat_grown.py").read_text(encoding="utf-8").replace("self.inner(x)", "self.inner(x) + 1"))
            sys.modules.pop("oplat_grown")
            importlib.invalidate_caches()
            (ops / made.operators[0]["mnn_fname"]).write_bytes(b"damaged")
            generate_ops_list(space, ops)
        self.assertEqual(sorted(converted[5:]), sorted(made.operators[at]["mnn_fname"] for at in (0, 3)))

    def test_operators_that_the_original_mixed_up_are_files_of_their_own(self):
        """Linear(512, 10) and Linear(512, 100) had one file there, which was of whichever came
        last."""
        from oplat.mmt.converter import register

        made = register(torch.nn.Linear, self.folder / "ops", in_features=[512, 512], out_features=[10, 100], input_shape=[[1, 512], [1, 512]])
        sizes = {each["init_param"]["out_features"]: (self.folder / "ops" / each["mnn_fname"]).stat().st_size for each in made.operators}
        self.assertGreater(sizes[10], 4 * 512 * 10)
        self.assertGreater(sizes[100], 4 * 512 * 100)
        self.assertLess(sizes[10], 4 * 512 * 100)

    def test_candidates_and_shapes_of_numpy(self):
        import numpy
        from oplat.mmt.converter import register

        made = register(torch.nn.Linear, self.folder / "ops", in_features=numpy.array([4, 8]), out_features=range(2, 3),
                        input_shape=[torch.ones(1, 4).shape, numpy.array([1, 8])])
        self.assertEqual([(each["init_param"], each["input_shape"]) for each in operators.load(self.folder / "ops" / "meta.pkl")],
                         [({"in_features": 4, "out_features": 2}, [1, 4]), ({"in_features": 8, "out_features": 2}, [1, 8])])
        self.assertEqual(made.left_out, [])

    def test_classes_that_make_no_operator_are_named(self):
        """Each with one that does, since a space of which nothing is left is an error."""
        from oplat.mmt.converter import generate_ops_list

        self.write("oplat_blocks.py", """
            import torch

            class Picky(torch.nn.Module):
                def __init__(self, sizes):
                    super().__init__()
                    {sizes: 1}

                def forward(self, x):
                    return x + 1

            class Silent(torch.nn.Module):
                pass

            class Wrong(torch.nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.inner = torch.nn.Linear(width, 2)

                def forward(self, x):
                    return self.inner(x)
            """)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.addCleanup(sys.modules.pop, "oplat_blocks", None)
        space = self.write("ops.yaml", """
            oplat_blocks:
                Picky:
                    sizes: [[1, 2], 3]
                    input_shape: [[1, 8], [1, 8]]
                Silent:
                    no_params: true
                    input_shape: [[1, 8]]
                Wrong:
                    width: [9]
                    input_shape: [[1, 8]]
            """)
        with contextlib.redirect_stdout(io.StringIO()):
            made = generate_ops_list(space, self.folder / "ops")
        self.assertEqual([each["init_param"] for each in made.operators], [{"sizes": 3}])
        for words, text in zip((r"Picky\(sizes=\[1, 2\]\): TypeError: unhashable type: 'list'", r"Silent cannot run .* NotImplementedError",
                                r"Wrong cannot run on an input of \[1, 8\]: RuntimeError"), made.left_out):
            self.assertRegex(text, words)
        self.assertEqual(len(made.left_out), 3)

    def test_parameters_that_no_table_holds_are_left_out(self):
        from oplat.mmt.converter import register

        for value in ({1, 2}, torch.nn.ReLU, float("inf"), 2**70):
            with self.assertRaisesRegex(oplat.InputError, "none of 1 operators.*slope=.* cannot be stored"), contextlib.redirect_stdout(io.StringIO()):
                register(torch.nn.LeakyReLU, self.folder / "ops", slope=[value], input_shape=[[1, 8]])
        self.assertFalse((self.folder / "ops" / "meta.pkl").exists())

    def test_networks_are_exported_measured_and_validated(self):
        from oplat.mmt.converter import convert2mnn, export_models, validation
        from oplat.mmt.meter import get_model_latency, meter_models
        from oplat.mmt.predictor import latency_predictor

        nets = self.folder / "nets"
        table = self.table(entry("Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))", [1, 3, 16, 16], 0.05))
        out = self.folder / "pairs.csv"
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            names = [export_models(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), *[torch.nn.Conv2d(8, 8, 3) for _ in range(depth)]),
                                   [1, 3, 16, 16], nets) for depth in range(3)]
            measured = meter_models(nets, times=5)
            found = validation(nets, table, save_path=out)
            learned = latency_predictor(str(table), out)
            total = learned(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Conv2d(8, 8, 3)), table, [1, 3, 16, 16])
        self.assertEqual(len(set(names)), 3)  # of one class and one input shape
        self.assertEqual(set(measured), set(names))
        self.assertEqual({each.model.removesuffix(".pth") for each in found}, {name.removesuffix(".mnn") for name in names})
        self.assertTrue(all((nets / each.model).exists() for each in found))
        self.assertEqual({each.true_ms for each in found}, {each["Avg"] for each in measured.values()})
        self.assertTrue(0 <= total.low < total < total.high)
        folder = self.folder / "one"
        folder.mkdir()
        name = convert2mnn(torch.nn.ReLU(), [1, 8], folder)
        self.assertEqual([path.name for path in folder.iterdir()], [name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(get_model_latency(torch.nn.ReLU(), [1, 8], folder, times=4)["repeat"], 4)
        self.assertEqual([path.name for path in folder.iterdir()], [name])
        for call in (lambda: convert2mnn(torch.nn.ReLU(), [1, 8], self.folder / "none" / "a.mnn"),
                     lambda: get_model_latency(torch.nn.ReLU(), [1, 8], self.folder / "none")):
            with self.assertRaisesRegex(oplat.InputError, "none: no such folder"):
                call()
        with self.assertRaisesRegex(oplat.InputError, r"Linear cannot run on an input of \[1, 9\]"):
            export_models(torch.nn.Linear(8, 8), [1, 9], nets)

    def test_a_table_of_oplat_answers_in_place_of_a_correction(self):
        from oplat.mmt.converter import export_onnx
        from oplat.mmt.predictor import latency_predictor

        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU())
        onnx, table = self.folder / "net.onnx", self.folder / "t.oplat"
        export_onnx(model, [1, 3, 16, 16], onnx)
        # On a busy machine the first seconds may leave a kernel without a time.
        for seconds in (5, 10, 20, 40):
            done = subprocess.run([oplat.program(), "profile", "--model", onnx, "--table", table, "--runtime", "mnn", "--device", "here",
                                   "--budget", f"{seconds}s", "--quiet"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            try:
                oplat.Table(table).predict(onnx)
                break
            except oplat.MissingKernels:
                continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = latency_predictor(table, None, level=0.8)(model, None, [1, 3, 16, 16])
            expected = oplat.Table(table).predict(onnx, level=0.8)
        self.assertEqual((float(found), found.low, found.high), (expected.ms, expected.lo, expected.hi))

    def test_measuring_needs_no_torch(self):
        """By the interpreter of MNN, in whose environment there is none."""
        from oplat.mmt.converter import register

        register(torch.nn.ReLU, self.folder / "ops", no_params=True, input_shape=[[1, 8]])
        shutil.copytree(self.folder / "ops", self.folder / "copied")
        shutil.rmtree(self.folder / "ops")
        program = ("import importlib.util, sys\nassert importlib.util.find_spec('torch') is None\nfrom oplat.mmt.meter import meter_ops\n"
                   "print(meter_ops(sys.argv[1], times=6)[0]['measured']['runs'])")
        done = subprocess.run([MNN, "-B", "-W", "ignore", "-c", program, self.folder / "copied"], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "6\n", done.stderr)

    def test_classes_lie_next_to_models_as_names(self):
        """The original loads them; oplat never does."""
        from oplat.mmt.converter import register, store_class

        made = register(torch.nn.ReLU, self.folder / "ops", no_params=True, input_shape=[[1, 8]])
        path = self.folder / "ops" / (made.operators[0]["mnn_fname"] + ".pj")
        self.assertIs(pickle.loads(path.read_bytes()), torch.nn.ReLU)  # our own bytes

        class Local:
            pass

        store_class(Local, self.folder / "local.pj")
        self.assertFalse((self.folder / "local.pj").exists())
        store_class(json.JSONDecoder, self.folder / "j.pj")
        self.assertIs(pickle.loads((self.folder / "j.pj").read_bytes()), json.JSONDecoder)

    def test_unknown_classes_are_errors_before_anything_is_written(self):
        from oplat.mmt.converter import generate_ops_list

        for text, word in (("torch.nn:\n    Fly:\n        no_params: true\n        input_shape: [[1]]", "torch.nn.Fly"),
                           ("no_such_package:\n    A:\n        no_params: true\n        input_shape: [[1]]", "no_such_package")):
            with self.assertRaisesRegex(oplat.InputError, word):
                generate_ops_list(self.write("ops.yaml", text), self.folder / "ops")
        self.assertFalse((self.folder / "ops").exists())


@unittest.skipUnless(torch, "torch is not installed")
class Packages(Files):
    def test_packages_that_cannot_be_imported_are_named(self):
        from oplat.mmt.converter import generate_ops_list

        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        for number, (text, words) in enumerate((("class A", "SyntaxError"), ("import sys\nsys.exit(3)", "SystemExit: 3"),
                                                ("raise ValueError('no')", "ValueError: no"), ("A = 1", "is not a class"),
                                                ("import no_such_module", "no_such_module"))):
            self.write(f"oplat_bad_{number}.py", text)
            space = self.write("ops.yaml", f"oplat_bad_{number}:\n    A:\n        no_params: true\n        input_shape: [[1]]")
            self.addCleanup(sys.modules.pop, f"oplat_bad_{number}", None)
            with self.assertRaisesRegex(oplat.InputError, f"oplat_bad_{number}.A.*{words}"):
                generate_ops_list(space, self.folder / "ops")
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
