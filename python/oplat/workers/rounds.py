# SPDX-License-Identifier: Apache-2.0
"""Which rounds of a block count, where a stranger uses the core at times, as src/runtimes/rounds_alone.cpp has it."""
import math

PATIENCE = 4  # a block lasts so many times its duration at most
ENOUGH = 0.3  # of the rounds that fit into its duration, this share is enough
ALONE = 0.1  # a round counts as alone with so many looks that say otherwise


class RoundsAlone:
    def __init__(self, duration_ns, least_rounds):
        self.duration_ns, self.least_rounds = duration_ns, least_rounds
        self.shared = []  # of each round: the share of looks that found the core shared
        self.alone = 0

    def add(self, shared):
        self.shared.append(shared)
        self.alone += shared <= ALONE

    def enough(self, elapsed_ns):
        """Whether the block may end: its time is over, and of the rounds of that time it has enough, or waited long enough."""
        rounds = len(self.shared)
        if rounds < self.least_rounds or elapsed_ns < self.duration_ns:
            return False
        of_duration = rounds * self.duration_ns / max(1, elapsed_ns)
        return elapsed_ns >= PATIENCE * self.duration_ns or self.alone >= max(self.least_rounds, ENOUGH * of_duration)

    def keep(self, times):
        """Leaves the rounds alone in each list of `times`; where there are hardly any, those disturbed least. The mean share of what is left, 0 where alone."""
        rounds = len(self.shared)
        if self.alone == rounds:  # none at all too
            return 0.0
        few, most = self.alone < min(self.least_rounds, rounds), ALONE
        if few:
            most = sorted(self.shared)[min(rounds, max(self.least_rounds, math.ceil(ENOUGH * rounds))) - 1]
        for values in times:
            values[:] = [value for value, shared in zip(values, self.shared) if shared <= most]
        left = [shared for shared in self.shared if shared <= most]
        return sum(left) / len(left) if few else 0.0
