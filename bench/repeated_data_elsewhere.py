#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which operators of MNN and of Paddle are quicker when they are given the same data again and
again?

As bench/repeated_data.py does it for ONNX Runtime: each operator on one input and on 32 in turn,
nine times each, and the ratio of the lower quartiles. The lists in
python/oplat/workers/{mnn,paddle}/data.py and src/ir/value_costs.cpp come from this. Run it by the
runtime's own interpreter, on a quiet machine:

    PYTHONPATH=python OPLAT_WORKER_LIBRARY=build/release/liboplat_worker.so.1 .venv-mnn/bin/python
    bench/repeated_data_elsewhere.py mnn
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.pop(0)  # this folder, whose scripts are named like the runtimes' packages

import numpy  # noqa: E402

SETS = 32
ROUNDS = 9
MAP = [1, 16, 36, 36]
MAP_TEXT = "f32[1,16,36,36]"
# Key, and how many places an input chooses from where that is not the key's to say.
MNN_KEYS = (
    f"mnn:ReLU{{slope=0.0}}({MAP_TEXT})->({MAP_TEXT})",
    f"mnn:ELU{{alpha=1.0}}({MAP_TEXT})->({MAP_TEXT})",
    f"mnn:Select{{}}(i32[1,16,36,36],{MAP_TEXT},{MAP_TEXT})->({MAP_TEXT})",
    f"mnn:UnaryOp{{opType=ERF}}({MAP_TEXT})->({MAP_TEXT})",
    f"mnn:UnaryOp{{opType=SIN}}({MAP_TEXT})->({MAP_TEXT})",
    "mnn:TopKV2{}(f32[32,1000],i32c[]=5)->(f32[32,5],i32[32,5])",
    "mnn:TopKV2{}(f32[1,8000],i32c[]=2000)->(f32[1,2000],i32[1,2000])",
    "mnn:GatherV2{}(f32c[12288,64],i32[2000],i32c[]=0)->(f32[2000,64])",
    "mnn:GatherV2{}(f32c[30000,256],i32[400],i32c[]=0)->(f32[400,256])",
)


def uniform(*shape):
    return lambda generator: generator.uniform(-1, 1, shape).astype("float32")


def integers(below, *shape):
    return lambda generator: generator.integers(0, below, shape).astype("int64")


def boxes(*shape):
    def make(generator):
        centre, size = generator.uniform(0, 1, (*shape, 2)), generator.uniform(0.05, 0.3, (*shape, 2))
        return numpy.concatenate([centre - size, centre + size], -1).astype("float32")

    return make


def draws(inputs):
    """SETS lists of arrays."""
    return [[make(numpy.random.default_rng([seed, place])) for place, make in enumerate(inputs)] for seed in range(SETS)]


