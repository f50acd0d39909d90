#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer rule of HACKING.md, held against every #include: a folder sees only what stands above
it in its column. And the shell stays thin: what the command line holds beyond flags, terminal and
one small file a command belongs to app."""
import re
import sys
from pathlib import Path

COMMON = ["base", "ir", "formats", "plan", "table"]
SEES = {layer: COMMON[: COMMON.index(layer)] for layer in COMMON}
SEES["estimate"] = COMMON
SEES["predict"] = COMMON + ["estimate"]
SEES["search"] = COMMON + ["estimate", "predict"]
SEES["measure"] = COMMON
SEES["runtimes"] = COMMON + ["measure"]
SEES["report"] = COMMON + ["estimate", "predict", "search", "measure"]
SEES["compat"] = COMMON + ["estimate", "predict", "search", "report"]
SEES["app"] = COMMON + ["estimate", "predict", "search", "measure", "runtimes", "compat", "report"]
SEES["api"] = SEES["app"] + ["app"]
SEES["cli"] = SEES["app"] + ["app"]
SEES["python"] = SEES["app"] + ["app", "api"]
# Lines of src/cli without the commands about foreign systems: lower it, never raise it.
SHELL_LINES = 3000
FOREIGN = ["lut", "paddleslim", "tinynas", "commands/import.cpp", "commands/export.cpp"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/')


def shell_lines(root):
    cli = root / "src" / "cli"
    foreign = {file for name in FOREIGN for file in [cli / name, *(cli / name).rglob("*")]}
    missing = [name for name in FOREIGN if not (cli / name).exists()]
    assert not missing, f"FOREIGN: there is no src/cli/{missing[0]}"
    return sum(len(file.read_text().splitlines()) for file in cli.rglob("*.[ch]pp") if file not in foreign)


def main():
    root = Path(sys.argv[1])
    wrong = []
    seen = 0
    for layer, above in SEES.items():
        for file in sorted((root / "src" / layer).rglob("*.[ch]pp")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if not found or found.group(1) not in SEES:
                    continue
                seen += 1
                if found.group(1) != layer and found.group(1) not in above:
                    wrong.append(f"{file.relative_to(root)}:{number}: {layer} may not use {found.group(1)}")
    shell = shell_lines(root)
    if shell > SHELL_LINES:
        wrong.append(f"src/cli: {shell} lines without foreign commands, at most {SHELL_LINES}; move work to app or report")
    print("\n".join(wrong) if wrong else f"{seen} includes, every one upwards; {shell} lines of src/cli")
    return 1 if wrong or seen < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
