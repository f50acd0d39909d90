# SPDX-License-Identifier: Apache-2.0
"""Networks of paddle.vision.models as inference models; runs under .venv-paddle, asked by scripts/paddle_nets.

Names may end in -batch (the batch is left open) and -int8 (quantised after training, with random data).
"""

import json
import sys
from pathlib import Path

SIZES = {"inception_v3": 299}
# The flag that decides the form is read while paddle is imported: one process a form.
FORMS = {"pdmodel": False, "json": True}


def plain_name(name):
    return name.removesuffix("-batch").removesuffix("-int8")


def batch_shape(name):
    size = SIZES.get(plain_name(name), 224)
    return [-1 if name.endswith("-batch") else 1, 3, size, size]


def build(paddle, name):
    with paddle.utils.unique_name.guard():
        model = getattr(paddle.vision.models, plain_name(name))(pretrained=False)
        model.eval()
        if "-int8" in name:
            model = quantised(paddle, model, batch_shape(name))
        return model


def quantised(paddle, model, shape):
    """Scales seen over one batch of random data; weights and activations go through quantize_linear and back."""
    from paddle.quantization import PTQ, QuantConfig
    from paddle.quantization.observers import AbsmaxObserver

    observer = AbsmaxObserver(quant_bits=8)
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([paddle.nn.Conv2D, paddle.nn.Linear], activation=observer, weight=observer)
    tuner = PTQ(config)
    model = tuner.quantize(model, inplace=True)
    model(paddle.uniform([1, *shape[1:]]))
    model = tuner.convert(model, inplace=True)
    model.eval()
    return model


def export(paddle, name, folder):
    paddle.seed(0)
    model = build(paddle, name)
    spec = paddle.static.InputSpec(batch_shape(name), "float32", "x")
    with paddle.utils.unique_name.guard():
        paddle.jit.save(model, str(folder / name), input_spec=[spec])
    info = folder / (name + ".pdiparams.info")  # for training, as pickle
    info.unlink(missing_ok=True)


def main():
    form, folder, *names = sys.argv[1:]
    import paddle

    paddle.set_device("cpu")
    for name in names:
        answer = {"name": name}
        try:
            (Path(folder) / name).mkdir(parents=True, exist_ok=True)
            export(paddle, name, Path(folder) / name)
        except Exception as error:  # the caller reports it and goes on with the next network
            answer["error"] = f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
