# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small ONNX models for the suites that compare with ONNX Runtime: a builder,
random inputs, both sides' outputs and their comparison."""
import json

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

KINDS = {"float": TensorProto.FLOAT, "float16": TensorProto.FLOAT16,
         "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
         "uint16": TensorProto.UINT16, "int16": TensorProto.INT16,
         "int32": TensorProto.INT32, "int64": TensorProto.INT64,
         "uint4": TensorProto.UINT4, "int4": TensorProto.INT4,
         "bool": TensorProto.BOOL, "double": TensorProto.DOUBLE}
RANGES = {"uint4": (0, 15), "int4": (-8, 7), "uint8": (0, 255),
          "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767),
          "int32": (-1000, 1000), "int64": (-1000, 1000), "bool": (0, 1)}
MICROSOFT = "com.microsoft"


class Builder:
    """One graph: inputs, constants and nodes, in the order of the calls."""

    def __init__(self, opset=17, ir=8, seed=5):
        self.opset, self.ir = opset, ir
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.functions, self.domains = [], {}

    def input(self, shape, kind="float", name=None):
        name = name or f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind],
                                                         shape))
        return name

    def constant(self, value, kind="float", name=None):
        name = name or f"c{len(self.constants)}"
        value = np.asarray(value)
        if kind in ("int4", "uint4"):
            tensor = helper.make_tensor(name, KINDS[kind], value.shape,
                                        value.reshape(-1).tolist())
        else:
            kind = "float32" if kind == "float" else kind
            tensor = numpy_helper.from_array(value.astype(kind), name)
        self.constants.append(tensor)
        return name

    def ints(self, *values):
        return self.constant(values, "int64")

    def floats(self, *values):
        return self.constant(values)

    def node(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"{op}{len(self.nodes)}_{i}" for i in range(outputs)]
        if domain:
            self.domains.setdefault(domain, 1)
        self.nodes.append(helper.make_node(
            op, list(inputs), names, name=names[0], domain=domain,
            **attributes))
        return names[0] if outputs == 1 else names

    @staticmethod
    def kind(name):
        """ONNX's number of an element type."""
        return KINDS[name]

    def quantized(self, x, scale, zero=0, kind="int8", **attributes):
        """x through QuantizeLinear and DequantizeLinear."""
        return self.dequantized(self.codes(x, scale, zero, kind, **attributes),
                                scale, zero, kind, **attributes)

    def codes(self, x, scale, zero=0, kind="int8", **attributes):
        return self.node("QuantizeLinear", x, self.constant(scale),
                         self.constant(np.broadcast_to(zero, np.shape(scale)),
                                       kind), **attributes)

    def dequantized(self, q, scale, zero=0, kind="int8", **attributes):
        return self.node("DequantizeLinear", q, self.constant(scale),
                         self.constant(np.broadcast_to(zero, np.shape(scale)),
                                       kind), **attributes)

    def draw(self, shape, kind="int8", low=None, high=None):
        least, most = RANGES[kind]
        return self.rng.integers(max(least, -20) if low is None else low,
                                 (min(most, 20) if high is None else high) + 1,
                                 shape)

    def weights(self, *shape, scale=0.25, zero=0, kind="int8", **attributes):
        """Integers followed by a DequantizeLinear."""
        return self.dequantized(self.constant(self.draw(shape, kind), kind),
                                scale, zero, kind, **attributes)

    def output(self, *names):
        self.outputs += names

    def model(self):
        graph = helper.make_graph(
            self.nodes, "g", self.inputs,
            [onnx.ValueInfoProto(name=n) for n in self.outputs
             or [self.nodes[-1].output[0]]], self.constants)
        sets = [helper.make_opsetid("", self.opset)] + [
            helper.make_opsetid(d, v) for d, v in self.domains.items()]
        return helper.make_model(graph, opset_imports=sets,
                                 ir_version=self.ir, functions=self.functions)


def feeds_for(model, frames=3, seed=1, step=0.125, shapes=None):
    """Random inputs by name, [frame, shape…]; reals are multiples of `step`,
    so that sums are exact in float32."""
    rng = np.random.default_rng(seed)
    held = {t.name for t in model.graph.initializer}
    made = {}
    for info in model.graph.input:
        if info.name in held:
            continue
        tensor = info.type.tensor_type
        shape = (shapes or {}).get(info.name) or [
            max(d.dim_value, 1) for d in tensor.shape.dim]
        kind = next(k for k, v in KINDS.items() if v == tensor.elem_type)
        if kind in RANGES:
            low, high = RANGES[kind]
            values = rng.integers(low, high + 1, [frames, *shape])
            made[info.name] = values.astype(kind)
        else:
            values = rng.integers(-80, 81, [frames, *shape]) * step
            made[info.name] = values.astype(
                "float32" if kind == "float" else kind)
    return made


