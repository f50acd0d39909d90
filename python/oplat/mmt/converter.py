# SPDX-License-Identifier: Apache-2.0
"""Operators of a space as models of MNN in a folder, with a meta.pkl that lists them."""
from __future__ import annotations

import contextlib
import csv
import hashlib
import importlib
import inspect
import io
import itertools
import json
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from oplat._evaluating import evaluating
from oplat.errors import InputError, PredictionWarning, WriteError

from . import operators
from .files import description, digest, model_files
from .parser import (Latency, RecordedModel, checked_shape, features, one_line, parse_yaml, predict_latency, record,
                     sample_input, warn_of_decisions)

if TYPE_CHECKING:
    import torch


@dataclass
class Exported:
    """What a call exported, and what it could not, with the reason."""

    operators: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def file_name(class_name: str, text: str, input_shape: list[int]) -> str:
    """By a hash of everything that tells operators apart: the original's names were shortened and
    collided."""
    digest = hashlib.sha256(json.dumps([class_name, text, input_shape]).encode()).hexdigest()[:16]
    return f"{class_name}-{digest}.mnn"


def export_onnx(model: torch.nn.Module, input_shape: list[int], path: str | os.PathLike[str], verbose: bool = False) -> None:
    """Writes a module as an ONNX model, on CPU. InputError if torch cannot export it."""
    import torch

    # torch 2.9's new exporter needs packages that torch does not bring.
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    try:
        with evaluating(model), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch's exporter, about tracing
            torch.onnx.export(model, sample_input(model, input_shape), os.fspath(path), opset_version=13, verbose=verbose, **options)
    except Exception as error:  # the module is the caller's
        raise InputError(f"{type(model).__name__} on {list(input_shape)} cannot be exported: {type(error).__name__}: {error}") from error


def convert2mnn(model: torch.nn.Module, input_shape: list[int], path: str | os.PathLike[str], verbose: bool = False) -> str:
    """Writes a module as a model of MNN, through ONNX, on CPU: into a file, or into a folder that
    exists, under a name of its own. Returns the file's name. InputError if torch cannot run or
    export it on such an input; a PredictionWarning if it decides by values, since only the path of
    one input is exported."""
    target = Path(path)
    if not target.absolute().parent.is_dir():
        # MNN writes nothing and says that it succeeded
        raise InputError(f"{target.parent}: no such folder; make it first")
    recorded = record(model, input_shape)
    warn_of_decisions(recorded, 2)
    if target.is_dir():
        target /= file_name(recorded.name, structure(recorded), recorded.input_shape)
    through_onnx(model, recorded, target, convert, verbose)
    return target.name


def through_onnx(model: torch.nn.Module, recorded: RecordedModel, target: Path,
                 to_mnn: Callable[[RecordedModel, Path, Path], None], verbose: bool = False) -> None:
    """Exports a model that was recorded, and lets `to_mnn` convert what came of it into
    `target`."""
    with tempfile.TemporaryDirectory(prefix="oplat-mmt.") as folder:
        onnx = Path(folder, "model.onnx")
        export_onnx(model, recorded.input_shape, onnx, verbose)
        to_mnn(recorded, onnx, target)


def convert(recorded: RecordedModel, onnx: Path, target: Path) -> None:
    try:
        operators.mnn_tool("convert", onnx, target.absolute())
    except operators.MnnFailed as error:
        raise operators.MnnFailed(f"{recorded.name} on {recorded.input_shape}: {error}") from error