def ratio(name, run, sets, seconds):
    """`run(set)`: the ns of one run on a set."""
    def median(some):
        times, end, number = [], time.perf_counter() + seconds, 0
        while time.perf_counter() < end or number < 2 * SETS:
            times.append(run(some[number % len(some)]))
            number += 1
        return float(numpy.median(times[len(times) // 4:]))

    rounds = [(median(sets[:1]), median(sets)) for _ in range(ROUNDS)]
    one, many = (1e-3 * float(numpy.quantile(times, 0.25)) for times in zip(*rounds))
    print(f"{name:70} {one:8.1f} us {many:8.1f} us  {many / one:5.2f}{'  <--' if many > 1.15 * one else ''}", flush=True)


def mnn(seconds):
    from oplat.workers import keys
    from oplat.workers.inputs import draw_input
    from oplat.workers.mnn.engine import Engine
    from oplat.workers.mnn.kernels import Kernel
    from oplat.workers.mnn.worker import session_config

    engine = Engine()
    config = session_config({"precision": "model", "threads": 1, "options": {}})
    for text in MNN_KEYS:
        build = Kernel(keys.parse(text)).build(1, False, False)
        with tempfile.TemporaryDirectory() as folder:
            build.write(engine, Path(folder, "k.mnn"), 1)
            session = engine.session(Path(folder, "k.mnn"), config, {})
        for seed in range(SETS):
            session.add_feed({name: draw_input(numpy, kind, 100 * seed + place, build.limits.get(name))
                              for place, (name, kind) in enumerate(build.inputs.items())})

        def run(number, session=session):
            session.next_set = number
            session.refill()
            begin = time.perf_counter_ns()
            session.run()
            return time.perf_counter_ns() - begin

        ratio(text.split(")->")[0], run, range(SETS), seconds)


def paddle_trials(paddle):
    """(name, function of the parameters and the inputs, shapes of parameters, how to make the
    inputs)"""
    functional = paddle.nn.functional
    yield "relu", lambda _, x: functional.relu(x), [], [uniform(*MAP)]
    yield "elu", lambda _, x: functional.elu(x), [], [uniform(*MAP)]
    yield "prelu", lambda w, x: functional.prelu(x, w[0]), [[16]], [uniform(*MAP)]
    yield "hardshrink", lambda _, x: functional.hardshrink(x, 0.3), [], [uniform(*MAP)]
    yield "where", lambda _, x, y: paddle.where(x > 0, x, y), [], [uniform(*MAP), uniform(*MAP)]
    yield "topk 8000, 2000", lambda _, x: paddle.topk(x, 2000, axis=1), [], [uniform(1, 8000)]
    yield "topk 1000, 5", lambda _, x: paddle.topk(x, 5, axis=1), [], [uniform(32, 1000)]
    yield "argsort", lambda _, x: paddle.argsort(x, axis=1), [], [uniform(1, 8000)]
    yield "argmax", lambda _, x: paddle.argmax(x, axis=1), [], [uniform(20, 1000)]
    yield "nonzero", lambda _, x: paddle.nonzero(x > 0), [], [uniform(200, 100)]
    yield "masked_select", lambda _, x: paddle.masked_select(x, x > 0), [], [uniform(200, 100)]
    yield "nms", lambda _, x: paddle.vision.ops.nms(x, 0.5), [], [boxes(200)]
    yield "multiclass_nms3", lambda _, x, y: paddle._C_ops.multiclass_nms3(x, y, None, 0.01, 200, 50, 0.5, True, 1.0, -1)[0], [], [boxes(1, 200), uniform(1, 1, 200)]
    yield "embedding 12288 x 64", lambda w, i: functional.embedding(i, w[0]), [[12288, 64]], [integers(12288, 2000)]
    yield "embedding 30000 x 256", lambda w, i: functional.embedding(i, w[0]), [[30000, 256]], [integers(30000, 400)]


def paddle(seconds):
    from oplat.workers.paddle.engine import Engine, quiet

    engine = Engine()
    framework = engine.paddle
    framework.set_device("cpu")

    class Model(framework.nn.Layer):
        def __init__(self, function, shapes):
            super().__init__()
            self.function = function
            self.further = self.create_parameter([1])  # a file of parameters must not be empty
            self.weights = framework.nn.ParameterList([self.create_parameter(shape) for shape in shapes])

    class OfOne(Model):
        def forward(self, x):
            return self.function(self.weights, x), self.further + 1

    class OfTwo(Model):
        def forward(self, x, y):
            return self.function(self.weights, x, y), self.further + 1

    for name, function, shapes, inputs in paddle_trials(framework):
        sets = draws(inputs)
        model = (OfOne if len(inputs) == 1 else OfTwo)(function, shapes)
        model.eval()
        specs = [framework.static.InputSpec(list(each.shape), str(each.dtype), f"x{number}") for number, each in enumerate(sets[0])]
        with tempfile.TemporaryDirectory() as folder, quiet():
            framework.jit.save(model, f"{folder}/m", input_spec=specs)
            predictor = engine.predictor(engine.config(f"{folder}/m.json", f"{folder}/m.pdiparams", 1, True))
        handles = [predictor.get_input_handle(each) for each in predictor.get_input_names()]

        def run(arrays, predictor=predictor, handles=handles):
            for handle, array in zip(handles, arrays):
                handle.copy_from_cpu(array)
            begin = time.perf_counter_ns()
            predictor.run()
            return time.perf_counter_ns() - begin

        ratio(name, run, sets, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=("mnn", "paddle"))
    parser.add_argument("--seconds", type=float, default=0.1, help="of each of the 18 measurements of an operator (default 0.1)")
    arguments = parser.parse_args()
    {"mnn": mnn, "paddle": paddle}[arguments.runtime](arguments.seconds)


if __name__ == "__main__":
    main()
