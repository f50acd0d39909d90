#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Core code names no foreign system: searches its folders for the words by which one would be
recognised.

Usage: core_words.py ROOT [--list]

Readers of foreign formats and the list of runtimes may name what they read and start. What else is
left stands in LEFT, each entry with its reason; an entry without a hit is an error too, so that the
list can only shrink. --list prints the number of hits of each file that is left."""
import re
import sys
from pathlib import Path

CORE = ["base", "ir", "formats", "plan", "table", "estimate", "predict", "search", "measure", "runtimes", "report"]
WORDS = re.compile(r"paddle|tinynas|caffe2|\blut\b|mnn", re.IGNORECASE)

# Readers, and the lists of readers and runtimes.
READERS = [
    "formats/caffe2",  # the folder and its header
    "formats/caffe2.hpp",
    "formats/paddle",
    "formats/paddle.hpp",
    "formats/mnn",
    "formats/mnn.hpp",
    "formats/registry.cpp",
    "formats/CMakeLists.txt",
    "runtimes/qnnpack",
    "runtimes/registry.cpp",
    "runtimes/programs.cpp",  # the variable that names the interpreter of a runtime
]

# File or folder -> why it still names a system. Shrinks.
LEFT = {}


def is_below(path, entry):
    return path == entry or path.startswith(entry + "/")


def main():
    root = Path(sys.argv[1]) / "src"
    hits = {}
    seen = 0
    for layer in CORE:
        for file in sorted((root / layer).rglob("*")):
            if not file.is_file() or file.suffix not in {".hpp", ".cpp", ".h", ".c", ".txt", ".in", ".inc"}:
                continue
            seen += 1
            path = str(file.relative_to(root))
            if any(is_below(path, entry) for entry in READERS):
                continue
            lines = [(number, line) for number, line in enumerate(file.read_text().splitlines(), 1) if WORDS.search(line)]
            if lines:
                hits[path] = lines
    wrong = []
    used = set()
    for path, lines in hits.items():
        entry = next((entry for entry in LEFT if is_below(path, entry)), None)
        if entry is not None:
            used.add(entry)
            continue
        wrong += [f"src/{path}:{number}: core names a foreign system: {line.strip()}" for number, line in lines]
    wrong += [f"tests/core_words.py: LEFT: nothing is left in {entry}; delete the entry" for entry in LEFT if entry not in used]
    if "--list" in sys.argv:
        for path, lines in hits.items():
            print(f"{len(lines):4} src/{path}")
    print("\n".join(wrong) if wrong else f"{seen} files of core; {len(hits)} of them still name a foreign system")
    return 1 if wrong or seen < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
