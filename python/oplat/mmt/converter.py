# SPDX-License-Identifier: Apache-2.0
"""Operators of a space as models of MNN in a folder, with a meta.pkl that lists them."""
from __future__ import annotations

import hashlib
import importlib
import inspect
import itertools
import json
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oplat.errors import InputError

from . import operators
from .parser import evaluating, parse_yaml, sample_input

if TYPE_CHECKING:
    import torch


@dataclass
class Exported:
    """What a call exported, and what it could not, with the reason."""

    operators: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def file_name(class_name: str, text: str, input_shape: list[int]) -> str:
    """By a hash of everything that tells operators apart: the original's names were shortened and collided."""
    digest = hashlib.sha256(json.dumps([class_name, text, input_shape]).encode()).hexdigest()[:16]
    return f"{class_name}-{digest}.mnn"


def convert2mnn(model: torch.nn.Module, input_shape: list[int], path: str | os.PathLike[str], verbose: bool = False) -> None:
    """Writes a module as a model of MNN, through ONNX, on CPU. InputError if torch cannot export it."""
    import torch

    # torch 2.9's new exporter needs packages that torch does not bring.
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with tempfile.TemporaryDirectory(prefix="oplat-mmt.") as folder:
        onnx = Path(folder, "model.onnx")
        try:
            with evaluating(model), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of torch's exporter, about tracing
                torch.onnx.export(model, sample_input(model, input_shape), str(onnx), opset_version=13, verbose=verbose, **options)
        except Exception as error:  # the module is the caller's
            raise InputError(f"{type(model).__name__} on {list(input_shape)} cannot be exported: {type(error).__name__}: {error}") from error
        operators.mnn_tool("convert", onnx, Path(path).absolute())


def export_one(cls: Any, parameters: dict[str, Any] | None, input_shape: list[int], folder: Path) -> dict[str, Any]:
    """The attributes of one operator, whose model is in the folder afterwards."""
    try:
        module = cls(**(parameters or {}))
    except Exception as error:  # the class is the caller's
        raise InputError(f"{cls.__name__}({arguments(parameters)}): {type(error).__name__}: {error}") from error
    text = repr(module)
    name = file_name(cls.__name__, f"{cls.__module__} {arguments(parameters)} {text}", input_shape)
    convert2mnn(module, input_shape, folder / name)
    return {"input_shape": input_shape, "init_param": parameters, "mnn_fname": name, "avg": 0, "max": 0, "min": 0, "repr": text,
            "set_path": str(folder)}


def arguments(parameters: dict[str, Any] | None) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in (parameters or {}).items())


def class_of(package: str, name: str) -> Any:
    try:
        found = getattr(importlib.import_module(package), name)
    except Exception as error:  # importing runs the package's own code
        raise InputError(f"{package}.{name}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise InputError(f"{package}.{name} is not a class")
    return found


def export_all(wanted: list[tuple[Any, dict[str, Any] | None, list[int]]], folder: Path, verbose: bool) -> Exported:
    folder.mkdir(parents=True, exist_ok=True)
    result = Exported()
    for cls, parameters, shape in wanted:
        try:
            result.operators.append(export_one(cls, parameters, shape, folder))
        except InputError as error:
            result.left_out.append(str(error))
            print(f"left out: {error}")
            continue
        if verbose:
            print(f"{result.operators[-1]['mnn_fname']}: {cls.__name__}({arguments(parameters)}) {shape}")
    if not result.operators:
        raise InputError(f"none of {len(wanted)} operators can be exported; the first: {result.left_out[0]}")
    return result


def generate_ops_list(ops_yaml: str | os.PathLike[str], folder: str | os.PathLike[str], verbose: bool = False) -> Exported:
    """Exports all operators of a space into a folder, and lists them in its meta.pkl. Combinations that a class refuses
    are left out, with the reason; unknown packages and classes are an InputError before anything is written."""
    space = parse_yaml(ops_yaml)
    wanted = [(class_of(each["package"], each["class"]), each["parameters"], each["input_shape"]) for each in space]
    result = export_all(wanted, Path(folder), verbose)
    operators.store(Path(folder, operators.META), result.operators)
    return result


def register(cls: Any, folder: str | os.PathLike[str], **parameters: Any) -> Exported:
    """Adds the operators of one class to a folder, new ones first: candidates for each argument as in ops.yaml,
    `input_shape` with one shape for each candidate of the first argument, or `no_params=True`."""
    shapes = parameters.pop("input_shape", None)
    if not isinstance(shapes, (list, tuple)) or not shapes:
        raise InputError(f"{cls.__name__}: input_shape is {shapes!r}; expected a list of shapes")
    bare = parameters.pop("no_params", False)
    for name, values in parameters.items():
        if not isinstance(values, (list, tuple)) or not values:
            raise InputError(f"{cls.__name__}: {name} is {values!r}; expected a list of candidates")
    if bool(bare) == bool(parameters):
        raise InputError(f"{cls.__name__}: give candidates for its arguments, or no_params=True")
    wanted: list[tuple[Any, dict[str, Any] | None, list[int]]] = [(cls, None, list(shape)) for shape in shapes]
    if not bare:
        first, *_ = parameters
        if len(parameters[first]) != len(shapes):
            raise InputError(f"{cls.__name__}: {len(shapes)} input_shape for {len(parameters[first])} candidates of its first argument, "
                             f"{first}; give one each")
        places = [range(len(values)) for values in parameters.values()]
        wanted = [(cls, {name: values[place] for place, (name, values) in zip(choice, parameters.items())}, list(shapes[choice[0]]))
                  for choice in itertools.product(*places)]
    result = export_all(wanted, Path(folder), False)
    meta = Path(folder, operators.META)
    operators.store(meta, result.operators + (operators.load(meta) if meta.exists() else []))
    return result
