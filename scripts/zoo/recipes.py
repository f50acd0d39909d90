# SPDX-License-Identifier: Apache-2.0
"""Reads data/zoo.tsv and says which file a network becomes and when that file is out of date."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "data" / "zoo.tsv"
MODELS = ROOT / "models"
SETS = ("demo", "zoo", "wide", "tests", "more")
# The module that exports the networks of a source with torch; other sources need none.
EXPORTERS = {"torchvision": "zoo.export", "own": "zoo.export", "vision": "zoo.wide.export", "dense": "zoo.wide.export",
             "language": "zoo.wide.export", "signals": "zoo.wide.export"}
WIDE = ("wide/parts.py", "wide/export.py", "realistic.py", "export.py")
# The files whose text decides what a source makes.
SOURCES = {
    "torchvision": ("torchvision_nets.py", "realistic.py", "export.py"),
    "own": ("own_nets.py", "realistic.py", "export.py"),
    "vision": ("wide/vision.py", *WIDE),
    "dense": ("wide/dense.py", "wide/vision.py", "own_nets.py", *WIDE),
    "language": ("wide/language.py", "wide/vision.py", *WIDE),
    "signals": ("wide/signals.py", *WIDE),
    "tiny": ("tiny_nets.py", "finish.py"),
    "quantise": ("quantise.py", "inputs.py", "finish.py"),
    "optimised": ("wide/finish.py", "inputs.py", "finish.py"),
}


@dataclass(frozen=True)
class Recipe:
    """One line of the zoo."""

    name: str
    set: str
    family: str
    precision: str
    opset: int
    source: str
    builder: str
    arguments: dict = field(hash=False)
    line: str

    @property
    def path(self):
        folder = MODELS / "tests" if self.set == "tests" else MODELS
        return folder / f"{self.name}.onnx"

    @property
    def stamp_path(self):
        return MODELS / ".stamps" / self.name

    @property
    def seed(self):
        """Depends on the name alone, so that adding a network to the zoo changes no other."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "little")

    def needs_torch(self):
        return self.source in EXPORTERS


def parse_line(line):
    columns = line.rstrip("\n").split("\t")
    if len(columns) != 6:
        raise ValueError(f"{len(columns)} columns instead of 6 in: {line!r}")
    name, set_, family, precision, opset, how = columns
    words = how.split()
    source, _, builder = words[0].partition(".")
    if set_ not in SETS:
        raise ValueError(f"{name}: unknown set '{set_}'")
    if source not in SOURCES or not builder:
        raise ValueError(f"{name}: unknown source '{words[0]}'")
    arguments = {}
    for word in words[1:]:
        key, separator, value = word.partition("=")
        if not separator:
            raise ValueError(f"{name}: '{word}' is not NAME=VALUE")
        arguments[key] = int(value) if value.lstrip("-").isdigit() else value
    return Recipe(name, set_, family, precision, int(opset), source, builder, arguments, line.strip())


def read_zoo(path=ZOO):
    """All recipes by name, in the order of the file."""
    recipes = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            recipe = parse_line(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        if recipe.name in recipes:
            raise ValueError(f"{path}:{number}: {recipe.name} is there twice")
        recipes[recipe.name] = recipe
    return recipes


def choose(recipes, words):
    """The recipes that the words of the command line mean: names of sets (a demo network is in the zoo too) and of networks."""
    chosen = []
    for word in words:
        if word in SETS:
            wanted = ("demo", "zoo") if word == "zoo" else (word,)
            chosen += [recipe for recipe in recipes.values() if recipe.set in wanted]
        elif word in recipes:
            chosen.append(recipes[word])
        else:
            raise ValueError(f"no network or set '{word}' in {ZOO.relative_to(ROOT)}; sets: {', '.join(SETS)}")
    return in_order(recipes, chosen)


def in_order(recipes, chosen):
    """What was chosen and what that is made from, each once, a base before what is derived from it."""
    ordered = {}
    for recipe in chosen:
        base = recipe.arguments.get("base")
        if base is not None:
            if base not in recipes:
                raise ValueError(f"{recipe.name}: no network '{base}' to start from")
            ordered[base] = recipes[base]
        ordered[recipe.name] = recipe
    return list(ordered.values())


def stamp(recipe, recipes):
    """Changes whenever the recipe, the code that follows it, the pinned packages or the base network's recipe change."""
    digest = hashlib.sha256(recipe.line.encode())
    for name in SOURCES[recipe.source]:
        digest.update((Path(__file__).parent / name).read_bytes())
    if not recipe.needs_torch():
        digest.update((ROOT / "requirements.txt").read_bytes())
    base = recipe.arguments.get("base")
    if base is not None:
        digest.update(stamp(recipes[base], recipes).encode())
    return digest.hexdigest()


def is_current(recipe, recipes):
    return recipe.path.is_file() and recipe.stamp_path.is_file() and recipe.stamp_path.read_text() == stamp(recipe, recipes)
