# SPDX-License-Identifier: Apache-2.0
"""Prints the N costliest kernels of an `oplat predict --json` document on standard input."""

import json
import sys


def costliest(prediction, wanted):
    """(total ns, count, kernel) of the kernels that take the most time, largest first; equal keys count together."""
    by_key = {}
    for kernel in prediction["kernels"]:
        if kernel["latency_ns"] is not None:
            count = kernel.get("count") or 1
            total, times, _ = by_key.get(kernel["key"], (0.0, 0, None))
            by_key[kernel["key"]] = (total + kernel["latency_ns"] * count, times + count, kernel)
    return sorted(by_key.values(), key=lambda entry: -entry[0])[:wanted]


def main():
    prediction = json.load(sys.stdin)
    whole = prediction["latency_ns"]
    for total, count, kernel in costliest(prediction, int(sys.argv[1])):
        share = f"{100 * total / whole:5.1f} %" if whole else "      -"
        print(f"  {total / 1e3:10.1f} us  {share}  {count:g} x  {kernel['source']:12}  {kernel['key']}")


if __name__ == "__main__":
    main()
