# SPDX-License-Identifier: Apache-2.0
"""The loop of a worker: JSON-RPC 2.0, one message a line (docs/reference/worker-protocol.md).

A worker is an object with the methods hello(), plan(request), open(request), run(handle), close(handle) and the
attribute `probe`; requests and answers are the protocol's own objects.
"""
import ctypes
import json
import math
import os
import signal
import sys

from .block import Block
from .errors import Refusal, WorkerError, usage

PROTOCOL = 1
MOST_LINE_BYTES = 16 << 20
MOST_DEPTH = 32
MOST_COPIES = 65_536
OURS, PARSE, NO_REQUEST, NO_METHOD, BAD_PARAMS = -32000, -32700, -32600, -32601, -32602
PR_SET_PDEATHSIG = 1


class RpcError(Exception):
    """An error under one of JSON-RPC's own numbers."""

    def __init__(self, number, message):
        super().__init__(message)
        self.number = number


def claim_descriptor():
    """Keeps what is standard output for the protocol and points descriptor 1 at 2: runtimes print."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return descriptor


def prepare_process():
    """A client that is killed closes nothing in order; without it nobody waits for our answers."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def depth_of(line):
    """How deep brackets nest, strings left out."""
    depth = deepest = 0
    in_string = escaped = False
    for byte in line:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def parse_line(line):
    if b"\0" in line:
        raise RpcError(PARSE, "a line with NUL bytes")
    if line.count(b"[") + line.count(b"{") > MOST_DEPTH and depth_of(line) > MOST_DEPTH:
        raise RpcError(PARSE, f"a line nested deeper than {MOST_DEPTH}")
    try:
        message = json.loads(line)
    except ValueError as error:
        raise RpcError(PARSE, f"no JSON: {line[:60]!r}") from error
    if not isinstance(message, dict):
        raise RpcError(PARSE, f"no JSON object: {line[:60]!r}")
    return message


def check_request(message):
    if isinstance(message.get("id"), bool) or not isinstance(message.get("id"), (int, str)):
        message["id"] = None
        raise RpcError(NO_REQUEST, 'request without an integer or string "id"')
    if message.get("jsonrpc") != "2.0":
        raise RpcError(NO_REQUEST, 'request without "jsonrpc": "2.0"')
    if not isinstance(message.get("method"), str):
        raise RpcError(NO_REQUEST, 'request without a "method"')
    if not isinstance(message.setdefault("params", {}), dict):
        raise RpcError(BAD_PARAMS, '"params" is no object')


def take(params, name, kind, default=None, least=None, most=None):
    """A field of `kind` within its bounds; `default` where it is absent or null."""
    value = params.get(name)
    if value is None:
        if default is None:
            raise RpcError(BAD_PARAMS, f'"{name}" is missing')
        return default
    good = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if not good or (least is not None and value < least) or (most is not None and value > most):
        raise RpcError(BAD_PARAMS, f'"{name}" is out of range or of the wrong type')
    return value


def read_setting(params):
    setting = take(params, "setting", dict, {})
    setting.setdefault("precision", "model")
    setting["threads"] = take(setting, "threads", int, 1, 1, 65_536)
    setting["options"] = take(setting, "options", dict, {})
    return setting


def read_question(params):
    """What `plan` and `open` share, with defaults filled in."""
    shapes = take(params, "shapes", dict, {})
    for name, dims in shapes.items():
        if not isinstance(dims, list) or len(dims) > 64 or not all(isinstance(d, int) and 0 <= d <= 1 << 40 for d in dims):
            raise RpcError(BAD_PARAMS, f'"shapes": {name} is no list of dimensions')
    batch = params.get("batch")
    return {"shapes": shapes, "batch": None if batch is None else take(params, "batch", int, None, 1, 1 << 40),
            "inputs": take(params, "inputs", dict, {}), "setting": read_setting(params)}


