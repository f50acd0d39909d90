# SPDX-License-Identifier: Apache-2.0
"""docs/reference/support.md, from the results of bench/breadth.py."""
import re
from collections import Counter, defaultdict

from lib import text

NEAR = 1.1
MAX_REASON = 240
MAX_LISTED = 40


def is_near(time_of):
    """Whether the measured time is within the interval of the prediction or 10 %; None without
    both."""
    predicted, measured = time_of.get("predicted_ns"), (time_of.get("measured") or {}).get("median_ns")
    if not predicted or not measured:
        return None
    low, high = time_of.get("interval_ns") or (predicted, predicted)
    return min(low, predicted / NEAR) <= measured <= max(high, predicted * NEAR)


def verdict_of(run, label, reasons):
    """("supported" | "caveat" | "refused" | "left out" | "open", why)."""
    plan = run.plans.of.get(label)
    if plan is None:
        return "open", ""
    if plan["exit"] != 0:
        return ("left out", "") if plan["runtime"] in ("load", "run") else ("refused", plan["reason"])
    for key in plan["keys"]:
        again = run.rebuilt.of.get(key)
        if again is None:
            return "open", ""
        if again["outcome"] != "same":
            differs = again["outcome"].startswith("another key")
            return "caveat", "a kernel built from its key is planned as another one" if differs else f"no kernel can be measured: {again['outcome']}"
        if key in reasons:
            return "caveat", f"its kernel was not measured: {reasons[key]}"
    if is_near(run.times.of.get(label, {})) is False:
        return "caveat", "its measured time lies outside the interval"
    return "supported", ""


def kind_of(reason):
    """A reason without what differs from model to model."""
    reason = re.sub(r"^oplat: (error: )?(MODEL: )?", "", " ".join((reason or "").split()))
    reason = re.sub(r"; the values of inputs? .* were made up by oplat.*", "; values that oplat made up for an input do not suit it", reason)
    reason = re.sub(r"\b(operand|result) \d+ is not a tensor.*", "an operand or result is not a tensor", reason)
    reason = re.sub(r"input '[^']*' has the shape \[[\d,]*\]", "an input has a dimension of 0", reason)
    reason = re.sub(r"(input|node|Name:|tensor) ?'[^']*'", r"\1", reason)
    reason = re.sub(r"/onnxruntime_src/\S+ ((virtual )?onnxruntime::\S+ )?", "", reason)
    reason = re.sub(r"\binput is (no|not a) tensor", "an input is not a tensor", reason)
    reason = reason.replace("|", "/").replace("<", "(").replace(">", ")")
    return reason if len(reason) <= MAX_REASON else reason[:MAX_REASON - 3] + "..."


def head(version, hello, by_operator, run):
    counts = Counter(verdict for verdicts in by_operator.values() for verdict, _ in verdicts)
    tried = sum(counts.values()) - counts["left out"] - counts["open"]
    operators = sum(any(verdict not in ("left out", "open") for verdict, _ in verdicts) for verdicts in by_operator.values())
    outcomes = Counter(each["outcome"] == "same" for each in run.rebuilt.of.values())
    lines = ["# Supported operators", "",
             f"`bench/breadth.py` tried {text.counted(tried, 'small model')} of {text.counted(operators, 'operator')}, which ONNX Runtime {hello['version']} executes on "
             f"CPU, on {text.today()}. [Some operators](#not-tried) have no model. It wrote this page with {version}, on {text.machine(hello['device'])}.", "",
             "| outcome | models | meaning |", "| --- | ---: | --- |",
             f"| supported | {counts['supported']:,} | planned; each kernel is built again from its key and runs |",
             f"| caveat | {counts['caveat']:,} | planned, but its time is an estimate or differs; the reason says why |",
             f"| refused | {counts['refused']:,} | no plan; the message says why |", ""]
    if counts["open"]:
        lines += [f"Not tried yet: {text.counted(counts['open'], 'model')}.", ""]
    lines += [f"{text.counted(outcomes[True] + outcomes[False], 'kernel')}: {outcomes[True]:,} of them, built again from their keys, are planned with the same key. "
              f"ONNX Runtime itself does not execute {text.counted(counts['left out'], 'further model')}, which are left out.", ""]
    return lines


def blocks_text(run, labels):
    blocks = sorted(run.times.of[label]["measured"]["blocks"] for label in labels) or [0]
    return f"each whole model was measured in {blocks[0]} to {blocks[-1]} blocks, {blocks[len(blocks) // 2]} in the median"


