# SPDX-License-Identifier: Apache-2.0
"""From a graph of MNN and what a run of it executed to kernels, each with its key.

MNN executes less and more than the graph says. Operators that only move data (reshape, concat,
layout conversions, ...) are *views*: they run when somebody needs their result in memory, several
of them as one `Raster`, or never. A run with callbacks says which rasters there were and for whom
(`NAME_raster_0` is for operator NAME); the graph says which views each of them stands for. The key
of a raster holds these views. All other operators are kernels of their own; what they need of
rasters inside (to broadcast an operand, for example) belongs to them. Where MNN merges such a
raster with the views in front of the operator, both are one kernel, `Group`.
"""
import json
import math
import re
from dataclasses import dataclass

from ..errors import bad_input
from ..keys import MAX_PRINTED, Alias, Key, Tensor, compact
from . import operators
from .engine import listen

DTYPES = {"float": "f32", "int": "i32", "uint8": "u8", "int8": "i8", "int64": "i64", "double": "f64"}
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4}
RASTER_NAME = re.compile(r"(.*)_raster_\d+$", re.DOTALL)


@dataclass
class Value:
    """A tensor of the graph, by MNN's own shape inference."""

    dtype: str
    dims: list
    layout: str  # NCHW, NHWC or NC4HW4

    def bytes(self):
        return math.prod(self.dims) * BYTES.get(self.dtype, 1)


