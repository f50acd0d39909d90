# SPDX-License-Identifier: Apache-2.0
"""What mypy must refuse (api_test.py)."""
import oplat
import oplat.torch

table = oplat.Table("desk.oplat")
text: str = table.predict("net.onnx").ms  # wrong
table.predict(3)  # wrong
table.predict("net.onnx", missing="guess")  # wrong
table.predict("net.onnx", 1)  # wrong
oplat.profile(["net.onnx"], table, progress=3)  # wrong
table.rows().median  # wrong
oplat.torch.export(3, (1, 3))  # wrong
oplat.torch.export(oplat.torch.export, "1x3x224x224", exporter="onnx")  # wrong
table.predict("net.onnx", inputs=3)  # wrong
oplat.profile([], table, keys=3)  # wrong
table.predict_many(["net.onnx"], on_error="ignore")  # wrong
ms = table.predict_many(["net.onnx"], on_error="return")[0].ms  # wrong
table.advise("net.onnx")  # wrong
table.predict_sweep("net.onnx", batch=2)  # wrong
oplat.inspect("net.onnx", threads=2)  # wrong
