# SPDX-License-Identifier: Apache-2.0
"""The worker of the runtime `paddle`, on programs written here. Skips (exit 77) where Paddle is not
installed."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIP = 77
ROOT = Path(__file__).resolve().parents[2]


def interpreter():
    """One that can import Paddle, looked for where `oplat worker paddle` looks."""
    places = (os.environ.get("OPLAT_PADDLE_PYTHON"), ROOT / ".venv-paddle/bin/python", shutil.which("python3"))
    for place in places:
        if place and Path(place).exists():
            found = subprocess.run([place, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('paddle') is None)"], check=False)
            if found.returncode == 0:
                return str(place)
    return None


if __name__ == "__main__" and "OPLAT_TEST_INSIDE" not in os.environ:
    PYTHON = interpreter()
    if PYTHON is None:
        print("skipped: Paddle is not installed; python3 -m venv .venv-paddle && .venv-paddle/bin/pip install paddlepaddle==3.3.1")
        sys.exit(SKIP)
    os.execve(PYTHON, [PYTHON, "-B", *sys.argv], os.environ | {"OPLAT_TEST_INSIDE": "1"})

from oplat.workers import inputs  # noqa: E402
from oplat.workers.errors import Failed, Unsupported, WorkerError  # noqa: E402
from oplat.workers.keys import Tensor  # noqa: E402
from oplat.workers.paddle import kernels, params  # noqa: E402
from oplat.workers.paddle.worker import PaddleWorker  # noqa: E402

CONV = {"strides": [1, 1], "paddings": [1, 1], "padding_algorithm": "EXPLICIT", "dilations": [1, 1], "groups": 1, "data_format": "NCHW"}
POOL = {"strides": [1, 1], "paddings": [0, 0], "ceil_mode": False, "exclusive": True, "data_format": "NCHW", "pooling_type": "avg",
        "global_pooling": False, "adaptive": True, "padding_algorithm": "EXPLICIT"}


def f32(*dims, constant=False):
    return Tensor("f32", list(dims), constant)


def write_net(worker, folder, batch=1):
    """A network with a residual, channels shuffled and split, a batch norm that nothing takes in,
    and a classifier."""
    build = kernels.Build()
    image = f32(batch, 3, 16, 16)
    wide = f32(batch, 8, 16, 16)

    def conv(value, into, out, operand):
        weights = build.weight(f32(out, into, 3, 3, constant=True), 1)
        result = f32(batch, out, *operand.dims[2:])
        value, = build.operation("conv2d", [value, weights], CONV, [result])
        constants = [build.weight(f32(out, constant=True), 2) for _ in range(4)]
        return build.operation("batch_norm", [value, *constants], {"data_format": "NCHW"}, [result])[0]

    x = build.feed(image)
    a, = build.operation("relu", [conv(x, 3, 8, image)], {}, [wide])
    b = conv(a, 8, 8, wide)
    c, = build.operation("add", [b, a], {}, [wide])
    c, = build.operation("relu", [c], {}, [wide])
    half = f32(batch, 4, 16, 16)
    sizes, axis = build.constant(Tensor("i64", [2], True, 4)), build.constant(Tensor("i32", [1], True, [1]))
    left, right = build.operation("split", [c, sizes, axis], {}, [half, half])
    vector = build.combine([right, left], [half, half])
    d, = build.operation("concat", [vector, axis], {}, [wide])
    d, = build.operation("hardswish", [d], {}, [wide])
    pooled = f32(batch, 8, 1, 1)
    e, = build.operation("pool2d", [d, build.constant(Tensor("i64", [2], True, 1))], POOL, [pooled])
    e, = build.operation("flatten", [e], {"start_axis": 1, "stop_axis": 3}, [f32(batch, 8)])
    e, = build.operation("matmul", [e, build.weight(f32(8, 10, constant=True), 3)], {"transpose_x": False, "transpose_y": False}, [f32(batch, 10)])
    y, = build.operation("add", [e, build.weight(f32(10, constant=True), 4)], {}, [f32(batch, 10)])
    build.fetch(y, f32(batch, 10))
    build.writer.write(folder / "net.json")
    params.write(folder / "net.pdiparams", kernels.draw_weights(worker.engine.numpy, build, 1))
    return folder / "net.json"


def write_look_up(worker, folder):
    """64 rows of a table of 1,000, and of these what is not small."""
    build = kernels.Build()
    ids, rows = Tensor("i64", [64]), f32(64, 8)
    operands = [build.feed(ids), build.weight(f32(1000, 8, constant=True), 1)]
    attributes = {"padding_idx": kernels.attribute_node("i64", -1), "sparse": kernels.attribute_node("bool", False)}
    value, = build.writer.add("pd_op.embedding", operands, attributes, [rows])
    value, = build.writer.add("pd_op.hardshrink", [value], {"threshold": kernels.attribute_node("f32", 0.1)}, [rows])
    build.fetch(value, rows)
    build.writer.write(folder / "look_up.json")
    params.write(folder / "look_up.pdiparams", kernels.draw_weights(worker.engine.numpy, build, 1))
    return folder / "look_up.json"


def setting(onednn="on", **more):
    return {"precision": "model", "threads": 1, "options": {"onednn": onednn}} | more


def question(**more):
    return {"shapes": {}, "batch": None, "inputs": {}, "setting": setting()} | more


def opening(key="", model="", copies=1, topology="auto", distinct=False, **more):
    return question(key=key, model=model, copies=copies, topology=topology, distinct_weights=distinct, seed=1) | more


class Paddle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = PaddleWorker()
        inputs.MAX_SECONDS_OF_SETS = 60  # as many sets on a busy machine
        cls.folder = Path(tempfile.mkdtemp())
        cls.model = write_net(cls.worker, cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def keys(self, onednn, model=None):
        plan = self.worker.plan(question(model=str(model or self.model), setting=setting(onednn)))
        return plan, [kernel["key"] for kernel in plan["kernels"]]

    def test_plan_holds_what_is_executed(self):
        plan, plain = self.keys("off")
        self.assertEqual([key.partition("{")[0] for key in plain],
                         ["paddle:" + op for op in "conv2d batch_norm relu conv2d batch_norm add relu split concat hardswish pool2d flatten matmul add".split()])
        self.assertEqual(plan["batch"], 1)
        self.assertGreater(plan["weight_bytes"], 4 * (8 * 3 * 9 + 8 * 8 * 9 + 80))
        _, fused = self.keys("on")
        self.assertIn("paddle.onednn:fused_conv2d{data_format=NCHW,dilations=[1,1],fuse_activation=relu,groups=1,padding_algorithm=EXPLICIT,"
                      "paddings=[1,1],strides=[1,1]}(f32[1,3,16,16],f32c[8,3,3,3],f32c[8])->(f32[1,8,16,16])", fused)
        self.assertTrue(any("fuse_residual_connection=true" in key and "@onednn_layout=[0]" in key and ",&0)" in key for key in fused), fused)
        self.assertFalse(any("batch_norm" in key for key in fused), fused)

    def test_a_kernel_is_made_anew_from_its_key_alone(self):
        for onednn in ("on", "off"):  # open() itself holds what it made against the key
            for key in self.keys(onednn)[1]:
                for copies, distinct in ((1, False), (3, True)):
                    with self.subTest(key=key, copies=copies):
                        opened = self.worker.open(opening(key, copies=copies, distinct=distinct, setting=setting(onednn)))
                        self.assertGreater(self.worker.run(opened["handle"]), 0)
                        self.worker.close(opened["handle"])

    def test_copies_are_chained_where_shapes_allow(self):
        relu = "paddle:relu{}(f32[1,8,16,16])->(f32[1,8,16,16])"
        conv = next(key for key in self.keys("off")[1] if "f32[1,3,16,16]" in key)
        self.assertEqual(self.worker.open(opening(relu, copies=4))["topology"], "chain")
        reshape = "paddle:reshape{}(f32[1,8,16,16],i64c[2]=[8,256])->(f32[8,256])"
        for copies in (2, 5):
            opened = self.worker.open(opening(reshape, copies=copies, setting=setting("off")))
            self.assertEqual(opened["topology"], "chain")
            self.assertGreater(self.worker.run(opened["handle"]), 0)
        off = {"setting": setting("off")}
        self.assertEqual(self.worker.open(opening(conv, copies=4, **off))["topology"], "fan")
        self.assertEqual(self.worker.open(opening(conv, **off))["topology"], "single")
        with self.assertRaises(Unsupported):
            self.worker.open(opening(conv, copies=4, topology="chain", **off))

    def test_more_copies_take_longer(self):
        conv = next(key for key in self.keys("off")[1] if "f32c[8,8,3,3]" in key)
        times = []
        for copies in (1, 40):
            handle = self.worker.open(opening(conv, copies=copies, setting=setting("off")))["handle"]
            times.append(min(self.worker.run(handle) for _ in range(20)))
        self.assertGreater(times[1], 5 * times[0])

    def test_the_empty_call(self):
        opened = self.worker.open(opening("Relu/14{}(f32[1,16])->(f32[1,16])", copies=64))
        self.assertGreater(self.worker.run(opened["handle"]), 0)

    def test_a_whole_model_runs_on_given_data(self):
        opened = self.worker.open(opening(model=str(self.model), inputs={"x0": "ones"}))
        self.assertGreater(self.worker.run(opened["handle"]), 0)
        predictor = self.worker.opened[opened["handle"]].predictor
        result = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        self.assertEqual(result.shape, (1, 10))
        self.worker.close(opened["handle"])
        with self.assertRaises(Failed):
            self.worker.run(opened["handle"])

    def test_what_looks_at_its_data_gets_others_each_run(self):
        """A look-up of 1,000 rows, of which one would be read again and again, and a function with
        branches."""
        folder = self.folder / "looks"
        folder.mkdir()
        model = write_look_up(self.worker, folder)
        session = self.worker.opened[self.worker.open(opening(model=str(model)))["handle"]]
        self.assertEqual(len(session.sets), 32)
        seen = set()
        for each in session.sets:
            ids = each["x0"]
            self.assertTrue((ids >= 0).all() and (ids < 1000).all())
            self.assertGreater(ids.max(), 500)
            seen.add(ids.tobytes())
        self.assertEqual(len(seen), 32)
        results = set()
        for handle in self.worker.opened:
            if self.worker.opened[handle] is session:
                for _ in range(4):
                    self.assertGreater(self.worker.run(handle), 0)
                    name = session.predictor.get_output_names()[0]
                    results.add(session.predictor.get_output_handle(name).copy_to_cpu().tobytes())
        self.assertEqual(len(results), 4)
        # What the user gave stays, and so do the data of a model without such an operator.
        for given, file in (({"x0": "ones"}, model), ({}, self.model)):
            opened = self.worker.open(opening(model=str(file), inputs=given))
            self.assertEqual(len(self.worker.opened[opened["handle"]].sets), 1)

    def test_an_open_batch_is_asked_for(self):
        folder = self.folder / "open"
        folder.mkdir()
        model = write_net(self.worker, folder, -1)
        with self.assertRaises(WorkerError) as error:
            self.keys("off", model)
        self.assertIn("--batch", str(error.exception))
        plan = self.worker.plan(question(model=str(model), batch=2))
        self.assertEqual(plan["batch"], 2)
        self.assertIn("(f32[2,3,16,16]", plan["kernels"][0]["key"])
        self.assertEqual(plan, self.worker.plan(question(model=str(model), shapes={"x0": [2, 3, 16, 16]})))
        self.worker.open(opening(model=str(model), batch=2))

    def test_what_cannot_be_run_is_said(self):
        for key, word in (("paddle:fly{}(f32[1])->(f32[1])", "cannot build"), ("Conv/11{}(f32[1],f32c[1])->(f32[1])", "not an operator of Paddle"),
                          ("paddle:relu{}(string[1])->(string[1])", "type or shape"), ("paddle:relu{x=1}(f32[1])->(f32[1])", "relu with x"),
                          ("paddle:relu@onednn_layout=[0]{}(f32[1])->(f32[1])", "four dimensions"),
                          ("paddle:relu{}(f32[1000000,1000000,1000000])->(f32[1])", "elements")):
            with self.subTest(key=key), self.assertRaises(Unsupported) as error:
                self.worker.open(opening(key))
            self.assertIn(word, str(error.exception))
        fused = next(key for key in self.keys("on")[1] if "fused_conv2d" in key)
        with self.assertRaises(Unsupported):
            self.worker.open(opening(fused, setting=setting("off")))
        for bad in (setting(precision="int8"), setting("maybe"), setting() | {"options": {"level": "1"}}):
            with self.assertRaises(WorkerError):
                self.worker.open(opening(fused, setting=bad))

    def test_what_is_no_model_is_said(self):
        for name, text in (("a.json", "{}"), ("b.json", "no json"), ("c.onnx", "")):
            (self.folder / name).write_text(text)
            (self.folder / name).with_suffix(".pdiparams").write_bytes(b"")
            with self.assertRaises(WorkerError) as error:
                self.worker.plan(question(model=str(self.folder / name)))
            self.assertEqual(error.exception.code, "input")
        with self.assertRaises(WorkerError):
            self.worker.plan(question(model=str(self.folder / "absent.json")))


if __name__ == "__main__":
    unittest.main()
