# SPDX-License-Identifier: Apache-2.0
"""MNN: models in files to sessions that run with inputs of ours.

The package's command `mnnconvert` uploads what it converted and installs a package with `pip` for
that. Only the function of the converter is called here, which does neither; `MNN.tools` is never
imported.
"""
import contextlib
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

from ..errors import Failed, WorkerError, bad_input
from ..machine import shared_memory

INSTALL = "python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1"
# Names of element types: MNN's, the key's, numpy's.
ELEMENTS = {"DT_FLOAT": ("f32", "float32"), "DT_INT32": ("i32", "int32"), "DT_UINT8": ("u8", "uint8"),
            "DT_INT8": ("i8", "int8"), "DT_HALF": ("f16", "float16"), "DT_INT64": ("i64", "int64"),
            "DT_BOOL": ("bool", "bool"), "DT_DOUBLE": ("f64", "float64")}
MAX_REASON = 600


class Spoken:
    """What MNN printed while it worked: its functions return nothing about an error."""

    def __init__(self):
        self.text = ""

    def reason(self):
        """The lines that say what went wrong, else the last ones."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        words = ("error", "not support", "invalid", "failed", "can't", "cannot")
        wrong = [line for line in lines if any(word in line.lower() for word in words)]
        return "; ".join(wrong[:4] or lines[-2:])[:MAX_REASON] or "it gives no reason"


@contextlib.contextmanager
def listen():
    """Takes what is printed inside; shown only to somebody who asked to see what workers say."""
    spoken = Spoken()
    kept = os.dup(1), os.dup(2)
    heard = os.memfd_create("oplat-mnn")
    try:
        os.dup2(heard, 1)
        os.dup2(heard, 2)
        yield spoken
    finally:
        for fd, copy in zip((1, 2), kept):
            os.dup2(copy, fd)
            os.close(copy)
        os.lseek(heard, 0, os.SEEK_SET)
        with os.fdopen(heard, "rb") as file:
            spoken.text = file.read().decode("utf-8", "replace")
        if os.environ.get("OPLAT_WORKER_STDERR"):
            os.write(2, spoken.text.encode())


class Engine:
    """The library, loaded once a process."""

    def __init__(self):
        try:
            with listen():
                import numpy
                import _tools
                import MNN
                import MNN.expr
        except Exception as error:  # an import may fail in any way
            raise WorkerError("runtime", f"mnn: {type(error).__name__}: {error}; install it: {INSTALL}") from error
        self.numpy, self.mnn, self.expr, self.tools = numpy, MNN, MNN.expr, _tools
        self.version = MNN.version()
        # MNN does not say what it was built from
        with open(sys.modules["_mnncengine"].__file__, "rb") as file:
            self.build = hashlib.blake2b(file.read()).hexdigest()[:12]

    def convert(self, source_format, source, target, external=True):
        """Writes `target` (.mnn or .json, by its suffix), with weights in a file NAME.weight next
        to a .mnn if `external`. RuntimeError with MNN's words if it does not."""
        arguments = ["mnnconvert", "-f", source_format, "--modelFile", str(source)]
        if target.suffix == ".json":
            arguments += ["--JsonFile", str(target)]
        else:
            arguments += ["--MNNModel", str(target), "--bizCode", "oplat"]
            if external and source_format != "JSON":  # whose weights are where it says
                arguments.append("--saveExternalData")
        if source_format != "ONNX":
            arguments += ["--optimizeLevel", "0"]  # the graph as it is
        with listen() as spoken:
            self.tools.mnnconvert(arguments)
        if not target.is_file() or target.stat().st_size == 0:
            raise RuntimeError(spoken.reason())

    def check(self, mnn_file):
        """Whether MNN takes the file for one of its models. Its converter does not ask, and
        crashes."""
        with listen() as spoken:
            try:
                self.mnn.Interpreter(str(mnn_file))
                return
            except Exception:  # MNN raises plain Exception
                pass
        raise bad_input(f"{mnn_file}: is not a model of MNN: {spoken.reason()}")

    @contextlib.contextmanager
    def converted(self, model):
        """The model as a .mnn file, which is deleted at the end if it was made here."""
        if model.suffix not in (".onnx", ".mnn"):
            raise bad_input(f"{model}: MNN runs NAME.onnx and NAME.mnn")
        if not model.is_file():
            raise bad_input(f"{model}: no such file")
        if model.suffix == ".mnn":
            self.check(model)
            yield model
            return
        with temporary_folder() as folder:
            target = Path(folder, "model.mnn")
            try:
                self.convert("ONNX", model, target)
            except RuntimeError as error:
                raise bad_input(f"{model}: MNN's converter cannot read it: {error}") from error
            yield target

    def graph(self, mnn_file, model=None):
        """The graph in a .mnn file as MNN writes it into JSON, without weights. `model`: what
        messages call it."""
        model = model or mnn_file
        with temporary_folder() as folder:
            bare, text = Path(folder, "bare.mnn"), Path(folder, "bare.json")
            try:
                self.convert("MNN", mnn_file, bare)
                self.convert("MNN", bare, text)
                with open(text, encoding="utf-8", errors="replace") as file:
                    graph = json.load(file)
            except (RuntimeError, ValueError) as error:
                raise bad_input(f"{model}: is not a model of MNN: {error}") from error
        if not graph.get("oplists"):
            raise bad_input(f"{model}: has no operators")
        if graph.get("subgraphs"):
            raise bad_input(f"{model}: has {len(graph['subgraphs'])} subgraphs (loops, branches or recurrent layers), "
                            "which MNN's sessions do not run")
        return graph

    def session(self, mnn_file, config, shapes):
        """A session with its inputs resized; Failed if MNN does not make one."""
        with listen() as spoken:
            made = Session(self, mnn_file, config, shapes)
        if made.problem or "Can't run session" in spoken.text or "Compute Shape Error" in spoken.text:
            raise Failed(f"MNN cannot run it: {made.problem or spoken.reason()}")
        return made


