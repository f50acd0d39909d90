# SPDX-License-Identifier: Apache-2.0
"""Image classifiers: CNNS has the layer sizes of each as its paper gives them, the functions above
it the blocks."""

import torch
from torch import nn
from torchvision.models.convnext import CNBlockConfig, ConvNeXt

from .parts import (ACTIVATIONS, Add, Attention, Cat, Do, Learned, calm, chain, conv, depthwise,
                    image, linears,
                    pooled_head, shuffle_channels, squeeze_excite, to_map, to_tokens, transformer)


def plain(inputs, outputs, stride):
    """RepVGG as it is deployed: one convolution."""
    return conv(inputs, outputs, 3, stride, norm=False)


def separable(inputs, outputs, stride, kernel=3, act="relu", norm=True):
    return depthwise(inputs, outputs, kernel, stride, act, norm=norm)


def shortcut(inputs, outputs, stride, pooled=False):
    if inputs == outputs and stride == 1:
        return nn.Identity()
    if pooled and stride > 1:  # ResNet-D
        return nn.Sequential(nn.AvgPool2d(stride, stride), conv(inputs, outputs, 1, act=""))
    return conv(inputs, outputs, 1, stride, "")


def basic(inputs, outputs, stride, kind="", act="relu"):
    second = [squeeze_excite(outputs, outputs // 16)] if kind == "se" else []
    middle = SelectiveKernel(outputs, stride) if kind == "sk" else None
    first = conv(inputs, outputs, 1) if middle else conv(inputs, outputs, 3, stride, act)
    rest = [middle, conv(outputs, outputs, 1,
                         act="")] if middle else [conv(outputs, outputs, 3, act="")]
    return Add(nn.Sequential(first, *rest, *second), shortcut(inputs, outputs, stride, kind == "d"),
               act)


def bottleneck(inputs, outputs, stride, kind="", groups=1, middle=0):
    middle = middle or outputs // 4
    if kind == "splat":
        core = SplitAttention(middle, stride)
    elif kind == "res2":
        core = Res2(middle, stride)
    else:
        core = conv(middle, middle, 3, stride, groups=groups)
    after = [squeeze_excite(outputs, outputs // 16)] if kind == "se" else []
    body = nn.Sequential(conv(inputs, middle, 1), core, conv(middle, outputs, 1, act=""), *after)
    return Add(body, shortcut(inputs, outputs, stride, kind in ("d", "splat")), "relu")


def preactivated(inputs, outputs, stride):
    """Wide ResNet: normalisation and activation before each convolution."""
    def half(a, b, s):
        return [nn.BatchNorm2d(a), nn.ReLU(), nn.Conv2d(a, b, 3, s, 1, bias=False)]
    same = inputs == outputs and stride == 1
    return Add(nn.Sequential(*half(inputs, outputs, stride), *half(outputs, outputs, 1)),
               None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False))


class SelectiveKernel(nn.Module):
    """Two paths, the second dilated, weighted by attention over the paths (SKNet)."""

    def __init__(self, width, stride, groups=32):
        super().__init__()
        self.paths = nn.ModuleList(conv(width, width, 3, stride, groups=groups, dilation=d)
                                   for d in (1, 2))
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), conv(width, max(width // 16, 32), 1))
        self.excite = nn.Conv2d(max(width // 16, 32), 2 * width, 1)

    def forward(self, x):
        paths = torch.stack([path(x) for path in self.paths], 1)
        weights = self.excite(self.squeeze(paths.sum(1))).view(x.shape[0], 2, -1, 1, 1).softmax(1)
        return (paths * weights).sum(1)


class SplitAttention(nn.Module):
    """A convolution in two radix groups, weighted by attention over them (ResNeSt)."""

    def __init__(self, width, stride):
        super().__init__()
        hidden = max(width // 2, 32)
        self.conv = conv(width, 2 * width, 3, groups=2)
        self.squeeze, self.excite = conv(width, hidden, 1), nn.Conv2d(hidden, 2 * width, 1)
        self.pool = nn.AvgPool2d(3, stride, 1) if stride > 1 else nn.Identity()

    def forward(self, x):
        paths = self.conv(x)
        paths = paths.view(x.shape[0], 2, -1, *paths.shape[2:])
        weights = self.excite(self.squeeze(paths.sum(1).mean((2, 3), keepdim=True)))
        return self.pool((paths * weights.view(x.shape[0], 2, -1, 1, 1).softmax(1)).sum(1))


class Res2(nn.Module):
    """Four slices of the channels, each convolution also fed with the slice before it (Res2Net)."""

    def __init__(self, width, stride, scale=4):
        super().__init__()
        self.scale, self.strided = scale, stride > 1
        self.convs = nn.ModuleList(conv(width // scale, width // scale, 3, stride)
                                   for _ in range(scale - 1))
        self.pool = nn.AvgPool2d(3, stride, 1) if stride > 1 else nn.Identity()

    def forward(self, x):
        slices, done = x.chunk(self.scale, 1), []
        for i, layer in enumerate(self.convs):
            done.append(layer(slices[i] if i == 0 or self.strided else slices[i] + done[-1]))
        return torch.cat([*done, self.pool(slices[-1])], 1)


def inverted(inputs, outputs, stride, expand, kernel=3, se=0, act="relu6", gate="sigmoid"):
    """An inverted residual; `se` divides the input's channels for the squeeze."""
    hidden = int(inputs * expand)
    body = [conv(inputs, hidden, 1, 1, act)] if expand != 1 else []
    body.append(conv(hidden, hidden, kernel, stride, act, hidden))
    if se:
        body.append(squeeze_excite(hidden, max(inputs // se, 4), act, gate))
    body.append(conv(hidden, outputs, 1, act=""))
    return Add(nn.Sequential(*body)) if stride == 1 and inputs == outputs else nn.Sequential(*body)


class Mixed(nn.Module):
    """A depthwise convolution with another kernel for each slice of the channels (MixNet)."""

    def __init__(self, width, kernels, stride):
        super().__init__()
        share = width // len(kernels)
        self.widths = [width - share * (len(kernels) - 1)] + [share] * (len(kernels) - 1)
        self.convs = nn.ModuleList(nn.Conv2d(w, w, k, stride, k // 2, groups=w, bias=False)
                                   for w, k in zip(self.widths, kernels))

    def forward(self, x):
        return torch.cat([layer(part) for layer, part in zip(self.convs, x.split(self.widths, 1))],
                         1)


def mixed(inputs, outputs, stride, expand, kernels, se, act):
    hidden = inputs * expand
    body = [conv(inputs, hidden, 1, 1, act)] if expand != 1 else []
    body += [Mixed(hidden, range(3, 3 + 2 * kernels, 2), stride), nn.BatchNorm2d(hidden),
             ACTIVATIONS[act]()]
    if se:
        body.append(squeeze_excite(hidden, max(inputs // se, 4), act))
    body.append(conv(hidden, outputs, 1, act=""))
    return Add(nn.Sequential(*body)) if stride == 1 and inputs == outputs else nn.Sequential(*body)


class Ghost(nn.Module):
    """Half of the channels by a convolution, half from those by a cheap depthwise one."""

    def __init__(self, inputs, outputs, act):
        super().__init__()
        self.primary = conv(inputs, outputs // 2, 1, act=act)
        self.cheap = conv(outputs // 2, outputs // 2, 3, act=act, groups=outputs // 2)

    def forward(self, x):
        x = self.primary(x)
        return torch.cat([x, self.cheap(x)], 1)


def ghost(inputs, outputs, stride, hidden, kernel, se):
    body = [Ghost(inputs, hidden, "relu")]
    if stride > 1:
        body.append(conv(hidden, hidden, kernel, stride, "", hidden))
    if se:
        body.append(squeeze_excite(hidden, hidden // 4, "relu", "hsigmoid"))
    body.append(Ghost(hidden, outputs, ""))
    same = stride == 1 and inputs == outputs
    side = None if same else nn.Sequential(conv(inputs, inputs, kernel, stride, "", inputs),
                                           conv(inputs, outputs, 1, act=""))
    return Add(nn.Sequential(*body), side)


def shuffle_v1(inputs, outputs, stride, groups=3):
    grown = outputs - inputs if stride > 1 else outputs
    middle = outputs // 4
    body = nn.Sequential(
        conv(inputs, middle, 1, groups=groups if inputs > 24 else 1), shuffle_channels(groups),
        conv(middle, middle, 3, stride, "", middle), conv(middle, grown, 1, act="", groups=groups))
    if stride == 1:
        return Add(body, act="relu")
    return nn.Sequential(Cat(nn.AvgPool2d(3, 2, 1), body), nn.ReLU())


def one_shot(inputs, outputs, stride, middle, layers=5):
    """One-shot aggregation: the results of all layers side by side (VoVNet)."""
    class Aggregate(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(conv(inputs if i == 0 else middle, middle)
                                        for i in range(layers))
            self.merge = conv(inputs + layers * middle, outputs, 1)

        def forward(self, x):
            kept = [x]
            for layer in self.layers:
                kept.append(layer(kept[-1]))
            return self.merge(torch.cat(kept, 1))
    return nn.Sequential(*([nn.MaxPool2d(3, 2, 1)] if stride > 1 else []), Aggregate())


def partial(inputs, outputs, repeats, act="silu", residual=True):
    """A cross-stage partial stage (C3): half of the channels pass the bottlenecks, half do not."""
    half = outputs // 2

    def unit():
        body = nn.Sequential(conv(half, half, 1, act=act), conv(half, half, 3, act=act))
        return Add(body) if residual else body
    deep = nn.Sequential(conv(inputs, half, 1, act=act), *(unit() for _ in range(repeats)))
    return nn.Sequential(Cat(deep, conv(inputs, half, 1, act=act)),
                         conv(outputs, outputs, 1, act=act))


def partial_stage(inputs, outputs, stride, repeats):
    return nn.Sequential(conv(inputs, outputs, 3, stride, "silu"),
                         partial(outputs, outputs, repeats))


class DualPath(nn.Module):
    """A residual path and a path that grows (DPN)."""

    def __init__(self, inputs, grown, middle, width, growth, stride, first):
        super().__init__()
        self.width, self.first = width, first
        self.project = conv(inputs + grown, width + 2 * growth, 1, stride, "") if first else None
        self.body = nn.Sequential(conv(inputs + grown, middle, 1),
                                  conv(middle, middle, 3, stride, groups=32),
                                  conv(middle, width + growth, 1, act=""))

    def forward(self, x):
        side = self.project(x) if self.first else x
        y = self.body(x)
        return torch.cat([side[:, :self.width] + y[:, :self.width], side[:, self.width:],
                          y[:, self.width:]], 1)


def dual_path(inputs, rows):
    parts, grown = [], 0
    for repeats, width, middle, growth, stride in rows:
        for i in range(repeats):
            parts.append(DualPath(inputs, grown, middle, width, growth, stride if i == 0 else 1,
                                  i == 0))
            inputs, grown = width, (2 if i == 0 else 0) * growth + (0 if i == 0 else grown) + growth
    return nn.Sequential(*parts), inputs + grown


def two_way_dense(inputs, growth):
    """A layer of PeleeNet: two views of the input of other depth, next to it."""
    return Cat(nn.Identity(), nn.Sequential(conv(inputs, 2 * growth, 1),
                                            conv(2 * growth, growth // 2)),
               nn.Sequential(conv(inputs, 2 * growth, 1), conv(2 * growth, growth // 2),
                             conv(growth // 2, growth // 2)))


def peleenet(size):
    stem = nn.Sequential(conv(3, 32, 3, 2), Cat(nn.Sequential(conv(32, 16, 1), conv(16, 32, 3, 2)),
                                                nn.MaxPool2d(2, 2)), conv(64, 32, 1))
    parts, width = [stem], 32
    for stage, layers in enumerate((3, 4, 8, 6)):
        for _ in range(layers):
            parts.append(two_way_dense(width, 32))
            width += 32
        parts += [conv(width, width, 1), *([nn.AvgPool2d(2, 2)] if stage < 3 else [])]
    return nn.Sequential(*parts, pooled_head(width)), image(size)


def separable_residual(inputs, outputs, stride):
    """A block of Xception: separable convolutions, the activation before each."""
    parts, at = [], inputs
    for _ in range(3 if inputs == outputs and stride == 1 else 2):
        parts += [nn.ReLU(), nn.Conv2d(at, at, 3, 1, 1, groups=at, bias=False),
                  conv(at, outputs, 1, act="")]
        at = outputs
    parts += [nn.MaxPool2d(3, stride, 1)] if stride > 1 else []
    return Add(calm(nn.Sequential(*parts), 0.7), shortcut(inputs, outputs, stride))


def xception(size):
    body, width = chain(64, [(1, 128, 2), (1, 256, 2), (1, 728, 2), (8, 728, 1), (1, 1024, 2)],
                        separable_residual)
    return nn.Sequential(conv(3, 32, 3, 2), conv(32, 64), body, depthwise(width, 1536),
                         depthwise(1536, 2048),
                         pooled_head(2048)), image(size)


def dark(inputs, layers):
    """Darknet: (width, kernel) of convolutions, and 0 for pooling."""
    parts = []
    for layer in layers:
        if not layer:
            parts.append(nn.MaxPool2d(2, 2))
            continue
        parts.append(conv(inputs, layer[0], layer[1], act="leaky"))
        inputs = layer[0]
    return nn.Sequential(*parts), inputs


DARKNETS = {
    "reference": [(16, 3), 0, (32, 3), 0, (64, 3), 0, (128, 3), 0, (256, 3), 0, (512, 3), 0,
                  (1024, 3)],
    "19": [(32, 3), 0, (64, 3), 0, (128, 3), (64, 1), (128, 3), 0, (256, 3), (128, 1), (256, 3), 0,
           *[(512, 3), (256, 1)] * 2, (512, 3), 0, *[(1024, 3), (512, 1)] * 2, (1024, 3)],
}


def darknet(layers, size):
    body, width = dark(3, DARKNETS[str(layers)])
    return nn.Sequential(body, nn.Conv2d(width, 1000, 1), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten()), image(size)


def nin(size, widths):
    """Network in network, its first kernel after the size of the image."""
    large = size > 64
    parts, inputs = [], 3
    for i, (width, kernel) in enumerate(zip(map(int, widths.split("+")), (11, 5, 3, 3) if large
                                            else (5, 5, 3))):
        stride = 4 if large and i == 0 else 1
        parts += [conv(inputs, width, kernel, stride, norm=False),
                  *(conv(width, width, 1, norm=False) for _ in range(2)), nn.MaxPool2d(3, 2, 1)]
        inputs = width
    return nn.Sequential(*parts, conv(inputs, 1000 if large else 10, 1, norm=False),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten()), image(size)


def wide_resnet_cifar(size, depth, factor):
    n = (depth - 4) // 6
    body, width = chain(16, [(n, 16 * factor, 1), (n, 32 * factor, 2), (n, 64 * factor, 2)],
                        preactivated)
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), body, nn.BatchNorm2d(width),
                         nn.ReLU(), pooled_head(width, 10)), image(size)


def convmixer(size, width, depth, kernel, patch):
    def block():
        spatial = nn.Sequential(nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=width),
                                nn.GELU(), nn.BatchNorm2d(width))
        return nn.Sequential(Add(spatial), nn.Conv2d(width, width, 1), nn.GELU(),
                             nn.BatchNorm2d(width))
    stem = nn.Sequential(nn.Conv2d(3, width, patch, patch), nn.GELU(), nn.BatchNorm2d(width))
    return nn.Sequential(stem, *(block() for _ in range(depth)), pooled_head(width)), image(size)


def mobilenet_v1_scaled(size, percent):
    """MobileNetV1 with another width, in percent."""
    w = lambda width: max(8, width * percent // 100)
    rows = [(1, w(64), 1), (1, w(128), 2), (1, w(128), 1), (1, w(256), 2), (1, w(256), 1),
            (1, w(512), 2), (5, w(512), 1),
            (1, w(1024), 2), (1, w(1024), 1)]
    body, width = chain(w(32), rows, separable)
    return nn.Sequential(conv(3, w(32), 3, 2), body, pooled_head(width)), image(size)


def mobilefacenet(size):
    rows = [(5, 64, 2, 2), (1, 128, 2, 4), (6, 128, 1, 2), (1, 128, 2, 4), (2, 128, 1, 2)]
    body, width = chain(64, [(*row, 3, 0, "prelu") for row in rows], inverted)
    side = size // 16
    return nn.Sequential(
        conv(3, 64, 3, 2, "prelu"), conv(64, 64, 3, 1, "prelu", 64), body,
        conv(width, 512, 1, act="prelu"),
        nn.Conv2d(512, 512, side, groups=512, bias=False), nn.BatchNorm2d(512), nn.Flatten(),
        nn.Linear(512, 128)), image(size)


MB_B0 = [(1, 16, 1, 1, 3), (2, 24, 2, 6, 3), (2, 40, 2, 6, 5), (3, 80, 2, 6, 3), (3, 112, 1, 6, 5),
         (4, 192, 2, 6, 5), (1, 320, 1, 6, 3)]
MB_LITE2 = [(1, 16, 1, 1, 3), (3, 24, 2, 6, 3), (3, 48, 2, 6, 5), (4, 88, 2, 6, 3),
            (4, 120, 1, 6, 5), (5, 208, 2, 6, 5), (1, 352, 1, 6, 3)]
FBNET_C = [(1, 16, 1, 1, 3), (1, 24, 2, 6, 3), (2, 24, 1, 1, 3), (1, 32, 2, 6, 5), (1, 32, 1, 3, 5),
           (1, 32, 1, 6, 5), (1, 32, 1, 6, 3),
           (1, 64, 2, 6, 5), (1, 64, 1, 3, 5), (2, 64, 1, 6, 5), (3, 112, 1, 6, 5),
           (1, 112, 1, 3, 5), (4, 184, 2, 6, 5), (1, 352, 1, 6, 3)]
PROXYLESS_MOBILE = [(1, 16, 1, 1, 3), (1, 32, 2, 3, 5), (1, 32, 1, 3, 3), (1, 40, 2, 3, 7),
                    (1, 40, 1, 3, 3), (2, 40, 1, 3, 5),
                    (1, 80, 2, 6, 7), (3, 80, 1, 3, 5), (1, 96, 1, 6, 5), (3, 96, 1, 3, 5),
                    (2, 192, 2, 6, 7), (2, 192, 1, 3, 7), (1, 320, 1, 6, 7)]
PROXYLESS_CPU = [(1, 24, 1, 1, 3), (1, 32, 2, 6, 3), (3, 32, 1, 3, 3), (1, 48, 2, 6, 3),
                 (2, 48, 1, 3, 3), (1, 48, 1, 3, 5),
                 (1, 88, 2, 6, 3), (1, 88, 1, 3, 3), (1, 104, 1, 6, 5), (3, 104, 1, 3, 3),
                 (1, 216, 2, 6, 5), (2, 216, 1, 3, 5),
                 (1, 216, 1, 3, 3), (1, 360, 1, 6, 5)]
MIXNET_S = [(1, 16, 1, 1, 1, 0, "relu"), (1, 24, 2, 6, 1, 0, "relu"), (1, 24, 1, 3, 1, 0, "relu"),
            (1, 40, 2, 6, 3, 2, "silu"),
            (3, 40, 1, 6, 2, 2, "silu"), (1, 80, 2, 6, 3, 4, "silu"), (2, 80, 1, 6, 2, 4, "silu"),
            (1, 120, 1, 6, 3, 2, "silu"),
            (2, 120, 1, 3, 4, 2, "silu"), (1, 200, 2, 6, 5, 2, "silu"),
            (2, 200, 1, 6, 4, 2, "silu")]
GHOSTNET = [(1, 16, 1, 16, 3, 0), (1, 24, 2, 48, 3, 0), (1, 24, 1, 72, 3, 0), (1, 40, 2, 72, 5, 1),
            (1, 40, 1, 120, 5, 1), (1, 80, 2, 240, 3, 0),
            (1, 80, 1, 200, 3, 0), (2, 80, 1, 184, 3, 0), (1, 112, 1, 480, 3, 1),
            (1, 112, 1, 672, 3, 1), (1, 160, 2, 672, 5, 1),
            (1, 160, 1, 960, 5, 0), (1, 160, 1, 960, 5, 1), (1, 160, 1, 960, 5, 0),
            (1, 160, 1, 960, 5, 1)]


def mobileone_unit(inputs, outputs, stride):
    return separable(inputs, outputs, stride, norm=False)


def with_act(rows, act):
    return [(*row, 0, act) for row in rows]


def resnet_rows(repeats, factor, *rest):
    return [(n, width * factor, stride, *rest)
            for n, width, stride in zip(repeats, (64, 128, 256, 512), (1, 2, 2, 2))]


# name: block, stem (widths of its convolutions, the first with stride 2; 0 for pooling), rows,
# width before the head, act.
CNNS = {
    "repvgg_a0": (plain, (48,), [(2, 48, 2), (4, 96, 2), (14, 192, 2), (1, 1280, 2)], 0, "relu"),
    "mobileone_s0": (mobileone_unit, (48,), [(2, 48, 2), (8, 128, 2), (10, 256, 2), (1, 1024, 2)],
                     0, "relu"),
    "mobileone_s1": (mobileone_unit, (64,), [(2, 96, 2), (8, 192, 2), (10, 512, 2), (1, 1280, 2)],
                     0, "relu"),
    "resnet18_d": (basic, (32, 32, 64, 0), resnet_rows((2, 2, 2, 2), 1, "d"), 0, "relu"),
    "se_resnet18": (basic, (64, 0), resnet_rows((2, 2, 2, 2), 1, "se"), 0, "relu"),
    "sk_resnet18": (basic, (64, 0), resnet_rows((2, 2, 2, 2), 1, "sk"), 0, "relu"),
    "resnest14": (bottleneck, (32, 32, 64, 0), resnet_rows((1, 1, 1, 1), 4, "splat"), 0, "relu"),
    "resnext26": (bottleneck, (64, 0), [(2, w, s, "", 32, w // 2)
                                        for _, w, s in resnet_rows((2, 2, 2, 2), 4)], 0, "relu"),
    "res2net50": (bottleneck, (64, 0), [(n, w, s, "res2", 1, w * 104 // 256)
                                        for n, w, s in resnet_rows((3, 4, 6, 3), 4)], 0, "relu"),
    "vovnet27_slim": (one_shot, (64, 64, 128), [(1, 128, 1, 64), (1, 256, 2, 80), (1, 384, 2, 96),
                                                (1, 512, 2, 112)], 0, "relu"),
    "cspdarknet_n": (partial_stage, (16,), [(1, 32, 2, 1), (1, 64, 2, 2), (1, 128, 2, 3),
                                            (1, 256, 2, 1)], 0, "silu"),
    "cspdarknet_s": (partial_stage, (32,), [(1, 64, 2, 1), (1, 128, 2, 2), (1, 256, 2, 3),
                                            (1, 512, 2, 1)], 0, "silu"),
    "fbnet_c": (inverted, (16,), with_act(FBNET_C, "relu"), 1984, "relu"),
    "proxylessnas_mobile": (inverted, (32,), PROXYLESS_MOBILE, 1280, "relu6"),
    "proxylessnas_cpu": (inverted, (40,), PROXYLESS_CPU, 1432, "relu6"),
    "efficientnet_lite0": (inverted, (32,), MB_B0, 1280, "relu6"),
    "efficientnet_lite2": (inverted, (32,), MB_LITE2, 1280, "relu6"),
    "mixnet_s": (mixed, (16,), MIXNET_S, 1536, "relu"),
    "ghostnet": (ghost, (16,), GHOSTNET, 960, "relu"),
    "shufflenet_v1_x1": (shuffle_v1, (24, 0), [(4, 240, 2), (8, 480, 2), (4, 960, 2)], 0, "relu"),
    "shufflenet_v1_x0_5": (shuffle_v1, (24, 0), [(4, 120, 2), (8, 240, 2), (4, 480, 2)], 0, "relu"),
}


def trunk(net):
    """The convolutional part of a network of CNNS: its stem and its rows, and the width of the
    result."""
    block, widths, rows, last, act = CNNS[net]
    stem, inputs = [], 3
    for i, width in enumerate(widths):
        if width == 0:
            stem.append(nn.MaxPool2d(3, 2, 1))
            continue
        kernel = 7 if widths == (64, 0) else 3
        stem.append(conv(inputs, width, kernel, 2 if i == 0
                         or (len(widths) == 3 and i == 2 and widths[-1]) else 1, act))
        inputs = width
    body, width = chain(inputs, rows, block)
    parts = [*stem, body]
    if last:
        parts.append(conv(width, last, 1, act=act))
    return nn.Sequential(*parts), last or width


def cnn(net, size):
    body, width = trunk(net)
    return nn.Sequential(body, pooled_head(width)), image(size)


def dpn68(size):
    body, width = dual_path(10, [(3, 64, 128, 16, 1), (4, 128, 256, 32, 2), (12, 256, 512, 32, 2),
                                 (3, 512, 1024, 64, 2)])
    return nn.Sequential(conv(3, 10, 3, 2), nn.MaxPool2d(3, 2, 1), body, nn.BatchNorm2d(width),
                         nn.ReLU(), pooled_head(width)), image(size)


def convnext(size, depths, width):
    counts = [int(n) for n in depths.split("+")]
    widths = [width * 2 ** i for i in range(4)]
    rows = [CNBlockConfig(w, following, n)
            for w, following, n in zip(widths, [*widths[1:], None], counts)]
    return ConvNeXt(rows), image(size)


# Transformers of images.

def vision_transformer(size, patch, width, depth, heads, extra=1):
    """DeiT with its class and distillation token (extra=2); without tokens it pools."""
    tokens = (size // patch) ** 2
    pick = Do(lambda x: x[:, 0]) if extra else Do(lambda x: x.mean(1))
    return nn.Sequential(
        nn.Conv2d(3, width, patch, patch), to_tokens(), Learned(tokens, width, extra),
        *(transformer(width, heads) for _ in range(depth)),
        nn.LayerNorm(width), pick, nn.Linear(width, 1000)), image(size)


def pit(size, width, depths, heads):
    """PiT: depthwise convolutions pool the tokens between its three stages."""
    side = (size - 16) // 8 + 1
    parts = [nn.Conv2d(3, width, 16, 8), to_tokens(), Learned(side * side, width)]
    for stage, depth in enumerate(map(int, depths.split("+"))):
        parts += [transformer(width, heads) for _ in range(depth)]
        if stage < 2:
            parts += [to_map(side), nn.Conv2d(width, 2 * width, 3, 2, 1, groups=width), to_tokens()]
            side, width, heads = (side + 1) // 2, 2 * width, 2 * heads
    return nn.Sequential(*parts, nn.LayerNorm(width), Do(lambda x: x.mean(1)),
                         nn.Linear(width, 1000)), image(size)


def poolformer(size, widths, depths):
    """Average pooling instead of attention; a group normalisation over all channels."""
    def block(width):
        return nn.Sequential(
            Add(nn.Sequential(nn.GroupNorm(1, width),
                              Add(nn.AvgPool2d(3, 1, 1, count_include_pad=False),
                                  Do(lambda x: -x)))),
            Add(nn.Sequential(nn.GroupNorm(1, width), nn.Conv2d(width, 4 * width, 1), nn.GELU(),
                              nn.Conv2d(4 * width, width, 1))))
    parts, inputs = [], 3
    for i, (width, depth) in enumerate(zip(map(int, widths.split("+")),
                                           map(int, depths.split("+")))):
        parts += [nn.Conv2d(inputs, width, 7, 4, 2) if i == 0
                  else nn.Conv2d(inputs, width, 3, 2, 1), *(block(width) for _ in range(depth))]
        inputs = width
    return nn.Sequential(*parts, nn.GroupNorm(1, inputs), pooled_head(inputs)), image(size)


PYRAMIDS = {
    # widths, depths, heads, reduction of keys and values, patch of the first layer and its stride
    "pvt_tiny": ((64, 128, 320, 512), (2, 2, 2, 2), (1, 2, 5, 8), (8, 4, 2, 1), 4),
    "mit_b0": ((32, 64, 160, 256), (2, 2, 2, 2), (1, 2, 5, 8), (8, 4, 2, 1), 7),
}


def pyramid_stages(net, size):
    """Stages of PVT and of the encoder of SegFormer: maps, each half as large."""
    widths, depths, heads, shrinks, first = PYRAMIDS[net]
    inputs, side, stages = 3, size // 4, []
    for i, width in enumerate(widths):
        kernel, stride = (first, 4) if i == 0 else ((2, 2) if first == 4 else (3, 2))
        patch = nn.Conv2d(inputs, width, kernel, stride, 0 if first == 4 else kernel // 2)
        parts = [patch, to_tokens(), Learned(side * side, width) if first == 4
                 else nn.LayerNorm(width)]
        for _ in range(depths[i]):
            parts.append(Add(nn.Sequential(nn.LayerNorm(width),
                                           Attention(width, heads[i], joint=False,
                                                     shrink=shrinks[i], side=side))))
            hidden = 8 * width if first == 4 and i < 2 else 4 * width
            local = [to_map(side), nn.Conv2d(hidden, hidden, 3, 1, 1, groups=hidden),
                     to_tokens()] if first != 4 else []
            parts.append(Add(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), *local,
                                           nn.GELU(), nn.Linear(hidden, width))))
        stages.append(nn.Sequential(*parts, nn.LayerNorm(width), to_map(side)))
        inputs, side = width, side // 2
    return stages, widths


def pvt(size):
    stages, widths = pyramid_stages("pvt_tiny", size)
    return nn.Sequential(*stages, pooled_head(widths[-1])), image(size)


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.empty(width)), nn.Parameter(torch.empty(width))

    def forward(self, x):
        return x * self.gamma + self.beta


def transposed(layer):
    return nn.Sequential(Do(lambda x: x.transpose(1, 2)), layer, Do(lambda x: x.transpose(1, 2)))


def resmlp(size, patch, width, depth):
    tokens = (size // patch) ** 2
    blocks = [nn.Sequential(Add(nn.Sequential(Affine(width),
                                              transposed(nn.Linear(tokens, tokens)))),
                            Add(nn.Sequential(Affine(width),
                                              linears((width, 4 * width, width),
                                                      "gelu")))) for _ in range(depth)]
    return nn.Sequential(nn.Conv2d(3, width, patch, patch), to_tokens(), *blocks, Affine(width),
                         Do(lambda x: x.mean(1)),
                         nn.Linear(width, 1000)), image(size)


class SpatialGate(nn.Module):
    """Half of the channels times a product of the other half over the tokens (gMLP)."""

    def __init__(self, tokens, width):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(width // 2), nn.Linear(tokens, tokens)

    def forward(self, x):
        value, gate = x.chunk(2, 2)
        return value * self.mix(self.norm(gate).transpose(1, 2)).transpose(1, 2)


def gmlp_blocks(tokens, width, hidden, depth):
    return [Add(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), nn.GELU(),
                              SpatialGate(tokens, hidden),
                              nn.Linear(hidden // 2, width))) for _ in range(depth)]


def gmlp(size, patch, width, hidden, depth):
    tokens = (size // patch) ** 2
    return nn.Sequential(nn.Conv2d(3, width, patch, patch), to_tokens(),
                         *gmlp_blocks(tokens, width, hidden, depth), nn.LayerNorm(width),
                         Do(lambda x: x.mean(1)), nn.Linear(width, 1000)), image(size)


class Perceiver(nn.Module):
    """A few latent rows that look at all pixels, then at themselves, again and again."""

    def __init__(self, pixels, latents, width, depth, times):
        super().__init__()
        self.latents = nn.Parameter(torch.empty(1, latents, width))
        self.places = nn.Parameter(torch.empty(1, pixels, 61))
        self.enter, self.times = nn.Linear(64, width), times
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.cross = Attention(width, 1, joint=False)
        self.blocks = nn.Sequential(*(transformer(width, 8) for _ in range(depth)))
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        seen = self.norms[1](self.enter(torch.cat([x.flatten(2).transpose(1, 2), self.places], 2)))
        x = self.latents
        for _ in range(self.times):
            x = self.blocks(x + self.cross(self.norms[0](x), seen))
        return self.head(x.mean(1))


def perceiver(size, latents, width, depth, times):
    return Perceiver(size * size, latents, width, depth, times), image(size)


def lcnet(size):
    """PP-LCNet: separable convolutions with hard swish, the last ones larger and gated."""
    rows = [(1, 32, 1), (1, 64, 2), (1, 64, 1), (1, 128, 2), (1, 128, 1), (1, 256, 2),
            *[(1, 256, 1, 5)] * 5]
    body, width = chain(16, [(*row, 3, "hswish") if len(row) == 3 else (*row, "hswish")
                             for row in rows], separable)
    gated = [nn.Sequential(conv(i, i, 5, s, "hswish", i),
                           squeeze_excite(i, i // 4, "relu", "hsigmoid"),
                           conv(i, 512, 1, act="hswish")) for i, s in ((width, 2), (512, 1))]
    return nn.Sequential(conv(3, 16, 3, 2, "hswish"), body, *gated, nn.AdaptiveAvgPool2d(1),
                         nn.Conv2d(512, 1280, 1), nn.Hardswish(), nn.Flatten(),
                         nn.Linear(1280, 1000)), image(size)


class MobileVitBlock(nn.Module):
    """A transformer over patches of 2 x 2 between convolutions."""

    def __init__(self, width, inner, depth, act="silu"):
        super().__init__()
        self.before = nn.Sequential(conv(width, width, act=act),
                                    nn.Conv2d(width, inner, 1, bias=False))
        self.blocks = nn.Sequential(*(transformer(inner, 4, 2 * inner, act) for _ in range(depth)),
                                    nn.LayerNorm(inner))
        self.after, self.merge = conv(inner, width, 1, act=act), conv(2 * width, width, act=act)

    def forward(self, x):
        y = self.before(x)
        batch, width, height, length = y.shape
        y = y.view(batch * width, height // 2, 2, length // 2,
                   2).permute(2, 4, 0, 1, 3).reshape(4 * batch, width, height * length // 4)
        y = self.blocks(y.transpose(1, 2)).transpose(1, 2)
        y = y.reshape(2, 2, batch * width, height // 2,
                      length // 2).permute(2, 3, 0, 4, 1).reshape(batch, width, height, length)
        return self.merge(torch.cat([x, self.after(y)], 1))


MOBILEVITS = {  # rows of inverted residuals before each transformer, the width inside it
    "xxs": (2, ((16, 24), (48, 64), (64, 80), (80, 96)), 320),
    "xs": (4, ((32, 48), (64, 96), (80, 120), (96, 144)), 384),
}


def mobilevit(size, variant):
    expand, ((first, second), *stages), last = MOBILEVITS[variant]
    parts = [conv(3, 16, 3, 2, "silu"), inverted(16, first, 1, expand, act="silu"),
             chain(first, [(3, second, 2, expand, 3, 0, "silu")], inverted)[0]]
    inputs = second
    for (width, inner), depth in zip(stages, (2, 4, 3)):
        parts += [inverted(inputs, width, 2, expand, act="silu"),
                  MobileVitBlock(width, inner, depth)]
        inputs = width
    return nn.Sequential(*parts, conv(inputs, last, 1, act="silu"), pooled_head(last)), image(size)


def high_resolution(size, width, classes=1000):
    """HRNet-small: parallel branches at four resolutions that exchange what they find."""
    def exchange(count):
        def path(source, target):
            if source == target:
                return nn.Identity()
            if source > target:
                return nn.Sequential(conv(width << source, width << target, 1, act=""),
                                     nn.Upsample(scale_factor=2 ** (source - target)))
            steps = [conv(width << source, width << (target if i == target - source - 1
                                                     else source), 3, 2,
                          "" if i == target - source - 1
                          else "relu") for i in range(target - source)]
            return nn.Sequential(*steps)
        return [[path(source, target) for source in range(count)] for target in range(count)]
    return HighResolution(width, exchange, classes), image(size)


class HighResolution(nn.Module):
    def __init__(self, width, exchange, classes):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 64, 3, 2), conv(64, 64, 3, 2), bottleneck(64, 128, 1))
        self.enter = nn.ModuleList([conv(128, width),
                                    *(conv(128 if i == 0 else width << i, width << (i + 1), 3, 2)
                                      for i in range(3))])
        self.branches = nn.ModuleList(
            nn.ModuleList(nn.Sequential(basic(width << i, width << i, 1),
                                        basic(width << i, width << i, 1))
                                                    for i in range(count)) for count in (2, 3, 4))
        self.paths = nn.ModuleList(nn.ModuleList(nn.ModuleList(row) for row in exchange(count))
                                   for count in (2, 3, 4))
        self.widen = nn.ModuleList(bottleneck(width << i, 128 << i, 1) for i in range(4))
        self.down = nn.ModuleList(conv(128 << i, 256 << i, 3, 2) for i in range(3))
        self.head = nn.Sequential(conv(1024, 2048, 1), pooled_head(2048, classes))

    def forward(self, x):
        x = self.stem(x)
        maps = [self.enter[0](x), self.enter[1](x)]
        for stage, (branches, paths) in enumerate(zip(self.branches, self.paths)):
            if stage > 0:
                maps.append(self.enter[stage + 1](maps[-1]))
            maps = [branch(m) for branch, m in zip(branches, maps)]
            maps = [torch.relu(sum(path(m) for path, m in zip(row, maps))) for row in paths]
        y = self.widen[0](maps[0])
        for i, layer in enumerate(self.down):
            y = self.widen[i + 1](maps[i + 1]) + layer(y)
        return self.head(y)


BUILDERS = {f.__name__: f for f in (
    cnn, peleenet, xception, darknet, nin, wide_resnet_cifar, convmixer, mobilenet_v1_scaled,
    mobilefacenet, dpn68, convnext,
    vision_transformer, pit, poolformer, pvt, resmlp, gmlp, perceiver, lcnet, mobilevit,
    high_resolution)}
