#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a full disk a campaign ends with exit 8; what was measured before can be read, and with room
again it goes on."""
import contextlib
import os
import signal
import subprocess
import sys

from lab import Skipped, blocks, blocks_by_row, check, end, main, wait_until

INSIDE = "OPLAT_SURVIVAL_NAMESPACE"


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        if INSIDE not in os.environ:
            enter_namespace()
        raise Skipped(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def enter_namespace():
    """Runs this test once more as the superuser of a namespace of its own, where users may make
    one."""
    able = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True)
    if able.returncode == 0:
        done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", sys.executable, *sys.argv],
                              env={**os.environ, INSIDE: "1"})
        sys.exit(done.returncode)


def leave_free(disk, bytes_left):
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    state = os.statvfs(disk)
    with filler.open("wb") as file:
        file.write(b"x" * max(0, state.f_bavail * state.f_frsize - bytes_left))
    return filler


def test(lab):
    with small_disk(lab.folder / "disk") as disk:
        table = disk / "t.oplat"
        process = lab.start(table, "--blocks", "40")
        try:
            wait_until(lambda: blocks(table) > len(lab.keys) or process.poll() is not None, "a pass is done")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            end(process)
        check(process.returncode == 130, f"exit {process.returncode} instead of 130")
        # Room for some blocks, for a journal only, and for nothing at all.
        for free in (64 << 10, 20 << 10, 0):
            before = blocks_by_row(table)
            filler = leave_free(disk, free)
            full = lab.profile(table, "--resume", "--blocks", "1000", expect=8)
            check(str(table) in full.stderr, f"the table is not named: {full.stderr}")
            check(not lab.workers(), "a worker is left behind")
            shown = lab.run("table", "info", table)
            check(shown.returncode == 0, f"reading on a full disk: exit {shown.returncode}\n{shown.stderr}")
            filler.unlink()
            lab.check_opens(table)
            after = blocks_by_row(table)
            check(before.keys() == after.keys(), f"rows changed: {before} {after}")
            check(all(after[row] >= count for row, count in before.items()), f"blocks were lost: {before} {after}")
        least = max(blocks_by_row(table).values()) + 1
        lab.profile(table, "--resume", "--blocks", str(least))
        check(set(blocks_by_row(table).values()) == {least}, f"after resuming: {blocks_by_row(table)}")


main(test)
