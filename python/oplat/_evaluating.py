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


@contextlib.contextmanager
def by_parts(module: Any) -> Iterator[None]:
    """Inside evaluating(): layers of attention and encoders call their modules, as they do in
    training, in place of one operator for all of them. Results are those of evaluation."""
    import torch

    layers = [each for each in module.modules() if isinstance(each, (torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer))]
    attention = [each for each in layers if isinstance(each, torch.nn.MultiheadAttention)]
    dropout = [each.dropout for each in attention]
    try:
        for each in layers:
            each.training = True  # of itself, not of its modules
        for each in attention:
            each.dropout = 0.0  # its own, which it leaves out in evaluation
        yield
    finally:
        for each, share in zip(attention, dropout):
            each.dropout = share
        for each in layers:
            each.training = False
