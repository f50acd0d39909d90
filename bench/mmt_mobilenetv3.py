#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts random networks around MobileNetV3 on MNN, from operators as oplat does and from blocks
as MMT does, and writes mmt-mobilenetv3.md of docs/results.

MMT publishes 4.1 % mean error on 334 such networks with a correction that 16 of them teach, and 39
% without. Here both ways predict the same networks from measurements of one machine: oplat from
MNN's kernels, with nothing fitted and with a composition fitted to 16 networks; MMT's recipe from
the mean times of whole blocks, summed, and corrected by its Gaussian process on the same 16.

Each call measures every block once more, then goes on with the campaign of kernels and networks
until its minutes are over, then measures every block again. It goes on where an earlier call
stopped, and refuses to if oplat or a worker has changed since. --prepare only exports the networks,
which needs torch and no quiet machine: 3 minutes and 1.4 GB. While it measures, the machine should
have nothing else to do. Of 40 minutes the blocks take 5, planning takes half a one; a call takes a
minute more than its --minutes, for predictions and the page.
"""
import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lib import mobilenet_v3_page as page, text  # noqa: E402
from lib.entry import require_onnx, run_command  # noqa: E402
from lib.mobilenet_v3_page import Way  # noqa: E402
from lib.oplat import RESULTS, ROOT, Failed, Oplat, say  # noqa: E402
from lib.progress import Progress  # noqa: E402
from lib.store import Store, write_atomically  # noqa: E402

RUNTIME = "mnn"
MISSING_KERNELS = 4  # exit code
TORCH_PYTHON = "/usr/bin/python3"  # Debian's python3-torchvision
MNN_PYTHON = os.environ.get("OPLAT_MNN_PYTHON", str(ROOT / ".venv-mnn/bin/python"))
TIMES = 30  # runs of a block in each pass
PLANNING_SECONDS = 1.0  # of each network, before the budget of a campaign begins
MIN_BUDGET_SECONDS = 20


def prepare(folder, count):
    """Exports the networks that are missing; name -> [[block, bytes of its result], ...] of the
    first `count`."""
    path = folder / "space.json"
    space = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = [f"net{number:03}" for number in range(count)]
    if not all(name in space for name in names):
        subprocess.run([TORCH_PYTHON, "-B", ROOT / "bench/lib/mobilenet_v3_space.py", folder, str(count)], check=True)
        space = json.loads(path.read_text(encoding="utf-8"))
    return {name: space[name] for name in names}


def block_runs(path, threads):
    """Single runs in ms, of which MMT's meter_ops stores the mean."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([MNN_PYTHON, "-B", "-m", "oplat.workers.mnn.tool", "meter", str(threads), "model", str(TIMES), path], check=False, text=True,
                          capture_output=True, env=environment)
    if done.returncode != 0:
        raise Failed(f"{path}: {done.stderr.strip()}")
    return json.loads(done.stdout)["runs"]


def measure_blocks(store, folder, space, threads):
    """One pass: every block gets as many times as the most measured one has, or one more if all are
    alike. What it took is in the store."""
    found = store.section("blocks")
    names = sorted({block for blocks in space.values() for block, _ in blocks})
    counts = [len(found.get(name, [])) for name in names]
    passes = max(counts) if min(counts) < max(counts) else max(counts) + 1
    todo = [name for name, count in zip(names, counts) if count < passes]
    say(f"== {len(todo)} of {len(names)} blocks, pass {passes}; load {text.load()}")
    progress, start = Progress(len(todo), 0), time.monotonic()
    for name in todo:
        while len(found.setdefault(name, [])) < passes:
            runs = block_runs(folder / "blocks" / f"{name}.onnx", threads)
            found[name].append(runs)
            store.save()
        progress.step(f"block {name}: {statistics.fmean(runs):.3f} ms")
    return (time.monotonic() - start) / max(len(todo), 1) * len(names)


