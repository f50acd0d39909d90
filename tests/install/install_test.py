#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oplat as another project sees it: installed, and as a subproject.

usage: install_test.py installed|subproject BUILD SOURCES [--flags=FLAGS]

OPLAT_SAMPLE_TABLE and OPLAT_SAMPLE_MODEL name a table and a model that it predicts (the program
with_predicted_table sets them). The program and the build file under test are those of
docs/reference/cpp-api.md. Nothing of oplat is compiled: the installed files are links into BUILD,
and the subproject's libraries are replaced by those of BUILD before its program is linked.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = {f"{name}.hpp" for name in (
    "events", "graph", "key", "measure", "oplat", "predict", "profile", "result", "search", "table", "version")}
MAX_EXAMPLE_LINES = 20
FENCE = re.compile(r"^```(cpp|cmake)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


class Failure(Exception):
    """What was expected and is not so."""


def expect(condition, what):
    if not condition:
        raise Failure(what)


def run(command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    expect(done.returncode == 0,
           f"{shlex.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def example(sources):
    """The program and the build file of the documentation."""
    page = (sources / "docs" / "reference" / "cpp-api.md").read_text()
    found = dict((kind, text) for kind, text in reversed(FENCE.findall(page)))
    lines = [line for line in found["cpp"].splitlines() if line.strip()]
    expect(len(lines) <= MAX_EXAMPLE_LINES, f"the example has {len(lines)} lines")
    return found["cpp"], found["cmake"]


def cached(build, name):
    found = re.search(rf"^{name}(?::\w+)?=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def configure(folder, build, test, *more):
    """The build folder of the project in `folder`, made as `build` was."""
    out = folder / "build"
    # Like the usual linker, gold takes from an archive only what those before it on the line lack:
    # mold, which the build uses, would not find a wrong order. It takes half of the time of the
    # usual one.
    linker = "-fuse-ld=gold" if shutil.which("ld.gold") else ""
    run(["cmake", "-G", "Ninja", "-S", folder, "-B", out, f"-DCMAKE_CXX_COMPILER={cached(build, 'CMAKE_CXX_COMPILER')}",
         f"-DCMAKE_BUILD_TYPE={cached(build, 'CMAKE_BUILD_TYPE')}", f"-DCMAKE_CXX_FLAGS={test.flags}",
         f"-DCMAKE_EXE_LINKER_FLAGS={test.flags} {linker}", *more])
    return out


def check_answer(program, build):
    """The program of the documentation says what `oplat predict` says."""
    table, model = os.environ["OPLAT_SAMPLE_TABLE"], os.environ["OPLAT_SAMPLE_MODEL"]
    said = run([program, table, model])
    document = json.loads(run([build / "oplat", "predict", model, "--table", table, "--json"]))
    low, high = document["interval_ns"]
    expected = (f"{document['latency_ns'] / 1e6:.6f} ms ({low / 1e6:.6f} to {high / 1e6:.6f} ms, "
                f"{100 * document['level']:.0f} %)\n")
    for source, share in document["coverage"]["time"].items():
        if source == "overhead":  # of the call, which is not a source of kernels
            continue
        expected += f"{source} {100 * share:.1f} %\n"
    expect(said == expected, f"the program says\n{said}oplat predict says\n{expected}")
    refused = subprocess.run([program, table, "none.onnx"], capture_output=True, text=True)
    expect(refused.returncode == 1 and "none.onnx" in refused.stderr, f"a missing model: {refused}")


def check_headers(prefix, build):
    """Each header compiles by itself, and sees none of oplat's sources."""
    include = prefix / "include"
    found = {path.name for path in (include / "oplat").iterdir()}
    expect(found == HEADERS, f"headers: {sorted(found ^ HEADERS)} are too many or missing")
    compiler = cached(build, "CMAKE_CXX_COMPILER")
    for name in sorted(HEADERS):
        listed = run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-H", "-fsyntax-only", "-x", "c++",
                      "-I", include, "-"], input=f'#include "oplat/{name}"\n')
        expect("src/" not in listed, f"{name} includes {listed}")


def check_programs(prefix):
    """The installed program finds its workers, the library for those in Python included."""
    program = prefix / "bin" / "oplat"
    expect(run([program, "version"]).startswith("oplat "), "oplat version")
    expect((prefix / "share/oplat/python/oplat/workers/harness.py").exists(), "no Python workers")
    expect(list(prefix.glob("lib*/**/liboplat_worker.so.1")), "no liboplat_worker.so.1")
    # A copy: through a link, the program would be that of the build folder.
    copy = prefix / "bin" / "copy"
    shutil.copy(program, copy)
    worker = subprocess.run([copy, "worker", "paddle"], input="", capture_output=True, text=True,
                            env={**os.environ, "OPLAT_PADDLE_PYTHON": "echo"})
    expect(worker.stdout.split()[1:] == [str(prefix / "share/oplat/python/oplat_worker.py"), "paddle"],
           f"the worker in Python is not the installed one: {worker}")


def test_installed(test, folder):
    prefix = folder / "prefix"
    run(["cmake", "--install", test.build, "--prefix", prefix],
        env={**os.environ, "CMAKE_INSTALL_MODE": "ABS_SYMLINK"})
    check_headers(prefix, test.build)
    check_programs(prefix)
    program, build_file = example(test.sources)
    consumer = folder / "consumer"
    consumer.mkdir()
    (consumer / "consumer.cpp").write_text(program)
    (consumer / "CMakeLists.txt").write_text(build_file + f'add_subdirectory("{test.sources}/examples" examples)\n')
    out = configure(consumer, test.build, test, f"-DCMAKE_PREFIX_PATH={prefix}")
    run(["cmake", "--build", out])
    check_answer(out / "consumer", test.build)
    shown = run([out / "examples" / "predict_from_table", os.environ["OPLAT_SAMPLE_TABLE"],
                 os.environ["OPLAT_SAMPLE_MODEL"]])
    expect(shown.startswith("0.005 ms (") and "measured" in shown, shown)
    planned = run([out / "examples" / "plan_and_predict", os.environ["OPLAT_SAMPLE_TABLE"],
                   os.environ["OPLAT_SAMPLE_MODEL"]])
    expect(planned.startswith("plan cached, batch 1\n") and "3 kernels measured" in planned, planned)
    scored = run([out / "examples" / "score_networks", os.environ["OPLAT_SAMPLE_TABLE"],
                  test.sources / "data" / "spaces" / "fbnet.yaml", "20"])
    expect(re.match(r"\d+\.\d+ ms \(", scored), scored)


def test_subproject(test, folder):
    program, build_file = example(test.sources)
    (folder / "consumer.cpp").write_text(program)
    (folder / "CMakeLists.txt").write_text(
        build_file.replace("find_package(oplat 0.1 REQUIRED)",
                           f'add_subdirectory("{test.sources}" oplat EXCLUDE_FROM_ALL)'))
    out = configure(folder, test.build, test)
    targets = run(["ninja", "-C", out, "-t", "targets", "all"])
    for unwanted in ("_test", "fuzz", "bench", "Experimental"):
        names = [line for line in targets.splitlines() if unwanted in line.split(":")[0].rsplit("/", 1)[-1]]
        expect(not names, f"the subproject has targets of {unwanted}: {names[:3]}")
    compile_line, link_line = run(["ninja", "-C", out, "-t", "commands", "-s", "CMakeFiles/consumer.dir/consumer.cpp.o"]
                                  ), run(["ninja", "-C", out, "-t", "commands", "-s", "consumer"])
    expect(re.search(r"-std=(c|gnu)\+\+20\b", compile_line), f"its users are not compiled as C++20: {compile_line}")
    run(["bash", "-c", compile_line], cwd=out)
    for library in re.findall(r"\boplat/(\S+\.a)\b", link_line):
        built = out / "oplat" / library
        built.parent.mkdir(parents=True, exist_ok=True)
        if not built.exists():
            built.symlink_to(test.build / library)
    run(["bash", "-c", link_line], cwd=out)
    check_answer(out / "consumer", test.build)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("installed", "subproject"))
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("sources", type=lambda text: Path(text).resolve())
    parser.add_argument("--flags", default="")
    test = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oplat-install-") as name:
        try:
            (test_installed if test.part == "installed" else test_subproject)(test, Path(name))
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
