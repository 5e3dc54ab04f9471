# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks made for this test, in simulated RTL, compared with ONNX Runtime:
one with many branches, each an operation on streams that no real network of the
collection has quantized; and one in which host and FPGA alternate. All scales
are powers of two, so that float32 is exact: every element must be equal."""
import framework

FRAMES = 3


class Branches:
    """Nodes and constants of a QDQ model; every branch is quantized at its end
    and all are concatenated."""

    def __init__(self, np, onnx, shape=(1, 8, 4, 6)):
        self.shape = shape
        self.np, self.helper, self.numpy = np, onnx.helper, onnx.numpy_helper
        self.onnx = onnx
        self.nodes, self.constants, self.ends = [], [], []
        self.rng = np.random.default_rng(5)

    def constant(self, value, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(self.numpy.from_array(
            self.np.array(value, dtype), name))
        return name

    def floats(self, *values):
        return self.constant(values, "float32")

    def ints(self, *values):
        return self.constant(values, "int64")

    def node(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self.helper.make_node(op, list(inputs), names,
                                                name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def quantized(self, x, scale, zero=0, kind="int8"):
        q = [self.constant(scale, "float32"), self.constant(zero, kind)]
        return self.node("DequantizeLinear",
                         self.node("QuantizeLinear", x, *q), *q)

    def weights(self, *shape, scale=0.25):
        w = self.constant(self.rng.integers(-8, 8, shape), "int8")
        return self.node("DequantizeLinear", w,
                         self.constant(scale, "float32"),
                         self.constant(0, "int8"))

    def end(self, x, scale, zero=0, kind="int8"):
        self.ends.append(self.node(
            "Reshape", self.quantized(x, scale, zero, kind), self.ints(1, -1)))

    def model(self):
        """The graph from x to the last node's result, which is called y."""
        self.nodes[-1].output[0] = "y"
        info = self.helper.make_tensor_value_info
        graph = self.helper.make_graph(
            self.nodes, "operations",
            [info("x", self.onnx.TensorProto.FLOAT, self.shape)],
            [info("y", self.onnx.TensorProto.FLOAT, None)], self.constants)
        return self.helper.make_model(
            graph, opset_imports=[self.helper.make_opsetid("", 17)],
            ir_version=8)


def build(b):
    x = b.quantized("x", 0.25, 3)
    half = b.quantized(x, 0.5, -7)
    # Elements chosen.
    b.end(b.node("Slice", x, b.ints(1, -1), b.ints(8, -9), b.ints(1, 3),
                 b.ints(3, -2)), 0.25)
    first, second = b.node("Split", x, outputs=2, axis=1)
    b.end(b.node("Gather", first, b.constant([[2, 0], [5, 2]], "int64"),
                 axis=3), 0.5)
    # Pairs of streams, of other scales and broadcast.
    b.end(b.node("Max", second, b.node("Slice", half, b.ints(2), b.ints(6),
                                       b.ints(1))), 0.25)
    b.end(b.node("Min", x, half), 0.25)
    gate = b.quantized(b.node("ReduceMax", x, axes=[2, 3], keepdims=1), 0.5)
    b.end(b.node("Mul", x, gate), 4.0)
    b.end(b.node("Sub", half, gate), 1.0)
    # Reductions.
    b.end(b.node("ReduceSum", x, b.ints(1), keepdims=0), 2.0)
    b.end(b.node("ReduceMean", half, axes=[2], keepdims=0), 0.25)
    b.end(b.node("ReduceMin", x, axes=[1, 3], keepdims=1), 0.25)
    # Sizes.
    b.end(b.node("Resize", first, "", b.floats(1, 1, 2, 3), mode="nearest",
                 coordinate_transformation_mode="asymmetric",
                 nearest_mode="floor"), 0.25)
    b.end(b.node("Resize", second, "", b.floats(1, 1, 2, 2), mode="linear",
                 coordinate_transformation_mode="half_pixel"), 0.125, 5)
    b.end(b.node("ConvTranspose", x, b.weights(8, 2, 3, 3), strides=[2, 2],
                 pads=[1, 0, 0, 1], output_padding=[1, 0]), 4.0)
    deep = b.node("DepthToSpace", x, blocksize=2, mode="CRD")
    b.end(b.node("SpaceToDepth", b.node("Conv", deep, b.weights(3, 2, 3, 3)),
                 blocksize=2), 2.0)
    # Products of two matrices.
    rows = b.node("Reshape", x, b.ints(1, 8, 24))
    columns = b.node("Reshape", b.node("Slice", half, b.ints(1), b.ints(4),
                                       b.ints(1)), b.ints(1, 3, 24))
    b.end(b.node("MatMul", rows, b.node("Transpose", columns,
                                        perm=[0, 2, 1])), 16.0)
    b.end(b.node("Einsum", columns, rows, equation="bik,bjk->ji"), 16.0)


