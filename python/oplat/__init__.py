# SPDX-License-Identifier: Apache-2.0
"""oplat predicts how long a neural network takes on a device, from a table of operators measured
once.

    import oplat
    table = oplat.Table("desk.oplat")
    print(table.predict("net.onnx").ms)

docs/guide/python.md shows the rest. Names are loaded when they are first used: the program `oplat`
and its workers in Python import this package too, and some of them run where neither numpy nor the
extension module is installed.
"""
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oplat import compat as compat
    from oplat import mmt as mmt
    from oplat import torch as torch
    from oplat._core import (
        Advice as Advice,
        AdviceChoice as AdviceChoice,
        ComparedModel as ComparedModel,
        Comparison as Comparison,
        Context as Context,
        Device as Device,
        Document as Document,
        Estimates as Estimates,
        FitResult as FitResult,
        InferenceTimes as InferenceTimes,
        Inspection as Inspection,
        InspectionPart as InspectionPart,
        KernelTime as KernelTime,
        Key as Key,
        MeasuredModel as MeasuredModel,
        Measurement as Measurement,
        Objective as Objective,
        OperatorTime as OperatorTime,
        Plan as Plan,
        PlanKernel as PlanKernel,
        Prediction as Prediction,
        ProfileResult as ProfileResult,
        Progress as Progress,
        Refusal as Refusal,
        Rows as Rows,
        Runtime as Runtime,
        RuntimeOption as RuntimeOption,
        Runtimes as Runtimes,
        Setting as Setting,
        Sweep as Sweep,
        SweepPoint as SweepPoint,
        Table as Table,
        Tensor as Tensor,
        Timing as Timing,
        ValidatedModel as ValidatedModel,
        Validation as Validation,
        inspect as inspect,
        measure as measure,
        measure_sweep as measure_sweep,
        plan as plan,
        profile as profile,
        profile_sweep as profile_sweep,
        program as program,
        runtimes as runtimes,
    )
    from oplat.errors import (
        Error as Error,
        InputError as InputError,
        InternalError as InternalError,
        Interrupted as Interrupted,
        MissingKernels as MissingKernels,
        MissingPlan as MissingPlan,
        PredictionWarning as PredictionWarning,
        Refused as Refused,
        RuntimeUnavailable as RuntimeUnavailable,
        UsageError as UsageError,
        WriteError as WriteError,
    )

    __commit__: str
    __version__: str

_ERRORS = ("Error", "InputError", "InternalError", "Interrupted", "MissingKernels", "MissingPlan",
           "PredictionWarning", "Refused", "RuntimeUnavailable", "UsageError", "WriteError")
_CORE = ("Advice", "AdviceChoice", "ComparedModel", "Comparison", "Context", "Device", "Document", "Estimates",
         "FitResult", "InferenceTimes", "Inspection", "InspectionPart", "KernelTime", "Key", "MeasuredModel",
         "Measurement", "Objective", "OperatorTime", "Plan", "PlanKernel", "Prediction", "ProfileResult", "Progress",
         "Refusal", "Rows", "Runtime", "RuntimeOption", "Runtimes", "Setting", "Sweep", "SweepPoint", "Table", "Tensor",
         "Timing", "ValidatedModel", "Validation", "__commit__", "__version__", "inspect", "measure", "measure_sweep",
         "plan", "profile", "profile_sweep", "program", "runtimes")
# Not in __all__: `from oplat import *` would put its `torch` in the place of PyTorch, and its
# `inspect` in that of Python's.
_MODULES = ("compat", "mmt", "torch")

__all__ = sorted(name for name in (*_ERRORS, *_CORE) if not name.startswith("_") and name != "inspect")


def __getattr__(name: str) -> object:
    if name in _ERRORS:
        from oplat import errors as source
    elif name in _CORE:
        from oplat import _core as source  # type: ignore[no-redef]
    elif name in _MODULES:
        return importlib.import_module(f"oplat.{name}")
    else:
        raise AttributeError(f"module 'oplat' has no attribute {name!r}")
    value = getattr(source, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ERRORS, *_CORE, *_MODULES})
