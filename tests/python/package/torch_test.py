# SPDX-License-Identifier: Apache-2.0
"""oplat.torch: modules as models. What needs torch skips without it; run by the system's
interpreter, which may have Debian's torch, and by hand with a current one."""
import ast
import gc
import json
import math
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path
from unittest import mock

import oplat
import oplat.torch as ot
from support import profile_whole

try:
    import torch
    from torch import nn
except ImportError:
    torch = None

PAGE = Path(__file__).resolve().parents[3] / "docs/guide/python.md"

if torch:
    torch.set_num_threads(1)
    EXPORTERS = ("torch.export", "trace") if ot.has_torch_export() else ("trace",)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 3, padding=1)
            self.norm = nn.BatchNorm2d(4)

        def forward(self, x, unused=None, *, gain=None):
            y = torch.relu(self.norm(self.conv(x))) + x
            return y if gain is None else y * gain

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(Block(), Block())
            self.more = Block()
            self.head = nn.Linear(8, 10)

        def forward(self, x, mask=None, scale=None):
            x = self.more(self.blocks(x), None, gain=2.0)
            x = x if mask is None else x * mask
            x = x if scale is None else x / scale
            return {"logits": self.head(torch.cat([x, x * x], 1).mean((2, 3))), "all": [x]}

    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 5)

        def forward(self, x):
            return self.one(x) if x.sum() > 0 else torch.relu(self.other(x))

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 4)

        def forward(self, ids, mask):
            return self.embedding(ids) * mask.unsqueeze(-1)

    class Chance(nn.Module):
        def forward(self, x):
            for _ in range(random.randrange(1, 1000)):
                x = x + 1
            return x

    class NoForm(nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x)


def made(seed=1):
    torch.manual_seed(seed)
    return Net().eval()


def planned(graph, **how):
    return oplat.plan(graph, runtime="onnxruntime", **how)


def operators(plan):
    """Sorted, without what the runtime puts in to change layouts."""
    ops = [oplat.Key(kernel.key).op.split(":")[-1].split("/")[0] for kernel in plan.kernels for _ in range(kernel.count)]
    return sorted(op for op in ops if not op.startswith(("Reorder", "Constant", "Reshape", "Unsqueeze")))


def export_quietly(*arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oplat.PredictionWarning)
        return ot.export(*arguments, **named)


@unittest.skipIf(torch, "torch is installed")
class WithoutTorch(unittest.TestCase):
    def test_says_what_to_install(self):
        with self.assertRaisesRegex(oplat.RuntimeUnavailable, r"oplat\[torch\]"):
            ot.export(None, (1, 3))


class Importing(unittest.TestCase):
    def test_does_not_load_torch(self):
        code = "import sys, oplat; oplat.torch.export; sys.exit('torch' in sys.modules or 'oplat._core' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)


