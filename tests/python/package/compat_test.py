# SPDX-License-Identifier: Apache-2.0
"""oplat.compat.install(): programs written for other systems run as they are, in processes of their
own."""
import fractions
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings
from pathlib import Path

import oplat
import oplat.compat
from oplat.compat import paddleslim
from oplat.mmt import operators

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cli"
# What the page of PaddleSlim's predictor shows, whole, but for a quote that is missing there.
PADDLESLIM_TABLES = """
import paddleslim

predictor = paddleslim.TableLatencyPredictor(table_file='SD710')

predictor2 = paddleslim.TableLatencyPredictor(table_file='./table/SD865_threads_4_power_mode_0.pkl')
"""
PADDLESLIM = """
import paddle
from paddle.vision.models import mobilenet_v1
from paddle.static import InputSpec
import paddleslim

predictor = paddleslim.TableLatencyPredictor(table_file='SD710')

model = mobilenet_v1()
x_spec = InputSpec(shape=[1, 3, 224, 224], dtype='float32', name='inputs')
static_model = paddle.jit.to_static(model, input_spec=[x_spec])
paddle.jit.save(static_model, 'mobilenetv2') # 将在当前路径下生成mobilenetv2.pdmodel、mobilenetv2.pdiparams

# predictor.set_predictor_state(state=True) # 开启预测器功能
latency = predictor.predict(model_file='mobilenetv2.pdmodel', param_file='mobilenetv2.pdiparams')
print('predicted latency = {}ms'.format(latency))
"""
# In the place of Paddle, which the program only needs to save a model: paddle.jit.save copies one.
PADDLE = """
import shutil, sys, types

def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made

def save(model, name):
    for kind in ("pdmodel", "pdiparams"):
        shutil.copy(f"net.{kind}", f"{name}.{kind}")

jit = module("paddle.jit", to_static=lambda model, input_spec: model, save=save)
module("paddle.vision", models=module("paddle.vision.models", mobilenet_v1=lambda: None))
module("paddle", jit=jit, static=module("paddle.static", InputSpec=lambda **_: None), vision=sys.modules["paddle.vision"])
"""


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
        with self.assertRaisesRegex(oplat.UsageError, "'nn-meter': expected 'mmt' or 'mobile_vision'"):
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


