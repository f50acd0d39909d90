# SPDX-License-Identifier: Apache-2.0
"""What workers in Python ask of the machine: memory, and a place for files that live for a
moment."""
import os

from .errors import Skipped


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def check_memory(size):
    """Whether `size` bytes fit, with as much left to others."""
    available = available_memory()
    if available is not None and size > available / 2:
        raise Skipped(f"needs about {size >> 20} MiB of memory, {available >> 20} MiB are free")


def shared_memory():
    """Files that are read once and deleted go where no disk is written; None: wherever temporary
    files go."""
    place = "/dev/shm"
    return place if os.access(place, os.W_OK) else None