class Conversions:
    """Which ONNX model each file of a folder was made of, so that a call that was stopped goes on
    without converting again, which takes most of its time. A class that changed gives another ONNX
    model, and is converted again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "conversions.jsonl"
        self.known: dict[str, list[str]] = {}
        with contextlib.suppress(OSError):
            for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
                # the last line of a call that was killed
                with contextlib.suppress(ValueError, TypeError):
                    name, *digests = json.loads(line)
                    self.known[name] = digests

    def convert(self, recorded: RecordedModel, onnx: Path, target: Path) -> None:
        if self.known.get(target.name) == [digest(onnx), digest(target)]:
            return
        convert(recorded, onnx, target)
        made = [digest(onnx), digest(target)]
        self.known[target.name] = made
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps([target.name, *made]) + "\n")
        except OSError as error:
            raise WriteError(f"{self.path}: cannot write: {error.strerror}") from error


def structure(recorded: RecordedModel) -> str:
    """What tells a model from others of its class, also where its repr does not say it."""
    return json.dumps(recorded.to_json()["root"])


def export_one(cls: Any, parameters: dict[str, Any] | None, input_shape: list[int], folder: Path,
               conversions: Conversions) -> dict[str, Any]:
    """The attributes of one operator, whose model is in the folder afterwards."""
    for name, value in (parameters or {}).items():
        if not operators.is_storable(value):
            raise InputError(f"{cls.__name__}: {name}={value!r} cannot be stored; numbers, texts, truth values, lists, tuples and dicts can")
    import torch

    try:
        # The same weights in every export, so that an operator that did not change is the same
        # file.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            module = cls(**(parameters or {}))
    except Exception as error:  # the class is the caller's
        raise InputError(f"{cls.__name__}({arguments(parameters)}): {type(error).__name__}: {error}") from error
    text = repr(module)
    name = file_name(cls.__name__, f"{cls.__module__} {arguments(parameters)} {text}", input_shape)
    recorded = record(module, input_shape)
    warn_of_decisions(recorded, 2)
    through_onnx(module, recorded, folder / name, conversions.convert)
    store_class(cls, folder / f"{name}.pj")
    return {"input_shape": input_shape, "init_param": parameters, "mnn_fname": name, "avg": 0, "max": 0, "min": 0, "repr": text,
            "set_path": str(folder)}


def store_class(cls: Any, path: Path) -> None:
    """The name of a class as a pickle, which the original reads next to a model, and oplat never.
    Not of a class that cannot be imported."""
    module, name = cls.__module__, cls.__qualname__
    if all(part.isidentifier() and part.isascii() for part in f"{module}.{name}".split(".")):
        protocol = 4 if "." in name else 2
        path.write_bytes(bytes((0x80, protocol)) + f"c{module}\n{name}\n.".encode())


def arguments(parameters: dict[str, Any] | None) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in (parameters or {}).items())


def class_of(package: str, name: str) -> Any:
    try:
        found = getattr(importlib.import_module(package), name)
    except (Exception, SystemExit) as error:  # importing runs the package's own code
        raise InputError(f"{package}.{name}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise InputError(f"{package}.{name} is not a class")
    return found


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot make this folder: {error.strerror}") from error


def export_all(wanted: list[tuple[Any, dict[str, Any] | None, list[int]]], folder: Path, verbose: bool) -> Exported:
    make_folder(folder)
    result = Exported()
    conversions = Conversions(folder)
    for cls, parameters, shape in operators.progress(wanted, "exported"):
        try:
            result.operators.append(export_one(cls, parameters, shape, folder, conversions))
        except (InputError, operators.MnnFailed) as error:
            result.left_out.append(str(error))
            print(f"left out: {error}")
            continue
        if verbose:
            print(f"{result.operators[-1]['mnn_fname']}: {cls.__name__}({arguments(parameters)}) {shape}")
    if not result.operators:
        raise InputError(f"none of {len(wanted)} operators can be exported; the first: {result.left_out[0]}")
    return result


@operators.also_named(path="ops_yaml", fp="folder")
def generate_ops_list(ops_yaml: str | os.PathLike[str], folder: str | os.PathLike[str], verbose: bool = False) -> Exported:
    """Exports all operators of a space into a folder, and lists them in its meta.pkl. Combinations
    that a class refuses are left out, with the reason; unknown packages and classes are an
    InputError before anything is written. A call goes on where an earlier one stopped: what is in
    the folder and did not change is not converted again."""
    space = parse_yaml(ops_yaml)
    wanted = [(class_of(each["package"], each["class"]), each["parameters"], each["input_shape"]) for each in space]
    result = export_all(wanted, Path(folder), verbose)
    operators.store(Path(folder, operators.META), result.operators)
    return result


def is_sequence(value: Any) -> bool:
    """A list, or what numpy or range() made in its place."""
    return isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) > 0


def shapes_of(cls: Any, shapes: Any) -> list[list[int]]:
    if not is_sequence(shapes) or len(shapes) == 0 or not all(map(is_sequence, shapes)):
        raise InputError(f"{cls.__name__}: input_shape is {shapes!r}; expected a list of shapes such as [[1, 3, 224, 224]]")
    try:
        return [checked_shape(shape) for shape in shapes]
    except InputError as error:
        raise InputError(f"{cls.__name__}: {error}") from error


def candidates_of(cls: Any, name: str, values: Any) -> list[Any]:
    if not is_sequence(values) or len(values) == 0:
        raise InputError(f"{cls.__name__}: {name} is {values!r}; expected a list of candidates")
    # numpy's numbers as Python's, which a table holds.
    return [value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value for value in values]


@operators.also_named(ops="cls", fp="folder")
def register(cls: Any, folder: str | os.PathLike[str], **parameters: Any) -> Exported:
    """Adds the operators of one class to a folder, new ones first: candidates for each argument as
    in ops.yaml, `input_shape` with one shape for each candidate of the first argument, or
    `no_params=True`."""
    if not callable(cls) or not hasattr(cls, "__name__"):
        raise InputError(f"{one_line(repr(cls))}: expected a class")
    shapes = shapes_of(cls, parameters.pop("input_shape", None))
    bare = parameters.pop("no_params", False)
    parameters = {name: candidates_of(cls, name, values) for name, values in parameters.items()}
    if bool(bare) == bool(parameters):
        raise InputError(f"{cls.__name__}: give candidates for its arguments, or no_params=True")
    wanted: list[tuple[Any, dict[str, Any] | None, list[int]]] = [(cls, None, shape) for shape in shapes]
    if not bare:
        first, *_ = parameters
        if len(parameters[first]) != len(shapes):
            raise InputError(f"{cls.__name__}: {len(shapes)} input_shape for {len(parameters[first])} candidates of its first argument, "
                             f"{first}; give one each")
        places = [range(len(values)) for values in parameters.values()]
        wanted = [(cls, {name: values[place] for place, (name, values) in zip(choice, parameters.items())}, shapes[choice[0]])
                  for choice in itertools.product(*places)]
    result = export_all(wanted, Path(folder), False)
    meta = Path(folder, operators.META)
    operators.store(meta, result.operators + (operators.load(meta) if meta.exists() else []))
    return result


@operators.also_named(fp="folder")
def export_models(net: torch.nn.Module, input_shape: list[int], folder: str | os.PathLike[str], verbose: bool = False) -> str:
    """Exports a network for meter_models() and validation(): a model of MNN, and a *meta.json with
    what the network executes. Also a .pth of torch, which oplat never loads, for the original's own
    programs. Files are named by a hash of what is executed. Returns the name of the model's
    file."""
    import torch

    place = Path(folder)
    make_folder(place)
    recorded = record(net, input_shape)
    name = convert2mnn(net, input_shape, place / file_name(recorded.name, structure(recorded), recorded.input_shape), verbose)
    stem = name.removesuffix(".mnn")
    try:
        torch.save(net, place / f"{stem}.pth")
    except Exception as error:  # a class that pickle cannot find
        (place / f"{stem}.pth").unlink(missing_ok=True)
        warnings.warn(f"no {stem}.pth for the original: {type(error).__name__}: {error}", PredictionWarning, stacklevel=3)
    about = {"torch_name": f"{stem}.pth", "input_shape": recorded.input_shape, "recorded": recorded.to_json()}
    operators.write_text(place / f"{stem}meta.json", json.dumps(about))
    return name


@dataclass(frozen=True)
class Validated:
    """A network, measured and predicted."""

    model: str
    true_ms: float
    predicted: Latency

    @property
    def error_ms(self) -> float:
        return self.predicted - self.true_ms


@operators.also_named(fp="folder")
def validation(folder: str | os.PathLike[str], ops_path: str | os.PathLike[str], verbose: bool = False,
               save_path: str | os.PathLike[str] | None = None,
               lp: Callable[[Any, Any, list[int]], float] | None = None) -> list[Validated]:
    """Prints the measured and the predicted latency of each network that export_models() exported
    and meter_models() measured; `verbose` each as it is predicted. `lp` predicts in place of
    predict_latency(): a function such as latency_predictor, of what was recorded of a network, the
    path of the table, and the input's shape. `save_path` is a CSV file for latency_predictor. Needs
    neither torch nor MNN."""
    found = []
    for path in operators.progress(model_files(folder), "predicted"):
        about = description(path)
        try:
            recorded = RecordedModel.from_json(about.get("recorded"))
        except ValueError as error:
            raise InputError(f"{path}: says nothing of what the network executes; export it again with export_models()") from error
        try:
            true_ms = float(about["latency"]["Avg"])
        except (KeyError, TypeError, ValueError):
            warnings.warn(f"{path.name}: is not measured and left out; meter_models() measures it", PredictionWarning, stacklevel=3)
            continue
        predicted = (lp or predict_latency)(recorded, ops_path, recorded.input_shape)
        if not isinstance(predicted, Latency):
            predicted = Latency.unknown(predicted)
        found.append(Validated(about["torch_name"], true_ms, predicted))
        if verbose:
            print(f"{found[-1].model}: latency: {true_ms} pred_latency: {float(predicted)}")
    if not found:
        raise InputError(f"{os.fspath(folder)}: has no measured model; meter_models() measures them")
    lines = [(each.model, f"{each.true_ms:.4f}", f"{each.predicted:.4f}", f"{each.error_ms:+.4f}", each.predicted.range_text()) for each in found]
    print(operators.rendered(("model", "latency_true(ms)", "latency_pred(ms)", "error(ms)", "interval(ms)"), lines))
    mean = sum(abs(each.error_ms) / each.true_ms for each in found) / len(found)
    print(f"{len(found)} models, mean error {100 * mean:.1f} %")
    if save_path is not None:
        store_pairs(Path(save_path), found)
    return found


def store_pairs(path: Path, found: list[Validated]) -> None:
    """The columns of the original, and those that describe a network to latency_predictor."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["", "model", "latency_true(ms)", "latency_pred(ms)", "modules", "result_bytes"])
    for number, each in enumerate(found):
        lines.writerow([number, each.model, repr(each.true_ms), repr(float(each.predicted)), *features(each.predicted)])
    operators.write_text(path, text.getvalue())
