#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes gru_qdq_int8.onnx: a GRU cell of 8 with seeded, untrained weights, its
tensors quantized to 8 bits, as the tests build it (test/e2e/homes.py)."""
import pathlib
import sys

import onnx
from onnx import helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "test/e2e"))
import homes  # noqa: E402
import onnxkit  # noqa: E402

model, pair = homes.gru(onnxkit, quantized=True)
graph = model.graph
names = {output.name: "y" for output in graph.output}
names[pair.split("=")[1]] = "h_next"
for node in graph.node:
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
outputs = [names[output.name] for output in graph.output]
del graph.output[:]
graph.output.extend(
    helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, homes.SIZE])
    for name in outputs)
onnx.checker.check_model(model)
onnx.save(model, HERE / "gru_qdq_int8.onnx")
