# SPDX-License-Identifier: Apache-2.0
"""The page `unseen` of docs/results from predictions and measured times of models whose families no
kernel was measured for."""
import statistics
from collections import Counter
from dataclasses import dataclass, field

from lib import judging, text
from lib.accuracy_page import MOST_OWN_CI, target_row
from lib.rival_predictors import METHODS

MOST_MAPE = {"fp32": 0.035, "int8": 0.05, "fp32-2t": 0.06}
BANDS = (("under 1 ms", 0, 1e6), ("1 to 10 ms", 1e6, 1e7), ("above 10 ms", 1e7, float("inf")))


@dataclass
class Line:
    """One model under one setting."""

    name: str
    family: str
    measured: dict  # latency_ns, ci_ns, and what unseen_steps.joined says of its rounds
    predicted: dict  # latency_ns, interval_ns, missing, time by source
    rivals: dict = field(default_factory=dict)  # method: ns
    times: list = field(default_factory=list)  # of its rounds, ns

    @property
    def measured_ns(self):
        return self.measured["latency_ns"]

    @property
    def own_half_width(self):
        low, high = self.measured["ci_ns"]
        return (high - low) / 2 / self.measured_ns

    @property
    def is_counted(self):
        return self.own_half_width <= MOST_OWN_CI

    @property
    def error(self):
        ns = self.predicted["latency_ns"]
        return None if ns is None else ns / self.measured_ns - 1

    @property
    def is_inside(self):
        return self.holds(self.measured_ns)

    def holds(self, ns):
        low, high = self.predicted["interval_ns"]
        return low <= ns <= high

    @property
    def half_width(self):
        low, high = self.predicted["interval_ns"]
        return (high - low) / 2 / self.predicted["latency_ns"]

    def rival_error(self, method):
        ns = self.rivals.get(method)
        return None if ns is None else ns / self.measured_ns - 1


@dataclass
class Part:
    """One setting: its models, and the errors of further tables by name."""

    setting: object
    lines: list
    further: dict = field(default_factory=dict)  # title of a table: {model: error}

    @property
    def counted(self):
        return [line for line in self.lines if line.is_counted]

    @property
    def answered(self):
        return [line for line in self.counted if line.error is not None]

    @property
    def errors(self):
        return [line.error for line in self.answered]


def share_row(part, bound, least):
    share = judging.within(part.errors, bound, len(part.counted))
    return target_row(f"within {text.percent(bound, 0)}, {part.setting.title}, {text.counted(len(part.counted), 'model')}", text.percent(share), f">= {text.percent(least, 0)}", share >= least)


def own_estimate(part, expected):
    """What the profile said of such models over what became of them: it speaks of one that is timed
    at one moment, so of the times of each round."""
    value = expected.get(part.setting.name)
    if not value or not part.answered:
        return []
    truth = statistics.fmean(abs(line.predicted["latency_ns"] / ns - 1) for line in part.answered for ns in line.times or [line.measured_ns])
    factor = value / truth
    return [target_row(f"the profile's own estimate of the error of one time, {part.setting.title}, over the truth", f"{text.percent(value, 2)} over {text.percent(truth, 2)}, a factor of {factor:.2f}",
                       "1/1.5 to 1.5", 1 / 1.5 <= factor <= 1.5)]


