# SPDX-License-Identifier: Apache-2.0
"""The steps of the accuracy command. Each leaves its results in the table or in the store and skips
what is there."""
import json
import subprocess
import tempfile
import time
from pathlib import Path

from lib import text
from lib.oplat import PINNED_PYTHON, ROOT, RUNTIME, Failed, say
from lib.settings import networks_of, zoo_networks


# What the steps after profiling take, and the least that a call of `oplat profile` is given.
RESERVE_SECONDS = 240
LEAST_SECONDS = 10
# A network end to end takes about as long as so many of its kernels.
KERNELS_OF_A_MODEL = 10


def distinct_kernels(oplat, store, network):
    """How many kernels there are to measure, by the runtime's plan."""
    kernels = store.section("kernels")
    if network.name not in kernels:
        plan = store.section("plans", network.name)
        document = oplat.timed_json(plan, store.save, "plan", network.path, "--runtime", RUNTIME, "--quiet")
        kernels[network.name] = len({kernel["key"] for kernel in document["kernels"]})
        store.save()
    return kernels[network.name]


def profile_network(oplat, store, setting, network, options, budget):
    """Measures kernels and the whole model into the table, in `budget` seconds (None: until every
    row is good enough)."""
    call = store.section("calls", setting.name, network.name)
    arguments = ["profile", "--table", options.table, "--runtime", RUNTIME, "--threads", setting.threads, "--quiet", "--model", network.path]
    if budget is not None:
        arguments += ["--budget", f"{budget:.0f}s"]
    say(f"== {setting.title}: {network.name}{'' if budget is None else f', at most {budget:.0f} s'}; load {text.load()}")
    summary = oplat.timed_json(call, store.save, *arguments)
    if summary["interrupted"]:
        raise Failed("interrupted; run this command again to resume")
    store.section("profiling", setting.name)[network.name] = {"rows": summary["rows"]["total"], "budget_ended": summary["budget_ended"], "load": text.load(),
                                                              "date": text.today()}
    store.save()
    say(f"   {call['seconds']:.0f} s, {summary['rows']['total']} rows, {summary['blocks']} blocks")


def profile(oplat, store, settings, networks, options):
    """Profiles every network of every setting. Within a time for all of it each gets a share by its
    kernels, and what one leaves is for those behind it; what remains in the end is for those that
    would have used more."""
    todo = [(setting, network) for setting in settings for network in networks_of(setting, networks)]
    fresh = [(s, n) for s, n in todo if options.recheck or n.name not in store.section("profiling", s.name)]
    if options.within == 0:
        for setting, network in fresh:
            profile_network(oplat, store, setting, network, options, None)
        return
    limit = 60 * options.within - RESERVE_SECONDS
    weights = [distinct_kernels(oplat, store, network) + KERNELS_OF_A_MODEL for _, network in fresh]
    for at, (setting, network) in enumerate(fresh):
        share = (limit - seconds_of(store, settings)) * weights[at] / sum(weights[at:])
        profile_network(oplat, store, setting, network, options, max(share, LEAST_SECONDS))
    ended = [(s, n) for s, n in todo if store.section("profiling", s.name)[n.name]["budget_ended"]]
    for at, (setting, network) in enumerate(ended):
        share = (limit - seconds_of(store, settings)) / (len(ended) - at)
        if share >= LEAST_SECONDS:
            profile_network(oplat, store, setting, network, options, share)


def session_profile(network, threads):
    """What bench/session_profile.py says of a network, run with the pinned Python."""
    done = subprocess.run([PINNED_PYTHON, ROOT / "bench/session_profile.py", network.path, "--threads", str(threads)], text=True, check=False,
                          stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise Failed(f"bench/session_profile.py {network.name}: exit {done.returncode}")
    return json.loads(done.stdout)


def session_profiles(store, setting, networks):
    """The runtime's own profile of each network, summed."""
    section = store.section("session_profile", setting.name)
    for network in networks_of(setting, networks):
        if network.name in section:
            continue
        say(f"== {setting.title}: the runtime's own profile of {network.name}")
        start = time.monotonic()
        section[network.name] = session_profile(network, setting.threads) | {"seconds": time.monotonic() - start}
        store.save()


def fits(oplat, store, settings, options):
    """`oplat fit` for each number of threads; gives its document by threads. Families are left out
    whole."""
    documents = {}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as groups:
        groups.writelines(f"{network.path.name}\t{network.family}\n" for network in zoo_networks([]))
        groups.flush()
        for threads in sorted({setting.threads for setting in settings}):
            say(f"== fit, {threads} thread(s)")
            start = time.monotonic()
            documents[threads] = oplat.json("fit", options.table, "--runtime", RUNTIME, "--threads", threads, "--groups", groups.name)
            store.section("fit")[str(threads)] = {"seconds": time.monotonic() - start}
    store.save()
    return documents


def predictions(oplat, setting, networks, options):
    """`oplat predict --per-op` of each network whose plan the table holds, by name."""
    found = {}
    for network in networks_of(setting, networks):
        # Exit 4: kernels are missing and the document is printed, or the plan is missing and
        # nothing is.
        output = oplat.text("predict", network.path, "--table", options.table, "--runtime", RUNTIME, "--threads", setting.threads, "--plan",
                            "cached", "--per-op", "--json", allowed=(0, 4), quiet=True)
        if output:
            found[network.name] = json.loads(output)
        else:
            say(f"{setting.title}: the table holds no plan of {network.name}")
    return found


def measured_models(fit, setting, networks):
    """The fit's left-out entries of this setting's networks, by name, in the order of the zoo."""
    entries = {Path(entry["name"]).stem: entry for entry in fit["left_out"]}
    return {n.name: entries[n.name] for n in networks_of(setting, networks) if n.name in entries}


def seconds_of(store, settings):
    """Wall time of the command's steps for these settings."""
    total = 0.0
    for setting in settings:
        for step in ("calls", "session_profile"):
            total += sum(entry.get("seconds", 0.0) for entry in store.section(step, setting.name).values())
    return total + sum(entry["seconds"] for step in ("plans", "fit") for entry in store.section(step).values())
