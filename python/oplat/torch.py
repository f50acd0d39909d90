# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules as models that oplat predicts and measures.

    import oplat.torch
    graph = oplat.torch.export(module, (1, 3, 224, 224))
    print(oplat.Table("desk.oplat").predict(graph).ms)

A runtime never executes a torch module itself, but a file that was exported of it, after fusing its
nodes. So this is what is predicted: an ONNX model in a temporary folder, made by torch.export where
the installed torch has it, else by tracing one forward pass. Functional operators (`x + y`,
`torch.cat`) are nodes like any other. docs/guide/python.md shows what can go wrong.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import itertools
import logging
import os
import re
import shutil
import tempfile
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Union

from oplat._evaluating import evaluating
from oplat.errors import InputError, PredictionWarning, RuntimeUnavailable, UsageError

__all__ = ["Graph", "blocks", "export"]


class Tensor(Protocol):
    """A `torch.Tensor`."""

    def cpu(self) -> Any: ...
    def numel(self) -> int: ...


class Module(Protocol):
    """A `torch.nn.Module`."""

    def __call__(self, *inputs: Any, **named: Any) -> Any: ...
    def named_modules(self) -> Any: ...


Input = Union[Sequence[int], Tensor]
Exporter = Literal["auto", "torch.export", "trace"]

EXPORTERS = ("auto", "torch.export", "trace")
# Both exporters know it without converting from another one.
OPSETS = {"torch.export": 18, "trace": 17}
# A protobuf message ends at 2 GiB; larger weights lie in files next to the model.
MAX_BYTES_IN_ONE_FILE = 1 << 30
# What a run executes where Python asks for a number of a tensor.
READS_A_NUMBER = ("aten._local_scalar_dense", "aten.equal", "aten.is_nonzero")
# Tracer warnings that come of numbers as well as of shapes.
OF_SHAPES = re.compile(r"to a Python (boolean|integer|float|number|index)|Using len|Iterating over a tensor")
ATTRIBUTE = "module"  # of the wrapper that is exported, hence the first word of every scope
# torch.onnx and torch.export keep what they do in globals.
ONE_AT_A_TIME = threading.RLock()


class Graph(os.PathLike[str]):
    """A module as a model: `Table.predict`, `oplat.plan`, `oplat.profile`, `oplat.measure` and
    `Table.validate` take it.

    It owns a temporary folder with the ONNX file, which is removed with it; `save()` keeps a copy.
    Any number of threads may use it.
    """

    name: str
    """Of the module's class."""
    path: str
    """Of the ONNX file. Node names are paths of modules, for instance /layer1/0/conv1/Conv."""
    exporter: str
    """'torch.export' or 'trace'."""
    torch_version: str
    inputs: dict[str, list[int]]
    """Names and shapes of the model's inputs, in their order."""
    warnings: list[str]
    """Why the graph may differ from what the module does. Every result of the graph repeats them."""
    notes: list[str]
    """What else the exporter said."""

    def __init__(self, name: str, path: str, exporter: str, torch_version: str, inputs: dict[str, list[int]],
                 warnings: list[str], notes: list[str]) -> None:
        self.name, self.path, self.exporter, self.torch_version = name, path, exporter, torch_version
        self.inputs, self.warnings, self.notes = inputs, warnings, notes
        self._remove = weakref.finalize(self, remove_folder, os.path.dirname(path), os.getpid())

    def __fspath__(self) -> str:
        return self.path

    def _oplat_model(self) -> tuple[str, str, list[str]]:
        """What the extension module asks of a model: path, name, warnings
        (src/python/models.cpp)."""
        return self.path, self.name, self.warnings

    def __repr__(self) -> str:
        said = f"; {len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}" if self.warnings else ""
        shapes = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in self.inputs.items())
        return f"<oplat.torch.Graph: {self.name}: {shapes}, by {self.exporter} of torch {self.torch_version}{said}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Graph owns a temporary folder and cannot be pickled or copied; save() it and give the path")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the ONNX model to `path`. Weights above 1 GiB are files next to it, which keep
        their names; FileExistsError if one of them is there already."""
        target = Path(path)
        others = [each for each in Path(self.path).parent.iterdir() if str(each) != self.path]
        for each in others:
            if (target.parent / each.name).exists():
                raise FileExistsError(f"{target.parent / each.name}: is there already, and weights of {target} need that name")
        for each in others:
            shutil.copyfile(each, target.parent / each.name)
        shutil.copyfile(self.path, target)


def remove_folder(folder: str, owner: int) -> None:
    """Not in a forked child, whose parent still has the files."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Call:
    """What forward() is called with, and which of it are inputs of the model."""

    args: list[Any]
    kwargs: dict[str, Any]
    names: list[str]  # of the tensors, in their order: args, then kwargs
    made_up: set[str] = field(default_factory=set)  # the tensors that were given as a shape

    def tensors(self) -> list[Any]:
        return [*self.args, *(value for value in self.kwargs.values() if is_tensor(value))]

    def text(self) -> str:
        return ", ".join(f"{name} {list(tensor.shape)} of {tensor.dtype}" for name, tensor in zip(self.names, self.tensors()))


