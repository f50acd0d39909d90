# SPDX-License-Identifier: Apache-2.0
"""Keys of kernels (docs/reference/keys.md) taken apart: operator, attributes, operands, results,
work, and a readable class."""
import math
import re
from dataclasses import dataclass, field

TENSOR = re.compile(r"^([a-z]+?\d*)(c?)\[([^\]]*)\]")
TAG = re.compile(r"@(\w+)=([^@]*)")
BITS = {"bool": 8, "string": 64}
# Operators whose result is their operand's bytes (src/ir/operators/view.cpp).
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}
CONVOLUTIONS = {"Conv": 1, "FusedConv": 1, "NhwcFusedConv": 1, "ConvInteger": 1, "QLinearConv": 3, "ConvTranspose": 1}
PRODUCTS = {"MatMul", "Gemm", "FusedMatMul", "FusedGemm", "FusedMatMulActivation", "TransposeMatMul", "MatMulInteger", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat",
            "DynamicQuantizeMatMul", "MatMulNBits"}
RECURRENT = {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"}
EIGHT_BITS = {"i8", "u8"}
ATTENTION = {"Attention", "MultiHeadAttention", "GroupQueryAttention"}
# as kAhead of src/ir/reading.cpp and what picks
AHEAD = {"BiasGelu", "Celu", "Concat", "Cos", "Elu", "Erf", "Exp", "Expand", "FastGelu", "Gather", "GatherElements", "GatherND", "Gelu", "HardSigmoid", "Log", "LogSoftmax", "Loop", "Mish",
         "Pow", "QuickGelu", "Scan", "Selu", "Shape", "Sigmoid", "Sin", "Size", "Slice", "Softmax", "Softplus", "Softsign", "Split", "Swish", "Tanh", "Tile"}
WAITING_COUNTS = 3  # kWaitingCounts of src/predict/predict.cpp


@dataclass(frozen=True)
class Tensor:
    dtype: str
    constant: bool
    dims: tuple  # None: not known

    @property
    def elements(self):
        return 0 if self.dims is None else math.prod(self.dims)

    @property
    def bytes(self):
        bits = BITS.get(self.dtype) or int(re.sub(r"\D", "", self.dtype) or 8)
        return self.elements * bits / 8


@dataclass
class Kernel:
    """One key. An operand that is left out, or a result that nobody uses, is None."""

    key: str
    domain: str
    op: str
    tags: dict
    attributes: dict
    operands: list
    results: list
    shared: set = field(default_factory=set)  # results that may be written over an operand

    @property
    def is_view(self):
        return self.domain == "" and self.op in VIEWS and "copied" not in self.tags

    @property
    def is_empty(self):
        """Whether it has results and all are empty: the runtime calls it, and it does nothing."""
        known = [tensor for tensor in self.results if tensor is not None]
        return bool(known) and all(tensor.dims is not None and 0 in tensor.dims for tensor in known)

    @property
    def in_eight_bits(self):
        return any(tensor.dtype in EIGHT_BITS for tensor in self.operands + self.results if tensor is not None)


def letters_outside(text, start=0):
    """Place, letter and depth of brackets behind it, of the letters that are not quoted."""
    depth, quoted, at = 0, False, start
    while at < len(text):
        letter = text[at]
        if quoted:
            at += letter == "\\"
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        else:
            depth += (letter in "[{(") - (letter in "]})")
            yield at, letter, depth
        at += 1


def split_outside(text, separator=","):
    """Parts of a text at separators that are neither quoted nor in brackets."""
    parts, start = [], 0
    for at, letter, depth in letters_outside(text):
        if letter == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return parts + [text[start:]] if text else []


def closing(text, start):
    """Where the bracket that opens at `start` is closed."""
    for at, letter, depth in letters_outside(text, start):
        if letter in "]})" and depth == 0:
            return at
    raise ValueError(f"a bracket is not closed: {text}")


def tensor(text, operands):
    if text in ("-", ""):
        return None
    if text.startswith("&"):
        return operands[int(text[1:])]
    found = TENSOR.match(text)
    if not found:
        return None
    dims = found[3].split(",") if found[3] else []
    return Tensor(found[1], bool(found[2]), tuple(map(int, dims)) if all(d.isdigit() for d in dims) else None)


def parse_key(key):
    brace = key.index("{")
    end = closing(key, brace)
    head, _, tags = key[:brace].partition("@")
    domain, _, name = head.rpartition(":")
    attributes = dict(part.split("=", 1) for part in split_outside(key[brace + 1 : end]))
    opened = key.index("(", end)
    ended = closing(key, opened)
    operands = []
    for part in split_outside(key[opened + 1 : ended]):
        operands.append(tensor(part, operands))
    texts = split_outside(key[key.index("(", ended) + 1 : -1])
    results = [tensor(part, operands) for part in texts]
    return Kernel(key, domain, name.partition("/")[0], dict(TAG.findall("@" + tags)) if tags else {}, attributes, operands, results,
                  {i for i, part in enumerate(texts) if part.startswith("&")})


def numbers_of(value):
    """The numbers of an attribute's text, in order; words have none."""
    found = []
    for part in value.strip("[]").split(","):
        try:
            found.append(float(part))
        except ValueError:
            pass
    return found


def group_of(kernel):
    return int(kernel.attributes.get("group", "1"))


def weights_of(kernel):
    at = CONVOLUTIONS[kernel.op]
    return kernel.operands[at] if at < len(kernel.operands) else None


def is_depthwise(kernel):
    weights = weights_of(kernel)
    return group_of(kernel) > 1 and weights is not None and weights.dims is not None and weights.dims[1] == 1


def flops_of(kernel):
    """Operations of one execution, a multiply-add as two; of operators without products one a
    result."""
    results = max((tensor.elements for tensor in kernel.results if tensor is not None), default=0)
    first = kernel.operands[0] if kernel.operands else None
    if kernel.op in CONVOLUTIONS and (weights := weights_of(kernel)) is not None and weights.dims:
        return 2.0 * (first.elements if kernel.op == "ConvTranspose" else results) * math.prod(weights.dims[1:])
    if kernel.op in PRODUCTS and first is not None and first.dims:
        return 2.0 * results * first.dims[0 if kernel.attributes.get("transA") == "1" and len(first.dims) == 2 else -1]
    if kernel.op in RECURRENT and first is not None and first.dims and len(first.dims) == 3:
        return 2.0 * first.dims[0] * first.dims[1] * sum(tensor.elements for tensor in kernel.operands[1:3] if tensor is not None)
    if kernel.op in ("MaxPool", "AveragePool", "NhwcMaxPool", "QLinearAveragePool"):
        return float(results * math.prod(map(int, numbers_of(kernel.attributes.get("kernel_shape", "")))))
    return float(max(results, first.elements if first is not None else 0))


def bytes_of(kernel):
    """What one execution reads and writes."""
    read = sum(tensor.bytes for tensor in kernel.operands if tensor is not None)
    return read + sum(tensor.bytes for tensor in kernel.results if tensor is not None)


def waiting_counts(kernel):
    """What a byte of an operand that another core wrote counts (docs/adr/0101)."""
    if kernel.op in AHEAD:
        return 0
    return 1 if kernel.op in PRODUCTS or kernel.op in CONVOLUTIONS or kernel.op in RECURRENT | ATTENTION else WAITING_COUNTS


def sums_in_registers(kernel):
    """Whether a QLinearConv needs no sums of 32 bits in memory on any processor that can do without
    (src/ir/operators/scratch.cpp)."""
    weights = weights_of(kernel)
    if weights.dtype != "i8" or not weights.constant or not re.search(r",i8c\[\d*\]=0,", kernel.key):
        return False
    if group_of(kernel) > 1:
        return weights.dims[:2] == (group_of(kernel), 1) and group_of(kernel) % 16 == 0
    return weights.dims[1] % 4 == 0 and weights.dims[0] >= 16 and weights.dims[0] % 4 == 0


def scratch_of(kernel):
    """Bytes that a convolution takes for itself, as src/ir/operators/scratch.cpp counts them."""
    weights = weights_of(kernel) if kernel.op in CONVOLUTIONS else None
    image, result = (list[0] if list else None for list in (kernel.operands, kernel.results))
    if any(tensor is None or not tensor.dims or len(tensor.dims) < 3 for tensor in (weights, image, result)):
        return 0.0
    window = math.prod(weights.dims[2:])
    if kernel.op == "ConvTranspose":
        return math.prod(weights.dims[1:]) * math.prod(image.dims[2:]) * image.bytes / image.elements
    if kernel.op not in ("QLinearConv", "ConvInteger"):
        return 0.0
    depthwise = group_of(kernel) > 1 and weights.dims[:2] == (group_of(kernel), 1)
    plain = window == 1 and all(set(numbers_of(kernel.attributes.get(name, ""))) <= {one} for name, one in (("strides", 1), ("pads", 0)))
    results = result.elements / image.dims[0]
    groups = group_of(kernel) if len(image.dims) == 5 else 1
    columns = 0 if plain or depthwise else weights.dims[1] * window * results / weights.dims[0] * groups
    if kernel.op == "ConvInteger":
        return columns
    sums = 0 if sums_in_registers(kernel) else 4 * result.elements + columns
    return sums + (0 if kernel.attributes.get("channels_last") == "1" else image.elements / image.dims[0] + results)


def class_of(kernel):
    """A readable name of its kind: the operator, for convolutions their window and groups, and 8
    bits."""
    eight = ", 8 bits" if kernel.in_eight_bits else ""
    if kernel.op in CONVOLUTIONS:
        weights = weights_of(kernel)
        window = [int(n) for n in numbers_of(kernel.attributes.get("kernel_shape", ""))]
        if not window and weights is not None and weights.dims:
            window = list(weights.dims[2:])
        kind = "depthwise convolution" if is_depthwise(kernel) else "grouped convolution" if group_of(kernel) > 1 else "convolution"
        if kernel.op == "ConvTranspose":
            kind = "transposed " + kind
        if len(window) == 1:
            kind = "1-d " + kind
        shape = "x".join(map(str, window)) or "?"
        blocked = ", blocked" if kernel.domain.endswith("nchwc") else ""
        return f"{kind} {shape}{blocked}{eight}"
    if kernel.op in PRODUCTS:
        weights = kernel.operands[3] if kernel.op in ("QLinearMatMul", "QGemm") and len(kernel.operands) > 3 else kernel.operands[1] if len(kernel.operands) > 1 else None
        kind = "product with weights" if weights is not None and weights.constant else "product of activations"
        return f"{kind} ({kernel.op}){eight}"
    return f"{kernel.op}{', blocked' if kernel.domain.endswith('nchwc') else ''}{eight}"


def features_of(kernel):
    """Raw numbers as predictors of other systems have them: dimensions, attributes, operations,
    weights."""
    found = {"flops": flops_of(kernel), "bytes": bytes_of(kernel), "weights": float(sum(t.elements for t in kernel.operands if t is not None and t.constant))}
    for side, tensors in (("in", kernel.operands[:2]), ("out", kernel.results[:1])):
        for i, one in enumerate(tensors):
            for j, size in enumerate(reversed(one.dims or ()) if one is not None else ()):
                found[f"{side}{i}.{j}"] = float(size)
    for name, value in kernel.attributes.items():
        for i, number in enumerate(numbers_of(value)):
            found[f"{name}.{i}"] = number
    return found
