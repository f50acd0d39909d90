# SPDX-License-Identifier: Apache-2.0
"""One-node models of ONNX Runtime's own operators (com.microsoft): what their definitions do not say, shapes that fit together, stands here.

An operand is "f32[2,8]" (an input), "f32c[8]" (a constant of small numbers), "u8c[]=128" (a constant of one value, or a list of values), or "" (left out).
"""
import re

import numpy
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": (TensorProto.FLOAT, numpy.float32), "f64": (TensorProto.DOUBLE, numpy.float64), "f16": (TensorProto.FLOAT16, numpy.float16),
         "i64": (TensorProto.INT64, numpy.int64), "i32": (TensorProto.INT32, numpy.int32), "u32": (TensorProto.UINT32, numpy.uint32),
         "i16": (TensorProto.INT16, numpy.int16), "u8": (TensorProto.UINT8, numpy.uint8), "i8": (TensorProto.INT8, numpy.int8),
         "bool": (TensorProto.BOOL, numpy.bool_), "string": (TensorProto.STRING, object)}
OPERAND = re.compile(r"(\w+?)(c?)\[([\d,]*)\](?:=(.+))?")
X = "f32[4,64]"
U8 = ["f32c[]=0.02", "u8c[]=128"]
I8 = ["f32c[]=0.02", "i8c[]=0"]
NORM = "f32[2,16,64]"

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
    ("CropAndResize", ["f32[2,3,16,16]", "f32[3,4]", "i32c[3]=[0,1,0]", "i64c[2]=8"], {}, 1),
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
    ("Sampling", [], {}, 1), ("BeamSearch", [], {}, 1), ("GreedySearch", [], {}, 1), ("WhisperBeamSearch", [], {}, 1),
]


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


def models():
    """(operator, label, model) of every recipe."""
    random = numpy.random.default_rng(1)
    for number, (op, operands, attributes, results) in enumerate(RECIPES):
        if not operands:
            continue
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
        node = helper.make_node(op, names, outputs, domain="com.microsoft", **attributes)
        graph = helper.make_graph([node], op, inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], initialisers)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        yield op, f"contrib_{op}_{number}", helper.make_model(graph, opset_imports=opsets, ir_version=9)
