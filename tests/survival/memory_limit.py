#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers of a campaign run under a limit on their address space that leaves the machine its
memory."""
import contextlib
import os
import signal
from pathlib import Path

from lab import Skipped, blocks, check, end, main, wait_until


def physical_bytes():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return 1024 * int(line.split()[1])
    raise Skipped("the system does not tell its memory")


def limit_of(process):
    for line in Path(f"/proc/{process}/limits").read_text().splitlines():
        if line.startswith("Max address space"):
            return line.split()[3]
    raise Skipped("the system does not tell the limits of a process")


def test(lab):
    if "OPLAT_SANITIZED" in os.environ:
        raise Skipped("sanitizers reserve more address space than any machine has memory: such builds set no limit")
    table = lab.folder / "t.oplat"
    process = lab.start(table, "--blocks", "40")
    try:
        limits = []

        def found():
            with contextlib.suppress(OSError):
                limits.extend(limit_of(worker) for worker in lab.workers()[:1])
            return limits or process.poll() is not None

        wait_until(lambda: blocks(table) > 0 and found(), "a worker runs")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        end(process)
    check(limits, "no worker was seen")
    check(limits[0] != "unlimited", "a worker has no limit")
    slack = 4 << 30  # what is reserved and never touched: stacks, arenas
    check(int(limits[0]) <= physical_bytes() + slack, f"a worker may have {limits[0]} bytes, the machine has {physical_bytes()}")


main(test)
