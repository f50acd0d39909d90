# SPDX-License-Identifier: Apache-2.0
"""The class that pickles of MMT hold, for programs that load them by Python's own pickle
(oplat.compat.install("mmt")).

Loading a pickle that way runs what is in it: load only your own. oplat.mmt.operators.load() runs
nothing.
"""
from __future__ import annotations

from typing import Any


class ops_meta:  # noqa: N801, the original's name
    """An operator with its latency in ms; its attributes are those of the original."""

    input_shape: list[int]
    init_param: dict[str, Any] | None
    mnn_fname: str
    avg: float
    max: float
    min: float
    repr: str
    set_path: str

    def __repr__(self) -> str:
        return self.repr


ops_meta.__module__ = "mmt.utils"
