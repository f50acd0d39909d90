# SPDX-License-Identifier: Apache-2.0
"""liboplat_probe (include/oplat/runtimes/probe.h): clock, reference kernels, counters and facts of the machine."""
import ctypes
import os
from pathlib import Path

from .errors import WorkerError

ABI = 3
NAME = f"liboplat_probe.so.{ABI}"
# Where the library lies under the folder of the executable, by the way oplat was installed or built.
PLACES = (".", "../lib", "src/runtimes/probe", "lib")


class Counters(ctypes.Structure):
    """struct oplat_probe_counters"""

    _fields_ = [
        ("involuntary_switches", ctypes.c_int64),
        ("faults", ctypes.c_int64),
        ("steal_ticks", ctypes.c_int64),
        ("steal_known", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("busy_ns", ctypes.c_int64),
        ("own_cpu_ns", ctypes.c_int64),
    ]


class Machine(ctypes.Structure):
    """struct oplat_probe_machine"""

    _fields_ = [
        ("l1d_bytes", ctypes.c_int64),
        ("l2_bytes", ctypes.c_int64),
        ("llc_bytes", ctypes.c_int64),
        ("cores", ctypes.c_int64),
        ("memory_bytes", ctypes.c_int64),
        ("cpu", ctypes.c_char * 128),
        ("architecture", ctypes.c_char * 32),
        ("isa", ctypes.c_char * 1024),
    ]


class Cores(ctypes.Structure):
    """struct oplat_probe_cores"""

    _fields_ = [("look_ns", ctypes.c_double), ("trip_ns", ctypes.c_double)]


class Watch(ctypes.Structure):
    """struct oplat_probe_watch"""

    _fields_ = [("looks", ctypes.c_int64), ("shared", ctypes.c_int64), ("own_ns", ctypes.c_int64)]


def find_library():
    """$OPLAT_PROBE, else beside the executable that started us, else wherever the system finds it."""
    given = os.environ.get("OPLAT_PROBE")
    if given:
        return given
    folder = os.environ.get("OPLAT_EXECUTABLE_FOLDER")
    for place in PLACES if folder else ():
        path = Path(folder, place, NAME)
        if path.exists():
            return str(path)
    return NAME


class Probe:
    """The library, loaded and checked."""

    def __init__(self, path=None):
        path = path or find_library()
        try:
            library = ctypes.CDLL(path)
            library.oplat_probe_abi.restype = ctypes.c_int32
            abi = library.oplat_probe_abi()
        except (OSError, AttributeError) as error:
            raise WorkerError("runtime", f"cannot load {path}: {error}; name it with OPLAT_PROBE") from error
        if abi != ABI:
            raise WorkerError("runtime", f"{path}: version {abi} where {ABI} is expected")
        library.oplat_probe_now_ns.restype = ctypes.c_int64
        library.oplat_probe_scrub.argtypes = [ctypes.c_int64, ctypes.c_int32]
        for name in ("compute", "memory"):
            function = getattr(library, f"oplat_probe_reference_{name}")
            function.argtypes = [ctypes.c_int32, ctypes.POINTER(ctypes.c_double)]
        self._library = library
        self.now_ns = library.oplat_probe_now_ns
        self.alone = library.oplat_probe_alone

    def reference(self, name, repeats):
        """Median of `repeats` runs of the reference "compute" or "memory", in ns."""
        ns = ctypes.c_double()
        status = getattr(self._library, f"oplat_probe_reference_{name}")(repeats, ctypes.byref(ns))
        if status:
            raise OSError(status, f"reference kernels: {os.strerror(status)}")
        return ns.value

    def watch_begin(self):
        """Whether the core is looked at from here to watch_end(); the system may not have it."""
        return self._library.oplat_probe_watch_begin() == 0

    def watch_end(self):
        found = Watch()
        self._library.oplat_probe_watch_end(ctypes.byref(found))
        return found

    def apart(self, threads, best):
        """Whether the cores of so many threads are apart, compared with `best` (the protocol's best_cores), which is brought up to date."""
        cores = Cores(best.get("look_ns", 0), best.get("trip_ns", 0))
        found = self._library.oplat_probe_apart(threads, ctypes.byref(cores)) == 1
        best.update(look_ns=cores.look_ns, trip_ns=cores.trip_ns)
        return found

    def scrub(self, size, threads):
        status = self._library.oplat_probe_scrub(size, threads)
        if status:
            raise OSError(status, f"scrub of {size} bytes: {os.strerror(status)}")

    def counters(self):
        found = Counters()
        self._library.oplat_probe_read_counters(ctypes.byref(found))
        return found

    def device(self):
        """Facts of this machine as the protocol's `device`."""
        found = Machine()
        self._library.oplat_probe_read_machine(ctypes.byref(found))
        cpu, architecture = found.cpu.decode(errors="replace"), found.architecture.decode(errors="replace")
        sizes = {name: getattr(found, name) for name in ("cores", "memory_bytes", "l1d_bytes", "l2_bytes", "llc_bytes")}
        return {"name": cpu or architecture or "unknown", "cpu": cpu, "architecture": architecture, **sizes,
                "isa": found.isa.decode()}
