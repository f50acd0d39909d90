# SPDX-License-Identifier: Apache-2.0
"""Latencies of operators and models by MNN on CPU, without torch.

MNN's own program MNNV2Basic.out measures where it is on PATH, as in the original: it may be a
script that hands the file to a phone, which has no Python. Else MNN's Python package does, in this
environment or in $OPLAT_MNN_PYTHON.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any, Union

from oplat.errors import InputError, PredictionWarning, RuntimeUnavailable, UsageError

from . import operators
from .files import description, digest, model_files
from .operators import TIME_LIMIT, MnnFailed

THREADS = 4  # that the original gives to MNN
PRECISION = "low"  # that MNNV2Basic.out gives to MNN
PROGRAM = "MNNV2Basic.out"
# A mean of so much more than the median was disturbed by other processes.
BUSY = 1.2
MAX_REASON = 400
# The last line of the program's log. OpSum is not in those of MNN before 2.
TIMES = re.compile(r"Avg\s*=\s*(\S+) ms,(?:\s*OpSum\s*=\s*(\S+) ms,?)?\s*min\s*=\s*(\S+) ms,\s*max\s*=\s*(\S+) ms")

Times = dict[str, Union[float, int]]


def times_of_log(log: str) -> Times:
    """{"Avg", "OpSum" (newer MNN), "Min", "Max"} in ms of what MNNV2Basic.out prints. MnnFailed
    with its last words."""
    found = None
    for found in TIMES.finditer(log):
        pass
    try:
        texts = dict(zip(("Avg", "OpSum", "Min", "Max"), found.groups())) if found else {}
        times: Times = {name: float(text) for name, text in texts.items() if text is not None}
    except ValueError:
        times = {}
    if not times:
        last = [line.strip() for line in log.splitlines() if line.strip()][-2:]
        raise MnnFailed(f"{PROGRAM} prints no times{': ' if last else ''}{'; '.join(last)[:MAX_REASON]}")
    # Printed with six digits after the point, and summed in single precision.
    if not 0 < times["Avg"] < 1e9 or not 0 <= times["Min"] <= times["Avg"] * 1.001 <= times["Max"] * 1.002:
        raise MnnFailed(f"{PROGRAM} prints times that contradict each other: {found[0] if found else ''}")
    return times


def run_program(program: str, model: Path, times: int, threads: int, limit: float) -> Times:
    # It leaves files in its folder.
    with tempfile.TemporaryDirectory(prefix="oplat-mmt.") as folder:
        command = [PROGRAM, str(model.absolute()), str(times), "0", "0", str(threads)]
        try:
            done = operators.run_limited(command, limit, executable=os.path.abspath(program), cwd=folder, env=operators.quiet_environment(),
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            raise RuntimeUnavailable(f"cannot run {program}: {error.strerror}; take it off PATH, or install it: {operators.INSTALL}") from error
        except MnnFailed as error:
            raise MnnFailed(f"{PROGRAM} {error}") from error
    operators.write_text(model.with_name(model.name + ".log"), done.stdout)
    if done.returncode < 0:
        raise MnnFailed(f"{PROGRAM} ended with signal {-done.returncode}")
    return times_of_log(done.stdout)


def run_package(model: Path, times: int, threads: int, precision: str, limit: float) -> Times:
    runs = json.loads(operators.mnn_tool("meter", threads, precision, times, model.absolute(), limit=limit))["runs"]
    return {"Avg": statistics.fmean(runs), "Min": min(runs), "Max": max(runs), "Median": statistics.median(runs)}


def get_latency(path: str | os.PathLike[str], times: int = 30, verbose: bool = True, *, threads: int = THREADS,
                precision: str = PRECISION, time_limit: float = TIME_LIMIT) -> Times:
    """{"Avg", "Min", "Max", "repeat"} of `times` runs of a .mnn model, in ms, after some that do
    not count. MNNV2Basic.out adds "OpSum", where its version prints it; the Python package adds
    "Median", and a PredictionWarning if other processes disturbed the runs. MnnFailed if that takes
    more than `time_limit` seconds."""
    times, threads = checked(times, threads, precision, time_limit)
    model = Path(path)
    if not model.is_file():
        raise InputError(f"{model}: no such file")
    program = shutil.which(PROGRAM)
    try:
        found = run_program(program, model, times, threads, time_limit) if program else run_package(model, times, threads, precision, time_limit)
    except MnnFailed as error:
        raise MnnFailed(f"{model.name}: {error}") from error
    found["repeat"] = times
    if found["Avg"] > BUSY * found.get("Median", found["Avg"]):
        warnings.warn(f"{model.name}: the mean of {times} runs is {found['Avg'] / found['Median']:.1f} times their median; "
                      "measure again on a quiet machine", PredictionWarning, stacklevel=2)
    if verbose:
        print(f"{model.name}: Avg= {found['Avg']:.6f} ms, min= {found['Min']:.6f} ms, max= {found['Max']:.6f} ms")
    return found


def checked(times: int, threads: int, precision: str, time_limit: float) -> tuple[int, int]:
    """`times` and `threads` as plain numbers."""
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not 0 < time_limit < float("inf"):
        raise UsageError(f"time_limit is {time_limit!r}; expected seconds above 0")
    numbers = []
    for name, value in (("times", times), ("threads", threads)):
        number = operators.whole_number(value)
        if number is None or number < 1:
            raise UsageError(f"{name} is {value!r}; expected a whole number of 1 or more")
        numbers.append(number)
    if shutil.which(PROGRAM) and precision != PRECISION:
        raise UsageError(f"precision is {precision!r}, but {PROGRAM} on PATH runs models with {PRECISION!r}; take it off PATH to measure "
                         "with MNN's Python package")
    return numbers[0], numbers[1]


def how(threads: int, precision: str) -> dict[str, Any]:
    """What times depend on: those of another processor, program or setting are not of one table."""
    setting = {"threads": threads, "precision": precision, "processor": operators.processor()}
    if program := shutil.which(PROGRAM):
        # another script may hand models to another device
        return {"by": PROGRAM, "program": digest(Path(program)), **setting}
    return {"by": f"MNN {operators.mnn_version()}", **setting}


def is_done(measured: Any, setting: dict[str, Any], model: Path, times: int) -> bool:
    """Whether a time is that of this file in the setting, with at least so many runs."""
    if not isinstance(measured, dict) or not isinstance(measured.get("runs"), int) or measured["runs"] < times:
        return False
    return {**measured, "runs": 0} == {**setting, "model": digest(model), "runs": 0}


@operators.also_named(fp="folder")
def meter_ops(folder: str | os.PathLike[str], times: int = 30, verbose: bool = False, *, threads: int = THREADS,
              precision: str = PRECISION, time_limit: float = TIME_LIMIT) -> list[dict[str, Any]]:
    """Measures the operators of meta.pkl and writes meta_latency.pkl next to it, after each of
    them, so that a call goes on where an earlier one stopped. Times of another setting, another
    processor, fewer runs or a model that was exported again are measured anew. Operators that MNN
    cannot run, or not within `time_limit` seconds each, have a latency of 0 and the reason
    (`failed`), and are a PredictionWarning. The folder may have been moved or copied since it was
    made."""
    times, threads = checked(times, threads, precision, time_limit)
    place = Path(folder)
    meta, target = place / operators.META, place / operators.LATENCY
    if not meta.is_file():
        raise InputError(f"{meta}: no such file; generate_ops_list() makes it")
    found = operators.load(meta)
    setting = how(threads, precision)
    before = {each.get("mnn_fname"): each for each in operators.load(target)} if target.is_file() else {}
    kept = ("avg", "max", "min", "measured")
    waiting = []
    for each in found:
        old = before.get(each.get("mnn_fname"), {})
        if is_done(old.get("measured"), setting, place / str(each.get("mnn_fname")), times) and old.get("repr") == each.get("repr") and old["avg"] > 0:
            each.update({key: old[key] for key in kept})
        else:
            waiting.append(each)
    failed = []
    for each in operators.progress(waiting, "measured"):
        name = str(each.get("mnn_fname"))
        try:
            times_of = get_latency(place / name, times, verbose, threads=threads, precision=precision, time_limit=time_limit)
        except (InputError, MnnFailed) as error:
            failed.append(str(error))
            each.update(avg=0, max=0, min=0, failed=str(error))
            continue
        each.update(avg=times_of["Avg"], max=times_of["Max"], min=times_of["Min"], measured={**setting, "model": digest(place / name), "runs": times})
        operators.store(target, found)
    operators.store(target, found)
    for reason in failed:
        warnings.warn(f"not measured: {reason}", PredictionWarning, stacklevel=3)
    return found


@operators.also_named(fp="folder")
def meter_models(folder: str | os.PathLike[str], times: int = 30, verbose: bool = False, *, threads: int = THREADS,
                 precision: str = PRECISION, time_limit: float = TIME_LIMIT) -> dict[str, Times]:
    """Measures the models that export_models() left in a folder, and writes the "latency" of each
    into its *meta.json. A call goes on where an earlier one stopped, as meter_ops() does. Models
    that MNN cannot run, or not within `time_limit` seconds each, are a PredictionWarning. Returns
    the latencies by the name of the model's file."""
    times, threads = checked(times, threads, precision, time_limit)
    files = model_files(folder)
    setting = how(threads, precision)
    result: dict[str, Times] = {}
    failed = []
    for path in operators.progress(files, "measured"):
        about = description(path)
        name = path.name.removesuffix("meta.json") + ".mnn"
        if not (is_done(about.get("measured"), setting, path.with_name(name), times) and isinstance(about.get("latency"), dict)):
            about.pop("latency", None)
            try:
                about["latency"] = get_latency(path.with_name(name), times, verbose, threads=threads, precision=precision, time_limit=time_limit)
                about["measured"] = {**setting, "model": digest(path.with_name(name)), "runs": times}
            except (InputError, MnnFailed) as error:
                failed.append(str(error))
            operators.write_text(path, json.dumps(about))
        if "latency" in about:
            result[name] = about["latency"]
    for reason in failed:
        warnings.warn(f"not measured: {reason}", PredictionWarning, stacklevel=3)
    return result


def get_model_latency(model: Any, input_shape: list[int], path: str | os.PathLike[str] = ".", times: int = 30, *,
                      threads: int = THREADS, precision: str = PRECISION, time_limit: float = TIME_LIMIT) -> Times:
    """What get_latency() says of a torch module, which is converted into the folder `path` for as
    long as that takes. Needs torch and MNN's Python package."""
    from .converter import convert2mnn

    times, threads = checked(times, threads, precision, time_limit)
    if not Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: no such folder; make it first")
    with tempfile.TemporaryDirectory(prefix=".oplat-mmt.", dir=path) as folder:
        return get_latency(Path(folder, convert2mnn(model, input_shape, folder)), times, False, threads=threads, precision=precision, time_limit=time_limit)
