# SPDX-License-Identifier: Apache-2.0
"""What the package answers: the numbers, warnings and errors of the command line."""
import copy
import json
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import oplat
from support import IS_WHEEL, RELU, command, sample, scratch, table_without_a_row


class PredictTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)
        cls.prediction = cls.table.predict(cls.model)

    def test_numbers_are_those_of_the_command_line(self):
        done = command("predict", self.model, "--table", self.path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        p = self.prediction
        self.assertEqual(p.to_dict(), document)
        self.assertEqual(p.ms, document["latency_ns"] / 1e6)
        self.assertEqual([p.lo, p.hi], [bound / 1e6 for bound in document["interval_ns"]])
        self.assertTrue(p.lo < p.ms < p.hi)
        measured = document["measured"]
        self.assertEqual(p.measured_ms, None if measured is None else measured["median_ns"] / 1e6)
        self.assertAlmostEqual(sum(p.coverage.values()) + p.overhead, 1, places=9)
        self.assertEqual([kernel.key for kernel in p.kernels], [kernel["key"] for kernel in document["kernels"]])

    def test_every_warning_of_the_command_line_is_on_the_prediction(self):
        done = command("predict", self.model, "--table", self.path, "--json")
        said = [line.split("warning: ", 1)[1] for line in done.stderr.splitlines() if "warning: " in line]
        self.assertEqual(self.prediction.warnings, said)

    def test_a_mismatch_is_a_warning(self):
        p = self.table.predict(self.model, threads=2, allow_setting_mismatch=True, plan="auto") \
            if not IS_WHEEL else self.table.predict(self.model, version="0.1", allow_setting_mismatch=True)
        mismatches = [text for text in p.warnings if text.startswith("mismatch: ")]
        self.assertEqual(len(mismatches), 1, p.warnings)
        self.assertGreater(p.hi - p.lo, self.prediction.hi - self.prediction.lo)

    def test_a_plan_by_rules(self):
        done = command("plan", self.model, "--plan", "rules:onnxruntime", "--json")
        if done.returncode == 6:
            self.skipTest("the rules do not know this processor: " + done.stderr)
        plan = oplat.plan(self.model, rules="onnxruntime")
        self.assertEqual(plan.to_dict(), json.loads(done.stdout))
        said = [line.split("warning: ", 1)[1] for line in done.stderr.splitlines() if "warning: " in line]
        self.assertEqual(plan.warnings, said)
        self.assertTrue(any("blocks of" in text for text in plan.warnings), plan.warnings)

    def test_level_widens_the_interval(self):
        wide = self.table.predict(self.model, level=0.99)
        self.assertEqual(wide.ms, self.prediction.ms)
        self.assertLess(wide.lo, self.prediction.lo)
        self.assertGreater(wide.hi, self.prediction.hi)

    def test_a_model_is_a_path_bytes_or_an_object_that_gives_them(self):
        content = Path(self.model).read_bytes()

        class Model:
            def SerializeToString(self):
                return content

        for model in (self.model, Path(self.model), content, Model(), bytearray(content), memoryview(content)):
            self.assertEqual(self.table.predict(model, plan="cached").ms, self.prediction.ms)
        self.assertEqual(self.table.predict(content, plan="cached").model, "model.onnx")
        for model in (3, None, [self.model]):
            with self.assertRaises(TypeError):
                self.table.predict(model)

    def test_predict_many_answers_in_order(self):
        many = self.table.predict_many([self.model, Path(self.model)])
        self.assertEqual([p.ms for p in many], [self.prediction.ms] * 2)
        self.assertEqual([p.ms for p in self.table.predict_many(path for path in (self.model,))], [self.prediction.ms])
        # not its letters
        self.assertEqual([p.ms for p in self.table.predict_many(self.model)], [self.prediction.ms])
        with self.assertRaises(oplat.InputError):
            self.table.predict_many([self.model, "none.onnx"])

    def test_predict_many_of_a_list_can_be_stopped(self):
        class Stop(Exception):
            pass

        def stop(*_):
            raise Stop

        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(Stop):
            self.table.predict_many([self.model] * 10**7)

    def test_integers_of_numpy_are_integers(self):
        import numpy

        self.assertEqual(self.table.predict(self.model, threads=numpy.int64(self.prediction.setting.threads)).ms, self.prediction.ms)
        said = []
        for shape in ([1, 2, 3], numpy.array([1, 2, 3]), (numpy.int32(1), 2, 3)):
            with self.assertRaises(oplat.Error) as caught:
                self.table.predict(self.model, plan="cached", shapes={"none": shape})
            said.append(str(caught.exception))
        self.assertEqual(len(set(said)), 1, said)

    def test_objective_is_the_end_of_the_interval_and_warns(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(self.table.as_objective(level=0.9)(self.model), self.prediction.hi)
            self.assertEqual(self.table.as_objective("ms")(self.model), self.prediction.ms)
            self.assertEqual(self.table.as_objective("lo", level=0.9)(self.model), self.prediction.lo)
        self.assertEqual(len(said), 3 * len(self.prediction.warnings))
        self.assertTrue(all(one.category is oplat.PredictionWarning for one in said))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if self.prediction.warnings:
                with self.assertRaises(oplat.PredictionWarning):
                    self.table.as_objective()(self.model)
        with self.assertRaises(oplat.UsageError):
            self.table.as_objective("middle")

    def test_prints_in_a_terminal_and_in_a_notebook(self):
        self.assertIn(Path(self.model).name, repr(self.prediction))
        done = command("predict", self.model, "--table", self.path)
        self.assertEqual(str(self.prediction), done.stdout)
        part = self.prediction._repr_html_()
        self.assertTrue(part.startswith('<div class="oplat">'))
        self.assertNotIn("<html", part)
        self.assertIn("<html", self.prediction.html())


class ErrorTest(unittest.TestCase):
    def setUp(self):
        self.path, self.model = sample()
        self.table = oplat.Table(self.path)

    def test_missing_kernels_have_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lacking.oplat")
            key = table_without_a_row(path)
            table = oplat.Table(path)
            with self.assertRaises(oplat.MissingKernels) as caught:
                table.predict(self.model)
            self.assertEqual(caught.exception.keys, [key])
            self.assertRegex(str(caught.exception), "1 of [0-9]+ kernels is not in .*lacking.oplat")
            for copied in (copy.copy(caught.exception), pickle.loads(pickle.dumps(caught.exception))):
                self.assertEqual((str(copied), copied.keys), (str(caught.exception), [key]))
            zero = table.predict(self.model, missing="zero")
            self.assertEqual(zero.missing, [key])
            self.assertTrue(any("count as zero" in text for text in zero.warnings), zero.warnings)

    def test_each_kind_has_its_class(self):
        cases = [
            (oplat.InputError, "none.onnx", lambda: self.table.predict("none.onnx")),
            (oplat.InputError, "none.oplat", lambda: oplat.Table("none.oplat")),
            (oplat.InputError, "not a table", lambda: oplat.Table(self.model)),
            (oplat.Refused, "--threads", lambda: self.table.predict(self.model, threads=77)),
            (oplat.UsageError, "expected auto, cached", lambda: self.table.predict(self.model, plan="x")),
            (oplat.UsageError, "between 0 and 1", lambda: self.table.predict(self.model, level=2)),
            (oplat.UsageError, "accurate", lambda: self.table.predict(self.model, estimator="x")),
            (oplat.UsageError, "'{'", lambda: oplat.Key("Relu")),
            (oplat.UsageError, "either", lambda: oplat.plan(self.model)),
            (oplat.UsageError, "seconds above 0", lambda: oplat.measure(self.model, budget=-1)),
            (oplat.RuntimeUnavailable, "known", lambda: oplat.measure(self.model, "none")),
            (oplat.UsageError, "keys: Relu", lambda: oplat.profile([], "new.oplat", keys=[RELU + "\n" + RELU])),
            (oplat.UsageError, "keys: Relu: key: byte 4", lambda: oplat.profile([], "new.oplat", keys="Relu")),
            (oplat.UsageError, "nothing to profile", lambda: oplat.profile([], "new.oplat", keys=[])),
            (oplat.UsageError, "the list is empty", lambda: oplat.measure([])),
            (oplat.UsageError, "the list is empty", lambda: self.table.validate(path for path in ())),
        ]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaises(kind) as caught:
                call()
            self.assertIsInstance(caught.exception, oplat.Error)
            self.assertIn(text, str(caught.exception))

    def test_arguments_of_another_type_are_named(self):
        class Wrong:
            def SerializeToString(self):
                return "text"

        cases = [
            (TypeError, "budget: expected seconds.*found list", lambda: oplat.measure(self.model, budget=[1])),
            (TypeError, "bound: expected str, found int", lambda: self.table.as_objective(5)),
            (TypeError, "progress: expected a callable or None, found int", lambda: oplat.profile([], "new.oplat", keys=[RELU], progress=3)),
            (TypeError, r"SerializeToString\(\) of a model gave str", lambda: self.table.predict(Wrong())),
            (TypeError, "inputs: x: expected an array.*found set", lambda: self.table.predict(self.model, inputs={"x": {1}})),
            (TypeError, "inputs: expected a dict.*found str", lambda: self.table.predict(self.model, inputs="zeros")),
            (TypeError, "shapes: expected dict.*found tuple", lambda: self.table.predict(self.model, shapes=(1, 3))),
            (TypeError, "shapes: expected dict.*found dict {'x': '1x3'}", lambda: self.table.predict(self.model, shapes={"x": "1x3"})),
            (TypeError, "batch: expected int, found int 1180591620717411303424", lambda: self.table.predict(self.model, batch=2**70)),
            (TypeError, "keys: expected texts or oplat.Key, found int", lambda: oplat.profile([], "new.oplat", keys=[3])),
            (TypeError, "table: expected a path or an oplat.Table, found int", lambda: oplat.profile([], 3, keys=[RELU])),
            (TypeError, "unexpected keyword argument 'thread'", lambda: self.table.predict(self.model, thread=1)),
            (ValueError, "character", lambda: self.table.predict(self.model + "\0")),
            (TypeError, "path", lambda: oplat.Table(self.path + "\0.oplat")),
        ]
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()
        self.assertFalse(os.path.exists("new.oplat"))

    def test_names_of_files_may_be_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, os.fsdecode(b"caf\xe9 \xf0\x9f\x90\x88.oplat"))
            shutil.copy(self.path, path)
            table = oplat.Table(path)
            self.assertEqual(table.path, path)
            self.assertEqual(len(table), len(self.table))
            model = os.path.join(folder, os.fsdecode(b"n\xff.onnx"))
            shutil.copy(self.model, model)
            self.assertEqual(table.predict(model).ms, self.table.predict(self.model).ms)
            self.assertIn("n\\xff.onnx", repr(table.predict(Path(model))))

    def test_a_model_without_a_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder, "other.onnx")
            other.write_bytes(Path(self.model).read_bytes() + b"\xd2\x07\x01x")  # an unknown field
            with self.assertRaises(oplat.MissingPlan):
                self.table.predict(other, plan="cached")

    def test_a_closed_table(self):
        with oplat.Table(self.path) as table:
            self.assertGreater(len(table), 0)
        with self.assertRaises(ValueError):
            table.predict(self.model)
        with self.assertRaises(ValueError):
            table.reopen()
        with self.assertRaises(ValueError), table:
            pass


