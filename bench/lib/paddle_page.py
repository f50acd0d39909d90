# SPDX-License-Identifier: Apache-2.0
"""docs/results/paddle.md: networks on Paddle Inference, predicted and measured."""
from pathlib import Path

from lib import text

MOST_MAPE = 0.05
LEAST_NETS = 8
# of the own CI of networks that teach a composition; a calm machine would allow 0.03
MOST_HALF_WIDTH = 0.15


def half_width(measured):
    """Of the confidence interval of the network's own measurement, relative."""
    return (measured["ci_ns"][1] - measured["ci_ns"][0]) / 2 / measured["median_ns"]


def row(name, model, composed):
    measured, interval = model["measured"], model["interval_ns"]
    other = [text.duration(composed["predicted_ns"]), text.signed_percent(composed["signed_error"])] if composed else ["-", "-"]
    return [name, text.duration(model["predicted_ns"]), f"{text.duration(interval[0])} to {text.duration(interval[1])}",
            text.duration(measured["median_ns"]), f"+-{text.percent(half_width(measured))}", text.signed_percent(model["signed_error"]),
            "yes" if model["inside_interval"] else "**no**", *other]


def target(what, errors):
    mape = sum(errors) / len(errors)
    met = mape <= MOST_MAPE and len(errors) >= LEAST_NETS
    return [f"{what}, {len(errors)} networks", text.percent(mape), f"<= {100 * MOST_MAPE:.0f} %, at least {LEAST_NETS} networks", "met" if met else "**not met**"]


def fitted_text(fit):
    if not fit:
        return "Too few networks were measured well enough for `oplat fit` to learn a composition from."
    return (f"*Composed* is by a composition that was fitted without the network and its relatives (`oplat fit --only composition --groups`), from networks that were measured to {100 * MOST_HALF_WIDTH:.0f} %; of all networks: "
            f"c0 {text.duration(fit['composition']['c0_ns'])}, c1 {text.duration(fit['composition']['c1_ns'])} a kernel, {fit['composition']['scale']:.3f} times the kernels.")


def page(names, validation, facts, population, exported, fit, oplat):
    device, setting = population["device"], population["setting"]
    models = validation["models"]
    errors = [abs(model["signed_error"]) for model in models]
    composed = {Path(line["name"]).stem: line for line in fit["left_out"]} if fit else {}
    summary = facts["summary"]
    targets = [target("MAPE, nothing fitted", errors)]
    if composed:
        targets.append(target("MAPE, composed as `oplat fit` learned from the other networks", [abs(line["signed_error"]) for line in composed.values()]))
    head = ["network", ">predicted", ">90 % interval", ">measured", ">its CI", ">error", "inside", ">composed", ">error"]
    onednn = setting["options"].get("onednn", "on")
    parts = [
        "# Paddle Inference: networks predicted and measured",
        f"Written by `bench/paddle.py` on {text.today()}, commit {text.commit()}: {text.machine(device)}; load average {facts['load']} at the start, "
        f"{facts.get('end_load', text.load())} at the end (1, 5, 15 minutes). {setting['runtime']} {setting['version']} (build {setting['build']}), oneDNN {onednn}, "
        f"{setting['threads']} thread(s). {oplat}.",
        "The networks are those of `scripts/paddle_nets`: `paddle.vision.models` at 1x3x224x224, random weights, as programs of Paddle 3. Every kernel of Paddle's optimised program was "
        "measured alone, the networks end to end in the same campaign; *predicted* is the sum at the network's cache state, nothing fitted. "
        f"Profiling took {facts['seconds'] / 60:.1f} minutes: {summary['rows']['total']} rows, of which {summary['rows']['precise']} as precise as aimed at and "
        f"{summary['rows']['failed'] + summary['rows']['unsupported'] + summary['rows']['skipped']} without a time. "
        "*Error* is predicted over measured less one. How kernels are made from keys: [ADR 0015](../adr/0015-paddle-worker.md).",
        "\n".join(text.table(["figure", ">value", ">target", ""], targets)),
        "\n".join(text.table(head, [row(name, model, composed.get(name)) for name, model in zip(names, models)])),
        f"Largest error {text.percent(max(errors))}; {sum(error <= 0.05 for error in errors)} of {len(models)} within 5 %, {sum(error <= 0.1 for error in errors)} within 10 %; "
        f"{sum(model['inside_interval'] for model in models)} inside their 90 % interval.",
        fitted_text(fit),
        f"`oplat export --format paddleslim` makes `{exported['name']}` of the table: {exported['keys']} keys that Python's `pickle` loads ({', '.join(exported['kinds'])}). PaddleSlim's texts "
        "name neither activation nor residual, so that kernels which differ in nothing else share a text: it is there once, with the mean of their times.",
    ]
    return "\n\n".join(parts) + "\n"
