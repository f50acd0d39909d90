#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a latency table of PaddleSlim's kind for the network of paddle_program.py:
tests/cli/paddle_table.py FILE.pkl [--precision P | --mixed] [--without TYPE]

Times are powers of two in ms, so that sums are exact: 7.9375 for the whole network, 8 in fp16. The
depthwise convolution stands there with a batch of -1 alone, dropout not at all. --precision: of the
products; --mixed: fp32 and int8 side by side.
"""
import argparse
import pickle

PRECISIONS = {"fp32": "quant=None bit_length=None", "fp16": "quant=True bit_length=16", "int8": "quant=True bit_length=8"}
# Between floats and halves, where a model begins and ends.
CASTS = {"calib in=(1, 3, 16, 16) out=(1, 3, 16, 16)": 0.03125, "calib in=(1, 10) out=(1, 10)": 0.03125}


def rows(precision):
    said = PRECISIONS[precision]
    return {
        f"conv2d in=(1, 3, 16, 16) weight=(8, 3, 3, 3) out=(1, 8, 8, 8) pad=1 stride=2 group=1 dilation=1 {said}": 1.0,
        f"depthwise_conv2d in=(-1, 8, 8, 8) weight=(8, 1, 3, 3) out=(-1, 8, 8, 8) pad=1 stride=1 group=8 dilation=1 {said}": 2.0,
        f"conv2d in=(1, 8, 8, 8) weight=(16, 8, 1, 1) out=(1, 16, 8, 8) pad=0 stride=1 group=1 dilation=1 {said}": 4.0,
        "pool2d in=(1, 16, 8, 8) out=(1, 16, 1, 1) stride=1 kernel=1x1 pad=0 flag_global=1 type=avg)": 0.5,
        "flatten_contiguous_range in=(1, 16, 1, 1) start_axis=1 stop_axis=None out=(1, 16)": 0.25,
        f"matmul_v2 X=(1, 16) Y=(16, 10) out=(1, 10) {said}": 0.125,
        "elementwise_add X=(1, 10) Y=(10,) axis=1 out=(1, 10)": 0.0625,
        **(CASTS if precision == "fp16" else {}),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--without", default="nothing", metavar="TYPE")
    options = parser.parse_args()
    table = {**rows("fp32"), **rows("int8")} if options.mixed else rows(options.precision)
    with open(options.file, "wb") as file:
        pickle.dump({key: ms for key, ms in table.items() if key.split()[0] != options.without}, file, 3)


if __name__ == "__main__":
    main()
