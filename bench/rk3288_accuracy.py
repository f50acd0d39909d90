#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how well learned estimates do on a small table of a phone-class CPU and writes
docs/results/rk3288-accuracy.md.

Imports PaddleSlim's pickled table of an RK3288 (2,200 operators), lists what `oplat check` faults,
and asks `oplat accuracy` for five folds by key and five folds of whole networks. With scikit-learn
(optional: python3-sklearn of Debian, or any environment that runs this script) the original's
recipe is asked for the same folds. Takes some minutes. Needs: scripts/build release oplat.
"""
import argparse
import itertools
import math
import re
import sqlite3
import sys
import tempfile
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import text  # noqa: E402
from lib.entry import run_command  # noqa: E402
from lib.oplat import ROOT, Oplat  # noqa: E402
from lib.store import write_atomically  # noqa: E402

try:
    import numpy
    import sklearn
    from sklearn.ensemble import RandomForestRegressor
except ImportError:
    sklearn = None

CONVOLUTIONS = "paddle_lite:conv2d,paddle_lite:depthwise_conv2d"
MOST_MAPE = 0.037
MOST_SMALL = 0.08
MOST_SMALL_NS = 2000
COVERAGE = (0.87, 0.93)
LEAST_TARGET_ROWS = 40
LEAST_ROWS = 10
# Rows whose channels differ by less are nearly the same; fewer such pairs tell nothing.
ALIKE, LEAST_PAIRS = 0.1, 10
FOLDS = 5
# Types that the original learns a random forest of; of the others it takes the nearest row.
FORESTS = {"depthwise_conv2d", "conv2d", "pool2d", "matmul", "elementwise_add", "elementwise_mul", "concat", "calib", "swish"}


def read_rows(table):
    """Rows in the file's order: (key, ns, the original's text)."""
    with sqlite3.connect(f"file:{table}?mode=ro", uri=True) as database:
        found = database.execute('SELECT kernel.key, "row".median_ns, CAST(native.text AS TEXT) FROM "row" JOIN kernel ON kernel.id = "row".kernel '
                                 'JOIN native ON native."row" = "row".id ORDER BY "row".id')
        return [(key, ns, line.rsplit("\t", 1)[0]) for key, ns, line in found]


def is_known(key):
    """Every size known; attributes may hold what the text does not say."""
    return "[?" not in re.sub(r"\{.*\}", "", key) and ",?" not in re.sub(r"\{.*\}", "", key)


def networks_of(rows):
    """A number a row. The pickle holds its keys in the order in which networks were measured, each
    key where it came first: a network begins with a convolution of an image, or behind the
    classifier of the one before."""
    number, closing, numbers = 0, False, []
    for _, _, line in rows:
        name = line.split()[0]
        classifier = name.startswith("matmul") or (name in ("elementwise_add", "fusion_elementwise_add_activation") and re.search(r"Y=\(\d+,\)", line))
        stem = re.match(r"conv2d in=\(-?1, 3, ", line)
        if (closing and not classifier) or (stem and numbers and not closing):
            number += 1
        closing = bool(classifier)
        numbers.append(number)
    return numbers


# ---- the original's recipe

def tensors(line):
    return [[int(size) for size in re.findall(r"-?\d+", inside)] for inside in re.findall(r"\(([^)]*)\)", line)]


def field(line, name):
    found = re.search(rf" {name}=(-?\d+)", line)
    return int(found.group(1)) if found else 0


def raw_features(line):
    """The numbers that the original's predictors take, as they are."""
    name, dims = line.split()[0], tensors(line)
    pad4 = lambda sizes: (sizes + [1, 1, 1, 1])[:4]  # noqa: E731
    if name.endswith("conv2d"):
        i, w, o = dims[:3]
        return [i[0], i[1], o[1], w[2], field(line, "group"), field(line, "stride"), field(line, "pad"), i[2] * i[3], o[2] * o[3]]
    if name == "pool2d":
        i, o = dims[:2]
        kernel = i[2] if field(line, "flag_global") else field(line, "kernel")
        return [i[0], i[1], kernel, field(line, "stride"), field(line, "pad"), i[2] * i[3], o[2] * o[3], int("type=avg" in line)]
    if name.startswith("matmul"):
        x, y = dims[:2]
        return [x[0], y[0], y[-1], 2 * x[0] * y[0] * y[-1], y[0] * y[-1]]
    if name.startswith("elementwise") or name.startswith("fusion_elementwise"):
        return pad4(dims[0]) + pad4(dims[1])[1:]
    if name == "concat":
        first = pad4(dims[0])
        return ([first[0], first[2] * first[3]] + [pad4(each)[1] for each in dims[:-1]] + [0] * 9)[:11]
    return sum((pad4(each) for each in dims[:2]), []) if dims else [0]


