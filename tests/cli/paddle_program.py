#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small network as a Paddle program, without Paddle: tests/cli/paddle_program.py NAME
[--batch N] [--int8] [--wide] [--pruned]

NAME.pdmodel is a ProgramDesc: an image of 3x16x16, a convolution with batch normalisation and relu,
a depthwise one likewise, a pointwise one, an average over the image, flattening, dropout, a product
with weights and a sum with a bias. --int8: the first convolution's operands are quantised and
dequantised, as quantisation-aware training leaves it. --wide: one more convolution, 3x3 on 16
channels, which the tests' tables lack. NAME.pdiparams holds the parameters, all one (--pruned: all
zero), as Paddle's save_combine writes them.
"""
import argparse
import struct

FLOAT, INT64, LOD_TENSOR = 5, 3, 7


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    head = block(1, name)
    if isinstance(value, bool):
        return head + number(2, 6) + number(10, int(value))
    if isinstance(value, int):
        return head + number(2, 0) + number(3, value)
    if isinstance(value, float):
        return head + number(2, 1) + varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        return head + number(2, 2) + block(5, value)
    return head + number(2, 3) + b"".join(number(6, each) for each in value)


class Program:
    def __init__(self):
        self.vars, self.ops, self.parameters = [], [], []

    def tensor(self, name, dims, persistable=False, dtype=FLOAT):
        desc = number(1, dtype) + b"".join(number(2, dim) for dim in dims)
        kind = number(1, LOD_TENSOR) + block(3, block(1, desc) + number(2, 0))
        self.vars.append(block(1, name) + block(2, kind) + number(3, int(persistable)))
        if persistable:
            self.parameters.append((name, dims))
        return name

    def holder(self, name, kind):
        self.vars.append(block(1, name) + block(2, number(1, kind)) + number(3, 1))

    def op(self, kind, inputs, outputs, **attributes):
        slots = lambda field, named: b"".join(block(field, block(1, slot) + b"".join(block(2, each) for each in names)) for slot, names in named.items())
        self.ops.append(slots(1, inputs) + slots(2, outputs) + block(3, kind) + b"".join(block(4, attribute(*each)) for each in attributes.items()))

    def bytes(self):
        body = number(1, 0) + number(2, -1) + b"".join(block(3, var) for var in self.vars) + b"".join(block(4, op) for op in self.ops)
        return block(1, body) + block(4, number(1, 0))

    def parameter_bytes(self, element):
        out = b""
        for _, dims in sorted(self.parameters):
            desc = number(1, FLOAT) + b"".join(number(2, dim) for dim in dims)
            count = 1
            for dim in dims:
                count *= dim
            out += struct.pack("<IQI", 0, 0, 0) + struct.pack("<i", len(desc)) + desc + struct.pack("<f", element) * count
        return out


class Net:
    def __init__(self, batch, int8):
        self.program, self.batch, self.int8, self.made = Program(), batch, int8, 0
        self.program.holder("feed", 9)
        self.program.holder("fetch", 10)
        self.at = self.program.tensor("x", [batch, 3, 16, 16])
        self.shape = [3, 16, 16]
        self.program.op("feed", {"X": ["feed"]}, {"Out": ["x"]}, col=0)

    def new(self, shape, dims=None):
        self.made += 1
        self.shape = shape
        return self.program.tensor(f"t{self.made}", dims or [self.batch, *shape])

    def parameter(self, what, dims):
        self.made += 1
        return self.program.tensor(f"{what}_{self.made}", dims, persistable=True)

    def unary(self, kind, **attributes):
        x = self.at
        self.at = self.new(self.shape)
        self.program.op(kind, {"X": [x]}, {"Out": [self.at]}, **attributes)

    def quantised(self, x, dims, persistable):
        """Through quantize_linear and dequantize_linear."""
        for kind in ("quantize_linear", "dequantize_linear"):
            scale, zero = self.parameter("scale", [1]), self.parameter("zero", [1])
            self.made += 1
            y = self.program.tensor(f"q{self.made}", dims)
            self.program.op(kind, {"X": [x], "Scale": [scale], "ZeroPoint": [zero]}, {"Y": [y]}, quant_axis=-1, bit_length=8)
            x = y
        return x

    def conv(self, channels, kernel, stride=1, groups=1, normalised=True):
        c, h, w = self.shape
        weight = self.parameter("w", [channels, c // groups, kernel, kernel])
        x = self.at
        if self.int8 and groups == 1:
            x = self.quantised(x, [self.batch, c, h, w], False)
            weight = self.quantised(weight, [channels, c // groups, kernel, kernel], True)
        pad = kernel // 2
        self.at = self.new([channels, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1])
        self.program.op("depthwise_conv2d" if groups > 1 else "conv2d", {"Filter": [weight], "Input": [x]}, {"Output": [self.at]}, strides=[stride, stride],
                        paddings=[pad, pad], dilations=[1, 1], groups=groups, padding_algorithm="EXPLICIT", data_format="NCHW")
        if not normalised:
            return
        parameters = {slot: [self.parameter("bn", [channels])] for slot in ("Bias", "Mean", "Scale", "Variance")}
        x = self.at
        self.at = self.new(self.shape)
        self.program.op("batch_norm", {"X": [x], **parameters}, {"Y": [self.at]}, epsilon=1e-05, momentum=0.9, is_test=True, data_layout="NCHW")
        self.unary("relu")

    def head(self, classes):
        c = self.shape[0]
        x = self.at
        self.at = self.new([c, 1, 1])
        self.program.op("pool2d", {"X": [x]}, {"Out": [self.at]}, pooling_type="avg", ksize=[1, 1], strides=[1, 1], paddings=[0, 0], adaptive=True, global_pooling=False,
                        exclusive=True, ceil_mode=False, padding_algorithm="EXPLICIT", data_format="NCHW")
        x = self.at
        self.at = self.new([c])
        self.program.op("flatten_contiguous_range", {"X": [x]}, {"Out": [self.at]}, start_axis=1, stop_axis=-1)
        self.unary("dropout", dropout_prob=0.5, is_test=True, dropout_implementation="upscale_in_train")
        x, w = self.at, self.parameter("fc_w", [c, classes])
        self.at = self.new([classes])
        self.program.op("matmul_v2", {"X": [x], "Y": [w]}, {"Out": [self.at]}, trans_x=False, trans_y=False)
        x, b = self.at, self.parameter("fc_b", [classes])
        self.at = self.new([classes])
        self.program.op("elementwise_add", {"X": [x], "Y": [b]}, {"Out": [self.at]}, axis=-1)

    def finish(self):
        self.program.op("fetch", {"X": [self.at]}, {"Out": ["fetch"]}, col=0)
        return self.program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--pruned", action="store_true")
    options = parser.parse_args()
    net = Net(options.batch, options.int8)
    net.conv(8, 3, stride=2)
    net.conv(8, 3, groups=8)
    net.conv(16, 1)
    if options.wide:
        net.conv(16, 3)
    net.head(10)
    program = net.finish()
    with open(options.name + ".pdmodel", "wb") as file:
        file.write(program.bytes())
    with open(options.name + ".pdiparams", "wb") as file:
        file.write(program.parameter_bytes(0 if options.pruned else 1))


if __name__ == "__main__":
    main()
