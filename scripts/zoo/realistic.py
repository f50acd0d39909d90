# SPDX-License-Identifier: Apache-2.0
"""Gives a network weights like those of a trained one.

Latency depends on data: default initialisation holds zeros (zero-init residuals), near-denormal factors (layer scale 1e-6) and
normalisation that does nothing, and kernels run faster or much slower on those than on trained weights.
"""

import math

import numpy
import torch
from torch import nn

SMALLEST = 1e-4
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d)


def make_realistic(model, seed):
    """Overwrites every parameter and running statistic. Numpy's generator gives the same numbers on every machine."""
    random = numpy.random.Generator(numpy.random.PCG64(seed))
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                _fill(parameter, _normal(random, parameter.shape, *_mean_and_spread(module, name, parameter)))
            if getattr(module, "running_mean", None) is not None:
                _fill(module.running_mean, _normal(random, module.running_mean.shape, 0.0, 0.1))
                _fill(module.running_var, random.uniform(0.6, 1.4, module.running_var.shape))
    return model


def _mean_and_spread(module, name, parameter):
    if isinstance(module, NORMS):
        return (1.0, 0.1) if name == "weight" else (0.0, 0.1)
    if name.startswith(("layer_scale", "gamma")):
        return 0.5, 0.1
    if parameter.ndim < 2:
        return 0.0, 0.1
    if isinstance(module, CONVOLUTIONS):
        return 0.0, math.sqrt(2.0 / parameter[0].numel())
    if isinstance(module, TRANSPOSED):
        taps = parameter[0, 0].numel() / math.prod(module.stride)
        return 0.0, math.sqrt(2.0 / (parameter.shape[0] / module.groups * taps))
    if isinstance(module, nn.Embedding):
        return 0.0, 1.0
    if parameter.ndim == 2:
        return 0.0, math.sqrt(1.0 / parameter.shape[1])
    return 0.0, 0.1  # position embeddings, class tokens


def _normal(random, shape, mean, spread):
    """Normal, cut off at three deviations, and never so small that products become denormal."""
    values = numpy.clip(random.standard_normal(tuple(shape), dtype=numpy.float32), -3.0, 3.0) * spread + mean
    return numpy.where(numpy.abs(values) < SMALLEST * spread, numpy.float32(SMALLEST * spread), values)


def _fill(tensor, values):
    tensor.copy_(torch.from_numpy(numpy.asarray(values, dtype=numpy.float32).reshape(tuple(tensor.shape))))
