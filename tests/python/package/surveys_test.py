# SPDX-License-Identifier: Apache-2.0
"""Several settings, several models, operators, and models without a table: as the command line
answers."""
import json
import math
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import oplat
from support import IS_WHEEL, RELU, command, network, sample, table_without_a_row


def document(*arguments, status=0):
    done = command(*arguments, "--json")
    if done.returncode != status:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class PredictionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)
        cls.prediction = cls.table.predict(cls.model)

    def test_operators_are_those_of_the_command_line(self):
        expected = self.prediction.to_dict()["by_operator"]
        found = self.prediction.by_operator
        self.assertGreater(len(found), 0)
        self.assertEqual([(one.type, one.calls, one.kernels, one.missing, one.ms, one.share, one.gflops_per_s, one.gbytes_per_s, one.bound) for one in found],
                         [(one["operator"], one["calls"], one["kernels"], one["missing"], one["time_ns"] / 1e6, one["time_share"], one["gflops_per_s"],
                           one["gbytes_per_s"], one["bound"]) for one in expected])
        self.assertIn(found[0].type, repr(found[0]))
        self.assertLessEqual({kernel.type for kernel in self.prediction.kernels}, {one.type for one in found})

    def test_kernels_have_labels(self):
        kernels = self.prediction.kernels
        self.assertEqual([kernel.label for kernel in kernels], [one["label"] for one in self.prediction.to_dict()["kernels"]])
        self.assertEqual([oplat.Key(kernel.key).label for kernel in kernels], [kernel.label for kernel in kernels])
        self.assertIn(kernels[0].label, repr(kernels[0]))
        self.assertEqual(oplat.Key(RELU).label, "Relu 1x16")
        self.assertEqual(self.prediction.image_ms, self.prediction.ms / self.prediction.batch)

    def test_without_a_fit(self):
        unfitted = self.table.predict(self.model, unfitted=True)
        self.assertEqual(unfitted.to_dict(), document("predict", self.model, "--table", self.path, "--unfitted"))
        self.assertEqual([p.to_dict() for p in self.table.predict_many([self.model], unfitted=True)], [unfitted.to_dict()])
        with self.assertRaisesRegex(TypeError, "unfitted: expected bool, found str"):
            self.table.predict(self.model, unfitted="yes")


class EstimateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)
        cls.keys = list(dict.fromkeys(kernel.key for kernel in cls.table.predict(cls.model).kernels))

    def test_is_that_of_the_command_line(self):
        found = self.table.estimate(self.keys, reuse_bytes=1 << 20)
        self.assertEqual(found.to_dict(), document("estimate", *self.keys, "--table", self.path, "--reuse-bytes", 1 << 20))
        self.assertEqual([kernel.key for kernel in found.kernels], self.keys)
        self.assertTrue(all(kernel.lo < kernel.ms < kernel.hi for kernel in found.kernels))
        self.assertEqual(len(found), len(self.keys))
        for one in (self.keys[0], oplat.Key(self.keys[0]), (key for key in self.keys[:1])):
            self.assertEqual([kernel.ms for kernel in self.table.estimate(one).kernels], [self.table.estimate(self.keys).kernels[0].ms])

    def test_errors(self):
        unknown = "NoSuchOperator/1{}(f32[4])->(f32[4])"
        with self.assertRaises(oplat.MissingKernels) as caught:
            self.table.estimate([*self.keys, unknown])
        self.assertEqual(caught.exception.keys, [unknown])
        self.assertIsNone(self.table.estimate(unknown, missing="zero").kernels[0].ms)
        for kind, text, call in ((oplat.UsageError, "keys: Relu: key", lambda: self.table.estimate("Relu")), (oplat.UsageError, "the list is empty", lambda: self.table.estimate([])),
                                 (oplat.UsageError, "reuse_bytes: -1; expected a finite number of at least 0", lambda: self.table.estimate(self.keys, reuse_bytes=-1)),
                                 (oplat.UsageError, "reuse_bytes: nan", lambda: self.table.estimate(self.keys, reuse_bytes=math.nan)),
                                 (oplat.UsageError, "reuse_bytes: inf", lambda: self.table.estimate(self.keys, reuse_bytes=math.inf)),
                                 (oplat.UsageError, "threads: 0 is not from 1 to 4096", lambda: self.table.estimate(self.keys, threads=0, allow_setting_mismatch=True)),
                                 (oplat.UsageError, "batch: -1 is not from 1 to", lambda: self.table.predict(self.model, batch=-1)),
                                 (TypeError, "'batch'", lambda: self.table.estimate(self.keys, batch=1)), (TypeError, "keys: expected texts", lambda: self.table.estimate([3])),
                                 (oplat.Refused, "--threads", lambda: self.table.estimate(self.keys, threads=77))):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class CompareTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)

    def test_is_that_of_the_command_line(self):
        found = self.table.compare(self.model, self.model, level=0.8)
        expected = document("compare", self.model, self.model, "--table", self.path, "--level", "0.8")
        self.assertEqual(found.to_dict(), expected)
        self.assertIn("B takes 1.000 times as long as A", str(found))
        self.assertEqual(found.ratio, 1.0)
        self.assertFalse(found.intervals_apart)
        self.assertEqual([one.model for one in found.models], [self.model] * 2)
        self.assertEqual([one.batch for one in found.models], [1, 1])
        for one in found.models:
            self.assertLess(one.lo, one.ms)
            self.assertLess(one.ms, one.hi)
        self.assertIn("takes 1.000 times as long", repr(found))

    def test_bytes_are_models_too(self):
        found = self.table.compare(Path(self.model).read_bytes(), self.model)
        self.assertEqual(found.models[0].model, "model.onnx")
        self.assertEqual(found.models[0].ms, found.models[1].ms)

    def test_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lacking.oplat")
            key = table_without_a_row(path)
            with self.assertRaises(oplat.MissingKernels) as caught:
                oplat.Table(path).compare(self.model, self.model)
            self.assertEqual(caught.exception.keys, [key])
        with self.assertRaises(oplat.InputError):
            self.table.compare(self.model, "none.onnx")
        with self.assertRaisesRegex(oplat.Refused, "--threads"):
            self.table.compare(self.model, self.model, threads=77)
        with self.assertRaises(TypeError):
            self.table.compare(self.model)


class RuntimesTest(unittest.TestCase):
    def test_is_that_of_the_command_line(self):
        found = oplat.runtimes()
        self.assertEqual(found.to_dict(), document("runtimes"))
        by_name = {one.name: one for one in found.runtimes}
        self.assertEqual(len(found), len(by_name))
        self.assertTrue(by_name["reference"].available)
        self.assertEqual(found.available, [one.name for one in found.runtimes if one.available])
        for one in found.runtimes:
            self.assertTrue(one.available or one.why, one)
            self.assertIn(one.name, repr(one))
        if by_name["onnxruntime"].available:
            self.assertIn(by_name["onnxruntime"].options["level"].default, by_name["onnxruntime"].options["level"].values)
            self.assertTrue(by_name["onnxruntime"].version)


class PlanTest(unittest.TestCase):
    """Where the runtime runs: as the flags of `oplat plan` say."""

    def test_a_worker_elsewhere_says_its_runtime(self):
        _, model = sample()
        local = oplat.plan(model, runtime="onnxruntime")
        remote = oplat.plan(model, worker=[oplat.program(), "worker", "onnxruntime"])
        self.assertEqual([(kernel.key, kernel.input_bytes) for kernel in remote.kernels], [(kernel.key, kernel.input_bytes) for kernel in local.kernels])
        self.assertGreater(sum(kernel.input_bytes for kernel in local.kernels), 0)
        self.assertEqual([kernel.key for kernel in oplat.plan(model, runtime="onnxruntime", cpu=0).kernels],
                         [kernel.key for kernel in local.kernels])

    def test_errors(self):
        _, model = sample()
        for kind, text, given in ((oplat.UsageError, "give either runtime", {}),
                                  (oplat.UsageError, "give either runtime", {"runtime": "onnxruntime", "rules": "x"}),
                                  (oplat.UsageError, "cpu: 5000 is not from 0 to 4095", {"runtime": "onnxruntime", "cpu": 5000}),
                                  (oplat.UsageError, "--cpu", {"runtime": "onnxruntime", "cpu": 0, "threads": 2}),
                                  (oplat.UsageError, "worker: the command is empty", {"worker": []}),
                                  (oplat.RuntimeUnavailable, "unknown runtime 'onnx'", {"runtime": "onnx"}),
                                  (TypeError, "'seed'", {"runtime": "onnxruntime", "seed": 1})):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                oplat.plan(model, **given)


class ManyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)

    def test_errors_in_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lacking.oplat")
            key = table_without_a_row(path)
            broken = Path(folder, "broken.onnx")
            broken.write_bytes(b"\x08")
            first, second, third = oplat.Table(path).predict_many([self.model, "none.onnx", broken], on_error="return")
            self.assertIsInstance(first, oplat.MissingKernels)
            self.assertEqual(first.keys, [key])
            self.assertIsInstance(second, oplat.InputError)
            self.assertIn("none.onnx", str(second))
            self.assertIsInstance(third, oplat.InputError)
            answers = self.table.predict_many(["none.onnx", self.model], on_error="return")
            self.assertEqual([type(one) for one in answers], [oplat.InputError, oplat.Prediction])
            self.assertEqual(answers[1].ms, self.table.predict(self.model).ms)

    def test_what_every_model_would_fail_of_raises(self):
        with self.assertRaisesRegex(oplat.Refused, "--threads"):
            self.table.predict_many([self.model], threads=77, on_error="return")
        with self.assertRaises(TypeError):
            self.table.predict_many([self.model, 3], on_error="return")
        with self.assertRaisesRegex(oplat.UsageError, "on_error ignore: expected raise or return"):
            self.table.predict_many([self.model], on_error="ignore")
        with self.assertRaises(oplat.InputError):
            self.table.predict_many([self.model, "none.onnx"], on_error="raise")


class SweepTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)
        cls.threads = cls.table.predict(cls.model).setting.threads

    def test_a_predicted_one_is_that_of_the_command_line(self):
        sweep = self.table.predict_sweep(self.model, threads=[self.threads, 77], plan="cached")
        done = command("predict", self.model, "--table", self.path, "--threads", f"{self.threads},77", "--plan", "cached", "--json")
        self.assertEqual(sweep.to_dict(), json.loads(done.stdout))
        good, bad = sweep.points
        self.assertEqual((good.threads, good.batch, good.ms), (self.threads, 1, self.table.predict(self.model).ms))
        self.assertTrue(good.lo < good.ms < good.hi)
        self.assertEqual((good.error, good.inferences, good.image_ms), ("", None, good.ms))
        self.assertAlmostEqual(good.images_per_s * good.ms, 1000)
        self.assertEqual((bad.threads, bad.ms, bad.lo, bad.hi, bad.images_per_s), (77, None, None, None, None))
        self.assertIn("--threads", bad.error)
        self.assertTrue(any(bad.error in text for text in sweep.warnings), sweep.warnings)
        self.assertEqual(sweep.fastest, [])  # of one point that is known
        self.assertEqual(len(sweep), 2)
        self.assertFalse(sweep.measured)
        self.assertEqual(sweep.device.name, self.table.contexts[0].device.name)

    def test_models_keep_their_names(self):
        content = Path(self.model).read_bytes()
        sweep = self.table.predict_sweep([content, self.model], threads=self.threads, plan="cached")
        self.assertEqual([point.model for point in sweep.points], ["model.onnx", self.model])

    def test_a_table_that_is_deleted_still_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            copied = os.path.join(folder, "copied.oplat")
            shutil.copy(self.path, copied)
            table = oplat.Table(copied)
            expected = table.predict(self.model).ms
            os.remove(copied)
            self.assertEqual(table.predict_sweep(self.model, threads=[self.threads]).points[0].ms, expected)

    def test_errors(self):
        for kind, text, given in ((TypeError, "unexpected keyword argument 'batch'", {"batch": 2}), (oplat.UsageError, "threads: 0 is not from 1 to 4096", {"threads": [0]}),
                                  (TypeError, "batches: expected a list of int, found str", {"batches": "1,2"}), (oplat.Refused, "--threads", {"threads": [77]}),
                                  (TypeError, "unexpected keyword argument 'tread'", {"tread": 2})):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                self.table.predict_sweep(self.model, **given)
        with self.assertRaisesRegex(oplat.UsageError, "the list is empty"):
            self.table.predict_sweep([])

    @unittest.skipUnless(IS_WHEEL, "the wheel is tested with ONNX Runtime")
    def test_measured_ones(self):
        sweep = oplat.measure_sweep(self.model, budget=20, threads=[1, 2])
        self.assertEqual([point.threads for point in sweep.points], [1, 2])
        self.assertTrue(all(point.ms > 0 and point.inferences.p50_ms > 0 for point in sweep.points))
        self.assertTrue(sweep.measured)
        self.assertEqual(len(sweep.fastest), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new.oplat")
            sweep = oplat.profile_sweep(network(Path(folder, "net.onnx"), (4,)), path, budget=10, threads=1, batches=[1])
            self.assertEqual([(point.threads, point.batch, point.ms > 0) for point in sweep.points], [(1, 1, True)])
            self.assertGreater(len(oplat.Table(path).rows(with_time=True)), 0)

    @unittest.skipIf(IS_WHEEL, "its table holds the time of the model")
    def test_what_cannot_be_measured(self):
        """The recording has the kernels of the model, and not the model."""
        with self.assertRaisesRegex(oplat.RuntimeUnavailable, "predictable.onnx: unsupported: the table holds no model"):
            oplat.measure_sweep(self.model, "replay", worker_arguments=[self.path], threads=[self.threads], batches=1)
        with self.assertRaisesRegex(oplat.UsageError, "the list is empty"):
            oplat.measure_sweep([], threads=[1, 2])


class AdviceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.model = sample()
        cls.table = oplat.Table(cls.path)

    def test_is_that_of_the_command_line(self):
        ms = self.table.predict(self.model).ms
        for limit, status, meets in ((100 * ms, 0, "yes"), (ms / 100, 7, "no")):
            advice = self.table.advise(self.model, limit, threads=[self.table.predict(self.model).setting.threads, 77], plan="cached")
            threads = ",".join(str(choice.threads) for choice in sorted(advice.choices, key=lambda one: one.threads))
            expected = document("advise", self.model, "--table", self.path, "--max-latency", f"{limit:.9f}ms", "--threads", threads, "--plan", "cached", status=status)
            self.assertAlmostEqual(expected.pop("max_latency_ns") / 1e6, advice.max_ms)
            found = advice.to_dict()
            found.pop("max_latency_ns")
            self.assertEqual(found, expected)
            known, unknown = advice.choices
            self.assertEqual((known.meets, known.ms, known.batch), (meets, ms, 1))
            self.assertEqual((unknown.meets, unknown.ms, unknown.threads), ("unknown", None, 77))
            self.assertIn("77 threads", unknown.why)
            self.assertEqual(advice.best.ms if advice.best else None, ms if meets == "yes" else None)
            self.assertEqual(len(advice), 2)

    def test_all_settings_of_the_table_are_tried(self):
        settings = {(one.setting.runtime, one.setting.threads, one.setting.precision) for one in self.table.contexts if one.rows_with_time}
        advice = self.table.advise([Path(self.model)], 1.0, plan="cached")
        self.assertEqual({(one.setting.runtime, one.setting.threads, one.setting.precision) for one in advice.choices}, settings)

    def test_errors(self):
        for kind, text, call in ((oplat.UsageError, "max_ms: 0 is not a time above 0", lambda: self.table.advise(self.model, 0)),
                                 (oplat.UsageError, "max_ms: nan", lambda: self.table.advise(self.model, float("nan"))),
                                 (oplat.UsageError, "the list is empty", lambda: self.table.advise([], 1)),
                                 (oplat.InputError, "none.onnx", lambda: self.table.advise("none.onnx", 1)),
                                 (oplat.Refused, "in such a setting", lambda: self.table.advise(self.model, 1, precision="none")),
                                 (TypeError, "'unfitted'", lambda: self.table.advise(self.model, 1, unfitted=True)),
                                 (TypeError, "progress: expected a callable", lambda: self.table.advise(self.model, 1, progress=3))):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class InspectTest(unittest.TestCase):
    def test_is_that_of_the_command_line(self):
        model = sample()[1]
        found = oplat.inspect(model, depth=1)
        expected = document("inspect", model, "--depth", 1)
        self.assertEqual(found.to_dict(), expected)
        total = found.total
        self.assertEqual((total.flops, total.parameters, total.activation_bytes), (expected["flops"], expected["parameters"], expected["activation_bytes"]))
        self.assertTrue(all(isinstance(each, int) for each in (total.flops, total.parameters, total.parameter_bytes, total.activation_bytes)))
        self.assertEqual(sum(part.calls for part in found.operators), total.calls)
        self.assertEqual([part.name for part in found.modules], [part["name"] for part in expected["by_module"]])
        self.assertEqual((found.model, found.batch, found.sizes_from), (model, 1, expected["sizes_from"]))
        self.assertEqual(found.peak_activation_bytes, expected["peak_activation_bytes"])

    def test_a_model_without_a_file(self):
        content = Path(sample()[1]).read_bytes()
        self.assertEqual(oplat.inspect(content).model, "model.onnx")
        self.assertEqual(oplat.inspect(content).total.flops, oplat.inspect(sample()[1]).total.flops)

    def test_errors(self):
        model = sample()[1]
        for kind, text, call in ((oplat.InputError, "none.onnx", lambda: oplat.inspect("none.onnx")), (oplat.UsageError, "depth: 99 is not from 0 to 16", lambda: oplat.inspect(model, depth=99)),
                                 (oplat.RuntimeUnavailable, "known", lambda: oplat.inspect(model, runtime="none")), (TypeError, "'threads'", lambda: oplat.inspect(model, threads=2)),
                                 (TypeError, "depth: expected int", lambda: oplat.inspect(model, depth="2"))):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class RunArgumentsTest(unittest.TestCase):
    def test_a_worker_elsewhere(self):
        """Its command is words, or a text that is split as a shell does."""
        program = oplat.program()
        with tempfile.TemporaryDirectory() as folder:
            for worker in ([program, "worker", "reference"], f"'{program}' worker reference"):
                path = os.path.join(folder, f"{type(worker).__name__}.oplat")
                self.assertGreaterEqual(oplat.profile([], path, "", 1, keys=[RELU], worker=worker).measured, 1)
                self.assertEqual(set(oplat.Table(path).rows()["runtime"]), {"reference"})

    def test_a_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new.oplat")
            oplat.profile([], path, "reference", 1, keys=[RELU], cpu=min(os.sched_getaffinity(0)))
            self.assertIn(f"affinity={min(os.sched_getaffinity(0))}", oplat.Table(path).rows()["options"][0])

    def test_errors(self):
        call = lambda **given: oplat.profile([], "new.oplat", "reference", 1, keys=[RELU], **given)
        for kind, text, given in ((oplat.UsageError, "blocks: 4 is not from 5 to 1000", {"blocks": 4}), (oplat.UsageError, "cpu: -1 is not from 0 to 4095", {"cpu": -1}),
                                  (oplat.UsageError, "worker: ", {"worker": "'open"}), (oplat.UsageError, "worker: the command is empty", {"worker": []}),
                                  (TypeError, "worker: expected str or a list of words, found int", {"worker": 3}), (TypeError, "unexpected keyword argument 'level'", {"level": 0.9}),
                                  (TypeError, "threads: expected int, found str", {"threads": "2"}), (TypeError, "seed: expected int from 0, found int -1", {"seed": -1})):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call(**given)
        self.assertFalse(os.path.exists("new.oplat"))


if __name__ == "__main__":
    unittest.main()
