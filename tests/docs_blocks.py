#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation, so that what it shows is what happens.

usage: docs_blocks.py OPLAT ROOT [PAGE...]

ROOT is the top folder of the sources; without PAGE, README.md and every page below docs/ that has a
block to run. Fenced blocks marked `sh test` run one after the other in one folder a page, each as a
script of bash that stops at the first failure; `oplat` is the program under test. A block marked
`text output` that follows holds what the commands print (see expected_output.py; more may follow).
Any other block of commands in README.md, docs/guide and docs/reference stands below a line
`<!-- not run: REASON -->`.

Pages for users of another system find that system's layout in the folder, made of the data in
ROOT/../shared: of TinyNAS op_profiler/V100/conv_data.out, op_profiler/R50.txt and
op_profiler/python/config.in; of mobile-vision ChamNet/models/ChamNet-A/int8, runtime_lut/data
(empty), runtime_lut/queries.jsonl and runtime_lut/sample.txt; of PaddleSlim
table/rk3288_threads_4_power_mode_0.pkl and the networks of the page, exported by
scripts/paddle_nets; of MMT meta_latency.pkl, whose times are made up. Without the data such a page
is skipped. Without the networks it is too, but with OPLAT_TEST_REQUIRE=1 it fails if Paddle is
there to export them (.venv-paddle). Other pages find data/ and fuzz/corpus/ of the sources.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from expected_output import mismatch

SKIP = 77
SECONDS = 240
FENCE = re.compile(r"^```(\S*) ?(\S*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# Any other block of commands has a line before it that says why it is not run.
COMMAND = re.compile(r"^ *(\$ |sudo |\w+=\S+ )*((oplat|pip|python3?|cmake|ctest|make|ssh|adb|scp|sqlite3|git|apt|apt-get|curl) "
                     r"|(scripts|build|bench|\.)/\w)", flags=re.MULTILINE)
ANY_FENCE = re.compile(r"^(<!-- not run: [^\n]+ -->\n)?```([^\n]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
GENERATED = ("command-line",)
PADDLE_NETS = {"mobilenet_v1": "mobilenetv1", "mobilenet_v2": "mobilenetv2", "resnet18": "resnet18"}


class Avoidable(str):
    """Why a page is skipped, though scripts/setup and scripts/models make what it lacks."""


class Block:
    """Commands to run, the line where they begin, and what the page shows of their output."""

    def __init__(self, line, script):
        self.line, self.script, self.output = line, script, None


def blocks_of(page):
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


def unmarked(page):
    """Lines where blocks of commands begin that are neither run nor marked `<!-- not run: REASON
    -->`."""
    return [page.count("\n", 0, match.start()) + 1 for match in ANY_FENCE.finditer(page)
            if not match[1] and match[2].strip() not in ("sh test", "text output") and COMMAND.search(match[3])]


def lay_out_tinynas(folder, root):
    data = root / ".." / "shared" / "data" / "tinynas"
    if not (data / "conv_data.out").is_file():
        return f"no {data}"
    profiler = folder / "op_profiler"
    (profiler / "V100").mkdir(parents=True)
    (profiler / "python").mkdir()
    for library in data.glob("conv_data.out*"):
        (profiler / "V100" / library.name).symlink_to(library.resolve())
    for structure in (data / "structures").glob("*.txt"):
        (profiler / structure.name).symlink_to(structure.resolve())
    (profiler / "python" / "config.in").symlink_to((data / "config.in").resolve())
    return None


def lay_out_mobile_vision(folder, root):
    data = root / ".." / "shared" / "data" / "mobile-vision"
    if not (data / "ChamNet-A" / "model.pbtxt").is_file():
        return f"no {data}"
    net = folder / "ChamNet" / "models" / "ChamNet-A" / "int8"
    net.mkdir(parents=True)
    for name in ("model.pbtxt", "model_def.svg"):
        # A copy: a link out of the model's folder would be refused.
        shutil.copy(data / "ChamNet-A" / name, net / name)
    lut = folder / "runtime_lut"
    (lut / "data").mkdir(parents=True)
    (lut / "queries.jsonl").symlink_to((data / "ChamNet-A.int8.queries.jsonl").resolve())
    (lut / "sample.txt").symlink_to((data / "readme_sample_output.txt").resolve())
    return None


def lay_out_paddleslim(folder, root):
    table = "rk3288_threads_4_power_mode_0.pkl"
    data = root / ".." / "shared" / "data" / "paddleslim"
    if not (data / table).is_file():
        return f"no {data / table}"
    nets = root / "models" / "paddle"
    files = [nets / net / f"{net}.{kind}" for net in PADDLE_NETS for kind in ("pdmodel", "pdiparams")]
    if missing := [file.name for file in files if not file.is_file()]:
        reason = f"{nets} lacks {', '.join(missing)}; make them with scripts/paddle_nets"
        return Avoidable(reason) if (root / ".venv-paddle").exists() else reason
    (folder / "table").mkdir()
    (folder / "table" / table).symlink_to((data / table).resolve())
    for file in files:
        shutil.copy(file, folder / (PADDLE_NETS[file.stem] + file.suffix))
    return None


def lay_out_mmt(folder, root):
    data = root / ".." / "shared" / "data" / "mmt" / "synthetic_ops" / "meta_latency.pkl"
    if not data.is_file():
        return f"no {data}"
    (folder / data.name).symlink_to(data.resolve())
    return None


def lay_out_ci(folder, root):
    """A model and a table that answers for it without a runtime."""
    programs = root / "tests" / "cli"
    for command in (["paddle_program.py", "net"], ["paddle_table.py", "phone.pkl"]):
        subprocess.run([sys.executable, programs / command[0], *command[1:]], cwd=folder, check=True)
    return None


def lay_out_sources(folder, root):
    (folder / "data").symlink_to(root / "data")
    return None


# By the name of the page: what makes its folder and says why it cannot.
LAYOUTS = {
    "from-tinynas": lay_out_tinynas,
    "from-mobile-vision": lay_out_mobile_vision,
    "from-paddleslim": lay_out_paddleslim,
    "from-mmt": lay_out_mmt,
    "ci": lay_out_ci,
}


def run(block, folder, environment):
    """What is wrong with a block; None if nothing is."""
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.script],
            cwd=folder, env=environment, text=True, timeout=SECONDS,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} s"
    if done.returncode != 0:
        return f"exit {done.returncode}\n{done.stdout}"
    if block.output is None:
        return None
    problem = mismatch(block.output, done.stdout.splitlines(), open_end=True)
    return f"{problem}\n--- printed\n{done.stdout}" if problem else None


