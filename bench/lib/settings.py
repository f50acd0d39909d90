# SPDX-License-Identifier: Apache-2.0
"""The settings and networks that accuracy is stated over."""
import sys
from dataclasses import dataclass

from lib.oplat import ROOT, Failed

sys.path.insert(0, str(ROOT / "scripts"))
from zoo import recipes as zoo  # noqa: E402


@dataclass(frozen=True)
class Setting:
    """A precision of networks and a number of threads, with what issue and page promise for
    them."""

    name: str
    title: str
    precision: str
    threads: int
    most_mape: float
    states_within: bool = False  # whether the shares within 5 and 10 % have targets


SETTINGS = (
    Setting("fp32", "fp32, 1 thread", "fp32", 1, 0.03, states_within=True),
    Setting("int8", "int8, 1 thread", "int8", 1, 0.04),
    Setting("fp32-2t", "fp32, 2 threads", "fp32", 2, 0.05),
)


# The sets that docs/results/accuracy.md is over; `wide` is for kernel spaces and bench/unseen.py,
# `more` for other runtimes.
ACCURACY_SETS = ("demo", "zoo")


def choose_settings(names):
    known = {setting.name: setting for setting in SETTINGS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failed(f"unknown setting '{unknown[0]}'; expected one of {', '.join(known)}")
    return [setting for setting in SETTINGS if not names or setting.name in names]


def zoo_networks(names):
    """The recipes of the zoo with these names (without names all that accuracy is stated over), in
    the order of data/zoo.tsv."""
    recipes = {name: recipe for name, recipe in zoo.read_zoo().items() if recipe.set != "tests"}
    unknown = [name for name in names if name not in recipes]
    if unknown:
        raise Failed(f"no network '{unknown[0]}' in data/zoo.tsv")
    chosen = [recipe for recipe in recipes.values() if recipe.name in names or not names and recipe.set in ACCURACY_SETS]
    return chosen


def require_files(networks):
    missing = [network for network in networks if not network.path.exists()]
    if missing:
        sets = sorted({"zoo" if network.set == "demo" else network.set for network in missing})
        raise Failed(f"missing: {' '.join(network.name for network in missing)}; make them with scripts/models {' '.join(sets)}")


def networks_of(setting, networks):
    return [network for network in networks if network.precision == setting.precision]
