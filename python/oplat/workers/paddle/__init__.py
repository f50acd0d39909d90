# SPDX-License-Identifier: Apache-2.0
"""The runtime `paddle`: Paddle Inference on CPU (docs/adr/0015-paddle-worker.md)."""
import sys

from .. import protocol
from ..errors import WorkerError
from .worker import PaddleWorker


def main(arguments):
    """Serves until the client has had enough; the status with which the process ends."""
    descriptor = protocol.claim_descriptor()
    worker = failure = None
    try:
        if arguments:
            raise WorkerError("usage", f"paddle: the worker takes no arguments, found '{arguments[0]}'")
        worker = PaddleWorker()
    except WorkerError as error:
        failure = error
    status = protocol.serve(protocol.Server(worker, failure), sys.stdin.buffer, descriptor)
    return 1 if failure and status == 0 else status
