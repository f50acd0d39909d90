#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases behind CTest's entries: summary.py JUNIT_FILE

An entry is a suite: a GoogleTest program, a runner that ends with `N passed, N failed, N skipped`,
tests of Python's unittest, or a program that is one test. Prints the total as one such line.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

RUNNER = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", flags=re.MULTILINE)
GTEST = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) tests?", flags=re.MULTILINE),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) tests?", flags=re.MULTILINE),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) tests?", flags=re.MULTILINE),
}
UNITTEST = re.compile(r"^Ran (\d+) tests? in \S+\n\n(?:OK|FAILED)(?: \((.*)\))?$", flags=re.MULTILINE)


def counts_of(status, output):
    """(passed, failed, skipped) of one entry of CTest."""
    if runs := RUNNER.findall(output):
        counts = [int(number) for number in runs[-1]]
    elif GTEST["passed"].search(output):
        counts = [int(found[1]) if (found := GTEST[kind].search(output)) else 0
                  for kind in ("passed", "failed", "skipped")]
    elif runs := UNITTEST.findall(output):
        count, words = runs[-1]
        said = {name: int(number) for name, number in re.findall(r"(?:^|, )([a-z ]+)=(\d+)", words)}
        failed, skipped = said.get("failures", 0) + said.get("errors", 0), said.get("skipped", 0)
        counts = [max(0, int(count) - failed - skipped), failed, skipped]
    else:
        counts = [0, 0, 0]
        counts[{"run": 0, "fail": 1}.get(status, 2)] = 1
    if status == "fail" and counts[1] == 0:
        counts[1] = 1  # it crashed, ran out of time, or failed behind its last case
    return counts


def main():
    file = Path(sys.argv[1])
    if not file.is_file():
        print(f"no test ran: no {file}", file=sys.stderr)
        return 1
    total = [0, 0, 0]
    for entry in ElementTree.parse(file).getroot().iter("testcase"):
        counts = counts_of(entry.get("status"), entry.findtext("system-out") or "")
        total = [before + more for before, more in zip(total, counts)]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
