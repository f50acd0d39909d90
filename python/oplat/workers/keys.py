# SPDX-License-Identifier: Apache-2.0
"""A key (docs/reference/keys.md) as Python objects. liboplat_worker reads and prints the text.

Values are int, float, str, lists of them, or None for "?"; true and false are the words.
"""
import math
import struct
from dataclasses import dataclass, field

from . import harness

# Integer constants of up to so many elements stand in keys with their values.
MAX_PRINTED = 64


@dataclass
class Tensor:
    """An operand or result: f32[1,64,56,56], i64c[2]=[1,1]."""

    dtype: str
    dims: list  # None: the rank is unknown; a dimension of None is unknown
    constant: bool = False
    # of a constant that decides shape or algorithm; one value if all are equal
    value: object = None

    def elements(self):
        return math.prod(self.dims)


@dataclass
class Alias:
    """&i: as operand, the same tensor as operand i; as result, may be written over operand i."""

    index: int


@dataclass
class Key:
    domain: str
    op: str
    attributes: dict = field(default_factory=dict)
    operands: list = field(default_factory=list)  # Tensor, Alias, or None where missing
    results: list = field(default_factory=list)
    tags: dict = field(default_factory=dict)
    since: int | None = None

    def __str__(self):
        """The canonical text; ValueError if this is not a key."""
        return harness.print_key({
            "domain": self.domain, "op": self.op, "since": self.since,
            "tags": values_to_json(self.tags), "attributes": values_to_json(self.attributes),
            "operands": [entry_to_json(entry) for entry in self.operands],
            "results": [entry_to_json(entry) for entry in self.results]})

    def operand(self, index):
        """Operand `index` with &j followed."""
        entry = self.operands[index]
        return self.operands[entry.index] if isinstance(entry, Alias) else entry

    def result(self, index):
        entry = self.results[index]
        return self.operand(entry.index) if isinstance(entry, Alias) else entry


def parse(text):
    """ValueError, with the place, if `text` is not a key."""
    found = harness.parse_key(text)
    return Key(found["domain"], found["op"], values_from_json(found["attributes"]),
               [entry_from_json(entry) for entry in found["operands"]],
               [entry_from_json(entry) for entry in found["results"]],
               values_from_json(found["tags"]), found["since"])


def value_to_json(value):
    """JSON has no nan and no inf."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return [value_to_json(each) for each in value] if isinstance(value, (list, tuple)) else value


def value_from_json(value):
    if isinstance(value, dict):
        return float(value["float"])
    return [value_from_json(each) for each in value] if isinstance(value, list) else value


def values_to_json(values):
    return {name: value_to_json(value) for name, value in values.items()}


def values_from_json(values):
    return {name: value_from_json(value) for name, value in values.items()}


def entry_to_json(entry):
    if entry is None:
        return None
    if isinstance(entry, Alias):
        return {"alias": entry.index}
    found = {"dtype": entry.dtype, "dims": entry.dims, "constant": entry.constant}
    return found if entry.value is None else found | {"value": value_to_json(entry.value)}


def entry_from_json(entry):
    if entry is None:
        return None
    if "alias" in entry:
        return Alias(entry["alias"])
    return Tensor(entry["dtype"], entry["dims"], entry.get("constant", False), value_from_json(entry.get("value")))


def compact(values, dims):
    """A constant's elements as a key prints them: one value where all are equal."""
    if not dims:
        return values[0]
    return values[0] if len(values) > 1 and all(value == values[0] for value in values) else list(values)


def short_float(value):
    """The double of the shortest text that reads back to the same 32-bit number."""
    if not math.isfinite(value) or abs(value) > 3e38:
        return value
    narrow = struct.pack("f", value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == narrow:
            return float(text)
    return value


def canonical(value):
    """A value of an attribute as keys have it: true and false as words, floats as the shortest
    text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return short_float(value)
    return [canonical(each) for each in value] if isinstance(value, list) else value
