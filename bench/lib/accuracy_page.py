# SPDX-License-Identifier: Apache-2.0
"""docs/results/accuracy.md from what the table, the fits and the store hold."""
import statistics
from dataclasses import dataclass, field

from lib import text

MOST_OWN_CI = 0.03
MOST_SECONDS = 90 * 60
BANDS = (("under 1 ms", 0, 1e6), ("1 to 10 ms", 1e6, 1e7), ("above 10 ms", 1e7, float("inf")))
METHODS = (("unfitted", "the kernels' sum, nothing fitted"), ("profile", "the runtime's own profile, summed"),
           ("roofline", "roofline per operator class"), ("flops", "proportional to FLOPs"))


@dataclass
class Line:
    """One network under one setting."""

    name: str
    entry: dict  # of the fit's left_out
    baselines: dict = field(default_factory=dict)  # method: ns

    @property
    def measured(self):
        return self.entry["measured_ns"]

    @property
    def own_half_width(self):
        low, high = self.entry["measured_ci_ns"]
        return (high - low) / 2 / self.measured

    @property
    def counted(self):
        return self.own_half_width <= MOST_OWN_CI

    @property
    def error(self):
        return self.entry["predicted_ns"] / self.measured - 1

    @property
    def half_width(self):
        low, high = self.entry["interval_ns"]
        return (high - low) / 2 / self.entry["predicted_ns"]

    @property
    def inside(self):
        return bool(self.entry["inside_interval"])

    def baseline_error(self, method):
        ns = self.baselines.get(method)
        return None if ns is None else ns / self.measured - 1


@dataclass
class Part:
    """One setting of the page."""

    setting: object
    lines: list
    missing: list  # names of networks without a measurement and a prediction
    fit: dict

    @property
    def counted(self):
        return [line for line in self.lines if line.counted]

    @property
    def asked(self):
        """How many networks the page is meant to have in this setting."""
        return len(self.lines) + len(self.missing)


def error_figures(errors):
    """MAPE, bias, shares within 5 and 10 %; nothing without errors."""
    if not errors:
        return None
    within = lambda bound: sum(abs(e) <= bound for e in errors) / len(errors)
    return statistics.fmean(map(abs, errors)), statistics.fmean(errors), within(0.05), within(0.10)


def network_row(line):
    low, high = line.entry["interval_ns"]
    return [line.name, text.duration(line.entry["predicted_ns"]), f"{text.duration(low)} to {text.duration(high)}",
            text.duration(line.measured), f"+-{text.percent(line.own_half_width)}", text.signed_percent(line.error),
            "yes" if line.inside else "**no**", *(text.signed_percent(line.baseline_error(method)) for method, _ in METHODS)]


NETWORK_HEAD = ["network", ">predicted", ">90 % interval", ">measured", ">its CI", ">error", "inside", ">unfitted", ">own profile",
                ">roofline", ">FLOPs"]


def setting_part(part):
    composition = part.fit["composition"]
    lines = ["", f"## {part.setting.title}", "",
             f"The composition of this number of threads, fitted on all {part.fit['calibration_models']} models that were measured with it: "
             f"c0 {composition['c0_ns'] / 1000:.2f} us, c1 {composition['c1_ns']:.0f} ns a kernel, c2 {composition['c2_ns_per_byte'] * 1024:.1f} ns a KiB evicted, {composition['scale']:.3f} times the kernels ({composition['scale_int8']:.3f} those with 8-bit tensors), spread {text.percent(composition['sd_log'])}. "
             "Each line below was predicted from a fit without its family.", ""]
    lines += text.table(NETWORK_HEAD, [network_row(line) for line in part.counted])
    apart = [line for line in part.lines if not line.counted]
    if apart:
        lines += ["", f"Not counted, since their own interval is wider than +-{text.percent(MOST_OWN_CI, 0)}:", ""]
        lines += text.table(NETWORK_HEAD, [network_row(line) for line in apart])
    if part.missing:
        lines += ["", f"Without a measurement or a prediction: {', '.join(part.missing)}."]
    return lines


def methods_part(parts):
    rows = []
    for part in parts:
        ways = [("oplat, composition fitted on other families", [line.error for line in part.counted])]
        ways += [(title, [e for e in (line.baseline_error(method) for line in part.counted) if e is not None]) for method, title in METHODS]
        for title, errors in ways:
            figures = error_figures(errors)
            if figures:
                rows.append([part.setting.title, title, str(len(errors)), text.percent(figures[0]), text.signed_percent(figures[1]),
                             text.percent(figures[2], 0), text.percent(figures[3], 0)])
    lines = ["", "## Compared with simpler ways", ""]
    lines += text.table(["setting", "way", ">networks", ">MAPE", ">mean signed error", ">within 5 %", ">within 10 %"], rows)
    lines += ["", "*Proportional to FLOPs*: one rate for whole networks. *Roofline*: per operator class the larger of FLOPs over a rate and bytes "
              "over a bandwidth, both fitted to the measured kernels. Both are fitted to networks of other families. *The runtime's own profile*: "
              "the network itself is run under onnxruntime's profiler, so it needs the network on the device."]
    return lines


