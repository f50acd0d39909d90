# SPDX-License-Identifier: Apache-2.0
"""oplat.mmt.meter without torch and without MNN: by a program in the place of MNN's MNNV2Basic.out,
which prints what MNN prints, and by an interpreter in the place of one that has MNN."""
import contextlib
import csv
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

import oplat
from oplat.mmt import converter, meter, operators, predictor
from oplat.mmt.parser import Call, Latency, Operation, Part, RecordedModel, predict_latency

# The ends of what MNN's versions print; %f has six digits.
NEWER = """Use extra forward type: 0

Open Model {model}
Load Cache file error.
Session Info: memory use 4.594727 MB, flops is 302.100006 M, backendType is 13
===========> Session Resize Done.
===========> Session Start running...
Input size:150528
precision:2, memory: 0, Run {times} time:
                                        Convolution12 \t[Convolution] run {times} average cost 0.131000 ms, 3.012 %, FlopsRate: 4.101 %
Avg= 4.350250 ms, OpSum = 4.120100 ms min= 4.198000 ms, max= 5.002000 ms
"""
OLDER = """Use extra forward type: 0
Open Model {model}
Input size:150528
Run {times} time:
    Convolution12 run {times} average cost 0.131000 ms, 3.012 %
Avg= 6.125000 ms, min= 5.900000 ms, max= 7.250000 ms
"""
PROGRAM = """#!/usr/bin/env python3
import os, sys
from pathlib import Path
model, times, mask, kind, threads = sys.argv[1:6]
name = os.path.basename(model)  # the folder's may have any letters
with open({calls!r}, "a") as file:
    print(name, times, mask, kind, threads, file=file)
Path(".tempcache").write_text("left behind")
if name.startswith("crash"):
    os.abort()
if name.startswith("endless"):
    import subprocess
    child = subprocess.Popen(["sleep", "600"])  # holds this process's standard output
    print("child", child.pid, file=open({calls!r}, "a"))
    child.wait()
if name.startswith("bad"):
    print("Can't Find type=77 backend, use 0 instead\\nResize error, can't execute MNN")
    sys.exit(0)
print({log!r}.replace("{{model}}", model).replace("{{times}}", times), end="")
"""
INTERPRETER = """#!/bin/sh
case "$*" in
  *packages.version*) echo 3.6.1 ;;
  *crash.mnn) kill -SEGV $$ ;;
  *endless.mnn) sleep 600 & echo "child $!" >> {calls}; wait ;;
  *bad.mnn) echo "MNN cannot run Fly" >&2; exit 1 ;;
  *) echo "$*" >> {calls}; echo '{{"runs": [1.0, 2.0, 3.0]}}' ;;
esac
"""


def entry(name, **more):
    return {"input_shape": [1, 8], "init_param": None, "mnn_fname": f"{name}.mnn", "avg": 0, "max": 0, "min": 0, "repr": f"{name}()",
            "set_path": "/where/it/was/made", **more}


