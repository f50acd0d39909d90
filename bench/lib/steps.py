# SPDX-License-Identifier: Apache-2.0
"""The steps of the accuracy command. Each leaves its results in the table or in the store and skips what is there."""
import json
import subprocess
import tempfile
import time
from pathlib import Path

from lib import text
from lib.oplat import PINNED_PYTHON, ROOT, RUNTIME, Failed, say
from lib.settings import networks_of, zoo_networks


def groups_of(items, size):
    return [items[at:at + size] for at in range(0, len(items), size)]


def profile(oplat, store, setting, networks, options):
    """Measures kernels and whole models into the table. A call with several networks shares its time among them."""
    section = store.section("profiling", setting.name)
    todo = [n for n in networks_of(setting, networks) if options.recheck or not section.get(n.name, {}).get("done")]
    for group in groups_of(todo, options.group):
        say(f"== {setting.title}: {' '.join(n.name for n in group)}; load {text.load()}")
        call = store.section("calls", setting.name, "+".join(n.name for n in group))
        arguments = ["profile", "--table", options.table, "--runtime", RUNTIME, "--threads", setting.threads, "--quiet"]
        for network in group:
            arguments += ["--model", network.path]
        if options.budget:
            arguments += ["--budget", options.budget]
        summary = oplat.timed_json(call, store.save, *arguments)
        if summary["interrupted"]:
            raise Failed("interrupted; run this command again to go on")
        for network in group:
            section[network.name] = {"done": True, "rows": summary["rows"]["total"], "with": len(group),
                                     "budget_ended": summary["budget_ended"], "load": text.load(), "date": text.today()}
        store.save()
        say(f"   {call['seconds']:.0f} s, {summary['rows']['total']} rows, {summary['blocks']} blocks")


def session_profiles(store, setting, networks):
    """The runtime's own profile of each network, summed."""
    section = store.section("session_profile", setting.name)
    for network in networks_of(setting, networks):
        if network.name in section:
            continue
        say(f"== {setting.title}: the runtime's own profile of {network.name}")
        start = time.monotonic()
        done = subprocess.run([PINNED_PYTHON, ROOT / "bench/session_profile.py", network.path, "--threads", str(setting.threads)],
                              text=True, check=False, stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise Failed(f"bench/session_profile.py {network.name}: exit {done.returncode}")
        section[network.name] = json.loads(done.stdout) | {"seconds": time.monotonic() - start}
        store.save()


def fits(oplat, store, settings, options):
    """`oplat fit` for each number of threads; gives its document by threads. Families are left out whole."""
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
        # Exit 4: kernels are missing and the document is printed, or the plan is missing and nothing is.
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
    return total + sum(entry["seconds"] for entry in store.section("fit").values())
