# SPDX-License-Identifier: Apache-2.0
"""Facts of a long command in one JSON file that a kill at any moment leaves whole."""
import json
import os
from pathlib import Path

from lib.markdown import wrapped


def write_atomically(path, text):
    """The file holds either the old or the new text, also after a crash of the machine. Markdown is
    wrapped."""
    path = Path(path)
    text = wrapped(text) if path.suffix == ".md" else text
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


class Store:
    """A dictionary of dictionaries; save() after each change that must not be lost."""

    def __init__(self, path):
        self.path = Path(path)
        self.facts = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def section(self, *names):
        """The dictionary under these names, created if missing."""
        found = self.facts
        for name in names:
            found = found.setdefault(name, {})
        return found

    def save(self):
        write_atomically(self.path, json.dumps(self.facts, indent=1, sort_keys=True) + "\n")
