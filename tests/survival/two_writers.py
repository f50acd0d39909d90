#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While one campaign writes a table a second one is refused with exit 6 and told by whom; the first
one is not disturbed."""
import signal

from lab import blocks, blocks_by_row, check, end, main, wait_until


def test(lab):
    table = lab.folder / "shared.oplat"
    first = lab.start(table, "--blocks", "1000")
    try:
        wait_until(lambda: blocks(table) > 0 or first.poll() is not None, "the first writer has written")
        refused = lab.profile(table, "--blocks", "1000", expect=6)
        check(first.poll() is None, "the first writer has ended")
        check(f"process {first.pid} " in refused.stderr, f"the holder {first.pid} is not named: {refused.stderr}")
        check(str(table) in refused.stderr, f"the table is not named: {refused.stderr}")
        shown = lab.run("table", "info", table)
        check(shown.returncode == 0, f"reading beside a writer: exit {shown.returncode}\n{shown.stderr}")
        seen = blocks(table)
        wait_until(lambda: blocks(table) > seen or first.poll() is not None, "the first writer has gone on")
        first.send_signal(signal.SIGINT)
        output, errors = first.communicate(timeout=60)
    finally:
        end(first)
    check(first.returncode == 130, f"the first writer: exit {first.returncode}\n{output}{errors}")
    least = max(5, 1 + max(blocks_by_row(table).values()))
    lab.profile(table, "--resume", "--blocks", str(least))  # the lease was given back
    check(set(blocks_by_row(table).values()) == {least}, f"blocks in the end: {blocks_by_row(table)}")


main(test)