@unittest.skipUnless(torch, "torch is not installed")
class Export(unittest.TestCase):
    def test_functional_operators_are_kernels(self):
        for exporter in EXPORTERS:
            with self.subTest(exporter):
                graph = ot.export(made(), (1, 4, 8, 8), exporter=exporter)
                self.assertEqual((graph.name, graph.exporter, graph.inputs), ("Net", exporter, {"x": [1, 4, 8, 8]}))
                self.assertEqual(graph.warnings, [])
                plan = planned(graph)
                self.assertEqual(operators(plan), ["Add"] * 3 + ["Concat"] + ["Conv"] * 3 + ["Gemm", "Mul", "Mul", "ReduceMean"])
                self.assertEqual(plan.warnings, [])

    def test_nodes_bear_the_paths_of_their_modules(self):
        for exporter in EXPORTERS:
            graph = ot.export(made(), (1, 4, 8, 8), exporter=exporter)
            content = Path(graph).read_bytes()
            names = rb"/blocks/0/conv/Conv|/blocks/0/norm/Conv|/blocks/blocks.0/conv/Conv"
            self.assertRegex(content, names)
            self.assertIn(b"/head/Gemm", content)
            self.assertNotIn(os.path.dirname(__file__).encode(), content)

    def test_kernels_bear_the_paths_of_their_modules(self):
        for exporter in EXPORTERS:
            with self.subTest(exporter):
                kernels = planned(ot.export(made(), (1, 4, 8, 8), exporter=exporter)).kernels
                names = [kernel.name for kernel in kernels]
                self.assertTrue(any(name.endswith("/head/Gemm") for name in names))
                self.assertEqual(len(set(names)), len(names))
                convolutions = [kernel.name for kernel in kernels if oplat.Key(kernel.key).op.split(":")[-1].startswith("Conv")]
                self.assertEqual(len(convolutions), 3)
                for name in convolutions:
                    self.assertRegex(name, r"^(/module)?/(blocks/(blocks\.)?[01]|more)/(conv|norm)/Conv$")

    def test_a_graph_is_a_model(self):
        graph = ot.export(made(), (1, 4, 8, 8))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "desk.oplat")
            profile_whole(graph, path)
            table = oplat.Table(path)
            prediction = table.predict(graph)
            self.assertEqual(prediction.model, "Net")
            self.assertTrue(0 < prediction.lo < prediction.ms < prediction.hi)
            self.assertEqual(len(prediction.kernels), len(planned(graph)))
            # The same module is the same file, which the table knows.
            self.assertEqual(table.predict(ot.export(made(), (1, 4, 8, 8)), plan="cached").ms, prediction.ms)
            self.assertEqual([p.ms for p in table.predict_many(ot.export(made(), (1, 4, 8, 8)) for _ in range(2))], [prediction.ms] * 2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", oplat.PredictionWarning)  # of a busy machine
                self.assertEqual(table.as_objective("ms")(graph), prediction.ms)
            saved = os.path.join(folder, "net.onnx")
            graph.save(saved)
            self.assertEqual(table.predict(saved, plan="cached").ms, prediction.ms)
            self.assertEqual(len(oplat.measure(graph, budget=8, target_error=0.5).models), 1)
            with self.assertRaises(TypeError):
                table.predict(made())

    def test_inputs(self):
        ids, mask = torch.tensor([[1, 9, 3]]), torch.ones(1, 3)
        for exporter in EXPORTERS:
            with self.subTest(exporter):
                both = {"ids": [1, 3], "mask": [1, 3]}
                expected = ["Gather", "Mul"]
                self.assertEqual(ot.export(Tokens(), [(1, 3), (1, 3)], dtype="int64", exporter=exporter).inputs, both)
                for graph in (ot.export(Tokens(), [ids, mask], exporter=exporter), ot.export(Tokens(), [ids, (1, 3)], exporter=exporter),
                              ot.export(Tokens(), [], kwargs={"mask": mask, "ids": ids}, exporter=exporter)):
                    self.assertEqual(dict(sorted(graph.inputs.items())), both)
                    self.assertEqual(operators(planned(graph)), expected)
                graph = ot.export(made(), (1, 4, 8, 8), kwargs={"mask": torch.ones(1, 1, 8, 8), "scale": 3.0}, exporter=exporter)
                self.assertEqual(graph.inputs, {"x": [1, 4, 8, 8], "mask": [1, 1, 8, 8]})
                self.assertEqual(len(operators(planned(graph))), 13)

    def test_data_of_inputs_may_be_arrays(self):
        """Of any layout and byte order, in a list, or a file; what they are not is said."""
        import numpy

        graph = export_quietly(Tokens(), [(1, 3), (1, 3)], dtype="int64")
        column, expected = numpy.array([[1, 2], [9, 2], [3, 2]]), operators(planned(graph))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ids.npy")
            numpy.save(path, column[:, :1].T)
            for data in (numpy.array([[1, 9, 3]]), column[:, :1].T, numpy.array([[1, 9, 3]], ">i8"), [[1, 9, 3]], torch.tensor([[1, 9, 3]]), Path(path),
                         path):
                self.assertEqual(operators(planned(graph, inputs={"ids": data, "mask": "ones"})), expected)
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, TMPDIR=folder):
            with self.assertRaisesRegex(oplat.Error, "ids.*holds f64 1x3, the input is i64 1x3"):
                planned(graph, inputs={"ids": numpy.ones((1, 3))})
            self.assertEqual(os.listdir(folder), [])

    def test_an_open_batch(self):
        for exporter in EXPORTERS:
            with self.subTest(exporter):
                graph = ot.export(made(), (1, 4, 8, 8), dynamic_batch=True, exporter=exporter)
                self.assertTrue(any("f32[6,4,8,8]" in kernel.key for kernel in planned(graph, batch=6).kernels))

    def test_numbers_stay_what_they_were(self):
        module = made().train()
        module.more.eval()
        training = [each.training for each in module.modules()]
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        graph = ot.export(module, (1, 4, 8, 8))
        self.assertTrue(torch.equal(torch.rand(3), expected))
        self.assertEqual([each.training for each in module.modules()], training)
        self.assertIn("the module is in training mode; the graph is of evaluation mode", graph.notes)
        self.assertNotIn("Dropout", operators(planned(ot.export(nn.Sequential(nn.Linear(4, 4), nn.Dropout()), (1, 4)))))

    def test_torch_s_own_modules(self):
        """They branch on shapes, which warns of nothing."""
        for module, shape, expected in ((nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (1, 5, 16), "Softmax"),
                                        (nn.LSTM(8, 16, batch_first=True), (1, 5, 8), "LSTM"), (nn.Conv1d(4, 8, 3), (2, 4, 9), "Conv")):
            for exporter in EXPORTERS:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", oplat.PredictionWarning)
                    graph = ot.export(module.eval(), shape, exporter=exporter)
                self.assertTrue(any(expected in op for op in operators(planned(graph))), (expected, operators(planned(graph))))

    def test_threads(self):
        module, graphs = made(), []
        threads = [threading.Thread(target=lambda: graphs.append(ot.export(module, (1, 4, 8, 8), exporter="trace"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({Path(graph).read_bytes() for graph in graphs}), 1)


@unittest.skipUnless(torch, "torch is not installed")
class Warned(unittest.TestCase):
    def test_a_branch_that_was_kept(self):
        torch.manual_seed(1)
        with self.assertWarnsRegex(oplat.PredictionWarning, r"torch_test\.py:\d+: tracing kept a Python value"):
            graph = ot.export(Branch(), (1, 4))
        self.assertEqual(graph.exporter, "trace")
        self.assertEqual(planned(graph).warnings, graph.warnings)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "desk.oplat")
            profiled = profile_whole(graph, path)
            self.assertTrue(set(graph.warnings) <= set(profiled.warnings))
            prediction = oplat.Table(path).predict(graph)
            self.assertTrue(set(graph.warnings) <= set(prediction.warnings))
            with self.assertWarnsRegex(oplat.PredictionWarning, "tracing kept"):
                oplat.Table(path).as_objective()(graph)
        if ot.has_torch_export():
            with self.assertRaisesRegex(oplat.InputError, "torch.export: .*data-dependent"):
                ot.export(Branch(), (1, 4), exporter="torch.export")

    def test_a_branch_on_a_constant_tensor(self):
        class Flag(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("flag", torch.tensor(True))

            def forward(self, x):
                return x + 1 if self.flag else x

        with self.assertWarnsRegex(oplat.PredictionWarning, "tracing kept"):
            ot.export(Flag(), (1, 4), exporter="trace")

    def test_chance_and_numbers(self):
        random.seed(1)
        with self.assertWarnsRegex(oplat.PredictionWarning, "two runs of the module differed"):
            ot.export(Chance(), (1, 4), exporter="trace")

        class Found(nn.Module):
            def forward(self, x):
                return x[x > 0] * 2

        graph = export_quietly(Found(), (1, 4096), exporter="trace")
        self.assertTrue(any("two runs of the module differed" in each for each in graph.warnings))

    def test_lengths_matter_once_the_batch_is_open(self):
        class ByLength(nn.Module):
            def forward(self, x):
                return x * 2 if x.shape[0] > 4 else x

        self.assertEqual(ot.export(ByLength(), (1, 4), exporter="trace").warnings, [])
        self.assertEqual(len(export_quietly(ByLength(), (1, 4), exporter="trace", dynamic_batch=True).warnings), 1)


@unittest.skipUnless(torch, "torch is not installed")
class Errors(unittest.TestCase):
    def refused(self, kind, text, *arguments, **named):
        with self.subTest(text), self.assertRaisesRegex(kind, text) as caught:
            ot.export(*arguments, **named)
        return caught.exception

    def test_each_says_what_to_do(self):
        net, shape = made(), (1, 4, 8, 8)
        self.refused(TypeError, "the class Net; make an instance", Net, shape)
        self.refused(TypeError, "an object of int", 3, shape)
        self.refused(oplat.InputError, r"ModuleList: has no forward\(\)", nn.ModuleList(), shape)
        self.refused(oplat.InputError, r"Module: has no forward\(\)", nn.Module(), shape)
        self.refused(oplat.InputError, "is a ScriptModule", torch.jit.script(nn.Sequential(nn.ReLU())), (1, 4))
        self.refused(oplat.InputError, r"Net: cannot run on x \[1, 5, 8, 8\] of torch.float32: RuntimeError: .* 4 channels", net, (1, 5, 8, 8))
        self.refused(oplat.InputError, "dtype='int64'", Tokens(), [(1, 3), (1, 3)])
        self.refused(oplat.InputError, r"23 of its tensors are not on the CPU, the first is blocks\.0\.conv\.weight on meta; .*module\.cpu\(\)",
                     made().to("meta"), shape)
        self.refused(oplat.UsageError, "the model has none", net, [])
        self.refused(oplat.UsageError, "negative", net, (1, -4, 8, 8))
        self.refused(oplat.UsageError, "mask is neither a shape nor a tensor", net, [shape, None])
        self.refused(oplat.UsageError, "given twice", net, shape, kwargs={"x": torch.ones(shape)})
        self.refused(oplat.UsageError, "mask holds tensors in a list", net, shape, kwargs={"mask": [torch.ones(1)]})
        self.refused(oplat.UsageError, "dtype 'int65'", net, shape, dtype="int65")
        self.refused(oplat.UsageError, "exporter 'onnx': expected auto", net, shape, exporter="onnx")
        if not ot.has_torch_export():
            self.refused(oplat.UsageError, "has no ONNX export of it", net, shape, exporter="torch.export")

        class Nothing(nn.Module):
            def forward(self, x):
                return 3

        self.refused(oplat.InputError, "returned no tensor but int", Nothing(), (1, 4))

    def test_operators_without_a_form_are_named(self):
        error = self.refused(oplat.InputError, f"NoForm: cannot be exported by torch {re.escape(torch.__version__)}: ", NoForm(), (1, 4))
        self.assertRegex(str(error), r"trace: no ONNX form of aten::special_bessel_j0 in opset \d+$")

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            with self.assertRaises(oplat.InputError):
                ot.export(NoForm(), (1, 4))
            graph = ot.export(made(), (1, 4, 8, 8))
            self.assertEqual(len(os.listdir(folder)), 1)
            with self.assertRaisesRegex(TypeError, "save"):
                pickle.dumps(graph)
            child = os.fork()
            if child == 0:
                del graph
                gc.collect()
                os._exit(0)
            os.waitpid(child, 0)
            self.assertTrue(os.path.exists(graph))
            del graph
            gc.collect()
            self.assertEqual(os.listdir(folder), [])

    @unittest.skipUnless(torch and ot.has_torch_export(), "this torch has no torch.export of ONNX")
    def test_large_weights_lie_next_to_the_model(self):
        whole = planned(ot.export(made(), (1, 4, 8, 8)))
        with mock.patch.object(ot, "MAX_BYTES_IN_ONE_FILE", 0), tempfile.TemporaryDirectory() as folder:
            graph = ot.export(made(), (1, 4, 8, 8))
            self.assertEqual(len(os.listdir(os.path.dirname(graph.path))), 2)
            self.assertEqual([kernel.key for kernel in planned(graph).kernels], [kernel.key for kernel in whole.kernels])
            saved = os.path.join(folder, "net.onnx")
            graph.save(saved)
            self.assertEqual(len(planned(saved)), len(whole))
            with self.assertRaises(FileExistsError):
                graph.save(os.path.join(folder, "other.onnx"))


@unittest.skipUnless(torch, "torch is not installed")
class Blocks(unittest.TestCase):
    def test_blocks_are_models_of_their_own(self):
        module = made()
        for exporter in EXPORTERS:
            found = ot.blocks(module, (1, 4, 8, 8), Block, exporter=exporter)
            self.assertEqual(list(found), ["blocks.0", "blocks.1", "more"])
            # With the named argument that it is called with.
            self.assertEqual([operators(planned(graph)) for graph in found.values()], [["Add", "Conv"]] * 2 + [["Add", "Conv", "Mul"]])
        self.assertFalse(any("forward" in each.__dict__ for each in module.modules()))
        self.assertEqual(list(ot.blocks(module, (1, 4, 8, 8), (nn.Sequential, nn.Conv2d), exporter="trace")), ["blocks", "more.conv"])

    def test_a_block_that_runs_twice(self):
        one = Block().eval()
        self.assertEqual(list(ot.blocks(nn.Sequential(one, one), (1, 4, 8, 8), Block, exporter="trace")), ["0", "0#2"])

    def test_errors(self):
        with self.assertRaisesRegex(oplat.InputError, "ran no module of LSTM"):
            ot.blocks(made(), (1, 4, 8, 8), nn.LSTM)
        for wrong in (made(), int, []):
            with self.assertRaises(TypeError):
                ot.blocks(made(), (1, 4, 8, 8), wrong)


SPACE = """
format: oplat.space/1
name: small
family: caffe2-int8
resolutions: 16
blocks:
  wide: {kind: inverted_residual, kernel: 3, expansion: 6}
  narrow: {kind: inverted_residual, kernel: 3, expansion: 1}
  skip: {kind: skip}
layers:
  - {name: stem, block: {kind: conv, kernel: 3}, channels: 8, stride: 2}
  - {name: body, choices: all, repeat: 3}
"""


@unittest.skipUnless(torch and PAGE.exists(), "torch or the guide is missing")
class Recipe(unittest.TestCase):
    """The loss of the guide, on a table whose times are a number for each multiplication."""

    def command(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        done = subprocess.run([oplat.program(), *arguments], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_latency_stays_below_its_limit(self):
        recipe, = re.findall(r"^```python torch recipe\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        self.assertLessEqual(len([line for line in recipe.splitlines() if line.strip()]), 30)
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            Path("space.yaml").write_text(SPACE, encoding="utf-8")
            lines = [json.loads(line) for line in self.command("search", "expand", "space.yaml", "--queries", "--quiet").splitlines()]
            for line in lines:
                us = 1 + 1e-3 * sum(math.prod(shape) for shape in line["input_shapes"])
                line.update({f"runtime_us_p{p}": us for p in (0, 10, 50, 90, 100)}, device="phone")
            Path("phone-op_lut_database.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            self.command("import", "phone-op_lut_database.json", "--format", "lut", "--table", "desk.oplat", "--quiet")
            self.command("search", "lut", "space.yaml", "--table", "desk.oplat", "--out", "space.npz", "--quiet")
            Path("recipe.py").write_text(recipe, encoding="utf-8")
            done = subprocess.run([sys.executable, "recipe.py"], capture_output=True, text=True, check=False)
            os.chdir(os.path.dirname(folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        chosen, latency, limit = re.fullmatch(r"(\[.*\]) ([0-9.]+) us, limit ([0-9.]+) us\n", done.stdout).groups()
        self.assertTrue(set(ast.literal_eval(chosen)) <= {"wide", "narrow", "skip"})
        self.assertLess(float(latency), 1.02 * float(limit))
        self.assertGreater(float(latency), 0.9 * float(limit))


if __name__ == "__main__":
    unittest.main()
