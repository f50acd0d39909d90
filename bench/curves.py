#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which start curve between cache states, how far may a fit leave it, and do bytes of results count? An A/B on committed measurements (data/compositions/*.tsv).

A file holds what `oplat fit` sees of one machine and number of threads: for each network its measured time and, of each of its kernels, the times in the cache
states that were measured. For several ways to choose the curve, every network is predicted by a composition that was fitted on the networks of other
families, as src/predict/fit.cpp does it. --export TABLE --threads N writes such a file from a table that bench/accuracy.py filled. --page writes
docs/results/machines.md: all machines side by side, without a fit by reported sizes and by measured memory (ADR 0051), and fitted; and what spread of a
composition without a fit the other machines ask for.
"""
import argparse
import itertools
import json
import math
import os
import re
import sqlite3
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
PINNED_PYTHON = ROOT / ".venv" / "bin" / "python"
if Path(sys.prefix).resolve() != PINNED_PYTHON.parents[1].resolve():
    os.execv(PINNED_PYTHON, [PINNED_PYTHON, *sys.argv])
sys.path.insert(0, str(ROOT / "bench"))

import numpy  # noqa: E402

from lib import text  # noqa: E402
from lib.settings import zoo_networks  # noqa: E402
from lib.store import write_atomically  # noqa: E402

FOLDER = ROOT / "data/compositions"
MIB = 2.0**20
PAGE = ROOT / "docs/results/machines.md"
MOST_HALF_WIDTH = 0.03  # of a network that counts
MOST_HALF_WIDTH_UNFITTED = 0.1  # of one that is only compared
# As in src/predict/fit_sums.cpp.
HUBER = 0.03
STEPS = 30
DISPATCH = "Relu/14{}(f32[1,16])->(f32[1,16])"
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}  # those that the zoo has
EIGHT_BITS = re.compile(r"(?<![\w.])[ui]8c?\[")


def ramps_of(last):
    """The ramp, the earliest and the latest one, as measured_curve() of src/estimate/reuse.cpp."""
    earliest = min((last["chase"], last["disturbed"] or last["chase"]), key=math.prod)
    return last["middle"], earliest, last["stream"] or last["chase"]


def export(table, threads, out):
    """Lines: 'device' L2 LLC; 'memory' and six numbers where a campaign measured the ramp out of the last level: both ends of it, of the one at the smallest pools and of the one at the largest; 'call' NS; 'dispatch' NS; 'network' NAME FAMILY PRECISION NS HALF_WIDTH FOOTPRINT VIEWS RESULT_BYTES, and behind it its 'kernel' COUNT INT8 BYTES:NS..."""
    db = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
    (setting,) = db.execute("SELECT id FROM setting WHERE threads = ?", (threads,)).fetchone()
    device, second, last = db.execute("SELECT id, l2_bytes, llc_bytes FROM device").fetchone()
    here = (setting, device)
    states = {}
    for kernel, reuse, ns in db.execute("SELECT kernel, reuse_bytes, median_ns FROM row WHERE outcome = 'timing' AND setting = ? AND device = ? ORDER BY reuse_bytes", here):
        states.setdefault(kernel, []).append(f"{reuse:.0f}:{ns:.1f}")
    keys = dict(db.execute("SELECT id, key FROM kernel"))
    calls = [ns for (ns,) in db.execute("SELECT empty_call_ns FROM campaign WHERE setting = ? AND device = ? AND empty_call_ns IS NOT NULL", here)]
    dispatch = next(states[kernel][0].split(":")[1] for kernel, key in keys.items() if key == DISPATCH)
    zoo = {network.path.name: network for network in zoo_networks([])}
    out.write(f"# SPDX-License-Identifier: Apache-2.0\n# Made by bench/curves.py --export from a table of bench/accuracy.py, {threads} thread(s), {text.today()}; bytes and ns.\n")
    facts = [fact for (fact,) in db.execute("SELECT json_extract(facts, '$.memory') FROM environment JOIN campaign ON environment = environment.id WHERE device = ?", (device,)) if fact]
    last = json.loads(facts[-1])["last"] if facts else None
    memory = "memory\t" + "\t".join(f"{end:.0f}" for ramp in ramps_of(last) for end in ramp) + "\n" if last else ""
    out.write(f"device\t{second}\t{last}\n{memory}call\t{numpy.median(calls):.1f}\ndispatch\t{dispatch}\n")
    models = db.execute("SELECT name, plan_identity, median_ns, ci_low_ns, ci_high_ns FROM model_row WHERE outcome = 'timing' AND setting = ? AND device = ? ORDER BY name", here)
    for name, identity, ns, low, high in models.fetchall():
        plan, footprint, results = db.execute("SELECT id, weight_bytes + activation_bytes, activation_bytes FROM plan WHERE identity = ?", (identity,)).fetchone()
        counts, views = {}, 0
        for kernel, count in db.execute("SELECT kernel, count FROM plan_kernel WHERE plan = ? ORDER BY position", (plan,)):
            if re.split(r"[/@{(]", keys[kernel])[0] in VIEWS:
                views += count
            else:
                counts[kernel] = counts.get(kernel, 0) + count
        if any(kernel not in states for kernel in counts):
            continue
        network = zoo[name]
        out.write(f"network\t{network.name}\t{network.family}\t{network.precision}\t{ns:.1f}\t{(high - low) / 2 / ns:.4f}\t{footprint:.0f}\t{views}\t{results:.0f}\n")
        for kernel, count in counts.items():
            out.write("\t".join(("kernel", str(count), str(int(bool(EIGHT_BITS.search(keys[kernel])))), *states[kernel])) + "\n")


class Machine:
    """One file: networks with kernels, and the sums of each under a curve."""

    def __init__(self, path):
        self.name = path.stem
        self.networks, self.sums_of, self.memory = [], {}, None
        for line in path.read_text().splitlines():
            kind, *fields = line.split("\t")
            if kind == "device":
                self.second, self.last = map(float, fields)
            elif kind == "memory":
                ends = list(map(float, fields))
                self.memory = tuple(zip(ends[::2], ends[1::2], strict=True))
            elif kind == "call":
                self.call = float(fields[0])
            elif kind == "dispatch":
                self.dispatch = float(fields[0])
            elif kind == "network":
                name, family, precision, *numbers = fields
                ns, half_width, footprint, views, results = map(float, numbers)
                self.networks.append({"name": name, "family": family, "precision": precision, "ns": ns, "half_width": half_width,
                                      "footprint": footprint, "views": views, "results": results, "kernels": []})
            elif kind == "kernel":
                points = [tuple(map(float, point.split(":"))) for point in fields[2:]]
                self.networks[-1]["kernels"].append((int(fields[0]), fields[1] == "1", points))
        self.counted = [network for network in self.networks if network["half_width"] <= MOST_HALF_WIDTH]

    def sums(self, curve):
        """Of each counted network: ns, ns of kernels with 8-bit tensors, executed kernels, bytes of results."""
        if curve not in self.sums_of:
            rows = []
            for network in self.counted:
                total, eight, count = network["views"] * self.dispatch, 0.0, 0
                for times, is_int8, points in network["kernels"]:
                    ns = times * at_reuse(points, curve, network["footprint"])
                    total, eight, count = total + ns, eight + ns * is_int8, count + times
                rows.append((total, eight, count, network["results"]))
            self.sums_of[curve] = numpy.array(rows)
        return self.sums_of[curve]


def gone(ramp, reuse):
    return min(max(math.log(max(reuse, 1) / ramp[0]) / math.log(ramp[1] / ramp[0]), 0), 1)


def at_reuse(points, curve, wanted):
    """As src/estimate/reuse.cpp."""
    own, last = curve
    between = own is not None and any(gone(own, reuse) >= 1 and gone(last, reuse) <= 0 for reuse, _ in points)
    place = lambda reuse: (gone(own, reuse) if between else 0) + gone(last, reuse)  # noqa: E731
    placed = []
    for reuse, ns in points:
        if placed and placed[-1][0] == place(reuse):
            if abs(math.log(max(reuse, 1) / wanted)) < abs(math.log(max(placed[-1][2], 1) / wanted)):
                placed[-1] = (place(reuse), ns, reuse)
        else:
            placed.append((place(reuse), ns, reuse))
    at = place(wanted)
    if at <= placed[0][0]:
        return placed[0][1]
    for below, above in itertools.pairwise(placed):
        if at <= above[0]:
            share = (at - below[0]) / (above[0] - below[0])
            return math.exp((1 - share) * math.log(below[1]) + share * math.log(above[1]))
    return placed[-1][1]


def predicted(coefficients, sums):
    c0, c1, c2, scale, scale_int8 = coefficients
    return c0 + c1 * sums[:, 2] + c2 * sums[:, 3] + scale * (sums[:, 0] - sums[:, 1]) + scale_int8 * sums[:, 1]


def solved(a, b, free):
    """The unknowns that are free, 0 for the others."""
    found = numpy.zeros(len(b))
    found[free] = numpy.linalg.solve(a[numpy.ix_(free, free)], b[free])
    return found


def fit(sums, measured, call, with_bytes):
    """As src/predict/fit_sums.cpp: coefficients, and their loss. Without bytes: c2 stays 0."""
    c = numpy.array([call, 0, 0, 1, 1])
    far = numpy.array([max(0.5 * call, 200), max(0.25 * call, 300), 0.01, 0.03, 0.03]) / HUBER
    towards = numpy.array([call, 0, 0, 0, 0]) / far**2
    x = numpy.stack([1 / measured, sums[:, 2] / measured, sums[:, 3] / measured, sums[:, 0] / measured, sums[:, 1] / measured], 1)
    y = 1 - sums[:, 0] / measured
    for _ in range(STEPS):
        error = numpy.abs(predicted(c, sums) / measured - 1)
        weighted = x * numpy.where(error <= HUBER, 1, HUBER / numpy.maximum(error, HUBER))[:, None]
        a, b = weighted.T @ x + numpy.diag(1 / far**2), weighted.T @ y + towards
        free = numpy.array([True, True, with_bytes, True, True])
        found = solved(a, b, free)
        for edge in (0, 2, 0):
            if found[edge] < 0:
                free[edge] = False
                found = solved(a, b, free)
        c = numpy.array([*found[:3], 1 + found[3], 1 + found[3] + found[4]])
    error = numpy.abs(predicted(c, sums) / measured - 1)
    return c, float(numpy.mean(numpy.where(error <= HUBER, 0.5 * error**2, HUBER * (error - 0.5 * HUBER))))


ENDS = (1, 0.5, 2)
LEAST_TO_FIT = 20  # networks, that a fit means something


def curves(machine, start, last_factors):
    """The start curve, in shares of the second and of the last level, and what it can move to, with the number of moves: each end of the first ramp by itself, those of
    the second by pairs of factors."""
    (own_low, own_high), (last_low, last_high) = start
    found = []
    own_factors = ENDS if len(last_factors) > 1 else (1,)
    for low, high, last_pair in itertools.product(own_factors, own_factors, last_factors):
        own = (own_low * machine.second * low, own_high * machine.second * high)
        last = (last_low * machine.last * last_pair[0], last_high * machine.last * last_pair[1])
        moves = (low != 1) + (high != 1) + len({factor for factor in last_pair if factor != 1})
        if own[0] < own[1] <= last[0] < last[1]:
            found.append(((own, last), moves))
    return sorted(found, key=lambda one: one[1])


def left_out(machine, candidates, gain, with_bytes):
    """Relative errors of the counted networks, each predicted from other families."""
    measured = numpy.array([network["ns"] for network in machine.counted])
    errors = numpy.zeros(len(measured))
    families = [network["family"] for network in machine.counted]
    for family in sorted(set(families)):
        out = numpy.array([one == family for one in families])
        best = None
        for curve, moves in candidates:
            sums = machine.sums(curve)
            coefficients, loss = fit(sums[~out], measured[~out], machine.call, with_bytes)
            if best is None or loss * (1 + gain * moves) < best[0]:
                best = (loss * (1 + gain * moves), coefficients, sums)
        errors[out] = predicted(best[1], best[2][out]) / measured[out] - 1
    return errors


# As in src/predict/spread.hpp and src/estimate/reuse.cpp.
COMPOSITION_SD = 0.06
CALL_SD, KERNEL_SD, RESULT_BYTE_SD = 300, 60, 0.02  # ns
CORRELATION = 0.3
MIN_INSIDE = 0.85  # of a machine's networks
QUANTILE = 1.6448536269514722  # 90 %, two-sided
# A file holds no spreads of rows; these are what campaigns stop at, 3 % of the median at 95 %.
ROW_SD = 0.015


def reported_ramps(last):
    """The ramp out of a last level of so many bytes that nobody measured, the earliest and the latest one."""
    lowest = min(0.25 * last, 16 * MIB)
    return (0.5 * last, 1.25 * last), (lowest, max(2 * lowest, min(0.75 * last, 64 * MIB))), (0.75 * last, 2 * last)


def unfitted(machine, ramps):
    """Of all networks that are not too wide, by a composition without a fit: ln(measured / predicted), and the variance of a prediction besides that of the composition."""
    own = (0.5 * machine.second, 2 * machine.second)
    own = own if own[1] <= ramps[0][0] else None
    errors, variances = [], []
    for network in machine.networks:
        if network["half_width"] > MOST_HALF_WIDTH_UNFITTED:
            continue
        ns, count, common, linear, squares = 0.0, 0, 0.0, 0.0, 0.0
        for times, _, points in network["kernels"]:
            one, earliest, latest = (at_reuse(points, (own, last), network["footprint"]) for last in ramps)
            slower, faster = math.log(earliest / one), math.log(latest / one)
            part = times * one
            ns, count = ns + part, count + times
            common += part * (slower if abs(slower) > abs(faster) else -faster) / QUANTILE
            linear, squares = linear + part * ROW_SD, squares + (part * ROW_SD) ** 2
        total = machine.call + network["views"] * machine.dispatch + ns
        errors.append(math.log(network["ns"] / total))
        unknown = CALL_SD**2 + (KERNEL_SD * count) ** 2 + (RESULT_BYTE_SD * network["results"]) ** 2
        variances.append((unknown + common**2 + CORRELATION * linear**2 + (1 - CORRELATION) * squares) / total**2 + (network["half_width"] / 1.96) ** 2)
    return numpy.array(errors), numpy.array(variances)


def inside(errors, variances, sd):
    """Share of the networks inside the 90 % interval if the composition has this spread."""
    return float(numpy.mean(abs(errors) <= QUANTILE * numpy.sqrt(variances + sd**2)))


def spread_of(predictions):
    """The smallest spread of a composition, in steps of half a per cent, with which 85 % or more of each machine's networks are inside. What a machine misses by has
    one sign, so that machines and not networks have to be held."""
    return next(sd for sd in (step / 200 for step in itertools.count()) if all(inside(*one, sd) >= MIN_INSIDE for one in predictions))


def inside_fitted(machine, errors):
    """Share of the networks inside the 90 % interval that the errors of the other families give: the conformal quantile of src/predict/spread.cpp."""
    logs = abs(numpy.log1p(errors))
    families = numpy.array([network["family"] for network in machine.counted])
    held = []
    for log, family in zip(logs, families, strict=True):
        others = numpy.sort(logs[families != family])
        place = 0.9 * (len(others) + 1) - 1
        below = min(int(place), len(others) - 1)
        above = min(below + 1, len(others) - 1)
        held.append(log <= others[below] + (place - below) * (others[above] - others[below]))
    return float(numpy.mean(held))


def cells_of(errors):
    """Of relative errors, predicted over measured less 1."""
    return [str(len(errors)), text.percent(numpy.mean(abs(errors)), 2), text.signed_percent(numpy.mean(errors)), text.percent(numpy.mean(abs(errors) <= 0.05), 0),
            text.percent(numpy.mean(abs(errors) <= 0.1), 0)]


def machine_of(name):
    """Settings of one machine are left out together."""
    return re.sub(r"-\d+-threads?$", "", name)


def write_page(machines):
    reported = {machine.name: unfitted(machine, reported_ramps(machine.last)) for machine in machines}
    measured = {machine.name: unfitted(machine, machine.memory) for machine in machines if machine.memory}
    # As a table without a fit predicts them: by what was measured, where it was.
    best = reported | measured
    rows = []
    for machine in machines:
        others = [one for name, one in best.items() if machine_of(name) != machine_of(machine.name)]
        left_out_sd = spread_of(others)
        ways = [("no fit, caches as reported", reported)] + ([("no fit, memory as measured", measured)] if machine.memory else [])
        start = [machine.name, f"{machine.last / MIB:.0f} MiB"]
        for way, predictions in ways:
            errors, variances = predictions[machine.name]
            rows.append([*start, way, *cells_of(numpy.exp(-errors) - 1), text.percent(inside(errors, variances, COMPOSITION_SD), 0),
                         f"{text.percent(inside(errors, variances, left_out_sd), 0)} (spread {text.percent(left_out_sd, 1)})"])
        if len(machine.counted) >= LEAST_TO_FIT:
            errors = left_out(machine, curves(machine, ((0.5, 2), (0.5, 1.25)), AS_ONE), 0.04, True)
            rows.append([*start, "fitted on other families", *cells_of(errors), text.percent(inside_fitted(machine, errors), 0), "-"])
    head = ["machine, threads", ">reported", "composition", ">networks", ">MAPE", ">bias", ">within 5 %", ">within 10 %", ">inside 90 %", ">by the other machines"]
    page = ["# Machines side by side", "",
            f"Written by `bench/curves.py --page` on {text.today()}, commit {text.commit()}, from data/compositions: networks of the zoo measured with ONNX Runtime, and the times of "
            "their kernels in each cache state.", "",
            f"Without a fit all networks measured within {100 * MOST_HALF_WIDTH_UNFITTED:.0f} % count, with one those within {100 * MOST_HALF_WIDTH:.0f} %, each predicted from other "
            f"families, where there are {LEAST_TO_FIT} or more.", "",
            "- *Reported*: the last-level cache, as the system says it. Where memory was measured ([ADR 0051](../adr/0051-the-memory-hierarchy-is-measured.md)), the ramp out of the last "
            "level is where loads and reads became slower.",
            f"- *Inside 90 %*: networks inside their interval. Without a fit as `oplat predict` makes it, with a composition's spread of {text.percent(COMPOSITION_SD, 1)}; rows count as "
            f"known to {text.percent(ROW_SD, 1)}, since a file holds no spreads of rows. With a fit by the errors of other families.",
            f"- *By the other machines*: the same with the smallest spread with which each of the other machines has {text.percent(MIN_INSIDE, 0)} or more inside, by measured memory "
            "where it was measured.", "",
            *text.table(head, rows), "",
            f"All machines together ask for a spread of {text.percent(spread_of(list(best.values())), 1)}: the start value of `oplat predict` (src/predict/spread.hpp).", ""]
    write_atomically(PAGE, "\n".join(page))
    print(f"wrote {PAGE}")


STARTS = {"1/4 to 5/4 of the last level": (0.25, 1.25), "1/4 to 3/4": (0.25, 0.75), "1/2 to 3/4": (0.5, 0.75), "3/8 to 1": (0.375, 1), "1/2 to 1": (0.5, 1), "1/2 to 5/4": (0.5, 1.25),
          "1/2 to 3/2": (0.5, 1.5), "3/4 to 2": (0.75, 2)}
# Factors of the two ends of the ramp out of the last level, and what a move costs.
AS_ONE = tuple((factor, factor) for factor in (1, 0.75, 1.5, 0.5, 2, 0.375, 3, 0.25))
FITS = {"start curve": (((1, 1),), 0), "each end 1/2 or 2, 4 % a move": (tuple(itertools.product(ENDS, ENDS)), 0.04), "both ends at once, 4 %": (AS_ONE, 0.04),
        "both ends at once, 2 %": (AS_ONE, 0.02), "both ends at once, none": (AS_ONE, 0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", metavar="TABLE", help="only print a data file made from this table")
    parser.add_argument("--threads", type=int, default=1, help="number of threads of the exported rows (default: 1)")
    parser.add_argument("--page", action="store_true", help="write docs/results/machines.md")
    options = parser.parse_args()
    if options.page:
        write_page([Machine(path) for path in sorted(FOLDER.glob("*.tsv"))])
        return
    if options.export:
        export(options.export, options.threads, sys.stdout)
        return
    for machine in map(Machine, sorted(FOLDER.glob("*.tsv"))):
        print(f"{machine.name}: {len(machine.counted)} of {len(machine.networks)} networks measured within +-{100 * MOST_HALF_WIDTH:.0f} %")
        for (start_name, last), (fit_name, (factors, gain)), with_bytes in itertools.product(STARTS.items(), FITS.items(), (False, True)):
            errors = left_out(machine, curves(machine, ((0.5, 2), last), factors), gain, with_bytes)
            print(f"  {start_name:28}  {fit_name:30}  {'c2' if with_bytes else '  '}  MAPE {100 * numpy.mean(abs(errors)):.2f} %, mean {100 * numpy.mean(errors):+.2f} %, "
                  f"within 5 % {100 * numpy.mean(abs(errors) <= 0.05):.0f} %")


if __name__ == "__main__":
    main()