class Planner:
    """Reads the graph in the constructor; run() may be called once."""

    def __init__(self, engine, graph, file, shapes):
        self.operators = graph["oplists"]
        self.names = graph.get("tensorName", [])
        self.variables = self._variables(engine, file, shapes)
        self.producer, self.constant = {}, set()
        for operator in self.operators:
            operands = operator.get("inputIndexes", [])
            fixed = operator["type"] in ("Const", *operators.SHAPES)
            if fixed or (operands and all(each in self.constant for each in operands)):
                self.constant.update(operator.get("outputIndexes", []))
            for number, index in enumerate(operator.get("outputIndexes", [])):
                self.producer[index] = (operator, number)
        self.values = {}  # index -> Value
        self.real = set()  # values that are in memory
        self.kernels = []  # (name, Key)
        self.weight_bytes = self.activation_bytes = 0.0

    @staticmethod
    def _variables(engine, file, shapes):
        """name -> variable of MNN's expressions, which know their shapes."""
        with listen() as spoken:
            try:
                found = dict(engine.expr.load_as_dict(str(file)))
                for name, dims in shapes.items():
                    if name in found and list(found[name].shape) != list(dims):
                        found[name].resize(list(dims))
            except Exception as error:  # MNN raises plain Exception
                raise bad_input(f"{file}: {error or spoken.reason()}") from error
        return found

    def _variable(self, index):
        name = self.names[index] if 0 <= index < len(self.names) else None
        if name not in self.variables:
            raise bad_input(f"tensor {index} of the graph ({name}) has no shape; oplat cannot plan this model")
        return self.variables[name]

    def value(self, index):
        if index not in self.values:
            variable = self._variable(index)
            try:
                dims = [int(each) for each in variable.shape]
                dtype = DTYPES.get(str(variable.dtype).rpartition(".")[2], "any")
                layout = str(variable.data_format).rpartition(".")[2]
            except Exception as error:  # MNN raises plain Exception
                raise bad_input(f"tensor {self.names[index]}: MNN infers no shape: {error}") from error
            self.values[index] = Value(dtype, dims, layout)
        return self.values[index]

    def elements(self, index):
        """The values of a constant of integers, if they are few enough to print; else None."""
        value = self.value(index)
        if value.dtype != "i32" or not 0 < math.prod(value.dims) <= MAX_PRINTED:
            return None
        return [int(each) for each in self._variable(index).read().reshape(-1)]

    def run(self, executed):
        """`executed`: what Session.executed() gives. Returns kernels in the order of execution."""
        by_name = {}
        for operator in self.operators:
            by_name.setdefault(operator.get("name", ""), operator)
        groups = []
        for name, kind, operands, results in executed:
            match = RASTER_NAME.match(name)
            owner = match.group(1) if name not in by_name and match else name
            if not groups or groups[-1][0] != owner:
                groups.append((owner, []))
            groups[-1][1].append((kind, operands, results))
        own = {owner for owner, commands in groups if any(kind != "Raster" for kind, *_ in commands)}
        for operator in self.operators:
            if operator["type"] == "Input" or operator.get("name") in own:
                self.real.update(operator.get("outputIndexes", []))
        for owner, commands in groups:
            operator = by_name.get(owner)
            if operator is None:
                self.kernels.append((owner, Key("mnn", commands[-1][0], {"parameters": None})))
                continue
            rasters = [each for each in commands if each[0] == "Raster"]
            merged = self._rasters(operator, rasters, owner in own)
            if owner in own:
                self.kernels.append((owner, self._group_key(operator["outputIndexes"][0], "Group") if merged else self._key(operator)))
        self._count_bytes()
        return self.kernels

    def _rasters(self, operator, rasters, executes):
        """Kernels of the rasters that ran for views in front of `operator` (or for itself, if it is
        one). Returns whether one of them does more than these views, so that they can only be
        measured together with it."""
        merged = False
        for _, operands, results in rasters:
            views = self._views(operator, executes)
            if not views:
                break  # all that is left belongs to the operator itself
            fitting = [index for index in views if self._fits(index, operands, results[0])]
            if fitting:
                index = fitting[-1]
                self.kernels.append((f"{self.names[index]}_raster", self._group_key(index, "Raster")))
                self.real.add(index)
            elif executes and operators.arrays(operator) == {}:
                merged = merged or not self._broadcasts(operator, operands, results)
            elif not self._broadcasts(operator, operands, results):
                sources = [Tensor("f32", list(each)) for each in operands]
                key = Key("mnn", "Raster", {"views": None}, sources, [Tensor("f32", list(results[0]))])
                self.kernels.append((f"{operator['name']}_raster", key))
        return merged

    def _fits(self, index, operands, result):
        """Whether a raster of these shapes makes a view. Sources may have another shape of as many
        elements: results of some operators are views themselves."""
        sources = [math.prod(each) for each in self._frontier(index)[1]]
        return tuple(self.value(index).dims) == tuple(result) and sorted(sources) == sorted(map(math.prod, operands))

    def _broadcasts(self, operator, operands, results):
        """Whether a raster only gives an operand the shape of the operator's result."""
        shapes = [tuple(self.value(index).dims) for index in operator.get("inputIndexes", [])]
        result = tuple(self.value(operator["outputIndexes"][0]).dims)
        return len(operands) == 1 and tuple(operands[0]) in shapes and tuple(results[0]) == result

    def _views(self, operator, executes):
        """Values in front of `operator` that are not in memory, sources first."""
        found, seen = [], set()

        def walk(index):
            if index in seen or index in self.real or index in self.constant:
                return
            seen.add(index)
            for each in self.producer[index][0].get("inputIndexes", []):
                walk(each)
            found.append(index)

        for index in operator.get("inputIndexes", []) if executes else operator.get("outputIndexes", []):
            walk(index)
        return found

    def _is_data(self, index):
        """Whether a constant is an array that a view copies elements of, such as the class token of
        a ViT, and not a shape or a list of axes that says how."""
        return index in self.constant and self.value(index).dtype == "f32"

    def _frontier(self, index):
        """The values in memory that a view is made of, and their shapes."""
        sources = []

        def walk(each):
            if each in self.real or self._is_data(each):
                if each not in sources:
                    sources.append(each)
            elif each not in self.constant:
                for operand in self.producer[each][0].get("inputIndexes", []):
                    walk(operand)

        for operand in self.producer[index][0].get("inputIndexes", []):
            walk(operand)
        return sources, [tuple(self.value(each).dims) for each in sources]

    def _group_key(self, index, op):
        """Several operators as their sources and the views behind them. A view is [type,
        attributes, operands]: numbers count sources and then views, [number, result] where a view
        has several, and {"dims", "values"} is a constant."""
        sources, _ = self._frontier(index)
        numbers = {each: number for number, each in enumerate(sources)}
        places, views = {}, []

        def operand(each):
            if each in numbers:
                return numbers[each]
            if each in self.constant:
                return {"dims": self.value(each).dims, "values": self.elements(each)}
            made, result = self.producer[each]
            number = place(made)
            return number if len(made["outputIndexes"]) == 1 else [number, result]

        def place(made):
            if id(made) not in places:
                operands = [operand(each) for each in made.get("inputIndexes", [])]
                places[id(made)] = len(sources) + len(views)
                results = len(made["outputIndexes"])
                views.append([made["type"], operators.attributes(made), operands] + ([results] if results > 1 else []))
            return places[id(made)]

        made, result = self.producer[index]
        place(made)
        known = not any(isinstance(each, dict) and each["values"] is None for view in views for each in view[2])
        known = known and not any(None in view[1].values() for view in views)
        known = known and all(operators.MAIN.get(view[0]) or not view[1] for view in views)
        text = json.dumps(views, separators=(",", ":"), sort_keys=True) if known else None
        key = Key("mnn", op, {"views": text} | ({"result": result} if result else {}))
        self._operands(key, sources)
        self._results(key, [index])
        return key

    def _key(self, operator):
        key = Key("mnn", operator["type"], operators.attributes(operator))
        main_type = operator.get("main_type", "NONE")
        if main_type != operators.MAIN.get(operator["type"], "NONE"):
            key.tags["main"] = main_type
        self._operands(key, operator.get("inputIndexes", []))
        counts = operators.arrays(operator)
        if counts is None:
            key.attributes["external"] = None
        for name, count in (counts or {}).items():
            key.operands.append(Tensor("f32", self._array_dims(operator, name, count), True))
            self.weight_bytes += 4.0 * count
        self._results(key, operator.get("outputIndexes", []))
        return key

    def _operands(self, key, indices):
        seen = {}
        layouts = {}
        for number, index in enumerate(indices):
            if index in seen:
                key.operands.append(Alias(seen[index]))
                continue
            seen[index] = number
            value = self.value(index)
            if index in self.constant:
                elements = self.elements(index)
                text = None if elements is None else compact(elements, value.dims)
                key.operands.append(Tensor(value.dtype, value.dims, True, text))
            else:
                key.operands.append(Tensor(value.dtype, value.dims))
            if value.layout != "NCHW" and index not in self.constant:
                layouts.setdefault(value.layout.lower(), []).append(number)
        key.tags |= layouts

    def _results(self, key, indices):
        for number, index in enumerate(indices):
            value = self.value(index)
            key.results.append(Tensor(value.dtype, value.dims))
            if value.layout != "NCHW":
                key.tags.setdefault(f"{value.layout.lower()}_results", []).append(number)

    @staticmethod
    def _array_dims(operator, name, count):
        common = operator.get("main", {}).get("common", {})
        if name != "weight" or operator["type"] not in operators.CONVOLUTIONS:
            return [count]
        taps = [common.get("kernelY", 1), common.get("kernelX", 1)]
        group = max(1, common.get("group", 1))
        outputs = common.get("outputCount", 0)
        first = count // max(1, outputs // group * math.prod(taps)) if operator["type"].startswith("Deconvolution") else outputs
        dims = [first, count // max(1, first * math.prod(taps)), *taps]
        return dims if math.prod(dims) == count else [count]

    def _count_bytes(self):
        for index in self.real:
            self.activation_bytes += self.value(index).bytes()
        for operator in self.operators:
            if operator["type"] == "Const":
                self.weight_bytes += self.value(operator["outputIndexes"][0]).bytes()
