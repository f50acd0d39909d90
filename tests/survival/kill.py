#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twenty times killed at a random moment, a campaign loses the block in progress at most and ends
as if undisturbed."""
import random
import time

from lab import blocks, blocks_by_row, check, end, main, wait_until

KILLS = 20
LEAST_BLOCKS = "8"


def test(lab):
    undisturbed = lab.folder / "undisturbed.oplat"
    begin = time.monotonic()
    lab.profile(undisturbed, "--blocks", LEAST_BLOCKS)
    whole_s = time.monotonic() - begin
    expected = blocks_by_row(undisturbed)
    check(len(expected) >= len(lab.keys), f"{len(expected)} rows of {len(lab.keys)} keys")
    check(set(expected.values()) == {int(LEAST_BLOCKS)}, f"blocks of the undisturbed run: {expected}")

    moments = random.Random(20250301)
    table = lab.folder / "killed.oplat"
    kills = midway = 0
    while kills < KILLS:
        more = ["--resume"] if table.exists() else []
        begun_with = blocks(table)
        process = lab.start(table, "--blocks", LEAST_BLOCKS, *more)
        try:
            time.sleep(moments.uniform(0, whole_s / 4))
            # every other kill meets a campaign that writes blocks, however long this machine takes
            # to start one
            if kills % 2:
                wait_until(lambda: process.poll() is not None or blocks(table) > begun_with, "a block is written")
            seen = blocks(table)
            # a look holds up the writer, which would spare it kills while it writes
            time.sleep(moments.uniform(0, 0.02))
            if process.poll() is None:
                kills += 1
                midway += seen > begun_with
            process.kill()
            process.wait()
        finally:
            end(process)
        wait_until(lambda: not lab.workers(), "no worker is left behind")
        if table.exists():
            lab.check_opens(table)
            kept = blocks(table)
            check(kept >= seen, f"kill {kills}: {seen} blocks were seen, {kept} are left")
        if process.returncode == 0:
            check(blocks_by_row(table) == expected, f"finished between kills with {blocks_by_row(table)}")
            table.unlink()  # it was too fast for the next kill: from the start again
    lab.profile(table, "--blocks", LEAST_BLOCKS)
    check(blocks_by_row(table) == expected, f"resumed to the end: {blocks_by_row(table)}")
    lab.check_opens(table)
    check(midway > 0, "no kill met a block in progress")
    print(f"{kills} kills, {midway} of them with blocks in the table")


main(test)
