# SPDX-License-Identifier: Apache-2.0
"""Types of arguments, for type checkers."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Union

if TYPE_CHECKING:
    import numpy.typing


class SerializableModel(Protocol):
    """A model that can be written as an ONNX file: `onnx.ModelProto`."""

    def SerializeToString(self) -> bytes: ...


Model = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, SerializableModel]
Models = Union[Model, Iterable[Model]]
Shapes = Mapping[str, Sequence[int]]
# A path or a word as for `--input`, or an array.
Inputs = Mapping[str, Union[str, "os.PathLike[str]", "numpy.typing.ArrayLike"]]
