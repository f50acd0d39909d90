# SPDX-License-Identifier: Apache-2.0
"""The command `oplat` of an installed wheel: becomes the program that is packed with it."""
import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).with_name("bin") / "oplat"
    try:
        os.execv(program, ["oplat", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"oplat: cannot execute {program}: {error.strerror}; install the wheel again")
