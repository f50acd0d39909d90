# SPDX-License-Identifier: Apache-2.0
"""What a sum of modules misses of a network, learned from networks that were measured whole.

    latency = scale * sum of times + c0 + c1 * modules + c2 * bytes of their results

Terms after the first are taken in that order, as long as each lowers the error of networks that
were left out, one at a time, and there are four networks for each: a line through two networks says
nothing of a third. Errors are relative, so that small networks count as much as large ones.
"""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oplat.errors import InputError

if TYPE_CHECKING:
    import numpy as np

NETWORKS_OF_A_TERM = 4
TERMS = ("scale", "c0", "c1", "c2")


def t_quantile(level: float, freedom: int) -> float:
    """Of Student's distribution, two-sided, by the expansion of Cornish and Fisher: 5 % off for one
    degree of freedom, and less than 1 % for more."""
    z = statistics.NormalDist().inv_cdf(0.5 + level / 2)
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
             (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160)
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


@dataclass(frozen=True)
class Correction:
    """Coefficients of TERMS, as many as were taken."""

    coefficients: np.ndarray
    inverse: np.ndarray  # of the normal equations
    spread: float  # relative, of one network that was left out
    freedom: int

    def at(self, row: np.ndarray) -> tuple[float, float]:
        """ms, and its relative spread."""
        row = row[:len(self.coefficients)]
        ms = float(row @ self.coefficients)
        if not ms > 0:
            return ms, math.inf
        scaled = row / ms
        return ms, self.spread * math.sqrt(1 + float(scaled @ self.inverse @ scaled))


def fit(rows: np.ndarray, true: np.ndarray) -> Correction:
    """rows: (networks, terms), the columns of TERMS; true: (networks,), ms."""
    import numpy as np

    best: Correction | None = None
    for count in range(1, max(1, min(rows.shape[1], len(true) // NETWORKS_OF_A_TERM)) + 1):
        scaled = rows[:, :count] / true[:, None]
        freedom = len(true) - count
        if freedom < 1 or np.linalg.matrix_rank(scaled / np.linalg.norm(scaled, axis=0)) < count:
            break
        inverse = np.linalg.inv(scaled.T @ scaled)
        coefficients = inverse @ scaled.T @ np.ones(len(true))
        leverage = np.einsum("ij,jk,ik->i", scaled, inverse, scaled)
        left_out = (1 - scaled @ coefficients) / np.maximum(1 - leverage, 1e-9)
        spread = float(np.sqrt(np.mean(left_out**2)))
        if best is not None and spread >= best.spread:
            break
        best = Correction(coefficients, inverse, spread, freedom)
    if best is None:
        raise InputError("the sums of the networks are all alike; nothing can be learned from them")
    return best
