# SPDX-License-Identifier: Apache-2.0
"""Latencies of operators by MNN on this machine's CPU. Needs MNN, in this environment or in $OPLAT_MNN_PYTHON; not torch."""
from __future__ import annotations

import json
import os
import statistics
import warnings
from pathlib import Path
from typing import Any

from oplat.errors import InputError, PredictionWarning, RuntimeUnavailable

from . import operators

THREADS = 4  # that the original gives to MNN
# A mean of so much more than the median was disturbed by other processes.
BUSY = 1.2


def get_latency(path: str | os.PathLike[str], times: int = 30, verbose: bool = True, *, threads: int = THREADS,
                precision: str = "low") -> dict[str, float]:
    """{"Avg", "Min", "Max", "Median", "repeat"} of `times` runs of a .mnn model, in ms, after two that do not count.
    A PredictionWarning if other processes disturbed them."""
    if times < 1:
        raise InputError(f"times is {times}; expected at least 1")
    if not Path(path).is_file():
        raise InputError(f"{os.fspath(path)}: no such file")
    runs = json.loads(operators.mnn_tool("meter", threads, precision, times, Path(path).absolute()))["runs"]
    found = {"Avg": statistics.fmean(runs), "Min": min(runs), "Max": max(runs), "Median": statistics.median(runs), "repeat": len(runs)}
    if found["Avg"] > BUSY * found["Median"]:
        warnings.warn(f"{Path(path).name}: the mean of {len(runs)} runs is {found['Avg'] / found['Median']:.1f} times their median; "
                      "measure again on a quiet machine", PredictionWarning, stacklevel=2)
    if verbose:
        print(f"{Path(path).name}: Avg= {found['Avg']:.6f} ms, min= {found['Min']:.6f} ms, max= {found['Max']:.6f} ms")
    return found


def meter_ops(folder: str | os.PathLike[str], times: int = 30, verbose: bool = False, *, threads: int = THREADS,
              precision: str = "low") -> list[dict[str, Any]]:
    """Measures the operators of meta.pkl and writes meta_latency.pkl next to it, after each of them, so that a call goes
    on where an earlier one stopped. Operators that MNN cannot run keep a latency of 0 and are named. The folder may have
    been moved or copied since it was made."""
    place = Path(folder)
    meta, target = place / operators.META, place / operators.LATENCY
    if not meta.is_file():
        raise InputError(f"{meta}: no such file; generate_ops_list() makes it")
    found = operators.load(meta)
    done = {each["mnn_fname"]: each for each in operators.load(target) if each["avg"] > 0} if target.is_file() else {}
    failed = []
    for each in found:
        name = each["mnn_fname"]
        if name in done:
            each.update({key: done[name][key] for key in ("avg", "max", "min")})
            continue
        try:
            times_of = get_latency(place / name, times, verbose, threads=threads, precision=precision)
        except (InputError, RuntimeUnavailable) as error:
            if "install it" in str(error):
                raise
            failed.append(f"{name}: {error}")
            continue
        each.update(avg=times_of["Avg"], max=times_of["Max"], min=times_of["Min"])
        operators.store(target, found)
    operators.store(target, found)
    for reason in failed:
        warnings.warn(f"not measured: {reason}", PredictionWarning, stacklevel=2)
    return found