def read_open(params):
    request = read_question(params)
    for name in ("key", "model"):
        request[name] = params.get(name) or ""
    if bool(request["key"]) == bool(request["model"]):
        raise RpcError(BAD_PARAMS, '"key" or "model": exactly one must be given')
    request["copies"] = take(params, "copies", int, 1, 1, MOST_COPIES)
    request["topology"] = take(params, "topology", str, "auto")
    if request["topology"] not in ("auto", "chain", "fan", "single"):
        raise RpcError(BAD_PARAMS, '"topology": expected auto, chain, fan or single')
    request["distinct_weights"] = take(params, "distinct_weights", bool, False)
    request["seed"] = take(params, "seed", int, 1, 0)
    return request


def read_block(params):
    request = {name: value for name, value in params.items() if value is not None}
    handles = take(params, "handles", list, None)
    if not all(isinstance(handle, int) for handle in handles):
        raise RpcError(BAD_PARAMS, '"handles" holds something other than integers')
    for name in ("duration_ns", "warmup_rounds", "scrub_bytes", "patience_ns"):
        if name in request:
            take(params, name, int, 0, 0)
    for name in ("least_rounds", "most_rounds", "scrub_threads", "apart"):
        if name in request:
            take(params, name, int, 1, 1)
    if "best_cores" in request and not all(isinstance(ns, (int, float)) and 0 <= ns < math.inf for ns in take(params, "best_cores", dict, None).values()):
        raise RpcError(BAD_PARAMS, '"best_cores" holds something other than times')
    if "alone" in request:
        take(params, "alone", bool, True)
    return request


class Server:
    """Answers requests of one worker. `failure` stands in for a worker that cannot start."""

    def __init__(self, worker, failure=None):
        self.worker, self.failure = worker, failure

    def answer(self, method, params):
        if method == "shutdown":
            return {}
        if self.failure:
            raise self.failure
        if method == "hello":
            return {"protocol": PROTOCOL} | self.worker.hello()
        if method == "plan":
            return self.worker.plan(read_question(params) | {"model": take(params, "model", str)})
        if method == "open":
            request = read_open(params)
            return self.refusable(lambda: {"opened": self.worker.open(request)})
        if method == "block":
            block = Block(self.worker.probe, self.worker.run, read_block(params))
            return self.refusable(lambda: {"samples": block.samples()})
        if method == "close":
            self.worker.close(take(params, "handle", int))
            return {}
        if method == "put":
            raise usage("this worker shares the file system of its client and takes no files")
        raise RpcError(NO_METHOD, f'unknown method "{method}"')

    @staticmethod
    def refusable(answer):
        try:
            return answer()
        except Refusal as refusal:
            return {refusal.kind: one_line(refusal) or "no reason was given"}
        except MemoryError:
            return {"failed": "out of memory"}

    def reply(self, line):
        """The line of the answer and whether it is the last."""
        message = {}
        try:
            message = parse_line(line)
            check_request(message)
            result = self.answer(message["method"], message["params"])
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, allow_nan=False)
            if len(text) > MOST_LINE_BYTES:
                raise WorkerError("internal", f"an answer of {len(text)} bytes is longer than {MOST_LINE_BYTES}")
            return text, message["method"] == "shutdown"
        except RpcError as error:
            return error_text(message.get("id"), error.number, "usage", error), False
        except WorkerError as error:
            return error_text(message.get("id"), OURS, error.code, error), False
        except Exception as error:  # no fault of a runtime may end the worker: it would pass for a crash of the kernel
            return error_text(message.get("id"), OURS, "internal", f"{message.get('method')}: {type(error).__name__}: {error}"), False


def one_line(text, most=2000):
    """Printable, without line ends, and not longer than people read."""
    return " ".join(str(text).replace("\0", " ").split())[:most]


def error_text(identity, number, code, message):
    error = {"code": number, "message": one_line(message), "data": {"code": code}}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error})


def serve(server, requests, descriptor):
    """Reads requests until shutdown or the end; gives the status with which the process ends."""
    prepare_process()
    while True:
        line = requests.readline(MOST_LINE_BYTES + 1)
        if not line:
            return 0
        if len(line) > MOST_LINE_BYTES:
            write_line(descriptor, error_text(None, NO_REQUEST, "usage", f"a line longer than {MOST_LINE_BYTES} bytes"))
            return 1
        text, last = server.reply(line)
        try:
            write_line(descriptor, text)
        except BrokenPipeError:
            return 0
        if last:
            return 0


def write_line(descriptor, text):
    data = text.encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data):]
