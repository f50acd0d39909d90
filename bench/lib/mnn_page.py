# SPDX-License-Identifier: Apache-2.0
"""docs/results/mnn.md: networks on MNN, predicted and measured."""
from pathlib import Path

from lib import paddle_page, text

MOST_MAPE = 0.05
MOST_BIAS = 0.02
LEAST_NETS = 12
LEVEL = 0.9
MOST_HALF_WIDTH = paddle_page.MOST_HALF_WIDTH
HEAD = ["network", ">predicted", ">90 % interval", ">measured", ">its CI", ">error", "inside", ">composed", ">error", "inside"]


def verdict(met):
    return "met" if met else "**not met**"


def figures(what, errors, inside):
    """MAPE, bias and intervals of one way to predict, each with its target."""
    mape, bias = sum(map(abs, errors)) / len(errors), sum(errors) / len(errors)
    enough = len(errors) >= LEAST_NETS
    return [
        [f"{what}: MAPE", text.percent(mape), f"<= {100 * MOST_MAPE:.0f} %", verdict(enough and mape <= MOST_MAPE)],
        [f"{what}: bias (mean signed error)", text.signed_percent(bias), f"within +-{100 * MOST_BIAS:.0f} %", verdict(enough and abs(bias) <= MOST_BIAS)],
        [f"{what}: inside their {100 * LEVEL:.0f} % interval", f"{sum(inside)} of {len(inside)}", f">= {100 * LEVEL:.0f} %",
         verdict(enough and sum(inside) >= LEVEL * len(inside))],
    ]


def row(model, composed):
    line = paddle_page.row(Path(model["name"]).stem, model, composed)
    return [*line, "-" if composed is None else "yes" if composed["inside_interval"] else "**no**"]


def section(setting, part, facts):
    predicted = [model for model in part["validation"]["models"] if model["signed_error"] is not None]
    missing = [Path(model["name"]).stem for model in part["validation"]["models"] if model["signed_error"] is None]
    models, fit = predicted, part["fit"]
    shown = {model["name"] for model in models}
    composed = {Path(line["name"]).stem: line for line in fit["left_out"] if line["name"] in shown} if fit else {}
    lines = figures("nothing fitted", [model["signed_error"] for model in models], [model["inside_interval"] for model in models])
    if composed:
        lines += figures("composed", [line["signed_error"] for line in composed.values()], [line["inside_interval"] for line in composed.values()])
        form = fit["composition"]
        learned = (f"The composition of all of them: c0 {text.duration(form['c0_ns'])}, c1 {text.duration(form['c1_ns'])} a kernel, "
                   f"{form['scale']:.3f} times the kernels.")
    else:
        learned = "Too few networks were measured well enough for `oplat fit` to learn a composition from."
    worst = max(models, key=lambda model: abs(model["signed_error"]))
    return [
        f"## {setting.title[0].upper()}{setting.title[1:]}",
        f"{len(models)} networks and {facts['rows']['total']} rows, profiled in {facts['seconds'] / 60:.0f} minutes with load averages of "
        f"{'; '.join(facts['loads'])} (1, 5, 15 minutes; programs that were stopped meanwhile count there, too). {facts['rows']['precise']} rows are as precise as aimed at. The largest error with nothing fitted "
        f"is {text.signed_percent(worst['signed_error'])} ({Path(worst['name']).stem}). {learned}",
        "\n".join(text.table(["figure", ">value", ">target", ""], lines)),
        *([f"Not predicted, since a kernel has no time: {', '.join(missing)}."] if missing else []),
        "\n".join(text.table(HEAD, [row(model, composed.get(Path(model["name"]).stem)) for model in models])),
    ]


def page(chosen, parts, store, population, oplat):
    device, setting = population["device"], population["setting"]
    done = [setting_ for setting_ in chosen if setting_.name in parts]
    facts = {each.name: store.section("profiling", each.name) for each in done}
    dates = sorted({each["date"] for each in facts.values()})
    refused = store.section("refused")
    blocks = [
        "# MNN: networks predicted and measured",
        f"Written by `bench/mnn.py` on {text.today()}, commit {text.commit()}, from measurements of {' and '.join(dates)}: {text.machine(device)}. "
        f"{setting['runtime']} {setting['version']} (build {setting['build']}), precision {setting['precision']}, float32. {oplat}.",
        "The networks are those of `scripts/models`, random weights, converted by MNN's own converter. Every kernel of a network's plan was measured by "
        "itself, and the network end to end in the same campaign. *Predicted* is the sum at the network's cache state, nothing fitted. *Composed* is by a "
        "composition that was fitted without the network and its family (`oplat fit --only composition --groups`), from networks that were "
        f"measured to {100 * MOST_HALF_WIDTH:.0f} %. *Error* is predicted over measured less "
        f"one. How kernels are made from keys: [ADR 0047](../adr/0047-mnn-worker.md).",
    ]
    for each in done:
        blocks += section(each, parts[each.name], facts[each.name])
    if refused:
        lines = [f"- {name}: {reason}" for name, reason in sorted(refused.items())]
        blocks += ["## Refused", "MNN does not run these, and oplat says so:", "\n".join(lines)]
    return "\n\n".join(blocks) + "\n"
