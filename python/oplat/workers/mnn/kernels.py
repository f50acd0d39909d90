# SPDX-License-Identifier: Apache-2.0
"""From a key to a model of k copies of its kernel, in MNN's JSON form.

Operands arrive as they do in a network: one in MNN's blocked layout (@nc4hw4) is made by a layout
conversion that runs once, whatever k is, so that the slope does not hold it. A copy whose result
the next one does not read is read by a slice of one element: sessions keep what nobody reads.
"""
import json
import math
from dataclasses import dataclass, field

from ..errors import Unsupported
from ..inputs import Type
from ..keys import Alias, Key, Tensor
from . import data, operators

MNN_OF = {"f32": "DT_FLOAT", "i32": "DT_INT32", "u8": "DT_UINT8"}
MAX_ELEMENTS = 1 << 31  # MNN's sizes are 32-bit
# Copies of a kernel that is quicker on repeated data have inputs of their own, which stay in the
# core's cache together.
MAX_OWN_BYTES = 768 << 10
MAX_OWN_SETS = 64
BLOCKED = "nc4hw4"


@dataclass
class Build:
    """A model under construction. Tensors are numbers."""

    operators: list = field(default_factory=list)
    names: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)  # name -> Type
    limits: dict = field(default_factory=dict)  # name -> how many places its indices choose from
    # (number of floats, fan-in, draw) in the order of the file
    weights: list = field(default_factory=list)
    offset: int = 0
    first: str = ""  # name of the first copy

    def tensor(self, name):
        self.names.append(name)
        return len(self.names) - 1

    def add(self, name, parameters, operands, results=1):
        """An operator; gives its results."""
        made = [self.tensor(name if not number else f"{name}.{number}") for number in range(results)]
        self.operators.append({"name": name, "inputIndexes": operands, "outputIndexes": made, **parameters})
        return made

    def input(self, tensor, limit=None):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = Type(tensor.dtype, tensor.dims)
        if limit is not None:
            self.limits[name] = limit
        main = {"dims": tensor.dims, "dtype": MNN_OF[tensor.dtype], "dformat": "NCHW"}
        return self.add(name, {"type": "Input", "main_type": "Input", "main": main}, [])[0]

    def constant(self, tensor, values=None, draw=0):
        """Integers that are given, or random floats."""
        name = f"c{len(self.names)}"
        main = {"dims": tensor.dims, "dataFormat": "NCHW", "dataType": MNN_OF[tensor.dtype]}
        if values is not None:
            main["int32s" if tensor.dtype == "i32" else "float32s"] = values
        elif tensor.dtype == "f32":
            offset, sizes = self.reserve([tensor], draw)
            main["external"] = [offset, *sizes]
        else:
            raise Unsupported(f"a constant of type {tensor.dtype} without its values")
        return self.add(name, {"type": "Const", "main_type": "Blob", "main": main}, [])[0]

    def reserve(self, tensors, draw):
        """Place for arrays in the file of weights: (offset, [bytes, ...])."""
        offset, sizes = self.offset, []
        for tensor in tensors:
            count = tensor.elements()
            fan_in = math.prod(tensor.dims[1:]) if len(tensor.dims) > 1 else 1
            self.weights.append((count, fan_in, draw))
            sizes.append(4 * count)
            self.offset += 4 * count
        return offset, sizes

    def convert(self, value, source, target):
        main = {"source": source, "dest": target}
        return self.add(f"t{len(self.names)}", {"type": "ConvertTensor", "main_type": "TensorConvertInfo", "main": main}, [value])[0]

    def read_one(self, value, dims):
        """Somebody who reads one element of a result."""
        begin = self.constant(Tensor("i32", [len(dims)]), [0] * len(dims))
        size = self.constant(Tensor("i32", [len(dims)]), [1] * len(dims))
        return self.add(f"r{len(self.names)}", {"type": "SliceTf"}, [value, begin, size])[0]

    def write(self, engine, file, seed):
        """The model as `file` with its weights next to it; RuntimeError if MNN does not take it."""
        numpy = engine.numpy
        outputs = [self.names[each] for each in self.outputs]
        document = {"bizCode": "oplat", "oplists": self.operators, "outputName": outputs, "sourceType": "ONNX",
                    "tensorName": self.names}
        text = file.with_suffix(".source.json")
        with open(text, "w", encoding="ascii") as stream:
            json.dump(document, stream)
        engine.convert("JSON", text, file)
        with open(f"{file}.weight", "wb") as stream:
            for number, (count, fan_in, draw) in enumerate(self.weights):
                generator = numpy.random.default_rng([seed, draw, number if draw else 0, count])
                values = generator.uniform(0.01, 1.0, count)  # no zeros, no denormals
                if fan_in > 1:
                    values *= generator.choice([-1.0, 1.0], count) * math.sqrt(6.0 / fan_in)
                values.astype(numpy.float32).tofile(stream)


