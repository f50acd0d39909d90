# SPDX-License-Identifier: Apache-2.0
"""docs/results/tinynas-loop.md: sums of convolutions next to networks measured end to end."""
from collections import Counter

from lib import text

#: of the section of docs/results/accuracy.md that sums this page up
HEADING = "Convolution libraries: TinyNAS's loop"
NAMES = {"original": "the original's method", "best": "`best`"}


class Line:
    """One structure at one batch."""

    def __init__(self, structure, batch, measured, predicted):
        self.structure, self.batch = structure, batch
        self.measured_ns = measured["latency_ns"]
        self.half_width = (measured["ci_ns"][1] - measured["ci_ns"][0]) / 2 / self.measured_ns
        self.predicted = predicted

    def total_ms(self, estimator):
        return self.predicted[estimator]["total_ms"]

    def error(self, estimator):
        total = self.total_ms(estimator)
        return None if total is None else total * 1e6 / self.measured_ns - 1

    def cells(self):
        cells = [self.structure, str(self.batch), text.duration(self.measured_ns), f"+-{text.percent(self.half_width)}"]
        for estimator in NAMES:
            total, error = self.total_ms(estimator), self.error(estimator)
            cells += ["-", "-"] if total is None else [text.duration(total * 1e6), text.signed_percent(error)]
        interval = self.predicted["best"]["total_interval_ms"]
        cells.append("-" if interval is None else f"{text.duration(interval[0] * 1e6)} to {text.duration(interval[1] * 1e6)}")
        return cells


def summary(lines):
    rows = []
    for estimator, name in NAMES.items():
        errors = [error for error in (line.error(estimator) for line in lines) if error is not None]
        mape = sum(map(abs, errors)) / len(errors) if errors else None
        bias = sum(errors) / len(errors) if errors else None
        rows.append([name, str(len(errors)), text.percent(mape), "-" if bias is None else text.signed_percent(bias)])
    return text.table(["estimator", ">networks with an answer", ">MAPE", ">mean signed error"], rows)


def section(lines, page):
    """What the loop came to, for docs/results/accuracy.md."""
    measured = ", ".join(f"{line.structure} at batch {line.batch}" for line in lines)
    return [f"Written by `bench/tinynas_loop.py` on {text.today()}, commit {text.commit()}; [{page}]({page}) has the whole. A library of convolutions was measured "
            f"on this machine; sums of its convolutions were predicted by the method of TinyNAS's op_profiler and by oplat's estimators, and the "
            f"networks measured end to end: {measured}.", "", *summary(lines)]


def sources(lines):
    counts = Counter(conv["source"] for line in lines for conv in line.predicted["best"]["convs"])
    return ", ".join(f"{count} {source}" for source, count in counts.most_common())


def page(lines, facts, samples, options, population, oplat):
    device, setting = population["device"], population["setting"]
    rows = facts["summary"]["rows"]
    measured = rows["precise"] + rows["wide"] + rows["few_blocks"]
    head = ["structure", ">batch", ">measured", ">its CI"]
    for name in NAMES.values():
        head += [f">{name}", ">error"]
    parts = [
        "# TinyNAS's loop on real hardware: sample, measure, predict, compare",
        f"Written by `bench/tinynas_loop.py` on {text.today()}, commit {text.commit()}: {text.machine(device)}; load average "
        f"{facts['load']} at the start, {text.load()} at the end (1, 5, 15 minutes). {oplat}.",
        f"{samples} convolutions ({', '.join(f'`{space.name}`' for space, _ in options.spaces)}), fused and unfused, were measured with "
        f"{setting['runtime']} {setting['version']} and one thread in {facts['seconds'] / 60:.1f} minutes and {facts['summary']['blocks']} blocks: "
        f"{measured} rows of a kernel in a cache state have a time, {rows['precise']} of them within the target of the stop rule. Written as a library, the hottest state of each "
        f"kernel, they predict structures at resolution {options.resolution}, whose convolutions lie between its rows. The same structures were "
        "written as ONNX models and measured end to end. *Error* is predicted over measured less one.",
        "\n".join(text.table([*head, ">90 % interval of `best`"], [line.cells() for line in lines])),
        "\n".join(summary(lines)),
        f"Convolutions of `best` by source: {sources(lines)}. Both estimators were asked the same convolutions (`--rules corrected`). A library knows "
        "convolutions only: pools on shortcuts, reorders of the layout and the call itself are in what was measured and not in what was predicted, and "
        "kernels take some per cent longer in a network than alone ([ADR 0009](../adr/0009-kernels-take-longer-among-others.md)), which the intervals do not know either. "
        "`oplat predict` counts all that, from a table of keys and a fit ([accuracy](accuracy.md)).",
    ]
    return "\n\n".join(parts) + "\n"
