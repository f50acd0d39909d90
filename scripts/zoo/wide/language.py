# SPDX-License-Identifier: Apache-2.0
"""Networks of tokens: encoders, decoders and what recommends from tables of embeddings."""

import math

import torch
from torch import nn

from .parts import (Add, Attention, Do, Learned, image, linears, normalised_after, numbers,
                    to_tokens, transformer)
from .vision import gmlp_blocks


class Shared(nn.Module):
    """One block applied `depth` times (ALBERT)."""

    def __init__(self, block, depth):
        super().__init__()
        self.block, self.depth = block, depth

    def forward(self, x):
        for _ in range(self.depth):
            x = self.block(x)
        return x


def albert(layers, width, heads, length, vocabulary):
    model = nn.Sequential(nn.Embedding(vocabulary, 128), Learned(length, 128), nn.LayerNorm(128),
                          nn.Linear(128, width),
                          Shared(normalised_after(width, heads, "tanh_gelu"), layers),
                          Do(lambda x: x[:, 0]),
                          nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
    return model, numbers(length, vocabulary)


class Roberta(nn.Module):
    """BERT whose positions and mask are computed from the tokens: padding is token 1."""

    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length + 2, width)
        self.norm = nn.LayerNorm(width)
        self.attentions = nn.ModuleList(Attention(width, heads, joint=False) for _ in range(layers))
        self.feeds = nn.ModuleList(Add(linears((width, 4 * width, width), "gelu"))
                                   for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.head = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))

    def forward(self, tokens):
        seen = tokens.ne(1)
        places = torch.cumsum(seen.long(), 1) * seen.long() + 1
        mask = (1.0 - seen.float())[:, None, None, :] * -1e4
        x = self.norm(self.tokens(tokens) + self.positions(places))
        for i, (attention, feed) in enumerate(zip(self.attentions, self.feeds)):
            x = self.norms[2 * i](x + attention(x, mask=mask))
            x = self.norms[2 * i + 1](feed(x))
        return self.head(x[:, 0])


def roberta(layers, width, heads, length, vocabulary):
    return Roberta(layers, width, heads, length, vocabulary), numbers(length, vocabulary)


