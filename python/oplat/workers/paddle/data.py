# SPDX-License-Identifier: Apache-2.0
"""Which operators of Paddle look at their data, and which data suit them
(docs/adr/0050-data-that-change-from-run-to-run.md)."""
from .operators import WRITES_OVER

# That take longer on other data than on those of the run before: the processor has learnt their
# branches.
LEARNT = {"hardshrink", "masked_select", "matrix_nms", "multiclass_nms3", "nms", "nonzero", "prelu", "topk", "where"}
# Operands that hold indices, and what they choose rows of, which the caches keep.
LOOK_UPS = {"embedding": (0, 1), "gather": (1, 0), "gather_nd": (1, 0), "index_select": (1, 0), "take_along_axis": (1, 0)}
# Between an input and the operator that looks at it.
PASSING = {"cast", "flatten", "reshape", "squeeze", "transpose", "unsqueeze"}
MAX_PASSED = 100


def plain_name(operation):
    """Without the dialect, and without what an operator has that writes over its operand."""
    return operation.name.partition(".")[2].rstrip(WRITES_OVER)


def look_at(program):
    """Whether a program holds an operator that is quicker on repeated data, and input -> how many
    places its indices choose from."""
    producers, weights, limits, varied = {}, set(), {}, False
    for operation in program.operations:
        for value in operation.results:
            producers[value] = operation
            if operation.name in ("builtin.parameter", "builtin.constant"):
                weights.add(value)
    for operation in program.operations:
        op = plain_name(operation)
        varied = varied or op in LEARNT
        if op not in LOOK_UPS or len(operation.operands) < 2:
            continue
        index, table = (operation.operands[each] for each in LOOK_UPS[op])
        if table not in weights or index in weights:
            continue
        varied = True
        source = producers.get(index)
        for _ in range(MAX_PASSED):
            if source is None or plain_name(source) not in PASSING or not source.operands:
                break
            source = producers.get(source.operands[0])
        if source is not None and source.name in ("pd_op.data", "pd_op.feed"):
            name, dims = source.value("name"), getattr(program.types.get(table), "dims", [])
            # Legal along every axis.
            limit = max(1, min(dims[:1] if op == "embedding" else dims, default=1))
            limits[name] = min(limit, limits.get(name, limit))
    return varied, limits
