# SPDX-License-Identifier: Apache-2.0
"""int8 networks: a base network in QDQ form, per channel, calibrated on seeded random data."""

import os

import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from .inputs import random_inputs

SAMPLES = 3


class RandomData(CalibrationDataReader):
    def __init__(self, session, seed):
        self._feeds = iter([random_inputs(session, seed + i) for i in range(SAMPLES)])

    def get_next(self):
        return next(self._feeds, None)


def static(base, path, seed, only=None, stock=None):
    """Quantises every operator that can be, or with `only` the kinds named there, joined by "+".

    With `stock`, QDQ or QOperator, it does what quantize_static does when nobody sets anything: the network as it was
    exported, one scale a tensor.
    """
    if stock:
        session = onnxruntime.InferenceSession(base, providers=["CPUExecutionProvider"])
        quantize_static(base, path, RandomData(session, seed), quant_format=QuantFormat[stock])
        return
    folded = path + ".folded"  # normalisation folded into convolutions, shapes inferred: what the quantiser asks for
    quant_pre_process(base, folded, skip_symbolic_shape=True)
    try:
        session = onnxruntime.InferenceSession(folded, providers=["CPUExecutionProvider"])
        quantize_static(folded, path, RandomData(session, seed), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        op_types_to_quantize=only.split("+") if only else None)
    finally:
        os.remove(folded)
