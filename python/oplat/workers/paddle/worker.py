# SPDX-License-Identifier: Apache-2.0
"""What the protocol asks, answered with predictors of Paddle Inference."""
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import harness, inputs, keys
from ..errors import Failed, Unsupported, bad_input, usage
from ..machine import check_memory, shared_memory
from . import data, params, pir
from .engine import MERGING, Engine, quiet
from .kernels import Kernel, draw_weights
from .planner import Planner

OPTIONS = {"onednn": {"values": ["on", "off"], "default": "on"}}
SUFFIXES = (".json", ".pdmodel")
SETTLING_RUNS = 2


@dataclass
class Ready:
    """A predictor with its data. Of several sets each run has the next."""

    predictor: object
    sets: list  # of name -> array
    next_set: int = 0

    def refill(self):
        for name, array in self.sets[self.next_set].items():
            self.predictor.get_input_handle(name).copy_from_cpu(array)
        self.next_set = (self.next_set + 1) % len(self.sets)

    def add(self, arrays):
        """A further set, which must run."""
        self.sets.append(arrays)
        self.next_set = len(self.sets) - 1
        try:
            self.refill()
            self.predictor.run()
        except Exception:  # data that do not suit the model; the first ones do
            self.sets.pop()
            self.next_set = 0


class PaddleWorker:
    """One class for all that the protocol asks of a runtime."""

    def __init__(self):
        self.engine = Engine()
        self.now_ns = harness.clock()
        self.opened = {}  # handle -> Ready
        self.next_handle = 1

    def hello(self):
        return {"runtime": "paddle", "version": self.engine.version, "build": self.engine.build, "options": OPTIONS, "precisions": ["model"],
                "most_threads": os.cpu_count() or 1}

    def plan(self, request):
        onednn = self._setting(request["setting"])
        model = Path(request["model"])
        config = self._config(model, request["setting"]["threads"], onednn)
        try:
            program = self._optimised(config)[1]
        except RuntimeError as error:
            raise bad_input(f"{model}: {error}") from error
        planner = Planner(program, self._batch(program, request))
        kernels = planner.run()
        first = next(iter(planner.inputs.values()), None)
        batch = first.dims[0] if first and first.dims else 1
        return {"model": model.name, "source": "runtime", "batch": planner.batch if batch == -1 else max(1, batch),
                "weight_bytes": planner.weight_bytes, "activation_bytes": planner.activation_bytes,
                "kernels": [{"name": name, "key": str(key)} for name, key in kernels]}

    def open(self, request):
        onednn = self._setting(request["setting"])
        return self._open_kernel(request, onednn) if request.get("key") else self._open_model(request, onednn)

    def run(self, handle):
        if handle not in self.opened:
            raise Failed(f"handle {handle} is not open")
        ready = self.opened[handle]
        if len(ready.sets) > 1:
            ready.refill()
        run, now = ready.predictor.run, self.now_ns
        begin = now()
        run()
        return now() - begin

    def close(self, handle):
        self.opened.pop(handle, None)

    @staticmethod
    def _setting(setting):
        """Whether oneDNN computes; anything that is not ours to set is an error."""
        if setting["precision"] != "model":
            raise usage(f"paddle: precision '{setting['precision']}': it computes in the precision of the model; use 'model'")
        options = dict(setting["options"])
        options.pop("affinity", None)  # the client pins the process
        onednn = options.pop("onednn", "on")
        if options:
            raise usage(f"paddle: no option '{next(iter(options))}'; there is onednn")
        if onednn not in ("on", "off"):
            raise usage(f"paddle: onednn '{onednn}' is neither on nor off")
        return onednn == "on"

    def _config(self, model, threads, onednn):
        if model.suffix not in SUFFIXES:
            raise bad_input(f"{model}: expected NAME.json or NAME.pdmodel with NAME.pdiparams next to it")
        weights = model.with_suffix(".pdiparams")
        for path in (model, weights):
            if not path.is_file():
                raise bad_input(f"{path}: no such file; a model needs its parameters next to it")
        config = self.engine.config(model, weights, threads, onednn)
        if model.suffix == ".pdmodel":  # run as the programs of Paddle 3 are
            config.enable_new_ir(True)
            config.enable_new_executor(True)
        return config

    def _optimised(self, config, folder=None):
        """A predictor, and the program that the optimiser made of its model."""
        with tempfile.TemporaryDirectory(prefix="oplat-paddle.", dir=shared_memory()) as other:
            folder = folder or other
            config.set_optim_cache_dir(str(folder))
            config.enable_save_optim_model(True)
            predictor = self.engine.predictor(config)
            return predictor, pir.read(Path(folder, "_optimized.json"))

    @staticmethod
    def _batch(program, request):
        """What stands for an open first dimension; other shapes than the model's own cannot be
        asked for."""
        batch = request["batch"]
        for operation in program.operations:
            if operation.name not in ("pd_op.data", "pd_op.feed"):
                continue
            name, dims = operation.value("name"), program.types[operation.results[0]].dims
            asked = request["shapes"].get(name)
            if asked is None:
                continue
            if len(asked) != len(dims) or any(own not in (-1, want) for own, want in zip(dims, asked)):
                raise usage(f"--shape {name}={'x'.join(map(str, asked))}: the model has {dims}; export it with the shape")
            if dims and dims[0] == -1:
                batch = asked[0]
        return batch

    def _open_model(self, request, onednn):
        model = Path(request["model"])
        config = self._config(model, request["setting"]["threads"], onednn)
        size = model.with_suffix(".pdiparams").stat().st_size
        check_memory(4 * size)
        try:
            predictor, program = self._optimised(config)
        except RuntimeError as error:
            raise Failed(f"Paddle cannot load it: {error}") from error
        planner = Planner(program, self._batch(program, request))
        planner.run()
        varied, limits = data.look_at(program)

        def draw(number):
            return inputs.model_inputs(self.engine.numpy, planner.inputs, inputs.request_of_set(request, number), limits)

        return self._ready(predictor, draw(0), size, "single", draw if varied else None)

    def _open_kernel(self, request, onednn):
        try:
            key = keys.parse(request["key"])
        except ValueError as error:
            raise bad_input(f"key: {error}") from error
        kernel = Kernel(key)
        if key.domain == "paddle.onednn" and not onednn:
            raise Unsupported("an operator of oneDNN, with the option onednn=off")
        copies, topology = request["copies"], request["topology"]
        chain = copies > 1 and topology in ("auto", "chain") and kernel.chained() is not None
        if copies > 1 and (topology == "single" or (topology == "chain" and not chain)):
            raise Unsupported(f"{key.op} changes the shape of its operand and cannot be chained")
        size = kernel.bytes(copies, request["distinct_weights"])
        check_memory(size)
        build = kernel.build(copies, chain, request["distinct_weights"])
        numpy, threads = self.engine.numpy, request["setting"]["threads"]
        with tempfile.TemporaryDirectory(prefix="oplat-paddle.", dir=shared_memory()) as folder:
            program, weights = Path(folder, "k.json"), Path(folder, "k.pdiparams")
            build.writer.write(program)
            params.write(weights, draw_weights(numpy, build, request["seed"]))
            config = self.engine.config(program, weights, threads, onednn)
            for name in MERGING:
                config.delete_pass(name)
            try:
                if copies == 1 and key.domain:
                    predictor, made = self._optimised(config, folder)
                    check_made(key, made)
                else:
                    predictor = self.engine.predictor(config)
            except RuntimeError as error:
                raise Failed(f"Paddle cannot load it: {error}") from error
        feeds = {name: inputs.draw_input(numpy, kind, request["seed"] + number) for number, (name, kind) in enumerate(build.inputs.items())}
        return self._ready(predictor, feeds, size, "single" if copies == 1 else "chain" if chain else "fan")

    def _ready(self, predictor, feeds, size, topology, draw=None):
        """The first runs allocate and pack weights, and may fail: better here than inside a block.
        `draw`: makes further sets of inputs for what is quicker on repeated data."""
        ready = Ready(predictor, [feeds])
        try:
            with quiet():
                ready.refill()
                for _ in range(SETTLING_RUNS):
                    predictor.run()
                for further in inputs.further_sets(self.engine.numpy, feeds, draw) if draw else ():
                    ready.add(further)
        except Exception as error:
            raise Failed(f"Paddle cannot run it: {error}") from error
        handle, self.next_handle = self.next_handle, self.next_handle + 1
        self.opened[handle] = ready
        return {"handle": handle, "bytes": int(size), "topology": topology}


def check_made(key, program):
    """The program is what the optimiser made of ours: another kernel than was asked for must not be
    measured."""
    made = Planner(program).run()
    if str(made[-1][1]) != str(key):
        raise Unsupported(f"Paddle turns it into another kernel: {made[-1][1]}")
