# SPDX-License-Identifier: Apache-2.0
"""Networks of sequences and points: speech, sound, sensors, forecasts, point clouds, graphs,
policies."""

import torch
from torch import nn
from torch.nn import functional

from .parts import (Add, Attention, Do, Gate, Heads, Learned, Sum, conv, conv1, image, linears,
                    pad_left, signal, transformer)


class Last(nn.Module):
    """The results of a recurrent layer: of all steps, or of the last."""

    def __init__(self, layer, last=False):
        super().__init__()
        self.layer, self.last = layer, last

    def forward(self, x):
        x = self.layer(x)[0]
        return x[-1] if self.last else x


def steps_first():
    """From (1, channels, length) to (length, 1, channels), as recurrent layers have it."""
    return Do(lambda x: x.permute(2, 0, 1))


# Speech.

def conformer_block(width, heads, kernel, length):
    feed = lambda: Add(nn.Sequential(nn.LayerNorm(width),
                                     linears((width, 4 * width, width), "silu"),
                                     Do(lambda x: 0.5 * x)))
    convolution = nn.Sequential(
        nn.LayerNorm(width), Do(lambda x: x.transpose(1, 2)), nn.Conv1d(width, 2 * width, 1),
        nn.GLU(1),
        nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width), nn.BatchNorm1d(width),
        nn.SiLU(), nn.Conv1d(width, width, 1), Do(lambda x: x.transpose(1, 2)))
    return nn.Sequential(feed(), Add(nn.Sequential(nn.LayerNorm(width),
                                                   Attention(width, heads, bias=length))),
                         Add(convolution), feed(), nn.LayerNorm(width))


def conformer(frames, features, width, layers, heads):
    length, rest = (frames // 2) // 2, (features // 2) // 2
    stem = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1),
                         nn.ReLU(), Do(lambda x: x.transpose(1, 2).flatten(2)))
    return nn.Sequential(stem, nn.Linear(width * rest, width),
                         *(conformer_block(width, heads, 31, length) for _ in range(layers)),
                         nn.Linear(width, 128),
                         nn.LogSoftmax(2)), {"frames": torch.randn(1, 1, frames, features)}