@unittest.skipUnless(CASES.exists(), f"no {CASES}")
class PaddleSlim(Folder):
    def setUp(self):
        super().setUp()
        for program, name in (("paddle_program.py", "net"), ("paddle_table.py", "SD710_threads_4_power_mode_0.pkl")):
            subprocess.run([sys.executable, "-B", CASES / program, name], cwd=self.folder, check=True)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        self.files = {"model_file": "net.pdmodel", "param_file": "net.pdiparams"}

    def predicted(self, predictor, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = predictor.predict(**self.files, **options)
        return found, [str(each.message) for each in caught]

    def test_the_programs_of_its_page_run_as_they_are(self):
        install = "import oplat.compat, warnings\nwarnings.simplefilter('ignore')\noplat.compat.install('paddleslim')\n"
        self.assertEqual(self.run_program(install + PADDLE + PADDLESLIM), "predicted latency = 7.9375ms\n")
        (self.folder / "table").mkdir()
        shutil.copy("SD710_threads_4_power_mode_0.pkl", "table/SD865_threads_4_power_mode_0.pkl")
        self.assertEqual(self.run_program(install + PADDLESLIM_TABLES + "print(predictor2.predict('net.pdmodel', 'net.pdiparams'))"), "7.9375\n")

    def test_a_file_and_a_name_answer_alike(self):
        by_name, said = self.predicted(paddleslim.TableLatencyPredictor(table_file="SD710"))
        by_file, _ = self.predicted(paddleslim.TableLatencyPredictor(table_file="./SD710_threads_4_power_mode_0.pkl"), data_type="fp32", threads=4)
        self.assertEqual((by_name, by_file), (7.9375, 7.9375))
        self.assertTrue(any("planned by paddle-lite@2.10" in text for text in said), said)
        self.assertLess(by_name.prediction.lo, by_name)
        self.assertLess(by_name, by_name.prediction.hi)
        self.assertIn("predicted latency = 7.9375ms", str(by_name.prediction))

    def test_a_file_stays_that_file_in_another_folder(self):
        predictor = paddleslim.TableLatencyPredictor(table_file="./SD710_threads_4_power_mode_0.pkl")
        self.files = {name: self.folder / file for name, file in self.files.items()}
        (self.folder / "other").mkdir()
        os.chdir("other")
        self.assertEqual(self.predicted(predictor)[0], 7.9375)

    def test_hardware_may_be_added(self):
        Path("SD710_threads_4_power_mode_0.pkl").rename("Phone_threads_4_power_mode_0.pkl")
        with self.assertRaisesRegex(oplat.InputError, "Phone: no such file.*add_hardware"):
            paddleslim.TableLatencyPredictor(table_file="Phone")
        before = list(paddleslim.TableLatencyPredictor.hardware_list)
        self.addCleanup(setattr, paddleslim.TableLatencyPredictor, "hardware_list", before)
        paddleslim.TableLatencyPredictor.add_hardware("Phone")
        self.assertEqual(self.predicted(paddleslim.TableLatencyPredictor("Phone"))[0], 7.9375)
        with self.assertRaisesRegex(oplat.InputError, "SD710_threads_4_power_mode_0.pkl"):
            paddleslim.TableLatencyPredictor("SD710").predict(**self.files)
        for name in ("../up", "", "a b"):
            with self.assertRaises(oplat.UsageError):
                paddleslim.TableLatencyPredictor.add_hardware(name)

    def test_what_the_table_lacks_is_an_error_or_estimated(self):
        import pickle

        path = Path("SD710_threads_4_power_mode_0.pkl")
        rows = pickle.loads(path.read_bytes())
        lacking = next(key for key in rows if key.startswith("depthwise_conv2d"))
        del rows[lacking]
        path.write_bytes(pickle.dumps(rows, 3))
        predictor = paddleslim.TableLatencyPredictor(path)
        with self.assertRaisesRegex(oplat.MissingKernels, "depthwise_conv2d") as missing:
            self.predicted(predictor)
        self.assertEqual(len(missing.exception.keys), 1)
        predictor.set_predictor_state(state=True)
        found, _ = self.predicted(predictor)
        self.assertGreater(found, 7.9375 - 2.0)
        predictor.set_predictor_state(False)
        with self.assertRaises(oplat.MissingKernels):
            self.predicted(predictor)

    def test_questions_that_the_table_cannot_answer(self):
        predictor = paddleslim.TableLatencyPredictor("SD710")
        for options, words in (({"data_type": "int4"}, "int4"), ({"input_shape": [1, 3, 224, 224]}, "input_shape"), ({"data_type": "int8"}, "int8")):
            with self.assertRaisesRegex(oplat.UsageError, words):
                predictor.predict(**self.files, **options)
        with self.assertRaises((oplat.Refused, oplat.InputError)):
            predictor.predict(**self.files, threads=2)
        with self.assertRaisesRegex(oplat.InputError, "missing.pdmodel"):
            predictor.predict("missing.pdmodel", "net.pdiparams")


LIBRARY = """{Regular,1,16,8,8,16,3,1,0} 2
{Regular,1,16,16,16,16,3,1,0} 3
{Regular,1,32,8,8,32,3,1,0} 3
{Regular,1,32,16,16,32,3,1,0} 4
{Regular,32,16,8,8,16,3,1,0} 20
{Regular,32,16,16,16,16,3,1,0} 30
{Regular,32,32,8,8,32,3,1,0} 30
{Regular,32,32,16,16,32,3,1,0} 40
"""


class TinyNas(Folder):
    """The times of the library are a plane in Out_C and In_H, ten times as long at batch 32."""

    def setUp(self):
        super().setUp()
        (self.folder / "V100").mkdir()
        (self.folder / "V100" / "conv_data.out").write_text(LIBRARY, encoding="utf-8")
        self.options = {"folder": self.folder, "method": "original"}

    def profiler(self, **options):
        from oplat.compat.tinynas import OpProfiler

        return OpProfiler(**{**self.options, **options})

    def test_lists_are_summed_up(self):
        first, second = ("Regular", 1, 0, 3, 1, 16, 8, 16), ("Regular", 1, 0, 3, 32, 24, 12, 24)
        found, total = self.profiler()([first, second], [2.5, 0], p_batch=None)
        self.assertEqual([(conv, time) for conv, _, time in found], [(first, 2.5), (second, 0)])
        self.assertAlmostEqual(found[0][1], 2.0)
        self.assertAlmostEqual(found[1][1], 30.0)
        self.assertEqual(total, found[0][1] + found[1][1])
        found, total = self.profiler()([first], None, p_batch=32)
        self.assertEqual(found[0][0], ("Regular", 1, 0, 3, 32, 16, 8, 16))
        self.assertAlmostEqual(total, 20.0)

    def test_numbers_of_other_kinds_are_numbers(self):
        class Whole(int):
            pass

        conv = ("Regular", Whole(1), 0.0, fractions.Fraction(3), True, 16, 8, 16)
        self.assertAlmostEqual(self.profiler()([conv], None, 1)[1], 2.0)

    def test_answers_beyond_the_library_are_told(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.profiler()([("Regular", 1, 0, 3, 1, 16, 8, 16), ("Regular", 1, 0, 3, 1, 16, 9000, 16)], None, 1)
        self.assertIn("1 of 2 convolutions are outside the measured range", str(caught[0].message))
        self.assertIn("In_H of 9000 is outside", str(caught[0].message))

    def test_options_of_nobody_are_told(self):
        from oplat.compat.tinynas import OpPredictor

        with self.assertWarnsRegex(oplat.PredictionWarning, "ignores flder"):
            OpPredictor(batch_size=32, flder="x", **self.options)

    def test_its_names_are_installed(self):
        self.assertEqual(self.run_program("""
            import oplat.compat
            oplat.compat.install("tinynas")
            from tinynas.latency.op_profiler import OpProfiler
            from tinynas.latency.op_predictor import OpPredictor
            from tinynas.latency.robust_gpu_predictor import RobustGpuPredictor
            print(f"{OpProfiler('V100', 'FP32', method='original')([('Regular', 1, 0, 3, 1, 16, 16, 16)], None, 1)[1]:.3f}")
            """), "3.000\n")

    def test_networks_take_seconds_an_image(self):
        from oplat.compat.tinynas import OpPredictor

        class Net:
            def __init__(self, *convs):
                self.convs = convs

            def get_params_for_trt(self, image_size):
                return [*self.convs, ("Linear", 1, 0, 1, 1, 16, image_size, 10)]

        predictor = OpPredictor(batch_size=32, image_size=8, **self.options)
        self.assertAlmostEqual(predictor(Net(("Regular", 1, 0, 3, 1, 16, 8, 16))), 20.0 / 32 / 1000)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(predictor(Net(("Depthwise", 1, 0, 3, 1, 16, 8, 16))), float("inf"))
        self.assertIn("no row of Depthwise", str(caught[0].message))
        with self.assertRaisesRegex(oplat.InputError, "lists no convolution"):
            predictor(Net())

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_modules_are_measured_on_this_machine(self):
        import torch
        from oplat.compat.tinynas import RobustGpuPredictor

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds = RobustGpuPredictor(2, [8, 16], None, budget="5s")(torch.nn.Conv2d(3, 4, 3))
        self.assertTrue(0 < seconds < 1, seconds)
        with self.assertRaisesRegex(oplat.InputError, r"Linear on \[1, 3, 8, 8\] cannot be exported"):
            RobustGpuPredictor(1, 8, None)(torch.nn.Linear(7, 7))

    def test_what_cannot_be_answered_is_said(self):
        from oplat.compat.tinynas import RobustGpuPredictor

        with self.assertRaisesRegex(oplat.MissingKernels, "no row of Regular stride 2 fused 1 kernel 5") as missing:
            self.profiler()([("Regular", 2, 1, 5, 1, 16, 8, 16)], None, 1)
        self.assertEqual(len(missing.exception.keys), 1)
        for convs in ([("Regular", 1, 0)], [("Square", 1, 0, 3, 1, 16, 8, 16)], [("Regular", 1, 0, 3, 1, 16, 8.5, 16)], [("Regular", *"1031688")]):
            with self.assertRaisesRegex(oplat.UsageError, "expected .Conv_type"):
                self.profiler()(convs, None, 1)
        with self.assertRaisesRegex(oplat.UsageError, "1 times for 2"):
            self.profiler()([("Regular", 1, 0, 3, 1, 16, 8, 16)] * 2, [1.0])
        with self.assertRaisesRegex(oplat.InputError, "no folder T4"):
            self.profiler(device_name="T4")
        with self.assertRaises(oplat.Error):
            self.profiler(data_type="INT8")([("Regular", 1, 0, 3, 1, 16, 8, 16)], None, 1)
        with self.assertRaisesRegex(oplat.RuntimeUnavailable, "CPU only"):
            RobustGpuPredictor(1, 224, 0)
        self.assertEqual(self.profiler()([], []), ([], 0.0))


class MobileVision(Folder):
    """The net of a case of the command line, and a table of 10 us to 60 us of its six operators."""

    CASE = CASES / "cases" / "lut-prints-what-the-original-prints.test"

    def setUp(self):
        super().setUp()
        if not self.CASE.exists():
            self.skipTest(f"no {self.CASE}")
        net, name = self.folder / "net", None
        net.mkdir()
        (self.folder / "db").mkdir()
        for line in self.CASE.read_text(encoding="utf-8").splitlines():
            if line.startswith("file net/"):
                name = self.folder / line[5:-1]
            elif line.startswith("  ") and name is not None:
                with open(name, "a", encoding="utf-8") as file:
                    file.write(line[2:] + "\n")
            elif not line.startswith("  "):
                name = None
        done = subprocess.run([oplat.program(), "lut", "--model_path", net, "--input_dims", '{"data": [1, 3, 16, 16]}', "--device", "phone",
                               "--queries"], capture_output=True, text=True, check=True)
        self.queries = [json.loads(line) for line in done.stdout.splitlines()]
        with open(self.folder / "db" / "phone-op_lut_database.json", "w", encoding="utf-8") as file:
            for number, query in enumerate(self.queries, 1):
                print(json.dumps({**query, **{f"runtime_us_p{p}": 10.0 * number for p in (0, 10, 50, 90, 100)}}), file=file)

    def test_nets_and_operators_are_looked_up(self):
        program = """
            import oplat.compat
            oplat.compat.install("mobile_vision")
            from api import RunTimeAPI
            api = RunTimeAPI(db_dir="db", rand_digits=8)
            op_time, net_time, all_found = api.get_net_runtime("net", None, {"data": [1, 3, 16, 16]}, 1, "phone", verbose=VERBOSE)
            print(op_time[1], net_time, all_found)
            """
        quiet = self.run_program(program.replace("VERBOSE", "False"))
        self.assertEqual(quiet, "{'op': 'Int8Quantize', 'time': 20.0} 210.0 True\n")
        lines = self.run_program(program.replace("VERBOSE", "True")).splitlines()
        self.assertEqual(lines[2:4], ["op type Int8Quantize with input [[1, 16, 16, 3]]", "run_time: [20.0]"])
        self.assertEqual(lines[-2], "The network run-time latency is 210.0")

    def test_operators_without_a_record_are_said(self):
        from oplat.compat.mobile_vision import RunTimeAPI

        path = self.folder / "db" / "phone-op_lut_database.json"
        path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ops, net, found = RunTimeAPI(self.folder / "db").get_net_runtime(self.folder / "net", {}, {"data": [1, 3, 16, 16]}, 1, "phone",
                                                                              verbose=False)
        self.assertEqual((ops[-1], net, found), ({"op": "Int8Dequantize", "time": None}, 150.0, False))
        self.assertIn("1 of 6 operators have no record", str(caught[-1].message))
        api = RunTimeAPI(self.folder / "db")
        self.assertIsNone(api.get_op_runtime(self.queries[-1]))
        self.assertEqual(api.get_op_runtime(self.queries[0], mode="min"), 10.0)
        for wrong in (lambda: api.get_op_runtime(self.queries[0], mode="median"), lambda: api.get_op_runtime({"op_type": "Relu"}),
                      lambda: api.get_net_runtime(object(), {}, {"data": [1]}, 1, "phone")):
            with self.assertRaises(oplat.UsageError):
                wrong()
        with self.assertRaisesRegex(oplat.InputError, "nowhere-op_lut_database"):
            api.get_op_runtime({**self.queries[0], "device": "nowhere"})

    def test_tables_are_edited(self):
        from oplat.compat.mobile_vision import OpLut, RunTimeAPI

        lut, query = OpLut(), {"op_type": "Int8Conv", "op_args": [], "input_shapes": [[1, 10]], "input_dtypes": [6], "device": "phone"}
        self.assertEqual(lut.find_op(query), [])
        lut.add_op({**query, "op_type": "Int8ConvRelu", "runtime_us_p50": 40})
        self.assertEqual([each["op_type"] for each in lut.find_op(query)], ["Int8ConvRelu"])
        lut.add_op({**query, "runtime_us_p50": 30})
        self.assertEqual([each["runtime_us_p50"] for each in lut.find_op(query)], [30])
        lut.load(self.folder / "db" / "phone-op_lut_database.json")
        self.assertEqual(lut.find_op(self.queries[2])[0]["runtime_us_p50"], 30.0)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        lut.load("db/phone-op_lut_database.json")
        api = RunTimeAPI("db")
        os.chdir("net")
        self.assertEqual(lut.find_op(self.queries[2])[0]["runtime_us_p50"], 30.0)
        self.assertEqual(api.get_op_runtime(self.queries[2]), 30.0)
        lut.clear()
        self.assertEqual(lut.find_op(self.queries[2]), [])
        for record in ({**query, "runtime_us_p50": -1}, {**query, "color": "red", "runtime_us_p50": 1}, {**query, "runtime_us_p50": float("nan")}):
            with self.assertRaises(oplat.UsageError):
                lut.add_op(record)
        with self.assertRaisesRegex(oplat.InputError, "no such file"):
            OpLut(self.folder / "missing.json").find_op(query)


if __name__ == "__main__":
    unittest.main()
