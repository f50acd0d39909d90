# SPDX-License-Identifier: Apache-2.0
"""What oplat.mmt asks of MNN in a process of its own, which may have another interpreter:

  python -m oplat.workers.mnn.tool convert MODEL.onnx MODEL.mnn
  python -m oplat.workers.mnn.tool meter THREADS PRECISION TIMES MODEL.mnn

`meter` prints {"runs": [ms, ...]}. Errors are one line on standard error and exit status 1.
"""
import json
import os
import sys
import time
from pathlib import Path

from ..errors import Refusal, WorkerError
from ..inputs import draw_input
from .engine import Engine
from .worker import WARM_UP_RUNS, input_types, session_config


def convert(source, target):
    Engine().convert("ONNX", Path(source), Path(target), external=False)
    return ""


def meter(threads, precision, times, model):
    """Each run on inputs of its own, outside the timer: MNN writes over them."""
    engine, model = Engine(), Path(model)
    config = session_config({"precision": precision, "threads": int(threads), "options": {}})
    with engine.converted(model) as file:
        types = input_types(engine.graph(file, model))
        session = engine.session(file, config, {name: kind.dims for name, kind in types.items()})
    session.feed({name: draw_input(engine.numpy, kind, number) for number, (name, kind) in enumerate(types.items())})
    runs = []
    for number in range(WARM_UP_RUNS + int(times)):
        session.refill()
        begin = time.perf_counter_ns()
        status = session.run()
        runs.append((time.perf_counter_ns() - begin) / 1e6)
        if status:
            raise WorkerError("runtime", f"{model}: MNN's run {number} ends with status {status}")
    return json.dumps({"runs": runs[WARM_UP_RUNS:]})


def main(arguments):
    tasks = {"convert": (convert, 2), "meter": (meter, 4)}
    if not arguments or arguments[0] not in tasks or len(arguments) - 1 != tasks[arguments[0]][1]:
        sys.exit(__doc__)
    # MNN prints when it likes, at its end, too: standard output is only the answer's.
    answer = os.dup(1)
    os.dup2(2, 1)
    try:
        text = tasks[arguments[0]][0](*arguments[1:])
        os.write(answer, text.encode())
    except (Refusal, WorkerError, RuntimeError) as error:
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main(sys.argv[1:])
