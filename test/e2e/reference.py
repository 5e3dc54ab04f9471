# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QDQ networks against ONNX Runtime, which computes them in float32, and
against an exact evaluation in numpy. Three statements:
1. The outputs of rhizome equal those of the exact evaluation, every element.
2. Where ONNX Runtime's codes differ from what its own inputs of that layer
   give exactly, the exact value is a tie, or so near to a rounding boundary
   that float32's error explains it; anything else counts as a bug.
3. A frame in which ONNX Runtime's layers are exact has rhizome's outputs.
"""
import pathlib
import sys

import networks
from framework import Skip, slug

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "reference"))

UNIT = 2.0 ** -24   # float32's relative rounding error
TIE = 1e-9          # float64's, in steps of the quantizer, with room
SIGNLESS = {"Relu", "LeakyRelu", "Clip", "Identity", "Dropout"}
INT_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767),
              "uint16": (0, 65535)}


def modules():
    try:
        import numpy
        import onnx
        import ort_reference
        import qonnx_reference
    except ImportError as why:
        raise Skip(f"Python's {why.name} is missing ('make setup' installs "
                   f"it)") from why
    return numpy, onnx, ort_reference, qonnx_reference


class Exact:
    """One frame through a QDQ graph in float64. With ONNX Runtime's tensors
    of that frame, every quantizer starts from ONNX Runtime's codes."""

    def __init__(self, model, frame, runtime, follow):
        self.np, self.onnx, _, self.reference = modules()
        from onnx.reference import ReferenceEvaluator
        self.evaluator = ReferenceEvaluator
        self.runtime, self.follow = runtime, follow
        self.opset = max(s.version for s in model.opset_import
                         if s.domain in ("", "ai.onnx"))
        self.values = {t.name: self.onnx.numpy_helper.to_array(t)
                       for t in model.graph.initializer}
        self.types = {k: v.dtype.name for k, v in self.values.items()}
        # Bounds for the error: sums of magnitudes, and numbers of roundings.
        self.sizes, self.roundings = {}, {}
        self.from_input = set()
        for name, array in frame.items():
            self.set(name, array, abs(array), 0)
            self.from_input.add(name)
        self.differences = {"tie": 0, "float error bound": 0, "bug": 0}
        self.elements = 0
        self.worst = ""
        for node in model.graph.node:
            self.step(node)

    def set(self, name, value, size, roundings):
        self.values[name] = value
        self.sizes[name], self.roundings[name] = size, roundings

    def size(self, name):
        return self.sizes.get(name, abs(self.number(name)))

    def number(self, name):
        value = self.values[name]
        return (value.astype(self.np.float64)
                if value.dtype == self.np.float32 else value)

    def scaled(self, node, x):
        """Scale and zero point, along the axis of x, and the code's type."""
        scale = self.values[node.input[1]].astype(self.np.float64)
        zero = (self.values[node.input[2]] if len(node.input) > 2
                and node.input[2] else self.np.zeros(scale.shape,
                                                     self.np.uint8))
        shape = [1] * x.ndim
        if scale.size > 1:
            axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
            shape[axis] = scale.size
        # A scalar scale must keep the rank of a scalar x.
        if x.ndim:
            scale, zero = scale.reshape(shape), zero.reshape(shape)
        return scale, zero

    def step(self, node):
        np = self.np
        names = [n for n in node.input if n]
        out = node.output[0]
        if node.op_type == "DequantizeLinear":
            codes = self.values[node.input[0]]
            scale, zero = self.scaled(node, codes)
            value = (codes.astype(np.float64) - zero.astype(np.float64)) * scale
            return self.set(out, value, abs(value), 1)
        if node.op_type == "QuantizeLinear":
            return self.quantize(node, out)
        function = self.function(node)

        def call(get):
            return function(*[get(n) if n else None for n in node.input])
        value = call(self.number)
        if any(n in self.from_input for n in names):
            self.from_input.add(out)
        data = [n for n in names if n in self.sizes]
        roundings = 1 + max((self.roundings[n] for n in data), default=0)
        if node.op_type in SIGNLESS or node.op_type == "Softmax":
            size = self.size(names[0]) if node.op_type in SIGNLESS else value
        elif node.op_type == "Sub":
            size = self.size(names[0]) + self.size(names[1])
        elif node.op_type in ("Reshape", "Squeeze", "Unsqueeze"):
            size = self.size(names[0]).reshape(value.shape)
        else:
            size = call(self.size)
        if node.op_type in ("Conv", "Gemm", "MatMul"):
            weights = self.values[node.input[1]]
            roundings += weights.size // max(weights.shape[0], 1) \
                if node.op_type == "Conv" else max(weights.shape)
        elif node.op_type.endswith("Pool"):
            roundings += 64
        elif node.op_type.startswith("Reduce"):
            roundings += self.number(names[0]).size // max(value.size, 1)
        self.set(out, value, size, roundings)

    def function(self, node):
        """The node in float64: our own reading of it, or ONNX's."""
        ours = self.reference.OPS.get(("", node.op_type))
        if ours:
            context = self.reference.Context(node, self.opset)
            return lambda *values: ours(context, *values)
        evaluator = self.evaluator(node, opsets={"": self.opset})
        names = list(node.input)

        def call(*values):
            return evaluator.run(None, {n: v for n, v in zip(names, values)
                                        if n})[0]
        return call

    def quantize(self, node, out):
        np = self.np
        x = self.number(node.input[0])
        scale, zero = self.scaled(node, x)
        low, high = INT_RANGES[zero.dtype.name]
        steps = x / scale
        exact = np.clip(np.rint(steps) + zero, low, high)
        codes = self.runtime.get(out)
        if node.input[0] in self.from_input:
            # The host's prologue: float32 in both, by definition.
            exact = codes.astype(np.float64)
        elif self.follow:
            self.elements += codes.size
            bad = exact != codes
            if bad.any():
                # Distance from the exact value to the boundary next to it.
                distance = abs(steps - np.floor(steps) - 0.5)[bad]
                bound = (UNIT * (self.roundings[node.input[0]] + 2)
                         * self.size(node.input[0]) / scale)[bad]
                apart = abs(exact - codes)[bad]
                tie = (distance < TIE) & (apart == 1)
                near = ~tie & (distance <= bound) & (apart == 1)
                bug = ~tie & ~near
                self.differences["tie"] += int(tie.sum())
                self.differences["float error bound"] += int(near.sum())
                self.differences["bug"] += int(bug.sum())
                if bug.any():
                    self.worst = (f"{node.name or out}: {bug.sum()} codes, "
                                  f"{distance[bug].max():.3g} steps from a "
                                  f"boundary")
            exact = codes.astype(np.float64)
        self.set(out, exact.astype(zero.dtype), abs(exact), 0)


