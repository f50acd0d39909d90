# SPDX-License-Identifier: Apache-2.0
"""Exports networks of the set `wide` with Debian's torch, asked by scripts/models; a module
of its own, so that what is added here leaves the networks of the other sets up to date."""

import torch
from torch import nn

from .. import export, realistic
from ..pipe import serve
from . import dense, language, signals, vision

# Layers that only these networks have.
realistic.CONVOLUTIONS += (nn.Conv3d,)
realistic.NORMS += (nn.BatchNorm3d, nn.InstanceNorm2d)
_mean_and_spread = realistic._mean_and_spread


def calmed(module, name, parameter):
    """With what parts.calm() asks for."""
    mean, spread = _mean_and_spread(module, name, parameter)
    return mean, spread * getattr(module, "gain", 1.0)


realistic._mean_and_spread = calmed


def of(module):
    def build(builder, **arguments):
        """The network and its named inputs."""
        return module.BUILDERS[builder](**arguments)
    return build


export.SOURCES.update({"vision": of(vision), "dense": of(dense), "language": of(language),
                       "signals": of(signals)})

if __name__ == "__main__":
    torch.set_num_threads(1)
    serve(export.export)
