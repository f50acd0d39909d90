# SPDX-License-Identifier: Apache-2.0
"""Products with weights of few rows, operators of transformers that are fused, and trees, of
published architectures.

None is of a network that bench/unseen.py reports on (lib/halves.py).
"""
from lib.operator_models import ML
from lib.published_calls import Layers, f32
from lib.published_layers import forest

# Layers of perceptrons, as (inputs, outputs): control, tables, recommenders, heads of classifiers.
SOFT_ACTOR_CRITIC = [(17, 256), (256, 256), (376, 256), (256, 12)]
TD3 = [(111, 400), (400, 300), (300, 1)]
DLRM = [(13, 512), (512, 256), (479, 1024), (1024, 1024), (1024, 512), (256, 1)]
NERF = [(63, 256), (256, 256), (319, 256), (283, 128), (128, 3)]
CLASSIFIERS = [(2048, 1000), (1280, 1000), (512, 100), (9216, 4096), (4096, 1000), (768, 768)]
WIDE = [(784, 512), (512, 512), (2048, 2048), (1024, 4096), (4096, 1024), (64, 64), (32, 16)]


def linear(rows, inputs, outputs, then=None):
    """A layer as PyTorch exports it."""
    operands = [f32(rows, inputs), f"f32c[{outputs},{inputs}]", f"f32c[{outputs}]"]
    return (":Gemm", operands, {"transB": 1}, 1, [(then, {})] if then else [])


def without_bias(rows, inputs, outputs):
    return (":MatMul", [f32(1, rows, inputs), f"f32c[{inputs},{outputs}]"], {}, 1)


def linear_in_eight_bits(rows, inputs, outputs):
    one = ["f32c[]=0.02", "u8c[]=128"]
    return ("QGemm", [f"u8[{rows},{inputs}]", *one, f"i8c[{inputs},{outputs}]", f"f32c[{outputs}]",
                      f"i8c[{outputs}]=0", f"i32c[{outputs}]", *one], {}, 1)


def perceptrons():
    calls = []
    for i, widths in enumerate([*SOFT_ACTOR_CRITIC, *TD3, *DLRM, *CLASSIFIERS, *WIDE]):
        activation = ("Relu", "Tanh", "Relu", "Sigmoid")[i % 4]
        calls.append(linear(1, *widths))
        calls.append(linear((1, 4, 16, 64)[i % 4], *widths, then=activation))
        if i % 2:
            calls.append(linear((2, 8, 32)[i % 3], *widths))
    return calls + [linear(1024, *widths, then="Relu") for widths in NERF]


def attention(tokens, width, heads, batch=1):
    x = f32(batch, tokens, width)
    factors = [f"f32c[{width}]"] * 2
    return [("Attention", [x, f"f32c[{width},{3 * width}]", f"f32c[{3 * width}]"],
             {"num_heads": heads}, 1),
            ("MultiHeadAttention", [x, x, x], {"num_heads": heads}, 1),
            ("SkipLayerNormalization", [x, x, *factors], {}, 1),
            ("BiasGelu", [f32(batch, tokens, 4 * width), f"f32c[{4 * width}]"], {}, 1),
            ("FastGelu", [f32(batch, tokens, 4 * width), f"f32c[{4 * width}]"], {}, 1)]


def decoder(tokens, past, width, heads, groups):
    """Attention and normalisation of a language model: new tokens after others."""
    size = width // heads
    new, kept = f32(1, tokens, groups * size), f32(1, groups, past, size)
    last, total = past + tokens - 1, past + tokens
    return [("GroupQueryAttention", [f32(1, tokens, width), new, new, kept, kept,
                                     f"i32c[1]={last}", f"i32c[]={total}"],
             {"num_heads": heads, "kv_num_heads": groups}, 3),
            ("SkipSimplifiedLayerNormalization", [f32(1, tokens, width)] * 2 + [f"f32c[{width}]"],
             {}, 1),
            (":SimplifiedLayerNormalization", [f32(1, tokens, width), f"f32c[{width}]"],
             {"axis": -1}, 1),
            ("RotaryEmbedding", [f32(1, tokens, width), "i64c[1]=0", f"f32c[512,{size // 2}]",
                                 f"f32c[512,{size // 2}]"], {"num_heads": heads}, 1)]