class FolderTest(unittest.TestCase):
    """A relative path is one of the folder that was the current one when the table was opened."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.here, self.there = Path(folder.name, "here"), Path(folder.name, "there")
        for each in (self.here, self.there):
            each.mkdir()
        path, self.model = sample()
        shutil.copy(path, self.here / "desk.oplat")
        self.lacking = table_without_a_row(self.there / "desk.oplat")
        os.chdir(self.here)
        self.table = oplat.Table("desk.oplat")

    def test_it_stays_that_file_in_another_folder(self):
        self.assertEqual(self.table.path, "desk.oplat")
        objective = self.table.as_objective("ms")
        os.chdir(self.there)
        rows = len(self.table)
        self.assertEqual(self.table.path, str(self.here / "desk.oplat"))
        self.table.reopen()
        self.assertEqual(len(self.table), rows)
        self.assertLess(len(oplat.Table("desk.oplat")), rows)
        self.assertEqual(len(pickle.loads(pickle.dumps(self.table))), rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertGreater(objective(self.model), 0)

    def test_what_is_measured_is_stored_in_it(self):
        oplat.profile([], "new.oplat", "reference", 1, keys=RELU)
        table = oplat.Table("new.oplat")
        os.chdir(self.there)
        oplat.profile([], table, "reference", 1, keys=[oplat.Key(RELU.replace("16", "32"))])
        table.reopen()
        self.assertEqual(len(table.kernels()), 2)
        self.assertFalse(Path("new.oplat").exists())

    def test_a_fit_is_stored_in_it(self):
        before = Path("desk.oplat").read_bytes(), (self.there / "desk.oplat").read_bytes()
        os.chdir(self.there)
        try:
            self.table.fit(composition=False)
        except oplat.Refused as error:  # few rows teach nothing
            self.assertNotIn(str(self.there), str(error))
        with self.assertRaisesRegex(oplat.UsageError, "nothing to fit: both"):
            self.table.fit(composition=False, kernels=False)
        with self.assertRaisesRegex(oplat.UsageError, "jobs: -1; expected 0, which takes all cores, or more"):
            self.table.fit(jobs=-1)
        self.assertEqual((self.there / "desk.oplat").read_bytes(), before[1])

    def test_a_table_that_cannot_be_written_answers(self):
        os.chmod("desk.oplat", 0o444)
        os.chmod(".", 0o555)
        self.addCleanup(os.chmod, self.here, 0o755)
        table = oplat.Table("desk.oplat")
        self.assertEqual(table.predict(self.model).ms, self.table.predict(self.model).ms)


class OtherProcessTest(unittest.TestCase):
    """What another process may be given."""

    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)

    def in_another(self, code, value):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", "import pickle, sys\nvalue = pickle.load(sys.stdin.buffer)\n" + code, self.model],
                              input=pickle.dumps(value), capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().strip()

    def test_a_table(self):
        self.assertEqual(self.in_another("print(value.predict(sys.argv[1]).ms)", self.table), str(self.table.predict(self.model).ms))
        with oplat.Table(self.path) as closed:
            pass
        with self.assertRaisesRegex(ValueError, "closed"):
            pickle.dumps(closed)

    def test_an_objective(self):
        objective = self.table.as_objective("lo", level=0.8, missing="roofline", plan="cached")
        expected = self.table.predict(self.model, level=0.8).lo
        self.assertEqual(self.in_another("print(value(sys.argv[1]), value.bound, value.level)", objective), f"{expected} lo 0.8")

    def test_values(self):
        prediction = self.table.predict(self.model)
        values = [prediction.kernels, prediction.device, prediction.setting, self.table.contexts, oplat.Key(RELU), oplat.Key(RELU).operands]
        self.assertEqual(self.in_another("print(repr(value))", values), repr(values))
        again = copy.deepcopy(prediction.kernels[0])
        for name in ("name", "key", "count", "ms", "lo", "hi", "source", "why"):
            self.assertEqual(getattr(again, name), getattr(prediction.kernels[0], name))

    def test_results_say_what_to_give(self):
        for result, way in ((self.table.predict(self.model), "to_dict"), (self.table.rows(), "to_numpy")):
            with self.assertRaisesRegex(TypeError, rf"{type(result).__name__} cannot be pickled; .* {way}\(\)"):
                pickle.dumps(result)
            # A configuration that holds one may be copied.
            self.assertIs(copy.deepcopy({"result": result})["result"], result)
            self.assertIs(copy.copy(result), result)


class RowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = oplat.Table(sample()[0])

    def test_columns_are_the_rows_of_the_command_line(self):
        import numpy

        done = command("table", "rows", self.table.path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = json.loads(done.stdout)["rows"]
        rows = self.table.rows()
        self.assertEqual(len(rows), len(listed))
        self.assertEqual(len(rows), len(self.table))
        self.assertEqual(rows["key"].tolist(), [row["key"] for row in listed])
        arrays = rows.to_numpy()
        self.assertEqual(list(arrays), rows.columns)
        self.assertTrue(all(len(array) == len(rows) for array in arrays.values()))
        with self.assertRaises(ValueError):
            arrays["median_ms"][0] = 0  # shared memory: read-only
        with self.assertRaises(KeyError):
            rows["none"]
        with self.assertRaisesRegex(TypeError, "to_numpy"):
            numpy.asarray(rows)

    def test_filters(self):
        rows = self.table.rows()
        key = rows["key"][0]
        self.assertEqual(set(self.table.rows(key=key)["key"]), {key})
        self.assertEqual(len(self.table.rows(device="none")), 0)
        self.assertEqual(self.table.rows(device="none")["median_ms"].tolist(), [])

    def test_kernels_are_distinct(self):
        kernels = self.table.kernels()
        rows = self.table.rows()
        self.assertEqual(sorted(kernels["key"]), sorted(set(rows["key"])))
        self.assertEqual(kernels["rows"].sum(), len(rows))
        self.assertTrue((kernels["min_ms"] <= kernels["max_ms"]).all())

    def test_arrays_outlive_table_and_rows(self):
        table = oplat.Table(sample()[0])
        rows = table.rows()
        median, expected = rows["median_ms"], rows["median_ms"].tolist()
        del rows, table
        self.assertEqual(median.tolist(), expected)

    def test_capsules_that_nobody_takes_are_released(self):
        rows = self.table.rows()
        for _ in range(1000):
            rows.__arrow_c_stream__()
            rows.__arrow_c_array__(None)
            rows.__arrow_c_schema__()

    def test_arrow(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("pyarrow is not installed")
        rows = self.table.rows()
        arrow = pyarrow.table(rows)
        arrow.validate(full=True)
        self.assertEqual(arrow.column_names, rows.columns)
        for name in rows.columns:
            expected = [None if isinstance(value, float) and math.isnan(value) else value
                        for value in rows[name].tolist()]
            self.assertEqual(arrow[name].to_pylist(), expected, name)
        array = pyarrow.array(rows)
        self.assertEqual(array.to_pylist(), arrow.to_pylist())
        # The numbers are those that numpy sees, in the same place.
        place = arrow["blocks"].chunk(0).buffers()[1].address
        self.assertEqual(place, rows["blocks"].__array_interface__["data"][0])
        del rows
        self.assertEqual(arrow.num_rows, len(self.table))

    def test_frames(self):
        rows = self.table.rows()
        try:
            import pandas
            import polars
        except ImportError:
            self.skipTest("pandas or polars is not installed")
        frame = pandas.DataFrame(rows.to_numpy())
        self.assertEqual(frame["median_ms"].tolist(), rows["median_ms"].tolist())
        with self.assertRaisesRegex(TypeError, "to_numpy"):
            pandas.DataFrame(rows)  # would be one of the columns' names
        self.assertEqual(polars.DataFrame(rows)["key"].to_list(), rows["key"].tolist())


class KeyTest(unittest.TestCase):
    def test_is_a_value(self):
        key = oplat.Key(RELU)
        self.assertEqual(str(key), RELU)
        self.assertEqual(key, oplat.Key(RELU))
        self.assertEqual(len({key, oplat.Key(RELU)}), 1)
        self.assertNotEqual(key, oplat.Key("Relu/14{}(f32[1,8])->(f32[1,8])"))
        self.assertEqual((key.op, key.operands[0].dims, key.flops), ("Relu", [1, 16], 16))
        self.assertEqual(eval(repr(key)), key)


class PackageTest(unittest.TestCase):
    def test_importing_it_loads_nothing(self):
        """Workers in Python import it where neither numpy nor the module is installed."""
        code = "import sys, oplat; sys.exit(any(m in sys.modules for m in ('numpy', 'oplat._core')))"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_all_names_exist(self):
        for name in oplat.__all__:
            self.assertIsNotNone(getattr(oplat, name))
        self.assertRegex(oplat.__version__, r"^\d+\.\d+\.\d+$")
        with self.assertRaises(AttributeError):
            oplat.none
        self.assertLessEqual(set(oplat.__all__), set(dir(oplat)))

    def test_its_modules_are_there_without_an_import(self):
        code = "import sys, oplat; oplat.compat.install, oplat.mmt, oplat.torch.export; sys.exit('oplat._core' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)
        self.assertLessEqual({"compat", "mmt", "torch"}, set(dir(oplat)))

    def test_the_program_is_of_this_version(self):
        self.assertIn(oplat.__version__, command("version").stdout)

    def test_the_package_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "oplat", "version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, command("version").stdout)
        done = subprocess.run([sys.executable, "-m", "oplat", "predict"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, command("predict").returncode)

    def test_a_reader_that_has_enough_ends_it_in_silence(self):
        """As `| head` does. Python ignores the signal, and what it becomes would, too."""
        statuses = []
        for program in ([oplat.program()], [sys.executable, "-m", "oplat"]):
            read, write = os.pipe()
            os.close(read)
            with open(write, "wb") as closed:
                done = subprocess.run([*program, "version"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
            statuses.append((done.returncode, done.stderr))
        self.assertEqual(statuses, [(-signal.SIGPIPE, "")] * 2)

    def test_nothing_is_said_of_what_is_alive_at_the_end(self):
        code = ("import sys, threading, time, oplat\ntable = oplat.Table(sys.argv[1])\nstarted = threading.Event()\n"
                "def wait(held):\n    started.set()\n    time.sleep(600)\n"
                "threading.Thread(target=wait, args=(table,), daemon=True).start()\nstarted.wait()\n")
        done = subprocess.run([sys.executable, "-c", code, sample()[0]], capture_output=True, text=True, check=True)
        if "OPLAT_TEST_SANITIZED" not in os.environ:
            self.assertEqual(done.stderr, "")

    @unittest.skipUnless(IS_WHEEL, "only a wheel is installed")
    def test_what_is_installed(self):
        packages = Path(oplat.__file__).parents[1]
        done = subprocess.run(["oplat", "version"], capture_output=True, text=True, check=True)
        self.assertIn(oplat.__version__, done.stdout)
        # Workers are those of the wheel, run by the environment's interpreter.
        done = subprocess.run([oplat.program(), "worker", "paddle"], input="", capture_output=True, text=True, check=False,
                              env={**os.environ, "OPLAT_PADDLE_PYTHON": "echo"})
        self.assertEqual(done.stdout.split()[1:], [str(packages / "oplat/share/oplat/python/oplat_worker.py"), "paddle"])
        done = subprocess.run(["oplat", "runtimes", "--json"], capture_output=True, text=True, check=True)
        runtimes = {one["name"]: one for one in json.loads(done.stdout)["runtimes"]}
        self.assertTrue(runtimes["onnxruntime"]["available"], runtimes["onnxruntime"])
        # Of the system, the C and C++ runtime and zlib alone.
        system = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "linux-vdso.so.1",
                  "/lib64/ld-linux-x86-64.so.2"}
        from oplat import _core
        for binary in (oplat.program(), _core.__file__, packages / "oplat/lib/liboplat_worker.so.1"):
            listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
            for line in listed.splitlines():
                name, *place = line.split()
                is_packed = len(place) > 1 and Path(place[1]).resolve().parent == (packages / "oplat.libs").resolve()
                self.assertTrue(name in system or is_packed, f"{binary}: {line}")

    def test_types(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("mypy is not installed")
        here = Path(__file__).parent
        environment = {**os.environ, "MYPYPATH": os.path.abspath(os.environ["PYTHONPATH"]) if "PYTHONPATH" in os.environ else "", "LD_PRELOAD": ""}
        for name, status in (("typed_example.py", 0), ("typed_wrongly.py", 1)):
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", scratch() / "mypy", here / name],
                                  capture_output=True, text=True, env=environment, cwd=scratch(), check=False)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            for number, line in enumerate((here / name).read_text().splitlines(), 1):
                self.assertEqual("# wrong" in line, f"{name}:{number}: error" in done.stdout, done.stdout)


if __name__ == "__main__":
    unittest.main()
