# SPDX-License-Identifier: Apache-2.0
"""Random networks of the space around MobileNetV3 and the blocks that they are made of, as ONNX
files.

  /usr/bin/python3 bench/lib/mobilenet_v3_space.py FOLDER COUNT

Runs under the Python that has torch and torchvision. Writes FOLDER/NAME.onnx for each network,
FOLDER/blocks/HASH.onnx for each different block, and FOLDER/space.json: name -> its blocks, each
with the bytes of its result. What is there is left alone. The space is the one that once-for-all
search uses: five stages of 2 to 4 inverted residuals, kernels of 3, 5 or 7, expansions of 3, 4 or
6, at 224 x 224.
"""
import hashlib
import json
import random
import sys
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bench")]
from lib.progress import Progress  # noqa: E402
from zoo.realistic import make_realistic  # noqa: E402

SIZE = 224
STAGES = ((24, 2, "RE", False), (40, 2, "RE", True), (80, 2, "HS", False), (112, 1, "HS", True), (160, 2, "HS", True))
DEPTHS, KERNELS, EXPANSIONS = (2, 3, 4), (3, 5, 7), (3, 4, 6)


def settings(number):
    """The inverted residuals of network `number`."""
    draw = random.Random(number)
    one = partial(InvertedResidualConfig, dilation=1, width_mult=1.0)
    chosen, inputs = [one(16, 3, 16, 16, False, "RE", 1)], 16
    for outputs, stride, activation, squeeze in STAGES:
        for place in range(draw.choice(DEPTHS)):
            chosen.append(one(inputs, draw.choice(KERNELS), inputs * draw.choice(EXPANSIONS), outputs, squeeze, activation, stride if place == 0 else 1))
            inputs = outputs
    return chosen


def export(module, values, path):
    unfinished = path.with_suffix(".partial")
    torch.onnx.export(module, values, str(unfinished), opset_version=13, input_names=["input"], output_names=["output"])
    unfinished.replace(path)


def blocks_of(model):
    """What MMT would register: the stem, every inverted residual, the last convolution, and pooling
    with the classifier."""
    return [*model.features, nn.Sequential(model.avgpool, nn.Flatten(1), model.classifier)]


def write(folder, number):
    """Exports a network and its blocks; (hash, bytes of the result) of each block, in their
    order."""
    torch.manual_seed(number)
    model = MobileNetV3(settings(number), last_channel=1280).eval()
    make_realistic(model, number)
    found, values = [], torch.randn(1, 3, SIZE, SIZE)
    if not (path := folder / f"net{number:03}.onnx").exists():
        export(model, values, path)
    for block in blocks_of(model):
        name = hashlib.sha256(f"{block!r} {tuple(values.shape)}".encode()).hexdigest()[:16]
        if not (path := folder / "blocks" / f"{name}.onnx").exists():
            export(block, values, path)
        with torch.no_grad():
            values = block(values)
        found.append([name, 4 * values.numel()])
    return found


def main(folder, count):
    torch.set_num_threads(1)
    folder, count = Path(folder), int(count)
    (folder / "blocks").mkdir(parents=True, exist_ok=True)
    path = folder / "space.json"
    space = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = [f"net{number:03}" for number in range(count)]
    missing = [number for number, name in enumerate(names) if name not in space]
    progress = Progress(count, count - len(missing))
    for number in missing:
        space[names[number]] = write(folder, number)
        unfinished = path.with_suffix(".partial")
        unfinished.write_text(json.dumps(space, sort_keys=True) + "\n", encoding="utf-8")
        unfinished.replace(path)
        progress.step(f"exported {names[number]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
