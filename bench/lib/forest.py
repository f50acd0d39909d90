# SPDX-License-Identifier: Apache-2.0
"""A random forest for regression: what nn-Meter fits to each kind of kernel. scikit-learn is not
among the project's requirements, so this is the textbook's: bootstrapped rows, a third of the
features at each split, least squares."""
import numpy

TREES = 50
MIN_LEAF = 1
MIN_SPLIT = 2


class Tree:
    """Nodes as (feature, threshold, left, right), or (-1, value, 0, 0) for a leaf."""

    def __init__(self, x, y, random):
        self.nodes = []
        self._random, self._tried = random, max(1, x.shape[1] // 3)
        self._grow(x, y)

    def _grow(self, x, y):
        at = len(self.nodes)
        self.nodes.append((-1, float(y.mean()), 0, 0))
        if len(y) < MIN_SPLIT or numpy.ptp(y) == 0:
            return at
        split = self._split(x, y)
        if split is None:
            return at
        feature, threshold = split
        goes_left = x[:, feature] <= threshold
        left = self._grow(x[goes_left], y[goes_left])
        right = self._grow(x[~goes_left], y[~goes_left])
        self.nodes[at] = (feature, threshold, left, right)
        return at

    def _split(self, x, y):
        """The split with the least squared error among some features that differ at all."""
        usable = numpy.flatnonzero(numpy.ptp(x, axis=0))
        if len(usable) == 0:
            return None
        some = self._random.permutation(usable)[: self._tried]
        order = numpy.argsort(x[:, some], axis=0, kind="stable")
        values, targets = numpy.take_along_axis(x[:, some], order, 0), y[order]
        count = numpy.arange(1, len(y))[:, None]
        left = numpy.cumsum(targets, 0)[:-1]
        total = y.sum()
        # The squared error falls by as much as this grows.
        gain = left**2 / count + (total - left) ** 2 / (len(y) - count)
        gain[values[1:] == values[:-1]] = -numpy.inf
        if not numpy.isfinite(gain).any():
            return None
        row, column = numpy.unravel_index(numpy.argmax(gain), gain.shape)
        low, high = values[row, column], values[row + 1, column]
        middle = (low + high) / 2
        return int(some[column]), float(middle if middle < high else low)

    def value(self, row):
        feature, value, left, right = self.nodes[0]
        while feature >= 0:
            feature, value, left, right = self.nodes[left if row[feature] <= value else right]
        return value


class Forest:
    """Fits rows of feature dictionaries; a feature that a row lacks is 0."""

    def __init__(self, rows, targets, seed=1, trees=TREES):
        self.names = sorted({name for row in rows for name in row})
        x, y = numpy.array([self._row(row) for row in rows]), numpy.array(targets, dtype=float)
        random = numpy.random.Generator(numpy.random.PCG64(seed))
        self._trees = []
        for _ in range(trees):
            chosen = random.integers(0, len(y), len(y))
            self._trees.append(Tree(x[chosen], y[chosen], random))

    def _row(self, row):
        return [row.get(name, 0.0) for name in self.names]

    def value(self, row):
        row = self._row(row)
        return float(numpy.mean([tree.value(row) for tree in self._trees]))
