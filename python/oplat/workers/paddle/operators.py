# SPDX-License-Identifier: Apache-2.0
"""What operators of Paddle are made of, as far as keys leave it out: types of attributes, vectors,
further results."""
from dataclasses import dataclass, field

# What no kernel's time depends on.
INERT = {"struct_name", "op_callstack", "op_role", "op_namescope", "op_device", "mkldnn_data_type", "onednn_data_type", "use_quantizer",
         "is_test", "momentum", "epsilon", "trainable_statistics", "use_global_stats", "seed", "fix_seed", "padding_weights"}
# What is left out of keys where it has this value: oneDNN's operators state all that they could
# fuse.
NEUTRAL = {"scale_in": 1.0, "scale_out": 1.0, "scale_in_eltwise": 1.0, "scale_x": 1.0, "scale_y": 1.0, "fused_output_scale": 1.0,
           "scale_weights": [1.0], "force_fp32_output": False, "fuse_residual_connection": False, "fuse_activation": "",
           "activation_type": "", "fuse_alpha": 0.0, "fuse_beta": 0.0, "fused_unsqueeze2_axes": [], "fused_reshape2_shape": [],
           "fuse_with_relu": False}
# Operations that are not kernels: they stand for constants, inputs and outputs, or tie values
# together.
FREE = {"builtin.parameter", "builtin.constant", "builtin.combine", "builtin.split", "builtin.slice", "builtin.shadow_output",
        "builtin.set_parameter", "pd_op.data", "pd_op.feed", "pd_op.fetch", "pd_op.full", "pd_op.full_int_array", "onednn_op.full",
        "pd_op.shadow_output", "pd_op.assign_value_", "pd_op.assign_value"}


@dataclass(frozen=True)
class Operator:
    """How PIR spells an operator. `attributes`: "name:type ..." where a type is i32, i64, f32,
    bool, str, or one of them and []."""

    attributes: str = ""
    name: str = ""  # where it differs from the key's
    # attributes that keys leave out: name -> (type, value)
    fixed: dict = field(default_factory=dict)
    vector: bool = False  # all operands but the constants at the end are one vector
    vector_result: bool = False
    optional: tuple = ()  # indices of operands that PIR has and that are not given
    # shapes of results that nobody reads: "c" as many as channels, "x" the operand's, "?" unknown
    more_results: tuple = ()

    def types(self):
        return dict(each.split(":") for each in self.attributes.split())


CONV = "strides:i32[] paddings:i32[] padding_algorithm:str dilations:i32[] groups:i32 data_format:str"
POOL = ("strides:i64[] paddings:i64[] ceil_mode:bool exclusive:bool data_format:str pooling_type:str global_pooling:bool "
        "adaptive:bool padding_algorithm:str")
INTERP = "data_format:str out_d:i32 out_h:i32 out_w:i32 scale:f32[] interp_method:str align_corners:bool align_mode:i32"

OPERATORS = {
    "conv2d": Operator(CONV),
    "depthwise_conv2d": Operator(CONV),
    "pool2d": Operator(POOL),
    "batch_norm": Operator("data_format:str", "batch_norm_",
                           {"is_test": ("bool", True), "momentum": ("f32", 0.9), "epsilon": ("f32", 1e-5),
                            "use_global_stats": ("bool", True), "trainable_statistics": ("bool", False)},
                           more_results=("c", "c", "c", "c", "?")),
    "matmul": Operator("transpose_x:bool transpose_y:bool"),
    "fc": Operator("in_num_col_dims:i32 activation_type:str", fixed={"padding_weights": ("bool", False)}),
    "flatten": Operator("start_axis:i32 stop_axis:i32"),
    "reshape": Operator(),
    "squeeze": Operator(),
    "unsqueeze": Operator(),
    "transpose": Operator("perm:i32[]"),
    "concat": Operator(vector=True),
    "stack": Operator("axis:i32", vector=True),
    "add_n": Operator(vector=True),
    "split": Operator(vector_result=True),
    "split_with_num": Operator("num:i32", vector_result=True),
    "slice": Operator("axes:i64[] infer_flags:i64[] decrease_axis:i64[]"),
    "dropout": Operator("mode:str", fixed={"is_test": ("bool", True), "seed": ("i32", 0), "fix_seed": ("bool", False)}, optional=(1,),
                        more_results=("x",)),
    "softmax": Operator("axis:i32"),
    "layer_norm": Operator("begin_norm_axis:i32", fixed={"epsilon": ("f32", 1e-5)}),
    "mean": Operator("axis:i64[] keepdim:bool"),
    "scale": Operator("bias:f32 bias_after_scale:bool"),
    "hardsigmoid": Operator("slope:f32 offset:f32"),
    "leaky_relu": Operator("negative_slope:f32"),
    "gelu": Operator("approximate:bool"),
    "nearest_interp": Operator(INTERP, optional=(1, 2, 3)),
    "bilinear_interp": Operator(INTERP, optional=(1, 2, 3)),
    "shuffle_channel": Operator("group:i32"),
    **{name: Operator() for name in (
        "relu", "relu6", "hardswish", "swish", "silu", "sigmoid", "tanh", "sqrt", "rsqrt", "exp", "abs", "floor", "clip", "add", "subtract",
        "multiply", "divide", "maximum", "minimum", "elementwise_pow")},
}
# Results that alias their operand's memory, or an operator that writes over it, end in "_"; keys do
# without.
WRITES_OVER = "_"

# oneDNN's fused activations: name -> the operator before fusion, and its attributes from fuse_alpha
# and fuse_beta.
ACTIVATIONS = {
    "relu": ("relu", {}), "relu6": ("relu6", {}), "hard_swish": ("hardswish", {}), "swish": ("swish", {}), "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}), "sqrt": ("sqrt", {}), "hard_sigmoid": ("hardsigmoid", {"slope": "fuse_alpha", "offset": "fuse_beta"}),
    "leaky_relu": ("leaky_relu", {"negative_slope": "fuse_alpha"}), "gelu_erf": ("gelu", {"approximate": False}),
    "gelu_tanh": ("gelu", {"approximate": True}), "gelu": ("gelu", {"approximate": False}), "abs": ("abs", {}), "mish": ("mish", {}),
}
# Paddle's own kernels that only give the operand another shape, in place where nobody reads it any
# more.
VIEWS = {"reshape", "flatten", "squeeze", "unsqueeze"}
# oneDNN's operators whose result has the layout of their first operand; those of convolutions have
# oneDNN's own.
CONVOLUTIONS = {"conv2d", "fused_conv2d", "conv2d_transpose", "conv2d_transpose_bias"}
PLAIN_RESULT = {"reshape", "flatten", "squeeze", "unsqueeze", "fc", "matmul", "fused_matmul", "transpose", "fused_transpose"}
