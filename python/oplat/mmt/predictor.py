# SPDX-License-Identifier: Apache-2.0
"""Sums of modules, corrected by networks that were measured whole.

A sum misses what happens between modules: MNN fuses some of them, and others cost a copy or a
dispatch. The original learned that with a Gaussian process whose kernel is a dot product, which is
a regression of the measured latency on the sum. This one is a regression, too, over what oplat
composes models of kernels of (correction.py).
"""
from __future__ import annotations

import csv
import math
import os
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import oplat
from oplat.errors import InputError, PredictionWarning, UsageError

from .correction import TERMS, fit, t_quantile
from .parser import Latency, RecordedModel, features, predict_latency

if TYPE_CHECKING:
    import torch

# A slope, and how well it holds.
MIN_NETWORKS = 3
# What is so much above or below all measured networks is extrapolated.
BEYOND = 1.5
SQLITE = b"SQLite format 3\0"


def read_pairs(path: str | os.PathLike[str]) -> tuple[list[list[float]], list[float]]:
    """Rows of TERMS and measured latencies, of a CSV file of validation() or of the original."""
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{name}: {error}") from error
    rows, true = [], []
    for number, line in enumerate(lines, 2):
        try:
            measured, predicted = float(line["latency_true(ms)"]), float(line["latency_pred(ms)"])
            row = [predicted, 1.0]
            if line.get("modules") and line.get("result_bytes"):
                row += [float(line["modules"]), float(line["result_bytes"])]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{name}:{number}: expected numbers in latency_true(ms) and latency_pred(ms); validation() writes them") from error
        if not (0 < measured < math.inf and 0 < predicted < math.inf and all(map(math.isfinite, row))):
            raise InputError(f"{name}:{number}: a latency is not above 0")
        rows.append(row)
        true.append(measured)
    if len(true) < MIN_NETWORKS:
        raise InputError(f"{name}: has {len(true)} networks; a correction needs {MIN_NETWORKS} or more, and about 16 to be good")
    width = min(map(len, rows))
    return [row[:width] for row in rows], true


class latency_predictor:  # noqa: N801, the original's name
    """Predicts as predict_latency() does, corrected.

    `data` is the CSV file of validation(). The original ignored `ops_table`; here a table of oplat
    (`oplat profile --runtime mnn`) answers in place of the correction: with kernels of MNN after
    its fusions, which its own fit adds up (`oplat fit`). `data` may be None then, `choice` are
    arguments of `oplat.Table.predict`, and MNN is needed for networks that the table does not know.
    """

    def __init__(self, ops_table: str | os.PathLike[str] | None, data: str | os.PathLike[str] | None, level: float = 0.9,
                 **choice: Any) -> None:
        if not 0 < level < 1:
            raise UsageError(f"level is {level!r}; expected a probability")
        self.level = level
        self.choice = choice
        self.table = oplat.Table(ops_table) if ops_table is not None and is_table(ops_table) else None
        if self.table is not None:
            return
        if choice:
            raise UsageError(f"{', '.join(choice)}: only for a table of oplat, and {ops_table} is not one")
        if data is None:
            raise UsageError("data is missing: the CSV file of validation()")
        import numpy as np

        rows, true = read_pairs(data)
        self.correction = fit(np.array(rows), np.array(true))
        self.ranges = [(min(column), max(column)) for column in zip(*rows)][:len(self.correction.coefficients)]

    def __call__(self, model: torch.nn.Module | RecordedModel, ops_path: str | os.PathLike[str] | None, input_shape: list[int],
                 verbose: bool = False) -> Latency:
        """The latency in ms, with an interval of probability `level`."""
        if self.table is not None:
            return self.by_table(model, input_shape, verbose)
        if ops_path is None:
            raise UsageError("ops_path is missing: a meta_latency.pkl")
        import numpy as np

        total = predict_latency(model, ops_path, input_shape)
        row = [float(total), 1.0, *features(total)]
        for what, value, (low, high) in zip(("sum of the times", "", "number of modules", "bytes of the results"), row, self.ranges):
            if not low / BEYOND <= value <= high * BEYOND:
                warnings.warn(f"the {what}, {value:.6g}, is far from those of the measured networks, {low:.6g} to {high:.6g}: the correction is "
                              "extrapolated", PredictionWarning, stacklevel=2)
        ms, spread = self.correction.at(np.array(row))
        if not ms > 0:
            raise InputError(f"the correction of {float(total):.4f} ms is {ms:.4f} ms: the network is unlike those of the data")
        reach = t_quantile(self.level, self.correction.freedom) * spread
        # What the table's own times leave open comes on top.
        below, above = (math.hypot(reach, part / total) for part in (total - total.low, total.high - total))
        made = Latency.of(ms, max(0.0, ms * (1 - below)), ms * (1 + above), total.parts)
        if verbose:
            learned = ", ".join(f"{name} {value:.4g}" for name, value in zip(TERMS, self.correction.coefficients))
            print(f"sum {float(total):.4f} ms, corrected {ms:.4f} ms ({made.range_text()} ms, {100 * self.level:.0f} %): {learned}")
        return made

    def by_table(self, model: Any, input_shape: list[int], verbose: bool) -> Latency:
        from .converter import export_onnx

        if isinstance(model, RecordedModel):
            raise UsageError("a table of oplat needs the network itself, and validation() has only what it executes")
        assert self.table is not None
        with tempfile.TemporaryDirectory(prefix="oplat-mmt.") as folder:
            path = Path(folder, f"{type(model).__name__}.onnx")
            export_onnx(model, input_shape, path)
            predicted = self.table.predict(path, level=self.level, **self.choice)
        for warning in predicted.warnings:
            warnings.warn(warning, PredictionWarning, stacklevel=3)
        if verbose:
            print(predicted)
        return Latency.of(predicted.ms, predicted.lo, predicted.hi, [])


def is_table(path: str | os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror}") from error
