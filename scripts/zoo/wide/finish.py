# SPDX-License-Identifier: Apache-2.0
"""What users make of a network before they deploy it: products with weights in 8 bits
whose activations are quantised while it runs, or with weights in 4 bits. Runs under .venv/bin/python."""

import logging

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from .. import finish
from ..pipe import serve

MIN_WEIGHTS = 16384  # smaller products stay as they are


def dynamic(base, path):
    """Products with weights in 8 bits; each activation gets its scale while the network runs."""
    quantize_dynamic(base, path, weight_type=QuantType.QInt8)


def packed(weights, block):
    """Weights (K, N) as MatMulNBits has them: N rows of blocks, two numbers of 4 bits a byte, a
    scale for each block."""
    columns = weights.T.reshape(weights.shape[1], -1, block)
    scales = numpy.abs(columns).max(2, keepdims=True) / 7 + 1e-9
    numbers = (numpy.clip(numpy.rint(columns / scales), -8, 7) + 8).astype(numpy.uint8)
    return numbers[:, :, 0::2] | numbers[:, :, 1::2] << 4, scales.reshape(-1).astype(numpy.float32)


def four_bits(base, path, block=32, accuracy=4):
    """Weights of products in blocks of 4 bits with a scale each, as language models are
    deployed."""
    model = onnx.load(base)
    graph = model.graph
    constants = {one.name: one for one in graph.initializer}
    for node in graph.node:
        weights = numpy_helper.to_array(
            constants[node.input[1]]) if node.op_type == "MatMul" and node.input[
            1] in constants else None
        if weights is None or weights.ndim != 2 or weights.size < MIN_WEIGHTS or weights.shape[
            0] % block:
            continue
        numbers, scales = packed(weights, block)
        names = [f"{node.input[1]}_4bit", f"{node.input[1]}_scales"]
        if names[0] not in constants:
            for name, values in zip(names, (numbers, scales)):
                constants[name] = numpy_helper.from_array(values, name)
                graph.initializer.append(constants[name])
        del node.input[1:]
        node.input.extend(names)
        node.op_type, node.domain = "MatMulNBits", "com.microsoft"
        for name, value in (("K", weights.shape[0]), ("N", weights.shape[1]), ("bits", 4),
                            ("block_size", block), ("accuracy_level", accuracy)):
            node.attribute.append(helper.make_attribute(name, value))
    used = {name for node in graph.node for name in node.input}
    kept = [one for one in graph.initializer if one.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, path)


TASKS = {f.__name__: f for f in (dynamic, four_bits)}


def optimise(task, path, seed, **arguments):
    TASKS[task](path=path, **arguments)
    return finish.check(path, seed)


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantiser repeats its advice for every network
    onnxruntime.set_default_logger_severity(3)
    serve(optimise)
