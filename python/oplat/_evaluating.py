# SPDX-License-Identifier: Apache-2.0
"""Modules of torch in evaluation mode, for as long as something is done with them."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[bool]:
    """Without dropout and the like; yields whether any part was in training mode. Flags are as they
    were afterwards."""
    modules = list(module.modules())
    training = [each.training for each in modules]
    module.eval()
    try:
        yield any(training)
    finally:
        for each, flag in zip(modules, training):
            each.training = flag
