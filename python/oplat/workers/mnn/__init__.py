# SPDX-License-Identifier: Apache-2.0
"""The runtime `mnn`: MNN's interpreter on CPU (docs/adr/0047-mnn-worker.md)."""
from .. import harness
from ..errors import WorkerError


def main(arguments):
    """Serves until the client has had enough; the status with which the process ends."""
    return harness.main(lambda: make(arguments))


def make(arguments):
    if arguments:
        raise WorkerError("usage", f"mnn: the worker takes no arguments, found '{arguments[0]}'")
    from .worker import MnnWorker  # what is wrong with it is to be answered, not printed

    return MnnWorker()