def deepspeech(frames, features, width, layers):
    """DeepSpeech 2: two convolutions of the spectrogram, bidirectional recurrent layers."""
    stem = nn.Sequential(nn.Conv2d(1, 32, (11, 41), 2, (5, 20)), nn.BatchNorm2d(32),
                         nn.Hardtanh(0, 20), nn.Conv2d(32, 32, (11, 21), (1, 2), (5, 10)),
                         nn.BatchNorm2d(32),
                         nn.Hardtanh(0, 20), Do(lambda x: x.permute(2, 0, 1, 3).flatten(2)))
    inputs = 32 * ((features + 3) // 4)
    recurrent = [Last(nn.GRU(inputs if i == 0 else 2 * width, width, bidirectional=True))
                 for i in range(layers)]
    return nn.Sequential(stem, *recurrent, nn.Linear(2 * width, 29),
                         nn.LogSoftmax(2)), {"frames": torch.randn(1, 1, frames, features)}


def separable1(inputs, outputs, kernel, act="relu", stride=1):
    pad = kernel // 2
    return nn.Sequential(nn.Conv1d(inputs, inputs, kernel, stride, pad, groups=inputs, bias=False),
                         conv1(inputs, outputs, 1, act=act))


def quartznet(frames, features, rows, repeats):
    """Blocks of separable convolutions over time with a residual; rows as width:kernel, joined by
    "+"."""
    parts, inputs = [separable1(features, 256, 33, stride=2)], 256
    for width, kernel in (map(int, row.split(":")) for row in rows.split("+")):
        body = [separable1(inputs if i == 0 else width, width, kernel, "" if i + 1 == repeats
                           else "relu") for i in range(repeats)]
        parts.append(Add(nn.Sequential(*body), conv1(inputs, width, 1, act=""), "relu"))
        inputs = width
    return nn.Sequential(*parts, separable1(inputs, 512, 87), conv1(512, 1024, 1),
                         nn.Conv1d(1024, 29, 1),
                         Do(lambda x: x.log_softmax(1))), signal(features, frames)


def matchboxnet(frames, features, width):
    parts = [separable1(features, 128, 11, stride=2)]
    inputs = 128
    for kernel in (13, 15, 17):
        body = [separable1(inputs if i == 0 else width, width, kernel, "" if i == 1 else "relu")
                for i in range(2)]
        parts.append(Add(nn.Sequential(*body), conv1(inputs, width, 1, act=""), "relu"))
        inputs = width
    return nn.Sequential(*parts, conv1(width, 128, 29, dilation=2), conv1(128, 128, 1),
                         nn.Conv1d(128, 30, 1), nn.AdaptiveAvgPool1d(1),
                         nn.Flatten()), signal(features, frames)


def wav2letter(frames, features, width):
    return nn.Sequential(conv1(features, width, 11, 2, norm=False),
                         *(conv1(width, width, 7, norm=False) for _ in range(7)),
                         conv1(width, 4 * width, 33, norm=False),
                         conv1(4 * width, 4 * width, 1, norm=False),
                         nn.Conv1d(4 * width, 29, 1)), signal(features, frames)


class Broadcast(nn.Module):
    """BC-ResNet: a residual over frequencies, and one over time of their mean, added to every
    frequency."""

    def __init__(self, inputs, outputs, stride, dilation):
        super().__init__()
        self.enter = conv(inputs, outputs, 1) if inputs != outputs else nn.Identity()
        self.same = inputs == outputs and stride == 1
        self.rows = nn.Sequential(nn.Conv2d(outputs, outputs, (3, 1), (stride, 1), (1, 0),
                                            groups=outputs, bias=False), nn.BatchNorm2d(outputs))
        self.columns = nn.Sequential(nn.Conv2d(outputs, outputs, (1, 3), 1, (0, dilation),
                                               (1, dilation), groups=outputs, bias=False),
                                     nn.BatchNorm2d(outputs), nn.SiLU(),
                                     nn.Conv2d(outputs, outputs, 1, bias=False))

    def forward(self, x):
        y = self.rows(self.enter(x))
        found = y + self.columns(y.mean(2, keepdim=True))
        return (found + x if self.same else found).relu()


def bc_resnet(frames, features, factor):
    w = [int(n * factor) for n in (16, 8, 12, 16, 20, 32)]
    parts = [nn.Conv2d(1, w[0], 5, (2, 1), 2, bias=False), nn.BatchNorm2d(w[0]), nn.ReLU()]
    inputs = w[0]
    for width, repeats, stride, dilation in zip(w[1:5], (2, 2, 4, 4), (1, 2, 2, 1), (1, 2, 4, 8)):
        for i in range(repeats):
            parts.append(Broadcast(inputs, width, stride if i == 0 else 1, dilation))
            inputs = width
    return nn.Sequential(*parts, nn.Conv2d(inputs, inputs, 5, padding=(0, 2), groups=inputs),
                         nn.Conv2d(inputs, w[5], 1), nn.BatchNorm2d(w[5]), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Conv2d(w[5], 12, 1),
                         nn.Flatten()), {"frames": torch.randn(1, 1, features, frames)}


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates; every layer also adds to the result."""

    def __init__(self, width, layers, stacks):
        super().__init__()
        self.enter = nn.Conv1d(1, width, 1)
        dilations = [2 ** i for _ in range(stacks) for i in range(layers)]
        self.filters, self.gates = (nn.ModuleList(nn.Sequential(pad_left(d),
                                                                nn.Conv1d(
            width, width, 2, dilation=d)) for d in dilations) for _ in range(2))
        self.stay, self.leave = (nn.ModuleList(nn.Conv1d(width, width, 1) for _ in dilations)
                                 for _ in range(2))
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(),
                                  nn.Conv1d(width, 256, 1))

    def forward(self, x):
        x, total = self.enter(x), 0
        for part, gate, stay, leave in zip(self.filters, self.gates, self.stay, self.leave):
            y = part(x).tanh() * gate(x).sigmoid()
            total = total + leave(y)
            x = x + stay(y)
        return self.head(total)


def wavenet(length, width, layers, stacks):
    return WaveNet(width, layers, stacks), signal(1, length)


def statistics_pool():
    """Mean and spread over time."""
    def pool(x):
        mean = x.mean(2, keepdim=True)
        return torch.cat([mean.squeeze(2), ((x - mean) ** 2).mean(2).clamp(min=1e-5).sqrt()], 1)
    return Do(pool)


def xvector(frames, features, width):
    rows = [(width, 5, 1), (width, 3, 2), (width, 3, 3), (width, 1, 1), (1500, 1, 1)]
    parts, inputs = [], features
    for outputs, kernel, dilation in rows:
        parts += [nn.Conv1d(inputs, outputs, kernel, dilation=dilation), nn.ReLU(),
                  nn.BatchNorm1d(outputs)]
        inputs = outputs
    return nn.Sequential(*parts, statistics_pool(),
                         linears((2 * inputs, width, width))), signal(features, frames)


class Ecapa(nn.Module):
    """ECAPA-TDNN: blocks of dilated Res2 convolutions, joined, and attention over time."""

    def __init__(self, features, width):
        super().__init__()
        self.enter = conv1(features, width, 5)
        def block(dilation):
            gate = nn.Sequential(nn.AdaptiveAvgPool1d(1), nn.Conv1d(width, 128, 1), nn.ReLU(),
                                 nn.Conv1d(128, width, 1), nn.Sigmoid())
            return Add(nn.Sequential(conv1(width, width, 1), Sliced(width, dilation),
                                     conv1(width, width, 1), Gate(gate)))
        self.blocks = nn.ModuleList(block(d) for d in (2, 3, 4))
        self.merge = conv1(3 * width, 1536, 1)
        self.attention = nn.Sequential(nn.Conv1d(1536, 128, 1), nn.Tanh(), nn.Conv1d(128, 1536, 1),
                                       nn.Softmax(2))
        self.head = nn.Sequential(nn.BatchNorm1d(3072), nn.Linear(3072, 192))

    def forward(self, x):
        x, found = self.enter(x), []
        for block in self.blocks:
            x = block(x)
            found.append(x)
        x = self.merge(torch.cat(found, 1))
        weights = self.attention(x)
        mean = (weights * x).sum(2)
        return self.head(torch.cat([mean,
                                    ((weights * x * x).sum(2) - mean * mean).clamp(
            min=1e-5).sqrt()], 1))


class Sliced(nn.Module):
    def __init__(self, width, dilation, scale=8):
        super().__init__()
        self.scale = scale
        self.convs = nn.ModuleList(conv1(width // scale, width // scale, 3, dilation=dilation)
                                   for _ in range(scale - 1))

    def forward(self, x):
        first, *rest = x.chunk(self.scale, 1)
        found = [first]
        for i, (layer, part) in enumerate(zip(self.convs, rest)):
            found.append(layer(part if i == 0 else part + found[-1]))
        return torch.cat(found, 1)


def ecapa_tdnn(frames, features, width):
    return Ecapa(features, width), signal(features, frames)


def kws_lstm(frames, features, width, layers):
    """A recurrent network that spots keywords."""
    return nn.Sequential(Last(nn.LSTM(features, width, layers), True), nn.Linear(width, 12),
                         nn.Softmax(1)), {"frames": torch.randn(frames, 1, features)}


def wav2vec(length, width, layers, heads):
    """Strided convolutions of the waveform and a transformer."""
    rows = [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]
    parts, count = [], length
    for i, (kernel, stride) in enumerate(rows):
        parts += [nn.Conv1d(1 if i == 0 else 256, 256, kernel, stride),
                  *([nn.GroupNorm(256, 256)] if i == 0 else []), nn.GELU()]
        count = (count - kernel) // stride + 1
    position = Add(nn.Sequential(Do(lambda x: x.transpose(1, 2)),
                                 nn.Conv1d(width, width, 31, padding=15, groups=16), nn.GELU(),
                                 Do(lambda x: x.transpose(1, 2))))
    return nn.Sequential(*parts, Do(lambda x: x.transpose(1, 2)), nn.LayerNorm(256),
                         nn.Linear(256, width), position, nn.LayerNorm(width),
                         *(transformer(width, heads) for _ in range(layers)),
                         nn.Linear(width, 32)), signal(1, length)


def whisper_encoder(frames, width, layers, heads):
    stem = [nn.Conv1d(80, width, 3, padding=1), nn.GELU(), nn.Conv1d(width, width, 3, 2, 1),
            nn.GELU(), Do(lambda x: x.transpose(1, 2)), Learned(frames // 2, width)]
    return nn.Sequential(*stem, *(transformer(width, heads) for _ in range(layers)),
                         nn.LayerNorm(width)), signal(80, frames)


class RnNoise(nn.Module):
    """Three recurrent layers that each see the features again."""

    def __init__(self, features, widths):
        super().__init__()
        a, b, c = widths
        self.dense, self.voice = nn.Sequential(nn.Linear(features, a), nn.Tanh()), nn.GRU(a, a)
        self.noise, self.gain = nn.GRU(2 * a + features, b), nn.GRU(a + b + features, c)
        self.head = nn.Sequential(nn.Linear(c, 22), nn.Sigmoid())
        self.active = nn.Sequential(nn.Linear(a, 1), nn.Sigmoid())

    def forward(self, x):
        dense = self.dense(x)
        voice = self.voice(dense)[0]
        noise = self.noise(torch.cat([dense, voice, x], 2))[0]
        return self.head(self.gain(torch.cat([voice, noise, x], 2))[0]), self.active(voice)


def rnnoise(frames, features):
    return RnNoise(features, (24, 48, 96)), {"frames": torch.randn(frames, 1, features)}


class TasNet(nn.Module):
    """A learned transform, masks from dilated convolutions, and the way back (Conv-TasNet)."""

    def __init__(self, filters, width, hidden, layers, stacks):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(1, filters, 16, 8), nn.ReLU())
        def unit(d):
            return Add(nn.Sequential(nn.Conv1d(width, hidden, 1), nn.PReLU(),
                                     nn.GroupNorm(1, hidden),
                                     nn.Conv1d(hidden, hidden, 3, padding=d, dilation=d,
                                               groups=hidden),
                                     nn.PReLU(), nn.GroupNorm(1, hidden),
                                     nn.Conv1d(hidden, width, 1)))
        self.masks = nn.Sequential(nn.GroupNorm(1, filters), nn.Conv1d(filters, width, 1),
                                   *(unit(2 ** i) for _ in range(stacks) for i in range(layers)),
                                   nn.PReLU(),
                                   nn.Conv1d(width, 2 * filters, 1), nn.Sigmoid())
        self.decoder = nn.ConvTranspose1d(filters, 1, 16, 8)

    def forward(self, x):
        x = self.encoder(x)
        first, second = self.masks(x).chunk(2, 1)
        return torch.cat([self.decoder(x * first), self.decoder(x * second)], 1)


def conv_tasnet(length, filters, width, hidden, layers, stacks):
    return TasNet(filters, width, hidden, layers, stacks), signal(1, length)


def hifigan(frames, width):
    """A vocoder: transposed convolutions, each followed by residuals of several kernels and
    dilations."""
    parts, inputs = [nn.Conv1d(80, width, 7, padding=3)], width
    for kernel, stride in ((16, 8), (16, 8), (8, 4)):
        outputs = inputs // 2
        residual = lambda k, o=outputs: nn.Sequential(
            *(Add(nn.Sequential(nn.LeakyReLU(0.1),
                                nn.Conv1d(o, o, k, padding=d * (k - 1) // 2, dilation=d)))
              for d in (1, 3)),
                                                      Do(lambda x: x * 0.3))
        parts += [nn.LeakyReLU(0.1), nn.ConvTranspose1d(inputs, outputs, kernel, stride,
                                                        (kernel - stride) // 2),
                  Sum(*(residual(k) for k in (3, 5, 7)))]
        inputs = outputs
    return nn.Sequential(*parts, nn.LeakyReLU(0.1), nn.Conv1d(inputs, 1, 7, padding=3),
                         nn.Tanh()), signal(80, frames)


class Demucs(nn.Module):
    """A U-Net over the waveform with gated convolutions and a recurrent layer in the middle."""

    def __init__(self, width, depth):
        super().__init__()
        widths = [width * 2 ** i for i in range(depth)]
        self.down = nn.ModuleList(nn.Sequential(nn.Conv1d(a, b, 8, 4, 2), nn.ReLU(),
                                                nn.Conv1d(b, 2 * b, 1), nn.GLU(1))
                                  for a, b in zip([1] + widths, widths))
        self.lstm = nn.LSTM(widths[-1], widths[-1], 1)
        self.up = nn.ModuleList(nn.Sequential(nn.Conv1d(b, 2 * b, 1), nn.GLU(1),
                                              nn.ConvTranspose1d(b, a, 8, 4, 2))
                                for a, b in zip([1] + widths, widths))

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
        x = self.lstm(x.permute(2, 0, 1))[0].permute(1, 2, 0)
        for i in reversed(range(len(self.up))):
            x = self.up[i](x + kept[i])
            x = x.relu() if i else x
        return x


def demucs(length, width, depth):
    return Demucs(width, depth), signal(1, length)


def crnn(width, channels):
    """Text in an image: convolutions down to one row, then bidirectional recurrent layers."""
    c = channels
    stem = [conv(1, c), nn.MaxPool2d(2, 2), conv(c, 2 * c), nn.MaxPool2d(2, 2), conv(2 * c, 4 * c),
            conv(4 * c, 4 * c), nn.MaxPool2d((2, 1), (2, 1)), conv(4 * c, 8 * c),
            nn.MaxPool2d((2, 1), (2, 1)),
            nn.Conv2d(8 * c, 8 * c, (2, 1)), nn.ReLU(), Do(lambda x: x.squeeze(2)), steps_first()]
    return nn.Sequential(*stem, Last(nn.LSTM(8 * c, 4 * c, bidirectional=True)),
                         nn.Linear(8 * c, 4 * c), Last(nn.LSTM(4 * c, 4 * c, bidirectional=True)),
                         nn.Linear(8 * c, 37),
                         nn.LogSoftmax(2)), image(32, 1, width=width)


# Sensors and forecasts.

def har_cnn(length, channels, width):
    """Activities from acceleration: convolutions over time, then a recurrent layer."""
    return nn.Sequential(*(part for i in range(4)
                           for part in (nn.Conv1d(channels if i == 0 else width, width, 5),
                                        nn.ReLU())), steps_first(),
                         Last(nn.LSTM(width, 2 * width, 2), True),
                         nn.Linear(2 * width, 6)), signal(channels, length)


def ecg_cnn(length, width, blocks):
    parts, inputs = [conv1(12, width, 17, 2)], width
    for i in range(blocks):
        outputs = width * (1 + i // 2)
        body = nn.Sequential(conv1(inputs, outputs, 17, 2), conv1(outputs, outputs, 17, act=""))
        parts.append(Add(body, nn.Sequential(nn.MaxPool1d(2, 2), conv1(inputs, outputs, 1, act="")),
                         "relu"))
        inputs = outputs
    return nn.Sequential(*parts, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(inputs, 6),
                         nn.Sigmoid()), signal(12, length)


def eegnet(channels, length, filters, depth):
    f, d = filters, depth
    return nn.Sequential(nn.Conv2d(1, f, (1, 64), padding=(0, 32), bias=False), nn.BatchNorm2d(f),
                         nn.Conv2d(f, f * d, (channels, 1), groups=f, bias=False),
                         nn.BatchNorm2d(f * d), nn.ELU(),
                         nn.AvgPool2d((1, 4)), nn.Conv2d(f * d, f * d, (1, 16), padding=(0, 8),
                                                         groups=f * d, bias=False),
                         nn.Conv2d(f * d, f * d, 1, bias=False), nn.BatchNorm2d(f * d), nn.ELU(),
                         nn.AvgPool2d((1, 8)), nn.Flatten(),
                         nn.Linear(f * d * (length // 32),
                                   4)), {"signal": torch.randn(1, 1, channels, length)}


class Doubly(nn.Module):
    """N-BEATS: blocks that explain a part of the past, leave the rest, and add to the forecast.
    `pools`: N-HiTS."""

    def __init__(self, past, future, width, blocks, layers, pools):
        super().__init__()
        self.pools = pools
        widths = [(past // p,) + (width,) * layers for p in pools for _ in range(blocks)]
        self.bodies = nn.ModuleList(linears(w, last="relu") for w in widths)
        self.back = nn.ModuleList(nn.Linear(width, past) for _ in widths)
        self.ahead = nn.ModuleList(nn.Linear(width, future // p) for p in pools
                                   for _ in range(blocks))
        self.sizes = [p for p in pools for _ in range(blocks)]
        self.future = future

    def forward(self, x):
        total = 0
        for size, body, back, ahead in zip(self.sizes, self.bodies, self.back, self.ahead):
            seen = functional.max_pool1d(x[:, None], size, size)[:, 0] if size > 1 else x
            hidden = body(seen)
            x = x - back(hidden)
            found = ahead(hidden)
            total = total + (functional.interpolate(found[:, None], size=self.future, mode="linear",
                                                    align_corners=False)[:, 0] if size > 1
                             else found)
        return total


def nbeats(batch, past, future, width, blocks):
    return Doubly(past, future, width, blocks, 4, (1,)), {"past": torch.randn(batch, past)}


def nhits(batch, past, future, width, blocks):
    return Doubly(past, future, width, blocks, 2, (8, 4, 1)), {"past": torch.randn(batch, past)}


def patchtst(channels, length, patch, width, layers, heads):
    """Patches of each channel as tokens; channels as a batch."""
    count = length // patch
    return nn.Sequential(Do(lambda x: x.view(channels, count, patch)), nn.Linear(patch, width),
                         Learned(count, width), *(transformer(width, heads) for _ in range(layers)),
                         nn.Flatten(), nn.Linear(count * width,
                                                 96)), {"past": torch.randn(1, channels, length)}


def tsmixer(length, channels, width, blocks):
    """Layers over time and over channels in turn."""
    flip = lambda layer: nn.Sequential(Do(lambda x: x.transpose(1, 2)), layer,
                                       Do(lambda x: x.transpose(1, 2)))
    block = lambda: nn.Sequential(Add(nn.Sequential(nn.LayerNorm(channels),
                                                    flip(nn.Linear(length, length)), nn.ReLU())),
                                  Add(nn.Sequential(nn.LayerNorm(channels),
                                                    linears((channels, width, channels)))))
    return nn.Sequential(*(block() for _ in range(blocks)),
                         flip(nn.Linear(length, 96))), {"past": torch.randn(1, length, channels)}


def snn(features, width, layers, classes, batch):
    """A self-normalising network of a table."""
    return linears((features, *(width,) * layers, classes),
                   "selu"), {"input": torch.randn(batch, features)}


class DeepAr(nn.Module):
    """One step: the mean and spread of the next value of each series, and the state after it."""

    def __init__(self, features, width, layers):
        super().__init__()
        self.lstm = nn.LSTM(features, width, layers)
        self.mean = nn.Linear(width, 1)
        self.spread = nn.Sequential(nn.Linear(width, 1), nn.Softplus())

    def forward(self, x, hidden, cell):
        x, (hidden, cell) = self.lstm(x, (hidden, cell))
        return self.mean(x), self.spread(x), hidden, cell


def deepar(batch, features, width, layers):
    state = lambda: torch.randn(layers, batch, width)
    return DeepAr(features, width, layers), {"values": torch.randn(1, batch, features),
                                             "hidden": state(), "cell": state()}


def lstnet(length, series, width):
    """A convolution over time, a recurrent layer, and a linear part of the last steps."""
    class Lstnet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.gru = nn.Conv2d(1, width, (6, series)), nn.GRU(width, width)
            self.head, self.linear = nn.Linear(width, series), nn.Linear(24, 1)

        def forward(self, x):
            found = self.conv(x[:, None]).relu().squeeze(3)
            recent = self.linear(x[:, -24:].transpose(1, 2)).squeeze(2)
            return self.head(self.gru(found.permute(2, 0, 1))[0][-1]) + recent
    return Lstnet(), {"past": torch.randn(1, length, series)}


def autoencoder(features, width, depth, code, batch=1):
    """Fully connected, in and out: anomalies of machines by their sound."""
    widths = (features,) + (width,) * depth
    parts = [part for a, b in zip((*widths, code, *widths[:0:-1]),
                                  (*widths[1:], code, *widths[:0:-1], features))
             for part in (nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU())]
    return nn.Sequential(*parts[:-2]), {"features": torch.randn(batch, features)}


# Points, graphs, policies.

def shared_layers(*widths):
    """The same layer for every point."""
    return nn.Sequential(*(conv1(a, b, 1) for a, b in zip(widths, widths[1:])))


class Aligned(nn.Module):
    """Multiplies the points by a matrix computed from all of them."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.body = nn.Sequential(shared_layers(size, 64, 128, 1024), Do(lambda x: x.amax(2)),
                                  linears((1024, 512, 256, size * size)))

    def forward(self, x):
        matrix = self.body(x).view(-1, self.size, self.size) + torch.eye(self.size)
        return (x.transpose(1, 2) @ matrix).transpose(1, 2)


