# SPDX-License-Identifier: Apache-2.0
"""docs/results/speed.md: which sections it has, and who writes them."""
from lib import text
from lib.sections import replace_section

PREDICTING = "Predicting"
MEASURING = "Measuring"
CALLING = "Calling from Python"


def write_section(path, heading, lines):
    replace_section(path, "Speed", "How fast oplat predicts (`bench/speed.py`) and measures (`bench/throughput.py`), and what a call from Python "
                    "costs (`bench/python_call.py`); each command writes its section.", (PREDICTING, MEASURING, CALLING), heading, lines)


def provenance(script, device, oplat, load_before):
    return (f"Written by `{script}` on {text.today()}, commit {text.commit()}: {text.machine(device)}; load average {load_before} at the start, "
            f"{text.load()} at the end (1, 5, 15 minutes). {oplat}.")


def target_row(what, figure, target, met):
    return [what, figure, target, "" if met is None else "met" if met else "**not met**"]