def is_running(process):
    """Not a zombie, which nobody may have waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="oplat-mmt-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.ops = self.folder / "ops"
        self.ops.mkdir()
        self.calls = self.folder / "calls"
        # Neither MNN nor its program, wherever the tests run.
        self.use_environment(PATH="/usr/bin:/bin", OPLAT_MNN_PYTHON="/missing/python")

    def use_environment(self, **variables):
        change = mock.patch.dict(os.environ, variables)
        change.start()
        self.addCleanup(change.stop)

    def executable(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def use_program(self, log):
        path = self.executable(self.folder / "bin" / "MNNV2Basic.out", PROGRAM.format(calls=str(self.calls), log=log))
        self.use_environment(PATH=f"{path.parent}:/usr/bin:/bin")

    def use_interpreter(self):
        path = self.executable(self.folder / "python", INTERPRETER.format(calls=self.calls))
        self.use_environment(OPLAT_MNN_PYTHON=str(path))

    def make_ops(self, *names, folder=None):
        folder = folder or self.ops
        for name in names:
            (folder / f"{name}.mnn").write_bytes(b"a model")
        operators.store(folder / "meta.pkl", [entry(name) for name in names])

    def called(self):
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []

    def warned(self, function, *arguments, **named):
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            result = function(*arguments, **named)
        self.assertTrue(all(issubclass(each.category, oplat.PredictionWarning) for each in caught))
        return result, [str(each.message) for each in caught]


    def check_ended(self):
        """The processes that said who they are have ended."""
        children = [int(line.split()[1]) for line in self.called() if line.startswith("child")]
        self.assertEqual(len(children), 1)
        until = time.monotonic() + 30
        while is_running(children[0]) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(is_running(children[0]))

    def check_the_limit(self, words):
        found, said = self.warned(meter.meter_ops, self.ops, times=3, time_limit=8)
        self.assertEqual([each["avg"] > 0 for each in found], [True, False])
        self.assertEqual(said, [f"not measured: endless.mnn: {words}"])
        self.check_ended()


class Program(Folder):
    def test_both_forms_of_its_last_line_are_read(self):
        self.make_ops("A")
        for log, expected in ((NEWER, {"Avg": 4.35025, "OpSum": 4.1201, "Min": 4.198, "Max": 5.002, "repeat": 12}),
                              (OLDER, {"Avg": 6.125, "Min": 5.9, "Max": 7.25, "repeat": 12})):
            self.use_program(log)
            self.assertEqual(meter.get_latency(self.ops / "A.mnn", 12, verbose=False), expected)
        self.assertEqual(self.called(), ["A.mnn 12 0 0 4"] * 2)
        self.assertEqual((self.ops / "A.mnn.log").read_text(encoding="utf-8").splitlines()[-1], OLDER.splitlines()[-1])
        self.assertEqual(sorted(path.name for path in self.ops.iterdir()), ["A.mnn", "A.mnn.log", "meta.pkl"])

    def test_logs_that_say_nothing_or_too_much_are_refused(self):
        for log, words in (("", "prints no times"), ("Resize error, can't execute MNN\n", "can't execute"),
                           ("Avg= nan ms, min= nan ms, max= nan ms", "contradict"),
                           ("Avg= 1.0 ms, min= 2.0 ms, max= 3.0 ms", "contradict"),
                           ("Avg= 0.000000 ms, min= 0.000000 ms, max= 0.000000 ms", "contradict"),
                           ("Avg= one ms, min= 1 ms, max= 1 ms", "no times")):
            with self.assertRaisesRegex(oplat.RuntimeUnavailable, words):
                meter.times_of_log(log)
        self.assertEqual(meter.times_of_log(OLDER + NEWER)["OpSum"], 4.1201)  # the last one counts

    def test_it_measures_in_place_of_the_package_on_a_copied_folder(self):
        self.make_ops("A", "B")
        copied = self.folder / "copied"
        shutil.copytree(self.ops, copied)
        shutil.rmtree(self.ops)
        self.use_interpreter()  # which has MNN, and is not asked
        self.use_program(NEWER)
        found, said = self.warned(meter.meter_ops, copied, times=7)
        self.assertEqual((said, self.called()), ([], ["A.mnn 7 0 0 4", "B.mnn 7 0 0 4"]))
        self.assertEqual([(each["avg"], each["min"], each["max"]) for each in found], [(4.35025, 4.198, 5.002)] * 2)
        self.assertEqual(found, operators.load(copied / "meta_latency.pkl"))
        self.assertEqual({**found[0]["measured"], "program": "", "processor": "", "model": ""},
                         {"by": "MNNV2Basic.out", "program": "", "threads": 4, "precision": "low", "processor": "", "model": "", "runs": 7})

    def measure(self, **how):
        self.assertEqual(self.warned(meter.meter_ops, self.ops, **how)[1], [])

    def test_what_is_measured_is_kept_where_it_answers_the_call(self):
        self.make_ops("A", "B")
        self.use_program(NEWER)
        self.measure(times=5)
        self.measure(times=5)
        self.measure(times=3)
        self.assertEqual(len(self.called()), 2)
        self.measure(times=50)  # times are honoured
        self.assertEqual(self.called()[2:], ["A.mnn 50 0 0 4", "B.mnn 50 0 0 4"])
        self.measure(times=50, threads=1)
        self.assertEqual(self.called()[4:], ["A.mnn 50 0 0 1", "B.mnn 50 0 0 1"])
        with mock.patch.object(operators, "processor", return_value="another processor"):
            self.measure(times=50, threads=1)
        self.assertEqual(len(self.called()), 8)
        self.measure(times=50, threads=1)
        (self.ops / "A.mnn").write_bytes(b"exported again")
        self.measure(times=50, threads=1)
        self.assertEqual([line.split()[0] for line in self.called()[8:]], ["A.mnn", "B.mnn", "A.mnn"])
        # A table of the original does not say how it was measured.
        operators.store(self.ops / "meta_latency.pkl", [entry("A", avg=1.0), entry("B", avg=1.0)])
        self.measure(times=50, threads=1)
        self.assertEqual(len(self.called()), 13)
        self.use_program(OLDER)  # of another device
        self.measure(times=50, threads=1)
        self.assertEqual(len(self.called()), 15)

    def test_numbers_may_be_of_numpy_and_the_program_in_a_relative_folder(self):
        class Seven:  # as numpy.int64(7)
            def __index__(self):
                return 7

        self.make_ops("A")
        self.use_program(NEWER)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.use_environment(PATH="bin:/usr/bin:/bin")
        found, said = self.warned(meter.meter_ops, "ops", times=Seven(), threads=Seven())
        self.assertEqual((said, self.called()), ([], ["A.mnn 7 0 0 7"]))
        self.assertEqual((found[0]["measured"]["runs"], found[0]["measured"]["threads"]), (7, 7))

    def test_a_call_goes_on_where_it_was_stopped(self):
        self.make_ops("A", "B", "C")
        self.use_program(NEWER)
        real, seen = meter.get_latency, []

        def stop_at_the_third(path, *arguments, **named):
            seen.append(path.name)
            if len(seen) == 3:
                raise KeyboardInterrupt
            return real(path, *arguments, **named)

        with mock.patch.object(meter, "get_latency", stop_at_the_third), self.assertRaises(KeyboardInterrupt):
            self.warned(meter.meter_ops, self.ops)
        self.assertEqual([each["avg"] > 0 for each in operators.load(self.ops / "meta_latency.pkl")], [True, True, False])
        self.warned(meter.meter_ops, self.ops)
        self.assertEqual([line.split()[0] for line in self.called()], ["A.mnn", "B.mnn", "C.mnn"])

    def test_a_crash_is_a_failed_row(self):
        self.make_ops("A", "crash", "bad", "B", "missing")
        (self.ops / "missing.mnn").unlink()
        self.use_program(NEWER)
        found, said = self.warned(meter.meter_ops, self.ops)
        self.assertEqual([each["avg"] > 0 for each in found], [True, False, False, True, False])
        self.assertEqual([words in text for words, text in zip(("signal 6", "can't execute MNN", "no such file"), said)], [True] * 3)
        self.assertIn("crash.mnn: MNNV2Basic.out ended with signal 6", found[1]["failed"])
        self.assertEqual(operators.load(self.ops / "meta_latency.pkl"), found)

    def test_what_takes_too_long_is_ended_with_all_that_it_started(self):
        self.make_ops("A", "endless")
        self.use_program(NEWER)
        self.check_the_limit("MNNV2Basic.out was not done after 8 s; if it needs longer, give a larger time_limit")
        for limit in (0, -1, float("inf"), float("nan"), True, "3"):
            with self.assertRaisesRegex(oplat.UsageError, "time_limit is"):
                meter.meter_ops(self.ops, time_limit=limit)

    def test_an_interrupt_ends_what_was_started(self):
        self.make_ops("endless")
        self.use_program(NEWER)
        # Where this test runs in the background of a shell, SIGINT is ignored, in whatever it
        # starts as well.
        code = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom oplat.mmt import meter\n"
                f"meter.meter_ops({str(self.ops)!r}, times=3)\n")
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            until = time.monotonic() + 60
            while not any(line.startswith("child") for line in self.called()) and time.monotonic() < until:
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        self.assertIn("KeyboardInterrupt", said)
        self.check_ended()

    def test_a_bar_on_a_terminal_says_how_far_it_is(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        self.make_ops("A", "B")
        self.use_program(NEWER)
        with contextlib.redirect_stderr(Terminal()) as said:
            self.measure(times=3)
        self.assertRegex(said.getvalue(), r"^\r\x1b\[K\[ {24}\] measured 0 of 2\r\x1b\[K\[#{12} {12}\] measured 1 of 2, \d+ s left\r\x1b\[K$")

    def test_other_precisions_are_not_asked_of_it(self):
        self.make_ops("A")
        self.use_program(NEWER)
        with self.assertRaisesRegex(oplat.UsageError, "'normal'.*PATH"):
            meter.meter_ops(self.ops, precision="normal")
        for times in (0, -1, 2.5, True, "3"):
            with self.assertRaisesRegex(oplat.UsageError, "times is"):
                meter.meter_ops(self.ops, times=times)
        self.assertEqual(self.called(), [])


class Package(Folder):
    def test_what_takes_too_long_is_ended_with_all_that_it_started(self):
        self.make_ops("A", "endless")
        self.use_interpreter()
        self.check_the_limit("was not done after 8 s; if it needs longer, give a larger time_limit")

    def test_a_crash_is_a_failed_row(self):
        self.make_ops("A", "crash", "bad")
        self.use_interpreter()
        found, said = self.warned(meter.meter_ops, self.ops, times=3)
        self.assertEqual([each["avg"] for each in found], [2.0, 0, 0])
        self.assertRegex(said[0], "not measured: crash.mnn: MNN ended its process with signal 11")
        self.assertRegex(said[1], "not measured: bad.mnn: MNN cannot run Fly")
        self.assertEqual(found[0]["measured"]["by"], "MNN 3.6.1")
        self.assertRegex(self.called()[0], "meter 4 low 3 .*A.mnn$")

    def test_its_interpreter_sees_the_workers_and_nothing_else_of_this_environment(self):
        """In an environment, the package lies next to another numpy than that of MNN."""
        self.executable(self.folder / "shows", "#!/bin/sh\necho \"$PYTHONPATH\"\n")
        self.use_environment(OPLAT_MNN_PYTHON=str(self.folder / "shows"), PYTHONPATH="")
        path = Path(operators.mnn_tool("any").strip())
        self.assertTrue((path / "oplat" / "workers" / "mnn" / "tool.py").is_file(), path)
        self.assertFalse((path / "numpy").exists())
        # Laid out as in a wheel.
        apart = self.folder / "site-packages" / "oplat" / "share" / "oplat" / "python"
        apart.mkdir(parents=True)
        with mock.patch.object(operators, "__file__", str(self.folder / "site-packages" / "oplat" / "mmt" / "operators.py")):
            self.assertEqual(operators.mnn_tool("any").strip(), str(apart.resolve()))

    def test_its_absence_says_how_to_install_it(self):
        self.make_ops("A")
        self.executable(self.folder / "bare", "#!/bin/sh\nexit 1\n")
        for python in ("/missing/python", str(self.folder / "bare")):
            self.use_environment(OPLAT_MNN_PYTHON=python)
            with self.assertRaisesRegex(oplat.RuntimeUnavailable, "install it: .*pip install MNN"):
                meter.meter_ops(self.ops)
        self.assertFalse((self.ops / "meta_latency.pkl").exists())

    def test_nothing_imports_torch(self):
        """In a process where torch cannot be imported."""
        self.make_ops("A")
        self.use_program(NEWER)
        program = ("import sys; sys.modules['torch'] = None\nfrom oplat.mmt.meter import meter_ops, meter_models\n"
                   f"from oplat.mmt.converter import validation\nprint(meter_ops({str(self.ops)!r}, times=4)[0]['avg'])")
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "4.35025\n", done.stderr)


class Registered(Folder):
    def test_no_two_operators_have_one_file(self):
        """The original gave one name to each of these pairs, and the later operator replaced the
        file of the earlier one."""
        linear = "Linear(in_features={}, out_features={}, bias=True)"
        for one, other in ((("Linear", linear.format(512, 10), [1, 512]), ("Linear", linear.format(512, 100), [1, 512])),
                           (("Linear", linear.format(512, 10), [1, 512]), ("Linear", linear.format(512, 1000), [1, 512])),
                           (("Block", "Block-1", [12, 3]), ("Block", "Block-1", [1, 23])),
                           (("Block", "Block-1", [1, 3]), ("Block", "Block", [1, 1, 3])),
                           (("ReLU", "Same()", [1, 3]), ("Other", "Same()", [1, 3]))):
            names = [converter.file_name(*each) for each in (one, other)]
            self.assertNotEqual(*names)
            self.assertEqual(names, [converter.file_name(*each) for each in (one, other)])
            for name in names:
                self.assertRegex(name, r"^[A-Za-z]+-[0-9a-f]{16}\.mnn$")

    def test_lists_that_are_none_are_named_before_anything_is_exported(self):
        class Block:
            pass

        for parameters, words in (({"input_shape": [1, 8]}, r"Block: input_shape is \[1, 8\]; expected a list of shapes"),
                                  ({"input_shape": [[1, -8]]}, r"Block: the input shape is \[1, -8\]"), ({"input_shape": []}, "list of shapes"),
                                  ({"input_shape": [[1, 8]], "width": 3}, "Block: width is 3; expected a list of candidates"),
                                  ({"input_shape": [[1, 8]], "width": []}, "expected a list of candidates"),
                                  ({"input_shape": [[1, 8]], "width": [1, 2]}, "1 input_shape for 2 candidates"), ({}, "input_shape is None")):
            with self.assertRaisesRegex(oplat.InputError, words):
                converter.register(Block, self.folder / "new", **parameters)
        with self.assertRaisesRegex(oplat.InputError, "expected a class"):
            converter.register(Block(), self.folder / "new", no_params=True, input_shape=[[1, 8]])
        self.assertFalse((self.folder / "new").exists())


def recorded(name="Net", width=8):
    """A model of one block that tables have, and an addition that they have not."""
    block = Call("Block", f"Block-{width}", [1, width], [1, width], [Operation("mm", [1, width], [1, width], 1000.0)])
    return RecordedModel(name, [1, width], Call(name, name, [1, width], [1, width], [block, Operation("add", [1, width], [1, width], 100.0)]))


class Models(Folder):
    def make_model(self, name, **more):
        (self.ops / f"{name}.mnn").write_bytes(b"a model")
        about = {"torch_name": f"{name}.pth", "input_shape": [1, 8], "recorded": recorded(name).to_json(), **more}
        (self.ops / f"{name}meta.json").write_text(json.dumps(about), encoding="utf-8")

    def about(self, name):
        return json.loads((self.ops / f"{name}meta.json").read_text(encoding="utf-8"))

    def table(self, ms=2.0):
        path = self.folder / "meta_latency.pkl"
        operators.store(path, [{**entry("A", avg=ms, min=ms, max=1.25 * ms), "repr": "Block-8"}])
        return path

    def test_models_are_measured_and_resumed(self):
        self.make_model("A-1")
        self.make_model("crash-2")
        self.use_program(NEWER)
        found, said = self.warned(meter.meter_models, self.ops, times=9)
        self.assertEqual(found, {"A-1.mnn": {"Avg": 4.35025, "OpSum": 4.1201, "Min": 4.198, "Max": 5.002, "repeat": 9}})
        self.assertEqual(self.about("A-1")["latency"], found["A-1.mnn"])
        self.assertNotIn("latency", self.about("crash-2"))
        self.assertIn("crash-2.mnn", said[0])
        self.assertEqual(self.about("A-1")["torch_name"], "A-1.pth")
        again, _ = self.warned(meter.meter_models, self.ops, times=9)
        self.assertEqual(again, found)
        self.assertEqual([line.split()[0] for line in self.called()], ["A-1.mnn", "crash-2.mnn", "crash-2.mnn"])

    def test_validation_prints_and_stores_what_the_original_does(self):
        self.make_model("A", latency={"Avg": 2.5})
        self.make_model("B", latency={"Avg": 2.0})
        self.make_model("C")
        printed, out = io.StringIO(), self.folder / "pairs.csv"
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = converter.validation(self.ops, self.table(), verbose=True, save_path=out)
        self.assertEqual([each.model for each in found], ["A.pth", "B.pth"])
        self.assertAlmostEqual(found[0].predicted, 2.2)  # the addition at the speed of the block
        self.assertAlmostEqual(found[0].error_ms, -0.3)
        lines = printed.getvalue().splitlines()
        self.assertEqual(lines[0], "A.pth: latency: 2.5 pred_latency: 2.2")
        self.assertRegex(lines[2], r"model +latency_true\(ms\) +latency_pred\(ms\) +error\(ms\) +interval\(ms\)")
        self.assertEqual(lines[3].split()[:4], ["A.pth", "2.5000", "2.2000", "-0.3000"])
        self.assertEqual(lines[-1], "2 models, mean error 11.0 %")
        self.assertTrue(any("Cmeta.json: is not measured" in str(each.message) for each in caught))
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["", "model", "latency_true(ms)", "latency_pred(ms)", "modules", "result_bytes"])
        self.assertEqual((rows[0]["latency_true(ms)"], rows[0]["modules"], rows[0]["result_bytes"]), ("2.5", "2", "64"))

    def test_another_predictor_may_stand_in(self):
        self.make_model("A", latency={"Avg": 2.5})
        asked = []

        def predict(net, path, shape):
            asked.append((net.name, path, shape))
            return 3.0

        found, _ = self.warned(converter.validation, self.ops, "no.pkl", lp=predict)
        self.assertEqual(asked, [("A", "no.pkl", [1, 8])])
        self.assertEqual((found[0].error_ms, found[0].predicted.range_text()), (0.5, "unknown"))

    def test_what_is_no_description_is_named(self):
        with self.assertRaisesRegex(oplat.InputError, "has no \\*meta.json"):
            meter.meter_models(self.ops)
        self.use_program(NEWER)
        for text, words in (("{", "Xmeta.json"), ("[]", "not a description"), ('{"torch_name": "X.pth", "latency": {"Avg": 1}}', "export it again"),
                            ('{"torch_name": "X.pth", "recorded": {"name": "X", "input_shape": [1], "decisions": [], "root": {"module": 1}}}',
                             "export it again")):
            (self.ops / "Xmeta.json").write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(oplat.InputError, words):
                converter.validation(self.ops, self.table())
        self.make_model("X")
        with self.assertRaisesRegex(oplat.InputError, "no measured model"):
            self.warned(converter.validation, self.ops, self.table())

    def test_a_recorded_model_is_predicted_as_the_model_is(self):
        total, said = self.warned(predict_latency, RecordedModel.from_json(recorded().to_json()), self.table(), [1, 8])
        self.assertAlmostEqual(total, 2.2)
        self.assertEqual([part.source for part in total.parts], ["table", "estimate"])
        self.assertIn("1 operators are not in the table", said[0])
        with self.assertRaisesRegex(oplat.InputError, r"recorded on an input of \[1, 8\]"):
            predict_latency(recorded(), self.table(), [1, 9])


    def test_arguments_may_have_the_names_of_the_original(self):
        """A warning is one of the line that called all the same."""
        self.make_ops("A", "bad")
        self.make_model("A", latency={"Avg": 2.5})
        self.use_program(NEWER)
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            self.assertEqual([each["avg"] > 0 for each in meter.meter_ops(fp=self.ops, times=3)], [True, False])
            self.assertAlmostEqual(predict_latency(module=recorded(), ops_path=self.table(), input_shape=[1, 8]), 2.2)
            self.assertEqual(len(converter.validation(fp=self.ops, ops_path=self.table())), 1)
            self.assertEqual(list(meter.meter_models(fp=self.ops, times=3)), ["A.mnn"])
        self.assertEqual([Path(each.filename).name for each in caught[:2]], [Path(__file__).name] * 2, [str(each.message) for each in caught])
        with self.assertRaises(TypeError):
            meter.meter_ops(self.ops, fp=self.ops)
        # an argument of the class
        with self.assertRaisesRegex(oplat.InputError, "fp is 3; expected a list of candidates"):
            converter.register(dict, self.folder / "new", fp=3, input_shape=[[1, 8]])
        for function, names in ((converter.generate_ops_list, {"path": "no.yaml", "fp": "ops"}), (converter.register, {"ops": 3, "fp": "ops"})):
            with self.assertRaises(oplat.InputError), contextlib.chdir(self.folder):
                function(**names)


class Corrections(Folder):
    def pairs(self, lines, head=",model,latency_true(ms),latency_pred(ms),modules,result_bytes"):
        path = self.folder / "pairs.csv"
        path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
        return path

    def latency(self, ms, modules=10, result_bytes=4000):
        parts = [Part("", [], [result_bytes // (4 * modules)], ms / modules, 0, 0, "table")] * modules
        return Latency.of(ms, 0.9 * ms, 1.1 * ms, parts)

    def predicted(self, path, total, **options):
        with mock.patch.object(predictor, "predict_latency", lambda *_: total):
            return self.warned(predictor.latency_predictor(None, path, **options), recorded(), "a.pkl", [1, 8])

    def test_coefficients_that_made_the_data_are_found(self):
        """true = 0.8 * sum + 0.1 + 0.02 * modules, up to noise of 0.1 %."""
        lines = []
        for number in range(16):
            total, modules = 2.0 + number % 5, 10 + 7 * (number % 4)
            true = (0.8 * total + 0.1 + 0.02 * modules) * (1 + 0.001 * (-1) ** (number // 3))
            lines.append(f"{number},net{number},{true!r},{total!r},{modules},{1000 * (number * 37 % 11)}")
        made, said = self.predicted(self.pairs(lines), self.latency(4.0, modules=20))
        self.assertAlmostEqual(made, 3.7, delta=0.02)
        self.assertEqual(said, [])
        # mostly the table's own 10 %
        self.assertTrue(3.2 < made.low < 3.4 and 4.0 < made.high < 4.2, (made.low, made.high))
        level, _ = self.predicted(self.pairs(lines), self.latency(4.0, modules=20), level=0.99)
        self.assertLess(level.low, made.low)

    def test_the_original_s_own_file_is_enough(self):
        lines = [f"{number},net,{0.5 * total + 1},{total}" for number, total in enumerate((2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5))]
        path = self.pairs(lines, ",model,latency_true(ms),latency_pred(ms)")
        made, _ = self.predicted(path, self.latency(3.5))
        self.assertAlmostEqual(made, 2.75)
        made, said = self.predicted(path, self.latency(9.0))
        self.assertIn("the sum of the times, 9, is far", said[0])

    def test_few_networks_teach_a_factor_only(self):
        lines = [f"{number},net,{true},{total},{modules},100" for number, (true, total, modules) in
                 enumerate(((2.2, 1.0, 3), (3.9, 2.0, 6), (6.3, 3.0, 9), (7.7, 4.0, 11), (10.4, 5.0, 20)))]
        made, said = self.predicted(self.pairs(lines), self.latency(2.0, modules=40))
        self.assertAlmostEqual(made, 4.0, delta=0.3)
        self.assertEqual(said, [])

    def test_the_spread_of_the_data_is_that_of_the_answer(self):
        """90 % intervals of 400 networks with normal errors of 5 % hold about as many as they
        say."""
        import numpy as np

        random = np.random.default_rng(7)
        sums = random.uniform(2, 8, 416)
        true = (0.6 * sums + 0.5) * (1 + 0.05 * random.normal(size=416))
        path = self.pairs([f"{i},net,{true[i]},{sums[i]}" for i in range(16)], ",model,latency_true(ms),latency_pred(ms)")
        learned = predictor.latency_predictor(None, path)
        inside = 0
        for total, measured in zip(sums[16:], true[16:]):
            ms, spread = learned.correction.at(np.array([total, 1.0]))
            inside += abs(measured - ms) <= predictor.t_quantile(0.9, learned.correction.freedom) * spread * ms
        self.assertTrue(0.8 <= inside / 400 <= 0.99, inside / 400)

    def test_quantiles(self):
        for freedom, expected in ((2, 2.92), (3, 2.353), (10, 1.812), (30, 1.697)):
            self.assertAlmostEqual(predictor.t_quantile(0.9, freedom), expected, delta=0.012)

    def test_data_that_teaches_nothing_is_refused(self):
        good = ["0,a,1,1", "1,b,2,2", "2,c,3,3"]
        head = ",model,latency_true(ms),latency_pred(ms)"
        for lines, words in ((good[:2], "has 2 networks"), ([*good, "3,d,x,1"], "csv:5: expected numbers"), ([*good, "3,d"], "csv:5"),
                             ([*good, "3,d,0,1"], "not above 0"), ([*good, "3,d,nan,1"], "not above 0")):
            with self.assertRaisesRegex(oplat.InputError, words):
                predictor.latency_predictor(None, self.pairs(lines, head))
        with self.assertRaisesRegex(oplat.InputError, "csv:2"):
            predictor.latency_predictor(None, self.pairs(good, "a,b,c,d"))
        with self.assertRaisesRegex(oplat.InputError, "missing.csv"):
            predictor.latency_predictor(None, self.folder / "missing.csv")
        with self.assertRaisesRegex(oplat.UsageError, "data is missing"):
            predictor.latency_predictor(None, None)
        with self.assertRaisesRegex(oplat.UsageError, "threads: only for a table"):
            predictor.latency_predictor(None, self.pairs(good, head), threads=4)
        with self.assertRaisesRegex(oplat.UsageError, "level"):
            predictor.latency_predictor(None, self.pairs(good, head), level=90)


if __name__ == "__main__":
    unittest.main()
