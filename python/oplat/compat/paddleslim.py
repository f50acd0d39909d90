# SPDX-License-Identifier: Apache-2.0
"""paddleslim.TableLatencyPredictor by `oplat paddleslim predict`: neither Paddle nor
paddle_lite_opt is run, and nothing is downloaded or installed. docs/guide/from-paddleslim.md
compares the two."""
from __future__ import annotations

import os
import re
import warnings

from oplat import _core
from oplat.errors import InputError, PredictionWarning, UsageError

DATA_TYPES = ("fp32", "int8", "fp16")


class Latency(float):
    """ms; `prediction` has the interval, the sources and all operators."""

    prediction: _core.Prediction


class TableLatencyPredictor:
    """Latencies of Paddle models by a table: a file, or the name of one such as 'SD710', whose file
    SD710_threads_4_power_mode_0.pkl is looked for in the current folder and in those of
    $OPLAT_TABLES."""

    hardware_list = ["SD625", "SD710", "SD845", "SD865", "RK3288"]

    def __init__(self, table_file: str | os.PathLike[str] = "SD710") -> None:
        self.table_file = os.fspath(table_file)
        self.is_name = self.table_file in self.hardware_list
        self.predictor_state = False
        if self.is_name:
            return
        if not os.path.isfile(self.table_file):
            raise InputError(f"{self.table_file}: no such file, and not one of {', '.join(self.hardware_list)}; add_hardware() adds names")
        self.table_file = os.path.abspath(self.table_file)

    @classmethod
    def add_hardware(cls, hardware: str) -> None:
        """Makes a name known, of a file <name>_threads_<threads>_power_mode_0.pkl."""
        if not re.fullmatch(r"[\w.+-]+", hardware):
            raise UsageError(f"{hardware!r}: expected a name such as SD710")
        if hardware not in cls.hardware_list:
            cls.hardware_list = [*cls.hardware_list, hardware]

    def set_predictor_state(self, state: bool = False) -> None:
        """Whether operators that the table lacks are estimated. Else they are
        oplat.MissingKernels."""
        self.predictor_state = bool(state)

    def predict(self, model_file: str | os.PathLike[str], param_file: str | os.PathLike[str], data_type: str | None = None, threads: int = 4,
                input_shape: list[int] | None = None) -> Latency:
        """The latency in ms. `data_type` is what the model holds unless said. `threads` are those
        of the table."""
        if data_type is not None and data_type not in DATA_TYPES:
            raise UsageError(f"data_type {data_type!r}: expected {', '.join(DATA_TYPES)}")
        if input_shape is not None:
            raise UsageError("input_shape: the shape that the model was saved with counts (input_spec of paddle.jit.to_static); leave it out")
        found = _core.compat_paddleslim(model_file, param_file, table="" if self.is_name else self.table_file,
                                        hardware=self.table_file if self.is_name else "", dtype=data_type, threads=threads,
                                        estimate=self.predictor_state)
        for warning in found.warnings:
            warnings.warn(warning, PredictionWarning, stacklevel=2)
        latency = Latency(found.ms)
        latency.prediction = found
        return latency
