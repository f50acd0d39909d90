# SPDX-License-Identifier: Apache-2.0
"""Models by the sum of their operators, as MMT does it, and what it left out counted too.

A module that the table has under its repr and the shape of its input counts whole. Any other is
descended into. What is left is what torch executes outside of such modules: modules that the table
lacks, and functional operators (`x + y`, `torch.cat`), which MMT counted as nothing. Each of them
is estimated from its arithmetic and its bytes, at the speed of the modules that were found.
"""
from __future__ import annotations

import json
import math
import os
import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oplat import _core
from oplat._evaluating import by_parts, evaluating
from oplat.errors import InputError, MissingKernels, PredictionWarning

from . import operators

if TYPE_CHECKING:
    import torch

# Of the time that a byte takes next to an arithmetic operation: the balance of a CPU, roughly. Only
# the proportion counts, since the modules that were found say how fast both are.
OPERATIONS_OF_A_BYTE = 10.0
# No estimate is closer than this factor, however alike the found modules are.
MIN_FACTOR = 2.0
# What only gives a tensor another shape.
VIEWS = {"view", "_unsafe_view", "reshape", "_reshape_alias", "t", "transpose", "permute", "expand", "slice", "select", "unsqueeze",
         "squeeze", "detach", "alias", "as_strided", "split", "split_with_sizes", "chunk", "unbind", "flatten", "lift_fresh"}
# What gives a value to Python, or has a result whose shape depends on values.
DECISIONS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_consecutive", "unique_dim"}
PRODUCTS = {"mm": (0, 1), "addmm": (1, 2), "bmm": (0, 1), "baddbmm": (1, 2)}
# That read the chosen rows of their first operand, and no others.
LOOKUPS = {"embedding", "gather", "index", "index_select"}
# A recurrent layer in one operator: its weights are these operands.
RECURRENT = {"mkldnn_rnn_layer": slice(1, 3)}


@dataclass
class Part:
    """A line of the answer: a module of the table, or an operator that was estimated."""

    name: str
    input_shape: list[int]
    output_shape: list[int]
    ms: float
    low: float
    high: float
    source: str  # "table" or "estimate"
    work: float = 0.0


class Latency(float):
    """ms, with an interval and the parts that it is the sum of."""

    low: float
    high: float
    parts: list[Part]

    @staticmethod
    def of(ms: float, low: float, high: float, parts: list[Part]) -> Latency:
        made = Latency(ms)
        made.low, made.high, made.parts = low, high, parts
        return made

    @staticmethod
    def unknown(ms: float) -> Latency:
        """Of somebody else's predictor: a number whose interval is not known, and holds
        everything."""
        return Latency.of(ms, 0.0, float("inf"), [])

    def range_text(self) -> str:
        return "unknown" if self.high == float("inf") else f"{self.low:.4f} to {self.high:.4f}"


def features(latency: Latency) -> tuple[int, int]:
    """(modules, bytes of their results): what a sum of modules costs beyond their times."""
    return len(latency.parts), sum(4 * math.prod(part.output_shape) for part in latency.parts)


@dataclass
class Call:
    """What a module did in one forward pass: modules and operators that it called."""

    name: str  # of the class
    repr: str
    input_shape: list[int] | None
    output_shape: list[int] = field(default_factory=list)
    calls: list[Call | Operation] = field(default_factory=list)
    module: Any = None  # where it was executed

    def work(self) -> float:
        return sum(each.work() if isinstance(each, Call) else each.work for each in self.calls)


@dataclass
class Operation:
    """An operator that torch executed, views left out."""

    name: str
    input_shape: list[int]
    output_shape: list[int]
    work: float


@dataclass
class RecordedModel:
    """What one forward pass of a model executed: all that predicting needs, without torch, weights
    or pickles."""

    name: str
    input_shape: list[int]
    root: Call
    # operators whose results depend on values, not only on shapes
    decisions: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "input_shape": self.input_shape, "root": call_to_json(self.root), "decisions": self.decisions}

    @staticmethod
    def from_json(found: Any) -> RecordedModel:
        """ValueError if it is not what to_json() made."""
        try:
            root = call_from_json(found["root"])
            if not isinstance(root, Call):
                raise TypeError("the model is not a module")
            return RecordedModel(str(found["name"]), shape_from_json(found["input_shape"]), root, [str(each) for each in found["decisions"]])
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"not a recorded model: {error}") from error


