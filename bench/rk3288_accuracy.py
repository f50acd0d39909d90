#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how well learned estimates do on a small table of a phone-class CPU and writes docs/rk3288-accuracy.md.

Imports PaddleSlim's pickled table of an RK3288 (2,200 operators) and asks `oplat accuracy` for five folds by key: the
convolutions with known sizes, and all operators. Takes some minutes. Needs: scripts/build release oplat.
"""
import argparse
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.oplat import ROOT, Failed, Oplat  # noqa: E402
from lib.store import write_atomically  # noqa: E402

CONVOLUTIONS = "paddle_lite:conv2d,paddle_lite:depthwise_conv2d"
MOST_MAPE = 0.037
PROTOTYPE = "3.8 %"
LEAST_ROWS = 10


def cells(name, line):
    return [name, f"{line['rows']:,}", text.percent(line["mape"], 2), text.percent(line["median"], 2), text.percent(line["p90"], 2),
            text.percent(line["within_5_percent"]), text.percent(line["within_10_percent"]), text.percent(line["interval_coverage"]),
            text.percent(line["half_width"])]


def page(found, device, oplat):
    head = ["rows of", ">asked", ">MAPE", ">median", ">p90", ">within 5 %", ">within 10 %", ">inside the 90 % interval", ">mean half-width"]
    convolutions, operators = found["convolutions"]["lines"], found["operators"]["lines"]
    met = "met" if convolutions[0]["mape"] <= MOST_MAPE else "**not met**"
    parts = [
        "# Learned estimates on a small table: an RK3288 under Paddle-Lite",
        f"Written by `bench/rk3288_accuracy.py` on {text.today()}, commit {text.commit()}. {oplat}.",
        f"The table is PaddleSlim's `{device}_threads_4_power_mode_0.pkl`. Its keys are cut into five folds (CRC-32); each fold is asked of what was learned from "
        "the other four, as `oplat fit` learns. Rows with a size of -1 (unknown) cannot be asked. No row was set aside as impossible, though the table holds some.",
        f"Convolutions and depthwise convolutions of known sizes: MAPE {text.percent(convolutions[0]['mape'], 2)}, target <= {text.percent(MOST_MAPE)}: {met}. "
        f"The prototype of the study behind the target reached {PROTOTYPE}, the original's random forest 27 %.",
        "\n".join(text.table(head, [cells(line["rows_of"], line) for line in convolutions])),
        "## All operators, learned together",
        f"Kinds of at least {LEAST_ROWS} rows.",
        "\n".join(text.table(head, [cells(line["rows_of"], line) for line in operators if line["rows"] >= LEAST_ROWS])),
    ]
    return "\n\n".join(parts) + "\n"


def run(options):
    oplat = Oplat(options.oplat)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.oplat"
        oplat.text("import", options.table, "--format", "paddleslim", "--table", table)
        for name, more in (("convolutions", ["--operators", CONVOLUTIONS]), ("operators", [])):
            found[name] = oplat.json("accuracy", table, "--split", "folds:5", "--quiet", *more)
    write_atomically(options.out, page(found, options.table.name.split("_")[0], oplat.version()))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=ROOT.parent / "shared/data/paddleslim/rk3288_threads_4_power_mode_0.pkl")
    parser.add_argument("--out", default=str(ROOT / "docs/rk3288-accuracy.md"), help="the page (default: docs/rk3288-accuracy.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="the program (default: build/release/oplat)")
    try:
        run(parser.parse_args())
    except Failed as error:
        sys.exit(f"bench/rk3288_accuracy.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
