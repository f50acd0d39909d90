# SPDX-License-Identifier: Apache-2.0
"""The workflow of MMT (mnn-meter) under its names: operators to a folder, their latency by MNN,
models by their sum.

    from oplat.mmt.converter import generate_ops_list      # needs torch, and MNN
    generate_ops_list("ops.yaml", "ops")
    from oplat.mmt.meter import meter_ops                  # needs MNN, not torch
    meter_ops("ops", times=100)
    from oplat.mmt.parser import predict_latency           # needs torch, not MNN
    predict_latency(model, "ops/meta_latency.pkl", [1, 3, 224, 224])

docs/guide/from-mmt.md shows it next to the original. Nothing needs CUDA, and no pickle runs code.
"""
