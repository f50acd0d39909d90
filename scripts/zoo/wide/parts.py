# SPDX-License-Identifier: Apache-2.0
"""What the networks of the set `wide` are put together from: combinators, convolutions, attention,
inputs."""

import math

import torch
from torch import nn
from torch.nn import functional

ACTIVATIONS = {
    "": nn.Identity, "relu": nn.ReLU, "relu6": nn.ReLU6, "silu": nn.SiLU, "hswish": nn.Hardswish,
    "hsigmoid": nn.Hardsigmoid, "leaky": lambda: nn.LeakyReLU(0.1), "prelu": nn.PReLU,
    "gelu": nn.GELU,
    "elu": nn.ELU, "mish": nn.Mish, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "softplus": nn.Softplus,
}


class TanhGelu(nn.Module):
    """GELU by its approximation, as GPT-2 and ALBERT have it."""

    def forward(self, x):
        return 0.5 * x * (
            1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


ACTIVATIONS.update(tanh_gelu=TanhGelu, selu=nn.SELU)


class Do(nn.Module):
    """A function as a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Add(nn.Module):
    """The sum of a body and a shortcut (the input itself if there is none), and an activation."""

    def __init__(self, body, shortcut=None, act=""):
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut or nn.Identity(), ACTIVATIONS[act]()

    def forward(self, x):
        return self.act(self.body(x) + self.shortcut(x))


class Cat(nn.Module):
    """The results of all branches side by side."""

    def __init__(self, *branches, dim=1):
        super().__init__()
        self.branches, self.dim = nn.ModuleList(branches), dim

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], self.dim)


class Sum(nn.Module):
    """The sum of all branches, as architectures with several paths need it."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return sum(branch(x) for branch in self.branches)


class Gate(nn.Module):
    """The input, or what `value` makes of it, times a gate computed from the input."""

    def __init__(self, gate, value=None):
        super().__init__()
        self.gate, self.value = gate, value or nn.Identity()

    def forward(self, x):
        return self.value(x) * self.gate(x)


class Taps(nn.Module):
    """Stages in a row; gives the results of those listed in `keep` (all without it)."""

    def __init__(self, stages, keep=None):
        super().__init__()
        self.stages = nn.ModuleList(stages)
        self.keep = range(len(stages)) if keep is None else keep

    def forward(self, x):
        kept = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i in self.keep:
                kept.append(x)
        return kept


class Heads(nn.Module):
    """A trunk with several results and a head for each."""

    def __init__(self, trunk, heads):
        super().__init__()
        self.trunk, self.heads = trunk, nn.ModuleList(heads)

    def forward(self, *inputs):
        return tuple(head(x) for head, x in zip(self.heads, self.trunk(*inputs)))


def calm(layer, gain):
    """Smaller weights for a branch that is added again and again: training keeps such sums
    bounded."""
    for module in layer.modules():
        if isinstance(module, nn.Conv2d):
            module.gain = gain
    return layer


def conv(inputs, outputs, kernel=3, stride=1, act="relu", groups=1, dilation=1, norm=True):
    """A convolution that keeps the size but for its stride, normalisation (a bias without it),
    activation."""
    kernels = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    padding = tuple(dilation * (k - 1) // 2 for k in kernels)
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, groups, bias=not norm)]
    return nn.Sequential(*layers, *([nn.BatchNorm2d(outputs)] if norm else []),
                         *([ACTIVATIONS[act]()] if act else []))


def conv1(inputs, outputs, kernel=3, stride=1, act="relu", groups=1, dilation=1, norm=True):
    """The same over one axis."""
    layers = [nn.Conv1d(inputs, outputs, kernel, stride, dilation * (kernel - 1) // 2, dilation,
                        groups, bias=not norm)]
    return nn.Sequential(*layers, *([nn.BatchNorm1d(outputs)] if norm else []),
                         *([ACTIVATIONS[act]()] if act else []))


def depthwise(inputs, outputs, kernel=3, stride=1, act="relu", dilation=1, norm=True):
    """A depthwise convolution and one over all channels, each followed by the activation."""
    return nn.Sequential(conv(inputs, inputs, kernel, stride, act, inputs, dilation, norm),
                         conv(inputs, outputs, 1, 1, act, norm=norm))


def chain(inputs, rows, block):
    """Blocks of rows (repeats, width, stride, ...), the stride in the first; and the width of the
    last."""
    parts = []
    for repeats, width, stride, *rest in rows:
        for i in range(repeats):
            parts.append(block(inputs, width, stride if i == 0 else 1, *rest))
            inputs = width
    return nn.Sequential(*parts), inputs


