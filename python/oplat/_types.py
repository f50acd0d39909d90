# SPDX-License-Identifier: Apache-2.0
"""Types of arguments, for type checkers."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Union


class SerializableModel(Protocol):
    """A model that can be written as an ONNX file: `onnx.ModelProto`."""

    def SerializeToString(self) -> bytes: ...


Model = Union[str, "os.PathLike[str]", bytes, SerializableModel]
Models = Union[Model, Iterable[Model]]
Shapes = Mapping[str, Sequence[int]]
