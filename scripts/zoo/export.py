# SPDX-License-Identifier: Apache-2.0
"""Exports networks to ONNX with Debian's torch; runs under /usr/bin/python3, asked by scripts/models."""

import contextlib

import torch
from torch.nn import functional

from . import own_nets, torchvision_nets
from .pipe import serve
from .realistic import make_realistic

SOURCES = {"torchvision": torchvision_nets.build, "own": own_nets.build}


@contextlib.contextmanager
def dropout_without_effect():
    """Swin calls dropout with probability 0 in training mode, which would be exported as a node that runs."""
    original = functional.dropout
    functional.dropout = lambda values, *arguments, **named: values
    try:
        yield
    finally:
        functional.dropout = original


def export(source, builder, arguments, opset, seed, path):
    torch.manual_seed(seed)
    model, inputs = SOURCES[source](builder, **arguments)
    make_realistic(model.eval(), seed)
    # Gradients stay on: without them nn.MultiheadAttention takes a fused path that has no ONNX form.
    with dropout_without_effect(), torch.enable_grad():
        torch.onnx.export(model, tuple(inputs.values()), path, opset_version=opset, input_names=list(inputs),
                          output_names=["output"], do_constant_folding=True)
    return {}


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve(export)