def call_to_json(call: Call | Operation) -> dict[str, Any]:
    if isinstance(call, Operation):
        return {"operator": call.name, "input": call.input_shape, "output": call.output_shape, "work": call.work}
    return {"module": call.name, "repr": call.repr, "input": call.input_shape, "output": call.output_shape,
            "calls": [call_to_json(each) for each in call.calls]}


def call_from_json(found: Any) -> Call | Operation:
    if "operator" in found:
        work = found["work"]
        if not isinstance(work, (int, float)) or not 0 <= work < float("inf"):
            raise TypeError(f"work of {work!r}")
        return Operation(str(found["operator"]), shape_from_json(found["input"]), shape_from_json(found["output"]), float(work))
    shape = found["input"]
    return Call(str(found["module"]), str(found["repr"]), None if shape is None else shape_from_json(shape),
                shape_from_json(found["output"]), [call_from_json(each) for each in found["calls"]])


def shape_from_json(found: Any) -> list[int]:
    if not isinstance(found, list) or not all(isinstance(dim, int) and dim >= 0 for dim in found):
        raise TypeError(f"shape of {found!r}")
    return found


@dataclass
class Recorder:
    """What a forward pass executes, as it goes."""

    stack: list[Call] = field(default_factory=lambda: [Call("", "", None)])
    decisions: list[str] = field(default_factory=list)

    def enter(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        call = Call(type(module).__name__, repr(module), first_shape(inputs), module=module)
        self.stack[-1].calls.append(call)
        self.stack.append(call)

    def leave(self, module: torch.nn.Module, output: Any) -> None:
        if not any(call.module is module for call in self.stack):
            return
        while (call := self.stack.pop()).module is not module:
            pass  # ended by an exception that the caller took
        call.output_shape = first_shape((output,)) or []

    def operator(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        base = name.split(".")[0]
        if base in DECISIONS:
            self.decisions.append(f"{self.stack[-1].name}: {base.lstrip('_')}")
        if base in VIEWS:
            return
        shape = first_shape(arguments[PRODUCTS[base][0]:] if base in PRODUCTS else arguments) or []
        self.stack[-1].calls.append(Operation(base, shape, first_shape((result,)) or [], work_of(base, arguments, result)))


Table = dict[tuple[str, tuple[int, ...]], dict[str, Any]]


def parts_of(call: Call, table: Table) -> list[Part]:
    """A module that the table has is one part, any other is descended into."""
    row = table.get((call.repr, tuple(call.input_shape))) if call.input_shape is not None else None
    if row is not None:
        avg = float(row["avg"])
        low, high = min(avg, float(row.get("min") or avg)), max(avg, float(row.get("max") or avg))
        return [Part(call.repr, call.input_shape or [], call.output_shape, avg, low, high, "table", call.work())]
    parts: list[Part] = []
    for each in call.calls:
        if isinstance(each, Call):
            parts += parts_of(each, table)
        else:
            place = f"{call.name}: {each.name}" if call.name else each.name
            parts.append(Part(place, each.input_shape, each.output_shape, 0.0, 0.0, 0.0, "estimate", each.work))
    return parts


def tensors_of(value: Any) -> list[Any]:
    if hasattr(value, "numel"):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors_of(each)]
    return []


def first_shape(values: Any) -> list[int] | None:
    found = tensors_of(values)
    return list(found[0].shape) if found else None


def work_of(base: str, arguments: tuple[Any, ...], result: Any) -> float:
    """Arithmetic operations, and bytes at OPERATIONS_OF_A_BYTE each."""
    results = tensors_of(result)
    elements = sum(each.numel() for each in results)
    # Of a table that is looked up, as much is read as comes out.
    read = results + tensors_of(arguments)[1:] if base in LOOKUPS else tensors_of(arguments)
    bytes_moved = sum(each.numel() * each.element_size() for each in read + results)
    count = float(elements)
    if base in ("convolution", "_convolution", "convolution_overrideable"):
        weight = arguments[1]
        transposed = len(arguments) > 6 and arguments[6] is True
        count = 2.0 * (arguments[0].numel() if transposed else elements) * weight.numel() / max(1, weight.shape[0])
    elif base in PRODUCTS:
        left = arguments[PRODUCTS[base][0]]
        count = 2.0 * elements * left.shape[-1]
    elif base.startswith("_scaled_dot_product"):
        query, key, value = arguments[:3]
        count = 2.0 * query.numel() / query.shape[-1] * key.shape[-2] * (query.shape[-1] + value.shape[-1])
    elif base in RECURRENT:
        steps = arguments[0].numel() / arguments[0].shape[-1]
        count = 2.0 * steps * sum(each.numel() for each in arguments[RECURRENT[base]])
    return float(count + OPERATIONS_OF_A_BYTE * bytes_moved)


def parse_yaml(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The operators of an ops.yaml: package, class, parameters (None: a constructor without any),
    input_shape and the line of the class. InputError names file, line and what is wrong."""
    found: list[dict[str, Any]] = json.loads(_core.mmt_space(path))
    return found


def lookup(path: str | os.PathLike[str]) -> Table:
    """(repr, input shape) -> operator with a time; of equal ones the first, as in MMT."""
    found: Table = {}
    for each in operators.load(path):
        shape, avg = each.get("input_shape"), each.get("avg")
        if not isinstance(each.get("repr"), str) or not isinstance(shape, (list, tuple)) or not isinstance(avg, (int, float)):
            raise InputError(f"{os.fspath(path)}: an operator without repr, input_shape or avg")
        if avg > 0:
            found.setdefault((each["repr"], tuple(shape)), each)
    if not found:
        raise InputError(f"{os.fspath(path)}: has no operator with a latency; meter_ops() measures them")
    return found


def checked_shape(input_shape: Any) -> list[int]:
    """Plain numbers of a list, a tuple or an array of dimensions; InputError for anything else."""
    is_list = isinstance(input_shape, (list, tuple)) or hasattr(input_shape, "__array__")
    dims = [operators.whole_number(dim) for dim in input_shape] if is_list and getattr(input_shape, "ndim", 1) == 1 else []
    found = [dim for dim in dims if dim is not None and dim > 0]
    if not found or len(found) < len(dims):
        advice = " (list(tensor.shape) is that of a tensor)" if hasattr(input_shape, "shape") else ""
        raise InputError(f"the input shape is {one_line(repr(input_shape))}; expected a list of dimensions such as [1, 3, 224, 224]{advice}")
    return found


def sample_input(model: torch.nn.Module, input_shape: list[int]) -> torch.Tensor:
    """Indices for a model with an embedding, as MMT has it, else numbers, always the same."""
    import torch

    if any(isinstance(module, torch.nn.Embedding) for module in model.modules()):
        return torch.ones(input_shape, dtype=torch.long)
    return torch.rand(input_shape, generator=torch.Generator().manual_seed(0))


def record(model: torch.nn.Module | RecordedModel, input_shape: list[int]) -> RecordedModel:
    """Runs a model once on CPU. InputError if it cannot run on such an input."""
    shape = checked_shape(input_shape)
    if isinstance(model, RecordedModel):
        if shape != model.input_shape:
            raise InputError(f"{model.name} was recorded on an input of {model.input_shape}, not {shape}")
        return model
    root, decisions = execute(model, shape)
    return RecordedModel(type(model).__name__, shape, without_modules(root), decisions)


def execute(model: torch.nn.Module, shape: list[int]) -> tuple[Call, list[str]]:
    """What one forward pass calls, by hooks that are removed again, and where it decides by
    values."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    if not isinstance(model, torch.nn.Module):
        raise InputError(f"the model is {type(model).__name__}; expected a torch.nn.Module")
    recorder = Recorder()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            result = function(*arguments, **(named or {}))
            recorder.operator(function.__name__ if isinstance(function.__name__, str) else str(function), arguments, result)
            return result

    handles = []
    try:
        for module in model.modules():
            handles.append(module.register_forward_pre_hook(recorder.enter))
            handles.append(module.register_forward_hook(lambda module, _, output: recorder.leave(module, output)))
        data = sample_input(model, shape)
        with evaluating(model), by_parts(model), torch.no_grad(), Watch():
            model(data)
    except Exception as error:  # the model is the caller's
        raise InputError(f"{type(model).__name__} cannot run on an input of {shape}: {type(error).__name__}: {error}") from error
    finally:
        for handle in handles:
            handle.remove()
    root = recorder.stack[0]
    if len(root.calls) == 1 and isinstance(root.calls[0], Call):
        root = root.calls[0]
    return root, recorder.decisions


def without_modules(call: Call) -> Call:
    call.module = None
    for each in call.calls:
        if isinstance(each, Call):
            without_modules(each)
    return call


def warn_of_decisions(recorded: RecordedModel, stacklevel: int) -> None:
    if recorded.decisions:
        warnings.warn(f"{recorded.name} decides by values of its tensors ({', '.join(sorted(set(recorded.decisions))[:3])}): the latency is "
                      "that of the path which one random input takes, and others may take longer", PredictionWarning,
                      stacklevel=stacklevel + 1)


def estimate(parts: list[Part]) -> None:
    """Gives times to the parts that the table lacks, at the speed of those that it has."""
    missing = [part for part in parts if part.source == "estimate"]
    if not missing:
        return
    speeds = sorted(part.ms / part.work for part in parts if part.source == "table" and part.work > 0)
    if not speeds:
        names = [f"{part.name} {part.input_shape}" for part in missing]
        raise MissingKernels(f"the table has no module of this model, so that nothing can be estimated; it lacks {', '.join(names[:5])}"
                             + (f" and {len(names) - 5} more" if len(names) > 5 else ""), names)
    middle = statistics.median(speeds)
    factor = max(MIN_FACTOR, speeds[-1] / middle, middle / speeds[0])
    for part in missing:
        part.ms = middle * part.work
        part.low, part.high = part.ms / factor, part.ms * factor


@operators.also_named(module="model", ops_path="path")
def predict_latency(model: torch.nn.Module | RecordedModel, path: str | os.PathLike[str], input_shape: list[int],
                    verbose: bool = False) -> Latency:
    """The latency of a model in ms, by a meta_latency.pkl. Runs the model once, on CPU.

    The interval holds the fastest and slowest times of the table and the spread of estimates. What
    was estimated is a PredictionWarning; MissingKernels if the table has no module of the model.
    """
    table = lookup(path)
    recorded = record(model, input_shape)
    parts = parts_of(recorded.root, table)
    estimate(parts)
    warn_of_decisions(recorded, 3)
    total = Latency.of(sum(part.ms for part in parts), sum(part.low for part in parts), sum(part.high for part in parts), parts)
    missing = [part for part in parts if part.source == "estimate"]
    if missing:
        share = sum(part.ms for part in missing) / total if total else 0.0
        largest = max(missing, key=lambda part: part.ms)
        warnings.warn(f"{len(missing)} operators are not in the table and were estimated, {100 * share:.0f} % of the latency; "
                      f"the largest is {largest.name} {largest.input_shape}", PredictionWarning, stacklevel=3)
    if verbose:
        print(render(parts, total))
    return total


def render(parts: list[Part], total: Latency) -> str:
    """MMT's table, with sources and intervals."""
    lines = [(one_line(part.name), str(part.input_shape), str(part.output_shape), f"{part.ms:.4f}",
              f"{part.low:.4f} to {part.high:.4f}", part.source) for part in parts]
    lines.append(("Sum", "-", "-", f"{float(total):.4f}", f"{total.low:.4f} to {total.high:.4f}", "-"))
    return operators.rendered(("ops", "input_shape", "output_shape", "Avg latency(ms)", "interval(ms)", "source"), lines)


def one_line(text: str) -> str:
    return " ".join(text.split())[:60]


def summary_model(model: torch.nn.Module, input_size: list[int], ops_list: type | Sequence[type], verbose: bool = False
                  ) -> list[tuple[str, list[int], list[int]]]:
    """Prints the modules of some classes that a model executes, outermost ones first: what an
    ops.yaml has to hold. The model itself is not one of them. `verbose` adds the name of each in
    the model. Returns (repr, input shape, result shape) of each, in order of execution."""
    classes = (ops_list,) if isinstance(ops_list, type) else tuple(ops_list)
    if not classes or not all(isinstance(each, type) for each in classes):
        raise InputError("ops_list: expected a list of classes")
    found: list[tuple[str, list[int], list[int]]] = []

    def walk(call: Call) -> None:
        for each in call.calls:
            if isinstance(each, Call) and isinstance(each.module, classes):
                found.append((each.repr, each.input_shape or [], each.output_shape))
            elif isinstance(each, Call):
                walk(each)

    walk(execute(model, checked_shape(input_size))[0])
    if verbose:
        for name, module in model.named_modules():
            if name and isinstance(module, classes):
                print(f"{name} belongs to {next(each.__name__ for each in classes if isinstance(module, each))}")
    lines = [(one_line(text), str(given), str(made)) for text, given, made in found]
    print(operators.rendered(("ops", "input_shape", "out_shape"), lines))
    return found
