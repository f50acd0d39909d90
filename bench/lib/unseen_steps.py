# SPDX-License-Identifier: Apache-2.0
"""The steps of bench/unseen.py. Each leaves its results in a table or in the store and skips what
is there."""
import hashlib
import json
import statistics

from lib import text
from lib.halves import in_inventory
from lib.oplat import RUNTIME, Failed, say
from lib.rival_predictors import Row
from lib.settings import networks_of, zoo

SETS = ("demo", "zoo", "wide")
# Flags of a model's time that was disturbed throughout: other programs ran, or its cores were never
# alone, or not apart.
DISTURBED = {"under_load", "never_quiet"}
MIN_SECONDS, MAX_SECONDS = 4, 60  # for a model end to end, each time


def reported_networks(names):
    """The networks of families that no space is drawn from; with names only those."""
    recipes = {name: recipe for name, recipe in zoo.read_zoo().items() if recipe.set in SETS and not in_inventory(recipe.family)}
    unknown = [name for name in names if name not in recipes]
    if unknown:
        raise Failed(f"'{unknown[0]}' is not a network of a reported family in data/zoo.tsv")
    return [recipe for recipe in recipes.values() if not names or recipe.name in names]


def profile_space(oplat, store, table, budget, threads, options):
    """One budgeted run of `oplat profile --space`, which also fits the table; what it says of
    itself is kept."""
    section = store.section("profile", table.name, str(threads))
    if "summary" in section:
        return
    say(f"== profile of {options.space}, {threads} thread(s), within {budget} into {table.name}; load {text.load()}")
    section.setdefault("date", text.today())
    store.save()
    summary = oplat.timed_json(section, store.save, "profile", "--space", options.space, "--runtime", RUNTIME, "--threads", threads, "--budget", budget, "--table", table, "--quiet")
    if summary["interrupted"]:
        raise Failed("interrupted; run this command again to resume")
    section["summary"] = summary
    store.save()


def measure(oplat, store, settings, networks, options, rounds):
    """Times each network end to end, in rounds over all of them up to `rounds`, into tables of
    their own: what else the machine did for some minutes then meets one of the rounds. Within a
    time for all rounds that are wanted, each call gets an equal share of what is left."""
    todo = [(number, setting, network) for number in range(options.rounds) for setting in settings
            for network in networks_of(setting, networks)
            if number >= len(store.section("rounds", setting.name).get(network.name, []))]
    for at, (number, setting, network) in enumerate(todo):
        if number >= rounds:
            break
        share = MAX_SECONDS
        if options.within:
            share = (60 * options.within - seconds_of(store)) / (len(todo) - at)
        share = min(max(share, MIN_SECONDS), MAX_SECONDS)
        say(f"== {setting.title}: {network.name}, round {number + 1}, at most {share:.0f} s; load {text.load()}")
        call = store.section("calls", setting.name, f"{network.name}, round {number + 1}")
        try:
            found = oplat.timed_json(call, store.save, "measure", network.path, "--table", table_of_round(options.whole, number), "--runtime", RUNTIME,
                                     "--threads", setting.threads, "--budget", f"{share:.0f}s", "--quiet")["models"]
        except Failed as error:
            say(f"   {error}")
            found = []
        if found:
            kept = store.section("rounds", setting.name).setdefault(network.name, [])
            kept.append({"latency_ns": found[0]["latency_ns"], "ci_ns": found[0]["ci_ns"], "flags": found[0]["flags"], "date": text.today(), "load": text.load()})
            store.section("whole", setting.name)[network.name] = joined(kept)
            store.save()


def table_of_round(whole, number):
    return whole if number == 0 else whole.with_name(f"{whole.stem}-{number + 1}{whole.suffix}")


def that_count(rounds):
    """Those that were not disturbed throughout, or all if none was quiet, since rows are of any
    moment, too."""
    return [one for one in rounds if not DISTURBED.intersection(one["flags"])] or rounds


def joined(rounds):
    """One time of a model from its rounds, each with latency_ns, ci_ns and flags: the median of
    those that count.
    `range`: how far the longest is above the shortest."""
    quiet = that_count(rounds)
    times = [one["latency_ns"] for one in quiet]
    joint = {**quiet[0], "latency_ns": statistics.median(times), "ci_ns": [statistics.median(one["ci_ns"][end] for one in quiet) for end in (0, 1)],
             "flags": sorted({flag for one in quiet for flag in one["flags"]}), "rounds": len(rounds)}
    return {**joint, "range": max(times) / min(times) - 1} if len(quiet) > 1 else joint


def seconds_of(store):
    return sum(entry.get("seconds", 0.0) for calls in store.section("calls").values() for entry in calls.values())


def rows_of(oplat, table):
    """All rows with a time, and a digest of them and the program: their predictions need not be
    asked for again."""
    document = oplat.json("table", "rows", table)
    timed = [row for row in document["rows"] if row.get("timing")]
    digest = hashlib.sha256(json.dumps([oplat.digest(), [(row["id"], row["timing"]["median_ns"]) for row in timed]]).encode()).hexdigest()[:16]
    return timed, digest


def training_rows(rows, threads):
    return [Row(row["key"], row["timing"]["median_ns"]) for row in rows if row["setting"]["threads"] == threads and row["timing"]["median_ns"] > 0]


def predictions(oplat, store, table, setting, networks, digest):
    """Name -> what `oplat predict` says of the model, its plan asked of the runtime."""
    section = store.section("predictions", table.name, setting.name)
    for network in networks:
        kept = section.get(network.name)
        if kept is not None and kept["rows"] == digest:
            continue
        output = oplat.text("predict", network.path, "--table", table, "--runtime", RUNTIME, "--threads", setting.threads, "--plan", "runtime", "--per-op", "--json",
                            allowed=(0, 4, 5, 6), quiet=True)
        # Without an answer: no rows for the setting, or the runtime could not plan it.
        document = json.loads(output) if output else {"latency_ns": None, "interval_ns": None, "kernels": [], "coverage": {"time": {}}, "missing": []}
        section[network.name] = {"rows": digest, "latency_ns": document["latency_ns"], "interval_ns": document["interval_ns"], "missing": document["missing"],
                                 "time": document["coverage"]["time"], "kernels": [[kernel["key"], kernel["count"]] for kernel in document["kernels"]]}
        store.save()
    return {network.name: section[network.name] for network in networks}
