# SPDX-License-Identifier: Apache-2.0
"""Layers of published models that no network of the zoo has: sizes as papers and model cards give
them, one call each.

They reach operators that the inventory's networks do not. The form of a call is that of
lib/operator_models.py.
"""
import random

from lib.operator_models import ML


def forest(prefix, trees, depth, features, targets=1):
    """Full trees with seeded splits, as attributes of TreeEnsembleRegressor ("target") or
    TreeEnsembleClassifier ("class")."""
    draw = random.Random(1)
    inner, total = 2**depth - 1, 2 ** (depth + 1) - 1
    nodes = [(tree, node) for tree in range(trees) for node in range(total)]
    leaves = [(tree, node) for tree, node in nodes if node >= inner]
    return {"nodes_treeids": [tree for tree, _ in nodes], "nodes_nodeids": [node for _, node in nodes],
            "nodes_featureids": [draw.randrange(features) if node < inner else 0 for _, node in nodes],
            "nodes_modes": ["BRANCH_LEQ" if node < inner else "LEAF" for _, node in nodes],
            "nodes_truenodeids": [2 * node + 1 if node < inner else 0 for _, node in nodes],
            "nodes_falsenodeids": [2 * node + 2 if node < inner else 0 for _, node in nodes],
            "nodes_values": [round(draw.uniform(-1, 1), 4) if node < inner else 0.0 for _, node in nodes],
            f"{prefix}_treeids": [tree for tree, _ in leaves], f"{prefix}_nodeids": [node for _, node in leaves],
            f"{prefix}_ids": [draw.randrange(targets) for _ in leaves], f"{prefix}_weights": [round(draw.uniform(0, 1), 4) for _ in leaves]}


def numbers(count):
    draw = random.Random(2)
    return [round(draw.uniform(-1, 1), 4) for _ in range(count)]


def four_bits(rows, inputs, outputs):
    """A product with weights in blocks of 32 with 4 bits."""
    return ("MatMulNBits", [f"f32[1,{rows},{inputs}]", f"u8c[{outputs},{inputs // 32},16]", f"f32c[{outputs * inputs // 32}]"],
            {"K": inputs, "N": outputs, "bits": 4, "block_size": 32, "accuracy_level": 4}, 1)


def eight_bits(rows, inputs, outputs):
    """A product with activations quantised while it runs."""
    return "DynamicQuantizeMatMul", [f"f32[1,{rows},{inputs}]", f"i8c[{inputs},{outputs}]", f"f32c[{outputs}]", f"i8c[{outputs}]=0", f"f32c[{outputs}]"], {}, 1


def attention(tokens, width, heads):
    x = f"f32[1,{tokens},{width}]"
    return [("Attention", [x, f"f32c[{width},{3 * width}]", f"f32c[{3 * width}]"], {"num_heads": heads}, 1),
            ("MultiHeadAttention", [x, x, x], {"num_heads": heads}, 1),
            ("BiasGelu", [f"f32[1,{tokens},{4 * width}]", f"f32c[{4 * width}]"], {}, 1),
            ("FastGelu", [f"f32[1,{tokens},{4 * width}]", f"f32c[{4 * width}]"], {}, 1),
            ("EmbedLayerNormalization", [f"i32[1,{tokens}]", "", f"f32c[8192,{width}]", f"f32c[{tokens},{width}]", "", f"f32c[{width}]", f"f32c[{width}]"], {}, 2)]


def grouped_attention(tokens, past, width, heads, groups):
    size = width // heads
    kept, new = f"f32[1,{groups},{past},{size}]", f"f32[1,{tokens},{groups * size}]"
    return ("GroupQueryAttention", [f"f32[1,{tokens},{width}]", new, new, kept, kept, f"i32c[1]={past + tokens - 1}", f"i32c[]={past + tokens}"],
            {"num_heads": heads, "kv_num_heads": groups}, 3)


IMAGE = "f32[1,{},{},{}]"