def equal(np, a, b):
    return abs(a - b) <= 1e-6 + 1e-5 * abs(b)


def reference(suite, name, count):
    np, onnx, ort_reference, _ = modules()
    network, count = networks.NETWORKS[name], int(count)
    model = onnx.load(suite.need(network.path))
    held = {i.name for i in model.graph.initializer}
    graph_input, = [v for v in model.graph.input if v.name not in held]
    shape = [max(d.dim_value, 1)
             for d in graph_input.type.tensor_type.shape.dim]
    low, high = network.input_range
    data = np.random.RandomState(5).uniform(low, high, [count, *shape]).astype(
        np.float32)
    np.save(suite.work / "x.npy", data)
    package = suite.work / f"{slug(name)}.rhz"
    answer, _ = suite.compiled(network, network.quick, package)
    if not answer:
        return
    result = suite.run("simulate", package, "--level", "functional", "--input",
                       suite.work / "x.npy", "--output", suite.work / "y.npy",
                       "-n", count, "--json")
    if not suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       f"{name}: {count} frames on the CPU path equal the "
                       f"interpreter's" + ("" if result.status == 0 else
                                           f": {result.message}"),
                       result.command):
        return
    ours = np.load(suite.work / "y.npy")
    output = model.graph.output[0].name
    session = ort_reference.session(ort_reference.with_intermediates(model))
    names = [o.name for o in session.get_outputs()]
    classes = {"tie": 0, "float error bound": 0, "bug": 0}
    apart, unexplained, codes, far, worst = 0, 0, 0, 0, ""
    for i in range(count):
        frame = {graph_input.name: data[i]}
        runtime = dict(zip(names, session.run(names, frame)))
        local = Exact(model, frame, runtime, follow=True)
        chain = Exact(model, frame, runtime, follow=False)
        codes += local.elements
        worst = worst or local.worst
        for kind, number in local.differences.items():
            classes[kind] += number
        mine = ours[i].reshape(-1)
        apart += int((~equal(np, mine, chain.values[output].reshape(-1)))
                     .sum())
        differ = int((~equal(np, mine, runtime[output].reshape(-1))).sum())
        far += differ
        if differ and not sum(local.differences.values()):
            unexplained += 1
    total = ours.size
    suite.check(len(np.unique(ours)) > 4, f"{name}: the outputs hold "
                                          f"{len(np.unique(ours))} values")
    suite.check(apart == 0, f"{name}: {apart} of {total} output elements "
                            f"differ from the exact evaluation")
    suite.check(classes["bug"] == 0,
                f"{name}: of {codes} codes inside ONNX Runtime, "
                + ", ".join(f"{v} {k}" for k, v in classes.items())
                + (f" ({worst})" if worst else ""))
    suite.check(unexplained == 0,
                f"{name}: {far} of {total} output elements differ from ONNX "
                f"Runtime's, in {unexplained} frames without such a cause")
