#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a few small kernels with the reference runtime into FOLDER, for campaigns that replay
them: record.py OPLAT FOLDER"""
import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from lab import KEYS, RECORDING

oplat, folder = sys.argv[1], Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
table = folder / RECORDING
keys = [f"Relu/14{{}}(f32[1,{8 * size}])->(f32[1,{8 * size}])" for size in range(1, 17)]
(folder / KEYS).write_text("".join(key + "\n" for key in keys))
left, budget_ms = len(keys), 500
while left > 0:
    # One block of each is enough: the budget ends what follows.
    command = [oplat, "profile", "--keys", folder / KEYS, "--table", table, "--runtime", "reference", "--budget", f"{budget_ms}ms", "--json",
               "--quiet"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    left = json.loads(done.stdout)["rows"]["left"]
    budget_ms *= 2  # on a slow machine a budget may be over before the first block
# With little noise every replayed row ends with the least number of blocks, whatever the order in
# which it got them.
with contextlib.closing(sqlite3.connect(table)) as database:
    database.execute("UPDATE row SET sd_log = 0.002")
    database.commit()
