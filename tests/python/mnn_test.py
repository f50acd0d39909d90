# SPDX-License-Identifier: Apache-2.0
"""The worker of the runtime `mnn`, on models written here. Skips (exit 77) where MNN is not
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
    """One that can import MNN, looked for where `oplat worker mnn` looks."""
    places = (os.environ.get("OPLAT_MNN_PYTHON"), ROOT / ".venv-mnn/bin/python", shutil.which("python3"))
    for place in places:
        if place and Path(place).exists():
            found = subprocess.run([place, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('MNN') is None)"], check=False)
            if found.returncode == 0:
                return str(place)
    return None


if __name__ == "__main__" and "OPLAT_TEST_INSIDE" not in os.environ:
    PYTHON = interpreter()
    if PYTHON is None:
        print("skipped: MNN is not installed; python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1")
        sys.exit(SKIP)
    os.execve(PYTHON, [PYTHON, "-B", *sys.argv], os.environ | {"OPLAT_TEST_INSIDE": "1"})

from oplat.workers import inputs  # noqa: E402
from oplat.workers.errors import Failed, Unsupported, WorkerError  # noqa: E402
from oplat.workers.keys import Tensor, parse  # noqa: E402
from oplat.workers.mnn.kernels import Build, Kernel  # noqa: E402
from oplat.workers.mnn.worker import MnnWorker  # noqa: E402

CONV = {"kernelX": 3, "kernelY": 3, "strideX": 1, "strideY": 1, "dilateX": 1, "dilateY": 1, "padMode": "CAFFE", "padX": 1, "padY": 1, "group": 1}
RELU = ("mnn:ReLU@nc4hw4=[0]@nc4hw4_results=[0]{slope=0.0}(f32[1,8,16,16])->(f32[1,8,16,16])")

GATHER = "mnn:GatherV2{Taxis=DT_INVALID,Tindices=DT_INVALID,Tparams=DT_INVALID}(f32c[1000,8],i32[64],i32c[]=0)->(f32[64,8])"


def f32(*dims, constant=False):
    return Tensor("f32", list(dims), constant)


def convolution(build, value, name, inputs, outputs, relu=False, open_name="Convolution"):
    offset, sizes = build.reserve([f32(outputs, inputs, 3, 3), f32(outputs)], 0)
    main = {"common": {**CONV, "inputCount": inputs, "outputCount": outputs, "relu": relu}, "external": [offset, *sizes]}
    return build.add(name, {"type": open_name, "main_type": "Convolution2D", "main": main}, [value])[0]


def write_net(worker, file, batch=1):
    """A network with a residual, a broadcast, channels shuffled (one raster of four views) and a
    classifier."""
    build = Build()
    x = build.convert(build.input(f32(batch, 3, 16, 16)), "NCHW", "NC4HW4")
    a = convolution(build, x, "a", 3, 8, relu=True)
    b = convolution(build, a, "b", 8, 8)
    c = build.add("c", {"type": "BinaryOp", "main_type": "BinaryOp", "main": {"opType": "ADD", "activationType": 1}}, [b, a])[0]
    shape = build.constant(Tensor("i32", [5]), [1, 2, 4, 16, 16])
    d = build.convert(c, "NC4HW4", "NCHW")
    d = build.add("d0", {"type": "Reshape", "main_type": "Reshape", "main": {"dimType": "NCHW"}}, [d, shape])[0]
    d = build.add("d1", {"type": "Permute", "main_type": "Permute", "main": {"dims": [0, 2, 1, 3, 4]}}, [d])[0]
    shape = build.constant(Tensor("i32", [4]), [1, 8, 16, 16])
    d = build.add("d2", {"type": "Reshape", "main_type": "Reshape", "main": {"dimType": "NCHW"}}, [d, shape])[0]
    e = convolution(build, build.convert(d, "NCHW", "NC4HW4"), "e", 8, 8)
    pool = {"isGlobal": True, "padType": "CAFFE", "type": "AVEPOOL"}
    g = build.add("g", {"type": "Pooling3D", "main_type": "Pool3D", "main": pool}, [e])[0]
    h = build.add("h", {"type": "BinaryOp", "main_type": "BinaryOp", "main": {"opType": "MUL"}}, [e, g])[0]
    y = build.convert(h, "NC4HW4", "NCHW")
    build.add("y", {"type": "Softmax", "main_type": "Axis", "main": {"axis": 1}}, [y])
    build.outputs = [len(build.names) - 1]
    build.write(worker.engine, file, 1)
    return file


def setting(**more):
    return {"precision": "model", "threads": 1, "options": {}} | more


def question(**more):
    return {"shapes": {}, "batch": None, "inputs": {}, "setting": setting()} | more


def opening(key="", model="", copies=1, topology="auto", distinct=False, **more):
    return question(key=key, model=model, copies=copies, topology=topology, distinct_weights=distinct, seed=1, results_as_outputs=False) | more


class Mnn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = MnnWorker()
        inputs.MAX_SECONDS_OF_SETS = 60  # as many sets on a busy machine
        cls.folder = Path(tempfile.mkdtemp())
        cls.model = write_net(cls.worker, cls.folder / "net.mnn")
        cls.keys = [kernel["key"] for kernel in cls.worker.plan(question(model=str(cls.model)))["kernels"]]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_plan_holds_what_is_executed(self):
        kinds = [parse(key).op for key in self.keys]
        self.assertEqual(kinds, ["Raster", "Convolution", "Convolution", "BinaryOp", "Raster", "Convolution", "Pooling3D", "BinaryOp", "Raster", "Softmax"])
        shuffle = parse(self.keys[4])
        self.assertEqual(shuffle.attributes["views"].count("Reshape"), 2)
        self.assertIn("Permute", shuffle.attributes["views"])
        self.assertIn("relu=true", self.keys[1])
        self.assertIn("(f32[1,3,16,16],f32c[8,3,3,3],f32c[8])->(f32[1,8,16,16])", self.keys[1])

    def test_a_kernel_is_made_anew_from_its_key_alone(self):
        for key in self.keys:  # open() itself compares what it made with the key
            for copies, distinct in ((1, False), (3, True)):
                with self.subTest(key=key, copies=copies):
                    opened = self.worker.open(opening(key, copies=copies, distinct=distinct))
                    self.assertGreater(self.worker.run(opened["handle"]), 0)
                    self.worker.close(opened["handle"])

    def test_copies_are_chained_where_shapes_and_layouts_allow(self):
        self.assertEqual(self.worker.open(opening(RELU, copies=4))["topology"], "chain")
        first = self.keys[1]
        self.assertEqual(self.worker.open(opening(first, copies=4))["topology"], "fan")
        self.assertEqual(self.worker.open(opening(first))["topology"], "single")
        self.assertEqual(self.worker.open(opening(self.keys[4], copies=4))["topology"], "fan")
        with self.assertRaises(Unsupported):
            self.worker.open(opening(first, copies=4, topology="chain"))

    def test_more_copies_take_longer(self):
        times = []
        for copies in (1, 40):
            handle = self.worker.open(opening(self.keys[2], copies=copies))["handle"]
            times.append(min(self.worker.run(handle) for _ in range(20)))
        self.assertGreater(times[1], 5 * times[0])

    def test_copies_of_a_fan_are_all_executed(self):
        for key in (self.keys[1], self.keys[4]):
            kernel = Kernel(parse(key))
            build = kernel.build(5, False, False)
            self.assertEqual(len(build.outputs), 5)
            file = self.folder / "fan.mnn"
            build.write(self.worker.engine, file, 1)
            session = self.worker.engine.session(file, {"backend": "CPU", "numThread": 1, "precision": "high"}, {})
            names = {name.partition("_")[0] for name, *_ in session.executed()}
            self.assertEqual(sum(name.startswith(("y", "v")) for name in names), 5, names)

    def test_inputs_are_whole_at_every_run(self):
        """MNN writes over its inputs: without a copy before each run, the second result is
        another."""
        opened = self.worker.open(opening(model=str(self.model), inputs={"x0": "uniform:0.1:1"}))
        session = self.worker.opened[opened["handle"]]
        results = []
        for _ in range(3):
            self.assertGreater(self.worker.run(opened["handle"]), 0)
            output = session.interpreter.getSessionOutput(session.session)
            results.append(tuple(output.getData()[:20]))
        self.assertEqual(len(set(results)), 1)
        self.worker.close(opened["handle"])
        with self.assertRaises(Failed):
            self.worker.run(opened["handle"])

    def sets(self, **what):
        """The sets of inputs of something that is opened: a list of arrays each."""
        session = self.worker.opened[self.worker.open(opening(**what))["handle"]]
        return [[array for _, _, array in each] for each in session.sets]

    def test_what_looks_at_its_data_gets_others_each_run(self):
        shape = "f32[1,4,8,8]"
        select = f"mnn:Select{{}}(i32[1,4,8,8],{shape},{shape})->({shape})"
        gather = GATHER
        for key, count in ((f"mnn:ELU{{alpha=1.0}}({shape})->({shape})", 32), (select, 32), (gather, 32), (RELU, 1),
                           (f"mnn:UnaryOp{{T=DT_INVALID,opType=SIN}}({shape})->({shape})", 32), (f"mnn:UnaryOp{{T=DT_INVALID,opType=ABS}}({shape})->({shape})", 1),
                           ("mnn:ELU{alpha=1.0}(f32[1,4,512,512])->(f32[1,4,512,512])", 2)):
            with self.subTest(key=key):
                sets = self.sets(key=key)
                self.assertEqual(len(sets), count)
                self.assertEqual(len({arrays[-1].tobytes() for arrays in sets}), count)
        for function, positive in (("SQRT", True), ("SIN", False)):
            (array,), *_ = self.sets(key=f"mnn:UnaryOp{{T=DT_INVALID,opType={function}}}({shape})->({shape})")
            self.assertEqual(bool((array > 0).all()), positive)
        for function, topology in (("SQRT", "chain"), ("LOG", "fan")):
            key = f"mnn:UnaryOp{{T=DT_INVALID,opType={function}}}({shape})->({shape})"
            self.assertEqual(self.worker.open(opening(key, copies=3))["topology"], topology)
        self.assertEqual({int(value) for arrays in self.sets(key=select) for value in arrays[0].flat}, {0, 1})
        for indices, in self.sets(key=gather):
            self.assertTrue(0 <= indices.min() and 500 < indices.max() < 1000)

    def test_copies_of_what_looks_at_its_data_have_inputs_of_their_own(self):
        small, large = "f32[1,4,8,8]", "f32[1,4,256,256]"  # 1 KiB; 1 MiB
        for shape, copies, own in ((small, 5, 5), (small, 100, 64), (large, 5, 2)):
            with self.subTest(shape=shape, copies=copies):
                key = f"mnn:ELU{{alpha=1.0}}({shape})->({shape})"
                opened = self.worker.open(opening(key, copies=copies))
                self.assertEqual(opened["topology"], "fan")
                self.assertGreater(self.worker.run(opened["handle"]), 0)
                first = [array for _, _, array in self.worker.opened[opened["handle"]].sets[0]]
                self.assertEqual(len({array.tobytes() for array in first}), own)
                with self.assertRaises(Unsupported):
                    self.worker.open(opening(key, copies=copies, topology="chain"))

    def test_runs_have_the_next_data(self):
        model = write_look_up(self.worker, self.folder / "look_up.mnn")
        kernels = self.worker.plan(question(model=str(model)))["kernels"]
        self.assertIn("mnn:GatherV2", " ".join(kernel["key"] for kernel in kernels))
        opened = self.worker.open(opening(model=str(model)))
        session = self.worker.opened[opened["handle"]]
        self.assertEqual(len(session.sets), 32)
        for (_, _, ids), in session.sets:
            self.assertTrue(0 <= ids.min() and 500 < ids.max() < 1000)
        results = []
        for _ in range(33):
            self.assertGreater(self.worker.run(opened["handle"]), 0)
            output = session.interpreter.getSessionOutput(session.session)
            results.append(tuple(output.getData()))
        self.assertEqual(len(set(results)), 32)
        self.assertEqual(results[0], results[32])
        for function, count in (("ERF", 32), ("ABS", 1)):
            self.assertEqual(len(self.sets(model=str(write_function(self.worker, self.folder / f"{function}.mnn", function)))), count)
        # What the user gave stays, and so do the data of a model without such an operator.
        self.assertEqual(len(self.sets(model=str(model), inputs={"x0": "ones"})), 1)
        self.assertEqual(len(self.sets(model=str(self.model))), 1)

    def test_dozens_of_parts_and_arrays_in_views_are_known(self):
        """As in grouped convolutions and in front of a ViT: the key says all, so that the kernel
        can be measured."""
        for write, op, word in ((write_parts, "Raster", '"slicePoints'), (write_token, "Raster", "f32c[1,1,8]")):
            model = write(self.worker, self.folder / f"{write.__name__}.mnn")
            keys = [kernel["key"] for kernel in self.worker.plan(question(model=str(model)))["kernels"]]
            self.assertEqual([key for key in keys if "?" in key], [])
            found = next(key for key in keys if parse(key).op == op and word in key.replace("\\", ""))
            for copies in (1, 3):
                opened = self.worker.open(opening(found, copies=copies))
                self.assertGreater(self.worker.run(opened["handle"]), 0)

    def test_the_empty_call(self):
        opened = self.worker.open(opening("Relu/14{}(f32[1,16])->(f32[1,16])", copies=64, results_as_outputs=True))
        self.assertGreater(self.worker.run(opened["handle"]), 0)

    def test_onnx(self):
        model = ROOT / "models/tests/tiny_cnn.onnx"
        if not model.exists():
            self.skipTest("no models/tests; scripts/models tests makes them")
        plan = self.worker.plan(question(model=str(model)))
        self.assertIn("relu6=true", " ".join(kernel["key"] for kernel in plan["kernels"]))
        self.assertGreater(self.worker.run(self.worker.open(opening(model=str(model)))["handle"]), 0)

    def test_an_open_batch_is_asked_for(self):
        model = write_net_of_open_batch(self.worker, self.folder / "open.mnn")
        with self.assertRaises(WorkerError) as error:
            self.worker.plan(question(model=str(model)))
        self.assertIn("--batch", str(error.exception))
        plan = self.worker.plan(question(model=str(model), batch=2))
        self.assertEqual(plan["batch"], 2)
        self.assertIn("(f32[2,3,16,16]", plan["kernels"][1]["key"])
        self.worker.open(opening(model=str(model), shapes={"x0": [2, 3, 16, 16]}))

    def test_what_cannot_be_run_is_said(self):
        views = '"[[\\"Fly\\",{\\"a\\":1},[0]]]"'
        for key, word in (("mnn:ReLU{}(string[1])->(string[1])", "type or shape"), ("Conv/11{}(f32[1],f32c[1])->(f32[1])", "not an operator of MNN"),
                          ("mnn:Fly{a=1}(f32[4])->(f32[4])", "does not know"), ("mnn:Convolution{}(f32[1,3,4,4])->(f32[1,3,4,4])", "without weights"),
                          (f"mnn:Raster{{views={views}}}(f32[4])->(f32[4])", "does not know"), ("mnn:Raster{views=1}(f32[4])->(f32[4])", "views"),
                          ('mnn:Raster{views="[[\\"Permute\\",{},[7]]]"}(f32[4])->(f32[4])', "value 7"),
                          ("mnn:Raster{views=?}(f32[4])->(f32[4])", "unknown"), ("mnn:ReLU@block=16{}(f32[4])->(f32[4])", "tag block"),
                          ("mnn:ReLU{}(f32[100000,100000])->(f32[100000,100000])", "elements")):
            with self.subTest(key=key), self.assertRaises(Unsupported) as error:
                self.worker.open(opening(key))
            self.assertIn(word, str(error.exception))
        for bad in (setting(precision="int8"), setting(options={"memory": "huge"}), setting(options={"level": "1"})):
            with self.assertRaises(WorkerError):
                self.worker.open(opening(RELU, setting=bad))

    def test_what_is_not_a_model_is_said(self):
        whole = self.model.read_bytes()
        cases = {"a.mnn": b"no model", "b.mnn": b"", "c.mnn": whole[:len(whole) // 2], "d.onnx": b"no model", "e.txt": b"x"}
        for name, data in cases.items():
            (self.folder / name).write_bytes(data)
            for ask in (lambda path: self.worker.plan(question(model=path)), lambda path: self.worker.open(opening(model=path))):
                with self.subTest(name=name), self.assertRaises(WorkerError) as error:
                    ask(str(self.folder / name))
                self.assertEqual(error.exception.code, "input")
                self.assertIn(name, str(error.exception))
        with self.assertRaises(WorkerError):
            self.worker.plan(question(model=str(self.folder / "missing.mnn")))

    def test_models_that_are_cut_are_refused_wherever_they_end(self):
        whole = self.model.read_bytes()
        cut = self.folder / "cut.mnn"
        for end in (1, 7, 64, *(len(whole) * part // 10 for part in range(1, 10)), len(whole) - 9):
            cut.write_bytes(whole[:end])
            for ask in (lambda: self.worker.plan(question(model=str(cut))), lambda: self.worker.open(opening(model=str(cut)))):
                with self.subTest(end=end), self.assertRaises(WorkerError) as error:
                    ask()
                self.assertEqual(error.exception.code, "input")

    def test_the_converter_that_reports_is_not_imported(self):
        self.assertFalse([name for name in sys.modules if name.startswith(("MNN.tools", "aliyun"))])


def write_look_up(worker, file):
    """64 rows of a table of 1,000, by indices that may be negative, as the converter writes ONNX's
    Gather."""
    build = Build()
    indices, rows = build.input(Tensor("i32", [64])), build.constant(Tensor("i32", []), [1000])
    for kind in ("ADD", "MOD"):
        indices, = build.add(kind, {"type": "BinaryOp", "main_type": "BinaryOp", "main": {"opType": kind}}, [indices, rows])
    operands = [build.constant(f32(1000, 8, constant=True)), indices, build.constant(Tensor("i32", []), [0])]
    build.outputs = build.add("rows", {"type": "GatherV2"}, operands)
    build.write(worker.engine, file, 1)
    return file


def write_function(worker, file, function):
    build = Build()
    build.outputs = build.add("y", {"type": "UnaryOp", "main_type": "UnaryOp", "main": {"opType": function}}, [build.input(f32(1, 4, 8, 8))])
    build.write(worker.engine, file, 1)
    return file


def write_parts(worker, file):
    """40 parts of the channels, each with a convolution of its own."""
    build = Build()
    x = build.convert(build.input(f32(1, 80, 4, 4)), "NCHW", "NC4HW4")
    x = build.add("relu", {"type": "ReLU", "main_type": "Relu", "main": {"slope": 0.0}}, [x])[0]
    points = list(range(2, 80, 2))
    parts = build.add("parts", {"type": "Slice", "main_type": "Slice", "main": {"axis": 1, "slicePoints": points, "sourceType": "CAFFE"}}, [x], 40)
    build.outputs = [build.convert(convolution(build, part, f"c{number}", 2, 4), "NC4HW4", "NCHW") for number, part in enumerate(parts)]
    build.write(worker.engine, file, 1)
    return file


def write_token(worker, file):
    """A row of floats that the model holds in front of the rows that it is given."""
    build = Build()
    x = build.add("relu", {"type": "ReLU", "main_type": "Relu", "main": {"slope": 0.0}}, [build.input(f32(1, 5, 8))])[0]
    joined = build.add("joined", {"type": "Concat", "main_type": "Axis", "main": {"axis": 1}}, [build.constant(f32(1, 1, 8, constant=True)), x])
    build.add("y", {"type": "UnaryOp", "main_type": "UnaryOp", "main": {"opType": "ABS"}}, joined)
    build.outputs = [len(build.names) - 1]
    build.write(worker.engine, file, 1)
    return file


def write_net_of_open_batch(worker, file):
    build = Build()
    x = build.input(f32(-1, 3, 16, 16))
    y = convolution(build, build.convert(x, "NCHW", "NC4HW4"), "a", 3, 8)
    build.outputs = [build.convert(y, "NC4HW4", "NCHW")]
    build.write(worker.engine, file, 1)
    return file


if __name__ == "__main__":
    unittest.main()
