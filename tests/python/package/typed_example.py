# SPDX-License-Identifier: Apache-2.0
"""A use of the package that mypy --strict accepts (api_test.py)."""
from __future__ import annotations

from pathlib import Path

import numpy

import oplat
import oplat.torch


def slowest(table: oplat.Table, models: list[Path], level: float) -> tuple[float, list[str]]:
    predictions: list[oplat.Prediction] = table.predict_many(models, threads=1, level=level)
    worst = max(predictions, key=lambda prediction: prediction.hi)
    return worst.hi, worst.warnings


def lacking(table: oplat.Table, model: bytes) -> list[oplat.Key]:
    try:
        table.predict(model, shapes={"x": (1, 3, 224, 224)}, missing="error")
    except oplat.MissingKernels as error:
        return [oplat.Key(key) for key in error.keys]
    return []


def with_data(table: oplat.Table, model: bytearray, keys: set[oplat.Key]) -> list[oplat.Prediction]:
    oplat.compat.install("mmt")
    oplat.profile([], table, keys=keys, inputs={"mask": Path("mask.npy"), "x": "uniform:0:1"})
    return [table.predict(model, inputs={"ids": numpy.zeros((1, 3), "int64")}), *table.predict_many("net.onnx", inputs={"ids": [[1, 2]]})]


def profile(models: list[str], path: Path) -> float:
    def show(progress: oplat.Progress) -> None:
        print(progress.what, progress.done, progress.total, progress.eta_s)

    result: oplat.ProfileResult = oplat.profile(models, path, budget="4m", progress=show)
    with oplat.Table(path) as table:
        fit: oplat.FitResult = table.fit(jobs=1)
        median: float = table.rows(with_time=True)["median_ms"].mean()
        objective: oplat.Objective = table.as_objective(level=0.95)
        print(fit.mape, objective("net.onnx"), oplat.plan("net.onnx", runtime="onnxruntime").kernels[0].key)
    return result.seconds + median


def of_module(table: oplat.Table, module: oplat.torch.Module, tokens: oplat.torch.Tensor) -> dict[str, float]:
    inputs: list[oplat.torch.Input] = [tokens, (1, 128)]
    graph: oplat.torch.Graph = oplat.torch.export(module, inputs, kwargs={"causal": True}, dtype="int64", exporter="trace")
    blocks = oplat.torch.blocks(module, (1, 3, 224, 224), type(module))
    print(graph.inputs["ids"], oplat.measure([graph], budget=5).models, oplat.plan(graph, runtime="onnxruntime").kernels)
    return {path: table.predict(block).ms for path, block in blocks.items()} | {graph.name: table.predict(graph).ms}


def surveyed(table: oplat.Table, models: list[str]) -> list[float]:
    answers: list[oplat.Prediction | oplat.Error] = table.predict_many(models, on_error="return", unfitted=True)
    known = [answer for answer in answers if isinstance(answer, oplat.Prediction)]
    operators: list[oplat.OperatorTime] = known[0].by_operator
    print(operators[0].bound, known[0].kernels[0].label, known[0].kernels[0].type, oplat.Key("Relu/14{}(f32[1])->(f32[1])").label)
    sweep: oplat.Sweep = table.predict_sweep(models, threads=[1, 2], batches=(1, 4), level=0.95)
    measured = oplat.measure_sweep(models, budget="1m", threads=2, batches=[1, 8], worker=["ssh", "phone", "oplat", "worker", "onnxruntime"])
    oplat.profile_sweep(models, table, budget=60, threads=[1, 2], blocks=8, progress=print)
    advice: oplat.Advice = table.advise(models, 5.0, batches=[1, 2])
    best = advice.best
    estimates: oplat.Estimates = table.estimate([oplat.Key(operators[0].type), "Relu/14{}(f32[1])->(f32[1])"], reuse_bytes=1e6)
    print(estimates.kernels[0].ms, estimates.setting.threads)
    inspection: oplat.Inspection = oplat.inspect(models[0], depth=1)
    flops: int = inspection.total.flops
    times = [point.inferences for point in [*sweep.points, *measured.fastest]]
    return [time.p50_ms for time in times if time is not None] + ([best.ms] if best and best.ms else []) + [float(flops)]