@dataclass
class Watched:
    """What one forward pass executed, and what blocks were called with."""

    operators: list[str] = field(default_factory=list)
    block_calls: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)


def import_torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise RuntimeUnavailable(f"oplat.torch needs torch, which cannot be imported ({first_line(error)}); pip install 'oplat[torch]'") from error


def is_tensor(value: Any) -> bool:
    return isinstance(value, import_torch().Tensor)


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def tensors_of(value: Any) -> list[Any]:
    """The tensors of what forward() returned, however it is nested."""
    if is_tensor(value):
        return [value]
    if isinstance(value, Mapping):
        return [tensor for each in value.values() for tensor in tensors_of(each)]
    if isinstance(value, (list, tuple, set)):
        return [tensor for each in value for tensor in tensors_of(each)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tensor for each in fields(value) for tensor in tensors_of(getattr(value, each.name))]
    return []


def check_module(module: Any) -> str:
    """Its name; what is not a module that runs here is an error."""
    torch = import_torch()
    if isinstance(module, type) or not isinstance(module, torch.nn.Module):
        what = f"the class {module.__name__}" if isinstance(module, type) else f"an object of {type(module).__name__}"
        raise TypeError(f"module: expected a torch.nn.Module, found {what}" + ("; make an instance of it" if isinstance(module, type) else ""))
    name = type(module).__name__
    if isinstance(module, torch.jit.ScriptModule):
        raise InputError(f"{module.original_name}: is a ScriptModule, which cannot be traced again; give the module that it was made from")
    forward = getattr(module, "forward", None)
    if forward is None or getattr(forward, "__name__", "") == "_forward_unimplemented":
        raise InputError(f"{name}: has no forward(), so there is nothing to predict; define it")
    elsewhere = [(key, value.device) for key, value in (*module.named_parameters(), *module.named_buffers()) if value.device.type != "cpu"]
    if elsewhere:
        raise InputError(f"{name}: {len(elsewhere)} of its tensors are not on the CPU, the first is {elsewhere[0][0]} on {elsewhere[0][1]}; "
                         "it is exported on the CPU: call module.cpu(), or give a copy that is there")
    return name


def dtype_of(dtype: Any, module: Any) -> Any:
    """A torch dtype: of a name, or of the module's numbers."""
    torch = import_torch()
    if dtype is None:
        return next((each.dtype for each in module.parameters() if each.dtype.is_floating_point), torch.get_default_dtype())
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if not isinstance(found, torch.dtype):
        raise UsageError(f"dtype {dtype!r}: expected a dtype of torch or its name, such as 'int64'")
    return found


