#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page, so that what it shows is what happens.

usage: docs_blocks.py OPLAT PAGE DATA

Fenced blocks marked `sh test` run one after the other in one folder, each as a script of bash that stops at the first
failure; `oplat` is the executable under test. A block marked `text output` that follows holds lines of what the commands
print, in their order; a line of three dots stands for any lines. In the folder lies the original's layout,
made of the shared data: of TinyNAS op_profiler/V100/conv_data.out, op_profiler/R50.txt, op_profiler/python/config.in; of mobile-vision
ChamNet/models/ChamNet-A/int8, runtime_lut/data (empty), runtime_lut/queries.jsonl, runtime_lut/sample.txt; of PaddleSlim table/rk3288_threads_4_power_mode_0.pkl
and the networks of the page, exported by scripts/paddle_nets. Without the data: exit 77.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
SECONDS = 120
FENCE = re.compile(r"^```(\S*) ?(\S*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


class Block:
    def __init__(self, line, script):
        self.line, self.script, self.output = line, script, None


def blocks_of(page):
    """Blocks that are run, with the output that is shown for them."""
    found = []
    current = None
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start()) + 1
        kind = (match[1], match[2])
        if kind == ("sh", "test"):
            current = Block(line, match[3])
            found.append(current)
        elif kind == ("text", "output"):
            if current is None or current.output is not None:
                raise ValueError(f"line {line}: an output without commands before it")
            current.output = match[3].splitlines()
        else:
            current = None
    return found


def first_absent(shown, printed):
    """The first shown line that is not printed where it should be; None where all are."""
    printed = [line.rstrip() for line in printed]
    at, anywhere = 0, False
    for line in shown:
        if line.strip() == "...":
            anywhere = True
            continue
        try:
            place = printed.index(line.rstrip(), at)
        except ValueError:
            return line
        if place != at and not anywhere:
            return line
        at, anywhere = place + 1, False
    return None


def lay_out_tinynas(folder, data):
    profiler = folder / "op_profiler"
    (profiler / "V100").mkdir(parents=True)
    (profiler / "python").mkdir()
    for library in data.glob("conv_data.out*"):
        (profiler / "V100" / library.name).symlink_to(library)
    for structure in (data / "structures").glob("*.txt"):
        (profiler / structure.name).symlink_to(structure)
    (profiler / "python" / "config.in").symlink_to(data / "config.in")


def lay_out_mobile_vision(folder, data):
    net = folder / "ChamNet" / "models" / "ChamNet-A" / "int8"
    net.mkdir(parents=True)
    for name in ("model.pbtxt", "model_def.svg"):
        shutil.copy(data / "ChamNet-A" / name, net / name)  # a link out of the model's folder would be refused
    (folder / "runtime_lut" / "data").mkdir(parents=True)
    (folder / "runtime_lut" / "queries.jsonl").symlink_to(data / "ChamNet-A.int8.queries.jsonl")
    (folder / "runtime_lut" / "sample.txt").symlink_to(data / "readme_sample_output.txt")


def lay_out_paddleslim(folder, data):
    (folder / "table").mkdir()
    table = "rk3288_threads_4_power_mode_0.pkl"
    (folder / "table" / table).symlink_to(data / table)
    for net, name in PADDLE_NETS.items():
        for kind in ("pdmodel", "pdiparams"):
            shutil.copy(paddle_nets() / net / f"{net}.{kind}", folder / f"{name}.{kind}")


# By the name of the data's folder: a file that tells whether it is there, and the layout.
PADDLE_NETS = {"mobilenet_v1": "mobilenetv1", "mobilenet_v2": "mobilenetv2", "resnet18": "resnet18"}
LAYOUTS = {"paddleslim": ("rk3288_threads_4_power_mode_0.pkl", lay_out_paddleslim), "tinynas": ("conv_data.out", lay_out_tinynas), "mobile-vision": ("ChamNet-A/model.pbtxt", lay_out_mobile_vision)}


def paddle_nets():
    return Path(__file__).resolve().parents[1] / "models" / "paddle"


def absent_nets(data):
    if data.name != "paddleslim":
        return []
    return [net for net in PADDLE_NETS if not all((paddle_nets() / net / f"{net}.{kind}").is_file() for kind in ("pdmodel", "pdiparams"))]


def run(block, folder, environment):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.script], cwd=folder, env=environment, text=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        return f"exit {done.returncode}\n{done.stdout}"
    absent = first_absent(block.output, done.stdout.splitlines()) if block.output is not None else None
    return f"not printed here: {absent}\n--- printed\n{done.stdout}" if absent is not None else None


# Pages that need no data.
LAYOUTS["reference"] = ("fusion-rules.md", lambda folder, data: None)


def main():
    oplat, page, data = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3]).resolve()
    witness, lay_out = LAYOUTS[data.name]
    if not (data / witness).is_file():
        print(f"skipped: no {data}")
        return SKIP
    if absent := absent_nets(data):
        print(f"skipped: {paddle_nets()} lacks {', '.join(absent)}; make them with scripts/paddle_nets")
        return 1 if os.environ.get("OPLAT_TEST_REQUIRE") == "1" else SKIP
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    if not blocks:
        print(f"{page}: no block is marked `sh test`")
        return 1
    with tempfile.TemporaryDirectory(prefix="oplat-docs.") as name:
        folder = Path(name)
        lay_out(folder, data)
        environment = dict(os.environ, PATH=f"{oplat.parent}:{os.environ['PATH']}", XDG_CACHE_HOME=str(folder / "cache"), NO_COLOR="1")
        for variable in ("OPLAT_TABLE", "OPLAT_TABLES"):
            environment.pop(variable, None)
        for block in blocks:
            if problem := run(block, folder, environment):
                print(f"{page}:{block.line}: {problem}")
                return 1
    print(f"{len(blocks)} blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
