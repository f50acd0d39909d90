#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a campaign with exit 130 and a table that is complete as far as it goes; run the same
command to resume."""
import signal

from lab import blocks, blocks_by_row, check, end, main, wait_until


def test(lab):
    for number, (sent, status) in enumerate([(signal.SIGINT, 130), (signal.SIGTERM, 143)]):
        table = lab.folder / f"interrupted{number}.oplat"
        process = lab.start(table, "--blocks", "40")
        try:
            wait_until(lambda: blocks(table) >= len(lab.keys) + 3 or process.poll() is not None, "the second pass has begun")
            check(process.poll() is None, "the campaign ended by itself")
            seen = blocks(table)
            process.send_signal(sent)
            _, errors = process.communicate(timeout=60)
        finally:
            end(process)
        check(process.returncode == status, f"exit {process.returncode} instead of {status}\n{errors}")
        check("run the same command to resume" in errors, f"stderr does not say how to go on: {errors}")
        check(not lab.workers(), "a worker is left behind")
        lab.check_opens(table)
        rows = blocks_by_row(table)
        check(sum(rows.values()) >= seen, f"{seen} blocks were seen, {rows} are left")
        check(len(rows) >= len(lab.keys) and min(rows.values()) >= 1, f"not every key has a block: {rows}")
        check(max(rows.values()) <= min(rows.values()) + 1, f"passes are not even: {rows}")
        least = max(rows.values()) + 1
        lab.profile(table, "--resume", "--blocks", str(max(least, 5)))
        check(set(blocks_by_row(table).values()) == {max(least, 5)}, f"after resuming: {blocks_by_row(table)}")


main(test)
