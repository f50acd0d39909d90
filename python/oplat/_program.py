# SPDX-License-Identifier: Apache-2.0
"""The command `oplat` of an installed wheel: becomes the program that is packed with it."""
import os
import signal
import sys
from pathlib import Path

# Python ignores them, and a program that it becomes would go on ignoring them.
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


def main() -> None:
    program = Path(__file__).with_name("bin") / "oplat"
    for each in IGNORED:
        signal.signal(each, signal.SIG_DFL)
    try:
        os.execv(program, ["oplat", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"oplat: cannot execute {program}: {error.strerror}; install the wheel again")