def runtime_outputs(model, feeds):
    """ONNX Runtime's, without its optimizations, frame by frame."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model if isinstance(model, str) else model.SerializeToString(),
        options, providers=["CPUExecutionProvider"])
    frames = len(next(iter(feeds.values())))
    rows = [session.run(None, {k: np.asarray(v[f]) for k, v in feeds.items()})
            for f in range(frames)]
    return [np.stack(column) for column in zip(*rows)]


def our_outputs(suite, path, feeds, outputs, options=()):
    """The CPU path's, or the result of the failed command."""
    data = suite.work / "inputs.npz"
    np.savez(data, **{
        name: values.astype("float32" if values.dtype.kind == "f" else "int64")
        for name, values in feeds.items()})
    command = ["evaluate", path, "--data", data, *options, "--json",
               "--float-frames", 0, "--layer-frames", 0]
    files = [suite.work / f"out{i}.npy" for i in range(outputs)]
    for file in files:
        file.unlink(missing_ok=True)
        command += ["--output", file]
    result = suite.run(*command, timeout=120)
    if result.status != 0:
        return None, result
    return [np.load(file) for file in files], result


def refusals(result):
    """The message of a refusing command, in one line."""
    answer = result.json or {}
    return answer.get("error") or "; ".join(
        f"{r['node']} ({r['op']}): {r['reason']}"
        for r in answer.get("refused", [])) or result.message


def difference(got, want, within, few=0.02):
    """"" if the outputs agree, otherwise the difference. With a bound `within`, a share
    `few` of the elements may differ by that much."""
    for k, (g, w) in enumerate(zip(got, want)):
        if g.shape != w.shape:
            return f"output {k} has the shape {g.shape[1:]}, not {w.shape[1:]}"
        g, w = g.astype(np.float64), w.astype(np.float64)
        apart = abs(g - w)
        apart[(g == w) | (np.isnan(g) & np.isnan(w))] = 0
        bad = ~(apart <= within)
        if (apart > 1e-5 * abs(w)).sum() > max(1, few * g.size):
            bad = apart > 1e-5 * abs(w)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return (f"output {k}: {bad.sum()} of {g.size} elements differ, at "
                    f"{at[1:]} {g[at]} instead of {w[at]}")
    return ""


def agrees(suite, label, model, feeds=None, want=None, options=(), within=0.0,
           host=None, shapes=None):
    """Checks that `evaluate MODEL --output` gives ONNX Runtime's outputs (or `want`),
    and that `coverage` puts this many operations on the host."""
    path = suite.work / f"{label.replace(' ', '_').replace('/', '_')}.onnx"
    made = isinstance(model, onnx.ModelProto)
    if made:
        onnx.save(model, path)
    else:
        path, model = model, onnx.load(model, load_external_data=False)
    feeds = feeds or feeds_for(model, shapes=shapes)
    try:
        want = want or runtime_outputs(str(path), feeds)
    except Exception as why:  # the model is wrong, or the runtime lacks it
        return suite.check(False, f"{label}: no reference: {str(why)[:300]}")
    got, result = our_outputs(suite, path, feeds, len(want), options)
    why = refusals(result) if got is None else difference(got, want, within)
    good = suite.check(not why, label + (f": {why}" if why else ""),
                       result.command)
    if host is not None:
        told = suite.run("coverage", path, *options, "--json")
        found = (told.json or {}).get("host")
        good &= suite.check(found == host, f"{label}: {found} operations on "
                            f"the host, wanted {host}", told.command)
    if good and made:
        path.unlink()
    return good


def is_refused(suite, label, model, *says, options=(), command="coverage"):
    """Checks that the model is refused with status 1 and a message that has
    every one of `says`."""
    path = model
    if isinstance(model, onnx.ModelProto):
        path = suite.work / f"{label.replace(' ', '_')}.onnx"
        onnx.save(model, path)
    result = suite.run(command, path, *options, "--json")
    text = json.dumps(result.json, ensure_ascii=False)
    missing = [s for s in says if s not in text]
    return suite.check(
        result.status == 1 and result.json and not missing,
        f"{label}: status {result.status}, {refusals(result)[:250]}"
        + (f"; lacks {missing}" if missing else ""), result.command)
