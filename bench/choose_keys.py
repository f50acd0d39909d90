#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chooses the 200 keys of data/keys-200.txt from the kernels of the zoo, with a fixed seed.

Each kernel of each network's plan is a candidate if it takes 2 us to 5 ms: by its row in the table,
else by the roofline that `oplat predict --missing roofline` gives. Every operator that has a
candidate is taken; then kernels whose cold state is measured, kernels with weights, and the rest in
turn by operator and precision. The list is fixed once it is committed; this script says how it came
about.
"""
import argparse
import random
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib.baselines import KEY_TYPE, executed  # noqa: E402
from lib.oplat import ROOT, RUNTIME, Failed, Oplat, say  # noqa: E402
from lib.settings import require_files, zoo_networks  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

SEED = 4
KEYS = 200
WITH_WEIGHTS = 130
COLD = 60
MEASURED_NS = (2e3, 5e6)
GUESSED_NS = (6e3, 2e6)  # a guess may be wrong by a factor of three
LONG = 5  # of LONG_NS and more: there are few, and they cost most
LONG_NS = 2e6
CONSTANT = re.compile(r"\b([a-z]+\d+)c\[([\d,]*)\](?!=)")
BYTES = {"f64": 8, "i64": 8, "u64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1}
LEAST_WEIGHT_BYTES = 256  # less is a scale or a zero point
# A cold row is worth its time where fetching the weights at 10 GB/s takes 2 % of the hot time.
LEAST_COLD_BYTES = 64 * 1024
MEMORY_BYTES_PER_NS = 10
LEAST_COLD_SHARE = 0.02


def weight_bytes(key):
    total = 0
    for dtype, dims in CONSTANT.findall(key):
        size = BYTES.get(dtype, 1)
        for dim in filter(None, dims.split(",")):
            size *= int(dim)
        total += size
    return total


class Candidate:
    def __init__(self, kernel, precision):
        self.key = kernel["key"]
        self.ns = kernel["latency_ns"]
        self.measured = kernel["source"] == "measured"
        self.operator = KEY_TYPE.match(self.key).group(1)
        self.precision = precision
        self.weights = weight_bytes(self.key)

    @property
    def fits(self):
        low, high = MEASURED_NS if self.measured else GUESSED_NS
        return low <= self.ns <= high

    @property
    def has_weights(self):
        return self.weights >= LEAST_WEIGHT_BYTES

    @property
    def is_cold(self):
        return self.weights >= LEAST_COLD_BYTES and self.weights / MEMORY_BYTES_PER_NS >= LEAST_COLD_SHARE * self.ns


def candidates(oplat, table, store):
    """Distinct kernels of all networks, sorted by key, so that the choice depends on nothing
    else."""
    found = {}
    networks = zoo_networks([])
    require_files(networks)
    for network in networks:
        section = store.section("kernels")
        if network.name not in section:
            say(f"plan of {network.name}")
            prediction = oplat.json("predict", network.path, "--table", table, "--runtime", RUNTIME, "--threads", 1, "--missing", "roofline",
                                    "--per-op", allowed=(0, 4), quiet=True)
            section[network.name] = [{name: kernel[name] for name in ("key", "latency_ns", "source")}
                                     for kernel in executed(prediction) if kernel["latency_ns"]]
            store.save()
        for kernel in section[network.name]:
            found.setdefault(kernel["key"], Candidate(kernel, network.precision))
    return [found[key] for key in sorted(found)]


def choose(pool):
    """The chosen candidates and the operators that have none of a fitting time."""
    order = random.Random(SEED)
    order.shuffle(pool)
    pool.sort(key=lambda c: not c.measured)  # known times first, random among themselves
    fitting = [c for c in pool if c.fits]
    chosen = {}

    def take(wanted, enough):
        """In turn by operator and precision, so that no operator crowds out the others."""
        queues = {}
        for candidate in fitting:
            if candidate.key not in chosen and wanted(candidate):
                queues.setdefault((candidate.operator, candidate.precision), []).append(candidate)
        while queues and not enough():
            for name in sorted(queues):
                if enough():
                    break
                candidate = queues[name].pop(0)
                chosen[candidate.key] = candidate
                if not queues[name]:
                    del queues[name]

    # An operator whose kernels are all guessed to be short: its longest, where the guess is within
    # the range at all.
    least, most = MEASURED_NS
    known = {c.operator for c in fitting}
    guessed = sorted((c for c in pool if c.operator not in known and least <= c.ns <= most), key=lambda c: -c.ns)
    operators = known | {c.operator for c in guessed}
    for operator in sorted(operators):
        first = next(c for c in fitting + guessed if c.operator == operator)
        chosen[first.key] = first
    count = lambda what: sum(what(c) for c in chosen.values())
    take(lambda c: c.ns >= LONG_NS, lambda: count(lambda c: c.ns >= LONG_NS) >= LONG)
    take(lambda c: c.is_cold and c.measured, lambda: count(lambda c: c.is_cold) >= COLD)
    take(lambda c: c.has_weights, lambda: count(lambda c: c.has_weights) >= WITH_WEIGHTS)
    take(lambda c: not c.has_weights, lambda: len(chosen) >= KEYS)
    take(lambda c: True, lambda: len(chosen) >= KEYS)
    return list(chosen.values()), sorted({c.operator for c in pool} - operators)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default=str(ROOT / "accuracy.oplat"), help="table with known times (default: accuracy.oplat)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"))
    parser.add_argument("--out", default=str(ROOT / "data/keys-200.txt"))
    options = parser.parse_args()
    try:
        table = Path(options.table).resolve()
        (ROOT / "build/bench").mkdir(parents=True, exist_ok=True)
        chosen, without = choose(candidates(Oplat(options.oplat), table, Store(ROOT / "build/bench/keys.bench.json")))
    except Failed as error:
        sys.exit(f"bench/choose_keys.py: {error}")
    facts = (f"{len(chosen)} keys: {sum(c.has_weights for c in chosen)} with weights, {sum(c.is_cold for c in chosen)} whose weights matter cold, "
             f"{sum(c.precision == 'int8' for c in chosen)} of int8 networks, {len({c.operator for c in chosen})} operators; "
             f"{min(c.ns for c in chosen) / 1e3:.1f} us to {max(c.ns for c in chosen) / 1e6:.2f} ms")
    print(facts)
    print(f"operators without a kernel of 2 us to 5 ms: {', '.join(without) or 'none'}")
    head = ["# SPDX-License-Identifier: Apache-2.0",
            "# The keys over which bench/throughput.py states how fast and how repeatably rows are measured. Chosen by bench/choose_keys.py.",
            f"# {facts}."]
    write_atomically(options.out, "\n".join(head + sorted(c.key for c in chosen)) + "\n")


if __name__ == "__main__":
    main()
