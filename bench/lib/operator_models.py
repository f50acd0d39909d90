# SPDX-License-Identifier: Apache-2.0
"""One-node models of operators that the `onnx` package has no tests of: ONNX Runtime's own
(com.microsoft), those of ai.onnx.ml, and some of ONNX. What their definitions do not say, shapes
that fit together, stands here.

An operator is "Gelu" (of com.microsoft), ":GlobalLpPool" (of ONNX) or "ai.onnx.ml:Scaler". An
operand is "f32[2,8]" (an input), "f32c[8]" (a constant of small numbers), "u8c[]=128" (a constant
of one value, or a list of values), or "" (left out).
"""
import re

import numpy
from onnx import TensorProto, helper, numpy_helper, parser

TYPES = {"f32": (TensorProto.FLOAT, numpy.float32), "f64": (TensorProto.DOUBLE, numpy.float64), "f16": (TensorProto.FLOAT16, numpy.float16),
         "i64": (TensorProto.INT64, numpy.int64), "i32": (TensorProto.INT32, numpy.int32), "u32": (TensorProto.UINT32, numpy.uint32),
         "i16": (TensorProto.INT16, numpy.int16), "u8": (TensorProto.UINT8, numpy.uint8), "i8": (TensorProto.INT8, numpy.int8),
         "bool": (TensorProto.BOOL, numpy.bool_), "string": (TensorProto.STRING, object)}
OPERAND = re.compile(r"(\w+?)(c?)\[([\d,]*)\](?:=(.+))?")
X = "f32[4,64]"
U8 = ["f32c[]=0.02", "u8c[]=128"]
I8 = ["f32c[]=0.02", "i8c[]=0"]
NORM = "f32[2,16,64]"
ML = "ai.onnx.ml"
# The last operator set of ONNX in which ONNX Runtime knows them.
OLD = {"Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"}


