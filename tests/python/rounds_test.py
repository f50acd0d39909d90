#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rounds of a block count: the same cases as tests/unit/runtimes/rounds_alone_test.cpp."""
import unittest

from oplat.workers.rounds import RoundsAlone

DURATION = 1000


def rounds_of(least, shares):
    rounds = RoundsAlone(DURATION, least)
    for share in shares:
        rounds.add(share)
    return rounds


def samples(count):
    return [[float(i) for i in range(count)], [10.0 * i for i in range(count)]]


class Rounds(unittest.TestCase):
    def test_of_a_quiet_core_every_round_counts(self):
        self.assertFalse(rounds_of(3, [0, 0]).enough(2 * DURATION))
        three = rounds_of(3, [0, 0, 0])
        self.assertFalse(three.enough(0.9 * DURATION))
        self.assertTrue(three.enough(DURATION))
        times = samples(3)
        self.assertEqual(three.keep(times), 0)
        self.assertEqual(times, samples(3))

    def test_rounds_beside_a_stranger_are_waited_out_and_left_out(self):
        self.assertFalse(rounds_of(2, [0 if i == 4 else 0.5 for i in range(10)]).enough(DURATION))
        rounds = rounds_of(2, [0 if i in (4, 10, 11) else 0.5 for i in range(20)])
        self.assertTrue(rounds.enough(2 * DURATION))
        times = samples(20)
        self.assertEqual(rounds.keep(times), 0)
        self.assertEqual(times, [[4.0, 10.0, 11.0], [40.0, 100.0, 110.0]])

    def test_where_hardly_any_are_alone_the_least_disturbed_count(self):
        rounds = rounds_of(3, [0 if i < 2 else 0.3 if i < 12 else 1 for i in range(40)])
        self.assertFalse(rounds.enough(3.9 * DURATION))
        self.assertTrue(rounds.enough(4 * DURATION))
        times = samples(40)
        self.assertAlmostEqual(rounds.keep(times), 10 * 0.3 / 12)
        self.assertEqual([len(times[0]), times[1][-1]], [12, 110.0])


if __name__ == "__main__":
    unittest.main()
