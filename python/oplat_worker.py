# SPDX-License-Identifier: Apache-2.0
"""python3 oplat_worker.py NAME: serves the runtime NAME over standard input and output (`oplat
worker NAME` becomes this)."""
import importlib
import sys

if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].isidentifier():
        sys.exit("usage: oplat_worker.py NAME [ARGUMENT...]")
    sys.exit(importlib.import_module(f"oplat.workers.{sys.argv[1]}").main(sys.argv[2:]))