def tree(prefix):
    """Two trees of three nodes each, as attributes of TreeEnsembleRegressor ("target") or
    TreeEnsembleClassifier ("class")."""
    values = [0.5, 0.0, 0.0, 0.25, 0.0, 0.0]
    leaves = [0, 0, 1, 1]
    return {"nodes_treeids": [0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 0, 1, 2], "nodes_featureids": [0, 0, 0, 3, 0, 0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * 2, "nodes_truenodeids": [1, 0, 0, 1, 0, 0], "nodes_falsenodeids": [2, 0, 0, 2, 0, 0],
            "nodes_values": values, f"{prefix}_treeids": leaves, f"{prefix}_nodeids": [1, 2, 1, 2], f"{prefix}_ids": [0, 0, 0, 0],
            f"{prefix}_weights": [0.1, 0.9, 0.3, 0.7]}

RECIPES = [
    *[(op, [X], {}, 1) for op in ("Gelu", "QuickGelu", "FastGelu", "ScaledSiLU")],
    ("QuickGelu", [X], {"alpha": 1.0}, 1),
    ("FastGelu", [X, "f32c[64]"], {}, 1),
    ("BiasGelu", [X, "f32c[64]"], {}, 1),
    *[(op, ["f32[2,16,64]", "f32[2,64,16]"], {"alpha": a}, 1) for op in ("FusedMatMul", "TransposeMatMul") for a in (1.0, 0.5)],
    ("FusedMatMul", ["f32[16,64]", "f32c[16,64]"], {"transB": 1}, 1),
    ("FusedGemm", ["f32[16,64]", "f32c[64,32]", "f32c[32]"], {"activation": "Relu"}, 1),
    ("FusedGemm", ["f32[16,64]", "f32c[32,64]", "f32c[32]"], {"activation": "Tanh", "transB": 1}, 1),
    ("FusedConv", ["f32[1,8,16,16]", "f32c[8,8,3,3]", "f32c[8]"], {"activation": "Relu", "pads": [1, 1, 1, 1]}, 1),
    ("FusedConv", ["f32[1,8,16,16]", "f32c[8,8,1,1]"], {"activation": "Sigmoid"}, 1),
    ("SkipLayerNormalization", [NORM, NORM, "f32c[64]", "f32c[64]"], {}, 1),
    ("SkipLayerNormalization", [NORM, NORM, "f32c[64]", "f32c[64]", "f32c[64]"], {"epsilon": 1e-3}, 4),
    ("SkipSimplifiedLayerNormalization", [NORM, NORM, "f32c[64]"], {}, 1),
    ("SkipSimplifiedLayerNormalization", [NORM, NORM, "f32c[64]", "f32c[64]"], {"epsilon": 1e-3}, 4),
    ("EmbedLayerNormalization", ["i32[2,16]", "", "f32c[100,64]", "f32c[32,64]", "", "f32c[64]", "f32c[64]"], {}, 2),
    ("Attention", [NORM, "f32c[64,192]", "f32c[192]"], {"num_heads": 4}, 1),
    ("Attention", [NORM, "f32c[64,192]", "f32c[192]"], {"num_heads": 8, "unidirectional": 1}, 1),
    ("MultiHeadAttention", [NORM, NORM, NORM], {"num_heads": 4}, 1),
    ("MultiHeadAttention", [NORM, NORM, NORM, "f32c[192]"], {"num_heads": 8}, 1),
    ("DecoderMaskedMultiHeadAttention", ["f32[2,1,64]", "f32[2,1,64]", "f32[2,1,64]"], {"num_heads": 4}, 1),
    ("GroupQueryAttention", ["f32[1,16,64]", "f32[1,16,32]", "f32[1,16,32]", "f32[1,2,0,16]", "f32[1,2,0,16]", "i32c[1]=15", "i32c[]=16"],
     {"num_heads": 4, "kv_num_heads": 2}, 3),
    ("RotaryEmbedding", ["f32[1,16,64]", "i64c[1]=0", "f32c[32,8]", "f32c[32,8]"], {"num_heads": 4}, 1),
    ("MatMulNBits", ["f32[16,64]", "u8c[32,2,16]", "f32c[64]"], {"K": 64, "N": 32, "bits": 4, "block_size": 32}, 1),
    ("MatMulNBits", ["f32[16,64]", "u8c[32,4,8]", "f32c[128]"], {"K": 64, "N": 32, "bits": 4, "block_size": 16, "accuracy_level": 4}, 1),
    ("MatMulBnb4", ["f32[16,64]", "u8c[1024]", "f32c[128]"], {"K": 64, "N": 32, "block_size": 16, "quant_type": 0}, 1),
    ("DynamicQuantizeMatMul", ["f32[16,64]", "u8c[64,32]", "f32c[]=0.01", "u8c[]=128"], {}, 1),
    ("DynamicQuantizeMatMul", ["f32[16,64]", "i8c[64,32]", "f32c[32]", "i8c[32]=0", "f32c[32]"], {}, 1),
    ("MatMulIntegerToFloat", ["u8[16,64]", "u8c[64,32]", "f32c[]=0.01", "f32c[]=0.01", "u8c[]=128", "u8c[]=128"], {}, 1),
    ("MatMulInteger16", ["i16[16,64]", "i16[64,32]"], {}, 1),
    *[(op, ["u8[4,64]", *U8, "u8[4,64]", *U8, *U8], {}, 1) for op in ("QLinearAdd", "QLinearMul")],
    *[(op, ["i8[4,64]", *I8, "i8c[64]", *I8, *I8], {}, 1) for op in ("QLinearAdd", "QLinearMul")],
    *[(op, ["u8[4,64]", *U8, *U8], attributes, 1) for op, attributes in (("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.1}), ("QLinearLeakyRelu", {}))],
    ("QLinearSoftmax", ["u8[4,64]", *U8, *U8], {"axis": 1, "opset": 13}, 1),
    ("QLinearConcat", [*U8, "u8[4,32]", *U8, "u8[4,16]", *U8], {"axis": 1}, 1),
    ("QLinearWhere", ["bool[4,64]", "u8[4,64]", *U8, "u8[4,64]", *U8, *U8], {}, 1),
    ("QLinearAveragePool", ["u8[1,8,16,16]", *U8, *U8], {"kernel_shape": [3, 3]}, 1),
    ("QLinearAveragePool", ["i8[1,8,16,16]", *I8, *I8], {"kernel_shape": [2, 2], "strides": [2, 2]}, 1),
    ("QLinearGlobalAveragePool", ["u8[1,8,16,16]", *U8, *U8], {"channels_last": 0}, 1),
    ("QLinearGlobalAveragePool", ["u8[1,16,16,8]", *U8, *U8], {"channels_last": 1}, 1),
    ("QLinearConv", ["u8[1,8,16,16]", *U8, "u8c[8,8,3,3]", *U8, *U8], {}, 1),
    ("QGemm", ["u8[16,64]", *U8, "u8c[64,32]", *U8, "i32c[32]", *U8], {}, 1),
    ("QGemm", ["u8[16,64]", *U8, "i8c[32,64]", *I8], {"transB": 1}, 1),
    ("QAttention", ["u8[2,16,64]", "u8c[64,192]", "f32c[192]", "f32c[]=0.02", "f32c[]=0.02", "", "u8c[]=128", "u8c[]=128"], {"num_heads": 4}, 1),
    ("QuantizeLinear", [X, *U8], {}, 1),
    ("QuantizeLinear", [X, "f32c[64]", "i8c[64]=0"], {"axis": 1}, 1),
    ("DequantizeLinear", ["u8[4,64]", *U8], {}, 1),
    ("DequantizeLinear", ["i32[4,64]", "f32c[]=0.1"], {}, 1),
    ("DynamicQuantizeLSTM", ["f32[8,2,16]", "i8c[1,16,64]", "i8c[1,16,64]", "f32c[1,128]", "", "", "", "", "f32c[1]", "i8c[1]=0", "f32c[1]", "i8c[1]=0"],
     {"hidden_size": 16}, 1),
    ("GatherBlockQuantized", ["u8c[64,32]", "i64[8]", "f32c[64,4]"], {"bits": 4, "block_size": 16, "quantize_axis": 1, "gather_axis": 0}, 1),
    ("NhwcMaxPool", ["u8[1,16,16,8]"], {"kernel_shape": [2, 2]}, 1),
    ("NhwcMaxPool", ["i8[1,16,16,8]"], {"kernel_shape": [3, 3], "strides": [2, 2]}, 1),
    ("CDist", ["f32[16,8]", "f32[12,8]"], {"metric": "euclidean"}, 1),
    ("CDist", ["f32[16,8]", "f32[12,8]"], {"metric": "sqeuclidean"}, 1),
    ("Inverse", ["f32[4,8,8]"], {}, 1),
    ("Trilu", ["f32[4,8,8]"], {}, 1),
    ("Trilu", ["f32[4,8,8]", "i64c[]=1"], {"upper": 0}, 1),
    ("GridSample", ["f32[1,3,16,16]", "f32[1,8,8,2]"], {}, 1),
    ("GridSample", ["f32[1,3,16,16]", "f32[1,8,8,2]"], {"mode": "nearest", "align_corners": 1}, 1),
    ("CropAndResize", ["f32[2,3,16,16]", "f32[3,4]", "i32c[3]=[0,1,0]", "i32c[2]=8"], {}, 1),
    ("ConvTransposeWithDynamicPads", ["f32[1,4,8,8]", "f32c[4,4,3,3]", "i64c[4]=1"], {}, 1),
    ("MaxpoolWithMask", ["f32[1,4,8,8]", "i32[1,4,8,8]"], {"kernel_shape": [2, 2]}, 1),
    ("ExpandDims", [X, "i32c[]=1"], {}, 1),
    ("GatherND", [X, "i64[3,1]"], {}, 1),
    ("Pad", [X, "i64c[4]=1"], {}, 1),
    ("Pad", [X, "i64c[4]=1"], {"mode": "reflect"}, 1),
    ("Range", ["i64c[]=0", "i64[]", "i64c[]=1"], {}, 1),
    ("Unique", ["f32[64]"], {}, 3),
    ("UnfoldTensor", ["f32[2,32]"], {"dim": 1, "size": 4, "step": 2}, 1),
    ("SampleOp", [X], {}, 1),
    ("MurmurHash3", ["i32[64]"], {}, 1),
    ("MurmurHash3", ["string[64]"], {"positive": 0}, 1),
    ("Tokenizer", ["string[8]"], {"mark": 0, "separators": [" "], "pad_value": "#", "mincharnum": 1}, 1),
    ("WordConvEmbedding", ["i32[4,8]", "f32c[12,1,3,8]", "f32c[12]", "f32c[20,8]"],
     {"char_embedding_size": 8, "conv_window_size": 3, "embedding_size": 12}, 1),
    ("NGramRepeatBlock", ["i64[2,8]", "f32[2,32]"], {"ngram_size": 2}, 1),
    ("BifurcationDetector", ["i64[8]", "i64[8]", "i64[]"], {}, 2),
    ("DynamicTimeWarping", ["f32[1,8,8]"], {}, 1),
    ("MoE", ["f32[8,16]", "f32[8,4]", "f32c[4,32,16]", "", "f32c[4,16,32]"], {"k": 1, "activation_type": "gelu"}, 1),
    ("CausalConvWithState", ["f32[1,8,16]", "f32c[8,1,4]"], {}, 2),
    ("AttnLSTM", ["f32[6,2,8]", "f32c[1,32,16]", "f32c[1,32,8]", "f32c[1,64]", "", "", "", "", "f32c[1,8,12]", "f32c[1,10,12]", "f32c[1,12]", "f32[2,5,10]",
                  "", "f32c[1,18,8]"], {"hidden_size": 8}, 3),
    *[("BranchwiseRMSNorm", operands, attributes, 1) for operands, attributes in
      ((["f32[2,16,4,32]", "f32c[4,32]"], {}), (["f32[2,16,128]"], {"num_branches": 4, "epsilon": 1e-3}))],
    ("EngramGate", ["f32[2,8,4,32]", "f32[2,8,4,32]", "f32[2,8,32]", "f32c[4,32]", "f32c[4,32]"], {}, 1),
    ("EngramGate", ["f32[2,8,4,32]", "f32[2,8,4,32]", "f32[2,8,32]", "f32c[4,32]", "f32c[4,32]", "f32c[4,32]"], {"epsilon": 1e-3}, 2),
    ("GatedAdd", ["f32[2,16,64]", "f32[2,16,64]", "f32[2,16,1]"], {}, 1),
    *[("GatedRMSNorm", [NORM, "f32c[64]", NORM], {"activation": name}, 1) for name in ("silu", "sigmoid")],
    ("HyperConnectionPreMix", ["f32[2,16,4,32]", "f32[2,16,4]"], {}, 1),
    ("HyperConnectionPreMix", ["f32[2,16,128]", "f32[2,16,4]"], {"num_branches": 4, "reduction_scale": 0.5}, 1),
    ("HyperConnectionPostMix", ["f32[2,16,4,32]", "f32[2,16,32]", "f32[2,16,4]"], {}, 1),
    ("HyperConnectionPostMix", ["f32[2,16,4,32]", "f32[2,16,32]", "f32[2,16,4]", "f32[2,16,4,4]"], {}, 1),
    *[("LinearAttention", ["f32[1,8,64]", "f32[1,8,64]", "f32[1,8,64]", *extra], {"q_num_heads": 4, "kv_num_heads": 4, "update_rule": rule}, 2)
      for rule, extra in (("linear", []), ("gated", ["", "f32[1,8,4]"]), ("gated_delta", ["f32[1,4,16,16]", "f32[1,8,4]", "f32[1,8,4]"]))],
    ("LinearAttentionGate", ["f32[1,8,4]", "f32c[4]", "f32c[4]"], {}, 1),
    ("LinearAttentionGate", ["f32[1,8,4]", "f32c[4]", "f32c[4]", "f32[1,8,4]"], {}, 2),
    *[("MRotaryEmbedding", ["f32[1,16,64]", "i64[3,1,16]", "f32c[32,8]", "f32c[32,8]"], {"num_heads": 4, "mrope_section": [2, 3, 3], "mrope_layout": layout}, 1)
      for layout in (0, 1)],
    *[("NGramHashMapping", ["i64[2,16]", "i64c[3]=[3,5,7]", "i64c[4]=[101,103,107,109]"],
       {"pad_id": 0, "n_head_per_ngram": 2, "max_ngram_size": 3}, results) for results in (1, 2)],
    ("VarlenNGramHashMapping", ["i64[16]", "i64c[3]=[3,5,7]", "i64c[4]=[101,103,107,109]", "i32c[3]=[0,6,16]"],
     {"pad_id": 0, "n_head_per_ngram": 2, "max_ngram_size": 3}, 1),
    ("QEmbedLayerNormalization", ["i32[2,16]", "", "u8c[100,64]", "u8c[32,64]", "", "u8c[64]", "u8c[64]", "", "f32c[]=0.02", "f32c[]=0.02", "", "f32c[]=0.02",
                                  "f32c[]=0.02", "u8c[]=128", "u8c[]=128", "", "u8c[]=128", "u8c[]=128"], {}, 2),
    *[("QMoE", ["f32[8,32]", "f32[8,4]", f"u8c[4,64,{32 * bits // 8}]", "f32c[4,64]", "", f"u8c[4,32,{64 * bits // 8}]", "f32c[4,32]"],
       {"k": k, "expert_weight_bits": bits, "activation_type": activation}, 1) for bits, k, activation in ((4, 1, "gelu"), (8, 2, "silu"))],
    ("SparseAttention", ["f32[1,16,64]", "f32[1,16,32]", "f32[1,16,32]", "f32[1,2,32,16]", "f32[1,2,32,16]", "i32c[1,3]=[0,1,3]", "i32c[1,3]=[0,0,1]",
                         "i32c[]=16", "i32c[1]=16"], {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}, 3),
    *[(":GlobalLpPool", ["f32[1,8,16,16]"], {"p": p}, 1) for p in (1, 2)],
    *[(":MaxRoiPool", ["f32[2,4,16,16]", "f32[3,5]"], {"pooled_shape": [4, 4], "spatial_scale": scale}, 1) for scale in (1.0, 0.5)],
    (":Multinomial", ["f32[4,16]"], {"sample_size": 8}, 1),
    (":Multinomial", ["f32[4,16]"], {"sample_size": 1, "dtype": TensorProto.INT64}, 1),
    *[(f":Random{kind}", [], {"shape": [64, 64], **attributes}, 1) for kind in ("Normal", "Uniform") for attributes in ({}, {"dtype": TensorProto.DOUBLE})],
    *[(f":Random{kind}Like", ["f32[64,64]"], attributes, 1) for kind in ("Normal", "Uniform") for attributes in ({}, {"dtype": TensorProto.DOUBLE})],
    (":Affine", [X], {"alpha": 2.0, "beta": 1.0}, 1),
    (":Crop", ["f32[1,3,16,16]"], {"border": [1, 2, 3, 4]}, 1),
    (":DynamicSlice", [X, "i64c[2]=[0,8]", "i64c[2]=[2,32]"], {}, 1),
    (":ImageScaler", ["f32[1,3,16,16]"], {"scale": 2.0, "bias": [1.0, 2.0, 3.0]}, 1),
    (":ParametricSoftplus", [X], {"alpha": 2.0, "beta": 1.0}, 1),
    (":Scale", [X], {"scale": 2.0}, 1),
    (":ScaledTanh", [X], {"alpha": 2.0, "beta": 1.0}, 1),
    *[(":SimplifiedLayerNormalization", [NORM, "f32c[64]"], {"axis": -1, **attributes}, 1) for attributes in ({}, {"epsilon": 1e-3})],
    (f"{ML}:CategoryMapper", ["string[32]"], {"cats_int64s": [1, 2, 3], "cats_strings": ["a", "b", "c"], "default_int64": -1}, 1),
    (f"{ML}:CategoryMapper", ["i64[32]"], {"cats_int64s": [1, 2, 3], "cats_strings": ["a", "b", "c"], "default_string": "?"}, 1),
    (f"{ML}:FeatureVectorizer", ["f32[8,3]", "f32[8,2]"], {"inputdimensions": [3, 2]}, 1),
    (f"{ML}:Imputer", ["f32[32,8]"], {"imputed_value_floats": [1.0], "replaced_value_float": 0.0}, 1),
    (f"{ML}:Imputer", ["i64[32,8]"], {"imputed_value_int64s": [1], "replaced_value_int64": 0}, 1),
    *[(f"{ML}:LinearClassifier", ["f32[16,8]"], {"coefficients": [0.5, -0.5] * 12, "intercepts": [0.0, 0.1, 0.2], "post_transform": post, "multi_class": 0,
                                                **labels}, 2)
      for post, labels in (("SOFTMAX", {"classlabels_ints": [0, 1, 2]}), ("LOGISTIC", {"classlabels_strings": ["a", "b", "c"]}))],
    *[(f"{ML}:LinearRegressor", ["f32[16,8]"], {"coefficients": [0.5] * 8 * targets, "intercepts": [1.0] * targets, "targets": targets}, 1)
      for targets in (1, 3)],
    *[(f"{ML}:Normalizer", ["f32[32,16]"], {"norm": norm}, 1) for norm in ("L1", "L2", "MAX")],
    (f"{ML}:OneHotEncoder", ["i64[32]"], {"cats_int64s": list(range(10)), "zeros": 1}, 1),
    (f"{ML}:OneHotEncoder", ["string[32]"], {"cats_strings": ["a", "b", "c"], "zeros": 1}, 1),
    *[(f"{ML}:SVMRegressor", ["f32[16,4]"], {"coefficients": [0.5] * 6, "kernel_type": kernel, "kernel_params": [0.25, 0.0, 3.0], "n_supports": 6, "rho": [0.1],
                                            "support_vectors": [0.1] * 24}, 1) for kernel in ("RBF", "POLY", "LINEAR")],
    (f"{ML}:SVMClassifier", ["f32[16,4]"], {"classlabels_ints": [0, 1], "coefficients": [0.5, -0.5, 0.5, -0.5], "kernel_type": "RBF",
                                           "kernel_params": [0.25, 0.0, 3.0], "rho": [0.1], "support_vectors": [0.1] * 16, "vectors_per_class": [2, 2]}, 2),
    (f"{ML}:Scaler", ["f32[32,8]"], {"offset": [0.5] * 8, "scale": [2.0] * 8}, 1),
    (f"{ML}:Scaler", ["i64[32,8]"], {"offset": [0.5], "scale": [2.0]}, 1),
    *[(f"{ML}:TreeEnsembleRegressor", ["f32[16,4]"], {**tree("target"), "n_targets": 1, "aggregate_function": how}, 1) for how in ("SUM", "MAX")],
    (f"{ML}:TreeEnsembleClassifier", ["f32[16,4]"], {**tree("class"), "classlabels_int64s": [0, 1], "post_transform": "LOGISTIC"}, 2),
    (f"{ML}:TreeEnsembleClassifier", ["f64[16,4]"], {**tree("class"), "classlabels_strings": ["a", "b"]}, 2),
]

# Of more than one node, or with inputs of other types than tensors.
GRAPHS = {
    ":SequenceEmpty": "g () => (int64 n) { s = SequenceEmpty() n = SequenceLength(s) }",
    ":SequenceConstruct": "g (float[4,8] a, float[4,8] b) => (seq(float[4,8]) s) { s = SequenceConstruct(a, b) }",
    ":SequenceAt": "g (float[4,8] a, float[4,8] b) => (float[4,8] y) { i = Constant<value_int = 1>() s = SequenceConstruct(a, b) y = SequenceAt(s, i) }",
    ":SequenceErase": "g (float[4,8] a, float[4,8] b) => (seq(float[4,8]) y) { s = SequenceConstruct(a, b) y = SequenceErase(s) }",
    ":SequenceLength": "g (float[4,8] a, float[4,8] b) => (int64 n) { s = SequenceConstruct(a, b) n = SequenceLength(s) }",
    ":ConcatFromSequence": "g (float[4,8] a, float[4,8] b) => (float[8,8] y) { s = SequenceConstruct(a, b) y = ConcatFromSequence<axis = 0>(s) }",
    ":Optional": "g (float[4,8] a) => (float[4,8] y) { o = Optional(a) y = OptionalGetElement(o) }",
    f"{ML}:ZipMap": "g (float[8,3] x) => (seq(map(int64, float)) y) { y = ai.onnx.ml.ZipMap<classlabels_int64s = [0, 1, 2]>(x) }",
    f"{ML}:CastMap": "g (map(int64, float) x) => (float[1,1] y) { y = ai.onnx.ml.CastMap<cast_to = \"TO_FLOAT\">(x) }",
    f"{ML}:DictVectorizer": "g (map(int64, float) x) => (float[1,3] y) { y = ai.onnx.ml.DictVectorizer<int64_vocabulary = [0, 1, 2]>(x) }",
}


def constant(name, dtype, dims, value, random):
    kind, numpy_type = TYPES[dtype]
    if value is not None:
        listed = [float(each) for each in value.strip("[]").split(",")]
        array = numpy.broadcast_to(numpy.array(listed).reshape(-1 if value.startswith("[") else ()), dims)
    elif dtype in ("u8", "i8"):
        array = random.integers(0, 100, dims)
    else:
        array = random.uniform(0.1, 1, dims)
    return numpy_helper.from_array(numpy.ascontiguousarray(array).astype(numpy_type).reshape(dims), name)


def split_name(operator):
    """(domain, name) of an operator as RECIPES and GRAPHS call it."""
    domain, separator, name = operator.rpartition(":")
    return (domain, name) if separator else ("com.microsoft", name)


def one_node_model(operator, operands, attributes, results, random, then=()):
    """The model of one call, as RECIPES write it; `then` lists operators of one operand, with their
    attributes, that follow on its first result."""
    domain, op = split_name(operator)
    inputs, initialisers, names = [], [], []
    for i, operand in enumerate(operands):
        if not operand:
            names.append("")
            continue
        dtype, is_constant, dims, value = OPERAND.fullmatch(operand).groups()
        dims = [int(each) for each in dims.split(",") if each]
        names.append(f"x{i}")
        if is_constant:
            initialisers.append(constant(f"x{i}", dtype, dims, value, random))
        else:
            inputs.append(helper.make_tensor_value_info(f"x{i}", TYPES[dtype][0], dims))
    outputs = [f"y{i}" for i in range(results)]
    nodes = [helper.make_node(op, names, outputs, domain=domain, **attributes)]
    for following, more in then:
        nodes.append(helper.make_node(following, outputs[:1], [outputs[0] + "t"], **more))
        outputs[0] += "t"
    graph = helper.make_graph(nodes, op, inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], initialisers)
    opsets = [helper.make_opsetid("", 9 if op in OLD else 17)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 3 if op.startswith("TreeEnsemble") else 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def recipe_models():
    """(operator, label, model) of every recipe."""
    random = numpy.random.default_rng(1)
    for number, (operator, operands, attributes, results) in enumerate(RECIPES):
        domain, op = split_name(operator)
        yield (f"{domain}:{op}" if domain else op), f"recipe_{op}_{number}", one_node_model(operator, operands, attributes, results, random)


def graph_models():
    """(operator, label, model) of GRAPHS."""
    for operator, text in GRAPHS.items():
        domain, op = split_name(operator)
        opsets = '"" : 17' + (f', "{domain}" : 1' if domain else "")
        model = parser.parse_model(f"<ir_version: 9, opset_import: [{opsets}]> {text}")
        yield (f"{domain}:{op}" if domain else op), f"graph_{op}", model


def blocked_models():
    """(operator, label, model) of operators in ONNX Runtime's blocked layout, which it makes of
    others that follow a convolution."""
    random = numpy.random.default_rng(2)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    for op, made, attributes, scales in (("MaxPool", "MaxPool", window, None), ("AveragePool", "AveragePool", window, None),
                                         ("GlobalMaxPool", "GlobalMaxPool", {}, None), ("GlobalAveragePool", "GlobalAveragePool", {}, None),
                                         ("Resize", "Upsample", {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
                                          [1.0, 1.0, 2.0, 2.0])):
        weights = [numpy_helper.from_array(random.uniform(0.01, 0.1, (16, 16, 1, 1)).astype(numpy.float32), name) for name in ("w0", "w1")]
        operands = ["a"]
        if scales:
            weights.append(numpy_helper.from_array(numpy.array(scales, numpy.float32), "scales"))
            operands += ["", "scales"]
        nodes = [helper.make_node("Conv", ["x", "w0"], ["a"]), helper.make_node(op, operands, ["b"], **attributes), helper.make_node("Conv", ["b", "w1"], ["y"])]
        graph = helper.make_graph(nodes, op, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 16, 16])],
                                  [helper.make_empty_tensor_value_info("y")], weights)
        yield f"com.microsoft.nchwc:{made}", f"blocked_{op}", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def models():
    yield from recipe_models()
    yield from graph_models()
    yield from blocked_models()
