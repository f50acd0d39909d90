#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates what the command line prints as JSON against docs/reference/schemas.

usage: json_schemas_test.py OPLAT MODELS

Every document that the sources name has a schema, every schema describes each of its fields, and
every document that can be made here is valid: those of foreign tables and of the reference runtime
always, those of whole models if ONNX Runtime answers. OPLAT_TEST_REQUIRE=1 allows no skip.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
CASES = ROOT / "tests" / "cli"
sys.path.insert(0, str(CASES))
from run_case import steps_of  # noqa: E402

SKIP = 77
REQUIRED = os.environ.get("OPLAT_TEST_REQUIRE") == "1"


def import_jsonschema():
    """The package of the test environment, whichever interpreter runs this."""
    sys.path[:0] = [str(path) for path in ROOT.glob(".venv/lib/python3.11/site-packages")]
    try:
        import jsonschema
    except ImportError as error:
        print(f"skipped: {error}; scripts/setup installs it")
        sys.exit(1 if REQUIRED else SKIP)
    return jsonschema


def names_in_sources():
    """Documents that the program prints: the texts that stand behind "schema"."""
    pattern = re.compile(r'"schema"\s*(?:\]\s*=|,)\s*"(oplat\.[a-z.]+/\d+)"')
    sources = [*ROOT.glob("src/**/*.cpp"), *ROOT.glob("python/**/*.py")]
    return {name for path in sources for name in pattern.findall(path.read_text())}


def undescribed(schema, place):
    """Fields of a schema without a description of their own."""
    if isinstance(schema, list):
        for item in schema:
            yield from undescribed(item, place)
    if not isinstance(schema, dict):
        return
    for name, field in schema.get("properties", {}).items():
        if not ("description" in field or "$ref" in field):
            yield f"{place}.{name}"
    for name, part in schema.items():
        if name not in ("description", "enum", "const", "required"):
            yield from undescribed(part, f"{place}.{name}")


