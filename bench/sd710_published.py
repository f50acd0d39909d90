#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/sd710-published.md: what PaddleSlim's predictor achieved on a Snapdragon 710,
by its authors' own figures.

Reads the published predictions and measurements, computes errors from them, and says where the
printed errors differ. Nothing is predicted here: the table behind the figures is not available.
--check compares the page with what would be written.
"""
import argparse
import csv
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.markdown import wrapped  # noqa: E402
from lib.oplat import ROOT  # noqa: E402
from lib.store import write_atomically  # noqa: E402

PAGE = ROOT / "docs/results/sd710-published.md"
DATA = ROOT.parent / "shared/data/paddleslim/sd710_published_predict_vs_real.csv"
# The printed errors have three digits, and come from times of three.
ROUNDING = 0.06


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [(row["model"], float(row["predict_ms"]), float(row["real_ms"]), float(row["error_pct"])) for row in csv.DictReader(file)]


def error(predicted, real):
    return 100 * abs(predicted - real) / real


def page(rows):
    errors = [error(predicted, real) for _, predicted, real, _ in rows]
    odd = [name for name, predicted, real, printed in rows if abs(error(predicted, real) - printed) > ROUNDING]
    ratios = [predicted / real for _, predicted, real, _ in rows]
    worst = max(range(len(rows)), key=lambda i: errors[i])
    cells = [[name, f"{predicted:.3f}", f"{real:.3f}", f"{100 * (predicted / real - 1):+.2f} %", f"{printed:.3f} %"] for name, predicted, real, printed in rows]
    return "\n\n".join([
        "# What PaddleSlim's predictor achieved on a Snapdragon 710",
        "Written by `bench/sd710_published.py` from the figures that PaddleSlim's authors published, models predicted from the table `SD710_threads_4_power_mode_0.pkl` next to "
        "their measured times. **That table and its operator predictors are not available here, so oplat has not predicted these models.** The page says how well the original "
        "does by its own account, and nothing about oplat. For oplat's estimates on the one table of PaddleSlim that is available, see [RK3288](rk3288-accuracy.md).",
        f"{len(rows)} models: MAPE {statistics.mean(errors):.2f} %, median {statistics.median(errors):.2f} %, at most {errors[worst]:.2f} % ({rows[worst][0]}); "
        f"{sum(e <= 5 for e in errors)} within 5 %, all within 10 %. {sum(r < 1 for r in ratios)} of them are predicted too short, by {100 * (1 - statistics.mean(ratios)):.1f} % on average: "
        "the sum of operators leaves out something that whole models take.",
        "\n".join(text.table(["model", ">predicted ms", ">measured ms", ">error", ">error as printed"], cells)),
        f"Errors are relative to the measured time. Those printed for {' and '.join(odd)} are relative to the prediction." if odd else "Errors are relative to the measured time.",
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=PAGE, help="page to write (default: docs/results/sd710-published.md)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page differs, with 77 if the data are missing")
    options = parser.parse_args()
    if options.check and not options.data.is_file():
        print(f"skipped: no {options.data}")
        sys.exit(77)
    made = wrapped(page(read(options.data)))
    if options.check:
        if options.out.read_text(encoding="utf-8") != made:
            sys.exit(f"{options.out} differs from what {Path(__file__).name} makes from {options.data}; write it again without --check")
        return
    write_atomically(str(options.out), made)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
