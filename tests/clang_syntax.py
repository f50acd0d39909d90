#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether clang compiles what g++ does: clang_syntax.py BUILD SOURCES

The fuzz targets are built by clang (OPLAT_FUZZ). Where the two compilers differ is one thing: clang
up to 15 refuses a lambda that captures a structured binding, unless it says `[&name = name]`. Every
source in which a lambda may do so is compiled by clang, without making code. That takes seconds;
compiling everything twice would take as long as the build.
"""
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SKIP = 77
BINDING = re.compile(r"auto\s*&{0,2}\s*\[([\w, ]+)\]")
LAMBDA = re.compile(r"\[([^\[\]]*)\]\s*(\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*(?:mutable\s*)?(?:->\s*[\w:<>]+\s*)?\{")
LEFT_OUT = re.compile(r"-f(sanitize|no-sanitize|no-omit|PI|use-ld)|-Wno-subobject|--param|-g|ggc|asan|-O")


def end_of_scope(text, start):
    """Where the braces open at `start` are closed once more than opened."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth < 0:
            return at
    return len(text)


def may_capture(text):
    """Whether a lambda captures, or seems to, a name that a structured binding made."""
    for binding in BINDING.finditer(text):
        names = [name.strip() for name in binding[1].split(",")]
        scope = text[binding.end():end_of_scope(text, binding.end())]
        for found in LAMBDA.finditer(scope):
            body = scope[found.end():end_of_scope(scope, found.end())]
            for name in names:
                word = rf"(?<![\w.>:\"']){name}\b"
                says_so = re.search(rf"\b{name}\s*=", found[1])
                if found[1].strip() and not says_so and re.search(word, body):
                    return True
    return False


def flags_by_folder(build):
    """The flags of each layer's sources, by the folder of src that they are in, and of those of fuzz."""
    flags = {}
    for entry in json.loads((Path(build) / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        # Of the object file: elsewhere a command may name the precompiled headers of all layers.
        layer = re.search(r"(?:^|/)(?:oplat_(\w+)|(fuzz)_replay)\.dir/", words[words.index("-o") + 1])
        if layer is None or not entry["file"].endswith((".cpp", ".cxx")):
            continue
        kept = words[next(i for i, word in enumerate(words) if "++" in Path(word).name) + 1:words.index("-o")]
        while "-include" in kept:  # headers precompiled by g++
            at = kept.index("-include")
            del kept[at:at + 2]
        flags.setdefault(layer[1] or layer[2], [word for word in kept if not LEFT_OUT.match(word)])
    return flags


def main():
    build, sources = sys.argv[1], Path(sys.argv[2])
    clang = shutil.which("clang++")
    if clang is None:
        print("skipped: no clang++")
        return SKIP
    flags = flags_by_folder(build)
    wrong = 0
    checked = []
    if "fuzz" not in flags:
        print("the build knows no fuzz targets")
        return 1
    for path in sorted([*(sources / "src").rglob("*.cpp"), *(sources / "fuzz").glob("*.cpp")]):
        layer = "fuzz" if path.parent.name == "fuzz" else path.relative_to(sources / "src").parts[0]
        if not may_capture(path.read_text()):
            continue
        if layer not in flags:
            if layer == "python":  # needs packages that not every build has
                continue
            print(f"{path}: the build does not say how its layer is compiled")
            wrong += 1
            continue
        checked.append(path.name)
        done = subprocess.run([clang, *flags[layer], "-Wno-unknown-warning-option", "-Wno-everything",
                               "-fsyntax-only", str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            wrong += 1
            print(done.stderr[:4000])
    print(f"checked {', '.join(checked)}")
    refused = 'struct P { int a, b; };\nint f(P p) { auto [a, b] = p; return [&] { return a + b; }(); }\n'
    if not may_capture(refused):
        print("the search for such lambdas finds none where there is one")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
