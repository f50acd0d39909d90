# SPDX-License-Identifier: Apache-2.0
"""From Paddle's optimised program to the kernels that it executes, each with its key."""
import math

from ..errors import bad_input
from ..inputs import Type
from ..keys import MAX_PRINTED, Alias, Key, Tensor, canonical, compact
from . import operators

BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}


def canonical_attributes(operation):
    found = {}
    for name, (_, value) in operation.attributes.items():
        if name in operators.INERT or (name in operators.NEUTRAL and operators.NEUTRAL[name] == value):
            continue
        found[name] = canonical(value)
    return found


class Planner:
    """Walks through a program once."""

    def __init__(self, program, batch=None):
        self.program, self.batch = program, batch
        self.constant = {}  # value -> its elements, or None where they are weights
        self.vectors = {}  # value -> the values that it ties together
        self.onednn = set()  # values in a layout of oneDNN
        self.used = {value for operation in program.operations for value in operation.operands}
        self.kernels = []  # (name, Key)
        self.weight_bytes = self.activation_bytes = 0.0
        self.inputs = {}  # name -> Type

    def run(self):
        for operation in self.program.operations:
            if operation.name == "builtin.split":
                self.vectors[operation.operands[0]] = list(operation.results)
        for number, operation in enumerate(self.program.operations):
            if operation.name in operators.FREE:
                self._tie(operation)
            elif operation.operands and all(value == 0 or value in self.constant for value in self._flat(operation.operands)):
                for result in operation.results:  # folded while the model is loaded
                    self.constant[result] = None
            else:
                self._kernel(number, operation)
        return self.kernels

    def dims(self, value):
        """Dimensions with the batch filled in."""
        tensor = self.program.types[value]
        if not isinstance(tensor, Type):
            raise bad_input(f"value {value} of the program is not a tensor")
        if -1 not in tensor.dims:
            return tensor.dims
        if self.batch is None or tensor.dims.index(-1) != 0 or -1 in tensor.dims[1:]:
            raise bad_input(f"a tensor has the unknown dimensions {tensor.dims}; set --batch, or export with fixed shapes")
        return [self.batch, *tensor.dims[1:]]

    def _flat(self, values):
        for value in values:
            if value in self.vectors:
                yield from self.vectors[value]
            else:
                yield value

    def _tie(self, operation):
        name, results = operation.name, operation.results
        if name == "builtin.combine":
            self.vectors[results[0]] = list(operation.operands)
            if all(value in self.constant for value in operation.operands):
                self.constant[results[0]] = None
        elif name == "builtin.split":
            self.onednn.update(results if operation.operands[0] in self.onednn else ())
        elif name in ("pd_op.data", "pd_op.feed"):
            self.inputs[operation.value("name")] = self.program.types[results[0]]
        elif name in ("pd_op.full_int_array", "pd_op.assign_value", "pd_op.assign_value_"):
            self.constant[results[0]] = operation.value("value") or operation.value("values")
        elif name.endswith(".full"):
            whole = self.program.types[results[0]].dtype in ("i32", "i64", "bool")
            count = math.prod(self.program.types[results[0]].dims)
            values = [int(operation.value("value"))] * count if whole and count <= MAX_PRINTED else None
            self.constant[results[0]] = values
        elif name in ("builtin.parameter", "builtin.constant"):
            self.constant[results[0]] = None

    def _entry(self, value, seen):
        if value == 0:
            return None
        if value in seen and value not in self.constant:
            return Alias(seen[value])
        dims, dtype = self.dims(value), self.program.types[value].dtype
        size = float(math.prod(dims) * BYTES.get(dtype, 1))
        if value not in self.constant:
            self.activation_bytes += size
            return Tensor(dtype, dims)
        self.weight_bytes += size
        values = self.constant[value]
        printed = values is not None and dtype in ("i32", "i64", "bool") and 0 < len(values) <= MAX_PRINTED
        return Tensor(dtype, dims, True, compact(values, dims) if printed else None)

    def _kernel(self, number, operation):
        dialect, _, name = operation.name.partition(".")
        if dialect not in ("pd_op", "onednn_op"):
            raise bad_input(f"operation {operation.name}: is not an operator of Paddle")
        onednn = dialect == "onednn_op"
        key = Key("paddle.onednn" if onednn else "paddle", name.rstrip(operators.WRITES_OVER))
        key.attributes = canonical_attributes(operation)
        seen = {}
        operands = list(self._flat(operation.operands))
        layouts = []
        for index, value in enumerate(operands):
            key.operands.append(self._entry(value, seen))
            if value in self.onednn and value not in seen:
                layouts.append(index)
            seen.setdefault(value, index)
        while key.operands and key.operands[-1] is None:
            key.operands.pop()
        results = list(self._flat(operation.results))
        for index, value in enumerate(results):
            read = value in self.used or index == 0 or self._is_vector(operation)
            key.results.append(Tensor(self.program.types[value].dtype, self.dims(value)) if read else None)
            if read and value not in self.constant:
                self.activation_bytes += math.prod(self.dims(value)) * BYTES.get(key.results[-1].dtype, 1)
        while key.results[-1] is None:
            key.results.pop()
        if layouts:
            key.tags["onednn_layout"] = layouts
        if onednn and self._result_in_onednn(key.op, 0 in layouts):
            self.onednn.update(operation.results)
            self.onednn.update(results)
        self.kernels.append((f"{name}_{number}", key))

    def _is_vector(self, operation):
        return isinstance(self.program.types[operation.results[0]], list)

    @staticmethod
    def _result_in_onednn(op, first):
        if op in operators.CONVOLUTIONS:
            return True
        return first and op not in operators.PLAIN_RESULT