def quantised_lstm(steps, inputs, hidden, ways=1):
    weights = [f"i8c[{ways},{inputs},{4 * hidden}]", f"i8c[{ways},{hidden},{4 * hidden}]"]
    one = [f"f32c[{ways}]", f"i8c[{ways}]=0"]
    return ("DynamicQuantizeLSTM", [f32(steps, 1, inputs), *weights, f"f32c[{ways},{8 * hidden}]",
                                    "", "", "", "", *one, *one],
            {"hidden_size": hidden, "direction": "bidirectional" if ways == 2 else "forward"}, 1)


# Trees: (operator's kind, rows, trees, depth, features)
TREES = [("class", 16, 50, 8, 30), ("class", 1, 500, 4, 100), ("class", 64, 20, 10, 12),
         ("target", 1, 1000, 6, 40), ("target", 64, 100, 8, 60), ("target", 1024, 50, 4, 10),
         ("target", 8, 200, 7, 200)]


def tree_ensemble(kind, rows, trees, depth, features):
    if kind == "class":
        return (f"{ML}:TreeEnsembleClassifier", [f32(rows, features)],
                {**forest("class", trees, depth, features, 3), "classlabels_int64s": [0, 1, 2],
                 "post_transform": "NONE"}, 2)
    return (f"{ML}:TreeEnsembleRegressor", [f32(rows, features)],
            {**forest("target", trees, depth, features), "n_targets": 1,
             "aggregate_function": "SUM"}, 1)


TABLE = [
    Layers("Perceptrons of few rows", perceptrons()),
    Layers("Products without bias", [without_bias(rows, *widths) for i, widths in enumerate(
        [(256, 256), (512, 2048), (2048, 512), (768, 768), (384, 1536), (192, 576), (1024, 1024),
         (320, 1280), (64, 128), (4096, 512)]) for rows in ((1, 64), (8, 196), (16, 512))[i % 3]]),
    Layers("Perceptrons of few rows, 8 bits", [
        linear_in_eight_bits(rows, *widths) for rows, widths in zip(
            (1, 4, 8, 16, 2, 16, 1, 8, 32, 4, 1, 64, 8, 16),
            [*SOFT_ACTOR_CRITIC, *DLRM, *CLASSIFIERS[1:]])]),
    Layers("Transformers, operators fused",
           [call for row in ((16, 256, 4), (32, 512, 8), (197, 192, 3), (256, 384, 6), (8, 768, 12),
                             (64, 128, 2, 8), (512, 256, 4)) for call in attention(*row)]),
    Layers("Language models, a step and a prompt",
           [call for row in ((1, 64, 512, 8, 8), (1, 512, 1024, 16, 4), (16, 0, 768, 12, 12),
                             (64, 0, 1024, 16, 4), (1, 1024, 2048, 16, 8), (128, 0, 512, 8, 2))
            for call in decoder(*row)]),
    Layers("Recurrent layers, quantised while they run",
           [quantised_lstm(*row) for row in ((50, 64, 64), (100, 128, 128, 2), (20, 256, 512),
                                             (25, 512, 256, 2), (200, 80, 96), (16, 32, 320, 2))]),
    Layers("Products of 8 bits, quantised while they run",
           [(":DynamicQuantizeLinear", [f32(*sizes)], {}, 3) for sizes in
            ((1, 16, 256), (1, 197, 192), (1, 512, 768), (1, 64, 28, 28), (1, 128, 3072), (8, 512))]
           + [(":MatMulInteger", [f"u8[1,{rows},{k}]", f"i8c[{k},{n}]", "u8[]", "i8c[]=0"], {}, 1)
              for rows, k, n in ((1, 512, 512), (16, 256, 1024), (197, 192, 576), (64, 768, 768),
                                 (8, 1024, 1024), (400, 128, 256))]),
    Layers("Trees", [tree_ensemble(*row) for row in TREES]),
]
