# SPDX-License-Identifier: Apache-2.0
"""mmt-mobilenetv3.md of docs/results: networks around MobileNetV3 on MNN, predicted from operators
and from blocks, and measured."""
from dataclasses import dataclass, field

from lib import paddle_page, text

MOST_UNFITTED = 0.06  # mean error with nothing fitted
MOST_FITTED, MOST_WORST = 0.025, 0.10  # mean and largest error after the fit
MIN_NETWORKS, MIN_TAUGHT = 60, 3
LEVEL = 0.9
MOST_HALF_WIDTH = paddle_page.MOST_HALF_WIDTH
WORST = 10
HEAD = ["predicted from", "by", "learned from", ">networks", ">MAPE", ">bias", ">worst", ">inside", "target", ""]


@dataclass
class Way:
    """One way to predict, and what it says of each network: (ms, low, high), the last two None if
    it says only a number."""

    what: str
    whose: str
    learned: str
    most_mape: float | None = None
    most_worst: float | None = None
    of: dict = field(default_factory=dict)

    def add(self, name, ms, low=None, high=None):
        self.of[name] = (ms, low, high)

    def errors(self, measured):
        return {name: ms / measured[name] - 1 for name, (ms, _, _) in self.of.items()}

    def target(self):
        if self.most_mape is None:
            return "-"
        return f"<= {text.percent(self.most_mape)}" + ("" if self.most_worst is None else f", worst <= {text.percent(self.most_worst, 0)}")

    def verdict(self, errors):
        if self.most_mape is None:
            return ""
        met = mean(map(abs, errors)) <= self.most_mape and (self.most_worst is None or max(map(abs, errors)) <= self.most_worst)
        return "met" if met and len(errors) >= MIN_NETWORKS else "**not met**"

    def line(self, measured):
        errors = list(self.errors(measured).values())
        if not errors:
            return [self.what, self.whose, self.learned, "0", "-", "-", "-", "-", self.target(), self.verdict([1.0])]
        told = [(name, low, high) for name, (_, low, high) in self.of.items() if low is not None]
        inside = f"{sum(low <= measured[name] <= high for name, low, high in told)} of {len(told)}" if told else "-"
        return [self.what, self.whose, self.learned, str(len(errors)), text.percent(mean(map(abs, errors))), text.signed_percent(mean(errors)),
                text.percent(max(map(abs, errors))), inside, self.target(), self.verdict(errors)]


@dataclass
class Comparison:
    ways: list
    measured: dict  # ms of each network
    models: dict  # of `oplat validate`, by network
    fit: dict | None
    incomplete: int  # networks with a kernel that has no time
    blocks: dict  # runs of each block, pass by pass


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def results(compared):
    return text.table(HEAD, [way.line(compared.measured) for way in compared.ways])


def worst(compared):
    """The networks that the last of oplat's ways by operators misses most, with what every way
    says."""
    ways = compared.ways
    judge = next((way for way in reversed(ways) if way.whose == "oplat" and way.of), ways[0])
    errors = [way.errors(compared.measured) for way in ways]
    names = sorted(judge.of, key=lambda name: -abs(judge.errors(compared.measured)[name]))[:WORST]
    rows = [[name, text.duration(compared.measured[name] * 1e6), f"+-{text.percent(paddle_page.half_width(compared.models[name]['measured']))}",
             *(text.signed_percent(each.get(name)) for each in errors)] for name in names]
    return text.table(["network", ">measured", ">its CI", *(f">{way.what}" for way in ways)], rows)


def learned(fit):
    if not fit:
        return "Too few networks were measured well enough for `oplat fit` to learn a composition from."
    form = fit["composition"]
    return (f"The composition of all networks, those of the comparison included: c0 {text.duration(form['c0_ns'])}, c1 {text.duration(form['c1_ns'])} a kernel, "
            f"{form['scale']:.3f} times the kernels.")


def page(compared, store, population, oplat):
    device, setting = population["device"], population["setting"]
    facts, binary = store.section("profiling"), store.section("binary")
    names = list(compared.ways[0].of)
    real = [compared.measured[name] * 1e6 for name in names]
    passes = {len(each) for each in compared.blocks.values()}
    runs = {sum(map(len, each)) for each in compared.blocks.values()}
    widths = sorted(paddle_page.half_width(compared.models[name]["measured"]) for name in names)
    fitted = "" if binary["version"] == oplat else f" Predicted by {oplat}."
    left = f" {compared.incomplete} more are not in it, since a kernel of theirs has no time yet." if compared.incomplete else ""
    parts = [
        "# MobileNetV3 networks on MNN, from operators and from blocks",
        f"Written by `bench/mmt_mobilenetv3.py` on {text.today()}, commit {text.commit()}, from measurements of {facts['date']}: {text.machine(device)}. "
        f"{setting['runtime']} {setting['version']} (build {setting['build']}), precision {setting['precision']}, {setting['threads']} thread(s). Measured by "
        f"{binary['version']}.{fitted}",
        "Networks are random ones of the space around MobileNetV3 at 224 x 224: five stages of 2 to 4 inverted residuals, kernels of 3, 5 or 7, expansions of 3, 4 or "
        f"6. The comparison has {len(names)}, which take {text.duration(min(real))} to {text.duration(max(real))}; none of them taught a correction.{left} MMT "
        "publishes a mean error of 4.1 % over 334 MobileNetV3 networks on a Xeon with a correction that 16 networks teach, and 39 % without one.",
        "\n".join(results(compared)),
        "*Operators*: every kernel that MNN executes was measured by itself, after its fusions. With nothing fitted the prediction is their sum at the network's "
        "cache state; the composition is that of `oplat fit`, learned from the networks that the table names. *Blocks*: the stem, each inverted residual, the last "
        "convolution and the classifier were measured whole, as MMT does, and the arithmetic means of their single runs summed. MMT corrects the sum by "
        "a Gaussian process (`DotProduct() + WhiteKernel()`), `oplat.mmt.predictor` by a regression. *Bias* is the mean signed error, *inside* counts networks "
        f"inside their {100 * LEVEL:.0f} % interval.",
        f"Kernels and networks: {facts['rows']['total']} rows of kernels, of which {facts['rows']['precise']} are as precise as aimed at, in {facts['seconds'] / 60:.0f} "
        f"minutes with load averages of {'; '.join(facts['loads'])} (1, 5, 15 minutes; programs that were stopped meanwhile count there, too). The confidence interval "
        f"of a network's own time is +-{text.percent(widths[len(widths) // 2])} wide in the median and +-{text.percent(widths[-1])} at most. Blocks: {len(compared.blocks)}, each "
        f"with {range_text(runs)} runs in {range_text(passes)} passes before and after the campaign. {learned(compared.fit)}",
        f"## The worst {WORST}",
        "Of the networks, by the error of oplat's last way. *Error* is predicted over measured less one.",
        "\n".join(worst(compared)),
    ]
    return "\n\n".join(parts) + "\n"


def range_text(counts):
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
