# SPDX-License-Identifier: Apache-2.0
"""How the build compiles a layer: the flags by which a test compiles a file of its own in that layer."""
import json
import shlex
from pathlib import Path

KEPT = ("-std=", "-D", "-I", "-isystem", "-f")  # what decides whether a file compiles
LEFT_OUT = ("-fsanitize", "-fno-sanitize", "-fno-omit", "-fPI", "-ffp", "-fmax", "-fuse-ld")


def compiler_and_flags(build, layer):
    """The compiler and its flags for sources of a layer, read from build/compile_commands.json."""
    for entry in json.loads((Path(build) / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if f"/oplat_{layer}.dir/" not in entry["command"] or not entry["file"].endswith((".cpp", ".cxx")):
            continue
        compiler = next(word for word in words if "++" in Path(word).name)
        flags, words = [], words[words.index(compiler) + 1:]
        for word, following in zip(words, words[1:] + [""]):
            if word == "-isystem":
                flags += [word, following]
            elif word.startswith(KEPT) and not word.startswith(LEFT_OUT):
                flags.append(word)
        return compiler, flags
    raise LookupError(f"{build}/compile_commands.json compiles nothing of the layer {layer}")