def profile(oplat, store, paths, options, seconds):
    """One campaign for all networks; run again it adds blocks to rows that are not precise yet."""
    facts = store.section("profiling")
    before = text.load()
    say(f"== kernels and {len(paths)} networks; load {before}")
    models = [flag for path in paths.values() for flag in ("--model", path)]
    summary = oplat.timed_json(facts, store.save, "profile", *models, "--table", options.table, "--runtime", RUNTIME, "--threads", options.threads, "--budget",
                               f"{seconds:.0f}s")
    facts.setdefault("loads", []).append(f"{before} at the start and {text.load()} at the end")
    facts.update(rows=summary["rows"], models=summary["models"], date=text.today())
    store.save()
    if summary["interrupted"]:
        raise Failed("interrupted; run this command again to resume")


def measure(oplat, store, folder, space, paths, options):
    oplat.require_same(store, options.table)
    end = time.monotonic() + 60 * options.minutes
    again = measure_blocks(store, folder, space, options.threads)
    budget = end - time.monotonic() - again - PLANNING_SECONDS * len(paths)
    if budget < MIN_BUDGET_SECONDS:
        say(f"--minutes {options.minutes:g} leaves {budget:.0f} s for the campaign; it gets {MIN_BUDGET_SECONDS}")
    profile(oplat, store, paths, options, max(budget, MIN_BUDGET_SECONDS))
    measure_blocks(store, folder, space, options.threads)


def gaussian_process(x, y, at):
    """The mean that scikit-learn's GaussianProcessRegressor(DotProduct() + WhiteKernel()) predicts,
    its parameters by the marginal likelihood."""
    import numpy
    from scipy.optimize import minimize

    x, y, at = (numpy.asarray(values, dtype=float) for values in (x, y, at))

    def covariance(log):
        return numpy.exp(log[0]) + numpy.outer(x, x) + numpy.exp(log[1]) * numpy.eye(len(x))

    def loss(log):
        factor = numpy.linalg.cholesky(covariance(log))
        return 0.5 * numpy.sum(numpy.linalg.solve(factor, y) ** 2) + numpy.sum(numpy.log(numpy.diag(factor)))

    # of sigma_0 squared and of the noise
    limits = [(numpy.log(1e-10), numpy.log(1e10)), (numpy.log(1e-5), numpy.log(1e5))]
    best = minimize(loss, [0.0, 0.0], bounds=limits, method="L-BFGS-B").x
    return list((numpy.exp(best[0]) + numpy.outer(at, x)) @ numpy.linalg.solve(covariance(best), y))


def regression(rows, true, at):
    """What oplat.mmt.predictor.latency_predictor predicts for the rows `at`: (ms, half of the 90 %
    interval's width)."""
    import numpy

    sys.path.insert(0, str(ROOT / "python"))
    correction = importlib.import_module("oplat.mmt.correction")
    learned = correction.fit(numpy.array(rows), numpy.array(true))
    reach = correction.t_quantile(page.LEVEL, learned.freedom)
    found = [learned.at(numpy.array(row)) for row in at]
    return [(ms, reach * spread * ms) for ms, spread in found]


def operator_ways(models, fit, taught, asked):
    """By the kernels of each network: as the table has them, and by the composition that the taught
    networks gave."""
    ways = [Way("operators, nothing fitted", "oplat", "-", page.MOST_UNFITTED)]
    for name in asked:
        low, high = models[name]["interval_ns"]
        ways[0].add(name, models[name]["latency_ns"] / 1e6, low / 1e6, high / 1e6)
    if fit:
        left_out = {Path(each["name"]).stem: each for each in fit["left_out"]}
        teachers = sum(left_out[name]["calibrates"] for name in taught if name in left_out)
        ways.append(Way("operators, composition", "oplat", f"{teachers} networks", page.MOST_FITTED, page.MOST_WORST))
        for name in asked:
            if name in left_out:
                low, high = left_out[name]["interval_ns"]
                ways[1].add(name, left_out[name]["predicted_ns"] / 1e6, low / 1e6, high / 1e6)
    return ways


