# SPDX-License-Identifier: Apache-2.0
"""Paddle Inference on CPU: programs in files to predictors that run with inputs of ours."""
import contextlib
import ctypes
import os

from ..errors import WorkerError

INSTALL = "python3 -m venv .venv-paddle && .venv-paddle/bin/pip install paddlepaddle==3.3.1"
# Passes that would make one of several equal copies, or none of copies whose results nobody reads.
MERGING = ("common_subexpression_elimination_pass", "dead_code_elimination_pass")


# glibc's mallopt: freed memory of up to 1 GiB stays, requests of up to 32 MiB (its most) come from
# it, and it grows by 64 MiB.
KEEP_MEMORY = ((-1, 1 << 30), (-3, 32 << 20), (-2, 64 << 20))


def keep_memory():
    """Paddle takes the memory of every result anew. Given back to the system in between, it is
    taken page by page in the next run: SqueezeNet takes 580 faults and a third longer so, and no
    kernel by itself knows of it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc alone
    for parameter, value in KEEP_MEMORY if mallopt else ():
        mallopt(parameter, value)


class Engine:
    """The library, loaded once a process."""

    def __init__(self):
        keep_memory()
        os.environ.setdefault("GLOG_minloglevel", "2")  # it reports every pass on standard error
        try:
            import numpy
            import paddle
            from paddle import inference
        except Exception as error:  # an import may fail in any way
            raise WorkerError("runtime", f"paddle: {type(error).__name__}: {error}; install it: {INSTALL}") from error
        self.numpy, self.paddle, self.inference = numpy, paddle, inference
        self.version, self.build = paddle.__version__, paddle.version.commit[:12]

    def config(self, program, params, threads, onednn):
        config = self.inference.Config(str(program), str(params))
        config.disable_gpu()
        config.disable_glog_info()
        config.set_cpu_math_library_num_threads(threads)
        if onednn:
            config.enable_mkldnn()
        else:
            config.disable_mkldnn()
        return config

    def predictor(self, config):
        """RuntimeError with Paddle's words where it cannot; what it raises is of many kinds."""
        try:
            with quiet():
                return self.inference.create_predictor(config)
        except Exception as error:
            raise RuntimeError(str(error)) from error


@contextlib.contextmanager
def quiet():
    """What Paddle prints while it loads a program is dropped, unless somebody asked to see what
    workers say."""
    if os.environ.get("OPLAT_WORKER_STDERR"):
        yield
        return
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
