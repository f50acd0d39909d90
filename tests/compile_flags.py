# SPDX-License-Identifier: Apache-2.0
"""How the build compiles a layer: the flags by which a test compiles a file of its own in that
layer."""
import json
import re
import shlex
from pathlib import Path

KEPT = ("-std=", "-D", "-I", "-isystem", "-f")  # what decides whether a file compiles
LEFT_OUT = ("-fsanitize", "-fno-sanitize", "-fno-omit", "-fPI", "-ffp", "-fmax", "-fuse-ld", "-fpch", "-fno-pch")


def layer_of(entry):
    """The layer that an entry of compile_commands.json belongs to, or the program of its own; None
    if to neither."""
    # the first may be that of a precompiled header
    found = re.findall(r"/oplat_(\w+)\.dir/", entry["command"])
    return found[-1] if found else None


def kept_flags(words):
    """Of a command's words the flags that decide whether a file compiles."""
    flags = []
    for word, following in zip(words, words[1:] + [""]):
        if word == "-isystem":
            flags += [word, following]
        elif word.startswith(KEPT) and not word.startswith(LEFT_OUT):
            flags.append(word)
    return flags


def layers_of(build):
    """The layers of which the build compiles something, and the runtimes that are programs of their
    own."""
    entries = json.loads((Path(build) / "compile_commands.json").read_text())
    return sorted({layer_of(entry) for entry in entries if entry["file"].endswith((".cpp", ".cxx"))} - {None})


def compiler_and_flags(build, layer):
    """The compiler and its flags for sources of a layer, read from build/compile_commands.json."""
    for entry in json.loads((Path(build) / "compile_commands.json").read_text()):
        if layer_of(entry) != layer or not entry["file"].endswith((".cpp", ".cxx")):
            continue
        words = shlex.split(entry["command"])
        compiler = next(word for word in words if "++" in Path(word).name)
        return compiler, kept_flags(words[words.index(compiler) + 1:])
    raise LookupError(f"{build}/compile_commands.json compiles nothing of the layer {layer}")
