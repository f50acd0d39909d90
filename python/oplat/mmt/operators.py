# SPDX-License-Identifier: Apache-2.0
"""Tables of operators (meta.pkl, meta_latency.pkl) as dicts of the original's attributes, and what
its parts share."""
from __future__ import annotations

import contextlib
import functools
import inspect
import json
import operator
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from oplat import _core
from oplat.errors import InputError, RuntimeUnavailable, WriteError

META = "meta.pkl"
LATENCY = "meta_latency.pkl"
TIME_LIMIT = 1800.0  # seconds for one model: a router that takes 15 s a run, a hundred times
INSTALL = "python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1"
BAR = 24  # characters
Item = TypeVar("Item")
Given = ParamSpec("Given")
Result = TypeVar("Result")


class MnnFailed(RuntimeUnavailable):
    """MNN is there, but cannot convert or run this model."""


@dataclass(frozen=True)
class ClassName:
    """The class of an operator, which tables of MMT 1 and 2.0 name (`classname`). It is never
    imported."""

    module: str
    name: str


def plain(value: Any) -> Any:
    """Tuples and dicts as Python has them, of their JSON form (src/compat/mmt/pickle.hpp)."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"tuple"}:
        return tuple(plain(each) for each in value["tuple"])
    if set(value) == {"global"}:
        return ClassName(*value["global"])
    if set(value) == {"dict"}:
        return {plain(key): plain(each) for key, each in value["dict"]}
    return {name: plain(each) for name, each in value.items()}


def packed(value: Any) -> Any:
    """The reverse of plain()."""
    if isinstance(value, ClassName):
        return {"global": [value.module, value.name]}
    if isinstance(value, tuple):
        return {"tuple": [packed(each) for each in value]}
    if isinstance(value, list):
        return [packed(each) for each in value]
    if isinstance(value, dict):
        if all(isinstance(name, str) and name not in ("tuple", "dict", "global") for name in value):
            return {name: packed(each) for name, each in value.items()}
        return {"dict": [[packed(key), packed(each)] for key, each in value.items()]}
    return value


def load(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The operators of a pickle; InputError with file and offset for anything else that it
    holds."""
    return [{name: plain(value) for name, value in each.items()} for each in json.loads(_core.mmt_read(path))]


def store(path: str | os.PathLike[str], operators: list[dict[str, Any]]) -> None:
    """Writes a pickle that the original loads. Values are numbers, texts, truth values, lists,
    tuples and dicts; InputError names any other."""
    try:
        text = json.dumps([{name: packed(value) for name, value in each.items()} for each in operators], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"{os.fspath(path)}: a parameter cannot be stored: {error}") from error
    _core.mmt_write(path, text)


def is_storable(value: Any) -> bool:
    """Whether a table can hold a parameter."""
    if isinstance(value, (list, tuple)):
        return all(map(is_storable, value))
    if isinstance(value, dict):
        return all(is_storable(key) and is_storable(each) for key, each in value.items())
    if isinstance(value, float):
        return value - value == 0  # finite
    return value is None or isinstance(value, (bool, str)) or (isinstance(value, int) and -2**63 <= value < 2**63)


def whole_number(value: Any) -> int | None:
    """An int of any integer, numpy's too; None of anything else, truth values included."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array of several
        return None


def write_text(path: Path, text: str) -> None:
    """In place of what the file holds, which is whole at every moment."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise WriteError(f"{path}: cannot write: {error.strerror}") from error


