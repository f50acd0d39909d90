# SPDX-License-Identifier: Apache-2.0
"""Networks whose topology torchvision holds; no weights are downloaded."""

import torch
import torchvision
from torch import nn


class FirstOutput(nn.Module):
    """A segmentation network answers with a dictionary; ONNX wants a tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)["out"]


def vit_tiny(size):
    return torchvision.models.VisionTransformer(
        image_size=size, patch_size=16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768)


def googlenet(size):
    return torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False)


def inception_v3(size):
    return torchvision.models.inception_v3(weights=None, aux_logits=False, init_weights=False)


def lraspp_mobilenet_v3_large(size):
    return FirstOutput(torchvision.models.segmentation.lraspp_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=21))


SPECIAL = {f.__name__: f for f in (vit_tiny, googlenet, inception_v3, lraspp_mobilenet_v3_large)}


def build(builder, size):
    """The network and its named inputs."""
    if builder in SPECIAL:
        model = SPECIAL[builder](size)
    else:
        model = torchvision.models.get_model(builder, weights=None)
    return model, {"input": torch.randn(1, 3, size, size)}
