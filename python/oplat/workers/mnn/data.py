# SPDX-License-Identifier: Apache-2.0
"""Which operators of MNN look at their data, and which data suit them
(docs/adr/0050-data-that-change-from-run-to-run.md)."""
from ..keys import Tensor

# That take longer on other data than on those of the run before: the processor has learnt their
# branches.
LEARNT = {"ELU", "NonMaxSuppressionV2", "Select", "Selu", "TopKV2", "Where"}
# The same of functions of UnaryOp (bench/value_costs_elsewhere.py).
LEARNT_FUNCTIONS = {"ACOS", "ASIN", "ASINH", "ATAN", "ATANH", "BNLL", "COS", "ERF", "ERFC", "ERFINV", "GELU_STANDARD", "ROUND", "SIN", "TAN"}
# Defined for positive numbers alone: of others MNN's take up to twice as long to find out.
POSITIVE_FUNCTIONS = {"ACOSH", "LOG", "LOG1P", "RSQRT", "SQRT"}
# Their results are not what they are defined for.
NEVER_CHAINED = {"ACOSH", "LOG"}
# Of these operand 1 holds indices into operand 0, whose rows the caches keep.
GATHERS = {"Gather", "GatherElements", "GatherND", "GatherV2"}
# Between an input and the operator that looks at it.
PASSING = {"Cast", "ConvertTensor", "ExpandDims", "Flatten", "Permute", "Reshape", "Squeeze", "Unsqueeze"}
MAX_PASSED = 100


def is_quicker_on_repeated_data(op, constant, function=None):
    """`constant`: which operands are constants. `function`: the opType of a UnaryOp."""
    return op in LEARNT or op == "UnaryOp" and function in LEARNT_FUNCTIONS or op in GATHERS and len(constant) > 1 and constant[0] and not constant[1]


def index_limit(op, dims, axis):
    """How many places the indices of a gather choose from. `dims`: of what is indexed."""
    if op == "GatherND":  # tuples, each number of which is below the smallest dimension
        return max(1, min(dims, default=1))
    return max(1, dims[axis]) if -len(dims) <= axis < len(dims) else 1


def is_positive(op, function=None):
    """Whether a kernel is given numbers above 0, as a model that computes with it gives it."""
    return op == "UnaryOp" and function in POSITIVE_FUNCTIONS


def limits_of_kernel(key):
    """operand -> how many places its indices choose from."""
    if key.op == "Select":  # a condition is an integer
        return {0: 2}
    table = key.operands[0] if key.operands else None
    if key.op not in GATHERS or len(key.operands) < 2 or not isinstance(table, Tensor):
        return {}
    axis = key.attributes.get("axis", 0)
    if len(key.operands) > 2 and isinstance(key.operands[2], Tensor) and key.operands[2].value is not None:
        value = key.operands[2].value
        axis = value[0] if isinstance(value, list) and value else value
    return {1: index_limit(key.op, table.dims, axis if isinstance(axis, int) else 0)}


def look_at(graph):
    """Whether a graph holds an operator that is quicker on repeated data, and input -> how many
    places its indices choose from."""
    producers, constants, limits, varied = {}, {}, {}, False
    for operator in graph["oplists"]:
        for index in operator.get("outputIndexes", []):
            producers[index] = operator
            if operator["type"] == "Const":
                constants[index] = operator.get("main", {})
    for operator in graph["oplists"]:
        op, operands = operator["type"], operator.get("inputIndexes", [])
        if not is_quicker_on_repeated_data(op, [each in constants for each in operands], operator.get("main", {}).get("opType")):
            continue
        varied = True
        if op not in GATHERS:
            continue
        axes = constants.get(operands[2], {}).get("int32s", []) if len(operands) > 2 else []
        axis = axes[0] if axes else operator.get("main", {}).get("axis", 0)
        source = producers.get(operands[1])
        for _ in range(MAX_PASSED):
            # Indices from the end of a table, which may be negative: plus its size, modulo its
            # size.
            values = [each for each in source.get("inputIndexes", []) if each not in constants] if source else []
            if not values or not (source["type"] in PASSING or source["type"] == "BinaryOp" and len(values) == 1):
                break
            source = producers.get(values[0])
        if source is not None and source["type"] == "Input":
            limit = index_limit(op, constants[operands[0]].get("dims", []), axis)
            limits[source["name"]] = min(limit, limits.get(source["name"], limit))
    return varied, limits