def also_named(**names: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Lets a function take arguments by the names that the original has for them, too: its
    name=ours."""
    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        order = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*arguments: Given.args, **named: Given.kwargs) -> Result:
            for theirs, ours in names.items():
                # What is given by its place may be followed by an argument of a class that has such
                # a name.
                if theirs in named and ours not in named and order.index(ours) >= len(arguments):
                    named[ours] = named.pop(theirs)
            return function(*arguments, **named)

        return call

    return decorate


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """The items one by one; on a terminal a bar says how far they are."""
    shown = sys.stderr is not None and sys.stderr.isatty()
    begin = time.monotonic()
    try:
        for number, item in enumerate(items):
            if shown:
                print(f"\r\x1b[K{bar(what, number, len(items), time.monotonic() - begin)}", end="", file=sys.stderr, flush=True)
            yield item
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def bar(what: str, done: int, total: int, seconds: float) -> str:
    """With what is left at the speed so far."""
    filled = BAR * done // total
    left = f", {seconds * (total - done) / done:.0f} s left" if done else ""
    return f"[{'#' * filled}{' ' * (BAR - filled)}] {what} {done} of {total}{left}"


def rendered(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of text."""
    everything = [head, *lines]
    widths = [max(len(line[column]) for line in everything) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in everything)


def processor() -> str:
    """Of this machine."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("model name", "Hardware")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def quiet_environment() -> dict[str, str]:
    """As workers have it: without what changes times and is not part of a setting."""
    return {name: value for name, value in os.environ.items()
            if name != "LD_PRELOAD" and not name.startswith(("OMP_", "GOMP_", "KMP_"))}


def mnn_python() -> str:
    return os.environ.get("OPLAT_MNN_PYTHON") or sys.executable


def mnn_version() -> str:
    """Of the MNN that mnn_tool() runs. RuntimeUnavailable with the command that installs it."""
    program = "import importlib.metadata as packages; print(packages.version('MNN'))"
    try:
        done = subprocess.run([mnn_python(), "-B", "-c", program], env=quiet_environment(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeUnavailable(f"cannot run {mnn_python()}: {error.strerror}; set OPLAT_MNN_PYTHON to an interpreter that has MNN; "
                                 f"install it: {INSTALL}") from error
    if done.returncode:
        raise RuntimeUnavailable(f"{mnn_python()} has no MNN; install it: {INSTALL}; and set OPLAT_MNN_PYTHON to that interpreter")
    return done.stdout.strip()


def workers_path() -> Path:
    """What an interpreter that has MNN needs in its path to find oplat.workers, and nothing else:
    in an environment, the package lies next to a numpy of its own, which may be another one than
    MNN's."""
    package = Path(__file__).resolve().parents[1]
    apart = package / "share" / "oplat" / "python"
    return apart if apart.is_dir() else package.parent


def run_limited(command: Sequence[str], limit: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """As subprocess.run(), in a session of its own: after `limit` seconds, or if this call is
    interrupted, all that the command has started is ended, too. MnnFailed after `limit`, OSError if
    the command cannot run."""
    with subprocess.Popen(command, text=True, errors="replace", start_new_session=True, stdin=subprocess.DEVNULL, **options) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise MnnFailed(f"was not done after {limit:g} s; if it needs longer, give a larger time_limit") from error
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def mnn_tool(*arguments: object, limit: float = TIME_LIMIT) -> str:
    """Runs a task of oplat.workers.mnn.tool where MNN is installed ($OPLAT_MNN_PYTHON, else this
    interpreter). MnnFailed with its words if it fails or takes longer than `limit` seconds,
    RuntimeUnavailable with the command that installs MNN if that is missing."""
    python = mnn_python()
    environment = quiet_environment()
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(workers_path()), os.environ.get("PYTHONPATH"))))
    command = [python, "-B", "-m", "oplat.workers.mnn.tool", *map(str, arguments)]
    try:
        done = run_limited(command, limit, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise RuntimeUnavailable(f"cannot run {python}: {error.strerror}; set OPLAT_MNN_PYTHON to an interpreter that has MNN; install it: {INSTALL}") from error
    if done.returncode < 0:
        raise MnnFailed(f"MNN ended its process with signal {-done.returncode}: {' '.join(map(str, arguments))}")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RuntimeUnavailable(reason) if INSTALL in reason else MnnFailed(reason)
    return done.stdout