def block_ways(blocks, space, measured, taught, asked):
    """By the mean times of blocks: their sum, MMT's correction of it, and that of oplat.mmt."""
    mean = {name: statistics.fmean(run for runs in passes for run in runs) for name, passes in blocks.items()}
    rows = {name: (sum(mean[block] for block, _ in used), 1.0, len(used), sum(size for _, size in used)) for name, used in space.items()}
    sums, true = [rows[name][0] for name in taught], [measured[name] for name in taught]
    ways = [Way("blocks, sum of means", "MMT", "-")]
    for name in asked:
        ways[0].add(name, rows[name][0])
    if len(taught) >= page.MIN_TAUGHT:
        ways += [Way("blocks, Gaussian process", "MMT", f"{len(taught)} networks"), Way("blocks, regression", "oplat.mmt", f"{len(taught)} networks")]
        for name, ms in zip(asked, gaussian_process(sums, true, [rows[name][0] for name in asked])):
            ways[1].add(name, ms)
        for name, (ms, reach) in zip(asked, regression([rows[name] for name in taught], true, [rows[name] for name in asked])):
            ways[2].add(name, ms, ms - reach, ms + reach)
    return ways


def predictions(oplat, paths, options):
    """`oplat predict` of each network that the campaign planned, by name. It holds the network's
    own time, too."""
    found = {}
    for name, path in paths.items():
        # Exit 4: kernels are missing and the document is printed, or the plan is missing and
        # nothing is.
        output = oplat.text("predict", path, "--unfitted", "--table", options.table, "--runtime", RUNTIME, "--threads", options.threads, "--plan", "cached", "--json",
                            "--quiet", allowed=(0, MISSING_KERNELS), quiet=True)
        if output:
            found[name] = json.loads(output)
    return found


def compare(oplat, store, folder, paths, options, space):
    """Everything that the page shows."""
    names = list(space)
    taught, asked = names[:options.fit], names[options.fit:]
    # Every network that is asked about is in one group, and so left out of the fit that predicts
    # it.
    families = {paths[name].name: "asked" for name in asked} | {paths[name].name: name for name in taught}
    fit = oplat.composition(options.table, folder, families, "--runtime", RUNTIME, "--threads", options.threads, "--max-half-width", page.MOST_HALF_WIDTH)
    models = predictions(oplat, paths, options)
    measured = {name: model["measured"]["median_ns"] / 1e6 for name, model in models.items() if model.get("measured")}
    complete = [name for name in asked if name in measured and models[name]["latency_ns"] is not None]
    blocks = store.section("blocks")
    if not complete or not blocks:
        raise Failed(f"{options.table}: no network of the comparison has its own time and that of all its kernels; run this command again with more --minutes")
    ways = operator_ways(models, fit, taught, complete) + block_ways(blocks, space, measured, [name for name in taught if name in measured], complete)
    return page.Comparison(ways, measured, models, fit, len(asked) - len(complete), blocks)


def run(options):
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    space = prepare(folder, options.fit + options.networks)
    if options.prepare:
        return
    oplat = Oplat(options.oplat)
    paths = {name: folder / f"{name}.onnx" for name in space}
    options.table = folder / f"mmt-{options.threads}t.oplat"
    store = Store(f"{options.table}.bench.json")
    if not options.skip_measuring:
        measure(oplat, store, folder, space, paths, options)
    if not options.table.exists():
        raise Failed(f"{options.table}: nothing is measured yet; run this command without --skip-measuring")
    compared = compare(oplat, store, folder, paths, options, space)
    population = oplat.json("table", "info", options.table)["populations"][0]
    write_atomically(options.out, page.page(compared, store, population, oplat.version()))
    print("\n".join(page.results(compared)))
    print(f"wrote {options.out}; load average {text.load()} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=60, metavar="N", help="networks to predict (default: 60)")
    parser.add_argument("--fit", type=int, default=16, metavar="N", help="networks that teach the corrections (default: 16)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="number of threads (default: 1)")
    parser.add_argument("--minutes", type=float, default=40, help="for measuring in this call, blocks included (default: 40)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/bench/mmt", help="for networks, blocks and measurements (default: build/bench/mmt)")
    parser.add_argument("--out", default=str(RESULTS / "mmt-mobilenetv3.md"), help="page to write (default: mmt-mobilenetv3.md in docs/results)")
    parser.add_argument("--oplat", default=str(ROOT / "build/release/oplat"), help="oplat program (default: build/release/oplat)")
    parser.add_argument("--prepare", action="store_true", help="export the networks and measure nothing")
    parser.add_argument("--skip-measuring", action="store_true", help="only write the page, from what is measured")
    options = parser.parse_args()
    require_onnx()  # the Python that has scipy
    run_command(run, options)


if __name__ == "__main__":
    main()
