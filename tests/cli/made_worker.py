#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker of made times (docs/reference/worker-protocol.md), for tests of what is printed: oplat
measure --worker "python3 made_worker.py"

Any model has the kernels of KERNELS; a run takes as long as they do, and a profile of the nodes
says what each takes.
"""
import json
import sys

CONV = ("com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=%d,kernel_shape=[%d,%d],"
        "pads=[%d,%d,%d,%d],strides=[1,1]}(f32[1,%d,28,28],f32c[%d,%d,%d,%d],f32c[%d])->(f32[1,%d,28,28])")


def conv(group, size, before, after):
    pad = size // 2
    return CONV % (group, size, size, pad, pad, pad, pad, before, after, before // group, size, size, after, after)


# Node, key, ns.
KERNELS = (
    ("/features/stage.0/block.0/expand/Conv", conv(1, 1, 64, 384), 400_000),
    ("/features/stage.0/block.0/depthwise/Conv", conv(384, 3, 384, 384), 150_000),
    ("/features/stage.0/block.0/project/Conv", conv(1, 1, 384, 64), 420_000),
    ("/features/stage.0/block.1/expand/Conv", conv(1, 1, 64, 384), 400_000),
    ("/head/Softmax", "Softmax/13{axis=-1}(f32[1,1000])->(f32[1,1000])", 3_000),
)
RUN_NS = 1_400_000.0
DEVICE = {"name": "desk", "cpu": "desk", "architecture": "x86_64", "cores": 2, "memory_bytes": 1 << 34, "l1d_bytes": 32768,
          "l2_bytes": 1 << 20, "llc_bytes": 1 << 25, "isa": "avx2"}


def answer(method, asked):
    if method == "hello":
        return {"protocol": 1, "runtime": "onnxruntime", "version": "1.0", "build": "made", "most_threads": 2,
                "options": {}, "precisions": ["model"], "device": DEVICE, "shared_file_system": True}
    if method == "plan":
        return {"model": asked["model"], "identity": "", "source": "runtime", "batch": 1, "weight_bytes": 1e6,
                "activation_bytes": 2e6, "kernels": [{"name": name, "key": key, "count": 1} for name, key, _ in KERNELS]}
    if method == "times":
        return {"nodes": [{"node": name, "ns": [ns, ns + 1000]} for name, _, ns in KERNELS]}
    if method == "put":
        return {"complete": True, "path": asked["name"]}
    if method == "open":
        return {"opened": {"handle": 1, "bytes": 4096, "topology": "single"}}
    if method == "block":
        times = [RUN_NS] * max(32, asked["least_rounds"])
        return {"samples": {"ns": [times] * len(asked["handles"]), "reference_compute_ns": 5e4, "reference_memory_ns": 3e5,
                            "faults": 0, "switches": 0, "steal_ticks": 0, "other_load": 0.0, "waited_ns": 0,
                            "best_cores": {"look_ns": 0.0, "trip_ns": 0.0}, "virtual_time": False}}
    if method == "memory":
        return {"unsupported": "times are made"}
    return {}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request["params"])}),
              flush=True)
        if request["method"] == "shutdown":
            break


if __name__ == "__main__":
    main()