def targets_part(parts, facts):
    rows = []
    for part in parts:
        if not part.errors:
            continue
        if part.setting.states_within:
            worst = max(map(abs, part.errors))
            rows += [share_row(part, 0.05, 0.85), share_row(part, 0.10, 0.97),
                     target_row(f"worst, {part.setting.title}", text.percent(worst), "<= 20 %", worst <= 0.20 and len(part.errors) == len(part.counted))]
        limit, value = MOST_MAPE[part.setting.name], judging.mape(part.errors)
        rows.append(target_row(f"MAPE, {part.setting.title}, {len(part.errors)} of {text.counted(len(part.counted), 'model')}", text.percent(value, 2), f"<= {text.percent(limit)}", value <= limit))
        short = list(part.further.get("short", {}).values())
        if short:
            value = judging.mape(short)
            rows.append(target_row(f"MAPE within {facts['short_budget']}, {part.setting.title}, {text.counted(len(short), 'model')}", text.percent(value, 2), "<= 8 %", value <= 0.08))
        full = list(part.further.get("full", {}).values())
        if full:
            rows.append([f"MAPE with every kernel measured, {part.setting.title}, {text.counted(len(full), 'model')}", text.percent(judging.mape(full), 2), "", ""])
        if part.setting.states_within:
            tau = judging.kendall([(line.predicted["latency_ns"], line.measured_ns) for line in part.answered])
            if tau is not None:
                rows.append(target_row(f"Kendall's tau, {part.setting.title}", f"{tau:.3f}", ">= 0.98", tau >= 0.98))
    pooled = [line for part in parts for line in part.answered]
    if pooled:
        inside, half = sum(line.is_inside for line in pooled) / len(pooled), statistics.median(line.half_width for line in pooled)
        rows.append(target_row(f"inside the 90 % interval, {len(pooled)} predictions of all settings", text.percent(inside), "85 to 95 %", 0.85 <= inside <= 0.95))
        held = [line.holds(ns) for line in pooled if len(line.times) > 1 for ns in line.times]
        if held:
            inside = sum(held) / len(held)
            rows.append(target_row(f"the same of the times of each round that counts, {len(held)} in all", text.percent(inside), "85 to 95 %", 0.85 <= inside <= 0.95))
        rows.append(target_row("median half-width of the interval", text.percent(half, 2), "<= 7 %", half <= 0.07))
    rows += [row for part in parts for row in own_estimate(part, facts.get("expected_error") or {})]
    return ["", "## Targets", "", *text.table(["figure", ">value", ">target", ""], rows)]


def error_cells(errors, digits=1):
    """How many, MAPE, mean signed error, and shares within 5 and 10 %."""
    return [str(len(errors)), text.percent(judging.mape(errors), digits), text.signed_percent(statistics.fmean(errors)),
            text.percent(judging.within(errors, 0.05, len(errors)), 0), text.percent(judging.within(errors, 0.10, len(errors)), 0)]


def rivals_part(parts):
    rows = []
    for part in parts:
        if not part.errors:
            continue
        rows.append([part.setting.title, "oplat", *error_cells(part.errors), ""])
        for method, title in METHODS:
            both = [(line.error, line.rival_error(method)) for line in part.answered if line.rival_error(method) is not None]
            if not both:
                continue
            theirs = [b for _, b in both]
            mean, low, high = judging.difference([a for a, _ in both], theirs)
            verdict = "worse" if low > 0 else "better" if high < 0 else "not told apart"
            rows.append([part.setting.title, title, *error_cells(theirs), f"{100 * mean:+.1f} ({100 * low:+.1f} to {100 * high:+.1f}) points, {verdict}"])
    lines = ["", "## Compared with simpler ways", ""]
    lines += text.table(["setting", "way", ">models", ">MAPE", ">mean signed error", ">within 5 %", ">within 10 %", "its MAPE less oplat's (95 % CI)"], rows)
    lines += ["", "All ways are fitted to the same rows. *Proportional to FLOPs*: one rate, the median over rows weighted by their time. *Roofline*: per operator class the larger of FLOPs "
              "over a rate and bytes over a bandwidth. *nn-Meter's recipe*: a random forest for each kind of kernel on raw sizes, attributes, FLOPs and weights, the sum of its estimates; "
              "50 trees, a third of the features at each split. The interval is that of a paired bootstrap over models."]
    return lines


def bands_part(parts):
    pooled = [line for part in parts for line in part.answered]
    rows = []
    for title, low, high in BANDS:
        some = [line for line in pooled if low <= line.measured_ns < high]
        if some:
            errors = [line.error for line in some]
            rows.append([title, str(len(some)), text.percent(judging.mape(errors)), text.signed_percent(statistics.fmean(errors)), text.percent(max(map(abs, errors))),
                         text.percent(sum(line.is_inside for line in some) / len(some), 0), text.percent(statistics.median(line.half_width for line in some))])
    return ["", "By measured latency, all settings together:", "",
            *text.table(["latency", ">models", ">MAPE", ">mean signed error", ">worst", ">inside", ">median half-width"], rows)]


def apart_part(parts):
    """The models that do not count, and all: whether those that do are like the others."""
    rows = []
    for part in parts:
        answered = [line for line in part.lines if line.error is not None]
        apart = [line for line in answered if not line.is_counted]
        for title, some in (("not counted", apart), ("all", answered)) if apart else ():
            rows.append([part.setting.title, title, *error_cells([line.error for line in some], 2), text.percent(sum(line.is_inside for line in some) / len(some), 0)])
    if not rows:
        return []
    return ["", f"Models whose own interval is wider than +-{text.percent(MOST_OWN_CI, 0)} do not count above. With them:", "",
            *text.table(["setting", "which", ">models", ">MAPE", ">mean signed error", ">within 5 %", ">within 10 %", ">inside"], rows)]


