# SPDX-License-Identifier: Apache-2.0
"""The models of bench/breadth.py, as files with data, and what ONNX Runtime itself makes of them.

Models: those of operator_models.py; the one-node models of the `onnx` package's own backend tests
(each operator with several sets of attributes, types and optional operands); one of each operator
again under every operator set from 7 to 24 that defines the operator anew; and again in other
element types of which ONNX Runtime registers a kernel. Integer operands but the first are
constants, as networks have them.
"""
import json
import os
import signal
import warnings
from collections import Counter, defaultdict

import numpy

from lib.operator_models import models as operator_models

FIRST_OPSET, LAST_OPSET = 7, 24
LAST_IR = 13  # that ONNX Runtime 1.31 reads
CPU = "CPUExecutionProvider"
OTHER_TYPES = {"float16": numpy.float16, "double": numpy.float64, "int64": numpy.int64, "int32": numpy.int32, "int8": numpy.int8, "uint8": numpy.uint8}
RUN_SECONDS = 60


def operator_name(domain, op):
    return f"{domain}:{op}" if domain else op


def cpu_kernels():
    """Operator -> element types of the kernels for CPU that the installed ONNX Runtime
    registers."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state
    found = defaultdict(set)
    for kernel in state.get_all_opkernel_def():
        if kernel.provider != CPU:
            continue
        types = found[operator_name(kernel.domain, kernel.op_name)]
        for listed in kernel.type_constraints.values():
            types.update(text[len("tensor("):-1] for text in listed if text.startswith("tensor("))
    return dict(found)


def limit_versions(model):
    """Takes a model of a newer operator set than the last one back to that, if its operator was
    there already."""
    from onnx import defs
    model.ir_version = min(model.ir_version, LAST_IR)
    node = model.graph.node[0]
    for opset in model.opset_import:
        if opset.domain == node.domain == "" and opset.version > LAST_OPSET and defs.has(node.op_type, LAST_OPSET, ""):
            opset.version = LAST_OPSET


def fixed_operands(case):
    """(model, values of its inputs): the test's model with its integer operands but the first as
    initialisers."""
    import onnx
    from onnx import numpy_helper
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    limit_versions(model)
    values = case.data_sets[0][0]
    kept, data = [], {}
    for i, info in enumerate(list(model.graph.input)):
        tensor = info.type.HasField("tensor_type")
        value = values[i] if i < len(values) else None
        dtype = getattr(value, "dtype", None)
        if i > 0 and tensor and dtype is not None and dtype.kind in "iub" and value.size <= 64:
            model.graph.initializer.append(numpy_helper.from_array(value, info.name))
            continue
        kept.append(info)
        if tensor and dtype is not None:
            data[info.name] = value
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model, data


def in_type(model, data, name):
    """The same in another element type wherever it has float32; None where it has none."""
    import onnx
    from onnx import numpy_helper
    wanted = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(OTHER_TYPES[name]))
    other = onnx.ModelProto()
    other.CopyFrom(model)
    if not any(info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT for info in other.graph.input):
        return None
    for info in [*other.graph.input, *other.graph.output]:
        if info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            info.type.tensor_type.elem_type = wanted
    for i, tensor in enumerate(other.graph.initializer):
        if tensor.data_type == onnx.TensorProto.FLOAT:
            array = numpy_helper.to_array(tensor).astype(OTHER_TYPES[name])
            other.graph.initializer[i].CopyFrom(numpy_helper.from_array(array, tensor.name))
    return other, {key: value.astype(OTHER_TYPES[name]) if value.dtype == numpy.float32 else value for key, value in data.items()}


def tested_models(cases_per_operator):
    """(operator, label, model, data) of the package's backend tests, evenly chosen, of older
    operator sets and of other types."""
    from onnx import defs
    from onnx.backend.test import loader
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    by_operator = defaultdict(list)
    for case in tests:
        if case.model is not None and len(case.model.graph.node) == 1 and "_expanded" not in case.name:
            node = case.model.graph.node[0]
            by_operator[node.domain, node.op_type].append(case)
    versions = defaultdict(set)
    for schema in defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name].add(schema.since_version)
    kernels = cpu_kernels()
    for (domain, op), cases in sorted(by_operator.items()):
        operator = operator_name(domain, op)
        step = max(1, len(cases) / cases_per_operator)
        chosen = [cases[int(i * step)] for i in range(min(cases_per_operator, len(cases)))]
        for case in chosen:
            yield operator, case.name, *fixed_operands(case)
        if domain:
            continue
        for version in sorted(versions[domain, op]):
            if FIRST_OPSET <= version <= LAST_OPSET:
                model, data = fixed_operands(chosen[0])
                for opset in model.opset_import:
                    if opset.domain == domain:
                        opset.version = version
                yield operator, f"{chosen[0].name}_opset{version}", model, data
        for name in OTHER_TYPES:
            model, data = fixed_operands(chosen[0])
            if name in kernels.get(operator, ()) and (other := in_type(model, data, name)):
                yield operator, f"{chosen[0].name}_{name}", *other


def since_version(operator, model):
    """Since which operator set the definition of the operator holds; 1 if the model's last node is
    another one."""
    from onnx import defs
    node = model.graph.node[-1]
    if operator_name(node.domain, node.op_type) != operator:
        return 1
    opset = next((each.version for each in model.opset_import if each.domain == node.domain), 1)
    return defs.get_schema(node.op_type, opset, node.domain).since_version if defs.has(node.op_type, opset, node.domain) else 1


def make_models(folder, cases_per_operator):
    """[operator, label, since] of each model, whose files are made in `folder` if they are not
    there: FOLDER/models/LABEL.onnx and FOLDER/data/LABEL.npz."""
    listing = folder / "models.json"
    if listing.exists():
        return json.loads(listing.read_text())
    for name in ("models", "data"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    made, met, seen = [], Counter(), set()
    candidates = [*((operator, label, model, {}) for operator, label, model in operator_models()), *tested_models(cases_per_operator)]
    for operator, label, model, data in candidates:
        content = model.SerializeToString()
        if content in seen:
            continue
        seen.add(content)
        (folder / "models" / f"{label}.onnx").write_bytes(content)
        numpy.savez(folder / "data" / f"{label}.npz", **{f"input_{name}": value for name, value in data.items() if value.dtype.kind in "fiubc"})
        made.append([met[operator], operator, label, since_version(operator, model)])
        met[operator] += 1
    # One model of every operator first: a run that is cut short has seen all of them.
    made = [each[1:] for each in sorted(made, key=lambda each: each[0])]
    listing.write_text(json.dumps(made))
    return made


def random_value(info, random):
    """Of an input that comes without data."""
    kind = info.type[len("tensor("):-1]
    shape = [dim if isinstance(dim, int) else 1 for dim in info.shape]
    if kind == "string":
        return random.integers(0, 9, shape).astype(str).astype(object)
    if kind == "bool":
        return random.integers(0, 2, shape).astype(bool)
    dtype = {"float": numpy.float32, "float16": numpy.float16, "double": numpy.float64}.get(kind)
    return random.uniform(0.1, 1, shape).astype(dtype) if dtype else random.integers(0, 2, shape).astype(kind)


def run_by_runtime(path, data):
    """What ONNX Runtime does with the model: "runs"; "inputs" where some are of other types than
    tensors, so that nothing was tried; "load" or "run" where that fails. In a process of its own:
    it may crash or hang."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(RUN_SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        step = 1
        try:
            import onnxruntime
            session = onnxruntime.InferenceSession(str(path), providers=[CPU])
            step = 2
            if not all(info.type.startswith("tensor(") for info in session.get_inputs()):
                os._exit(3)
            given = {name[len("input_"):]: value for name, value in numpy.load(data).items()}
            random = numpy.random.default_rng(1)
            session.run(None, {info.name: given[info.name] if info.name in given else random_value(info, random) for info in session.get_inputs()})
            step = 0
        finally:
            os._exit(step)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        return {0: "runs", 1: "load", 3: "inputs"}.get(os.WEXITSTATUS(status), "run")
    return "run"