def original(rows, folds):
    """Predictions of the original's recipe in ns, by key: learned from rows outside the fold."""
    types = {}
    for row in rows:
        types.setdefault(row[2].split()[0], []).append(row)
    answers = {}
    for name, own in types.items():
        width = max(len(raw_features(line)) for _, _, line in own)
        x = numpy.array([(raw_features(line) + [0] * width)[:width] for _, _, line in own], dtype=float)
        y = numpy.array([ns for _, ns, _ in own])
        of = numpy.array([folds.get(key, -1) for key, _, _ in own])
        for fold in sorted(set(of) - {-1}):
            learn, ask = of != fold, of == fold
            if not learn.any():
                continue
            if name in FORESTS:
                forest = RandomForestRegressor(n_estimators=300, max_depth=70, min_samples_leaf=1, min_samples_split=2, max_features=0.9, random_state=10)
                found = forest.fit(x[learn], y[learn]).predict(x[ask])
            else:
                found = [y[learn][((x[learn] - each) ** 2).sum(axis=1).argmin()] for each in x[ask]]
            answers.update(zip((key for (key, _, _), asked in zip(own, ask) if asked), found))
    return answers


def original_errors(rows, folds):
    """(median, mean) error by type, 'convolutions' for both kinds of them."""
    answers, lists = original(rows, folds), {}
    for key, ns, line in rows:
        if key not in answers:
            continue
        error = abs(answers[key] / ns - 1)
        name = line.split()[0]
        lists.setdefault("paddle_lite:" + name, []).append(error)
        lists.setdefault("all", []).append(error)
        if name in ("conv2d", "depthwise_conv2d"):
            lists.setdefault("convolutions", []).append(error)
    return {name: (float(sorted(own)[len(own) // 2]), float(sum(own) / len(own))) for name, own in lists.items()}


# ---- the page

HEAD = ["rows of", ">asked", ">MAPE", ">median", ">mean error, us", ">p90", ">within 10 %", ">inside the 90 % interval", ">mean half-width"]
ORIGINALS = [">original: MAPE", ">original: median"]


def cells(name, line, originals):
    own = [name, f"{line['rows']:,}", text.percent(line["mape"], 2), text.percent(line["median"], 2), f"{line['mean_error_ns'] / 1e3:.2f}", text.percent(line["p90"], 2),
           text.percent(line["within_10_percent"]), text.percent(line["interval_coverage"]), text.percent(line["half_width"])]
    if originals is None:
        return own
    median, mean = originals.get(name, (None, None))
    return own + (["-", "-"] if mean is None else [text.percent(mean, 1), text.percent(median, 1)])


def lines_table(lines, originals, least=0):
    head = HEAD + (ORIGINALS if originals is not None else [])
    return "\n".join(text.table(head, [cells(line["rows_of"], line, originals) for line in lines if line["rows"] >= least]))


def verdict(met):
    return "met" if met else "**not met**"


def disagreement(rows, kind):
    """How far rows of a type disagree that are nearly the same: of pairs that differ in nothing but
    the channels of their operands, and in those by less than ALIKE, how many there are and how far
    their times per channel lie apart on average, as a ratio less 1."""
    own = []
    for _, ns, line in rows:
        dims = tensors(line)
        if line.split()[0] == kind and dims and all(len(each) == 4 and min(each) > 0 for each in dims):
            rest = re.sub(r"\([^)]*\)", "", line), tuple(tuple(each[:1] + each[2:]) for each in dims), tuple(each[1] / dims[0][1] for each in dims)
            own.append((rest, dims[0][1], ns))
    apart = [abs(math.log(a[2] / a[1] * b[1] / b[2])) for a, b in itertools.combinations(own, 2)
             if a[0] == b[0] and a[1] != b[1] and abs(math.log(a[1] / b[1])) < ALIKE]
    return len(apart), math.expm1(sum(apart) / len(apart)) if apart else 0.0


def why_not(rows, kind):
    pairs, apart = disagreement(rows, kind)
    if pairs < LEAST_PAIRS or apart < MOST_SMALL:
        return ""
    return (f" {pairs} pairs of its rows differ in nothing but their channels, and in those by less than {ALIKE:.0%}; their times per channel lie {text.percent(apart)} apart on "
            f"average, so that an answer midway between the two is off by {text.percent(apart / 2)}. The rows were measured in different networks, which the keys do not say.")


def target_lines(found, rows):
    convolutions = found["convolutions"]["lines"][0]
    out = [f"- Convolutions and depthwise convolutions of known sizes: MAPE {text.percent(convolutions['mape'], 2)}, target <= {text.percent(MOST_MAPE)}: "
           f"{verdict(convolutions['mape'] <= MOST_MAPE)}."]
    for line in found["set_aside"]["lines"]:
        name = line["rows_of"]
        if not name.startswith("paddle_lite:") or line["rows"] < LEAST_TARGET_ROWS or name in CONVOLUTIONS.split(","):
            continue
        met = line["mape"] <= MOST_SMALL or line["mean_error_ns"] <= MOST_SMALL_NS
        out.append(f"- {name}: MAPE {text.percent(line['mape'], 1)}, mean error {line['mean_error_ns'] / 1e3:.2f} us, target <= {text.percent(MOST_SMALL)} or "
                   f"{MOST_SMALL_NS / 1e3:.0f} us: {verdict(met)}.{'' if met else why_not(rows, name.split(':')[1])}")
    every = found["set_aside"]["lines"][0]["interval_coverage"]
    out.append(f"- 90 % intervals of all operators hold {text.percent(every)}, target {COVERAGE[0]:.0%} to {COVERAGE[1]:.0%}: "
               f"{verdict(COVERAGE[0] <= every <= COVERAGE[1])}; of the convolutions alone {text.percent(convolutions['interval_coverage'])}: "
               f"{verdict(COVERAGE[0] <= convolutions['interval_coverage'] <= COVERAGE[1])}.")
    return "\n".join(out)


def suspects_table(check, rows):
    texts = {key: line for key, _, line in rows}
    head = ["row", "fault", "reason"]
    return "\n".join(text.table(head, [[f"`{texts.get(each['key'], each['key'])}`", each["fault"], short(each["reason"])] for each in check["suspects"]]))


def short(reason):
    return re.sub(r"paddle_lite:(\S+)", lambda found: "`" + re.sub(r"\{.*?\}", "", found.group(1)) + "`", reason)


def without_suspects(found, check):
    if found["set_aside"] is found["operators"]:
        return [f"All {len(check['suspects'])} of them, listed below, are of unknown batch: none was asked for, and none was learned from. The figures are those above."]
    return [f"{found['set_aside']['set_aside']} rows count for nothing, listed below.", lines_table(found["set_aside"]["lines"], None, LEAST_ROWS)]


def page(found, check, rows, device, oplat):
    known = sum(is_known(key) for key, _, _ in rows)
    by_key, by_network = found["original"], found["original_networks"]
    recipe = (f"The original's recipe is scikit-learn's random forest on raw features for {', '.join(sorted(FORESTS))}, the nearest row for other types, asked for the same "
              f"folds (scikit-learn {sklearn.__version__}, numpy {numpy.__version__}; its features are those of the original as far as known, its code is ours)."
              if by_key is not None else "scikit-learn was not installed: the original's recipe was not asked.")
    parts = [
        "# Learned estimates on a small table: an RK3288 under Paddle-Lite",
        f"Written by `bench/rk3288_accuracy.py` on {text.today()}, commit {text.commit()}. {oplat}.",
        f"The table is PaddleSlim's `{device}_threads_4_power_mode_0.pkl`: {len(rows):,} rows, {known:,} of them with known sizes. Its keys are cut into five folds (CRC-32); each fold is "
        "asked of what was learned from the other four, as `oplat fit` learns. Rows with a size of -1 cannot be asked; "
        f"{found['operators']['of_unknown_batch']} of those with an unknown batch alone, no row of batch 1 and no fault are learned from as if of batch 1, for operators of which they are the most. {recipe}",
        "## Targets",
        target_lines(found, rows),
        "## Convolutions alone",
        lines_table([{**line, "rows_of": "convolutions"} if line["rows_of"] == "all" else line for line in found["convolutions"]["lines"]], by_key),
        "## All operators, learned together",
        f"Kinds of at least {LEAST_ROWS} rows. No row was set aside.",
        lines_table(found["operators"]["lines"], by_key, LEAST_ROWS),
        "## The same without the rows that `oplat check` faults",
        *without_suspects(found, check),
        "## Whole networks held out together",
        f"The pickle holds its keys in the order in which networks were measured, each key where it came first: a network begins with a convolution of an image or behind the classifier "
        f"of the one before. So there are {found['network_count']} networks, dealt into five folds in turn; networks whose first and last kernels had been measured before count as one with those before them. What a fold is asked for shares no network with what was learned from; "
        "rows that `oplat check` faults are set aside.",
        lines_table(found["networks"]["lines"], by_network, LEAST_ROWS),
        "## What `oplat check` faults",
        f"Nothing is believed to exceed {check['peak_gflops']:.4g} GFLOP/s and {check['peak_gb_per_s']:.4g} GB/s. {len(check['suspects'])} of {check['rows']:,} rows are implausible:",
        suspects_table(check, rows),
    ]
    return "\n\n".join(parts) + "\n"


def run(options):
    oplat = Oplat(options.oplat)
    found = {"original": None, "original_networks": None}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.oplat"
        oplat.text("import", options.table, "--format", "paddleslim", "--table", table)
        rows = read_rows(table)
        check = oplat.json("check", table, allowed=(0, 7))
        numbers = networks_of(rows)
        found["network_count"] = numbers[-1] + 1
        known = [(row, number) for row, number in zip(rows, numbers) if is_known(row[0])]
        groups = Path(folder) / "networks.txt"
        groups.write_text("".join(f"{row[0]}\t{number % FOLDS}\n" for row, number in known))
        for name, split, more in (("convolutions", f"folds:{FOLDS}", ["--operators", CONVOLUTIONS]), ("operators", f"folds:{FOLDS}", []),
                                  ("set_aside", f"folds:{FOLDS}", ["--set-aside"]), ("networks", f"groups:{groups}", ["--set-aside"])):
            if name == "set_aside" and not any(is_known(each["key"]) for each in check["suspects"]):
                # Rows of unknown batch that are at fault teach nothing in any case.
                found[name] = found["operators"]
                continue
            found[name] = oplat.json("accuracy", table, "--split", split, "--quiet", *more)
        if not sklearn:
            print("rk3288_accuracy: scikit-learn is not installed, so the page lacks the original's recipe; install scikit-learn and run this again", file=sys.stderr)
        else:
            asked = [row for row, _ in known]
            found["original"] = original_errors(asked, {row[0]: zlib.crc32(row[0].encode()) % FOLDS for row in asked})
            found["original_networks"] = original_errors(asked, {row[0]: number % FOLDS for row, number in known})
    write_atomically(options.out, page(found, check, rows, options.table.name.split("_")[0], oplat.version()))
    print(f"wrote {options.out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=ROOT.parent / "shared/data/paddleslim/rk3288_threads_4_power_mode_0.pkl")
    parser.add_argument("--out", default=str(ROOT / "docs/results/rk3288-accuracy.md"), help="page to write (default: docs/results/rk3288-accuracy.md)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    run_command(run, parser.parse_args())


if __name__ == "__main__":
    main()
