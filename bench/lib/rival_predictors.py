# SPDX-License-Identifier: Apache-2.0
"""Simple predictors of models that were never seen, each fitted to the rows of one table and
nothing else."""
from collections import defaultdict
from dataclasses import dataclass

from lib.baselines import Roofline, operator_class
from lib.keys import bytes_of, class_of, features_of, flops_of, parse_key

METHODS = (("flops", "proportional to FLOPs"), ("roofline", "roofline per operator class"), ("forest", "nn-Meter's recipe: a random forest per kernel type"))


@dataclass
class Row:
    """A measured kernel."""

    key: str
    ns: float

    def __post_init__(self):
        self.kernel = parse_key(self.key)
        self.flops, self.bytes = flops_of(self.kernel), bytes_of(self.kernel)


def weighted_median(pairs):
    """Of (value, weight)."""
    pairs = sorted(pairs)
    half, total = sum(weight for _, weight in pairs) / 2, 0.0
    for value, weight in pairs:
        total += weight
        if total >= half:
            return value
    return None


class ByFlops:
    """One rate for all kernels: the median over rows, weighted by their time."""

    def __init__(self, rows):
        self.rate = weighted_median([(row.ns / row.flops, row.ns) for row in rows if row.flops > 0])

    def kernel_ns(self, kernel):
        return self.rate * flops_of(kernel)


class ByRoofline:
    """A roofline for each operator class, and one of all rows for classes without rows."""

    def __init__(self, rows):
        groups = defaultdict(list)
        for row in rows:
            groups[operator_class(row.key)].append((row.flops, row.bytes, row.ns))
        self.classes = {name: Roofline(members) for name, members in groups.items()}
        self.all = Roofline([(row.flops, row.bytes, row.ns) for row in rows])

    def kernel_ns(self, kernel):
        return self.classes.get(operator_class(kernel.key), self.all).time_ns(flops_of(kernel), bytes_of(kernel))


class ByForest:
    """nn-Meter's recipe. A kernel type without rows takes the forest of its operator, or the
    roofline of all rows."""

    def __init__(self, rows):
        kinds, operators = defaultdict(list), defaultdict(list)
        for row in rows:
            kinds[class_of(row.kernel)].append(row)
            operators[row.kernel.op].append(row)
        self.kinds = {name: self._fit(members) for name, members in kinds.items()}
        self.operators = {name: self._fit(members) for name, members in operators.items()}
        self.rest = ByRoofline(rows)

    @staticmethod
    def _fit(rows):
        from lib.forest import Forest  # needs numpy, which the rest does without
        return Forest([features_of(row.kernel) for row in rows], [row.ns for row in rows])

    def kernel_ns(self, kernel):
        forest = self.kinds.get(class_of(kernel)) or self.operators.get(kernel.op)
        return forest.value(features_of(kernel)) if forest else self.rest.kernel_ns(kernel)


MAKERS = {"flops": ByFlops, "roofline": ByRoofline, "forest": ByForest}


def fitted(rows):
    """Method -> predictor."""
    return {name: make(rows) for name, make in MAKERS.items()}


def model_ns(predictor, kernels):
    """The sum over the kernels of a model, (key, count) each; views and empty calls cost
    nothing."""
    total = 0.0
    for key, count in kernels:
        kernel = parse_key(key)
        if not kernel.is_view and not kernel.is_empty:
            total += count * predictor.kernel_ns(kernel)
    return total
