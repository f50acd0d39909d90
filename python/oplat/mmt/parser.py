# SPDX-License-Identifier: Apache-2.0
"""Models by the sum of their operators, as MMT does it, and what it left out counted too.

A module that the table has under its repr and the shape of its input counts whole. Any other is
descended into. What is left is what torch executes outside of such modules: modules that the table
lacks, and functional operators (`x + y`, `torch.cat`), which MMT counted as nothing. Each of them
is estimated from its arithmetic and its bytes, at the speed of the modules that were found.
"""
from __future__ import annotations

import contextlib
import json
import os
import statistics
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oplat import _core
from oplat.errors import InputError, MissingKernels, PredictionWarning

from . import operators

if TYPE_CHECKING:
    import torch

# Of the time that a byte takes next to an arithmetic operation: the balance of a CPU, roughly. Only the
# proportion counts, since the modules that were found say how fast both are.
OPERATIONS_OF_A_BYTE = 10.0
# No estimate is closer than this factor, however alike the found modules are.
MIN_FACTOR = 2.0
# What only gives a tensor another shape.
VIEWS = {"view", "_unsafe_view", "reshape", "_reshape_alias", "t", "transpose", "permute", "expand", "slice", "select", "unsqueeze",
         "squeeze", "detach", "alias", "as_strided", "split", "split_with_sizes", "chunk", "unbind", "flatten", "lift_fresh"}
PRODUCTS = {"mm": (0, 1), "addmm": (1, 2), "bmm": (0, 1), "baddbmm": (1, 2)}


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


@dataclass
class Recorder:
    """What one forward pass executes."""

    table: dict[tuple[str, tuple[int, ...]], dict[str, Any]]
    parts: list[Part] = field(default_factory=list)
    inside: Any = None  # the module of the table that runs now, and its part
    stack: list[str] = field(default_factory=list)

    def enter(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        shape = first_shape(inputs)
        self.stack.append(type(module).__name__)
        if self.inside is not None or shape is None:
            return
        row = self.table.get((repr(module), tuple(shape)))
        if row is None:
            return
        avg = float(row["avg"])
        low = min(avg, float(row.get("min") or avg))
        high = max(avg, float(row.get("max") or avg))
        self.inside = (module, Part(repr(module), shape, [], avg, low, high, "table"))

    def leave(self, module: torch.nn.Module, output: Any) -> None:
        if self.stack:
            self.stack.pop()
        if self.inside is not None and self.inside[0] is module:
            part = self.inside[1]
            part.output_shape = first_shape((output,)) or []
            self.parts.append(part)
            self.inside = None

    def operator(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        base = name.split(".")[0]
        if base in VIEWS:
            return
        work = work_of(base, arguments, result)
        if self.inside is not None:
            self.inside[1].work += work
            return
        place = f"{self.stack[-1]}: {base}" if self.stack else base
        shape = first_shape(arguments[PRODUCTS[base][0]:] if base in PRODUCTS else arguments) or []
        self.parts.append(Part(place, shape, first_shape((result,)) or [], 0.0, 0.0, 0.0, "estimate", work))


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
    bytes_moved = sum(each.numel() * each.element_size() for each in tensors_of(arguments) + results)
    count = float(elements)
    if base in ("convolution", "_convolution", "convolution_overrideable"):
        weight = arguments[1]
        transposed = len(arguments) > 6 and arguments[6] is True
        count = 2.0 * (arguments[0].numel() if transposed else elements) * weight.numel() / max(1, weight.shape[0])
    elif base in PRODUCTS:
        left = arguments[PRODUCTS[base][0]]
        count = 2.0 * elements * left.shape[-1]
    return count + OPERATIONS_OF_A_BYTE * bytes_moved


def parse_yaml(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The operators of an ops.yaml: package, class, parameters (None: a constructor without any), input_shape and
    the line of the class. InputError names file, line and what is wrong."""
    found: list[dict[str, Any]] = json.loads(_core.mmt_space(path))
    return found


def lookup(path: str | os.PathLike[str]) -> dict[tuple[str, tuple[int, ...]], dict[str, Any]]:
    """(repr, input shape) -> operator with a time; of equal ones the first, as in MMT."""
    found: dict[tuple[str, tuple[int, ...]], dict[str, Any]] = {}
    for each in operators.load(path):
        shape, avg = each.get("input_shape"), each.get("avg")
        if not isinstance(each.get("repr"), str) or not isinstance(shape, (list, tuple)) or not isinstance(avg, (int, float)):
            raise InputError(f"{os.fspath(path)}: an operator without repr, input_shape or avg")
        if avg > 0:
            found.setdefault((each["repr"], tuple(shape)), each)
    if not found:
        raise InputError(f"{os.fspath(path)}: has no operator with a latency; meter_ops() measures them")
    return found


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Without dropout and the like; training flags are as they were afterwards."""
    modules = list(model.modules())
    training = [module.training for module in modules]
    model.eval()
    try:
        yield
    finally:
        for module, flag in zip(modules, training):
            module.training = flag


def sample_input(model: torch.nn.Module, input_shape: list[int]) -> torch.Tensor:
    """Indices for a model with an embedding, as MMT has it, else numbers."""
    import torch

    integers = any(isinstance(module, torch.nn.Embedding) for module in model.modules())
    return torch.ones(input_shape, dtype=torch.long) if integers else torch.rand(input_shape)


def execute(model: torch.nn.Module, input_shape: list[int], recorder: Recorder) -> None:
    """One forward pass on CPU with hooks, which are removed again."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

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
        data = sample_input(model, input_shape)
        with evaluating(model), torch.no_grad(), Watch():
            model(data)
    except Exception as error:  # the model is the caller's
        raise InputError(f"{type(model).__name__} cannot run on an input of {list(input_shape)}: {type(error).__name__}: {error}") from error
    finally:
        for handle in handles:
            handle.remove()


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


def predict_latency(model: torch.nn.Module, path: str | os.PathLike[str], input_shape: list[int], verbose: bool = False) -> Latency:
    """The latency of a model in ms, by a meta_latency.pkl. Runs the model once, on CPU.

    The interval holds the fastest and slowest times of the table and the spread of estimates. What
    was estimated is a PredictionWarning; MissingKernels if the table has no module of the model.
    """
    recorder = Recorder(lookup(path))
    execute(model, list(input_shape), recorder)
    parts = recorder.parts
    estimate(parts)
    total = Latency(sum(part.ms for part in parts))
    total.low, total.high, total.parts = sum(part.low for part in parts), sum(part.high for part in parts), parts
    missing = [part for part in parts if part.source == "estimate"]
    if missing:
        share = sum(part.ms for part in missing) / total if total else 0.0
        largest = max(missing, key=lambda part: part.ms)
        warnings.warn(f"{len(missing)} operators are not in the table and were estimated, {100 * share:.0f} % of the latency; "
                      f"the largest is {largest.name} {largest.input_shape}", PredictionWarning, stacklevel=2)
    if verbose:
        print(render(parts, total))
    return total


def render(parts: list[Part], total: Latency) -> str:
    """MMT's table, with sources and intervals."""
    head = ("ops", "input_shape", "output_shape", "Avg latency(ms)", "interval(ms)", "source")
    lines = [head]
    for part in parts:
        lines.append((" ".join(part.name.split())[:60], str(part.input_shape), str(part.output_shape), f"{part.ms:.4f}",
                      f"{part.low:.4f} to {part.high:.4f}", part.source))
    lines.append(("Sum", "-", "-", f"{float(total):.4f}", f"{total.low:.4f} to {total.high:.4f}", "-"))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