def build_operations(b):
    build(b)
    b.node("Concat", *b.ends, axis=1)


def build_turns(b):
    """Host, FPGA, host, FPGA again, host. After the second region the host also
    reads the first one's result as a whole, its maximum, and a value computed before the
    first."""
    def summed(x, axis):
        return b.node("CumSum", x, b.constant(axis, "int64"))

    def convolution(x, *kernel, scale):
        return b.quantized(b.node("Conv", b.quantized(x, 0.5),
                                  b.weights(*kernel)), scale)
    first = convolution(summed("x", 3), 8, 8, 3, 3, scale=4.0)
    second = convolution(summed(first, 1), 4, 8, 1, 1, scale=8.0)
    total = b.node("ReduceMax", first, axes=[1, 2, 3], keepdims=1)
    b.node("Add", b.node("Add", summed(second, 2), total),
           b.node("ReduceMin", summed("x", 2), axes=[1, 2, 3], keepdims=1))


def exact(suite, name, build_graph):
    """Builds, compiles and simulates; every element must equal ONNX Runtime's.
    Returns the coverage."""
    try:
        import numpy as np
        import onnx
        import onnxruntime
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    suite.tool("verilator")
    b = Branches(np, onnx)
    build_graph(b)
    path = suite.work / f"{name}.onnx"
    onnx.save(b.model(), path)
    x = b.rng.integers(-140, 140, (FRAMES, 8, 4, 6)).astype(np.float32) / 4
    np.save(suite.work / "x.npy", x)
    package = suite.work / f"{name}.rhz"
    coverage = suite.run("coverage", path, "--json").json or {}
    result = suite.run("compile", path, "--device", "xcku060-role",
                       "--goal", "throughput=20000/s", "-o", package, "--json")
    if not suite.check(result.status == 0, "compiles"
                       + ("" if result.status == 0 else f": {result.message}"),
                       result.command):
        return coverage
    result = suite.run("simulate", package, "--input", suite.work / "x.npy",
                       "--output", suite.work / "y.npy", "--json")
    if not suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       "RTL equals the interpreter"
                       + ("" if result.status == 0 else f": {result.message}"),
                       result.command):
        return coverage
    session = onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"])
    wanted = np.concatenate([session.run(None, {"x": frame[None]})[0]
                             for frame in x])
    got = np.load(suite.work / "y.npy").reshape(wanted.shape)
    wrong = np.argwhere(got != wanted)
    suite.check(len(wrong) == 0, f"{wanted.size} elements equal ONNX Runtime's",
                f"{len(wrong)} differ, the first at {wrong[:3].tolist()}")
    return coverage


def operations(suite):
    exact(suite, "operations", build_operations)


def turns(suite):
    found = exact(suite, "turns", build_turns)
    on = [(o["op"], o["runs_on"]) for o in found.get("ops", [])]
    suite.check(on.count(("conv2d", "fpga")) == 2
                and ("Conv", "host") not in on
                and on.count(("CumSum", "host")) == 4,
                f"both convolutions are in hardware: {on}")
    found = found.get("tasks", {"list": []})
    order = [task["name"] for task in found["list"]]
    suite.check(order == ["host0", "region0", "host1", "region1", "host2"],
                f"tasks in order: {order}")
