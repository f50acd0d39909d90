# SPDX-License-Identifier: Apache-2.0
"""The description of a kernel space, in its file and in data/spaces/README.md."""
from collections import Counter, defaultdict

from lib import text
from lib.keys import bytes_of, class_of, flops_of, parse_key
from lib.markdown import wrapped

# Of the networks in a file.
MAX_KERNELS = 7000
MAX_BYTES = 1000 * 1024
MIN_SHARE = 0.002  # of the executions; rarer classes are one line


def families_of(networks):
    return sorted({network.family for network in networks})


def description(taken, left, further):
    """Lines of a paragraph for the file."""
    kernels = {key for network in taken for key in network.counts}
    precisions = Counter(network.recipe.precision for network in taken)
    said = (f"{len(kernels):,} kernels that ONNX Runtime executes on CPU for {len(taken)} networks ({precisions['fp32']} fp32, {precisions['int8']} int8) of {len(families_of(taken))} families: "
            "convolutional networks, transformers, recurrent networks, detection, segmentation, super-resolution, speech, recommenders. "
            "Each network lists its kernels and how often one run executes them. Views and empty calls are left out. ")
    if further:
        said += (f"{len(further):,} further kernels are layers of published models, of operators and "
                 "kinds of which these networks have few or none. ")
    if left:
        said += f"{len(left)} further networks of these families are left out to keep the file short. "
    return wrapped(said).strip("\n").split("\n")


def quantity(value, unit):
    for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.0f} {unit}"


def span(values, unit):
    low, high = min(values), max(values)
    return quantity(low, unit) if low == high else f"{quantity(low, unit)} to {quantity(high, unit)}"


def section(taken, left, further, content):
    executions, networks_with = Counter(), Counter()
    for network in taken:
        executions.update(network.counts)
        networks_with.update({class_of(parse_key(key)) for key in network.counts})
    executions.update(further)
    classes = defaultdict(list)
    for key in executions:
        kernel = parse_key(key)
        classes[class_of(kernel)].append((executions[key], flops_of(kernel), bytes_of(kernel)))
    calls = sum(executions.values())
    work = sum(count * flops for members in classes.values() for count, flops, _ in members)
    rows, rare = [], []
    for name, members in sorted(classes.items(), key=lambda item: (-sum(m[0] for m in item[1]), item[0])):
        share = sum(m[0] for m in members) / calls
        if share < MIN_SHARE:
            rare.append((name, members))
            continue
        rows.append([name, str(len(members)), str(networks_with[name]), text.percent(share), text.percent(sum(c * f for c, f, _ in members) / work),
                     span([m[1] for m in members], "FLOP"), span([m[2] for m in members], "B")])
    if rare:
        members = [m for _, some in rare for m in some]
        rows.append([f"{len(rare)} rarer classes", str(len(members)), "", text.percent(sum(m[0] for m in members) / calls),
                     text.percent(sum(c * f for c, f, _ in members) / work), span([m[1] for m in members], "FLOP"), span([m[2] for m in members], "B")])
    precisions = Counter(network.recipe.precision for network in taken)
    lines = [f"`oplat profile --space general-cpu --runtime onnxruntime` draws from it. It holds {len(executions):,} kernels of {len(taken)} networks ({precisions['fp32']} fp32 and "
             f"{precisions['int8']} int8 QDQ, {sum(network.batch > 0 for network in taken)} of them with a larger batch), {len(content) / 1024:.0f} KiB. `bench/inventory.py` writes it and this section.", "",
             "- **Where the kernels come from.** The networks of `data/zoo.tsv` (`scripts/models demo zoo wide`) in the inventory's half of the families, as ONNX Runtime plans them. The first byte of "
             "the SHA-256 of a family's name decides: even is the inventory, odd is the half that `bench/unseen.py` reports on.",
             "- **What the file says.** Keys by class, and for each network the positions of its kernels with how often one run executes them, so that a sampler knows how much of which model a "
             "kernel is. Views and calls with empty results are left out.",
             *([f"- **Further kernels.** {len(further):,} kernels are of no network, but layers of published models "
                "(`bench/lib/published_*.py`), of operators and kinds of which the networks have few or none. They count "
                "one execution each, or as many as the file says."] if further else []),
             f"- **What is left out.** The networks take at most {MAX_KERNELS:,} kernels and {MAX_BYTES // 1024} KiB of the file. Each family has one network of each precision first, then further sizes follow, those with few new kernels "
             f"first. {'Left out: ' + ', '.join(network.name for network in left) + '.' if left else 'Nothing is left out.'}", "",
             f"Families: {', '.join(families_of(taken))}.", "",
             *text.table(["class", ">kernels", ">networks", ">executions", ">FLOPs", ">FLOPs of a kernel", ">bytes of a kernel"], rows)]
    if rare:
        lines += ["", f"Rarer classes: {'; '.join(name for name, _ in rare)}."]
    return lines
