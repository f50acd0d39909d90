# SPDX-License-Identifier: Apache-2.0
"""How far runs of `oplat machine` differ: the curve pool by pool, next to how far the looks of one
run do, and the levels that were found in it; as a section of docs/results/machines.md."""
import statistics
from dataclasses import dataclass

from lib import text

HEADING = "Does the measured memory repeat?"
MAX_DIFFERENCE = 0.1
MAX_SECONDS = 30
COSTS = {"load_ns": "loads at random", "read_gb_per_s": "reads in order"}
# the quartile of looks on the slow side
DISTURBED = {"load_ns": "load_high_ns", "read_gb_per_s": "read_low_gb_per_s"}


@dataclass(frozen=True)
class Run:
    """One run: what it printed, the wall time of the whole command, and the load average before
    it."""

    document: dict
    seconds: float
    load: str

    @property
    def points(self):
        return {point["pool_bytes"]: point for point in self.document["memory"]["points"]}

    @property
    def ramps(self):
        """All that were found, as (first byte, last byte)."""
        memory = self.document["memory"]
        last = memory["last"] or {}
        found = [memory["own"], *(last.get(name) for name in ("loads", "reads", "middle"))]
        return [(ramp["lo_bytes"], ramp["hi_bytes"]) for ramp in found if ramp]

    def facts(self):
        """Sizes and costs that were derived from the curve: name -> (number or None, its text)."""
        memory, found = self.document["memory"], {}
        for level in self.document["levels"]:
            for field, words, shown in (("usable_bytes", "usable", size), ("load_ns", "a load", nanoseconds), ("read_gb_per_s", "in order", rate)):
                if level[field] is not None:
                    found[f"{level['name']}, {words}"] = (level[field], shown(level[field]))
        if memory["last"]:
            for end, words in (("lo_bytes", "begins to lose data"), ("hi_bytes", "has lost all")):
                found[f"last cache {words}"] = (memory["last"]["middle"][end], size(memory["last"]["middle"][end]))
        if memory["scrub_bytes"]:
            found["sufficient scrub"] = (memory["scrub_bytes"], size(memory["scrub_bytes"]))
        return found


def size(number):
    mib = number / 2**20
    return f"{mib:.3g} MiB" if mib < 1000 else f"{mib:.0f} MiB"


def nanoseconds(number):
    return f"{number:.3g} ns"


def rate(number):
    return f"{number:.3g} GB/s"


def difference(numbers):
    """The largest of them above the smallest, relative; None if one is missing."""
    return None if any(number is None for number in numbers) else max(numbers) / min(numbers) - 1


@dataclass(frozen=True)
class Pool:
    """A pool that every run looked at."""

    size_bytes: int
    costs: dict  # field of a point -> its value in each run
    disturbed: dict  # the same -> the quartile on the slow side
    on_ramp: bool  # of any run: a small shift of the ramp is a large difference here

    def difference(self, cost):
        return difference(self.costs[cost])

    def spread(self, cost):
        """How far the quartiles of looks are apart, in the run where they are furthest."""
        return max(difference(pair) for pair in zip(self.costs[cost], self.disturbed[cost], strict=True))

    def is_quiet(self, cost):
        """Whether each run found the same at all times: nobody else used cache or memory."""
        return self.spread(cost) <= MAX_DIFFERENCE


def compared(runs):
    """Pools that all runs looked at, by size, and the number of those that some left out."""
    if len(runs) < 2:
        raise ValueError("a comparison needs two runs or more")
    every = set().union(*(run.points for run in runs))
    common = sorted(set.intersection(*(set(run.points) for run in runs)))
    of_runs = lambda pool, fields: {cost: [run.points[pool][fields[cost]] for run in runs] for cost in COSTS}  # noqa: E731
    pools = [Pool(pool, of_runs(pool, dict(zip(COSTS, COSTS, strict=True))), of_runs(pool, DISTURBED),
                  any(low < pool < high for run in runs for low, high in run.ramps)) for pool in common]
    return pools, len(every) - len(common)


