# SPDX-License-Identifier: Apache-2.0
"""PIR programs as Paddle 3 writes them: JSON, names of dialects cut down to digits, values numbered
from 1."""
import json
from dataclasses import dataclass, field

from ..errors import bad_input
from ..inputs import Type

DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf", "3": "custom_op", "4": "dist"}
NUMBERS = {name: number for number, name in DIALECTS.items()}
# Types of elements: PIR's name, the key's.
ELEMENTS = (("t_f32", "f32"), ("t_f64", "f64"), ("t_f16", "f16"), ("t_bf16", "bf16"), ("t_i64", "i64"), ("t_i32", "i32"),
            ("t_i16", "i16"), ("t_i8", "i8"), ("t_ui8", "u8"), ("t_bool", "bool"))
KEY_OF = dict(ELEMENTS)
PIR_OF = {key: pir for pir, key in ELEMENTS}
MAX_OPERATIONS = 100_000


@dataclass
class Operation:
    """One operation. Values are numbers; 0 stands for an operand that is not there."""

    name: str  # with its dialect: pd_op.conv2d
    operands: list = field(default_factory=list)
    results: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)  # name -> (PIR's type, value)

    def value(self, name, default=None):
        return self.attributes.get(name, (None, default))[1]


@dataclass
class Program:
    operations: list
    types: dict  # value -> Type, a list of them (a vector), or None


def full_name(text):
    dialect, _, name = text.partition(".")
    return f"{DIALECTS.get(dialect, dialect)}.{name}"


def short_name(name):
    dialect, _, rest = name.partition(".")
    return f"{NUMBERS[dialect]}.{rest}"


def read_type(node):
    kind, data = node["#"].partition(".")[2], node.get("D")
    if kind == "t_dtensor":
        return Type(KEY_OF.get(data[0]["#"].partition(".")[2], "any"), list(data[1]))
    if kind == "t_vec":
        return [read_type(each) for each in data]
    return None


def read_attribute(node):
    kind, data = node["#"].partition(".")[2], node.get("D", node.get("VD"))
    if kind == "a_array":
        return kind, [read_attribute(each)[1] for each in data]
    if kind == "a_scalar":
        return kind, data[1]
    return kind, data


def read_operation(node, types):
    if node["#"] == "p":
        value = node["O"]["%"]
        types[value] = read_type(node["O"]["TT"])
        return Operation("builtin.parameter", [], [value], {"parameter_name": ("a_str", node["A"][3])})
    results = []
    for result in node["O"]:
        results.append(result["%"])
        types[result["%"]] = read_type(result["TT"])
    attributes = {each["N"]: read_attribute(each["AT"]) for each in node["A"] if "AT" in each}
    if "regions" in node:
        raise bad_input(f"operation {full_name(node['#'])}: programs with branches or loops are not supported")
    return Operation(full_name(node["#"]), [each["%"] for each in node["I"]], results, attributes)


def read(path):
    """The program in a file; what is none is an error that names the file."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document["base_code"]["magic"] != "pir":
            raise KeyError("pir")
        nodes = document["program"]["regions"][0]["blocks"][0]["ops"]
        if len(nodes) > MAX_OPERATIONS:
            raise bad_input(f"{path}: has {len(nodes)} operations; the limit is {MAX_OPERATIONS}")
        types = {}
        return Program([read_operation(node, types) for node in nodes], types)
    except OSError as error:
        raise bad_input(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise bad_input(f"{path}: is not a program of Paddle 3: {type(error).__name__}: {error}") from error


class Writer:
    """Puts a program together, operation by operation."""

    def __init__(self):
        self.nodes, self.parameters, self.next_value = [], {}, 1

    def _results(self, types):
        nodes = []
        for each in types:
            nodes.append({"%": self.next_value, "TT": tensor_node(each)})
            self.next_value += 1
        return nodes

    def parameter(self, tensor_type):
        """A constant; its name is the key of `parameters`, filled in by the caller."""
        name = f"w{len(self.parameters):05d}"
        self.parameters[name] = tensor_type
        result, = self._results([tensor_type])
        self.nodes.append({"#": "p", "A": [0, 1, 1, name], "DA": [], "OA": [1, 0, 1], "O": result, "QA": []})
        return result["%"], name

    def add(self, name, operands, attributes, types):
        """`attributes`: name -> node of PIR. Gives the values of the results."""
        results = self._results(types)
        named = [{"N": each, "AT": node} for each, node in attributes.items()]
        stop = {"N": "stop_gradient", "AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}] * len(results)}}
        self.nodes.append({"#": short_name(name), "A": named, "I": [{"%": each} for each in operands], "O": results, "OA": [stop]})
        return [each["%"] for each in results]

    def write(self, path):
        blocks = [{"#": "block_0", "args": [], "ops": self.nodes}]
        document = {"base_code": {"magic": "pir", "trainable": True, "version": 4},
                    "program": {"regions": [{"#": "region_0", "blocks": blocks}]}}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)


def tensor_node(tensor_type):
    if isinstance(tensor_type, list):
        return {"#": "0.t_vec", "D": [tensor_node(each) for each in tensor_type]}
    return {"#": "0.t_dtensor", "D": [{"#": "0." + PIR_OF[tensor_type.dtype]}, tensor_type.dims, "NCHW", [], 0]}
