#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums the runtime's own profile of one network: the median over runs of the sum of its node times,
all and by operator, as JSON.

This is what a user gets without oplat who runs the model once under onnxruntime's profiler, and a
baseline of docs/results/accuracy.md. Run with the Python of .venv (scripts/setup).
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when the library is loaded
import onnxruntime  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from zoo.inputs import random_inputs  # noqa: E402

WARM_UP_RUNS = 5
LEAST_RUNS = 20
MOST_RUNS = 300
SECONDS = 1.5


def record(model, threads, folder):
    """Runs the network under the profiler; gives the trace file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_profiling = True
    options.profile_file_prefix = str(Path(folder) / "trace")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = random_inputs(session, seed=1)
    for _ in range(WARM_UP_RUNS):
        session.run(None, feed)
    start, runs = time.monotonic(), 0
    while runs < LEAST_RUNS or (runs < MOST_RUNS and time.monotonic() - start < SECONDS):
        session.run(None, feed)
        runs += 1
    return session.end_profiling()


def runs_of(events):
    """The nodes of each run after the warm-up. A node belongs to the run that encloses its
    start."""
    runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "Session" and e["name"] == "model_run")
    nodes = sorted((e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")), key=lambda e: e["ts"])
    found, at = [], 0
    for begin, end in runs:
        while at < len(nodes) and nodes[at]["ts"] < begin:
            at += 1
        own = []
        while at < len(nodes) and nodes[at]["ts"] <= end:
            own.append(nodes[at])
            at += 1
        found.append(own)
    return found[WARM_UP_RUNS:]


def by_operator(runs):
    """Of each operator: executions a run, and the median over runs of the nanoseconds of all of
    them."""
    sums = [Counter() for _ in runs]
    counts = Counter()
    for at, nodes in enumerate(runs):
        for node in nodes:
            sums[at][node["args"]["op_name"]] += node["dur"]
            counts[node["args"]["op_name"]] += 1
    return {name: {"count": counts[name] / len(runs), "ns": 1000 * statistics.median(one[name] for one in sums)} for name in sorted(counts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        events = json.loads(Path(record(options.model, options.threads, folder)).read_text(encoding="utf-8"))
    runs = runs_of(events)
    sum_us = statistics.median(sum(node["dur"] for node in nodes) for nodes in runs)
    print(json.dumps({"sum_ns": 1000 * sum_us, "operators": by_operator(runs), "runs": len(runs), "version": onnxruntime.__version__}))


if __name__ == "__main__":
    main()
