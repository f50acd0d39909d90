# SPDX-License-Identifier: Apache-2.0
"""Statistics over models: errors, ranks, and how sure a difference of two methods is."""
import random
import statistics

SEED = 1
RESAMPLES = 10000


def kendall(pairs):
    """Kendall's tau-b of (predicted, measured); None below two pairs or without any order."""
    agree = against = ties_x = ties_y = 0
    for i, (x, y) in enumerate(pairs):
        for other_x, other_y in pairs[:i]:
            a, b = (x > other_x) - (x < other_x), (y > other_y) - (y < other_y)
            if a * b > 0:
                agree += 1
            elif a * b < 0:
                against += 1
            else:
                ties_x += a == 0
                ties_y += b == 0
    total = len(pairs) * (len(pairs) - 1) / 2
    scale = ((total - ties_x) * (total - ties_y)) ** 0.5
    return (agree - against) / scale if scale > 0 else None


def mape(errors):
    return statistics.fmean(map(abs, errors))


def within(errors, bound, asked):
    """The share of the models asked for whose error is at most `bound`; one without a prediction
    counts as outside."""
    return sum(abs(error) <= bound for error in errors) / asked


def difference(ours, theirs):
    """(mean, low, high) of |theirs| - |ours| over models, with the 95 % interval of a paired
    bootstrap over models."""
    steps = [abs(b) - abs(a) for a, b in zip(ours, theirs)]
    draw = random.Random(SEED)
    means = sorted(statistics.fmean(draw.choices(steps, k=len(steps))) for _ in range(RESAMPLES))
    return statistics.fmean(steps), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]
