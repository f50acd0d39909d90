# SPDX-License-Identifier: Apache-2.0
"""Other systems' Python names, answered by oplat, so that programs written for them run as they
are.

    import oplat.compat
    oplat.compat.install("paddleslim")

    import paddleslim                        # oplat's
    predictor =
    paddleslim.TableLatencyPredictor(table_file="table/SD710_threads_4_power_mode_0.pkl")

What was a silent zero is an error or a warning here; numbers are floats that also have an interval.
"""
from __future__ import annotations

import importlib
import sys
from types import ModuleType

from oplat.errors import UsageError

# The name that is imported -> the module of oplat that is found under it.
_MODULES = {
    "mmt": {"mmt": "oplat.mmt", "mmt.converter": "oplat.mmt.converter", "mmt.meter": "oplat.mmt.meter", "mmt.parser": "oplat.mmt.parser",
            "mmt.predictor": "oplat.mmt.predictor", "mmt.utils": "oplat.mmt.utils"},
    "paddleslim": {"paddleslim": "oplat.compat.paddleslim", "paddleslim.analysis": "oplat.compat.paddleslim",
                   "paddleslim.analysis.latency_predictor": "oplat.compat.paddleslim"},
    "tinynas": {"tinynas": "oplat.compat.tinynas", "tinynas.latency": "oplat.compat.tinynas",
                "tinynas.latency.op_profiler": "oplat.compat.tinynas", "tinynas.latency.op_predictor": "oplat.compat.tinynas",
                "tinynas.latency.robust_gpu_predictor": "oplat.compat.tinynas"},
    "mobile_vision": {"api": "oplat.compat.mobile_vision", "lut_schema": "oplat.compat.mobile_vision"},
}


def install(system: str) -> None:
    """Makes the modules of a system importable: 'mmt', 'paddleslim', 'tinynas', or 'mobile_vision'
    (its modules are called api and lut_schema). UsageError if one of them, such as the system
    itself, is imported already: nothing is changed then. A second call does nothing."""
    if system not in _MODULES:
        raise UsageError(f"{system!r}: expected {' or '.join(map(repr, sorted(_MODULES)))}")
    modules: dict[str, ModuleType] = {name: importlib.import_module(path) for name, path in _MODULES[system].items()}
    for name, module in modules.items():
        there = sys.modules.get(name)
        if there is not None and there is not module:
            place = getattr(there, "__file__", None) or "somewhere"
            raise UsageError(f"{name} is imported already, from {place}; call install({system!r}) first, or import oplat's own {module.__name__}")
    for name, module in modules.items():
        sys.modules[name] = module
