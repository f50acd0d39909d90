# SPDX-License-Identifier: Apache-2.0
"""Simple predictors that the page compares with oplat. Each is fitted without the family of the
network that it predicts."""
import math
import re
import statistics

KEY_TYPE = re.compile(r"^([^/({]+)")
KEY_GROUP = re.compile(r"[{,]group=(\d+)")
START_QUANTILES = (0.1, 0.25, 0.5)
ITERATIONS = 12


def operator_class(key):
    """The operator, and whether a convolution is grouped: such ones are bound otherwise than dense
    ones."""
    name = KEY_TYPE.match(key).group(1)
    group = KEY_GROUP.search(key)
    return f"{name} grouped" if group and int(group.group(1)) > 1 else name


def executed(prediction):
    return [kernel for kernel in prediction["kernels"] if kernel["source"] != "free"]


def flops_of(prediction):
    return sum(kernel["count"] * (kernel.get("flops") or 0.0) for kernel in executed(prediction))


def flops_proportional(predictions, measured, families):
    """One rate for whole networks: the median of time over FLOPs of the other families."""
    found = {}
    for name in measured:
        rates = [m["measured_ns"] / flops_of(predictions[other]) for other, m in measured.items()
                 if families[other] != families[name] and other in predictions and flops_of(predictions[other]) > 0]
        if rates and name in predictions and flops_of(predictions[name]) > 0:
            found[name] = statistics.median(rates) * flops_of(predictions[name])
    return found


def log_or_none(value):
    return math.log(value) if value else None


class Roofline:
    """time = max(flops / rate, bytes / bandwidth) of one class, with the least mean absolute error
    of the logarithm."""

    def __init__(self, rows):
        points = [(log_or_none(flops), log_or_none(size), math.log(ns)) for flops, size, ns in rows if ns and (flops or size)]
        self.compute = self.memory = None
        compute = [t - f for f, _, t in points if f is not None]
        memory = [t - b for _, b, t in points if b is not None]
        best = math.inf
        for p in self._starts(compute):
            for q in self._starts(memory):
                loss, p, q = self._descend(points, p, q)
                if loss < best:
                    best, self.compute, self.memory = loss, p, q

    @staticmethod
    def _starts(values):
        ordered = sorted(values)
        return [ordered[int(quantile * (len(ordered) - 1))] for quantile in START_QUANTILES] if ordered else [None]

    @staticmethod
    def _branches(point, p, q):
        f, b, _ = point
        compute = f + p if f is not None and p is not None else -math.inf
        memory = b + q if b is not None and q is not None else -math.inf
        return compute, memory

    def _descend(self, points, p, q):
        """Gives each row to the branch that bounds it, sets both branches to their medians, and
        again."""
        best = (math.inf, p, q)
        for _ in range(ITERATIONS):
            compute, memory, loss = [], [], 0.0
            for point in points:
                by_compute, by_memory = self._branches(point, p, q)
                loss += abs(point[2] - max(by_compute, by_memory))
                if by_compute >= by_memory:
                    compute.append(point[2] - point[0])
                else:
                    memory.append(point[2] - point[1])
            if loss < best[0]:
                best = (loss, p, q)
            p = statistics.median(compute) if compute else p
            q = statistics.median(memory) if memory else q
        return best

    def time_ns(self, flops, size):
        value = max(self._branches((log_or_none(flops), log_or_none(size), 0.0), self.compute, self.memory))
        return math.exp(value) if value > -math.inf else 0.0


def roofline_per_class(predictions, families):
    """The sum of rooflines of operator classes, fitted to the distinct kernels of networks of other
    families."""
    found, models = {}, {}
    for name, prediction in predictions.items():
        family = families[name]
        if family not in models:
            models[family] = fit_rooflines(predictions, families, family)
        classes, everything = models[family]
        if everything.memory is None:  # nothing else to fit to
            continue
        found[name] = sum(
            kernel["count"] * classes.get(operator_class(kernel["key"]), everything).time_ns(kernel.get("flops"), kernel.get("bytes"))
            for kernel in executed(prediction))
    return found


def fit_rooflines(predictions, families, without):
    rows = {}
    for name, prediction in predictions.items():
        if families[name] != without:
            for kernel in executed(prediction):
                if kernel["latency_ns"]:
                    rows[kernel["key"]] = (kernel.get("flops"), kernel.get("bytes"), kernel["latency_ns"])
    by_class = {}
    for key, row in rows.items():
        by_class.setdefault(operator_class(key), []).append(row)
    return {name: Roofline(members) for name, members in by_class.items()}, Roofline(rows.values())
