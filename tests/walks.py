#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The walks of HACKING.md, held against the code: each file is there, no step goes back up through
the layers, and each file is reached from an earlier one of its walk.

usage: walks.py ROOT

A walk is a section `## A walk: ...` with a numbered list. Its files are those in backticks,
`LAYER/NAME.cpp` below src. A file goes back up if its layer may use that of an earlier one
(tests/layers.py). It is reached if it includes a header of its folder (or of the one above) that an
earlier file includes, too, each of them itself or in a header that it names.
"""
import re
import sys
from pathlib import Path

from layers import SEES

WALKS = 3
SECTION = re.compile(r"^## A walk: (.*?)\n(.*?)(?=^## )", re.M | re.S)
FILE = re.compile(r"`([\w/]+\.[ch]pp)`")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


class Sources:
    def __init__(self, src):
        self.src = src
        self.known = {}

    def includes(self, name):
        """The headers of src that a file names."""
        if name not in self.known:
            found = INCLUDE.findall((self.src / name).read_text(encoding="utf-8"))
            self.known[name] = {header for header in found if (self.src / header).is_file()}
        return self.known[name]

    def two_deep(self, name):
        """Those, and the ones that they name."""
        return self.includes(name).union(*map(self.includes, self.includes(name)))

    def own(self, name):
        """Those of its folder and of the one above: what it implements, and what it calls there."""
        folder = Path(name).parent
        folders = {folder, folder.parent} - {Path(".")}
        return {header for header in self.two_deep(name) if Path(header).parent in folders}


def problems_of_walk(sources, files):
    """What is wrong with a walk of so many files, as messages."""
    if missing := [name for name in files if not (sources.src / name).is_file()]:
        return [f"{name}: no such file below src" for name in missing]
    wrong = []
    reached = sources.two_deep(files[0])
    for number, name in enumerate(files[1:], 1):
        layer = name.split("/")[0]
        if below := [before for before in files[:number] if before.split("/")[0] in SEES[layer]]:
            wrong.append(f"{name}: goes back up, after {below[-1]}")
        # A shell of the other side of a pipe is where that process starts.
        if layer != "cli" and not (sources.own(name) | {name}) & reached:
            wrong.append(f"{name}: no earlier file includes a header of it")
        reached |= sources.two_deep(name)
    return wrong


def walks(text):
    """(title, files in the order of their first mention) of each walk of a page."""
    for section in SECTION.finditer(text):
        yield section[1], list(dict.fromkeys(FILE.findall(section[2])))


def main():
    root = Path(sys.argv[1])
    sources = Sources(root / "src")
    found = [*walks((root / "HACKING.md").read_text(encoding="utf-8"))]
    wrong = [f"HACKING.md: {title}: {what}" for title, files in found for what in problems_of_walk(sources, files)]
    if len(found) != WALKS or any(len(files) < 8 for _, files in found):
        wrong.append(f"HACKING.md: {WALKS} walks of eight files or more; these have {[len(files) for _, files in found]}")
    for title, files in found:
        if not problems_of_walk(sources, files[::-1]):
            wrong.append(f"HACKING.md: {title}: backwards it is a walk, too: this check is blind")
    print("\n".join(wrong) if wrong else "\n".join(f"{title}: {len(files)} files, all downwards" for title, files in found))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
