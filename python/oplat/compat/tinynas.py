# SPDX-License-Identifier: Apache-2.0
"""TinyNAS's OpProfiler, OpPredictor and RobustGpuPredictor by `oplat tinynas predict` and `oplat
measure`. docs/guide/from-tinynas.md compares the two."""
from __future__ import annotations

import math
import os
import statistics
import tempfile
import warnings
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Union

import oplat
from oplat import _core
from oplat.errors import InputError, MissingKernels, PredictionWarning, RuntimeUnavailable, UsageError

if TYPE_CHECKING:
    import torch

# (Conv_type, Stride, ElmtFused, Kernel, Batch, In_C, In_H, Out_C)
Conv = Sequence[Union[str, int]]
FIELDS = 8
BATCH = 4
CONVS = ("Regular", "Depthwise")
T40 = "T40"  # a device that knows batch 1 only, by its name


class Listed(Protocol):
    """A network of TinyNAS."""

    def get_params_for_trt(self, image_size: int) -> Sequence[Conv]: ...


def find_libraries(device_name: str, folder: str | os.PathLike[str] | None) -> Path:
    """The folder that has the libraries of a device: `folder`, else the current folder, its
    op_profiler, or one of $OPLAT_TABLES. The original has them in its package."""
    places = [Path(folder)] if folder is not None else [Path(), Path("op_profiler"),
                                                        *map(Path, filter(None, os.environ.get("OPLAT_TABLES", "").split(os.pathsep)))]
    for place in places:
        if (place / device_name).is_dir():
            return place.absolute()  # the same one wherever the program goes
    raise InputError(f"no folder {device_name} with libraries (conv_data.out) in {', '.join(map(str, places))}")


class OpProfiler:
    """The sum of convolutions, each from a library. `method` is 'best', which learns from the
    library once, or 'original', that of op_profiler, whose numbers it gives. `folder` holds a
    folder for each device."""

    def __init__(self, device_name: str = "V100", data_type: str = "FP32", logger: Any = None, *,
                 folder: str | os.PathLike[str] | None = None, method: str = "best") -> None:
        if method not in ("best", "original"):
            raise UsageError(f"method {method!r}: expected 'best' or 'original'")
        self.device_name = device_name
        self.data_type = data_type
        self.logger = logger
        self.method = method
        self.folder = find_libraries(device_name, folder)

    def __call__(self, tests: Sequence[Conv], real_times: Sequence[float] | None = None, p_batch: int | None = 128
                 ) -> tuple[list[tuple[Conv, float, float]], float]:
        """([(convolution, predicted ms, real time), ...], total ms). `p_batch` replaces the batch
        of each convolution unless it is None. What the library cannot answer is
        oplat.MissingKernels, which names it."""
        times = [0.0] * len(tests) if real_times is None else list(real_times)
        if len(times) != len(tests):
            raise UsageError(f"{len(times)} times for {len(tests)} convolutions")
        if not tests:
            return [], 0.0
        if T40 in self.device_name and p_batch != 1:
            raise UsageError(f"p_batch is {p_batch}; {self.device_name} has batch 1 only")
        asked = [with_batch(conv, p_batch) for conv in tests]
        with tempfile.TemporaryDirectory(prefix="oplat-tinynas.") as folder:
            path = Path(folder, "tests.tsv")
            path.write_text("".join("\t".join(map(str, conv)) + "\n" for conv in asked), encoding="utf-8")
            document = _core.compat_tinynas(path, self.folder, device=self.device_name, precision=self.data_type,
                                            original=self.method == "original")
        for warning in document.warnings:
            warnings.warn(warning, PredictionWarning, stacklevel=2)
        found = document.to_dict()
        answers = [float(each["latency_ms"]) for each in found["convs"]]
        if self.logger is not None:
            self.logger.info(str(document))
        return list(zip(asked, answers, times)), math.fsum(answers)


def with_batch(conv: Conv, batch: int | None) -> tuple[Union[str, int], ...]:
    """UsageError for what is not a convolution."""
    fields = tuple(conv)
    numbers = fields[1:]
    # numbers.Real holds numpy's, too.
    if len(fields) != FIELDS or fields[0] not in CONVS or not all(isinstance(each, Real) and each % 1 == 0 for each in numbers):
        raise UsageError(f"{conv!r}: expected (Conv_type, Stride, ElmtFused, Kernel, Batch, In_C, In_H, Out_C)")
    whole: list[Union[str, int]] = [str(fields[0]), *(int(each) for each in numbers)]
    if batch is not None:
        whole[BATCH] = batch
    return tuple(whole)


class OpPredictor:
    """Seconds that a network takes for one image. Convolutions alone count, as in the original."""

    def __init__(self, device_name: str = "V100", data_type: str = "FP32", batch_size: int = 32, image_size: int = 224, logger: Any = None,
                 **options: Any) -> None:
        self.batch_size = batch_size
        self.image_size = image_size
        chosen = {name: options.pop(name) for name in ("folder", "method") if name in options}
        if options:
            warnings.warn(f"OpPredictor: ignores {', '.join(sorted(options))}", PredictionWarning, stacklevel=2)
        self.profiler = OpProfiler(device_name, data_type, logger, **chosen)

    def __call__(self, model: Listed) -> float:
        """inf, and a PredictionWarning, if the library lacks a convolution: a search drops such a
        network. Other errors are raised; the original made inf of all of them."""
        convs = [conv for conv in model.get_params_for_trt(self.image_size) if conv[0] in CONVS]
        if not convs:
            raise InputError(f"{type(model).__name__}: get_params_for_trt() lists no convolution")
        try:
            return self.profiler(convs, None, self.batch_size)[1] / self.batch_size / 1000
        except MissingKernels as error:
            warnings.warn(f"inf: {error}", PredictionWarning, stacklevel=2)
            return math.inf


class RobustGpuPredictor:
    """Seconds that a torch module takes for one image, measured and not predicted: on this
    machine's CPU by ONNX Runtime (`gpu=None`). oplat measures on no GPU, and says so instead of
    giving another device's time. It runs the module until its time is precise, or `budget` is
    spent; `repeat_times` of the original is not a number that this depends on."""

    def __init__(self, batch_size: int, image_size: int | Sequence[int], gpu: int | None, channel: int = 3, fp16: bool = False,
                 repeat_times: int = 30, *, budget: str = "10s") -> None:
        if gpu is not None:
            raise RuntimeUnavailable(f"gpu={gpu}: oplat measures on CPU only; gpu=None is the CPU of this machine")
        if fp16:
            raise RuntimeUnavailable("fp16: ONNX Runtime has no half-precision kernels on CPU")
        height, width = (image_size, image_size) if isinstance(image_size, int) else image_size
        self.shape = [batch_size, channel, height, width]
        self.budget = budget

    def __call__(self, model: torch.nn.Module) -> float:
        from oplat.mmt.converter import export_onnx

        with tempfile.TemporaryDirectory(prefix="oplat-tinynas.") as folder:
            path = Path(folder, f"{type(model).__name__}.onnx")
            export_onnx(model, self.shape, path)
            measured = oplat.measure(path, budget=self.budget)
        for warning in measured.warnings:
            warnings.warn(warning, PredictionWarning, stacklevel=2)
        if not measured.models:
            raise RuntimeUnavailable("; ".join(str(each) for each in measured.refusals) or "nothing was measured")
        return statistics.fmean(each.ms for each in measured.models) / self.shape[0] / 1000