class PointNet(nn.Module):
    """The class of all points, or with `parts` one for each."""

    def __init__(self, parts):
        super().__init__()
        self.first = nn.Sequential(Aligned(3), shared_layers(3, 64))
        self.second = nn.Sequential(Aligned(64), shared_layers(64, 64))
        self.third = shared_layers(64, 128, 1024)
        self.head = nn.Sequential(shared_layers(1088, 512, 256, 128),
                                  nn.Conv1d(128, parts,
                                            1)) if parts else linears((1024, 512, 256, 40))
        self.parts = parts

    def forward(self, x):
        local = self.second(self.first(x))
        whole = self.third(local).amax(2)
        if not self.parts:
            return self.head(whole)
        return self.head(torch.cat([local, whole[:, :, None].expand(-1, -1, x.shape[2])], 1))


def pointnet(points, parts=0):
    return PointNet(parts), signal(3, points)


class GraphConvolutions(nn.Module):
    """Two layers over a dense adjacency matrix."""

    def __init__(self, features, width, classes):
        super().__init__()
        self.first, self.second = nn.Linear(features, width), nn.Linear(width, classes)

    def forward(self, nodes, edges):
        return (edges @ self.second((edges @ self.first(nodes)).relu())).log_softmax(1)


def gcn(nodes, features, width):
    return GraphConvolutions(features, width, 7), {"nodes": torch.randn(nodes, features),
                                                   "edges": torch.randn(nodes, nodes) / nodes}


