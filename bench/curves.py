#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far are networks from the sums of their kernels on each machine: without a fit, with a few
networks, and with all? From committed measurements (data/compositions/*.tsv).

A file holds what `oplat fit` sees of one machine and number of threads: for each network its
measured time and, of each of its kernels, the times in the cache states that were measured.
Networks are predicted as src/predict/fit.cpp does it, from networks of other families. --export
TABLE --threads N writes such a file from a table that bench/accuracy.py filled. --page writes
docs/results/machines.md: all machines side by side, and what spread of a composition without a fit
the other machines ask for. --recount counts anew what caches lose, after oplat counts it in another
way, in the files of processors whose plans are this one's. Without any of these, the same figures
for other priors (an A/B).
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

from lib import keys as kernel_keys  # noqa: E402
from lib import memory_repeats, text  # noqa: E402
from lib.oplat import Failed, Oplat, say  # noqa: E402
from lib.sections import last_section  # noqa: E402
from lib.settings import zoo_networks  # noqa: E402
from lib.store import write_atomically  # noqa: E402

FOLDER = ROOT / "data/compositions"
FOOTPRINT_FIELD, NEAR_FIELD = 6, 8  # of a network, see export()
WIDE_BLOCK = 16  # of processors with AVX-512
MIB = 2.0**20
PAGE = ROOT / "docs/results/machines.md"
MOST_HALF_WIDTH = 0.1  # of a network that is compared
DISPATCH = "Relu/14{}(f32[1,16])->(f32[1,16])"
# those that the zoo has
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}
EIGHT_BITS = re.compile(r"(?<![\w.])[ui]8c?\[")


# As in src/predict: compose.cpp (the prior), fit.cpp (curves), fit_sums.cpp and spread.hpp.
QUANTILE, QUANTILE_95 = 1.6448536269514722, 1.959963984540054  # 90 and 95 %, two-sided
# A file holds no spreads of rows; these are what campaigns stop at, 3 % of the median at 95 %.
ROW_SD = 0.015
COMPOSITION_SD = 0.07  # without a fit
KEPT_RESULT_BYTES = 128 * 1024
HOT_WEIGHT_BYTES = 64 * 1024  # kMinEvictedWeightBytes
UNTOUCHED_COUNTS = 4  # kUntouchedCounts
SHARED_OVER_OTHERS = 2  # kSharedOverOthers
KERNEL_NS = 70  # of ONNX Runtime, src/runtimes/registry.cpp
CORRELATION, CORRELATION_DOUBT = 0.3, 0.3
FREEDOM, SPREAD_FREEDOM = 4, 4
MIN_CONFORMAL = 19
MAX_MOVE = 2
MIN_POOLS_BEYOND, MIN_RISE, MAX_RISE = 3, 0.05, 0.5
UNKNOWN_RISE, LATEST_RISES = 0.2, 2
LAST_STEPS = (0, -0.5, 0.5, -1, 1, -1.5, 1.5, -2.0, 2.0, -2.5, 2.5, -3.0, 3.0)
SPREADS, COARSE_SPREADS = (0.004 * numpy.power(ratio, numpy.arange(count)) for ratio, count in ((1.15, 36), (1.3, 20)))
MIN_INSIDE = 0.85  # of a machine's networks


def ramps_of(last):
    """The ramp, the earliest and the latest one, as measured_curve() of src/estimate/reuse.cpp."""
    middle, disturbed = last["middle"], last["disturbed"]
    ends = [last["chase"], last["stream"] or last["chase"]]
    if disturbed and math.prod(disturbed) < math.prod(middle):
        factor = min(MAX_MOVE, math.sqrt(math.prod(middle) / math.prod(disturbed)))
        ends += [[end / factor for end in disturbed], [end * factor for end in middle]]
    return middle, min(ends, key=math.prod), max(ends, key=math.prod)


def rise_beyond(points, ramp):
    """Per octave, in shares of the ramp's rise: as rise_beyond() of src/estimate/reuse.cpp. Of each
    pool its bytes, and the cost of a line in order and at random."""
    pools, *costs = numpy.log(numpy.array(points)[:, :3]).T
    beyond = pools >= math.log(ramp[1])
    if beyond.sum() < MIN_POOLS_BEYOND:
        return None
    low, high = numpy.log(ramp)
    rises = [(numpy.interp(high, pools, cost) - numpy.interp(low, pools, cost), cost) for cost in costs]
    shares = [numpy.polyfit(pools[beyond] / math.log(2), cost[beyond], 1)[0] / rise for rise, cost in rises if rise >= MIN_RISE]
    return min(max(float(numpy.mean(shares)), 0), MAX_RISE) if shares else None


def export(table, threads, out):
    """Lines: 'device' L2 LLC BLOCK (channels that stand together in plans of the processor; missing:
    16, as with AVX-512); 'memory' and six numbers where a campaign measured the ramp out of
    the last level: both ends of it, of the one at the smallest pools and of the one at the largest,
    and a seventh where the curve was seen beyond it, its rise per octave as a share of the ramp's;
    'call' NS; 'dispatch' NS; 'network' NAME FAMILY PRECISION NS HALF_WIDTH FOOTPRINT VIEWS NEAR
    RESULTS (bytes that stay near a core, as far as kernels wait for them; results beyond that, of
    kernels that touch OWN bytes: OWN:BYTES and so on by commas, or -; Results), and behind it its
    'kernel' COUNT INT8 BYTES:NS..."""
    db = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
    (setting,) = db.execute("SELECT id FROM setting WHERE threads = ?", (threads,)).fetchone()
    device, second, last, isa = db.execute("SELECT id, l2_bytes, llc_bytes, isa FROM device").fetchone()
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
    found = json.loads(facts[-1]) if facts else {}
    memory = ""
    if ramps := found.get("last"):
        rise = rise_beyond(found["points"], ramps["middle"])
        ends = [f"{end:.0f}" for ramp in ramps_of(ramps) for end in ramp] + ([] if rise is None else [f"{rise:.3f}"])
        memory = "\t".join(["memory", *ends]) + "\n"
    out.write(f"device\t{second}\t{last}\t{block_of(isa)}\n{memory}call\t{min(calls):.1f}\ndispatch\t{dispatch}\n")
    models = db.execute("SELECT name, plan_identity, median_ns, ci_low_ns, ci_high_ns FROM model_row WHERE outcome = 'timing' AND setting = ? AND device = ? ORDER BY name", here)
    for name, identity, ns, low, high in models.fetchall():
        plan, footprint = db.execute("SELECT id, weight_bytes + activation_bytes FROM plan WHERE identity = ?", (identity,)).fetchone()
        counts, views, results = {}, 0, Results()
        for kernel, count, given in db.execute("SELECT kernel, count, input_bytes FROM plan_kernel WHERE plan = ? ORDER BY position", (plan,)):
            if given is None:
                raise Failed(f"{table}: the plan of {name} does not say what it is given, as one of an earlier oplat; profile it again")
            results.add(keys[kernel], count, given)
            if re.split(r"[/@{(]", keys[kernel])[0] in VIEWS:
                views += count
            else:
                counts[kernel] = counts.get(kernel, 0) + count
        if any(kernel not in states for kernel in counts):
            continue
        network = zoo[name]
        out.write(f"network\t{network.name}\t{network.family}\t{network.precision}\t{ns:.1f}\t{(high - low) / 2 / ns:.4f}\t{footprint:.0f}\t{views}\t" + "\t".join(results.fields()) + "\n")
        for kernel, count in counts.items():
            out.write("\t".join(("kernel", str(count), str(int(bool(EIGHT_BITS.search(keys[kernel])))), *states[kernel])) + "\n")


def block_of(isa):
    """Channels that stand together in ONNX Runtime's plans for these instruction sets."""
    return WIDE_BLOCK if "avx512f" in isa.split() else 8


def recount(oplat):
    """Counts FOOTPRINT, NEAR and RESULTS anew, by plans that this oplat makes of the zoo's models,
    in all files of processors that get the same plans as this one."""
    block = block_of(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE).group(1))
    recipes = {recipe.name: recipe for recipe in zoo_networks([])}
    found = {}

    def results_of_network(name):
        if name not in found:
            results = Results()
            plan = oplat.json("plan", recipes[name].path, "--plan", "rules:onnxruntime")
            for kernel in plan["kernels"]:
                if kernel["input_bytes"] is None:
                    raise Failed(f"{name}: {kernel['name']} reads an input of unknown size")
                results.add(kernel["key"], kernel["count"], kernel["input_bytes"])
            found[name] = [f"{plan['weight_bytes'] + plan['activation_bytes']:.0f}", *results.fields()]
        return found[name]

    note = f"FOOTPRINT, NEAR and RESULTS (docs/adr/0100, 0101) are of plans of {text.today()}, by rules for ONNX Runtime on this processor."
    files = {path: [line.split("\t") for line in path.read_text().splitlines()] for path in sorted(FOLDER.glob("*.tsv"))}
    for path in [path for path, lines in files.items() if block_of_file(lines) != block]:
        say(f"{path.name}: of a processor with other plans; left as it is")
        del files[path]
    for lines in files.values():
        lines[1] = [lines[1][0].split(" RESULTS ")[0].split(" NEAR ")[0].split(" FOOTPRINT")[0] + f" {note}"]
        for fields in lines:
            if fields[0] == "network":
                fields[FOOTPRINT_FIELD], *fields[NEAR_FIELD:] = results_of_network(fields[1])
    for path, lines in files.items():
        write_atomically(path, "".join("\t".join(fields) + "\n" for fields in lines))


def block_of_file(lines):
    """BLOCK of a data file's lines; those of before there were others lack it."""
    device = next(fields for fields in lines if fields[0] == "device")
    return int(device[3]) if len(device) > 3 else WIDE_BLOCK


class Machine:
    """One file: networks with kernels, and the sums of each under a curve."""

    def __init__(self, path):
        self.name = path.stem
        self.networks, self.parts_of, self.memory = [], {}, None
        for line in path.read_text().splitlines():
            kind, *fields = line.split("\t")
            if kind == "device":
                self.second, self.last = map(float, fields[:2])
            elif kind == "memory":
                ends = list(map(float, fields))
                rise = ends[6] if len(ends) > 6 else None
                self.memory = with_rise(tuple(zip(ends[:6:2], ends[1:6:2], strict=True)), rise)
            elif kind == "call":
                self.call = float(fields[0])
            elif kind == "dispatch":
                self.dispatch = float(fields[0])
            elif kind == "network":
                name, family, precision, *numbers, results = fields
                ns, half_width, footprint, views, near = map(float, numbers)
                self.networks.append({"name": name, "family": family, "precision": precision, "ns": ns, "half_width": half_width,
                                      "footprint": footprint, "views": views, "near": near, "results": results_of(results), "kernels": []})
            elif kind == "kernel":
                points = [tuple(map(float, point.split(":"))) for point in fields[2:]]
                self.networks[-1]["kernels"].append((int(fields[0]), fields[1] == "1", points))
        self.networks = [network for network in self.networks if network["half_width"] <= MOST_HALF_WIDTH]
        self.threads = int(re.search(r"-(\d+)-threads?$", self.name).group(1))
        self.times = numpy.array([network["ns"] for network in self.networks])
        self.noise = numpy.array([(network["half_width"] / QUANTILE_95) ** 2 for network in self.networks])
        self.families = numpy.array([network["family"] for network in self.networks])

    def parts(self, curve):
        """Of each network under a curve: calls, executed kernels, evicted bytes, ns, ns of
        kernels with 8-bit tensors, and what the spread of the sum is made of: the sum of w sd of
        its kernels and that of the squares."""
        if curve not in self.parts_of:
            rows = []
            for network in self.networks:
                total, eight, count, linear, squares = network["views"] * self.dispatch, 0.0, 0, 0.0, 0.0
                for times, is_int8, points in network["kernels"]:
                    ns = times * at_reuse(points, curve, network["footprint"])
                    total, eight, count = total + ns, eight + ns * is_int8, count + times
                    linear, squares = linear + ns * ROW_SD, squares + (ns * ROW_SD) ** 2
                evicted = SHARED_OVER_OTHERS * (1 - 1 / self.threads) * network["near"]
                evicted += sum(large * left_behind(curve, network["footprint"], own) for own, large in network["results"])
                rows.append((1, count, evicted, total, eight, linear, squares))
            self.parts_of[curve] = numpy.array(rows)
        return self.parts_of[curve]


class Results:
    """What a network's kernels read of others that stays near a core, as far as they wait for it,
    and, by all bytes that a kernel touches, what it writes beyond that."""

    def __init__(self):
        self.near, self.large = 0, {}

    def add(self, key, count, given):
        """Elements of 8 bits as if they had 32, and what the kernel takes for itself and what the
        model is given that it reads (`given`, in bytes, in all executions) if it has few weights
        and is measured hot alone (docs/adr/0093, 0094). Views move nothing, and what a branch hands
        on is of the kernels that wrote it."""
        kernel = kernel_keys.parse_key(key)
        if kernel.is_view or kernel.op == "If":
            return
        written = sum(tensor.bytes for tensor in kernel.results if tensor is not None)
        own = written + sum({id(tensor): tensor.bytes for tensor in kernel.operands if tensor is not None}.values())
        weights = sum({id(tensor): tensor.bytes for tensor in kernel.operands if tensor is not None and tensor.constant}.values())
        always_hot = weights < HOT_WEIGHT_BYTES
        scratch = kernel_keys.scratch_of(kernel) if always_hot else 0
        own += scratch
        counted = UNTOUCHED_COUNTS * (scratch + (given / count if always_hot else 0)) + sum(tensor.bytes * (4 if tensor.dtype in kernel_keys.EIGHT_BITS else 1) for tensor in kernel.results if tensor is not None)
        read = sum({id(tensor): tensor.bytes for tensor in kernel.operands if tensor is not None and not tensor.constant}.values())
        self.near += count * kernel_keys.waiting_counts(kernel) * min(read, KEPT_RESULT_BYTES)
        if counted > KEPT_RESULT_BYTES:
            self.large[own] = self.large.get(own, 0) + count * (counted - KEPT_RESULT_BYTES)

    def fields(self):
        return [f"{self.near:.0f}", ",".join(f"{own:.0f}:{large:.0f}" for own, large in sorted(self.large.items())) or "-"]


def results_of(field):
    return [] if field == "-" else [tuple(map(float, pair.split(":"))) for pair in field.split(",")]


def with_rise(ramps, rise):
    """The ramp, the earliest and the latest one, each with how it goes on (put_rise() of
    src/estimate/reuse.cpp)."""
    rises = (0, 0, UNKNOWN_RISE) if rise is None else (rise, 0, LATEST_RISES * rise)
    return tuple((*ramp, rise) for ramp, rise in zip(ramps, rises, strict=True))


def gone(ramp, reuse):
    low, high, rise = ramp
    if reuse >= high:
        return 1 + rise * math.log2(reuse / high)
    return max(math.log(max(reuse, 1) / low) / math.log(high / low), 0)


def left_behind(curve, reuse, row):
    """As ReuseCurve::left_behind()."""
    own, last = curve
    whole = (own[1] if own else last[0], last[1], 0)
    return max(0, min(gone(whole, reuse), 1) - min(gone(whole, row), 1))


def at_reuse(points, curve, wanted):
    """As src/estimate/reuse.cpp."""
    own, last = curve
    between = own is not None and any(gone(own, reuse) >= 1 and gone(last, reuse) <= 0 for reuse, _ in points)
    place = lambda reuse: (gone(own, reuse) if between else 0) + gone(last, reuse)  # noqa: E731
    nearest = points[0][0]
    placed = []
    for row, ns in points:
        # What was read before the cold call, and the kernel's own bytes.
        reuse = row + nearest if row > nearest and gone(last, row) >= 1 else row
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


class Prior:
    """Mean and standard deviation of c0, c1, c2, scale, and scale_int8 above scale, for a machine;
    and the spread of single networks."""

    def __init__(self, machine, c1=KERNEL_NS, c1_sd=None, c2=0.012, c2_sd=0.006, scale_sd=0.015, sd=0.05, sd_doubt=0.5):
        self.mean = numpy.array([machine.call, c1, c2, 1, 0])
        self.deviation = numpy.array([300, c1_sd or (100 if machine.threads > 1 else 60), c2_sd, scale_sd, 0.03])
        self.sd, self.sd_doubt = sd, sd_doubt


def reported_ramps(last):
    """The ramp out of a last level of so many bytes that nobody measured, the earliest and the
    latest one."""
    lowest = min(0.25 * last, 16 * MIB)
    return with_rise(((0.5 * last, 1.25 * last), (lowest, max(2 * lowest, min(0.75 * last, 64 * MIB))), (0.75 * last, 2 * last)), None)


def ramp_at(ramps, place):
    start, earliest, latest = ramps
    share = abs(place) / QUANTILE
    ends = zip(start[:2], (earliest if place < 0 else latest)[:2], strict=True)
    return *(low * (high / low) ** share for low, high in ends), start[2]


def curves_of(machine, ramps):
    """The start curve first, then its neighbours: curve, place of the ramp out of the last level,
    ln of its probability before a network is measured."""
    own = machine_own(machine, ramps)
    found = []
    for place in LAST_STEPS:
        last = ramp_at(ramps, place)
        if last[0] >= last[1] or (place != 0 and last == ramps[0]):
            continue
        if own is None or own[1] <= last[0]:
            found.append(((own, last), place, -0.5 * place**2))
    return found


def student(squares):
    return -0.5 * (FREEDOM + 1) * numpy.log1p(squares / (FREEDOM + 1))


def student_weight(squares):
    return (FREEDOM + 1) / (FREEDOM + 1 + squares)


def row_variance(parts):
    return CORRELATION * parts[..., 5] ** 2 + (1 - CORRELATION) * parts[..., 6]


def solved(a, b):
    """Under each curve; c0 and c2 not below 0."""
    a, b = a.copy(), b.copy()
    x = numpy.linalg.solve(a, b[..., None])[..., 0]
    for edge in (0, 2, 0):
        below = x[:, edge] < 0
        if below.any():
            a[below, edge, :] = a[below, :, edge] = b[below, edge] = 0
            a[below, edge, edge] = 1
            x[below] = numpy.linalg.solve(a[below], b[below][..., None])[..., 0]
    return x


class Fitted:
    """What some networks of a machine say, under each curve."""

    def __init__(self, machine, curves, prior, chosen):
        self.machine, self.curves, self.prior = machine, curves, prior
        self.parts = numpy.stack([machine.parts(curve) for curve, _, _ in curves])
        times, ns = self.parts[:, chosen], machine.times[chosen]
        x, known = times[..., :5] / ns[:, None], machine.noise[chosen] + row_variance(times) / ns**2
        self.unknowns = numpy.repeat(prior.mean[None], len(curves), 0)
        self.sd = numpy.full(len(curves), prior.sd)
        for step in range(3 + 1):
            for _ in range(4):
                a, b = self.equations(x, known)
                self.unknowns = solved(a, b)
            if step < 3 and len(ns):
                self.choose_spread(x, known, numpy.linalg.inv(self.equations(x, known)[0]))
        a, _ = self.equations(x, known)
        self.covariance = numpy.linalg.inv(a)
        variance = known + self.sd[:, None] ** 2
        errors = numpy.einsum("cnk,ck->cn", x, self.unknowns) - 1
        evidence = self.spread_prior(self.sd) - 0.5 * numpy.linalg.slogdet(a)[1] + student(((self.unknowns - prior.mean) / prior.deviation) ** 2).sum(1)
        evidence += (student(errors**2 / variance) - 0.5 * numpy.log(variance)).sum(1) + numpy.array([log for _, _, log in curves])
        self.probability = numpy.exp(evidence - evidence.max())
        self.probability /= self.probability.sum()
        self.best = int(numpy.argmax(evidence))

    def spread_prior(self, sd):
        return -0.5 * (numpy.log(sd / self.prior.sd) / self.prior.sd_doubt) ** 2

    def weights(self, x, known):
        variance = known + self.sd[:, None] ** 2
        errors = numpy.einsum("cnk,ck->cn", x, self.unknowns) - 1
        return student_weight(errors**2 / variance) / variance

    def equations(self, x, known):
        precision = student_weight(((self.unknowns - self.prior.mean) / self.prior.deviation) ** 2) / self.prior.deviation**2
        weighted = x * self.weights(x, known)[..., None]
        a = numpy.einsum("cnk,cnl->ckl", weighted, x)
        a[:, range(5), range(5)] += precision
        return a, weighted.sum(1) + precision * self.prior.mean

    def choose_spread(self, x, known, covariance):
        free = numpy.clip(1 - self.weights(x, known) * numpy.einsum("cnk,ckl,cnl->cn", x, covariance, x), 0, 1)
        squares = (numpy.einsum("cnk,ck->cn", x, self.unknowns) - 1) ** 2
        best = None
        for sd in COARSE_SPREADS:
            variance = known + sd**2
            likelihood = self.spread_prior(sd) + (student(squares / variance) - 0.5 * free * numpy.log(variance)).sum(1)
            if best is None:
                best, self.sd = likelihood, numpy.full(len(likelihood), sd)
            else:
                self.sd, best = numpy.where(likelihood > best, sd, self.sd), numpy.maximum(likelihood, best)

    def predict(self, asked):
        """Of networks: predicted ns; sum of w sd of their kernels, squares of them, and the
        variance of everything else but the composition, all relative."""
        every = numpy.einsum("cnk,ck->cn", self.parts[:, asked, :5], self.unknowns)
        ns, parts = every[self.best], self.parts[self.best][asked]
        unsure = numpy.einsum("nk,kl,nl->n", parts[:, :5], self.covariance[self.best], parts[:, :5]) / ns**2
        unsure += (self.probability[:, None] * numpy.log(every / ns) ** 2).sum(0)
        return ns, parts[:, 5] / ns, parts[:, 6] / ns**2, unsure


def spread_of_errors(errors, linear, squares, fixed, noise, prior):
    """Correlation and spread, as fit_spread()."""
    best = (-math.inf, CORRELATION, prior.sd)
    for rho in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9) if len(errors) else ():
        for sd in SPREADS:
            variance = rho * linear**2 + (1 - rho) * squares + fixed + noise + sd**2
            likelihood = -0.5 * (math.log(sd / prior.sd) / prior.sd_doubt) ** 2 - 0.5 * ((rho - CORRELATION) / CORRELATION_DOUBT) ** 2
            likelihood -= 0.5 * float(numpy.sum(numpy.log(variance) + errors**2 / variance))
            if likelihood > best[0]:
                best = (likelihood, rho, sd)
    return best[1:]


def student_quantile(freedom):
    """Two-sided 90 %, to 0.1 % from 4 degrees of freedom on (Cornish-Fisher)."""
    z, n = QUANTILE, freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2) + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)


def calibrated(machine, curves, prior, chosen):
    """As `oplat fit` from these networks, each family left out in turn: the fit, correlation,
    spread, quantile."""
    errors, terms = [], []
    for family in sorted(set(machine.families[chosen])):
        out = numpy.array([one for one in chosen if machine.families[one] == family])
        others = numpy.array([one for one in chosen if machine.families[one] != family], int)
        ns, *rest = Fitted(machine, curves, prior, others).predict(out)
        errors.append(numpy.log(machine.times[out] / ns))
        terms.append(numpy.stack([*rest, machine.noise[out]]))
    errors, terms = numpy.concatenate(errors), numpy.concatenate(terms, 1)
    rho, sd = spread_of_errors(errors, *terms, prior)
    scores = numpy.sort(abs(errors) / numpy.sqrt(rho * terms[0] ** 2 + (1 - rho) * terms[1] + terms[2] + terms[3] + sd**2))
    quantile = student_quantile(len(scores) + SPREAD_FREEDOM)
    if len(scores) >= MIN_CONFORMAL:
        place = 0.9 * (len(scores) + 1)
        below = int(place)
        quantile = scores[below - 1] + (place - below) * (scores[below] - scores[below - 1]) if place <= len(scores) - 1 else max(quantile, scores[-1])
    return Fitted(machine, curves, prior, chosen), rho, sd, quantile


class Compared:
    """Networks predicted and measured."""

    def __init__(self):
        self.errors, self.halves, self.noise = [], [], []

    def add(self, machine, fit, asked):
        fitted, rho, sd, quantile = fit
        ns, linear, squares, unsure = fitted.predict(asked)
        self.errors.extend(ns / machine.times[asked] - 1)
        self.halves.extend(quantile * numpy.sqrt(rho * linear**2 + (1 - rho) * squares + unsure + sd**2))

    def cells(self):
        errors, halves = numpy.array(self.errors), numpy.array(self.halves)
        return [str(len(errors)), text.percent(numpy.mean(abs(errors)), 2), text.signed_percent(numpy.mean(errors)), text.percent(numpy.mean(abs(errors) <= 0.05), 0),
                text.percent(numpy.mean(abs(errors) <= 0.1), 0), text.percent(numpy.mean(abs(numpy.log1p(errors)) <= halves), 0), text.percent(numpy.median(halves))]


def unfitted(machine, ramps, prior):
    """As a table without a fit: ln(measured / predicted), and the variance of a prediction besides
    that of the composition."""
    parts = [machine.parts((machine_own(machine, ramps), last))[:, :5] for last in ramps]
    ns = parts[0] @ prior.mean
    slower, faster = (numpy.log(one @ prior.mean / ns) for one in parts[1:])
    common = numpy.where(abs(slower) > abs(faster), slower, -faster) / QUANTILE
    rows = machine.parts((machine_own(machine, ramps), ramps[0]))
    return numpy.log(machine.times / ns), common**2 + ((rows[:, :5] * prior.deviation) ** 2).sum(1) / ns**2 + row_variance(rows) / ns**2


def machine_own(machine, ramps):
    own = (0.5 * machine.second, 2 * machine.second, 0)
    return own if own[1] <= ramps[0][0] else None


def inside(errors, variances, sd):
    """Share of the networks inside the 90 % interval if the composition has this spread."""
    return float(numpy.mean(abs(errors) <= QUANTILE * numpy.sqrt(variances + sd**2)))


def spread_of(predictions):
    """The smallest spread of a composition, in steps of half a per cent, with which 85 % or more of
    each machine's networks are inside. What a machine misses by has one sign, so that machines and
    not networks have to be held."""
    return next(sd for sd in (step / 200 for step in itertools.count()) if all(inside(*one, sd) >= MIN_INSIDE for one in predictions))


SMALL_NS = 40e6  # of networks that calibrate where there are few
DRAWS = 20
FEW = (1, 3)


def with_few(machine, curves, prior, count):
    """Networks of other families, predicted from a few small ones of different families, drawn many
    times."""
    random = numpy.random.default_rng(count)
    small = numpy.flatnonzero(machine.times <= SMALL_NS)
    compared = Compared()
    for _ in range(DRAWS):
        chosen = []
        for one in random.permutation(small):
            if len(chosen) < count and machine.families[one] not in machine.families[chosen]:
                chosen.append(int(one))
        others = numpy.flatnonzero(~numpy.isin(machine.families, machine.families[chosen]))
        compared.add(machine, calibrated(machine, curves, prior, numpy.array(chosen)), others)
    return compared


def with_others(machine, curves, prior):
    """Each network predicted from the networks of all other families."""
    compared = Compared()
    for family in sorted(set(machine.families)):
        out = machine.families == family
        compared.add(machine, calibrated(machine, curves, prior, numpy.flatnonzero(~out)), numpy.flatnonzero(out))
    return compared


def machine_of(name):
    """Settings of one machine are left out together."""
    return re.sub(r"-\d+-threads?$", "", name)


def ramps_to_use(machine):
    return machine.memory or reported_ramps(machine.last)


def rows_of(machines, make_prior, composition_sd):
    """The cells of the page, and the spread that all machines together ask for."""
    reported = {machine.name: unfitted(machine, reported_ramps(machine.last), make_prior(machine)) for machine in machines}
    measured = {machine.name: unfitted(machine, machine.memory, make_prior(machine)) for machine in machines if machine.memory}
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
            compared = Compared()
            compared.errors, compared.halves = numpy.exp(-errors) - 1, QUANTILE * numpy.sqrt(variances + composition_sd**2)
            rows.append([*start, way, *compared.cells(), f"{text.percent(inside(errors, variances, left_out_sd), 0)} (spread {text.percent(left_out_sd, 1)})"])
        curves, prior = curves_of(machine, ramps_to_use(machine)), make_prior(machine)
        for count in FEW:
            rows.append([*start, f"{count} small network{'s' * (count > 1)}", *with_few(machine, curves, prior, count).cells(), "-"])
        rows.append([*start, "fitted on other families", *with_others(machine, curves, prior).cells(), "-"])
    return rows, spread_of(list(best.values()))


HEAD = ["machine, threads", ">reported", "composition", ">predictions", ">MAPE", ">bias", ">within 5 %", ">within 10 %", ">inside 90 %", ">half-width", ">by the other machines"]


def write_page(machines):
    rows, asked = rows_of(machines, Prior, COMPOSITION_SD)
    page = ["# Machines side by side", "",
            f"Written by `bench/curves.py --page` on {text.today()}, commit {text.commit()}, from data/compositions: networks of the zoo measured with ONNX Runtime, and the times of "
            "their kernels in each cache state.", "",
            f"All networks measured within {100 * MOST_HALF_WIDTH:.0f} % count. Where there is a fit, each is predicted from networks of other families, as `oplat fit` does it "
            "([ADR 0052](../adr/0052-a-fit-is-an-update.md)).", "",
            "- *Reported*: the last-level cache, as the system says it. Where memory was measured ([ADR 0051](../adr/0051-the-memory-hierarchy-is-measured.md)), the ramp out of the last "
            "level is where loads and reads became slower, and the curve goes on beyond it as they did "
            "([ADR 0076](../adr/0076-beyond-the-ramp.md)), where that is kept (not on the Zen 4).",
            f"- *1 small network*, *3 small networks*: the fit saw so many of up to {SMALL_NS / 1e6:.0f} ms, of different families; {DRAWS} draws, all networks of other families predicted.",
            f"- *Inside 90 %*: networks inside their interval, *half-width* its median. Without a fit with a composition's spread of {text.percent(COMPOSITION_SD, 1)}; rows count as "
            f"known to {text.percent(ROW_SD, 1)}, since a file holds no spreads of rows.",
            f"- *By the other machines*: the same without a fit with the smallest spread with which each of the other machines has {text.percent(MIN_INSIDE, 0)} or more inside, by measured "
            "memory where it was measured.", "",
            *text.table(HEAD, rows), "",
            f"All machines together ask for a spread of {text.percent(asked, 1)}; `oplat predict` starts with {text.percent(COMPOSITION_SD, 1)} (src/predict/spread.hpp).", ""]
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    write_atomically(PAGE, "\n".join(page) + last_section(before, memory_repeats.HEADING))
    print(f"wrote {PAGE}")


PRIORS = {"as shipped": {}, "c1 of 0": {"c1": 0}, "c2 of 0": {"c2": 0}, "c2 of 0.006": {"c2": 0.006}, "c2 +- 0.004": {"c2_sd": 0.004}, "c2 +- 0.015": {"c2_sd": 0.015}, "c1 +- 150": {"c1_sd": 150},
          "scale +- 0.8 %": {"scale_sd": 0.008}, "scale +- 3 %": {"scale_sd": 0.03}, "spread of 3 %": {"sd": 0.03}, "spread of 4 %": {"sd": 0.04}, "spread better known": {"sd_doubt": 0.25}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", metavar="TABLE", help="only print a data file made from this table")
    parser.add_argument("--threads", type=int, default=1, help="number of threads of the exported rows (default: 1)")
    parser.add_argument("--recount", action="store_true", help="only count what caches lose anew, by plans of the zoo's models, in the data files of processors with the same plans")
    parser.add_argument("--oplat", default=str(ROOT / "build" / "release" / "oplat"), help="the program that plans (default: build/release/oplat)")
    parser.add_argument("--page", action="store_true", help="write docs/results/machines.md")
    options = parser.parse_args()
    if options.export:
        export(options.export, options.threads, sys.stdout)
        return
    if options.recount:
        recount(Oplat(options.oplat))
        return
    machines = [Machine(path) for path in sorted(FOLDER.glob("*.tsv"))]
    if options.page:
        write_page(machines)
        return
    for name, changed in PRIORS.items():
        rows, asked = rows_of(machines, lambda machine, changed=changed: Prior(machine, **changed), COMPOSITION_SD)
        print(f"{name}: spread {text.percent(asked, 1)} without a fit", *("  " + "  ".join(row) for row in rows), sep="\n", flush=True)


if __name__ == "__main__":
    main()
