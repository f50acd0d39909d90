# SPDX-License-Identifier: Apache-2.0
"""The runtime `paddle`: Paddle Inference on CPU (docs/adr/0015-paddle-worker.md)."""
from .. import harness
from ..errors import WorkerError


def main(arguments):
    """Serves until the client has had enough; the status with which the process ends."""
    return harness.main(lambda: make(arguments))


def make(arguments):
    if arguments:
        raise WorkerError("usage", f"paddle: the worker takes no arguments, found '{arguments[0]}'")
    from .worker import PaddleWorker  # what is wrong with it is to be answered, not printed

    return PaddleWorker()