def figures(runs, pools):
    """Lines of the table of targets."""
    line = lambda name, shown, target, met: [name, shown, target, "met" if met else "**not met**"]  # noqa: E731
    slowest = max(run.seconds for run in runs)
    lines = [line("longest run", f"{slowest:.1f} s", f"<= {MAX_SECONDS} s", slowest <= MAX_SECONDS)]
    for cost, name in COSTS.items():
        every = [pool.difference(cost) for pool in pools]
        quiet = [pool.difference(cost) for pool in pools if pool.is_quiet(cost)]
        levels = [pool.difference(cost) for pool in pools if not pool.on_ramp]
        for words, largest in (("", max(every, default=None)), (f", quiet pools ({len(quiet)} of {len(pools)})", max(quiet, default=None))):
            lines.append(line(f"largest difference, {name}{words}", text.percent(largest), f"<= {text.percent(MAX_DIFFERENCE, 0)}", largest is not None and largest <= MAX_DIFFERENCE))
        lines.append([f"the same, pools outside of ramps ({len(levels)})", text.percent(max(levels, default=None)), "-", "-"])
        lines.append([f"largest difference of quartiles within a run, {name}", text.percent(max((pool.spread(cost) for pool in pools), default=None)), "-", "-"])
        lines.append([f"median difference, {name}", text.percent(statistics.median(every) if every else None), "-", "-"])
        within = sum(each <= MAX_DIFFERENCE for each in every)
        lines.append([f"pools within {text.percent(MAX_DIFFERENCE, 0)}, {name}", f"{within} of {len(every)}", "-", "-"])
    return lines


def section(runs, options=""):
    """Lines of Markdown below the heading. `options`: of the command, as typed."""
    pools, left_out = compared(runs)
    numbers = [str(number) for number in range(1, len(runs) + 1)]
    facts = [run.facts() for run in runs]
    names = list(dict.fromkeys(name for each in facts for name in each))
    derived = [[name, *(each[name][1] if name in each else "not found" for each in facts),
                text.percent(difference([each[name][0] if name in each else None for each in facts]))] for name in names]
    curve = [[size(pool.size_bytes), "yes" if pool.on_ramp else "no", *(cell for cost, shown in (("load_ns", nanoseconds), ("read_gb_per_s", rate))
              for cell in (*map(shown, pool.costs[cost]), text.percent(pool.difference(cost)), text.percent(pool.spread(cost))))] for pool in pools]
    loads = ", ".join(run.load.split()[0] for run in runs)
    walls = ", ".join(f"{run.seconds:.1f} s" for run in runs)
    passes = ", ".join(str(run.document["memory"]["passes"]) for run in runs)
    missing = f" Each run adds pools where its curve rises; not compared, since some run lacks them: {left_out}." if left_out else ""
    return [f"Written by `bench/machine_repeats.py{options}` on {text.today()}, commit {text.commit()}: {text.machine(runs[0].document['device'])}. "
            f"`oplat machine` ran {len(runs)} times on one core, in {walls} ({passes} passes); load average of the minute before each run: {loads}.", "",
            f"*Difference*: the largest of the runs above the smallest, at one pool. *Within a run*: its quartiles of looks, one above the other, in the run where they are furthest apart; both "
            f"quartiles are of looks at the same pool some seconds apart, so that other tenants of the host show there. A pool is *quiet* for loads, or for reads, if that is at most "
            f"{text.percent(MAX_DIFFERENCE, 0)}.{missing}", "",
            *text.table(["figure", ">value", ">target", "verdict"], figures(runs, pools)), "",
            "What was derived from the curves:", "",
            *text.table(["", *(f">run {number}" for number in numbers), ">difference"], derived), "",
            "The curves. *On a ramp*: a run found that a cache loses data there, so that a small shift is a large difference.", "",
            *text.table([">pool", "on a ramp", *(f">load, {number}" for number in numbers), ">difference", ">within a run", *(f">in order, {number}" for number in numbers), ">difference", ">within a run"],
                        curve)]
