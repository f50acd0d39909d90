# SPDX-License-Identifier: Apache-2.0
"""liboplat_worker (src/runtimes/worker.h) from Python: everything of a worker except its runtime.

A worker is an object with the methods of docs/reference/worker-protocol.md; requests and answers
are the protocol's objects as dicts:

    hello()         -> {"runtime": ..., "version": ...}; the library adds protocol and device
    plan(request)   -> {"kernels": [{"name": ..., "key": ...}], ...}
    open(request)   -> {"handle": 1, "bytes": 64, "topology": "single"}
    run(handle)     -> ns of one call, timed with now_ns()
    close(handle)

It raises Unsupported, Skipped or Failed if one kernel has no time, and WorkerError for anything
else (errors.py). A worker with the attribute `virtual_time = True` returns recorded times without
waiting. All methods are called on the thread that called serve(), one at a time.
"""
import ctypes
import functools
import json
import os
import sys
from pathlib import Path

from .errors import Refusal, WorkerError

ABI = 1
NAME = f"liboplat_worker.so.{ABI}"
# Where the library is, relative to the folder of the oplat executable: built, or installed.
PLACES = (".", "../lib", "lib")
MAX_REASON = 2000

HELLO = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
REQUEST = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
RUN = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
CLOSE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


class CWorker(ctypes.Structure):
    """struct oplat_worker"""

    _fields_ = [
        ("abi", ctypes.c_int32),
        ("virtual_time", ctypes.c_int32),
        ("context", ctypes.c_void_p),
        ("hello", HELLO),
        ("plan", REQUEST),
        ("open", REQUEST),
        ("run", RUN),
        ("close", CLOSE),
    ]


def find_library():
    """$OPLAT_WORKER_LIBRARY, else next to the executable that started us, else the system's."""
    given = os.environ.get("OPLAT_WORKER_LIBRARY")
    if given:
        return given
    folder = os.environ.get("OPLAT_EXECUTABLE_FOLDER")
    for place in PLACES if folder else ():
        path = Path(folder, place, NAME)
        if path.exists():
            return str(path)
    return NAME


@functools.cache
def library():
    """The library, loaded and checked once a process. WorkerError if it is not the one expected."""
    path = find_library()
    try:
        found = ctypes.CDLL(path)
        found.oplat_worker_abi.restype = ctypes.c_int32
        abi = found.oplat_worker_abi()
    except (OSError, AttributeError) as error:
        reason = f"cannot load {path}: {error}; set OPLAT_WORKER_LIBRARY to its path"
        raise WorkerError("runtime", reason) from error
    if abi != ABI:
        raise WorkerError("runtime", f"{path}: has version {abi}, but this worker needs version {ABI}")
    found.oplat_worker_answer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    found.oplat_worker_refuse.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    found.oplat_worker_serve.argtypes = [ctypes.POINTER(CWorker), ctypes.c_int]
    found.oplat_worker_serve_failure.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    found.oplat_worker_parse_key.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
    found.oplat_worker_print_key.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
    found.oplat_worker_free.argtypes = [ctypes.c_void_p]
    for function in (found.oplat_worker_answer, found.oplat_worker_refuse, found.oplat_worker_free):
        function.restype = None
    found.oplat_probe_now_ns.restype = ctypes.c_int64
    return found


def clock():
    """The function that returns the monotonic time in ns, to be called around a call of the
    runtime."""
    return library().oplat_probe_now_ns


def key_text(function, text):
    """Calls one of the key functions; ValueError with its reason."""
    out = ctypes.c_void_p()
    status = getattr(library(), function)(text.encode("utf-8", "replace"), ctypes.byref(out))
    if not out.value:
        raise MemoryError
    try:
        result = ctypes.string_at(out.value).decode()
    finally:
        library().oplat_worker_free(out)
    if status:
        raise ValueError(result)
    return result


def parse_key(text):
    """The JSON form of a key's text (worker.h); ValueError if it is not a key."""
    if "\0" in text:
        raise ValueError("a key with a NUL character")
    return json.loads(key_text("oplat_worker_parse_key", text))


def print_key(key):
    """The canonical text of a key in its JSON form; ValueError if it is not a key."""
    return key_text("oplat_worker_print_key", json.dumps(key, allow_nan=False))


def one_line(text):
    """Printable, on one line, and not longer than people read."""
    return " ".join(str(text).replace("\0", " ").split())[:MAX_REASON].encode("utf-8", "replace")


class Callbacks:
    """The functions of struct oplat_worker over a worker in Python. Keep it alive while it
    serves."""

    def __init__(self, worker, abi=ABI):
        self.worker = worker
        virtual_time = int(getattr(worker, "virtual_time", False))
        self.struct = CWorker(abi, virtual_time, None, HELLO(self._hello), REQUEST(self._plan),
                              REQUEST(self._open), RUN(self._run), CLOSE(self._close))

    def _hello(self, _, reply):
        self._answer(reply, "hello", self.worker.hello)

    def _plan(self, _, request, reply):
        self._answer(reply, "plan", lambda: self.worker.plan(json.loads(request)))

    def _open(self, _, request, reply):
        self._answer(reply, "open", lambda: self.worker.open(json.loads(request)))

    def _close(self, _, handle, reply):
        self._answer(reply, "close", lambda: self.worker.close(handle))

    def _run(self, _, handle, reply):
        try:
            return float(self.worker.run(handle))
        except Exception as error:  # whatever a runtime raises is this kernel's failure
            refuse(reply, "failed", error if str(error) else type(error).__name__)
            return 0.0

    @staticmethod
    def _answer(reply, method, call):
        """No exception may end the worker: the client would take it for a crash of the kernel."""
        try:
            text = json.dumps(call() or {}, allow_nan=False)
            library().oplat_worker_answer(reply, text.encode())
        except Refusal as refusal:
            refuse(reply, refusal.kind, refusal)
        except WorkerError as error:
            refuse(reply, error.code, error)
        except MemoryError:
            refuse(reply, "failed" if method == "open" else "runtime", "out of memory")
        except Exception as error:
            refuse(reply, "internal", f"{method}: {type(error).__name__}: {error}")


def refuse(reply, kind, reason):
    library().oplat_worker_refuse(reply, kind.encode(), one_line(reason))


def claim_output():
    """Keeps what is standard output for the protocol. Call it before the runtime is loaded."""
    sys.stdout.flush()
    return library().oplat_worker_claim_output()


def serve(worker, output):
    """Answers requests until shutdown or the end of input; returns the exit status."""
    callbacks = Callbacks(worker)
    return library().oplat_worker_serve(ctypes.byref(callbacks.struct), output)


def serve_failure(error, output):
    """Answers every request with a WorkerError; returns the exit status."""
    return library().oplat_worker_serve_failure(error.code.encode(), one_line(error), output)


def main(make):
    """What a worker's main() does: `make()` loads the runtime and returns the worker, or raises a
    WorkerError that the client is to see. Returns the exit status."""
    try:
        output = claim_output()
    except WorkerError as error:  # nobody can answer: the client shows these last words
        sys.exit(str(error))
    try:
        worker = make()
    except WorkerError as error:
        return serve_failure(error, output)
    return serve(worker, output)
