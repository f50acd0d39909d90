# SPDX-License-Identifier: Apache-2.0
"""Numbers and tables as Markdown."""
import datetime
import os
import subprocess

from lib.oplat import ROOT


def duration(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}" if ns < 1000 * factor else f"{ns / factor:.0f} {unit}"
    return f"{ns:.0f} ns"


def percent(share, digits=1):
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def signed_percent(share):
    return "-" if share is None else f"{100 * share:+.1f} %"


def counted(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def table(head, rows):
    """`head` is a list of names; a name that starts with '>' is a column of numbers."""
    names = [name.removeprefix(">") for name in head]
    rules = ["---:" if name.startswith(">") else "---" for name in head]
    return ["| " + " | ".join(cells) + " |" for cells in (names, rules, *rows)]


def load():
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def today():
    return datetime.date.today().isoformat()


def commit():
    """The commit of the working tree, with -dirty where a tracked file differs."""
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], cwd=ROOT, text=True,
                          check=False, capture_output=True)
    return done.stdout.strip() or "unknown"


def machine(device):
    """A fact that a machine does not report is said to be unknown."""
    said = lambda number, shown, what: f"unknown {what}" if number is None else shown(number)  # noqa: E731
    return ", ".join((device["cpu"] or "unknown processor", said(device["cores"], "{} cores".format, "number of cores"),
                      said(device["llc_bytes"], lambda size: f"{size >> 20} MiB last-level cache", "last-level cache"),
                      said(device["memory_bytes"], lambda size: f"{size / 2**30:.0f} GiB", "memory")))