def sources(line):
    """Where the predicted time comes from, the largest shares first."""
    shares = sorted(((share, name) for name, share in line.predicted["time"].items() if share >= 0.005), reverse=True)
    return ", ".join(f"{name} {text.percent(share, 0)}" for share, name in shares[:3])


def model_row(line):
    if line.error is None:
        return [line.name, "-", "-", text.duration(line.measured_ns), f"+-{text.percent(line.own_half_width)}", "-", "-", f"{text.counted(len(line.predicted['missing']), 'kernel')} without an estimate"]
    low, high = line.predicted["interval_ns"]
    return [line.name, text.duration(line.predicted["latency_ns"]), f"{text.duration(low)} to {text.duration(high)}", text.duration(line.measured_ns), f"+-{text.percent(line.own_half_width)}",
            text.signed_percent(line.error), "yes" if line.is_inside else "**no**", sources(line)]


MODEL_HEAD = ["model", ">predicted", ">90 % interval", ">measured", ">its CI", ">error", "inside", "time from"]


def setting_part(part):
    lines = ["", f"## {part.setting.title}", "", *text.table(MODEL_HEAD, [model_row(line) for line in part.counted])]
    apart = [line for line in part.lines if not line.is_counted]
    if apart:
        lines += ["", f"Not counted, since their own interval is wider than +-{text.percent(MOST_OWN_CI, 0)}:", "", *text.table(MODEL_HEAD, [model_row(line) for line in apart])]
    return lines


def measured_earlier(facts):
    """A sentence if another commit of oplat than the one that predicts measured the rows."""
    others = [commit for commit in facts["measured_by"] if commit not in facts["oplat"]]
    if not others:
        return ""
    return (f"The rows were measured by commit {' and '.join(others)}; the predictions, by what the table says was learned from them, are of the commit above, and the profile's own estimate of "
            "the error is what it printed. ")


def rounds_of(parts):
    """What the rounds of measuring say of each other; nothing of models of one round."""
    measured = [line.measured for part in parts for line in part.lines]
    often = [one for one in measured if one.get("rounds", 1) > 1]
    if not often:
        return ""
    ranges = [one["range"] for one in often if "range" in one]
    apart = (f" Of those that count the longest is above the shortest by {text.percent(statistics.median(ranges))} in the median, by {text.percent(max(ranges))} at most."
             if ranges else "")
    return (f"{len(often)} such times were taken up to {max(one['rounds'] for one in often)} times, in rounds over all models: the median counts, of those not disturbed throughout where there are any."
            f"{apart} An interval is of a time that is taken at one moment, as in one round. ")


def page(parts, facts):
    families = Counter(line.family for part in parts for line in part.lines)
    budget = f", {facts['budget']} for each number of threads," if facts.get("budget") else ""
    took = f" in {facts['seconds'] / 60:.1f} min" if facts.get("seconds") else ""
    lines = [
        "# Models never seen: predicted against measured end to end", "",
        f"Written by `bench/unseen.py` on {text.today()}, commit {text.commit()}: {text.machine(facts['device'])}; load average {facts['load_before']} at the start, {text.load()} at the end "
        f"(1, 5, 15 minutes). {facts['oplat']}.", "",
        f"`oplat profile --space {facts['space']}`{budget} measured {facts['rows']:,} rows of kernels{took}. {measured_earlier(facts)}"
        f"The models are {len({line.name for part in parts for line in part.lines})} of {len(families)} families of `data/zoo.tsv` that the space holds no network of (`bench/lib/halves.py`: a hash of the "
        "family's name decides). No estimate is learned from them. On 2026-11-27 the kernels of twenty, and on 2026-11-28 those of up to forty more, whose predictions were bad were measured once, to find what was wrong "
        "([ADR 0060](../adr/0060-kernels-by-their-loops.md)). *Measured* is `oplat measure`: the median over blocks of their lower quartile, with its own 95 % confidence interval. "
        f"{rounds_of(parts)}*Error* is predicted over measured less one. *Time from*: shares of the predicted time by the estimates' sources.",
    ]
    lines += targets_part(parts, facts) + apart_part(parts) + bands_part(parts) + rivals_part(parts)
    for part in parts:
        lines += setting_part(part)
    return "\n".join(lines) + "\n"