# (the model, executions of one run, calls)
TABLE = [
    ("Llama 3.2 1B, a token after 256, 4-bit weights", 16,
     [grouped_attention(1, 256, 2048, 32, 8), four_bits(1, 2048, 2048), four_bits(1, 2048, 512), four_bits(1, 2048, 8192), four_bits(1, 8192, 2048)]),
    ("Llama 3.2 1B, a prompt of 32 tokens", 16, [grouped_attention(32, 0, 2048, 32, 8), four_bits(32, 2048, 512), four_bits(32, 2048, 2048)]),
    ("Qwen2 0.5B, a token after 128, 4-bit weights", 24, [grouped_attention(1, 128, 896, 14, 2), four_bits(1, 896, 896), four_bits(1, 896, 128), four_bits(1, 896, 4864)]),
    ("BERT-base, 128 tokens, operators fused", 12, attention(128, 768, 12)),
    ("MiniLM-L6, 64 tokens, operators fused", 6, attention(64, 384, 12)),
    ("BERT-base, 64 tokens, quantised while it runs", 12, [eight_bits(64, 768, 768), eight_bits(64, 768, 3072), eight_bits(64, 3072, 768)]),
    ("MiniLM-L6, 16 tokens, quantised while it runs", 6, [eight_bits(16, 384, 384), eight_bits(16, 384, 1536), eight_bits(16, 1536, 384)]),
    ("AlexNet of 2012", 1, [(":LRN", [IMAGE.format(c, s, s)], {"size": 5, "alpha": 1e-4, "beta": 0.75, "bias": 2.0}, 1) for c, s in ((96, 55), (256, 27))]),
    ("Spatial transformer, RAFT-small", 12, [(":GridSample", [IMAGE.format(c, s, s), f"f32[1,{o},{o},2]"], {"mode": "bilinear", "align_corners": 1}, 1)
                                            for c, s, o in ((1, 28, 28), (3, 224, 224), (128, 48, 48))]),
    ("Faster R-CNN", 1, [(":RoiAlign", [IMAGE.format(256, s, s), f"f32[{n},4]", f"i64c[{n}]=0"], {"output_height": o, "output_width": o, "sampling_ratio": 2, "spatial_scale": 0.25}, 1)
                         for s, n, o in ((50, 100, 7), (25, 300, 7), (50, 20, 14))]),
    ("Detection: the best boxes", 1, [(":NonMaxSuppression", [f"f32[1,{n},4]", f"f32[1,1,{n}]", "i64c[1]=100", "f32c[1]=0.5", "f32c[1]=0.1"], {}, 1) for n in (896, 2000)]),
    ("Segmentation: the class of a pixel", 1, [(":ArgMax", [IMAGE.format(c, s, s)], {"axis": 1, "keepdims": 0}, 1) for c, s in ((21, 256), (19, 512), (2, 128))]),
    ("YOLOv3 and YOLOv4: activations", 5, [(f":{op}", [IMAGE.format(c, s, s)], {}, 1) for op in ("LeakyRelu", "Softplus", "Tanh") for c, s in ((64, 104), (256, 26), (1024, 13))]),
    ("Networks of tables and of control: activations", 2,
     [(f":{op}", ["f32[64,256]"], {}, 1) for op in ("Elu", "Celu", "Softsign", "ThresholdedRelu", "HardSigmoid", "HardSwish", "Exp", "Log", "Abs", "Sqrt", "Reciprocal", "Erf", "Sin", "Cos")]),
    ("MobileNetV3 and EfficientNet: activations", 4, [(f":{op}", [IMAGE.format(c, s, s)], {}, 1) for op in ("HardSwish", "HardSigmoid", "Sigmoid", "Elu") for c, s in ((16, 112), (72, 56), (480, 14), (960, 7))]),
    ("Masks of attention", 2, [(":Where", [f"bool[1,1,{n},{n}]", f"f32[1,{h},{n},{n}]", "f32c[]=-10000"], {}, 1) for h, n in ((12, 64), (8, 128))]
     + [(":CumSum", [f"i64[1,{n}]", "i64c[]=1"], {}, 1) for n in (64, 256)] + [(":Trilu", [f"f32[{n},{n}]"], {"upper": 0}, 1) for n in (64, 256)]
     + [(":Cast", [f"i64[1,{n}]"], {"to": 1}, 1) for n in (64, 4096)]),
    ("Sums over axes", 2, [(f":{op}", [f"f32[1,{n},{c}]"], {"axes": [1], "keepdims": 1}, 1) for op in ("ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd", "ReduceMean", "ReduceLogSumExp") for n, c in ((196, 192), (1024, 64))]
     + [(":ReduceSum", [f"f32[1,{n},{c}]", "i64c[1]=1"], {"keepdims": 1}, 1) for n, c in ((196, 192), (1024, 64))]),
    ("Min and max of boxes, tiles, depths", 1, [(f":{op}", ["f32[1,8400,4]", "f32[1,8400,4]"], {}, 1) for op in ("Max", "Min")]
     + [(":Tile", [IMAGE.format(64, 1, 1), "i64c[4]=[1,1,32,32]"], {}, 1), (":SpaceToDepth", [IMAGE.format(3, 256, 256)], {"blocksize": 4}, 1), (":Expand", ["f32[1,1024,1]", "i64c[3]=[1,1024,64]"], {}, 1),
        (":OneHot", ["i64[64]", "i64c[]=1000", "f32c[2]=[0,1]"], {}, 1)]),
    ("Normalisations that nothing fuses", 2, [(":BatchNormalization", [IMAGE.format(c, s, s)] + [f"f32c[{c}]"] * 4, {}, 1) for c, s in ((64, 56), (256, 14))]
     + [(":InstanceNormalization", [IMAGE.format(c, s, s), f"f32c[{c}]", f"f32c[{c}]"], {}, 1) for c, s in ((32, 64), (128, 16))]
     + [(":LpNormalization", [f"f32[64,{n}]"], {"axis": 1, "p": 2}, 1) for n in (128, 512)]),
    ("Random forest of scikit-learn, 100 trees", 1, [(f"{ML}:TreeEnsembleClassifier", [f"f32[{rows},54]"], {**forest("class", 100, 6, 54, 7), "classlabels_int64s": list(range(7)), "post_transform": "NONE"}, 2)
                                                    for rows in (1, 256)]),
    ("Gradient boosting of XGBoost, 300 trees", 1, [(f"{ML}:TreeEnsembleRegressor", [f"f32[{rows},28]"], {**forest("target", 300, 5, 28), "n_targets": 1, "aggregate_function": "SUM"}, 1) for rows in (1, 512)]),
    ("Linear models of scikit-learn on images of digits", 1, [
        (f"{ML}:LinearClassifier", ["f32[64,784]"], {"coefficients": numbers(7840), "intercepts": numbers(10), "post_transform": "SOFTMAX", "multi_class": 0, "classlabels_ints": list(range(10))}, 2),
        (f"{ML}:LinearRegressor", ["f32[256,64]"], {"coefficients": numbers(64), "intercepts": numbers(1), "targets": 1}, 1),
        (f"{ML}:Scaler", ["f32[256,64]"], {"offset": numbers(64), "scale": numbers(64)}, 1)]),
    ("Support vectors, 500 of 64 features", 1, [(f"{ML}:SVMRegressor", ["f32[32,64]"], {"coefficients": numbers(500), "kernel_type": "RBF", "kernel_params": [0.02, 0.0, 3.0], "n_supports": 500, "rho": [0.1],
                                                                                       "support_vectors": numbers(32000)}, 1)]),
    ("Recurrent layers of one step, batches", 4, [(":LSTM", [f"f32[{t},{b},{i}]", f"f32c[1,{4 * h},{i}]", f"f32c[1,{4 * h},{h}]", f"f32c[1,{8 * h}]"], {"hidden_size": h}, 3)
                                                  for t, b, i, h in ((1, 16, 128, 128), (1, 1, 256, 256), (25, 8, 64, 64))]
     + [(":GRU", [f"f32[{t},{b},{i}]", f"f32c[1,{3 * h},{i}]", f"f32c[1,{3 * h},{h}]", f"f32c[1,{6 * h}]"], {"hidden_size": h}, 2) for t, b, i, h in ((1, 16, 96, 96), (30, 4, 64, 128))]
     + [(":RNN", [f"f32[{t},{b},{i}]", f"f32c[1,{h},{i}]", f"f32c[1,{h},{h}]", f"f32c[1,{2 * h}]"], {"hidden_size": h}, 2) for t, b, i, h in ((50, 1, 64, 128), (20, 16, 32, 64))]),
]
