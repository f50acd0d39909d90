# SPDX-License-Identifier: Apache-2.0
"""What a prediction is worth next to a measurement: right, warned, refused, or a silent wrong
number."""
import json
import subprocess
from dataclasses import dataclass, field

from lib import text
from lib.oplat import ROOT, RUNTIME

TOLERANCE = 0.15
CALL_SECONDS = 180
# Exit codes that docs/reference/exit-codes.md documents for a model that cannot be predicted.
REFUSALS = (2, 3, 4, 5, 6)
# A busy machine does not make a number right: such warnings excuse nothing.
OF_LOAD = ("busy machine", "retry-loaded", "at full clock")
# Nor does a time of the model itself, which whoever predicts an unknown model does not have.
OF_THE_MODEL = ("a time of this very model",)

INSIDE, NEAR, WARNED, REFUSED = "inside the interval", "within 15 %", "warned", "refused"
OPEN, SILENT, BROKEN = "OPEN", "SILENT", "BROKEN"
GOOD = (INSIDE, NEAR, WARNED, REFUSED)
ALL = (*GOOD, OPEN, SILENT, BROKEN)
EXPLANATION = (f"*{NEAR[0].upper()}{NEAR[1:]}*: outside the interval, but near. *Warned*: further off, and the prediction says why it may be. *Refused*: a documented exit "
               f"code and a message. *{OPEN}*: kernels were left when the time for measuring was over, or the model's own "
               f"time is not known to 15 % and its confidence interval touches the prediction's. *{SILENT}*: none of these, the number is just wrong. "
               f"*{BROKEN}*: a crash, or no answer. Warnings about a busy machine, or about a time of the very model, do not count.")
# How a prediction says that nobody tried to measure what it lacks.
NOT_TRIED = ("measure them (", "holds no rows")
TRIES = 3  # with a budget that doubles


@dataclass
class Outcome:
    """One model: what was predicted and what was measured; kept as a line of JSON."""

    name: str
    exit: int = 0  # of oplat predict; negative: a signal, or no answer in time
    message: str = ""  # last line of its messages, where it failed
    predicted_ns: float | None = None
    interval_ns: list | None = None
    measured_ns: float | None = None
    measured_ci_ns: list | None = None
    warnings: list = field(default_factory=list)
    load: str = ""  # load average when the model was done
    under_load: bool = False  # whether oplat saw other programs while it measured the model

    @property
    def error(self):
        if self.predicted_ns is None or not self.measured_ns:
            return None
        return self.predicted_ns / self.measured_ns - 1

    @property
    def beyond(self):
        """How far the measurement lies outside the interval, as a factor; 1 within it."""
        if self.interval_ns is None or not self.measured_ns:
            return 1.0
        low, high = self.interval_ns
        return max(1.0, low / self.measured_ns, self.measured_ns / high)

    @property
    def unsure(self):
        """Whether the model's own time is not known well enough to contradict the prediction."""
        if self.interval_ns is None or not self.measured_ns or not self.measured_ci_ns:
            return False
        low, high = self.measured_ci_ns
        return (high - low) / 2 > TOLERANCE * self.measured_ns and low <= self.interval_ns[1] and high >= self.interval_ns[0]

    @property
    def verdict(self):
        if self.exit in (4, 6) and any(words in self.message for words in NOT_TRIED):
            return OPEN
        if self.exit != 0:
            return REFUSED if self.exit in REFUSALS and self.message else BROKEN
        if self.error is None:
            return OPEN
        if self.beyond == 1:
            return INSIDE
        if abs(self.error) <= TOLERANCE:
            return NEAR
        if self.unsure:
            return OPEN
        return WARNED if self.warnings else SILENT


def call(oplat, *arguments, most_seconds=CALL_SECONDS):
    """(exit code, standard output, messages); -1 where the time is over."""
    try:
        done = subprocess.run(oplat.command(*arguments), text=True, errors="replace", capture_output=True, cwd=ROOT, timeout=most_seconds, check=False)
    except subprocess.TimeoutExpired:
        return -1, "", f"no answer within {most_seconds} s"
    return done.returncode, done.stdout, done.stderr


def last_line(messages):
    """What a call that failed says of it: its last message, warnings left out."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("oplat: ") and not line.startswith("oplat: warning:")]
    return (errors or lines or [""])[-1].removeprefix("oplat: ")


def caveats(document):
    return [warning for warning in document.get("warnings", []) if not any(words in warning for words in (*OF_LOAD, *OF_THE_MODEL))]


def predict(oplat, outcome, model, table, options=()):
    """Asks for the prediction of a model whose kernels the table holds."""
    outcome.exit, output, messages = call(oplat, "predict", model, "--table", table, "--runtime", RUNTIME, "--json", *options)
    if outcome.exit != 0:
        outcome.message = last_line(messages) or f"exit {outcome.exit} without a message"
        return
    document = json.loads(output)
    outcome.predicted_ns, outcome.interval_ns, outcome.warnings = document["latency_ns"], document["interval_ns"], caveats(document)


def measured(oplat, outcomes, models, table, options=()):
    """Puts the measured times of models, which the table may hold already, into their outcomes."""
    _, output, messages = call(oplat, "validate", *models, "--table", table, "--runtime", RUNTIME, "--json", "--quiet", *options)
    document = json.loads(output) if output.startswith("{") else {"models": [], "warnings": []}
    of = {model["name"]: model["measured"] for model in document["models"]}
    for outcome, model in zip(outcomes, models):
        timing = of.get(model.name)
        if timing is None:
            outcome.message = outcome.message or f"not measured: {last_line(messages)}"
            continue
        outcome.measured_ns, outcome.measured_ci_ns = timing["median_ns"], timing["ci_ns"]
        outcome.under_load = any(warning.startswith(f"{model.name} was measured on a busy machine") for warning in document["warnings"])


def finished(lines):
    """Names of the stored outcomes that need not be tried again: what a busy machine left open
    is."""
    return {name for name, line in lines.items() if Outcome(**line).verdict != OPEN}


def interval_text(outcome):
    return "-" if outcome.interval_ns is None else f"{text.duration(outcome.interval_ns[0])} to {text.duration(outcome.interval_ns[1])}"


def verdict_text(outcome):
    if outcome.verdict == REFUSED:
        return f"refused, exit {outcome.exit}"
    if outcome.verdict == BROKEN:
        return f"**broken**, exit {outcome.exit}"
    return outcome.verdict if outcome.verdict in GOOD else f"**{outcome.verdict.lower()}**"


def short(message, most=160):
    line = " ".join(message.split()).replace("|", "/")
    return line if len(line) <= most else line[: most - 3] + "..."


def load_lines(outcomes, before, after):
    """How busy the machine was, as a paragraph of a page."""
    busy = sum(outcome.under_load for outcome in outcomes)
    loads = [float(outcome.load.split()[0]) for outcome in outcomes if outcome.load]
    most = f"{max(loads):.2f}" if loads else "unknown"
    quiet = "The machine was quiet." if busy == 0 else (
        f"**Other programs ran meanwhile**: {busy} of {len(outcomes)} models were measured on a busy machine, so that times are too long and errors larger.")
    return (f"Load average {before} at the start, {after} at the end, at most {most} after a model. One busy core is the measuring itself. {quiet}")