def times_section(run):
    near = {label: is_near(each) for label, each in run.times.of.items()}
    compared = [label for label, value in near.items() if value is not None]
    planned = sum(1 for plan in run.plans.of.values() if plan["exit"] == 0 and plan["keys"])
    outside = sorted(label for label in compared if not near[label])
    lines = ["## Times", "",
             f"Of {text.counted(planned, 'planned model')}, {text.counted(len(compared), 'model')} were predicted from their kernels and measured; load average "
             f"{run.facts.of.get('load_before', '?')} at the start, {run.facts.of.get('load_after', '?')} at the end (1, 5, 15 minutes). They were chosen in "
             f"rounds of one model of each operator (seed {run.seed}); {blocks_text(run, compared)}. "
             f"{len(compared) - len(outside):,} times lie within the 90 % interval of the prediction or 10 %; {len(outside):,} do not.", ""]
    without = sum(1 for value in near.values() if value is None)
    if without:
        lines += [f"{text.counted(without, 'further model')} had no time to compare.", ""]
    if outside:
        lines += text.table(["model", ">predicted", ">measured", ">interval"], [
            [f"`{label}`", text.duration(run.times.of[label]["predicted_ns"]), text.duration(run.times.of[label]["measured"]["median_ns"]),
             " to ".join(map(text.duration, run.times.of[label]["interval_ns"]))] for label in outside[:MAX_LISTED]]) + [""]
        if len(outside) > MAX_LISTED:
            lines += [f"{len(outside) - MAX_LISTED} more are outside.", ""]
    return lines


def operators_section(run, by_operator, versions, with_times):
    near = defaultdict(Counter)
    for operator, label, _ in run.models:
        value = is_near(run.times.of.get(label, {}))
        if value is not None:
            near[operator][value] += 1
    columns = ["operator", "versions", ">supported", ">caveat", ">refused", *([">times"] if with_times else [])]
    rows = []
    for operator, verdicts in sorted(by_operator.items()):
        each = Counter(verdict for verdict, _ in verdicts)
        if each["left out"] == len(verdicts):
            continue
        times = [f"{near[operator][True]} of {sum(near[operator].values())}" if near[operator] else ""] if with_times else []
        rows.append([f"`{operator}`", ", ".join(map(str, sorted(versions[operator]))), *(str(each[name] or "") for name in ("supported", "caveat", "refused")),
                     *times])
    meaning = "`versions` are those of the operator's definition. "
    if with_times:
        meaning += "`times` says how many of the compared times are within the interval or 10 %. "
    return ["## Operators", "", meaning.strip(), ""] + text.table(columns, rows) + [""]


def reasons_section(by_operator):
    """Why models have a caveat or were refused, the most frequent reason first."""
    lines = []
    for verdict, title in (("caveat", "Caveats"), ("refused", "Refused")):
        models, operators = Counter(), defaultdict(set)
        for operator, verdicts in by_operator.items():
            for each, reason in verdicts:
                if each == verdict:
                    models[kind_of(reason)] += 1
                    operators[kind_of(reason)].add(operator)
        if models:
            lines += [f"## {title}", ""]
            lines += [f"- {reason} ({text.counted(count, 'model')}): {', '.join(f'`{name}`' for name in sorted(operators[reason]))}."
                      for reason, count in sorted(models.items(), key=lambda each: (-each[1], each[0]))]
            lines.append("")
    return lines


def left_out_section(run, kernels):
    tried = {operator for operator, _, _ in run.models}
    seen = {key.split("{")[0].split("/")[0].split("@")[0] for plan in run.plans.of.values() for key in plan.get("keys", ())}
    missing = sorted(set(kernels) - tried - seen)
    if not missing:
        return []
    return ["## Not tried", "", f"ONNX Runtime registers kernels for CPU of {text.counted(len(missing), 'further operator')}, of which the run has no model: "
            + ", ".join(f"`{name}`" for name in missing) + ".", ""]


def page_text(run, version, hello, kernels):
    reasons = run.reasons()
    by_operator, versions = defaultdict(list), defaultdict(set)
    for operator, label, since in run.models:
        verdict = verdict_of(run, label, reasons)
        by_operator[operator].append(verdict)
        if verdict[0] not in ("left out", "open"):
            versions[operator].add(since)
    lines = head(version, hello, by_operator, run)
    if run.times.of:
        lines += times_section(run)
    lines += reasons_section(by_operator)
    lines += operators_section(run, by_operator, versions, bool(run.times.of))
    lines += left_out_section(run, kernels)
    return "\n".join(lines).rstrip() + "\n"
