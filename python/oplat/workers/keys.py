# SPDX-License-Identifier: Apache-2.0
"""Keys (docs/reference/keys.md): the canonical text of one kernel, read and printed. Values are int, float, str, lists of
them, or UNKNOWN for "?"; a str is a word or a string, which print differently by what they hold."""
import json
import re
from dataclasses import dataclass, field
from decimal import Decimal

MOST_BYTES = 16 << 20
MOST_LISTS = 32
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
NAME = re.compile(r"[A-Za-z0-9_.\-]+")
TOKEN = re.compile(r"[A-Za-z0-9_.\-+]+")
INTEGER = re.compile(r"-?[0-9]+\Z")


class NoKey(ValueError):
    """What is no key, with the place."""


class Unknown:
    """The value "?"."""

    def __repr__(self):
        return "?"


UNKNOWN = Unknown()


@dataclass
class Tensor:
    """An operand or result: f32[1,64,56,56], i64c[2]=[1,1]."""

    dtype: str
    dims: list
    constant: bool = False
    value: object = None  # of a constant that decides shape or algorithm; a list, or one value where all are equal

    def elements(self):
        count = 1
        for dim in self.dims:
            count *= dim
        return count


@dataclass
class Alias:
    """&i: as operand, the same tensor as operand i; as result, may be written over operand i."""

    index: int


@dataclass
class Key:
    domain: str
    op: str
    attributes: dict = field(default_factory=dict)
    operands: list = field(default_factory=list)  # Tensor, Alias, or None where absent
    results: list = field(default_factory=list)
    tags: dict = field(default_factory=dict)
    since: int | None = None

    def __str__(self):
        text = (name_text(self.domain) + ":" if self.domain else "") + name_text(self.op)
        if self.since is not None:
            text += f"/{self.since}"
        text += "".join("@" + named(item) for item in sorted(self.tags.items()))
        text += "{" + ",".join(named(item) for item in sorted(self.attributes.items())) + "}"
        return text + entries_text(self.operands) + "->" + entries_text(self.results)

    def operand(self, index):
        """Operand `index` with &j followed."""
        entry = self.operands[index]
        return self.operands[entry.index] if isinstance(entry, Alias) else entry

    def result(self, index):
        entry = self.results[index]
        return self.operand(entry.index) if isinstance(entry, Alias) else entry


def quoted(text):
    return json.dumps(text, ensure_ascii=True)


def name_text(text):
    return text if NAME.fullmatch(text) else quoted(text)


def named(pair):
    return f"{name_text(pair[0])}={value_text(pair[1])}"


def float_text(value):
    """The shorter of the fixed and the scientific form that read back to `value`, as C++ prints it."""
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = exponent + len(text) - 1 if value else 0
    scientific = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{'-' if power < 0 else '+'}{abs(power):02d}"
    if exponent >= 0:
        fixed = text + "0" * exponent if value else "0"
    elif -exponent < len(text):
        fixed = text[:exponent] + "." + text[exponent:]
    else:
        fixed = "0." + "0" * (-exponent - len(text)) + text
    best = fixed if len(fixed) <= len(scientific) else scientific
    return ("-" if sign else "") + (best if "." in best or "e" in best else best + ".0")


def value_text(value):
    if value is UNKNOWN:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, str):
        return value if WORD.match(value) and value not in ("inf", "nan") else quoted(value)
    return "[" + ",".join(value_text(each) for each in value) + "]"


def entry_text(entry):
    if entry is None:
        return "-"
    if isinstance(entry, Alias):
        return f"&{entry.index}"
    dims = ",".join("?" if dim is None else str(dim) for dim in entry.dims)
    value = "" if entry.value is None else "=" + value_text(entry.value)
    return f"{entry.dtype}{'c' if entry.constant else ''}[{dims}]{value}"


def entries_text(entries):
    return "(" + ",".join(map(entry_text, entries)) + ")"


class Reader:
    """Reads one key; what is no key raises with the byte where it goes wrong."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def wrong(self, what):
        return NoKey(f"byte {self.at}: {what}, found {self.text[self.at:self.at + 20]!r}")

    def accept(self, mark):
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def expect(self, mark):
        if not self.accept(mark):
            raise self.wrong(f'expected "{mark}"')

    def match(self, pattern, what):
        found = pattern.match(self.text, self.at)
        if not found:
            raise self.wrong(f"expected {what}")
        self.at = found.end()
        return found.group()

    def string(self):
        try:
            value, self.at = json.decoder.scanstring(self.text, self.at + 1, True)
        except ValueError as error:
            raise self.wrong("expected a string") from error
        return value

    def name(self):
        return self.string() if self.text.startswith('"', self.at) else self.match(NAME, "a name")

    def integer(self):
        text = self.match(TOKEN, "an integer")
        if not INTEGER.match(text):
            raise self.wrong("expected an integer")
        return int(text)

    def value(self, depth=0):
        if self.accept("?"):
            return UNKNOWN
        if self.text.startswith('"', self.at):
            return self.string()
        if self.accept("["):
            if depth >= MOST_LISTS:
                raise self.wrong(f"lists nest at most {MOST_LISTS} deep")
            values = []
            if not self.accept("]"):
                values.append(self.value(depth + 1))
                while self.accept(","):
                    values.append(self.value(depth + 1))
                self.expect("]")
            return values
        text = self.match(TOKEN, "a value")
        if INTEGER.match(text):
            return int(text)
        if WORD.match(text) and text not in ("inf", "nan"):
            return text
        try:
            return float(text)
        except ValueError as error:
            raise self.wrong("expected a value") from error

    def named(self):
        name = self.name()
        self.expect("=")
        return name, self.value()

    def entry(self):
        if self.accept("-"):
            return None
        if self.accept("&"):
            return Alias(self.integer())
        dtype = self.match(re.compile(r"[a-z0-9]+"), "a type")
        constant = dtype.endswith("c")
        tensor = Tensor(dtype[:-1] if constant else dtype, [], constant)
        self.expect("[")
        while not self.accept("]"):
            tensor.dims.append(None if self.accept("?") else self.integer())
            if not self.accept(",") and not self.text.startswith("]", self.at):
                raise self.wrong('expected "," or "]"')
        if self.accept("="):
            tensor.value = self.value()
        return tensor

    def entries(self):
        self.expect("(")
        found = []
        if not self.accept(")"):
            found.append(self.entry())
            while self.accept(","):
                found.append(self.entry())
            self.expect(")")
        return found

    def key(self):
        key = Key("", self.name())
        if self.accept(":"):
            key.domain, key.op = key.op, self.name()
        if self.accept("/"):
            key.since = self.integer()
        while self.accept("@"):
            name, value = self.named()
            key.tags[name] = value
        self.expect("{")
        while not self.accept("}"):
            name, value = self.named()
            key.attributes[name] = value
            if not self.accept(",") and not self.text.startswith("}", self.at):
                raise self.wrong('expected "," or "}"')
        key.operands = self.entries()
        self.expect("->")
        key.results = self.entries()
        if self.at != len(self.text):
            raise self.wrong("expected the end")
        for entry in key.operands + key.results:
            if isinstance(entry, Alias) and not (0 <= entry.index < len(key.operands) and isinstance(key.operand(entry.index), Tensor)):
                raise self.wrong(f"&{entry.index} names no operand")
        return key


def parse(text):
    if len(text) > MOST_BYTES:
        raise NoKey(f"a key of {len(text)} bytes is longer than {MOST_BYTES}")
    return Reader(text).key()
