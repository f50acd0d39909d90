#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes and compares tables of MMT by Python's own pickle, with a class in the place of
mmt.utils.ops_meta.

  mmt_table.py write FILE.pkl [--protocol N] [--kind
  measured|older|unmeasured|clashes|global|reduce] mmt_table.py same ONE.pkl OTHER.pkl
"""
import argparse
import fractions
import pickle
import sys
import types

ops_meta = type("ops_meta", (), {"__module__": "mmt.utils"})
sys.modules["mmt"] = types.ModuleType("mmt")
sys.modules["mmt.utils"] = types.ModuleType("mmt.utils")
sys.modules["mmt.utils"].ops_meta = ops_meta


def operator(shape, parameters, file, avg, name):
    """One entry, its attributes in the order of the original's."""
    made = ops_meta()
    times = {"avg": avg, "max": 2 * avg, "min": avg / 2} if avg else {"avg": 0, "max": 0, "min": 0}
    made.__dict__ = {"input_shape": shape, "init_param": parameters, "mnn_fname": file, **times, "repr": name,
                     "set_path": "/data/\u64cd\u4f5c"}
    return made


def older(made):
    """As MMT 1 has it: with the class of the operator, any that can be imported, and without the
    folder."""
    attributes = dict(made.__dict__)
    del attributes["set_path"]
    made.__dict__ = {"classname": fractions.Fraction, **attributes}
    return made


def table(kind):
    if kind == "reduce":
        return [print]
    if kind == "global":
        return [types.SimpleNamespace]
    if kind == "older":
        return [older(each) for each in table("measured")]
    measured = kind != "unmeasured"
    block = "ResNetBasicBlock-64-64-1-3-"
    found = [
        operator([1, 64, 112, 112], {"in_channels": 64, "stride": [2, 1], "pair": (1, 2)}, f"{block}1-64-112-112.mnn", 0.5 * measured, block),
        operator([1, 64, 112, 112], None, "ReLU-1-64-112-112.mnn", 0.25 * measured, "ReLU()"),
        operator([1, 512], {"in_features": 512, "out_features": 10}, "Linear-512-10-1-512.mnn", 0.125 * measured,
                 "Linear(in_features=512, out_features=10, bias=True)"),
    ]
    if kind == "clashes":
        found.append(operator([1, 512], {"in_features": 512, "out_features": 100}, "Linear-512-10-1-512.mnn", 0.125,
                              "Linear(in_features=512, out_features=100, bias=True)"))
        found.append(operator([1, 64, 112, 112], {"in_channels": 64, "stride": [1, 1]}, "other.mnn", 4.0, block))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("write", "same"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--protocol", type=int, default=4)
    parser.add_argument("--kind", default="measured")
    options = parser.parse_args()
    if options.task == "write":
        with open(options.files[0], "wb") as file:
            pickle.dump(table(options.kind), file, options.protocol)
        return 0
    loaded = []
    for name in options.files:
        with open(name, "rb") as file:
            loaded.append([(type(each).__name__, list(each.__dict__.items())) for each in pickle.load(file)])
    return int(loaded[0] != loaded[1])


if __name__ == "__main__":
    sys.exit(main())
