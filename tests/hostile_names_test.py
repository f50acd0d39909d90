#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of untrusted files, of workers and of the command line cannot command a terminal:
hostile_names_test.py OPLAT

Feeds hostile names through every reader of the real program and looks at all that it prints. No
text on standard output or standard error holds a control character but line end and tab, nor a
character that changes the direction of text, nor bytes that are not UTF-8; no name begins a line;
JSON is valid and a run says what it should with a documented exit code.
"""
import concurrent.futures
import json
import os
import pickle
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tty
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "cli"))
import paddle_program  # noqa: E402
from paddle_program import block, number  # noqa: E402

OPLAT = Path(sys.argv[1]).resolve()
SOURCES = Path(__file__).resolve().parent
CORPUS = SOURCES.parent / "fuzz" / "corpus"

# Clear the screen, set the title, forge a line, return, delete, C1 in UTF-8, write backwards,
# isolate, a mark.
NAME = "E\x1b[2J\x1b]0;t\x07\noplat: forged\r\x7f\u009b31m\u202eb\u2066c\u200f"
BYTES = NAME.encode() + b"\xff\xfe\xc3("
WITH_NUL = BYTES + b"\0z"
LONG = "x" * (1 << 20)
# What a name shows of itself, wherever it was printed.
SHOWN = re.compile(rb"\\x1b|\\u\{9b\}|\\u\{202e\}|\\x7f|\\x07|\\x0d|\\u001b")
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
EXIT_CODES = {0, *range(2, 9)}  # 1 is a mistake of the program
WORKER_EXIT_CODES = {*EXIT_CODES, 1}  # and of a worker: it cannot serve (worker-protocol.md)

failures = []


def check_text(what, stream, text):
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        return [f"{what}: {stream} is not UTF-8: {error}"]
    wrong = []
    if found := FORBIDDEN.search(decoded):
        wrong.append(f"{what}: {stream} holds {found[0]!r} in {decoded[max(0, found.start() - 80):found.end() + 20]!r}")
    if re.search(r"(?m)^oplat: forged", decoded):
        wrong.append(f"{what}: a name begins a line of {stream}")
    return wrong


def run(what, *arguments, folder, shows=True, env=None, json_document=False, limit=1 << 17):
    """Runs oplat; `shows`: the name must turn up, so that it is known to have been there."""
    done = subprocess.run([str(OPLAT), *arguments], cwd=folder, capture_output=True, timeout=300,
                          env={**os.environ, "OPLAT_TABLE": "", "XDG_CACHE_HOME": str(folder / "cache"), **(env or {})})
    wrong = check_text(what, "standard error", done.stderr)
    if json_document:
        try:
            json.loads(done.stdout.decode())
        except ValueError as error:
            wrong.append(f"{what}: standard output is not JSON: {error}")
    else:
        wrong += check_text(what, "standard output", done.stdout)
    if done.returncode not in (WORKER_EXIT_CODES if arguments[0] == "worker" else EXIT_CODES):
        wrong.append(f"{what}: exit {done.returncode}: {done.stderr[-2000:]!r}")
    if len(done.stderr) > limit:
        wrong.append(f"{what}: {len(done.stderr)} bytes on standard error")
    if shows and not SHOWN.search(done.stdout + done.stderr):
        wrong.append(f"{what}: the name does not turn up: exit {done.returncode}, {done.stdout[-300:]!r}, {done.stderr[-300:]!r}")
    return wrong


# ---- ONNX, field by field (formats/onnx/onnx.proto) ----
def tensor_type(dims):
    shape = b"".join(block(1, number(1, dim) if isinstance(dim, int) else block(2, dim)) for dim in dims)
    return block(1, number(1, 1) + block(2, shape))


def value(name, dims):
    return block(1, name) + block(2, tensor_type(dims))


def onnx_model(inputs, outputs, nodes, initialisers=(), domains=()):
    graph = b"".join(block(1, node) for node in nodes) + block(2, "g") + b"".join(block(5, one) for one in initialisers)
    graph += b"".join(block(11, one) for one in inputs) + b"".join(block(12, one) for one in outputs)
    opsets = block(8, number(2, 17)) + b"".join(block(8, block(1, domain) + number(2, 1)) for domain in domains)
    return number(1, 8) + opsets + block(7, graph)


def node(op, inputs, outputs, name=b"", domain=b"", attributes=()):
    made = b"".join(block(1, one) for one in inputs) + b"".join(block(2, one) for one in outputs)
    made += block(3, name) + block(4, op) + b"".join(block(5, one) for one in attributes) + block(7, domain)
    return made


def external(name, location, dims):
    entry = block(13, block(1, "location") + block(2, location))
    return b"".join(number(1, dim) for dim in dims) + number(2, 1) + block(8, name) + entry + number(14, 1)


def onnx_cases(folder):
    def save(name, model):
        (folder / name).write_bytes(model)
        return name

    rules = folder / "rules-onnx.yaml"
    rules.write_text('format: oplat.rules/1\nname: r\nruntime: r\nversions: ["1"]\nreads: onnx\nmakes: paddle_lite\norder: as-written\n'
                     "passes:\n  - name: p\n    match: [{node: a, op: scale}]\n    remove: all\n    forward: {from: a.Out, to: a.X}\n")
    for kind, name in (("name", BYTES), ("nul", WITH_NUL), ("long", LONG)):
        shown = kind != "long"
        plain = save(f"{kind}-inputs.onnx", onnx_model([value(name, [name, 4])], [value("y", [2])], [node("Relu", [name], ["y"])]))
        for flags in (["--batch", "2"], ["--shape", "nobody=1x4"], ["--shape", "nobody=1x4", "--batch", "3"], []):
            yield f"ONNX input {kind} {flags}", ["plan", plain, "--plan", "rules:paddle-lite", *flags], {"shows": shown and flags not in ([], ["--batch", "2"])}
            yield f"ONNX input {kind} predicted {flags}", ["predict", plain, "--table", "good.oplat", *flags], {"shows": False}
        two = onnx_model([value(name, [name]), value(b"z" + name, [name])], [value("y", [2])], [node("Add", [name, b"z" + name if isinstance(name, bytes) else "z" + name], ["y"])]) if kind != "long" else None
        if two:
            yield f"ONNX shapes that disagree {kind}", ["plan", save(f"{kind}-two.onnx", two), "--plan", "rules:paddle-lite"], {"shows": True}
        hostile = onnx_model([value("x", [2])], [value(name, [2])],
                             [node(name, ["x"], [name], name=name, domain=name, attributes=[block(1, name) + number(20, 2) + number(3, 1)])], domains=[name])
        yield f"ONNX operator {kind}", ["plan", save(f"{kind}-op.onnx", hostile), "--plan", "rules:paddle-lite"], {"shows": shown}
        missing = onnx_model([value("x", [2])], [value("y", [2])], [node("Add", ["x", name], ["y"], name=name)])
        yield f"ONNX operand that is missing {kind}", ["plan", save(f"{kind}-lost.onnx", missing), "--plan", "rules:paddle-lite"], {"shows": False}
        far = onnx_model([value("x", [2])], [value("y", [2])], [node("Add", ["x", name], ["y"])], [external(name, b"lost-" + name if isinstance(name, bytes) else "lost-" + name, [2])])
        yield f"ONNX external data {kind}", ["plan", save(f"{kind}-far.onnx", far), "--runtime", "onnxruntime"], {"shows": shown}
        wrong = number(1, 3) + number(2, 1) + block(8, name) + block(9, b"\0" * 7)
        sizes = onnx_model([value("x", [3])], [value("y", [3])], [node("Add", ["x", name], ["y"])], [wrong])
        yield f"ONNX constant of another size {kind}", ["plan", save(f"{kind}-size.onnx", sizes), "--plan", "rules:paddle-lite"], {"shows": shown}


# ---- tables ----
def make_table(folder):
    done = subprocess.run([str(OPLAT), "import", str(CORPUS / "tinynas_library" / "plain"), "--format", "tinynas", "--table", "good.oplat",
                           "--device", "V100", "--precision", "FP32", "--skip-bad-rows"],
                          cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"cannot make a table: {done.stderr}")


def damage(folder, name, statements):
    shutil.copy(folder / "good.oplat", folder / name)
    base = sqlite3.connect(folder / name, isolation_level=None)
    base.execute("PRAGMA foreign_keys = OFF")
    base.execute("PRAGMA ignore_check_constraints = ON")
    for statement, values in statements:
        base.execute(statement, values)
    base.close()
    return name


def table_cases(folder):
    net = str(folder / "net.pdmodel")
    named = damage(folder, "named.oplat", [
        ("UPDATE device SET name = ?, cpu = ?, isa = ?", (NAME, NAME, NAME)),
        ("UPDATE setting SET runtime = ?, version = ?, build = ?", (NAME, NAME, NAME)),
        ("UPDATE setting SET options = ?", (json.dumps({NAME: NAME}),)),
        ("INSERT INTO plan(identity, model, source, batch, weight_bytes, activation_bytes) VALUES ('p', ?, ?, 1, 0, 0)", (NAME, NAME)),
        ("INSERT INTO plan_kernel(plan, position, name, kernel, count) VALUES (1, 0, ?, 1, 1)", (NAME,)),
        ("INSERT INTO model_row(id, plan_identity, device, setting, name, batch, outcome, reason, copies, topology, flags) SELECT 1, 'p', device, setting, ?, 1, 'failed', ?, 1, '', '[]' "
         "FROM row LIMIT 1", (NAME, NAME)),
        ("UPDATE row SET outcome = 'failed', reason = ? WHERE id = 2", (NAME,)),
        ("UPDATE row SET flags = ?", (json.dumps([NAME]),)),
    ])
    for command in (["table", "info", named], ["check", named], ["fit", named], ["accuracy", named], ["predict", net, "--table", named],
                    ["estimate", "Relu/14{}(f32[1,16])->(f32[1,16])", "--table", named], ["verify", named],
                    ["export", named, "--format", "tinynas", "--out", "x.out"], ["compare", net, net, "--table", named],
                    ["predict", net, "--table", named, "--device", "nobody"]):
        yield f"table names: {command[:2]}", command, {"shows": command[0] not in ("export", "compare", "predict", "estimate", "accuracy")}
    yield "table rows", ["table", "rows", named], {"shows": False}
    for form in ("table", "info", named, "--json"), ("table", "rows", named, "--json"), ("check", named, "--json"):
        yield f"table as JSON {form}", list(form), {"shows": False, "json_document": True}
    keys = damage(folder, "keys.oplat", [("UPDATE kernel SET key = ?", (f"Relu/14{{a=\"{NAME}\"}}()->()",))])
    for command in (["table", "rows", keys], ["check", keys]):
        yield f"table keys: {command[:2]}", command, {"shows": True}
    for column in ("row.outcome", "row.reason", "setting.options", "row.flags", "row.median_ns", "device.cores", "native_file.format"):
        table, name = column.split(".")
        file = damage(folder, f"cell-{column}.oplat", [(f'UPDATE "{table}" SET "{name}" = ?', (NAME,))])
        for command in (["table", "info", file], ["table", "rows", file], ["export", file, "--format", "tinynas", "--out", "x.out"]):
            yield f"cell {column}: {command[:2]}", command, {"shows": False}
    schema = damage(folder, "schema.oplat", [("PRAGMA writable_schema = ON", ()),
                                             ("UPDATE sqlite_master SET name = ?, sql = 'CREATE TABLE oops' WHERE name = 'row'", (NAME,))])
    yield "schema of a table", ["table", "info", schema], {"shows": True}
    odd = damage(folder, "objects.oplat", [(f'CREATE TABLE "{NAME[:1]}{NAME[1:].replace(chr(0), "")}" (a)', ())])
    yield "objects of a table", ["table", "info", odd], {"shows": False}
    (folder / "not.oplat").write_bytes(WITH_NUL)
    yield "bytes in place of a table", ["table", "info", "not.oplat"], {"shows": False}


# ---- Paddle, Caffe2, TinyNAS, rules, spaces ----
def paddle_cases(folder):
    def program(name, kind="relu", attribute="a"):
        made = paddle_program.Program()
        made.holder("feed", 9), made.holder("fetch", 10)
        made.tensor(name, [1, 4]), made.tensor(name + b"2", [1, 4])
        made.op("feed", {"X": ["feed"]}, {"Out": [name]}, col=0)
        made.op(kind, {"X": [name]}, {"Out": [name + b"2"]}, **{attribute: 1})
        made.op("fetch", {"X": [name + b"2"]}, {"Out": ["fetch"]}, col=0)
        return made.bytes()

    # A file name holds no NUL, but names in a program do.
    for kind, name in (("name", BYTES), ("nul", WITH_NUL)):
        (folder / f"{kind}.pdmodel").write_bytes(program(name))
        (folder / f"{kind}-op.pdmodel").write_bytes(program(b"x", kind=name))
        for file in (f"{kind}.pdmodel", f"{kind}-op.pdmodel"):
            yield f"Paddle {file}", ["plan", file, "--plan", "rules:paddle-lite"], {"shows": True}
            yield f"Paddle {file} as JSON", ["plan", file, "--plan", "rules:paddle-lite", "--json"], {"shows": False, "json_document": True}
            yield f"Paddle {file} predicted", ["predict", file, "--table", "good.pkl", "--per-op", "--missing", "zero"], {"shows": False}
            yield f"Paddle {file} for PaddleSlim", ["paddleslim", "predict", "--model", file, "--table", "good.pkl", "--per-op"], {"shows": False}
            yield f"Paddle {file} shaped", ["plan", file, "--plan", "rules:paddle-lite", "--shape", "nobody=1x4"], {"shows": "op" not in file}
    pir = {"base_code": {"magic": "pir", "trainable": False, "version": 1},
           "program": {"regions": [{"#": "r", "blocks": [{"#": "b", "args": [], "ops": [{"#": NAME, "I": [{"%": 1}], "O": [{"%": 2, "TT": {"#": NAME}}], "A": [{"N": NAME}]}]}]}]}}
    (folder / "pir.json").write_text(json.dumps(pir))
    yield "Paddle's JSON", ["plan", "pir.json", "--plan", "rules:paddle-lite"], {"shows": False}
    for name, rows in (("keys.pkl", {NAME: 1.0}), ("values.pkl", {"relu in=(1, 4) out=(1, 4)": NAME}), ("fields.pkl", {f"conv2d in=(1, 3) weight={NAME}": 1.0})):
        (folder / name).write_bytes(pickle.dumps(rows, 3))
        yield f"pickle {name}", ["import", name, "--format", "paddleslim", "--table", f"{name}.oplat", "--device", "d"], {"shows": True}
        yield f"pickle {name} predicted", ["paddleslim", "predict", "--model", "name.pdmodel", "--table", name], {"shows": False}
    # A class that the reader will not make.
    (folder / "class.pkl").write_bytes(b"c" + NAME.split("\n")[0].encode() + b"\nsystem\n.")
    yield "pickle of a class", ["import", "class.pkl", "--format", "paddleslim", "--table", "c.oplat", "--device", "d"], {"shows": False}


def text_cases(folder):
    """Every reader of text: its good file with the name in place of words."""
    line = BYTES.replace(b"\n", b" ")
    files = {"tinynas_library": ["import", "{}", "--format", "tinynas", "--table", "{}.oplat", "--device", "d", "--precision", "FP32"],
             "tinynas_log": ["tinynas", "collect", "{}"],
             "tinynas_structure": ["tinynas", "convs", "{}"],
             "evaluator_table": ["import", "{}", "--format", "paddle-evaluator", "--table", "{}.oplat"],
             "lookup_table": ["import", "{}", "--format", "paddle-lookup", "--table", "{}.oplat"],
             "paddle_profile": ["import", "{}", "--format", "paddle-lite-profile", "--table", "{}.oplat", "--device", "d"],
             "lut_jsonl": ["import", "{}", "--format", "lut", "--table", "{}.oplat", "--device", "d"],
             "rules": ["rules", "{}"],
             "space": ["search", "expand", "{}"]}
    for reader, command in files.items():
        good = next(CORPUS / reader / name for name in ("plain", "good.txt", "good.log", "good.json", "classes") if (CORPUS / reader / name).exists())
        text = good.read_bytes()
        words = [word for word in re.finditer(rb"[A-Za-z_][A-Za-z_0-9]*", text)][:300]
        quoted = json.dumps(NAME).encode()[1:-1]
        for index, word in enumerate(words[:: max(1, len(words) // 6)]):
            put = quoted if index % 2 else line
            file = f"{reader}-{index}"
            (folder / file).write_bytes(text[:word.start()] + put + text[word.end():])
            yield f"{reader} word {word[0].decode()}", [part.format(file) for part in command], {"shows": False}
        for form, put in (("behind", text + b"\n" + line + b"\n"), ("alone", WITH_NUL), ("long", text + LONG.encode())):
            file = f"{reader}-{form}"
            (folder / file).write_bytes(put)
            yield f"{reader} {form}", [part.format(file) for part in command], {"shows": reader == "tinynas_library" and form == "alone"}


def caffe2_cases(folder):
    good = (CORPUS / "netdef" / "fp32.pbtxt").read_text()
    drawing = (CORPUS / "caffe2_svg" / "drawing.svg").read_bytes()
    escaped = "".join(f"\\{byte:03o}" for byte in BYTES)
    for index, (old, new) in enumerate((('"c"', f'"{escaped}"'), ('"Conv"', f'"{escaped}"'), ('name: "kernel"', f'name: "{escaped}"'), ("op {", "op\x1b[2J {"))):
        net = folder / f"net{index}"
        net.mkdir()
        (net / "model.pbtxt").write_text(good.replace(old, new))
        (net / "model_init.pbtxt").write_text('name: "i"\n')
        (net / "model.svg").write_bytes(drawing.replace(b"Conv", BYTES))
        for command in (["lut", "--model_path", net.name, "--db_dir", "."], ["lut", "ops", "--model_path", net.name], ["lut", "--model_path", net.name, "--queries"]):
            yield f"Caffe2 net {index} {command[1:2]}", command, {"shows": False}
        yield f"Caffe2 net {index} planned", ["plan", f"{net.name}/model.pbtxt", "--plan", "rules:paddle-lite"], {"shows": False}
    yield "query of a table of lines", ["lut", "find", str(CORPUS / "lut_jsonl" / "good.json"), json.dumps({"op_type": NAME})], {"shows": False}


# ---- the command line ----
def commands():
    """Every command with the names of its flags that take a value, as --help has them."""
    def of(path):
        help_text = subprocess.run([str(OPLAT), *path, "--help"], capture_output=True, text=True, timeout=60).stdout
        parts = help_text.split("Subcommands:")
        found = [path] if path else []
        flags = re.findall(r"(?m)^  (--[a-z_-]+)[^ ]* (?:TEXT|FILE|DIR|INT|UINT|FLOAT|NAME|JSON|TIME|COMMAND|E|SPLIT|N|OPERATOR|SPACE)", help_text)
        yield_list = [(path, flags)] if path else []
        if len(parts) > 1:
            for name in re.findall(r"(?m)^  ([a-z-]+)", parts[1]):
                yield_list += of([*path, name])
        return yield_list if found or len(parts) > 1 else []
    return of([])


def command_line_cases(folder):
    hostile = os.fsdecode(BYTES)
    yield "unknown command", [hostile], {}
    yield "unknown flag", ["plan", "x", f"--{hostile}"], {}
    yield "device from the environment", ["table", "info"], {"env": {"OPLAT_TABLE": hostile}}
    seen = set()
    for path, flags in commands():
        yield f"{path} with a file of that name", [*path, hostile], {"shows": False}
        for flag in flags:
            if flag not in seen:
                yield f"{path} {flag}", [*path, "good.oplat", f"{flag}={hostile}"], {"shows": False}
            seen.add(flag)
    good = folder / hostile
    shutil.copy(folder / "good.oplat", good)
    yield "table of that name", ["table", "info", hostile], {}
    yield "import into a table of that name", ["import", str(CORPUS / "tinynas_library" / "plain"), "--format", "tinynas", "--table", hostile,
                                               "--device", "V100", "--precision", "FP32", "--skip-bad-rows"], {}
    yield "key of that name", ["estimate", hostile, "--table", "good.oplat"], {}


def printed_as_they_are(folder):
    """Names in other scripts are not hostile."""
    name = "zażółć-模型.oplat"
    shutil.copy(folder / "good.oplat", folder / name)
    done = subprocess.run([str(OPLAT), "table", "info", name], cwd=folder, capture_output=True, text=True, timeout=60)
    missing = subprocess.run([str(OPLAT), "table", "info", "nié" + name], cwd=folder, capture_output=True, text=True, timeout=60)
    wrong = [] if name in done.stdout else [f"{name} is not printed as it is: {done.stdout}{done.stderr}"]
    return wrong + ([] if "nié" + name in missing.stderr else [f"nié{name} is not printed as it is: {missing.stderr}"])


def on_a_terminal(folder):
    """A form for programs keeps the bytes in a file or a pipe, and cannot command a terminal that
    it is printed on."""
    wrong = []
    for form in ("--csv", "--json"):
        command = ["table", "rows", "named.oplat", form]
        piped = subprocess.run([str(OPLAT), *command], cwd=folder, capture_output=True, timeout=60).stdout
        if form == "--csv" and b"\x1b[2J" not in piped:
            wrong.append(f"{command}: a pipe gets other bytes than the table holds: {piped[:300]!r}")
        leader, follower = pty.openpty()
        tty.setraw(follower)
        program = subprocess.Popen([str(OPLAT), *command], cwd=folder, stdout=follower, stderr=subprocess.DEVNULL)
        os.close(follower)
        printed = b""
        try:
            while part := os.read(leader, 1 << 16):
                printed += part
        except OSError:  # the end of a terminal
            pass
        os.close(leader)
        program.wait(60)
        # A quoted cell of CSV may hold line ends.
        wrong += [each for each in check_text(f"{command} on a terminal", "standard output", printed)
                  if form != "--csv" or "begins a line" not in each]
        if not SHOWN.search(printed):
            wrong.append(f"{command} on a terminal: the name does not turn up: {printed[:300]!r}")
    return wrong


# ---- workers ----
WORKER = '''
import json, os, sys
NAME, how = json.loads(sys.argv[1]), sys.argv[2]
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.stderr.buffer.write(NAME.replace("\\n", " ").encode() + b"\\xff\\n")
sys.stderr.flush()
for line in sys.stdin:
    request = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    method = request["method"]
    named = how == "named"
    if how == method:
        answer["error"] = {"code": -32000, "message": NAME, "data": {"code": "runtime"}}
    elif how == "rubbish" and method == "plan":
        out.write(NAME.replace("\\n", "") + "\\n"); out.flush(); continue
    elif how == "dies" and method == "plan":
        sys.exit(1)
    elif method == "hello":
        word = NAME if named else "r"
        answer["result"] = {"protocol": 1, "runtime": "r", "version": word, "build": word, "device": {"name": word, "cpu": word},
                            "options": {word: {"values": [word], "default": word}}, "precisions": ["model", word]}
    elif method == "plan":
        key = "Relu/14{}(f32[1,16])->(f32[1,16])" if how != "key" else NAME
        answer["result"] = {"model": NAME, "source": NAME, "batch": 1, "kernels": [{"name": NAME, "key": key, "count": 1}]}
    elif method == "put":
        answer["result"] = {"complete": True, "path": "/there/plain.onnx"}
    elif method == "open":
        answer["result"] = {"failed": NAME} if how != "block" else {"opened": {"handle": 1, "bytes": 1, "topology": "single"}}
    elif method == "block":
        answer["result"] = {"failed": NAME}
    else:
        answer["result"] = {}
    print(json.dumps(answer), file=out, flush=True)
    if method == "shutdown":
        break
'''


def worker_cases(folder):
    (folder / "worker.py").write_text(WORKER)
    (folder / "plain.onnx").write_bytes(onnx_model([value("x", [2])], [value("y", [2])], [node("Relu", ["x"], ["y"])]))
    for how in ("named", "hello", "plan", "key", "rubbish", "dies", "open", "block"):
        command = f"{sys.executable} {folder / 'worker.py'} '{json.dumps(NAME)}' {how}"
        worker = ["--runtime", "r", "--worker", command]
        yield f"worker {how}: plan", ["plan", "plain.onnx", *worker], {"shows": True}
        yield f"worker {how}: plan, all said", ["plan", "plain.onnx", *worker, "--verbose"], {"shows": True}
        yield f"worker {how}: measure", ["measure", "plain.onnx", *worker], {"shows": False}
        yield f"worker {how}: profile", ["profile", "--model", "plain.onnx", "--table", f"{how}.oplat", *worker, "--budget", "2s"], {"shows": False}
        yield f"worker {how}: option", ["plan", "plain.onnx", *worker, "--option", f"{os.fsdecode(BYTES)}=1"], {"shows": True}


# The one way to standard output and standard error: a message or a report that is printed elsewhere
# would escape.
PRINTERS = {"cli/output.cpp", "cli/terminal.cpp", "cli/progress.cpp", "cli/main.cpp", "runtimes/serve.cpp", "runtimes/qnnpack/main.cpp"}
PRINTS = re.compile(r"\bfmt::print\(|std::(cout|cerr|clog)\b|\bf?puts\(|\bf?printf\(|\bfwrite\(")


def printers():
    source = SOURCES.parent / "src"
    for path in sorted(source.rglob("*.cpp")):
        name = str(path.relative_to(source))
        if name in PRINTERS:
            continue
        for at, text in enumerate(path.read_text().splitlines(), 1):
            if PRINTS.search(text.split("//")[0]):
                yield f"src/{name}:{at}: prints past cli/terminal.hpp: {text.strip()}"


def main():
    with tempfile.TemporaryDirectory(prefix="oplat-hostile-") as name:
        folder = Path(name)
        make_table(folder)
        subprocess.run([sys.executable, "-B", str(SOURCES / "cli" / "paddle_program.py"), "net"], cwd=folder, check=True)
        subprocess.run([sys.executable, "-B", str(SOURCES / "cli" / "paddle_table.py"), "good.pkl"], cwd=folder, check=True)
        cases = [case for source in (onnx_cases, table_cases, paddle_cases, text_cases, caffe2_cases, worker_cases, command_line_cases) for case in source(folder)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [wrong for wrongs in pool.map(lambda case: run(case[0], *case[1], folder=folder, **case[2]), cases) for wrong in wrongs]
        found += printed_as_they_are(folder) + on_a_terminal(folder) + list(printers())
    for wrong in found:
        print(wrong)
    print(f"{len(cases)} runs, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