def dqn(size, dueling=0):
    """The values of actions from four frames of a game; dueling: the width of two separate
    heads."""
    trunk = nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(),
                          nn.Conv2d(64, 64, 3, 1), nn.ReLU(), nn.Flatten())
    side = ((size - 8) // 4 + 1 - 4) // 2 + 1 - 2
    flat = 64 * side * side
    if not dueling:
        return nn.Sequential(trunk, linears((flat, 512, 18))), image(size, 4)
    heads = Heads(nn.Sequential(trunk, Do(lambda x: (x, x))),
                  [linears((flat, dueling, 18)), linears((flat, dueling, 1))])
    return nn.Sequential(heads,
                         Do(
        lambda found: found[1] + found[0] - found[0].mean(1, keepdim=True))), image(size, 4)


def alphazero(board, width, blocks, planes):
    """A residual tower and two heads: moves and the value of a position."""
    unit = lambda: Add(nn.Sequential(conv(width, width), conv(width, width, 3, 1, "")), act="relu")
    trunk = nn.Sequential(conv(planes, width), *(unit() for _ in range(blocks)),
                          Do(lambda x: (x, x)))
    cells = board * board
    return Heads(trunk, [nn.Sequential(conv(width, 2, 1), nn.Flatten(),
                                       nn.Linear(2 * cells, cells + 1), nn.Softmax(1)),
                         nn.Sequential(conv(width, 1, 1), nn.Flatten(),
                                       linears((cells, 256, 1),
                                               last="tanh"))]), image(board, planes)


def ddpg(state, width, actions, batch):
    return linears((state, width, width, actions),
                   last="tanh"), {"state": torch.randn(batch, state)}


BUILDERS = {f.__name__: f for f in (
    conformer, deepspeech, quartznet, matchboxnet, wav2letter, bc_resnet, wavenet, xvector,
    ecapa_tdnn, kws_lstm, wav2vec, whisper_encoder, rnnoise, conv_tasnet, hifigan,
    demucs, crnn, har_cnn, ecg_cnn, eegnet, nbeats, nhits, patchtst, tsmixer, snn, deepar, lstnet,
    autoencoder, pointnet, gcn, dqn, alphazero, ddpg)}
