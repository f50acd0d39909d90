# SPDX-License-Identifier: Apache-2.0
"""How operators of MNN are written in its JSON form, and how keys have them.

A key's attributes are the fields of the operator's parameters (`main`), those of `common` among
them; arrays of floats are constant operands at the end.
"""
from ..errors import Unsupported
from ..keys import canonical

# The name of the parameters' table by the operator's type. What is not here says so in its key
# (@main).
MAIN = {
    "Convolution": "Convolution2D", "ConvolutionDepthwise": "Convolution2D", "Deconvolution": "Convolution2D",
    "DeconvolutionDepthwise": "Convolution2D", "Pooling": "Pool", "Pooling3D": "Pool3D", "BinaryOp": "BinaryOp",
    "UnaryOp": "UnaryOp", "ReLU": "Relu", "ReLU6": "Relu6", "PReLU": "PRelu", "ELU": "ELU", "Softmax": "Axis",
    "Concat": "Axis", "Reshape": "Reshape", "Flatten": "Flatten", "Permute": "Permute", "Squeeze": "SqueezeParam",
    "Unsqueeze": "SqueezeParam", "ConvertTensor": "TensorConvertInfo", "LayerNorm": "LayerNorm", "MatMul": "MatMul",
    "BatchMatMul": "BatchMatMulParam", "GatherV2": "GatherV2", "Slice": "Slice", "StridedSlice": "StridedSliceParam",
    "Reduction": "ReductionParam", "Cast": "CastParam", "Padding": "PadParam", "Interp": "Interp", "Scale": "Scale",
    "DepthToSpace": "DepthSpaceParam", "SpaceToDepth": "DepthSpaceParam",
}
CONVOLUTIONS = ("Convolution", "ConvolutionDepthwise", "Deconvolution", "DeconvolutionDepthwise")
# Arrays of floats in the parameters, in the order of the file of weights.
ARRAYS = {"Convolution2D": ("weight", "bias"), "LayerNorm": ("gamma", "beta"), "PRelu": ("slope",),
          "Scale": ("scaleData", "biasData")}
# What the weights' shape says already, and where they are.
IMPLIED = {"external", "outputCount", "inputCount", "channels", "slopeCount"}
# What sessions compute once, from shapes alone, when they are made.
SHAPES = ("Shape", "Rank", "Size")
DEFAULT_FORMAT = "NHWC"
MAX_LIST = 64  # a network of grouped convolutions slices into dozens of parts


def arrays(operator):
    """name -> number of floats of each array of the parameters; None if they cannot be counted."""
    main = operator.get("main", {})
    names = ARRAYS.get(operator.get("main_type"), ())
    if main.get("external"):
        sizes = main["external"][1:]
        if not names or any(size % 4 for size in sizes) or any(size for size in sizes[len(names):]):
            return None
        return {name: size // 4 for name, size in zip(names, sizes) if size}
    return {name: len(main[name]) for name in names if main.get(name)}


def attributes(operator):
    """The parameters as attributes of a key; None (?) where a value is not one that a key can
    have."""
    found = {}
    main = operator.get("main", {})
    fields = {**{name: value for name, value in main.items() if name != "common"}, **main.get("common", {})}
    names = ARRAYS.get(operator.get("main_type"), ())
    for name, value in fields.items():
        if name in IMPLIED or name in names or value == []:
            continue
        plain = not isinstance(value, (dict, list)) or isinstance(value, list) and len(value) <= MAX_LIST and all(
            isinstance(each, (int, float, str)) for each in value)
        found[name] = canonical(value) if plain else None
    if operator.get("defaultDimentionFormat", DEFAULT_FORMAT) != DEFAULT_FORMAT:
        found["dimension_format"] = operator["defaultDimentionFormat"]
    return found


def parameters(op, values, tags, weights):
    """The reverse: the fields of an operator in JSON but its operands. `weights`: where in the file
    of weights its arrays are, as (offset, [bytes, ...], dims of the first), or None."""
    if None in values.values():
        raise Unsupported(f"{op} with an unknown attribute")
    main = {name: {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
            for name, value in values.items()}
    made = {"type": op}
    if "dimension_format" in main:
        made["defaultDimentionFormat"] = main.pop("dimension_format")
    main_type = tags.get("main", MAIN.get(op))
    if weights:
        offset, sizes, dims = weights
        main["external"] = [offset, *sizes]
        if main_type == "PRelu":
            main["slopeCount"] = sizes[0] // 4
        if main_type == "Scale":
            main["channels"] = sizes[0] // 4
    if op in CONVOLUTIONS:
        external = main.pop("external", None)
        if external is None:
            raise Unsupported(f"{op} without weights")
        group = main.get("group", 1)
        transposed = op.startswith("Deconvolution")
        outputs = dims[1] * group if transposed else dims[0]
        inputs = dims[0] if transposed else dims[1] * group
        main = {"common": {**main, "outputCount": outputs, "inputCount": inputs}, "external": external}
    if main_type:
        made |= {"main_type": main_type, "main": main}
    elif main:
        raise Unsupported(f"oplat does not know the parameters of {op}")
    return made
