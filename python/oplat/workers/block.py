# SPDX-License-Identifier: Apache-2.0
"""One block of rounds over open handles, as src/runtimes/block_loop.cpp does it for workers in C++."""
import math
import time

from .errors import Failed, usage
from .rounds import RoundsAlone

MOST_SAMPLES = 400_000
COMPUTE_REPEATS = 5
MEMORY_REPEATS = 3
WAKE_NS = 200_000  # several times what a sleeping thread takes to be on its CPU again
WATCHED_NS = 3_000_000  # looks within a call take half a percent of it
APART_EVERY_S = 0.02  # between two looks whether the cores are apart; each takes some 0.3 ms
TICK_NS = 10_000_000
LEAST_LOAD_NS = 50_000_000  # the system counts in ticks of some ms: over a shorter time the difference says nothing


def run_once(run, handle):
    try:
        ns = run(handle)
    except Exception as error:  # whatever a runtime throws is this kernel's failure
        raise Failed(str(error) or type(error).__name__) from error
    if not math.isfinite(ns) or ns < 0:
        raise Failed(f"the runtime gave a time of {ns} ns")
    return float(ns)


class Block:
    """A request of the method `block`, and what came of it."""

    def __init__(self, probe, run, request):
        self.probe, self.run = probe, run
        self.handles = request["handles"]
        if not self.handles:
            raise usage("block: no handles")
        self.duration_ns = request.get("duration_ns", 100_000_000)
        self.least_rounds = request.get("least_rounds", 3)
        self.most_rounds = min(request.get("most_rounds", 100_000), MOST_SAMPLES // len(self.handles))
        self.warmup_rounds = request.get("warmup_rounds", 1)
        self.scrub_bytes = request.get("scrub_bytes", 0)
        self.scrub_threads = request.get("scrub_threads", 1)
        self.references = request.get("references", True)
        self.wake_handle = request.get("wake")
        self.wants_alone = request.get("alone", True)
        self.threads_apart = request.get("apart", 1)
        self.patience_ns = request.get("patience_ns", 0)
        self.best_cores = dict(request.get("best_cores", {}))
        self.apart, self.waited_ns = True, 0  # as far as was looked
        self.rounds = RoundsAlone(self.duration_ns, self.least_rounds)
        if self.least_rounds > self.most_rounds:
            raise usage(f'block: "least_rounds" of {self.least_rounds} is above {self.most_rounds}')

    def samples(self):
        """The protocol's `samples`."""
        try:
            self._wait_until_apart()
            found = {"reference_compute_ns": None, "reference_memory_ns": None}
            if self.references:
                found["reference_compute_ns"] = self.probe.reference("compute", COMPUTE_REPEATS)
                found["reference_memory_ns"] = self.probe.reference("memory", MEMORY_REPEATS)
            for _ in range(self.warmup_rounds):
                for handle in self.handles:
                    run_once(self.run, handle)
            self._scrub()  # the first one allocates its buffer, which is no part of the block
            return found | self._counted()
        except OSError as error:
            raise Failed(error.strerror) from error

    def _counted(self):
        before, begin = self.probe.counters(), self.probe.now_ns()
        times = self._timed()
        after, elapsed = self.probe.counters(), self.probe.now_ns() - begin
        rounds = max(1, len(times[0]))
        shared = self.rounds.keep(times)
        # Of the rounds that count: the others are not held against the block.
        switches = round((after.involuntary_switches - before.involuntary_switches) * len(times[0]) / rounds)
        self.apart = self.apart and self._is_apart()
        stolen = math.ceil((shared if self.apart else 1) * elapsed / TICK_NS)
        found = {"ns": times, "faults": after.faults - before.faults, "switches": switches, "steal_ticks": stolen, "other_load": None,
                 "waited_ns": self.waited_ns, "best_cores": self.best_cores}
        if before.steal_known and after.steal_known:
            found["steal_ticks"] += max(0, after.steal_ticks - before.steal_ticks)
            if elapsed >= LEAST_LOAD_NS:
                others = (after.busy_ns - before.busy_ns) - (after.own_cpu_ns - before.own_cpu_ns)
                found["other_load"] = shared + max(0.0, others / elapsed)
        return found

    def _is_apart(self):
        return self.threads_apart < 2 or self.probe.apart(self.threads_apart, self.best_cores)

    def _wait_until_apart(self):
        begin = self.probe.now_ns()
        self.apart = self._is_apart()
        while not self.apart and self.waited_ns < self.patience_ns:
            time.sleep(APART_EVERY_S)
            self.waited_ns = self.probe.now_ns() - begin
            self.apart = self._is_apart()

    def _timed(self):
        times = [[] for _ in self.handles]
        begin = self.probe.now_ns()
        usual = [0.0] * len(self.handles)
        while len(self.rounds.shared) < self.most_rounds and not self.rounds.enough(self.probe.now_ns() - begin):
            looks = []
            for index, handle in enumerate(self.handles):
                self._scrub()
                self._wake()
                usual[index] = self._watched_run(handle, usual[index], looks) if self.wants_alone else run_once(self.run, handle)
                times[index].append(usual[index])
            self.rounds.add(sum(looks) / len(looks) if looks else 0.0)
        return times

    def _watched_run(self, handle, usual, looks):
        """A call with looks at the core before and after it and, where the last one was long, within. `looks` gets 1 for each that found it shared."""
        looks.append(not self.probe.alone())
        within = usual >= WATCHED_NS and self.probe.watch_begin()
        try:
            ns = run_once(self.run, handle)
        finally:
            watch = self.probe.watch_end() if within else None
        if watch:
            looks += [1] * watch.shared + [0] * (watch.looks - watch.shared)
            ns = max(0.0, ns - watch.own_ns)
        looks.append(not self.probe.alone())
        return ns

    def _scrub(self):
        if self.scrub_bytes:
            self.probe.scrub(self.scrub_bytes, self.scrub_threads)

    def _wake(self):
        if self.wake_handle is None or not self.scrub_bytes:
            return
        begin = self.probe.now_ns()
        while True:
            run_once(self.run, self.wake_handle)
            if self.probe.now_ns() - begin >= WAKE_NS:
                return