def target_row(what, figure, target, met):
    return [what, figure, target, "met" if met else "**not met**"]


def targets_part(parts, seconds):
    rows = []
    for part in parts:
        figures = error_figures([line.error for line in part.counted])
        if not figures:
            continue
        mape, bias, within5, within10 = figures
        setting = part.setting
        networks = f"{len(part.counted)} of {part.asked} networks"
        rows.append(target_row(f"MAPE, {setting.title}, {networks}", text.percent(mape, 2), f"<= {text.percent(setting.most_mape, 0)}", mape <= setting.most_mape))
        rows.append(target_row(f"mean signed error, {setting.title}", f"{100 * bias:+.2f} %", "within +-1.5 %", abs(bias) <= 0.015))
        if setting.states_within:
            rows.append(target_row(f"within 5 %, {setting.title}", text.percent(within5), ">= 90 %", within5 >= 0.9))
            rows.append(target_row(f"within 10 %, {setting.title}", text.percent(within10), "100 %", within10 == 1))
    pooled = [line for part in parts for line in part.counted]
    if pooled:
        inside = sum(line.inside for line in pooled) / len(pooled)
        half = statistics.median(line.half_width for line in pooled)
        names = f"{len(parts)} setting{'s' if len(parts) > 1 else ''}"
        rows.append(target_row(f"inside the 90 % interval, pooled over {names}", text.percent(inside), "85 to 97 %", 0.85 <= inside <= 0.97))
        rows.append(target_row("median half-width of the interval, pooled", text.percent(half, 2), "<= 6 %", half <= 0.06))
    rows.append(target_row("the whole command", f"{seconds / 60:.1f} min", "<= 90 min", seconds <= MOST_SECONDS))
    return ["", "## Targets", "", *text.table(["figure", ">value", ">target", ""], rows)]


def bands_part(parts):
    pooled = [line for part in parts for line in part.counted]
    rows = []
    for title, low, high in BANDS:
        members = [line for line in pooled if low <= line.measured < high]
        figures = error_figures([line.error for line in members])
        if figures:
            inside = sum(line.inside for line in members)
            rows.append([title, str(len(members)), f"{inside} ({text.percent(inside / len(members), 0)})", text.percent(figures[0]),
                         text.signed_percent(figures[1]), text.percent(statistics.median(line.half_width for line in members))])
    lines = ["", "By measured latency, all settings together:", ""]
    return lines + text.table(["latency", ">networks", ">inside the interval", ">MAPE", ">mean signed error", ">median half-width"], rows)


def effort_part(parts, store):
    rows = []
    for part in parts:
        name = part.setting.name
        steps = [sum(entry.get("seconds", 0.0) for entry in store.section(step, name).values()) for step in ("calls", "session_profile")]
        measured = str(len(part.lines)) + (f" of {part.asked}" if part.missing else "")
        rows.append([part.setting.title, measured, f"{steps[0] / 60:.1f} min", f"{steps[1] / 60:.1f} min"])
    return ["", "## Effort", "", *text.table(["setting", ">networks measured", ">profiling", ">the runtime's own profiles"], rows), "",
            "Rows that networks share are measured once, with the first of them."]


def page(parts, store, seconds, facts):
    setting = parts[0].fit["setting"]
    lines = [
        "# Accuracy: predicted against measured end to end", "",
        f"Written by `bench/accuracy.py` on {text.today()}, commit {text.commit()}: {text.machine(facts['device'])}; load average "
        f"{facts['load_before']} at the start, {text.load()} at the end (1, 5, 15 minutes). {setting['runtime']} {setting['version']}, options "
        f"{', '.join(f'{k} {v}' for k, v in sorted(setting['options'].items()))}. {facts['oplat']}.", "",
        "The networks are those of `data/zoo.tsv`. Every kernel of each is measured by itself; the prediction is the sum of its kernels at the "
        "network's cache state, composed by a model that was fitted on networks of other families. *Measured* is the median over blocks in fresh "
        "processes, with its own 95 % confidence interval. *Error* is predicted over measured less one.",
    ]
    lines += targets_part(parts, seconds) + bands_part(parts) + methods_part(parts)
    for part in parts:
        lines += setting_part(part)
    lines += effort_part(parts, store)
    return "\n".join(lines) + "\n"
