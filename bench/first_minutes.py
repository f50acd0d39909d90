#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What four new users type after scripts/demo, and what they see, with the time of each step;
writes docs/results/first-minutes.md.

Each command runs in a terminal of 80 columns (a pseudo-terminal), in the folder of the checkout, by
the release build (scripts/build release) and the table that scripts/demo made. Long outputs are cut
in the middle, and say so.
"""
import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.oplat import ROOT  # noqa: E402
from lib.store import write_atomically  # noqa: E402

COLUMNS = 80
MOST_LINES = 34
PAGE = ROOT / "docs/results/first-minutes.md"
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
MOBILENET, VIT, RESNET = "models/mobilenet_v2_224.onnx", "models/vit_tiny_224.onnx", "models/resnet18_int8.onnx"
TABLE = "demo.oplat"

USERS = (
    ("An engineer with one model", (
        ("How long does it take, and which operators?", f"oplat predict {MOBILENET} --table {TABLE}"),
        ("Is 8 ms met, surely?", f"oplat predict {MOBILENET} --table {TABLE} --max-latency 8ms --gate-on upper --quiet > /dev/null; echo exit $?"),
        ("What does it compute?", f"oplat inspect {MOBILENET}"),
    )),
    ("An architect with candidates", (
        ("Learn what was not measured, once", f"oplat fit {TABLE}"),
        ("Rank them", f"printf '%s\\n' {MOBILENET} {VIT} {RESNET} models/resnet18.onnx > nets.txt; oplat predict --list nets.txt --table {TABLE}"),
        ("Which setting meets 10 ms?", f"oplat advise {MOBILENET} --table {TABLE} --max-latency 10ms"),
    )),
    ("A user of an original (MMT)", (
        ("The operators of my ops.yaml", "oplat search expand ops.yaml"),
        ("My table", "oplat import meta_latency.pkl --format mmt --device phone --table phone.oplat && oplat table rows phone.oplat"),
    )),
    ("A C++ developer", (
        ("Install, after scripts/build release", "cmake --install build/release --prefix installed > /dev/null; ls installed/include/oplat"),
        ("Build the examples", "cmake -S examples -B examples-build -DCMAKE_PREFIX_PATH=$PWD/installed > /dev/null && cmake --build examples-build 2>&1 | tail -1"),
        ("Predict", f"examples-build/predict_from_table {TABLE} {MOBILENET}"),
    )),
)
OPS = """torch.nn:
  Conv2d:
    in_channels: [3, 64]
    out_channels: [64]
    kernel_size: [3, 5]
    padding: [0]
    input_shape: [[1, 3, 224, 224], [1, 64, 56, 56]]
  ReLU:
    no_params: true
    input_shape: [[1, 64, 112, 112]]
"""


def in_terminal(command, folder):
    """Its output over a terminal of 80 columns, and seconds."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "PATH": f"{ROOT}/build/release:{os.environ['PATH']}", "TERM": "xterm", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    begin = time.monotonic()
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=child, stderr=child, env=environment)
    os.close(child)
    output = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    process.wait()
    seconds = time.monotonic() - begin
    os.close(parent)
    # What a line was before it was written over (progress) is not seen.
    lines = [line.rstrip("\r").split("\r")[-1].expandtabs() for line in CONTROL.sub(b"", output).decode(errors="replace").split("\n")]
    return [line for line in lines if not re.match(r"\w+: \d+/\d+ ", line)], seconds


def shown(lines):
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) <= MOST_LINES:
        return lines
    half = MOST_LINES // 2
    return [*lines[:half], f"[... {len(lines) - 2 * half} lines left out ...]", *lines[-half:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default=str(ROOT / TABLE), help="table of scripts/demo (default: demo.oplat)")
    parser.add_argument("--out", default=str(PAGE), help="page to write")
    options = parser.parse_args()
    page = ["# The first five minutes", "",
            f"Written by `bench/first_minutes.py` on {text.today()}, commit {text.commit()}, after `scripts/demo`: what four new users type and see in a terminal of {COLUMNS} columns, "
            "with the wall time of each step. Long outputs are cut in the middle.", ""]
    with tempfile.TemporaryDirectory(prefix="oplat-first-minutes-") as name:
        folder = Path(name)
        for linked in ("models", "build", "examples"):
            (folder / linked).symlink_to(ROOT / linked)
        (folder / TABLE).write_bytes(Path(options.table).read_bytes())
        (folder / "ops.yaml").write_text(OPS)
        subprocess.run([sys.executable, ROOT / "tests/cli/mmt_table.py", "write", folder / "meta_latency.pkl"], check=True)
        for user, steps in USERS:
            page += [f"## {user}"]
            for what, command in steps:
                lines, seconds = in_terminal(command, folder)
                page += [f"{what} ({seconds:.2f} s):", "", "```text", f"$ {command}", *shown(lines), "```", ""]
    write_atomically(options.out, "\n".join(page))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
