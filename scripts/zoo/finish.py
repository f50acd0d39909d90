# SPDX-License-Identifier: Apache-2.0
"""What needs onnx and onnxruntime: the test networks, quantisation, and the check that a network loads and runs.

Runs under .venv/bin/python, asked by scripts/models.
"""

import logging
import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read while onnxruntime loads

import numpy
import onnxruntime

from . import quantise, tiny_nets
from .inputs import random_inputs
from .pipe import serve


def finish(task, path, seed, **arguments):
    if task == "tiny":
        tiny_nets.make(path=path, seed=seed, **arguments)
    elif task == "quantise":
        quantise.static(path=path, seed=seed, **arguments)
    return check(path, seed)


def check(path, seed):
    """Loads the file and runs it once; a network whose numbers overflow or die is no stand-in for a trained one."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for output in session.run(None, random_inputs(session, seed)):
        if output.dtype == numpy.float32 and not (numpy.isfinite(output).all() and 1e-6 < numpy.abs(output).max() < 1e6):
            raise ValueError(f"the output reaches {numpy.abs(output).max():g}")
    return {}


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantiser repeats its advice for every network
    onnxruntime.set_default_logger_severity(3)
    serve(finish)