def check(oplat, root, page, blocks):
    """("passed", "failed" or "skipped", what there is to say) of one page."""
    with tempfile.TemporaryDirectory(prefix="oplat-docs.") as name:
        folder = Path(name)
        if reason := LAYOUTS.get(page.stem, lay_out_sources)(folder, root):
            fails = os.environ.get("OPLAT_TEST_REQUIRE") == "1" and isinstance(reason, Avoidable)
            return "failed" if fails else "skipped", reason
        environment = dict(os.environ, PATH=f"{oplat.parent}:{os.environ['PATH']}",
                           XDG_CACHE_HOME=str(folder / "cache"), NO_COLOR="1")
        for variable in ("OPLAT_TABLE", "OPLAT_TABLES"):
            environment.pop(variable, None)
        for block in blocks:
            if problem := run(block, folder, environment):
                return "failed", f"line {block.line}: {problem}"
    return "passed", f"{len(blocks)} blocks"


def main():
    oplat, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    named = [Path(page).resolve() for page in sys.argv[3:]]
    pages = named or [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        is_manual = page == root / "README.md" or page.parent.name in ("guide", "reference")
        if is_manual and page.stem not in GENERATED and (lines := unmarked(text)):
            counts["failed"] += 1
            print(f"failed: {page.relative_to(root)}: commands that are neither run nor marked "
                  f"<!-- not run: REASON -->: line {', '.join(map(str, lines))}", flush=True)
            continue
        blocks = blocks_of(text)
        if not blocks and not named:
            continue
        outcome, text = check(oplat, root, page, blocks) if blocks else ("failed", "no block to run")
        counts[outcome] += 1
        print(f"{outcome}: {page.relative_to(root)}: {text.rstrip()}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else 0 if counts["passed"] else SKIP


if __name__ == "__main__":
    sys.exit(main())