def made_up(shape: Sequence[int], dtype: Any) -> Any:
    """Normal numbers; integers of 0 and 1, which are in every vocabulary."""
    torch = import_torch()
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(tuple(shape), dtype=torch.float32).to(dtype)
    return torch.randint(0, 2, tuple(shape)).to(dtype)


def is_shape(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(hasattr(each, "__index__") and not isinstance(each, bool) and not is_tensor(each) for each in value)


def call_of(module: Any, inputs: Any, kwargs: Mapping[str, Any] | None, dtype: Any) -> Call:
    """Tensors for the shapes that were given, with the names that forward() has for them."""
    if is_tensor(inputs) or is_shape(inputs) and len(inputs) > 0:
        inputs = [inputs]
    if not isinstance(inputs, (list, tuple)):
        raise UsageError(f"inputs: expected a shape, a tensor, or a list of these, found {type(inputs).__name__}")
    call = Call([], dict(kwargs or {}), [])
    known = parameter_names(module)
    of_shapes = dtype_of(dtype, module) if any(not is_tensor(each) for each in inputs) else None
    for position, each in enumerate(inputs):
        name = known[position] if position < len(known) else f"input_{position}"
        if is_tensor(each):
            call.args.append(each.detach().cpu())
        elif not is_shape(each):
            raise UsageError(f"inputs: {name} is neither a shape nor a tensor: {each!r}; give what is not a tensor in kwargs")
        elif any(dim < 0 for dim in each):
            raise UsageError(f"inputs: {name} has a negative dimension: {list(each)}")
        else:
            call.args.append(made_up(each, of_shapes))
            call.made_up.add(name)
        call.names.append(name)
    for name, value in call.kwargs.items():
        if is_tensor(value):
            call.kwargs[name] = value.detach().cpu()
            call.names.append(name)
        elif tensors_of(value):
            raise UsageError(f"kwargs: {name} holds tensors in a {type(value).__name__}; oplat.torch takes single tensors: "
                             "wrap the module in one whose forward() has them as arguments")
    if not call.names:
        raise UsageError("inputs: the model has none; give a shape or a tensor for each tensor that forward() takes")
    if len(set(call.names)) < len(call.names):
        raise UsageError(f"inputs: {', '.join(sorted({name for name in call.names if call.names.count(name) > 1}))} is given twice")
    return call


def parameter_names(module: Any) -> list[str]:
    try:
        parameters = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def again(call: Call) -> Call:
    """The same call with other numbers where they were made up."""
    args = [made_up(tensor.shape, tensor.dtype) if name in call.made_up else tensor for name, tensor in zip(call.names, call.args)]
    return Call(args, call.kwargs, call.names, call.made_up)


def watch(module: Any, call: Call, of_blocks: tuple[type, ...] = ()) -> Watched:
    """One forward pass."""
    torch = import_torch()
    mode = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    watched = Watched()
    inside: list[Any] = []  # the outermost block that runs

    class Watch(mode):  # type: ignore[misc, unused-ignore]
        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            result = function(*arguments, **(named or {}))
            watched.operators.append(f"{function} {[tuple(each.shape) for each in tensors_of(result)]}")
            return result

    def whole(path: str, block: Any, forward: Any, *arguments: Any, **named: Any) -> Any:
        if not inside:
            watched.block_calls.append((path, block, arguments, named))
        inside.append(block)
        try:
            return forward(*arguments, **named)
        finally:
            inside.pop()

    patched = []
    try:
        # Hooks of torch 1 do not see named arguments.
        for path, each in module.named_modules() if of_blocks else ():
            if isinstance(each, of_blocks):
                patched.append((each, each.__dict__.get("forward")))
                each.forward = functools.partial(whole, path, each, each.forward)
        with torch.no_grad(), Watch():
            output = module(*call.args, **call.kwargs)
    except Exception as error:  # the module is the caller's
        advice = ""
        if re.search(r"\b(Long|Int|int64|indices)\b", str(error)) and call.made_up:
            advice = "; if it takes indices, such as tokens, give dtype='int64' or a tensor"
        raise InputError(f"{type(module).__name__}: cannot run on {call.text()}: {type(error).__name__}: {first_line(error)}{advice}") from error
    finally:
        for each, own in patched:
            del each.forward
            if own is not None:
                each.forward = own
    if not tensors_of(output):
        raise InputError(f"{type(module).__name__}: forward() returned no tensor but {type(output).__name__}, so nothing of it would be left to run")
    return watched


def exported_module(module: Any, call: Call) -> Any:
    """A module of the call's tensors alone, which returns tensors alone."""
    torch = import_torch()
    constants = {name: value for name, value in call.kwargs.items() if not is_tensor(value)}
    named = call.names[len(call.args):]

    class Exported(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            setattr(self, ATTRIBUTE, module)

        def forward(self, *tensors: Any) -> Any:
            cut = len(tensors) - len(named)
            return tuple(tensors_of(getattr(self, ATTRIBUTE)(*tensors[:cut], **constants, **dict(zip(named, tensors[cut:])))))

    return Exported().eval()


def scope_name(scopes: Sequence[str], last: str) -> str:
    """/layer1/0/conv1/Conv of scopes that each repeat the one before: module, module.layer1,
    module.layer1.0, ..."""
    path = next((each for each in reversed(scopes) if each == ATTRIBUTE or each.startswith(ATTRIBUTE + ".")), "")
    return "/".join(["", *path.split(".")[1:], last])


def name_nodes(model: Any) -> None:
    """Nodes are named by their module. Drops what says where on this machine the sources are: the
    same module is the same file everywhere, which is how a table knows it again."""
    used: set[str] = set()
    for node in model.graph.all_nodes():
        scopes = re.findall(r"'([^']*)'", node.metadata_props.get("pkg.torch.onnx.name_scopes", ""))
        name = stem = scope_name(scopes, node.op_type)
        count = 0
        while name in used:
            count += 1
            name = f"{stem}_{count}"
        used.add(name)
        node.name = name
        node.doc_string = None
        node.metadata_props.clear()
        for value in (*node.inputs, *node.outputs):
            if value is not None:
                value.metadata_props.clear()
    for value in (*model.graph.inputs, *model.graph.outputs, *model.graph.initializers.values()):
        value.metadata_props.clear()
    model.graph.metadata_props.clear()
    model.metadata_props.clear()


def by_torch_export(exported: Any, call: Call, path: str, opset: int, dynamic_batch: bool) -> None:
    torch = import_torch()
    tensors = call.tensors()
    shapes = None
    if dynamic_batch:
        # torch.export takes a size of 1 for a constant.
        tensors = [torch.cat([each, each]) if each.dim() and each.shape[0] == 1 else each for each in tensors]
        batch = torch.export.Dim("batch")
        shapes = {"tensors": tuple({0: batch} if each.dim() else None for each in tensors)}
    program = torch.onnx.export(exported, tuple(tensors), dynamo=True, opset_version=opset, input_names=list(call.names),
                                dynamic_shapes=shapes, verbose=False, report=False)
    name_nodes(program.model)
    size = sum(each.numel() * each.element_size() for each in (*exported.parameters(), *exported.buffers()))
    program.save(path, external_data=size > MAX_BYTES_IN_ONE_FILE)


def by_tracing(exported: Any, call: Call, path: str, opset: int, dynamic_batch: bool) -> None:
    torch = import_torch()
    further = {"dynamo": False} if has_torch_export() else {}
    axes = {name: {0: "batch"} for name, each in zip(call.names, call.tensors()) if each.dim()} if dynamic_batch else None
    # With gradients nn.MultiheadAttention keeps to operators that have an ONNX form.
    with torch.enable_grad():
        torch.onnx.export(exported, tuple(call.tensors()), path, opset_version=opset, input_names=list(call.names), do_constant_folding=True,
                          training=torch.onnx.TrainingMode.EVAL, dynamic_axes=axes, **further)


def has_torch_export() -> bool:
    return "dynamo" in inspect.signature(import_torch().onnx.export).parameters


def baked_in(torch: Any, said: Sequence[warnings.WarningMessage], watched: Watched, dynamic_batch: bool) -> list[str]:
    """Where tracing met a Python value of a tensor, which it keeps as it was. It warns of values of
    shapes too, which are the same for every input unless the batch is open; no numbers were read if
    an ordinary run reads none."""
    only_shapes = not dynamic_batch and not any(each.startswith(READS_A_NUMBER) for each in watched.operators)
    places = []
    for each in said:
        if issubclass(each.category, torch.jit.TracerWarning) and not (only_shapes and OF_SHAPES.search(str(each.message))):
            place = f"{os.path.basename(each.filename)}:{each.lineno}"
            if place not in places:
                places.append(place)
    return [f"{place}: tracing kept a Python value of a tensor as a constant (a branch, a length, a number); for other inputs the module "
            "may execute other operators" for place in places]


def others_of(torch: Any, said: Sequence[warnings.WarningMessage]) -> list[str]:
    texts = [first_line(Exception(str(each.message))) for each in said
             if not issubclass(each.category, (torch.jit.TracerWarning, DeprecationWarning, FutureWarning))]
    return list(dict.fromkeys(texts))


def missing_operators(error: BaseException) -> list[str]:
    found: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        found += re.findall(r"operator '?(\w+::\w+)'?", text)
        found += [name.replace(".", "::", 1) for name in re.findall(r"No ONNX function found for <OpOverload\(op='([\w.]+)'", text)]
        seen = seen.__cause__ or seen.__context__
    return list(dict.fromkeys(found))


def failure(exporter: str, opset: int, error: BaseException) -> str:
    lacking = missing_operators(error)
    if lacking:
        return f"{exporter}: no ONNX form of {', '.join(lacking)} in opset {opset}"
    # torch.export wraps what happened in advice on how to report it
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{exporter}: {type(error).__name__}: {first_line(error)}"


@contextlib.contextmanager
def quiet(torch: Any) -> Iterator[None]:
    """Exporters log what they could not import, and print graphs that they could not export."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.fx")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    attention = getattr(getattr(torch.backends, "mha", None), "set_fastpath_enabled", None)
    fast = torch.backends.mha.get_fastpath_enabled() if attention else False
    if attention:
        attention(False)  # an operator without an ONNX form
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
        if attention:
            attention(fast)


def write(module: Any, call: Call, watched: Watched, path: str, exporter: str, opset: int | None, dynamic_batch: bool,
          name: str) -> tuple[str, list[str], list[str]]:
    """The exporter that wrote the file; warnings; notes."""
    torch = import_torch()
    ways = [exporter] if exporter != "auto" else ["torch.export", "trace"] if has_torch_export() else ["trace"]
    if exporter == "torch.export" and not has_torch_export():
        raise UsageError(f"exporter torch.export: torch {torch.__version__} has no ONNX export of it (2.5 has); give 'trace'")
    failures: list[str] = []
    last: Exception | None = None
    for way in ways:
        number = opset or OPSETS[way]
        with warnings.catch_warnings(record=True) as said, quiet(torch):
            warnings.simplefilter("always")
            try:
                (by_torch_export if way == "torch.export" else by_tracing)(exported_module(module, call), call, path, number, dynamic_batch)
            except Exception as error:  # of many kinds, from deep inside
                failures.append(failure(way, number, error))
                last = error
                for each in os.listdir(os.path.dirname(path)):
                    os.remove(os.path.join(os.path.dirname(path), each))
                continue
        return way, baked_in(torch, said, watched, dynamic_batch), [*(f"{each}; traced instead" for each in failures), *others_of(torch, said)]
    raise InputError(f"{name}: cannot be exported by torch {torch.__version__}: {'; '.join(failures)}") from last


def export(module: Module, inputs: Input | Sequence[Input], *, kwargs: Mapping[str, Any] | None = None, dtype: Any = None,
           exporter: Exporter = "auto", opset: int | None = None, dynamic_batch: bool = False, seed: int = 1) -> Graph:
    """A module as a model.

    `inputs`: a shape, a tensor, or a list of these, one for each tensor that forward() takes.
    Tensors of shapes have `dtype`, else that of the module's numbers; they are random, by `seed`.
    Integers are 0 or 1. `kwargs`: what else forward() gets; tensors of it are inputs of the model,
    all else is a constant. `dynamic_batch` leaves the first dimension of all inputs open: give
    `batch` when predicting.

    The module is exported in evaluation mode, on the CPU, and left as it was. It runs twice: where
    its operators depend on chance or on numbers of its inputs, the graph has a warning, and so it
    has where tracing kept a branch. Each is also a `PredictionWarning` here.

    Raises TypeError (not a module), InputError (it cannot run, or cannot be exported: with the
    names of operators that have no ONNX form), UsageError, RuntimeUnavailable (no torch).
    """
    torch = import_torch()
    name = check_module(module)
    if exporter not in EXPORTERS:
        raise UsageError(f"exporter {exporter!r}: expected {', '.join(EXPORTERS[:-1])} or {EXPORTERS[-1]}")
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]), evaluating(module) as was_training:
        torch.manual_seed(seed)
        call = call_of(module, inputs, kwargs, dtype)
        first, second = watch(module, call), watch(module, again(call))
        folder = tempfile.mkdtemp(prefix="oplat-torch-")
        path = os.path.join(folder, f"{name}.onnx")
        try:
            way, found, notes = write(module, call, first, path, exporter, opset, dynamic_batch, name)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if first.operators != second.operators:
            found.append("the operators, or their shapes, depend on numbers of the inputs or on chance: two runs of the module differed, "
                         "and the graph holds one of them")
        if was_training:
            notes.append("the module is in training mode; the graph is of evaluation mode")
        shapes = {key: list(tensor.shape) for key, tensor in zip(call.names, call.tensors())}
        graph = Graph(name, path, way, str(torch.__version__), shapes, [f"{name}: {each}" for each in found], notes)
    for each in graph.warnings:
        warnings.warn(each, PredictionWarning, stacklevel=2)
    return graph


def blocks(module: Module, inputs: Input | Sequence[Input], kept: type | Sequence[type], *, kwargs: Mapping[str, Any] | None = None,
           dtype: Any = None, exporter: Exporter = "auto", opset: int | None = None, seed: int = 1) -> dict[str, Graph]:
    """Modules of the classes `kept`, each whole as a model of its own: path of the module -> Graph,
    in order of execution. Blocks inside of blocks belong to the outer one. Each is exported with
    the tensors that it gets in a run of `module`; one that runs several times is `PATH#2` and so
    on. Arguments and errors as export() has them.
    """
    torch = import_torch()
    check_module(module)
    of_blocks = tuple(kept) if isinstance(kept, (list, tuple)) else (kept,)
    if not of_blocks or not all(isinstance(each, type) and issubclass(each, torch.nn.Module) for each in of_blocks):
        raise TypeError("kept: expected a class of torch.nn.Module, or a list of these")
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]), evaluating(module):
        torch.manual_seed(seed)
        calls = watch(module, call_of(module, inputs, kwargs, dtype), of_blocks).block_calls
        found: dict[str, Graph] = {}
        for path, block, arguments, named in calls:
            count = sum(1 for each in found if each.split("#")[0] == path)
            # From the first constant on, arguments are given by name.
            tensors = list(itertools.takewhile(is_tensor, arguments))
            further = dict(zip(parameter_names(block)[len(tensors):], arguments[len(tensors):]))
            found[path if count == 0 else f"{path}#{count + 1}"] = export(
                block, tensors, kwargs={**further, **named}, exporter=exporter, opset=opset, seed=seed)
    if not found:
        raise InputError(f"{type(module).__name__}: ran no module of {', '.join(each.__name__ for each in of_blocks)}")
    return found