class Session:
    """A model that is ready to run. Inputs are copied before every run: MNN writes over them. Of
    several sets of data each run has the next."""

    def __init__(self, engine, mnn_file, config, shapes):
        self.problem = ""
        mnn = engine.mnn
        try:
            self.interpreter = mnn.Interpreter(str(mnn_file))
            weights = Path(f"{mnn_file}.weight")
            if weights.is_file():
                self.interpreter.setExternalFile(str(weights))
            self.session = self.interpreter.createSession(config)
            self.inputs = dict(self.interpreter.getSessionInputAll(self.session))
            resized = False
            for name, dims in shapes.items():
                if name in self.inputs and tuple(self.inputs[name].getShape()) != tuple(dims):
                    self.interpreter.resizeTensor(self.inputs[name], tuple(dims))
                    resized = True
            if resized:
                self.interpreter.resizeSession(self.session)
        except Exception as error:  # MNN raises plain Exception
            self.problem = str(error) or type(error).__name__
        self.engine = engine
        self.sets = []
        self.next_set = 0

    def feed(self, arrays):
        """Data for all inputs, in MNN's own memory, in place of those that were there."""
        self.sets.clear()
        self.add_feed(arrays)

    def add_feed(self, arrays):
        """A further set of data, for the next run."""
        mnn, numpy = self.engine.mnn, self.engine.numpy
        tensors = []
        types = {"float32": mnn.Halide_Type_Float, "int32": mnn.Halide_Type_Int, "uint8": mnn.Halide_Type_Uint8}
        for name, array in arrays.items():
            if name not in self.inputs:
                raise Failed(f"MNN has no input '{name}' in its session")
            if str(array.dtype) not in types:
                raise Failed(f"input {name}: MNN's Python package takes no {array.dtype}")
            array = numpy.ascontiguousarray(array)
            kind = types[str(array.dtype)]
            host = mnn.Tensor(tuple(array.shape), kind, array, mnn.Tensor_DimensionType_Caffe)
            # the array lives as long as its tensor
            tensors.append((self.inputs[name], host, array))
        self.sets.append(tensors)
        self.next_set = len(self.sets) - 1

    def drop_last_feed(self):
        self.sets.pop()
        self.next_set = 0

    def refill(self):
        for tensor, host, _ in self.sets[self.next_set] if self.sets else ():
            tensor.copyFrom(host)
        self.next_set = (self.next_set + 1) % max(1, len(self.sets))

    def run(self):
        """MNN's status; 0 is success."""
        return self.interpreter.runSession(self.session)

    def executed(self):
        """What one run executes: (name, type, shapes of operands, shapes of results) in order."""
        found, shapes = [], []

        def before(tensors, _):
            shapes[:] = [tuple(each.getShape()) for each in tensors]
            return True

        def after(tensors, operator):
            results = [tuple(each.getShape()) for each in tensors]
            found.append((operator.getName(), operator.getType(), list(shapes), results))
            return True

        self.refill()
        with listen() as spoken:
            status = self.interpreter.runSessionWithCallBackInfo(self.session, before, after)
        if status or not found:
            raise Failed(f"MNN cannot run it: status {status}; {spoken.reason()}")
        return found

    def megabytes(self):
        """Memory of the session, as MNN counts it."""
        return max(0.0, float(self.interpreter.getSessionInfo(self.session, 0)))


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="oplat-mnn.", dir=shared_memory())