class Linformer(nn.Module):
    """Keys and values of all tokens, reduced to a few by a product over the tokens."""

    def __init__(self, width, heads, length, few):
        super().__init__()
        self.heads, self.mix, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fewer_keys = nn.Linear(length, few, bias=False)
        self.fewer_values = nn.Linear(length, few, bias=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = self.mix(x).chunk(3, 2)
        key = self.fewer_keys(key.transpose(1, 2)).transpose(1, 2)
        value = self.fewer_values(value.transpose(1, 2)).transpose(1, 2)
        query, key, value = (part.reshape(batch, -1, self.heads,
                                          width // self.heads).transpose(1, 2)
                             for part in (query, key, value))
        scores = torch.einsum("bhnd,bhkd->bhnk", query, key) / math.sqrt(width // self.heads)
        return self.out(torch.einsum("bhnk,bhkd->bhnd", scores.softmax(3),
                                     value).transpose(1, 2).reshape(batch, tokens, width))


def linformer(layers, width, heads, length, few, vocabulary):
    block = lambda: nn.Sequential(Add(nn.Sequential(nn.LayerNorm(width),
                                                    Linformer(width, heads, length, few))),
                                  Add(nn.Sequential(nn.LayerNorm(width),
                                                    linears((width, 4 * width, width), "gelu"))))
    return nn.Sequential(nn.Embedding(vocabulary, width), Learned(length, width),
                         *(block() for _ in range(layers)), nn.LayerNorm(width),
                         Do(lambda x: x.amax(1)), nn.Linear(width, 2)), numbers(length, vocabulary)


class GroupedBlock(nn.Module):
    """SqueezeBERT: every product is a grouped convolution over (batch, width, tokens)."""

    def __init__(self, width, heads, groups):
        super().__init__()
        def layer(a, b, g):
            return nn.Conv1d(a, b, 1, groups=g)
        self.heads = heads
        self.query, self.key, self.value = (layer(width, width, groups) for _ in range(3))
        self.out = layer(width, width, 1)
        self.first = layer(width, 4 * width, groups)
        self.second = layer(4 * width, width, groups)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def normalised(self, norm, x):
        return norm(x.transpose(1, 2)).transpose(1, 2)

    def forward(self, x):
        batch, width, tokens = x.shape
        query, key, value = (layer(x).view(batch, self.heads, width // self.heads, tokens)
                             for layer in (self.query, self.key, self.value))
        scores = (query.transpose(2, 3) @ key) / math.sqrt(width // self.heads)
        mixed = (scores.softmax(3) @ value.transpose(2,
                                                     3)).transpose(
            2, 3).reshape(batch, width, tokens)
        x = self.normalised(self.norms[0], x + self.out(mixed))
        return self.normalised(self.norms[1], x + self.second(nn.functional.gelu(self.first(x))))


def squeezebert(layers, width, heads, length, vocabulary):
    model = nn.Sequential(nn.Embedding(vocabulary, width), Learned(length, width),
                          nn.LayerNorm(width), Do(lambda x: x.transpose(1, 2)),
                          *(GroupedBlock(width, heads, 4) for _ in range(layers)),
                          Do(lambda x: x[:, :, 0]), nn.Linear(width, 2))
    return model, numbers(length, vocabulary)


class RootMean(nn.Module):
    """Normalisation by the root of the mean square, as T5 and Llama have it."""

    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, x):
        return self.gamma * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class T5(nn.Module):
    """An encoder and a decoder without biases; the positions are learned biases of the scores."""

    def __init__(self, layers, width, heads, length, vocabulary):
        super().__init__()
        def feed():
            return Add(nn.Sequential(RootMean(width), nn.Linear(width, 4 * width, bias=False),
                                     nn.ReLU(), nn.Linear(4 * width, width, bias=False)))
        def own(**named):
            return Add(nn.Sequential(RootMean(width),
                                     Attention(width, heads, joint=False, bias=length, biased=False,
                                               **named)))
        self.tokens = nn.Embedding(vocabulary, width)
        self.encoder = nn.Sequential(*(nn.Sequential(own(), feed()) for _ in range(layers)),
                                     RootMean(width))
        self.own = nn.ModuleList(own(causal=length) for _ in range(layers))
        self.norms = nn.ModuleList(RootMean(width) for _ in range(layers))
        self.cross = nn.ModuleList(Attention(width, heads, joint=False, biased=False)
                                   for _ in range(layers))
        self.feeds = nn.ModuleList(feed() for _ in range(layers))
        self.head = nn.Sequential(RootMean(width), nn.Linear(width, vocabulary, bias=False))

    def forward(self, source, target):
        memory, x = self.encoder(self.tokens(source)), self.tokens(target)
        for own, norm, cross, feed in zip(self.own, self.norms, self.cross, self.feeds):
            x = own(x)
            x = feed(x + cross(norm(x), memory))
        return self.head(x)


def t5(layers, width, heads, length, vocabulary):
    return T5(layers, width, heads, length, vocabulary), {**numbers(length, vocabulary, "source"),
                                                          **numbers(length, vocabulary, "target")}


class RotatedAttention(nn.Module):
    """Attention with rotated queries and keys, and keys and values of tokens seen before."""

    def __init__(self, width, heads, groups, length):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)
        angles = torch.arange(length)[:,
                                      None] * (
            10000.0 ** (-torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("cosines", torch.cat([angles, angles], 1).cos())
        self.register_buffer("sines", torch.cat([angles, angles], 1).sin())
        self.register_buffer("mask", torch.full((length, length), -1e4).triu(1))

    def rotated(self, x, start):
        first, second = x.chunk(2, 3)
        rows = slice(start, start + x.shape[2])
        return x * self.cosines[rows] + torch.cat([-second, first], 3) * self.sines[rows]

    def forward(self, x, keys=None, values=None):
        batch, tokens, width = x.shape
        start = 0 if keys is None else keys.shape[2]
        query = self.rotated(self.query(x).view(batch, tokens, self.heads,
                                                self.size).transpose(1, 2), start)
        key = self.rotated(self.key(x).view(batch, tokens, self.groups, self.size).transpose(1, 2),
                           start)
        value = self.value(x).view(batch, tokens, self.groups, self.size).transpose(1, 2)
        if keys is not None:
            key, value = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        if self.groups < self.heads:
            repeat = self.heads // self.groups
            key, value = (part[:, :, None].expand(-1, -1, repeat, -1,
                                                  -1).reshape(batch, self.heads, -1, self.size)
                          for part in (key, value))
        scores = query @ key.transpose(2, 3) / math.sqrt(self.size)
        if keys is None:
            scores = scores + self.mask[:tokens, :tokens]
        return self.out((scores.softmax(3) @ value).transpose(1, 2).reshape(batch, tokens, width))


class Gated(nn.Module):
    """SwiGLU."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Llama(nn.Module):
    """A decoder over a whole prompt, or over one token with what it has seen before (`past`)."""

    def __init__(self, layers, width, heads, groups, hidden, length, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.attentions = nn.ModuleList(RotatedAttention(width, heads, groups, length)
                                        for _ in range(layers))
        self.feeds = nn.ModuleList(Gated(width, hidden) for _ in range(layers))
        self.norms = nn.ModuleList(RootMean(width) for _ in range(2 * layers + 1))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, past=None):
        x = self.tokens(tokens)
        for i, (attention, feed) in enumerate(zip(self.attentions, self.feeds)):
            seen = () if past is None else (past[i, 0], past[i, 1])
            x = x + attention(self.norms[2 * i](x), *seen)
            x = x + feed(self.norms[2 * i + 1](x))
        return self.head(self.norms[-1](x))


def llama(layers, width, heads, groups, hidden, length, vocabulary, past=0):
    inputs = numbers(1 if past else length, vocabulary)
    if past:
        inputs["past"] = torch.randn(layers, 2, 1, groups, past, width // heads)
    return Llama(layers, width, heads, groups, hidden, past + 1 if past else length,
                 vocabulary), inputs


class StepOfGpt(nn.Module):
    """One token of GPT, with the keys and values of the tokens before."""

    def __init__(self, layers, width, heads, past, vocabulary):
        super().__init__()
        self.heads = heads
        self.tokens = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.empty(1, 1, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers + 1))
        self.mixes = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.outs = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.feeds = nn.ModuleList(linears((width, 4 * width, width), "gelu")
                                   for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, past):
        x = self.tokens(tokens) + self.position
        for i, (mix, out, feed) in enumerate(zip(self.mixes, self.outs, self.feeds)):
            query, key, value = (part.view(1, 1, self.heads, -1).transpose(1, 2)
                                 for part in mix(self.norms[2 * i](x)).chunk(3, 2))
            key, value = torch.cat([past[i, 0], key], 2), torch.cat([past[i, 1], value], 2)
            scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
            x = x + out((scores.softmax(3) @ value).transpose(1, 2).reshape(1, 1, -1))
            x = x + feed(self.norms[2 * i + 1](x))
        return self.head(self.norms[-1](x))


def gpt_step(layers, width, heads, past, vocabulary):
    inputs = {**numbers(1, vocabulary), "past": torch.randn(layers, 2, 1, heads, past,
                                                            width // heads)}
    return StepOfGpt(layers, width, heads, past, vocabulary), inputs


class Linear(nn.Module):
    """Attention without softmax over pairs: positive features of queries and keys (Performer)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.mix, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                             for part in self.mix(x).chunk(3, 2))
        query, key = query.relu() + 1e-3, key.relu() + 1e-3
        context = torch.einsum("bhnd,bhne->bhde", key, value)
        weight = 1.0 / torch.einsum("bhnd,bhd->bhn", query, key.sum(2))
        mixed = torch.einsum("bhnd,bhde,bhn->bhne", query, context, weight)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


def performer(layers, width, heads, length, vocabulary):
    block = lambda: nn.Sequential(Add(nn.Sequential(nn.LayerNorm(width), Linear(width, heads))),
                                  Add(nn.Sequential(nn.LayerNorm(width),
                                                    linears((width, 4 * width, width), "gelu"))))
    return nn.Sequential(nn.Embedding(vocabulary, width), Learned(length, width),
                         *(block() for _ in range(layers)), nn.LayerNorm(width),
                         Do(lambda x: x.mean(1)), nn.Linear(width, 2)), numbers(length, vocabulary)


class Clip(nn.Module):
    """A tower for images and one for texts, and the cosines of what they give."""

    def __init__(self, size, patch, width, layers, heads, length, vocabulary):
        super().__init__()
        tokens = (size // patch) ** 2
        self.images = nn.Sequential(nn.Conv2d(3, width, patch, patch, bias=False), to_tokens(),
                                    Learned(tokens, width, 1), nn.LayerNorm(width),
                                    *(transformer(width, heads) for _ in range(layers)),
                                    Do(lambda x: x[:, 0]), nn.LayerNorm(width),
                                    nn.Linear(width, 256, bias=False))
        self.texts = nn.Sequential(nn.Embedding(vocabulary, width), Learned(length, width),
                                   *(transformer(width, heads, causal=length)
                                     for _ in range(layers)),
                                   nn.LayerNorm(width), Do(lambda x: x[:, -1]),
                                   nn.Linear(width, 256, bias=False))

    def forward(self, pixels, tokens):
        pixels, texts = (nn.functional.normalize(x, dim=1)
                         for x in (self.images(pixels), self.texts(tokens)))
        return 50.0 * pixels @ texts.t()


def clip(size, patch, width, layers, heads, length, vocabulary):
    return Clip(size, patch, width, layers, heads, length,
                vocabulary), {"pixels": image(size)["input"],
                              **numbers(length, vocabulary, batch=4)}


class TextCnn(nn.Module):
    """Convolutions of several lengths over embedded words, the largest value of each."""

    def __init__(self, length, width, filters, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, filters, k) for k in (3, 4, 5))
        self.head = nn.Linear(3 * filters, 20)

    def forward(self, tokens):
        x = self.tokens(tokens).transpose(1, 2)
        return self.head(torch.cat([conv(x).relu().amax(2) for conv in self.convs], 1))


def textcnn(length, width, filters, vocabulary):
    return TextCnn(length, width, filters, vocabulary), numbers(length, vocabulary)


def gmlp_text(layers, width, hidden, length, vocabulary):
    return nn.Sequential(nn.Embedding(vocabulary, width),
                         *gmlp_blocks(length, width, hidden, layers), nn.LayerNorm(width),
                         Do(lambda x: x.mean(1)),
                         nn.Linear(width, 2)), numbers(length, vocabulary)


class LanguageModel(nn.Module):
    def __init__(self, layer, width, layers, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.layer = layer(width, width, layers)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.layer(self.tokens(tokens))[0])


def recurrent_model(cell, length, width, layers, vocabulary):
    return LanguageModel({"lstm": nn.LSTM, "rnn": nn.RNN}[cell], width, layers,
                         vocabulary), {"tokens": torch.randint(0, vocabulary, (length, 1))}


# Recommenders: a batch of candidates, each a row of numbers and of category numbers.

class Recommender(nn.Module):
    """Embeds the categories of each row; `rest` makes scores of them and of the numbers."""

    def __init__(self, fields, vocabulary, width, rest):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(vocabulary, width) for _ in range(fields))
        self.rest = rest

    def forward(self, *inputs):
        *values, categories = inputs
        return self.rest(*values, torch.stack([table(categories[:, i])
                                               for i, table in enumerate(self.tables)], 1))


class Dlrm(nn.Module):
    """Products of all pairs of embeddings next to the dense numbers."""

    def __init__(self, fields, values, width, hidden):
        super().__init__()
        self.bottom = linears((values, *hidden, width), last="relu")
        pairs = torch.tensor([(i, j) for i in range(fields + 1) for j in range(i)])
        self.register_buffer("places", pairs[:, 0] * (fields + 1) + pairs[:, 1])
        self.top = linears((width + len(pairs), *hidden[::-1], 1), last="sigmoid")

    def forward(self, values, found):
        dense = self.bottom(values)
        x = torch.cat([dense[:, None], found], 1)
        pairs = (x @ x.transpose(1, 2)).flatten(1)[:, self.places]
        return self.top(torch.cat([dense, pairs], 1))


class DeepFm(nn.Module):
    def __init__(self, fields, values, width, hidden):
        super().__init__()
        self.deep, self.wide = linears((values + fields * width, *hidden, 1)), nn.Linear(values, 1)

    def forward(self, values, found):
        pairs = 0.5 * (found.sum(1).pow(2) - found.pow(2).sum(1)).sum(1, keepdim=True)
        return (self.deep(torch.cat([values, found.flatten(1)],
                                    1)) + self.wide(values) + pairs).sigmoid()


class WideAndDeep(nn.Module):
    def __init__(self, fields, values, width, hidden):
        super().__init__()
        self.deep, self.wide = linears((values + fields * width, *hidden, 1)), nn.Linear(values, 1)

    def forward(self, values, found):
        return (self.deep(torch.cat([values, found.flatten(1)], 1)) + self.wide(values)).sigmoid()


class Crossed(nn.Module):
    """DCN: products with the input, layer after layer, next to a deep network."""

    def __init__(self, fields, values, width, hidden, layers=3):
        super().__init__()
        total = values + fields * width
        self.cross = nn.ModuleList(nn.Linear(total, total) for _ in range(layers))
        self.deep = linears((total, *hidden), last="relu")
        self.head = nn.Sequential(nn.Linear(total + hidden[-1], 1), nn.Sigmoid())

    def forward(self, values, found):
        start = torch.cat([values, found.flatten(1)], 1)
        x = start
        for layer in self.cross:
            x = start * layer(x) + x
        return self.head(torch.cat([x, self.deep(start)], 1))


class AutoInt(nn.Module):
    """Attention over the fields."""

    def __init__(self, fields, values, width, hidden, layers=3):
        super().__init__()
        self.blocks = nn.Sequential(*(Add(Attention(width, 2), act="relu") for _ in range(layers)))
        self.head = nn.Sequential(nn.Linear(fields * width + values, 1), nn.Sigmoid())

    def forward(self, values, found):
        return self.head(torch.cat([values, self.blocks(found).flatten(1)], 1))


class Experts(nn.Module):
    """MMoE: several experts, mixed anew for each task."""

    def __init__(self, fields, values, width, hidden, experts=6, tasks=2):
        super().__init__()
        total = values + fields * width
        self.experts = nn.ModuleList(linears((total, *hidden), last="relu") for _ in range(experts))
        self.gates = nn.ModuleList(nn.Sequential(nn.Linear(total, experts), nn.Softmax(1))
                                   for _ in range(tasks))
        self.towers = nn.ModuleList(linears((hidden[-1], 32, 1), last="sigmoid")
                                    for _ in range(tasks))

    def forward(self, values, found):
        x = torch.cat([values, found.flatten(1)], 1)
        results = torch.stack([expert(x) for expert in self.experts], 1)
        return torch.cat([tower((gate(x).unsqueeze(2) * results).sum(1))
                          for gate, tower in zip(self.gates, self.towers)], 1)


class Collaborative(nn.Module):
    """NCF: a product and a network over the embeddings of user and item."""

    def __init__(self, fields, values, width, hidden):
        super().__init__()
        self.deep = linears((2 * (width // 2), *hidden), last="relu")
        self.head = nn.Sequential(nn.Linear(width // 2 + hidden[-1], 1), nn.Sigmoid())

    def forward(self, found):
        general, deep = found.chunk(2, 2)
        return self.head(torch.cat([general[:, 0] * general[:, 1], self.deep(deep.flatten(1))], 1))


RESTS = {"dlrm": Dlrm, "deepfm": DeepFm, "wide_and_deep": WideAndDeep, "dcn": Crossed,
         "autoint": AutoInt, "mmoe": Experts, "ncf": Collaborative}


def recommender(net, fields, width, hidden, batch, vocabulary, values=0):
    rest = RESTS[net](fields, values, width, tuple(int(h) for h in str(hidden).split("+")))
    inputs = {"values": torch.randn(batch, values)} if values else {}
    return Recommender(fields, vocabulary, width, rest), {**inputs,
                                                          "categories": torch.randint(
        0, vocabulary, (batch, fields))}


class History(nn.Module):
    """DIN: what a user did before, weighted by how near it is to each candidate."""

    def __init__(self, width, vocabulary):
        super().__init__()
        self.items = nn.Embedding(vocabulary, width)
        self.attention = linears((4 * width, 80, 40, 1), "sigmoid")
        self.head = linears((3 * width, 200, 80, 1), "prelu", "sigmoid")

    def forward(self, candidates, history):
        wanted, seen = self.items(candidates), self.items(history)
        each = wanted[:, None].expand(-1, seen.shape[1], -1)
        weights = self.attention(torch.cat([each, seen, each - seen, each * seen], 2))
        interest = (weights * seen).sum(1)
        return self.head(torch.cat([wanted, interest, wanted * interest], 1))


def din(batch, length, width, vocabulary):
    return History(width, vocabulary), {"candidates": torch.randint(0, vocabulary, (batch,)),
                                        "history": torch.randint(0, vocabulary, (batch, length))}


def sasrec(layers, width, heads, length, vocabulary):
    """The scores of all items after a sequence of items."""
    return nn.Sequential(nn.Embedding(vocabulary, width), Learned(length, width),
                         *(transformer(width, heads, width, "relu", causal=length)
                           for _ in range(layers)),
                         nn.LayerNorm(width), Do(lambda x: x[:, -1]),
                         nn.Linear(width, vocabulary, bias=False)), numbers(length, vocabulary)


class TwoTowers(nn.Module):
    """A network for the query, one for each candidate, and their cosines."""

    def __init__(self, width, hidden, vocabulary):
        super().__init__()
        self.items = nn.Embedding(vocabulary, width)
        self.query, self.candidate = (linears((4 * width, *hidden), "tanh", "tanh")
                                      for _ in range(2))

    def forward(self, query, candidates):
        query = self.query(self.items(query).flatten(1))
        found = self.candidate(self.items(candidates).flatten(1))
        return nn.functional.normalize(found, dim=1) @ nn.functional.normalize(query, dim=1).t()


def two_tower(batch, width, hidden, vocabulary):
    return TwoTowers(width, (hidden, hidden, hidden // 2),
                     vocabulary), {**numbers(4, vocabulary, "query"),
                                   **numbers(4, vocabulary, "candidates", batch)}


BUILDERS = {f.__name__: f for f in (
    albert, roberta, linformer, squeezebert, t5, llama, gpt_step, performer, clip, textcnn,
    gmlp_text, recurrent_model, recommender, din, sasrec, two_tower)}
