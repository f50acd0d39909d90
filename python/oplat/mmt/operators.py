# SPDX-License-Identifier: Apache-2.0
"""Tables of operators (meta.pkl, meta_latency.pkl) as dicts of the original's attributes."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from oplat import _core
from oplat.errors import InputError, RuntimeUnavailable

META = "meta.pkl"
LATENCY = "meta_latency.pkl"
INSTALL = "python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1"


def plain(value: Any) -> Any:
    """Tuples and dicts as Python has them, of their JSON form (src/compat/mmt/pickle.hpp)."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"tuple"}:
        return tuple(plain(each) for each in value["tuple"])
    if set(value) == {"dict"}:
        return {plain(key): plain(each) for key, each in value["dict"]}
    return {name: plain(each) for name, each in value.items()}


def packed(value: Any) -> Any:
    """The reverse of plain()."""
    if isinstance(value, tuple):
        return {"tuple": [packed(each) for each in value]}
    if isinstance(value, list):
        return [packed(each) for each in value]
    if isinstance(value, dict):
        if all(isinstance(name, str) and name not in ("tuple", "dict") for name in value):
            return {name: packed(each) for name, each in value.items()}
        return {"dict": [[packed(key), packed(each)] for key, each in value.items()]}
    return value


def load(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The operators of a pickle; InputError with file and offset for anything else that it holds."""
    return [{name: plain(value) for name, value in each.items()} for each in json.loads(_core.mmt_read(path))]


def store(path: str | os.PathLike[str], operators: list[dict[str, Any]]) -> None:
    """Writes a pickle that the original loads. Values are numbers, texts, truth values, lists, tuples and dicts;
    InputError names any other."""
    try:
        text = json.dumps([{name: packed(value) for name, value in each.items()} for each in operators], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"{os.fspath(path)}: a parameter cannot be stored: {error}") from error
    _core.mmt_write(path, text)


def mnn_tool(*arguments: object) -> str:
    """Runs a task of oplat.workers.mnn.tool where MNN is installed ($OPLAT_MNN_PYTHON, else this interpreter).
    RuntimeUnavailable with its words if it fails, and with the command that installs MNN if that is missing."""
    python = os.environ.get("OPLAT_MNN_PYTHON") or sys.executable
    # As for workers, without what changes times and is not part of a setting.
    environment = {name: value for name, value in os.environ.items()
                   if name != "LD_PRELOAD" and not name.startswith(("OMP_", "GOMP_", "KMP_"))}
    package = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    command = [python, "-B", "-m", "oplat.workers.mnn.tool", *map(str, arguments)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeUnavailable(f"cannot run {python}: {error.strerror}; set OPLAT_MNN_PYTHON to an interpreter that has MNN; install it: {INSTALL}") from error
    if done.returncode < 0:
        raise RuntimeUnavailable(f"MNN ended its process with signal {-done.returncode}: {' '.join(map(str, arguments))}")
    if done.returncode:
        raise RuntimeUnavailable((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return done.stdout