def dispatched(key):
    """The kernel by which an empty call is timed comes from no model and is ONNX's; MNN has the
    same."""
    if (key.domain, key.op) != ("", "Relu"):
        return key
    return Key("mnn", "ReLU", {"slope": 0.0}, key.operands, [key.result(0)])


class Kernel:
    """One kernel, ready to be written again and again."""

    def __init__(self, key):
        self.key = key = dispatched(key)
        if key.domain != "mnn":
            raise Unsupported(f"{key.domain or 'onnx'}:{key.op}: is not an operator of MNN")
        for entry in key.operands + key.results:
            if not isinstance(entry, Tensor):
                continue
            if entry.dims is None or None in entry.dims or entry.dtype not in MNN_OF:
                raise Unsupported("a tensor of unknown type or shape")
            if entry.elements() > MAX_ELEMENTS:
                raise Unsupported(f"a tensor of {entry.elements()} elements")
        if not key.results or not all(isinstance(entry, Tensor) for entry in key.results):
            raise Unsupported("a kernel without a result")
        if None in key.attributes.values() or None in key.operands:
            raise Unsupported("an unknown attribute or operand")
        tags = dict(key.tags)
        self.blocked = tags.pop(BLOCKED, [])
        self.blocked_results = tags.pop(f"{BLOCKED}_results", [])
        tags.pop("main", None)
        if tags or not isinstance(self.blocked, list) or not isinstance(self.blocked_results, list):
            raise Unsupported(f"the tag {next(iter(tags), BLOCKED)}")
        main_type = key.tags.get("main", operators.MAIN.get(key.op))
        names = operators.ARRAYS.get(main_type, ())
        arrays = [index for index, entry in enumerate(key.operands)
                  if isinstance(entry, Tensor) and entry.constant and entry.dtype == "f32" and entry.value is None]
        # Arrays of the parameters stand at the end; an operator without any takes constants as
        # operands.
        self.arrays = arrays[-len(names):] if names and key.op != "MatMul" else []
        self.views = self._read_views() if self.is_raster() else None
        constant = [isinstance(key.operand(index), Tensor) and key.operand(index).constant for index in range(len(key.operands))]
        function = key.attributes.get("opType")
        self.varied = data.is_quicker_on_repeated_data(key.op, constant, function)
        self.positive = data.is_positive(key.op, function)

    def is_raster(self):
        """Whether it is several operators, written down in its key."""
        return self.key.op in ("Raster", "Group")

    def _read_views(self):
        try:
            views = json.loads(self.key.attributes["views"])
            for view in views:
                kind, values, operands = view[:3]
                if not isinstance(kind, str) or not isinstance(values, dict) or not isinstance(operands, list):
                    raise ValueError("a view is [type, attributes, operands]")
            return views
        except (KeyError, TypeError, ValueError) as error:
            raise Unsupported(f"views that oplat cannot read: {error}") from error

    def chained(self):
        """The operand that a copy takes from the one before; None where shape or layout differ, or
        where copies are to see different data, or data that results are not."""
        if self.is_raster() or self.varied or self.key.attributes.get("opType") in data.NEVER_CHAINED:
            return None
        result = self.key.results[0]
        for index, entry in enumerate(self.key.operands):
            if isinstance(entry, Tensor) and not entry.constant and (entry.dims, entry.dtype) == (result.dims, result.dtype):
                return index if (index in self.blocked) == (0 in self.blocked_results) else None
        return None

    def bytes(self, copies):
        """What k copies hold, about. MNN packs the weights of every copy anew."""
        weights = activations = 0
        for entry in self.key.operands + self.key.results:
            if isinstance(entry, Tensor):
                size = 4 * entry.elements()
                if entry.constant:
                    weights += size
                else:
                    activations += size
        return weights * (copies + 1) + activations * (copies if self.is_raster() else 3)

    def build(self, copies, chain, distinct, results_as_outputs=False):
        build = Build()
        sets = [self._operands(build)]
        while len(sets) < self._own_sets(copies):
            sets.append(self._operands(build, sets[0]))
        link = self.chained() if chain else None
        value = weights = None
        for copy in range(copies):
            given = dict(sets[copy % len(sets)])
            if link is not None and copy:
                given[link] = value
            if self.is_raster():
                value = self._write_views(build, given, copy)
            else:
                if weights is None or distinct:
                    weights = self._weights(build, copy if distinct else 0)
                value = self._write(build, given, weights, copy)
            if self.is_raster() or (link is None and results_as_outputs) or not self.key.results[0].dims:
                build.outputs.append(value)
            elif link is None:
                build.outputs.append(build.read_one(value, self.key.results[0].dims))
        if link is not None:
            build.outputs.append(value)
        return build

    def _own_sets(self, copies):
        """How many sets of inputs the copies have, each in turn."""
        if not self.varied:
            return 1
        size = sum(4 * entry.elements() for entry in self.key.operands if isinstance(entry, Tensor) and not entry.constant)
        return min(copies, MAX_OWN_SETS, max(2, MAX_OWN_BYTES // max(1, size)))

    def _operands(self, build, shared=None):
        """index -> tensor of what all copies share; arrays of parameters are none. Constants are
        those of `shared`."""
        found = {}
        limits = data.limits_of_kernel(self.key)
        for index, entry in enumerate(self.key.operands):
            if index in self.arrays:
                continue
            if isinstance(entry, Alias):
                found[index] = found[entry.index]
            elif not entry.constant:
                found[index] = self._input(build, entry, index in self.blocked, limits.get(index))
            elif shared is not None:
                found[index] = shared[index]
            elif entry.value is not None:
                values = entry.value if isinstance(entry.value, list) else [entry.value] * max(1, entry.elements())
                if len(values) != max(1, entry.elements()):
                    raise Unsupported(f"a constant of {entry.elements()} elements with {len(values)} values")
                found[index] = build.constant(entry, values)
            else:
                found[index] = build.constant(entry)
        return found

    def _input(self, build, entry, blocked, limit):
        value = build.input(entry, limit)
        if not blocked:
            return value
        if entry.dtype != "f32":
            raise Unsupported(f"the blocked layout for {entry.dtype}")
        value = build.convert(value, "NCHW", "NC4HW4")
        if self.is_raster():  # or the conversion would be one of its views
            relu = {"type": "ReLU", "main_type": "Relu", "main": {"slope": 0.0}}
            value = build.add(f"s{len(build.names)}", relu, [value])[0]
        return value

    def _weights(self, build, draw):
        if not self.arrays:
            return ()
        tensors = [self.key.operands[index] for index in self.arrays]
        return (*build.reserve(tensors, draw), tensors[0].dims)

    def _write(self, build, given, weights, copy):
        key = self.key
        name = f"y{copy}"
        parameters = operators.parameters(key.op, key.attributes, key.tags, weights)
        build.first = build.first or name
        operands = [given[index] for index in range(len(key.operands)) if index in given]
        return build.add(name, parameters, operands, len(key.results))[0]

    def _write_views(self, build, given, copy):
        made = [[given[index]] for index in range(len(self.key.operands))]
        for number, (kind, values, operands, *results) in enumerate(self.views):
            inputs = []
            for each in operands:
                if isinstance(each, dict):
                    inputs.append(build.constant(Tensor("i32", each["dims"]), each["values"]))
                else:
                    place, result = each if isinstance(each, list) else (each, 0)
                    if not 0 <= place < len(made) or not 0 <= result < len(made[place]):
                        raise Unsupported(f"view {number} reads value {place}, which is not there")
                    inputs.append(made[place][result])
            parameters = operators.parameters(kind, values, {}, None)
            made.append(build.add(f"v{copy}.{number}", parameters, inputs, results[0] if results else 1))
        return made[-1][self.key.attributes.get("result", 0)]
