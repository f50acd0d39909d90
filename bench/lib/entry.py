# SPDX-License-Identifier: Apache-2.0
"""What commands of bench have in common: numbers on the command line, and how one ends that cannot
go on."""
import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from lib.oplat import PINNED_PYTHON, Failed


def whole(least):
    """The type of an argument that is a whole number, `least` or more."""
    def number(said):
        value = int(said)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value
    number.__name__ = "whole number"  # in argparse's own message
    return number


def require_onnx():
    """Starts the command anew with the pinned Python where this one lacks the onnx package."""
    if importlib.util.find_spec("onnx") is not None and importlib.util.find_spec("onnxruntime") is not None:
        return
    if not PINNED_PYTHON.exists() or Path(sys.prefix).resolve() == PINNED_PYTHON.parents[1].resolve():
        sys.exit(f"bench/{Path(sys.argv[0]).name}: the Python package onnx is missing; scripts/setup installs it in .venv")
    os.execv(PINNED_PYTHON, [str(PINNED_PYTHON), *sys.argv])


def run_command(run, *arguments):
    """run(*arguments); a call that failed ends with its message and exit code 1, Ctrl-C with
    130."""
    try:
        run(*arguments)
    except (Failed, subprocess.CalledProcessError) as error:
        sys.exit(f"bench/{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
