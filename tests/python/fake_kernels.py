# SPDX-License-Identifier: Apache-2.0
"""A worker of kernels that only pretend, in Python on liboplat_worker.
tests/unit/runtimes/fake_kernels.c is the same worker in C; a recorded session must give the same
answers with both. Its argument is a mode: "real", "virtual" (recorded times), "old" (of another
version of the library), "absent" (its runtime does not load)."""
import ctypes
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from oplat.workers import harness  # noqa: E402
from oplat.workers.errors import Failed, Skipped, Unsupported, WorkerError, usage  # noqa: E402
from oplat.workers.keys import Alias, Key, Tensor  # noqa: E402

TIRED_AFTER = 2
REFUSALS = {"Unsupported": Unsupported("not such a kernel"), "Skipped": Skipped("not on this machine"), "Failed": Failed("it tried"),
            "Wrong": usage("there is no option 'x'"), "Bug": ZeroDivisionError("a bug"), "Memory": MemoryError(),
            "Quit": SystemExit("never mind")}


class FakeKernels:
    def __init__(self, virtual_time):
        self.virtual_time = virtual_time
        self.kernels = {}  # handle -> [operator, copies, calls]
        self.count = self.calls = 0

    def hello(self):
        return {"runtime": "fake", "version": "1", "build": "b", "most_threads": 2,
                "options": {"level": {"values": ["0", "1"], "default": "1"}}}

    def plan(self, request):
        print("a runtime that prints", flush=True)
        if request["model"] != "net":
            raise WorkerError("input", "no such model")
        attributes = {"pads": [1, 1], "alpha": 0.5, "ceil": True}
        key = Key("", "Conv", attributes, [Tensor("f32", [1, 3, 8]), None, Alias(0)], [Alias(0)], since=11)
        return {"model": "net", "source": "runtime", "batch": 1, "weight_bytes": 8, "kernels": [{"name": "n0", "key": str(key)}]}

    def open(self, request):
        op = request["key"].partition("{")[0]
        if op in REFUSALS:
            raise REFUSALS[op]
        self.count += 1
        self.kernels[self.count] = [op, request["copies"], 0]
        return {"handle": self.count, "bytes": 64 * request["copies"], "topology": "fan" if request["copies"] > 1 else "single"}

    def run(self, handle):
        if handle not in self.kernels:
            raise Failed("no such handle")
        kernel = self.kernels[handle]
        if kernel[0] == "Crash":
            os.abort()
        if kernel[0] == "Hang":
            signal.pause()
        kernel[2] += 1
        if kernel[0] == "Tired" and kernel[2] > TIRED_AFTER:
            raise Failed("kernel returned error 7")
        self.calls += 1
        return 1000 * kernel[1] + 0.5 * (self.calls % 7)

    def close(self, handle):
        if handle not in self.kernels:
            raise usage("no such handle")
        del self.kernels[handle]


def make(mode):
    if mode == "absent":
        raise WorkerError("runtime", "libfake is not installed")
    return FakeKernels(mode == "virtual")


def main(mode):
    if mode != "old":
        return harness.main(lambda: make(mode))
    output = harness.claim_output()
    callbacks = harness.Callbacks(FakeKernels(False), abi=harness.ABI + 1)
    return harness.library().oplat_worker_serve(ctypes.byref(callbacks.struct), output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "real"))
