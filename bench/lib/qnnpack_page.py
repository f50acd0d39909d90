# SPDX-License-Identifier: Apache-2.0
"""docs/results/qnnpack.md: int8 nets on QNNPACK, predicted and measured."""
from lib import text

MOST_ERROR = 0.05
MOST_OWN_CI = 0.03


class Line:
    """One net."""

    def __init__(self, net, validation, facts, lookup, composed):
        model = validation["models"][0]
        self.net, self.facts, self.lookup = net, facts, lookup
        self.predicted_ns, self.interval, self.error, self.inside = (model[name] for name in ("predicted_ns", "interval_ns", "signed_error",
                                                                                             "inside_interval"))
        self.measured = model["measured"]
        # what a composition predicts that was fitted without it; None where there is none
        self.composed = composed

    def half_width(self):
        """Of the confidence interval of the net's own measurement, relative."""
        return (self.measured["ci_ns"][1] - self.measured["ci_ns"][0]) / 2 / self.measured["median_ns"]

    def cells(self):
        hot = self.lookup["us"] * 1e3
        return [self.net.name, str(self.net.size), str(self.lookup["operators"]), str(self.lookup["records"]), text.duration(self.predicted_ns),
                f"{text.duration(self.interval[0])} to {text.duration(self.interval[1])}", text.duration(self.measured["median_ns"]),
                f"+-{text.percent(self.half_width())}", text.signed_percent(self.error), "yes" if self.inside else "**no**", *self.composed_cells(),
                text.duration(hot), text.signed_percent(hot / self.measured["median_ns"] - 1)]

    def composed_cells(self):
        if not self.composed:
            return ["-", "-"]
        return [text.duration(self.composed["predicted_ns"]), text.signed_percent(self.composed["signed_error"])]


def verdict(within, lines, drawn):
    return "met" if within == len(lines) and len(lines) >= 6 and len(drawn) >= 2 else "**not met**"


def targets(lines):
    largest = max(abs(line.error) for line in lines)
    drawn = [line for line in lines if line.net.seed]
    within = sum(abs(line.error) <= MOST_ERROR for line in lines)
    rows = [[f"nets within {100 * MOST_ERROR:.0f} %, two of them drawn from seeds, nothing fitted", f"{within} of {len(lines)}, {len(drawn)} drawn; largest error {text.percent(largest)}",
             ">= 6, all", verdict(within, lines, drawn)]]
    errors = [abs(line.composed["signed_error"]) for line in lines if line.composed]
    if errors:
        within = sum(error <= MOST_ERROR for error in errors)
        rows.append(["the same, composed as `oplat fit` learned from the other nets", f"{within} of {len(lines)}; largest error {text.percent(max(errors))}", ">= 6, all",
                     verdict(within, lines, drawn)])
    return text.table(["figure", ">value", ">target", ""], rows)


def page(lines, population, oplat):
    device, setting = population["device"], population["setting"]
    minutes = sum(line.facts["seconds"] for line in lines) / 60
    head = ["net", ">image", ">operators", ">distinct", ">predicted", ">90 % interval", ">measured", ">its CI", ">error", "inside",
            ">composed", ">error", ">look-up table", ">error"]
    parts = [
        "# QNNPACK: int8 Caffe2 nets, predicted and measured",
        f"Written by `bench/qnnpack.py` on {text.today()}, commit {text.commit()}: {text.machine(device)}; load average "
        f"{lines[0].facts['load']} at the start, {text.load()} at the end (1, 5, 15 minutes). {setting['runtime']} {setting['version']}, "
        f"{setting['threads']} thread(s). {oplat}.",
        "Each net's operators were measured one by one, the net end to end on the same kernels; *predicted* is the sum at the net's cache state, "
        f"nothing fitted; *composed* is by a [composition](../guide/predicting.md#how-kernels-add-up) that `oplat fit` learned from nets of the other families that were measured to 3 %. Profiling took {minutes:.1f} minutes in all. The nets are those of `scripts/zoo/caffe2_nets.py`; ChamNet-A, where it stands here, is the "
        "published net, which is not part of this project. *Look-up table* is what `oplat lut` prints from the JSON Lines file of "
        "`oplat lut build`: the median of each operator with its weights in the cache, as the original's tables have it, which is less than a net "
        "whose weights do not fit takes. *Error* is predicted over measured less one.",
        "\n".join(targets(lines)),
        "\n".join(text.table(head, [line.cells() for line in lines])),
        f"{sum(line.half_width() <= MOST_OWN_CI for line in lines)} of {len(lines)} nets could be measured to {100 * MOST_OWN_CI:.0f} % within the budget. The error of "
        "the others says as much of the disturbed machine as of the sum.",
        "A call of `oplat lut`, process included, took "
        f"{1e3 * sorted(line.lookup['seconds'] for line in lines)[len(lines) // 2]:.0f} ms (median of the nets).",
        "QNNPACK's kernels were written for 32- and 64-bit ARM phones; on x86 it has little more than a reference, slower than newer int8 kernels and "
        "than fp32 ([ADR 0011](../adr/0011-qnnpack.md)). The times above say how well sums of its operators make nets, not how fast int8 can be here.",
    ]
    return "\n\n".join(parts) + "\n"
