# SPDX-License-Identifier: Apache-2.0
"""What the protocol asks, answered with sessions of MNN."""
import os
from pathlib import Path

from .. import harness, keys
from ..errors import Failed, Unsupported, WorkerError, bad_input, usage
from ..inputs import Type, draw_input, further_sets, model_inputs, request_of_set
from ..machine import check_memory
from . import data
from .engine import ELEMENTS, Engine, temporary_folder
from .kernels import Kernel
from .planner import Planner

# MNN's `precision` by ours. "model" computes in float32, as the model states it.
PRECISIONS = {"model": "high", "normal": "normal", "low": "low", "low_bf16": "lowBF"}
LEVELS = ("normal", "high", "low")
OPTIONS = {name: {"values": list(LEVELS), "default": LEVELS[0]} for name in ("memory", "power")}
WARM_UP_RUNS = 2


def session_config(setting):
    """MNN's configuration; anything that is not ours to set is an error."""
    if setting["precision"] not in PRECISIONS:
        raise usage(f"mnn: precision '{setting['precision']}' is not one of {', '.join(PRECISIONS)}")
    options = dict(setting["options"])
    options.pop("affinity", None)  # the client pins the process
    config = {"backend": "CPU", "numThread": setting["threads"], "precision": PRECISIONS[setting["precision"]]}
    for name in OPTIONS:
        config[name] = options.pop(name, LEVELS[0])
        if config[name] not in LEVELS:
            raise usage(f"mnn: {name} '{config[name]}' is not one of {', '.join(LEVELS)}")
    if options:
        raise usage(f"mnn: there is no option '{next(iter(options))}'; there are {', '.join(OPTIONS)}")
    return config


def input_types(graph):
    """name -> Type of every input of a graph of MNN, with -1 where a dimension is open."""
    types = {}
    for operator in graph["oplists"]:
        if operator["type"] != "Input":
            continue
        main = operator.get("main", {})
        dtype = ELEMENTS.get(main.get("dtype", "DT_FLOAT"))
        if dtype is None:
            raise bad_input(f"input {operator['name']} has the type {main['dtype']}")
        types[operator["name"]] = Type(dtype[0], list(main.get("dims", [])))
    return types


class MnnWorker:
    """One class for all that the protocol asks of a runtime."""

    def __init__(self):
        self.engine = Engine()
        self.now_ns = harness.clock()
        self.opened = {}  # handle -> Session
        self.next_handle = 1

    def hello(self):
        return {"runtime": "mnn", "version": self.engine.version, "build": self.engine.build, "options": OPTIONS,
                "precisions": list(PRECISIONS), "most_threads": os.cpu_count() or 1}

    def plan(self, request):
        config = session_config(request["setting"])
        model = Path(request["model"])
        with self.engine.converted(model) as file:
            graph = self.engine.graph(file, model)
            feeds = model_inputs(self.engine.numpy, input_types(graph), request, data.look_at(graph)[1])
            shapes = {name: list(array.shape) for name, array in feeds.items()}
            try:
                session = self.engine.session(file, config, shapes)
                session.feed(feeds)
                executed = session.executed()
            except Failed as error:
                raise bad_input(f"{model}: {error}") from error
            planner = Planner(self.engine, graph, file, shapes)
            kernels = planner.run(executed)
        first = next(iter(shapes.values()), [1])
        return {"model": model.name, "source": "runtime", "batch": max(1, first[0]) if first else 1,
                "weight_bytes": planner.weight_bytes, "activation_bytes": planner.activation_bytes,
                "kernels": [{"name": name, "key": str(key)} for name, key in kernels]}

    def open(self, request):
        config = session_config(request["setting"])
        return self._open_kernel(request, config) if request.get("key") else self._open_model(request, config)

    def run(self, handle):
        if handle not in self.opened:
            raise Failed(f"handle {handle} is not open")
        session, now = self.opened[handle], self.now_ns
        session.refill()
        run = session.run
        begin = now()
        status = run()
        ns = now() - begin
        if status:
            raise Failed(f"MNN's run ends with status {status}")
        return ns

    def close(self, handle):
        self.opened.pop(handle, None)

    def _open_model(self, request, config):
        model = Path(request["model"])
        size = model.stat().st_size if model.is_file() else 0
        check_memory(4 * size)
        with self.engine.converted(model) as file:
            graph = self.engine.graph(file, model)
            types, (varied, limits) = input_types(graph), data.look_at(graph)

            def draw(number):
                return model_inputs(self.engine.numpy, types, request_of_set(request, number), limits)

            feeds = draw(0)
            session = self.engine.session(file, config, {name: array.shape for name, array in feeds.items()})
        return self._ready(session, feeds, size, "single", draw if varied else None)

    def _open_kernel(self, request, config):
        try:
            key = keys.parse(request["key"])
        except ValueError as error:
            raise bad_input(f"key: {error}") from error
        kernel = Kernel(key)
        copies, topology = request["copies"], request["topology"]
        chain = copies > 1 and topology in ("auto", "chain") and kernel.chained() is not None
        if copies > 1 and (topology == "single" or (topology == "chain" and not chain)):
            raise Unsupported(f"{key.op} changes the shape of its operand and cannot be chained")
        size = kernel.bytes(copies)
        check_memory(size)
        with temporary_folder() as folder:
            file = Path(folder, "kernel.mnn")
            build = kernel.build(copies, chain, request["distinct_weights"], request["results_as_outputs"])
            try:
                build.write(self.engine, file, request["seed"])
            except RuntimeError as error:
                raise Failed(f"MNN cannot load it: {error}") from error
            session = self.engine.session(file, config, {})

            def draw(number):
                seed = request_of_set(request, number)["seed"]
                return {name: draw_input(self.engine.numpy, kind, seed + place, build.limits.get(name), kernel.positive)
                        for place, (name, kind) in enumerate(build.inputs.items())}

            feeds = draw(0)
            if copies == 1 and key.domain:
                self._check_made(key, session, feeds, file)
        return self._ready(session, feeds, size, "single" if copies == 1 else "chain" if chain else "fan", draw if kernel.varied else None)

    def _check_made(self, key, session, feeds, file):
        """Another kernel than was asked for must not be measured."""
        session.feed(feeds)
        try:
            made = Planner(self.engine, self.engine.graph(file), file, {}).run(session.executed())
        except WorkerError as error:
            raise Unsupported(f"oplat cannot say what MNN makes of it: {error}") from error
        keys_made = [str(each) for _, each in made]
        if str(key) not in keys_made:
            raise Unsupported(f"MNN turns it into other kernels: {', '.join(keys_made) or 'none'}")

    def _ready(self, session, feeds, size, topology, draw):
        """The first runs allocate and pack weights, and may fail: better here than inside a block.
        `draw`: makes further sets of inputs for what is quicker on repeated data; else None."""
        session.feed(feeds)
        for _ in range(WARM_UP_RUNS):
            session.refill()
            status = session.run()
            if status:
                raise Failed(f"MNN cannot run it: status {status}")
        for further in further_sets(self.engine.numpy, feeds, draw) if draw else ():
            session.add_feed(further)
            session.refill()
            if session.run():
                session.drop_last_feed()
                break
        handle, self.next_handle = self.next_handle, self.next_handle + 1
        self.opened[handle] = session
        return {"handle": handle, "bytes": int(size + session.megabytes() * (1 << 20)), "topology": topology}
