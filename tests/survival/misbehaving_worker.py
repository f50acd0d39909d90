#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker (docs/reference/worker-protocol.md) whose kernels behave by their operator: Tanh hangs,
Sigmoid needs 4 GiB more, others take 100 us."""
import json
import os
import sys
import time

protocol = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
opened = {}
ballast = []


def answer(method, params):
    if method == "hello":
        return {"protocol": 1, "runtime": "misbehaving", "version": "1", "device": {"name": "bench"}}
    if method == "open":
        if params["key"].startswith("Sigmoid"):
            ballast.append(bytearray(4 << 30))
        handle = len(opened) + 1
        opened[handle] = params
        return {"opened": {"handle": handle, "bytes": 64, "topology": "single" if params.get("copies", 1) == 1 else "chain"}}
    if method == "block":
        asked = [opened[handle] for handle in params["handles"]]
        if any(kernel["key"].startswith("Tanh") for kernel in asked):
            time.sleep(3600)
        return {"samples": {"ns": [[1000.0 + 100e3 * kernel.get("copies", 1)] * 5 for kernel in asked]}}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    result = answer(request["method"], request.get("params") or {})
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), file=protocol, flush=True)
    if request["method"] == "shutdown":
        break
