# SPDX-License-Identifier: Apache-2.0
"""What is in a folder of exported models: descriptions, and which file a time is of."""
from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from oplat.errors import InputError


def digest(model: Path) -> str:
    """Of a file, which may have been exported again; empty if it is missing."""
    try:
        return hashlib.sha256(model.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def model_files(folder: str | os.PathLike[str]) -> list[Path]:
    """The descriptions that export_models() left in a folder, in order of their names."""
    found = sorted(Path(folder).glob("*meta.json"))
    if not found:
        raise InputError(f"{os.fspath(folder)}: has no *meta.json; export_models() makes it")
    return found


def description(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("torch_name"), str):
        raise InputError(f"{path}: is not a description of a model; export_models() makes it")
    return found
