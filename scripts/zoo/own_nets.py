# SPDX-License-Identifier: Apache-2.0
"""Networks of common families that torchvision does not hold: text, speech, sequences and small vision."""

import math

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Multi-head attention in plain operators. With `memory` the keys and values come from there."""

    def __init__(self, width, heads, causal_length=0):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.causal = causal_length > 0
        if self.causal:
            self.register_buffer("mask", torch.full((causal_length, causal_length), -1e4).triu(1))

    def split(self, x):
        return x.view(1, x.shape[1], self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        query, key, value = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        if self.causal:
            scores = scores + self.mask
        mixed = scores.softmax(3) @ value
        return self.out(mixed.transpose(1, 2).reshape(1, x.shape[1], -1))


class Block(nn.Module):
    """A transformer block: normalisation after the sum as in BERT, or before it as in GPT."""

    def __init__(self, width, heads, norm_first, causal_length=0, cross=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = Attention(width, heads, causal_length)
        self.cross = Attention(width, heads) if cross else None
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))

    def add(self, i, layer, x, *memory):
        norm = self.norms[i]
        return x + layer(norm(x), *memory) if self.norm_first else norm(x + layer(x, *memory))

    def forward(self, x, memory=None):
        x = self.add(0, self.attention, x)
        if self.cross is not None:
            x = self.add(1, self.cross, x, memory)
        return self.add(len(self.norms) - 1, self.mlp, x)


class Embedding(nn.Module):
    def __init__(self, vocabulary, length, width):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.empty(1, length, width))

    def forward(self, tokens):
        return self.tokens(tokens) + self.positions


class Bert(nn.Module):
    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        self.embedding = Embedding(vocabulary, length, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(Block(width, heads, norm_first=False) for _ in range(layers)))
        self.pooler = nn.Linear(width, width)
        self.classifier = nn.Linear(width, 2)

    def forward(self, tokens):
        x = self.blocks(self.norm(self.embedding(tokens)))
        return self.classifier(self.pooler(x[:, 0]).tanh())


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        self.embedding = Embedding(vocabulary, length, width)
        self.blocks = nn.Sequential(*(Block(width, heads, norm_first=True, causal_length=length) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


class Translator(nn.Module):
    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        self.source, self.target = Embedding(vocabulary, length, width), Embedding(vocabulary, length, width)
        self.encoder = nn.Sequential(*(Block(width, heads, norm_first=True) for _ in range(layers)))
        self.decoder = nn.ModuleList(
            Block(width, heads, norm_first=True, causal_length=length, cross=True) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source, target):
        memory = self.encoder(self.source(source))
        x = self.target(target)
        for block in self.decoder:
            x = block(x, memory)
        return self.head(x)


class MixerBlock(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norm_tokens, self.norm_channels = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm_tokens(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm_channels(x))


class MlpMixer(nn.Module):
    def __init__(self, size, patch, layers, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock((size // patch) ** 2, width) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(1))


class LstmTagger(nn.Module):
    def __init__(self, width, layers, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, bidirectional=True)
        self.head = nn.Linear(2 * width, 24)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


class GruSpeech(nn.Module):
    def __init__(self, features, width, layers):
        super().__init__()
        self.gru = nn.GRU(features, width, layers)
        self.head = nn.Linear(width, 32)

    def forward(self, x):
        return self.head(self.gru(x)[0]).log_softmax(-1)


def conv_norm(inputs, outputs, kernel, stride=1, groups=1, act=True):
    """Convolution that keeps the size, normalisation and, if asked, ReLU."""
    padding = tuple(k // 2 for k in kernel) if isinstance(kernel, tuple) else kernel // 2
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU()] if act else []))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(conv_norm(inputs, outputs, 3, stride), conv_norm(outputs, outputs, 3, act=False))
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride, act=False)

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


class Unet(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        widths = [width * 2 ** i for i in range(levels)]
        self.down = nn.ModuleList(
            nn.Sequential(conv_norm(a, b, 3), conv_norm(b, b, 3)) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(nn.Sequential(conv_norm(2 * a, a, 3), conv_norm(a, a, 3)) for a in widths[:-1])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else functional.max_pool2d(x, 2))
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.merge[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.head(x)


class TemporalBlock(nn.Module):
    """Two dilated causal convolutions with a residual."""

    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.padding = 2 * dilation
        self.convs = nn.ModuleList(nn.Conv1d(c, outputs, 3, dilation=dilation) for c in (inputs, outputs))
        self.shortcut = nn.Identity() if inputs == outputs else nn.Conv1d(inputs, outputs, 1)

    def forward(self, x):
        y = x
        for conv in self.convs:
            y = functional.relu(conv(functional.pad(y, (self.padding, 0))))
        return functional.relu(y + self.shortcut(x))


def image(size, channels=3):
    return {"input": torch.randn(1, channels, size, size)}


def tokens(length, vocabulary, name="tokens"):
    return {name: torch.randint(0, vocabulary, (1, length))}


def bert(length, vocabulary, **named):
    return Bert(length=length, vocabulary=vocabulary, **named), tokens(length, vocabulary)


def gpt(length, vocabulary, **named):
    return Gpt(length=length, vocabulary=vocabulary, **named), tokens(length, vocabulary)


def translator(length, vocabulary, **named):
    inputs = {**tokens(length, vocabulary, "source"), **tokens(length, vocabulary, "target")}
    return Translator(length=length, vocabulary=vocabulary, **named), inputs


def mlp_mixer(size, **named):
    return MlpMixer(size, **named), image(size)


def lstm_tagger(length, vocabulary, **named):
    return LstmTagger(vocabulary=vocabulary, **named), {"tokens": torch.randint(0, vocabulary, (length, 1))}


def gru_speech(length, features, **named):
    return GruSpeech(features, **named), {"frames": torch.randn(length, 1, features)}


def mlp(features, width, layers, classes):
    widths = [features] + [width] * layers
    hidden = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, classes)), {"input": torch.randn(1, features)}


def resnet_cifar(size, blocks):
    parts, inputs = [conv_norm(3, 16, 3)], 16
    for i, outputs in enumerate((16, 32, 64)):
        for j in range(blocks):
            parts.append(Residual(inputs, outputs, 2 if i > 0 and j == 0 else 1))
            inputs = outputs
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)), image(size)


def lenet(size):
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(16 * ((size // 2 - 4) // 2) ** 2, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
        nn.Linear(84, 10)), image(size, 1)


def ds_cnn(frames, features, width):
    parts = [nn.Conv2d(1, width, (10, 4), 2, (5, 1), bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    for _ in range(4):
        parts += [conv_norm(width, width, 3, groups=width), conv_norm(width, width, 1)]
    model = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 12))
    return model, {"features": torch.randn(1, 1, frames, features)}


def mobilenet_v1(size):
    """Its blocks as (results, stride) of the convolution over all channels and of the depthwise one before it."""
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    parts, inputs = [conv_norm(3, 32, 3, 2)], 32
    for outputs, stride in blocks:
        parts += [conv_norm(inputs, inputs, 3, stride, inputs), conv_norm(inputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)), image(size)


def unet(size, **named):
    return Unet(**named), image(size)


def tcn(length, features, width, levels):
    blocks = [TemporalBlock(features if i == 0 else width, width, 2 ** i) for i in range(levels)]
    return nn.Sequential(*blocks, nn.Conv1d(width, 8, 1)), {"input": torch.randn(1, features, length)}


def espcn(size, scale):
    return nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
        nn.Conv2d(32, scale * scale, 3, padding=1), nn.PixelShuffle(scale)), image(size, 1)


BUILDERS = {f.__name__: f for f in (bert, gpt, translator, mlp_mixer, lstm_tagger, gru_speech, mlp, resnet_cifar, lenet,
                                    ds_cnn, mobilenet_v1, unet, tcn, espcn)}


def build(builder, **arguments):
    """The network and its named inputs."""
    return BUILDERS[builder](**arguments)