class Documents:
    """Runs oplat in a folder of its own and collects the documents by their names."""

    def __init__(self, oplat, models, folder):
        self.folder = folder
        self.made = {}
        self.environment = dict(
            os.environ,
            PATH=f"{oplat.parent}:{os.environ['PATH']}",
            CASES=str(CASES),
            MODELS=str(models),
            DATA=str(ROOT / "data"),
            XDG_CACHE_HOME=str(folder / "cache"),
        )
        for name in ("OPLAT_TABLE", "OPLAT_TABLES"):
            self.environment.pop(name, None)

    def run(self, command, status=0):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != status:
            raise AssertionError(
                f"$ {command}\nexit {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def document(self, command, status=0):
        made = json.loads(self.run(f"oplat {command} --json", status))
        self.made.setdefault(made["schema"], []).append((command, made))


def make_everywhere(documents):
    """Documents that need no runtime but ours."""
    documents.document("runtimes")
    documents.document("machine --budget 1ms")
    documents.document("rules")
    # Kernels, measured by the reference runtime.
    keys = [f"Relu/14{{}}(f32[1,{n}000])->(f32[1,{n}000])" for n in range(1, 7)]
    keys.append("LSTM/14{hidden_size=4}(f32[1,1,4],f32c[1,16,4],f32c[1,16,4])->(f32[1,1,1,4],-,-)")
    (documents.folder / "keys.txt").write_text("".join(key + "\n" for key in keys))
    profile = "profile --keys keys.txt --table t.oplat --runtime reference"
    documents.run(f"$CASES/until_stdout '6 of 7 measured' oplat {profile} --budget 500ms --quiet")
    documents.document(f"{profile} --budget 250ms")
    documents.document("table info t.oplat")
    documents.document("table rows t.oplat")
    documents.document(f"estimate '{keys[0]}' '{keys[1]}' --table t.oplat")
    documents.document(f"estimate '{keys[-1]}' --table t.oplat --missing zero")
    # A quiet table, so that replayed times agree with it.
    documents.run(
        "cp t.oplat quiet.oplat; sqlite3 quiet.oplat 'update row set sd_log=0.005, "
        "ci_low_ns=0.997*median_ns, "
        "ci_high_ns=1.003*median_ns, p10_ns=0.995*median_ns, "
        "p90_ns=1.005*median_ns, min_ns=0.99*median_ns'"
    )
    documents.document("verify quiet.oplat --runtime replay --worker-argument quiet.oplat")
    # Tables of others.
    make_paddle(documents)
    make_tinynas(documents)
    make_mobile_vision(documents)


def make_paddle(documents):
    documents.run(
        "python3 $CASES/paddle_program.py net "
        "&& python3 $CASES/paddle_table.py D_threads_4_power_mode_0.pkl "
        "&& python3 $CASES/paddle_table.py few.pkl --without pool2d "
        "&& oplat import D_threads_4_power_mode_0.pkl --format paddleslim --table paddle.oplat "
        "&& oplat import few.pkl --format paddleslim --device D --table few.oplat"
    )
    documents.document("predict net.pdmodel --table paddle.oplat")
    documents.document("predict net.pdmodel --table few.oplat", status=4)
    documents.document("predict net.pdmodel none.onnx --table paddle.oplat", status=3)
    documents.document("compare net.pdmodel net.pdmodel --table paddle.oplat")
    documents.document("plan net.pdmodel --plan rules:paddle-lite")
    documents.document("plan net.pdmodel none.onnx --plan rules:paddle-lite", status=3)
    documents.document("inspect net.pdmodel")
    documents.document("advise net.pdmodel --table paddle.oplat --max-latency 1s --threads 2,4")
    rows = {f"swish in=(1, {c}, 56, 56) out=(1, {c}, 56, 56)": 0.1 * c for c in range(1, 81)}
    bad = rows | {"relu in=(1, 8) out=(1, 9)": 0.1}
    documents.run(
        f"python3 -c \"import pickle; pickle.dump({bad}, open('bad.pkl', 'wb'))\" "
        "&& oplat import bad.pkl --format paddleslim --device D --table bad.oplat"
    )
    documents.document("check bad.oplat", status=7)
    documents.document("accuracy bad.oplat --no-calibrate --jobs 1 --networks 0 --split folds:2")
    documents.document("fit bad.oplat --no-calibrate --jobs 1 --only kernels")
    case = (CASES / "cases/paddleslim-evaluate-sums-up-a-text-table.test").read_text()
    program = next(
        step.rest for step in steps_of(case) if step.word == "write" and step.rest.startswith("net.json ")
    )
    (documents.folder / "pir.json").write_text(
        program.split(" ", 1)[1].encode().decode("unicode_escape")
    )
    (documents.folder / "times.txt").write_text("lite\tphone\t2022-01-26\nrelu,1,4,1,1\t0.25\n")
    documents.document("paddleslim evaluate pir.json --table times.txt --no-only-conv")


def make_tinynas(documents):
    (documents.folder / "conv_data.out").write_text(
        "".join(
            f"{{Regular,{batch},{channels},{size},{size},{channels},3,1,0}} "
            f"{batch * channels * size / 1e3}\n"
            for batch in (1, 32)
            for channels in (16, 32)
            for size in (8, 16)
        )
    )
    (documents.folder / "net.txt").write_text(
        "[{'class': 'ConvKXBNRELU', 'in': 16, 'out': 16, 'k': 3, 's': 1},\n"
        " {'class': 'ConvKXBNRELU', 'in': 16, 'out': 16, 'k': 3, 's': 1}]\n"
    )
    library = "--library conv_data.out --precision FP32 --estimator original"
    documents.document(f"tinynas predict net.txt {library} --batch 32 --resolution 8")
    documents.document(f"tinynas predict net.txt {library} --batch 1,32 --resolution 8")
    (documents.folder / "tests.tsv").write_text("Regular\t1\t0\t3\t1\t16\t8\t16\t0.2\n")
    documents.document(f"tinynas predict --tests tests.tsv {library}")
    documents.document("tinynas convs net.txt --resolution 33")


def make_mobile_vision(documents):
    (documents.folder / "layers.jsonl").write_text(
        '{"op": "Linear", "args": {"in_features": 8, "out_features": 4, "bias": false}, '
            '"input_shapes": [[2, 8]]}\n'
    )
    documents.document("lut ops layers.jsonl")
    case = (
        (ROOT / "tests/cli/cases/lut-prints-what-the-original-prints.test").read_text().splitlines()
    )
    (documents.folder / "net").mkdir()
    written = None
    for line in case:
        if line.startswith("file net/"):
            written = documents.folder / line.removeprefix("file ").rstrip(":")
            written.write_text("")
        elif written and line.startswith("  "):
            with written.open("a") as file:
                file.write(line[2:] + "\n")
        else:
            written = None
    queries = documents.run(
        "oplat lut --model_path net --input_dims '{\"data\": [1, 3, 16, 16]}' "
        "--device phone --queries"
    )
    records = []
    for i, line in enumerate(queries.splitlines()):
        records.append(
            json.loads(line) | {f"runtime_us_p{p}": 10.0 * (i + 1) for p in (0, 10, 50, 90, 100)}
        )
    (documents.folder / "db").mkdir()
    database = documents.folder / "db" / "phone-op_lut_database.json"
    database.write_text("".join(json.dumps(record) + "\n" for record in records))
    lut = (
        "lut --model_path net --input_dims '{\"data\": [1, 3, 16, 16]}' --device phone --db_dir db"
    )
    documents.document(lut)
    database.write_text("".join(json.dumps(record) + "\n" for record in records[1:]))
    documents.document(lut, status=4)
    (documents.folder / "space.yaml").write_text(
        "format: oplat.space/1\nname: small\nfamily: caffe2-int8\nresolutions: 8\nblocks:\n"
        "  wide: {kind: inverted_residual, kernel: 3, expansion: 2}\n"
        "  skip: {kind: skip}\nlayers:\n"
        "  - {name: stem, block: {kind: conv, kernel: 3}, channels: 4, stride: 2}\n"
        "  - {name: one, choices: all}\n"
    )
    documents.run(
        "oplat import conv_data.out --format tinynas --device D --table space.oplat --quiet"
    )
    documents.document("space lut space.yaml --table space.oplat --missing zero")


def make_with_onnxruntime(documents):
    """Documents of whole models. The times are made, so that no machine is too slow for this."""
    models = " ".join(
        f"--model $MODELS/tiny_{name}.onnx" for name in ("cnn", "int8", "lstm", "transformer")
    )
    documents.run(
        f"oplat profile {models} --table o.oplat --runtime onnxruntime --budget 1s --quiet "
        f"&& python3 $CASES/made_times.py o.oplat"
    )
    documents.document("fit o.oplat --only composition")
    documents.document("predict $MODELS/tiny_cnn.onnx --table o.oplat")
    documents.document(
        "predict $MODELS/tiny_transformer.onnx --table o.oplat --threads 2 --allow-setting-mismatch"
    )
    documents.document("compare $MODELS/tiny_cnn.onnx $MODELS/tiny_lstm.onnx --table o.oplat")
    documents.document("plan $MODELS/tiny_int8.onnx --runtime onnxruntime")
    documents.document("validate $MODELS/tiny_cnn.onnx --table o.oplat --runtime onnxruntime")
    documents.document(
        "measure $MODELS/tiny_cnn.onnx --runtime onnxruntime --budget 4s --target-error 50%"
    )
    documents.document(
        "measure $MODELS/tiny_cnn.onnx --runtime onnxruntime --batch 1,2 --budget 15s --target-error 50%"
    )
    documents.document("predict $MODELS/tiny_cnn.onnx --table o.oplat --threads 1,2 --allow-setting-mismatch")


def main():
    oplat, models = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    jsonschema = import_jsonschema()
    schemas = {
        f"oplat.{path.stem.replace('-', '/')}": json.loads(path.read_text())
        for path in sorted(SCHEMAS.glob("*.json"))
    }
    faults = [
        f"{name}: no file in docs/reference/schemas"
        for name in sorted(names_in_sources() - set(schemas))
    ]
    faults += [
        f"{name}: a schema of a document that no source names"
        for name in sorted(set(schemas) - names_in_sources())
    ]
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        if schema["properties"]["schema"].get("const") != name:
            faults.append(
                f"{name}: its file describes {schema['properties']['schema'].get('const')}"
            )
        faults += [f"{place}: no description" for place in undescribed(schema, name)]
    with tempfile.TemporaryDirectory(prefix="oplat-schemas.") as folder:
        documents = Documents(oplat, models, Path(folder))
        make_everywhere(documents)
        complete = (models / "tiny_cnn.onnx").exists() and subprocess.run(
            [oplat, "plan", models / "tiny_cnn.onnx", "--runtime", "onnxruntime"],
            capture_output=True,
        ).returncode == 0
        if complete:
            make_with_onnxruntime(documents)
        elif REQUIRED:
            faults.append("OPLAT_TEST_REQUIRE is set, but ONNX Runtime or models/tests is missing")
        else:
            print("not validated here, without ONNX Runtime: whole models")
        for name, made in documents.made.items():
            validator = jsonschema.Draft202012Validator(schemas.get(name, False))
            for command, document in made:
                faults += [
                    f"oplat {command}: {name}: {error.json_path}: {error.message[:300]}"
                    for error in validator.iter_errors(document)
                ]
        if complete:
            faults += [
                f"{name}: no document was made"
                for name in sorted(set(schemas) - set(documents.made))
            ]
    for fault in faults:
        print(fault)
    print(
        f"{sum(map(len, documents.made.values()))} documents of {len(documents.made)} kinds, "
        f"{len(faults)} faults"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