def squeeze_excite(width, hidden, act="relu", gate="sigmoid"):
    return Gate(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, hidden, 1),
                              ACTIVATIONS[act](),
                              nn.Conv2d(hidden, width, 1), ACTIVATIONS[gate]()))


def pooled_head(width, classes=1000):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


def up(scale=2, mode="nearest"):
    return nn.Upsample(scale_factor=scale, mode=mode, align_corners=False if mode == "bilinear"
                       else None)


def shuffle_channels(groups):
    def shuffle(x):
        batch, width, height, length = x.shape
        return x.view(batch, groups, width // groups, height,
                      length).transpose(1, 2).reshape(batch, width, height, length)
    return Do(shuffle)


def linears(widths, act="relu", last=""):
    """Fully connected layers of these widths with an activation between them, and `last` after
    them."""
    parts = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        parts += [nn.Linear(a, b), ACTIVATIONS[act if i + 2 < len(widths) else last]()]
    return nn.Sequential(*parts)


class Attention(nn.Module):
    """Multi-head attention over (batch, tokens, width).

    joint: queries, keys and values by one product, as vision transformers have it. shrink: keys and
    values of a map of `side` by `side` tokens reduced by a strided convolution (PVT, SegFormer).
    bias: a learned one for each pair.
    """

    def __init__(self, width, heads, joint=True, shrink=1, side=0, bias=0, causal=0, biased=True):
        super().__init__()
        self.heads, self.joint, self.shrink, self.side = heads, joint, shrink, side
        if joint:
            self.mix = nn.Linear(width, 3 * width, bias=biased)
        else:
            self.query = nn.Linear(width, width, bias=biased)
            self.pairs = nn.Linear(width, 2 * width, bias=biased)
        if shrink > 1:
            self.reduce, self.norm = nn.Conv2d(width, width, shrink, shrink), nn.LayerNorm(width)
        self.out = nn.Linear(width, width, bias=biased)
        self.bias = nn.Parameter(torch.empty(1, heads, bias, bias)) if bias else None
        self.causal = causal > 0
        if self.causal:
            self.register_buffer("future", torch.full((causal, causal), -1e4).triu(1))

    def split(self, x, parts):
        batch, tokens, width = x.shape
        return x.view(batch, tokens, parts, self.heads,
                      width // parts // self.heads).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x, memory=None, mask=None):
        batch, tokens, width = x.shape
        if self.joint:
            query, key, value = self.split(self.mix(x), 3)
        else:
            memory = x if memory is None else memory
            if self.shrink > 1:
                memory = memory.transpose(1, 2).reshape(batch, width, self.side, self.side)
                memory = self.norm(self.reduce(memory).flatten(2).transpose(1, 2))
            (query,), (key, value) = self.split(self.query(x), 1), self.split(self.pairs(memory), 2)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        if self.bias is not None:
            scores = scores + self.bias
        if self.causal:
            scores = scores + self.future
        if mask is not None:
            scores = scores + mask
        return self.out((scores.softmax(3) @ value).transpose(1, 2).reshape(batch, tokens, width))


def transformer(width, heads, hidden=0, act="gelu", **attention):
    """A block that normalises first."""
    return nn.Sequential(
        Add(nn.Sequential(nn.LayerNorm(width), Attention(width, heads, **attention))),
        Add(nn.Sequential(nn.LayerNorm(width), linears((width, hidden or 4 * width, width), act))))


def normalised_after(width, heads, act="gelu"):
    """A block that normalises after each sum, as BERT does."""
    return nn.Sequential(Add(Attention(width, heads)), nn.LayerNorm(width),
                         Add(linears((width, 4 * width, width), act)), nn.LayerNorm(width))


def to_tokens():
    return Do(lambda x: x.flatten(2).transpose(1, 2))


def to_map(side):
    return Do(lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], side, side))


class Learned(nn.Module):
    """Adds learned positions, after a class token if asked."""

    def __init__(self, tokens, width, extra=0):
        super().__init__()
        self.extra = nn.Parameter(torch.empty(1, extra, width)) if extra else None
        self.positions = nn.Parameter(torch.empty(1, tokens + extra, width))

    def forward(self, x):
        if self.extra is not None:
            x = torch.cat([self.extra, x], 1)
        return x + self.positions


def image(size, channels=3, batch=1, width=0):
    return {"input": torch.randn(batch, channels, size, width or size)}


def signal(channels, length):
    return {"input": torch.randn(1, channels, length)}


def numbers(count, high, name="tokens", batch=1):
    return {name: torch.randint(0, high, (batch, count))}


def pad_left(amount):
    return Do(lambda x: functional.pad(x, (amount, 0)))
