# SPDX-License-Identifier: Apache-2.0
"""mobile-vision's RunTimeAPI and OpLut by `oplat lut`: without Caffe2, which the original runs for
the shapes of blobs. docs/guide/from-mobile-vision.md compares the two. Times are microseconds, as
in the original."""
from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from oplat import _core
from oplat.errors import InputError, PredictionWarning, UsageError

Number = Union[int, float]
Record = dict[str, Any]
# How several records of an operator make one time.
MODES: dict[str, Callable[[list[Number]], Number]] = {"ave": statistics.fmean, "mean": statistics.fmean, "min": min, "max": max, "last": lambda times: times[-1]}
FIELDS = ("op_type", "op_args", "input_shapes", "input_dtypes", "device")


class OpLut:
    """A look-up table: a file of JSON, a record a line. `path` is made by the first add_op()."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path()
        self.is_temporary = False
        if path is None:
            self.clear()
        else:
            self.load(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Uses a file; what is added later is added to it."""
        self.path, self.is_temporary = Path(path).absolute(), False

    def clear(self) -> None:
        """Goes on with an empty table, in a temporary file. The file of before stays as it is."""
        folder = tempfile.mkdtemp(prefix="oplat-lut.")
        weakref.finalize(self, shutil.rmtree, folder, True)
        self.path, self.is_temporary = Path(folder, "op_lut_database.json"), True

    def add_op(self, op: Mapping[str, Any]) -> None:
        """Adds a record. The type of an operator stays what it is; the original makes an
        Int8ConvRelu of an Int8Conv."""
        for warning in _core.compat_lut_add(self.path, as_json(op)):
            warnings.warn(warning, PredictionWarning, stacklevel=2)

    def find_op(self, query: Mapping[str, Any]) -> list[Record]:
        """The records that answer, in the file's order; an Int8Conv without one is answered by
        those of Int8ConvRelu."""
        if not self.path.exists():
            if self.is_temporary:
                return []
            raise InputError(f"{self.path}: no such file")
        text = _core.compat_lut_find(self.path, as_json({name: query[name] for name in FIELDS if name in query}))
        return [json.loads(line) for line in text.splitlines()]


def as_json(record: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(record), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{record!r}: expected a dict of {', '.join(FIELDS)} and times: {error}") from error


class RunTimeAPI:
    """Times of operators and nets, from <db_dir>/<device>-op_lut_database.json, or as it was
    downloaded."""

    def __init__(self, db_dir: str | os.PathLike[str] = "../", rand_digits: int = 8) -> None:
        self.db_dir = Path(db_dir).absolute()

    def file_of(self, device: str) -> Path:
        """As `oplat lut` looks for it."""
        names = [f"{device}-op_lut_database{kind}.json{packed}" for packed in ("", ".zip") for kind in ("", "_caffe2")]
        for name in names:
            if (self.db_dir / name).is_file():
                return self.db_dir / name
        raise InputError(f"{self.db_dir}: has no {', '.join(names)}")

    def get_op_runtime(self, query: Mapping[str, Any], mode: str = "ave", verbose: bool = False) -> Number | None:
        """Of the medians of the records that answer, by `mode`: 'ave', 'min', 'max' or 'last'. None
        if there is no record; the original said 0."""
        if mode not in MODES:
            raise UsageError(f"mode {mode!r}: expected {', '.join(MODES)}")
        if "device" not in query:
            raise UsageError("the query names no device")
        found = OpLut(self.file_of(str(query["device"]))).find_op(query)
        times = [record["runtime_us_p50"] for record in found]
        if verbose:
            print(f"op type {found[0]['op_type']} with input {query.get('input_shapes')}\nrun_time: {times}" if found
                  else "No match found in the database!")
        return MODES[mode](times) if times else None

    def get_net_runtime(self, model: str | os.PathLike[str], blobs: object, input_dims: Mapping[str, Sequence[int]], input_dtype: object,
                        device: str, mode: str = "ave", verbose: bool = True) -> tuple[list[dict[str, Any]], Number, bool]:
        """([{"op", "time"}, ...], time of the net, whether every operator has a record). `model` is
        the folder of model.pb and model_init.pb; since Caffe2 is not needed, neither are blobs and
        input_dtype. An operator without a record has the time None; the sum is then that of the
        others, as in the original, and a PredictionWarning."""
        if not isinstance(model, (str, os.PathLike)):
            raise UsageError("the model: expected the folder of model.pb and model_init.pb; a net of Caffe2 is not needed")
        document = _core.compat_lut(model, as_json(input_dims), self.db_dir, device=device, mode=mode)
        for warning in document.warnings:
            warnings.warn(warning, PredictionWarning, stacklevel=2)
        if verbose:
            print(document, end="")
        net, = document.to_dict()["models"]
        if net["missing"]:
            kinds = sorted({each["op_type"] for each in net["operators"] if each["latency_us"] is None})
            warnings.warn(f"{net['missing']} of {len(net['operators'])} operators have no record and count 0 in the sum: {', '.join(kinds)}; "
                          "`oplat lut --estimate` estimates them", PredictionWarning, stacklevel=2)
        return ([{"op": each["op_type"], "time": each["latency_us"]} for each in net["operators"]], net["known_us"], net["all_found"])
