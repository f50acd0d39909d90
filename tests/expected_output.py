# SPDX-License-Identifier: Apache-2.0
"""Compares what a program printed with what a test shows; used by cli/run_case.py and
docs_blocks.py.

The shown text is a list of lines. Each has to be printed, in this order, and nothing else. Three
dots stand for what varies: within a line for any characters, alone on a line for any number of
lines. Spaces at the end of a line do not count.

    batch 1: total ... ms, 2 convolutions
    ...
    no convolution has a measured time
"""
import re

DOTS = "..."


def line_matches(shown, printed):
    """Whether one printed line is the shown one; three dots match any characters."""
    if DOTS not in shown:
        return shown.rstrip() == printed.rstrip()
    pattern = ".*".join(re.escape(part) for part in shown.rstrip().split(DOTS))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def mismatch(shown, printed, open_end=False):
    """Why the printed lines are not the shown ones; None if they are. open_end: more lines may
    follow."""
    places = {0}  # how many printed lines the shown ones so far may have used up
    for line in shown:
        if line.strip() == DOTS:
            places = set(range(min(places), len(printed) + 1))
            continue
        after = {place + 1 for place in places if place < len(printed) and line_matches(line, printed[place])}
        if not after:
            found = printed[min(places)] if min(places) < len(printed) else "(the end)"
            return f"expected: {line}\nprinted:  {found}"
        places = after
    if open_end or len(printed) in places:
        return None
    return f"expected: (the end)\nprinted:  {printed[max(places)]}"


def updated(shown, printed):
    """The shown lines, corrected to match what was printed; lines and dots that still fit are
    kept."""
    if mismatch(shown, printed) is None:
        return shown
    # The longest run of shown lines that are printed in this order: best[i][j] is of shown[i:] and
    # printed[j:].
    best = [[0] * (len(printed) + 1) for _ in range(len(shown) + 1)]
    fits = [[line.strip() != DOTS and line_matches(line, other) for other in printed] for line in shown]
    for i in reversed(range(len(shown))):
        for j in reversed(range(len(printed))):
            both = best[i + 1][j + 1] + 1 if fits[i][j] else 0
            best[i][j] = max(both, best[i + 1][j], best[i][j + 1])
    result, i, j, dots, run = [], 0, 0, False, []

    def flush():
        # What was printed between two lines that fit: still dots where dots were shown there.
        result.extend([DOTS] if dots else run)

    while i < len(shown) or j < len(printed):
        if i < len(shown) and j < len(printed) and fits[i][j] and best[i][j] == best[i + 1][j + 1] + 1:
            flush()
            result.append(shown[i])
            i, j, dots, run = i + 1, j + 1, False, []
        elif i < len(shown) and (j == len(printed) or best[i + 1][j] >= best[i][j + 1]):
            dots = dots or shown[i].strip() == DOTS
            i += 1
        else:
            run.append(printed[j].rstrip())
            j += 1
    flush()
    return result
