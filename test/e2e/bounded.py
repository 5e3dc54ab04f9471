# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded sizes: networks whose inputs have up to N rows give ONNX Runtime's results
for every number of rows, whatever comes after them; what mixes rows in another way is
refused by name."""
import networks

MOST = 6


def tools():
    global np, onnx, kit, TensorProto
    import numpy as np
    import onnx
    from onnx import TensorProto

    import onnxkit as kit


def attention(heads=2, width=8):
    """Self-attention, a residual sum, a normalization, and what classifiers take of
    it: mean, maximum, first and last row."""
    b = kit.Builder(opset=17, seed=3)
    x = b.input([1, "rows", width], name="x")

    def weights(*shape):
        return b.constant(b.rng.normal(0, 0.5, shape))

    def projected(perm):
        y = b.node("Add", b.node("MatMul", x, weights(width, width)),
                   weights(width))
        y = b.node("Reshape", y, b.ints(0, -1, heads, width // heads))
        return b.node("Transpose", y, perm=perm)

    q, k, v = projected([0, 2, 1, 3]), projected([0, 2, 3, 1]), projected(
        [0, 2, 1, 3])
    scores = b.node("Mul", b.node("MatMul", q, k), b.constant(0.5))
    mixed = b.node("MatMul", b.node("Softmax", scores, axis=-1), v)
    # As exporters write it: the shape is computed.
    rows = b.node("Gather", b.node("Shape", x), b.constant(1, "int64"), axis=0)
    shape = b.node("Concat", b.ints(1),
                   b.node("Unsqueeze", rows, b.ints(0)), b.ints(width), axis=0)
    mixed = b.node("Reshape", b.node("Transpose", mixed, perm=[0, 2, 1, 3]),
                   shape)
    y = b.node("LayerNormalization", b.node("Add", x, mixed), weights(width),
               weights(width), axis=-1)
    b.output(y, b.node("ReduceMean", y, axes=[1], keepdims=0),
             b.node("ReduceMax", y, axes=[1], keepdims=1),
             b.node("Gather", y, b.constant(0, "int64"), axis=1),
             b.node("Gather", y, b.constant(-1, "int64"), axis=1),
             b.node("ArgMax", y, axis=1, keepdims=0),
             b.node("ReduceLogSumExp", y, axes=[1, 2], keepdims=0))
    return b.model()


def embedding():
    """Words and their weights: two inputs of one size."""
    b = kit.Builder(opset=17, seed=4)
    words = b.input([1, "rows"], "int64", name="words")
    share = b.input([1, "rows"], name="share")
    table = b.constant(b.rng.normal(0, 1, (9, 4)))
    y = b.node("Mul", b.node("Gather", table, words, axis=0),
               b.node("Unsqueeze", share, b.ints(2)))
    b.output(b.node("ReduceSum", y, b.ints(1), keepdims=0),
             b.node("ReduceMin", y, axes=[1], keepdims=0),
             b.node("Concat", y, b.node("Relu", y), axis=2))
    return b.model()


def layers():
    """Quantized layers for every row, which the FPGA computes."""
    b = kit.Builder(opset=13, seed=5)
    x = b.quantized(b.input([1, "rows", 8], name="x"), 0.125)
    y = b.node("Relu", b.node("MatMul", x, b.weights(8, 8)))
    y = b.quantized(y, 0.5)
    b.output(b.quantized(b.node("MatMul", y, b.weights(8, 3)), 0.5))
    return b.model()


def feeds_of(model, rng):
    """Frames of 1 to MOST rows, with numbers beyond them that would show."""
    sizes = [MOST, 1, 3, 2, 5]
    feeds = {}
    for info in model.graph.input:
        shape = [d.dim_value or MOST for d in info.type.tensor_type.shape.dim]
        if info.type.tensor_type.elem_type == TensorProto.INT64:
            values = rng.integers(0, 9, [len(sizes), *shape])
            beyond = 1 << 40
        else:
            values = (rng.integers(-60, 61, [len(sizes), *shape])
                      * 0.125).astype("float32")
            beyond = 1000
        for frame, size in enumerate(sizes):
            values[frame, :, size:] = beyond
        feeds[info.name] = values
    return feeds, np.array(sizes)


def options_for(model):
    shapes = []
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        text = ",".join(f"<={MOST}" if d.dim_param else str(d.dim_value)
                        for d in dims)
        shapes += ["--shape", f"{info.name}={text}"]
    return shapes


def agrees(suite, label, model, within):
    path = suite.work / f"{label}.onnx"
    onnx.save(model, path)
    feeds, sizes = feeds_of(model, np.random.default_rng(7))
    count = len(model.graph.output)
    got, result = kit.our_outputs(suite, path, {**feeds, "rows": sizes}, count,
                                  options_for(model))
    if not suite.check(got is not None, f"{label}: {kit.refusals(result)}",
                       result.command):
        return None
    for frame, size in enumerate(sizes):
        cut = {k: v[frame:frame + 1, :, :size] for k, v in feeds.items()}
        want = kit.runtime_outputs(str(path), cut)
        for k in range(count):
            w, g = want[k][0], got[k][frame]
            if g.shape != w.shape:  # up to the size, and zeros beyond it
                axis = next(a for a in range(w.ndim)
                            if w.shape[a] != g.shape[a])
                inside, beyond = np.split(g, [size], axis)
                suite.check(not beyond.any(), f"{label}, {size} rows, output "
                            f"{k}: zeros after its end")
                g = inside
            worst = np.abs(g.astype("f8") - w.astype("f8")).max()
            suite.check(g.shape == w.shape and worst <= within,
                        f"{label}, {size} rows, output {k}: {worst:.2g}",
                        result.command)
    return path, {**feeds, "rows": sizes}


def on_the_fpga(suite, path, model, feeds):
    """The layers are built for all rows; every level gives the same."""
    package = suite.work / "layers.rhz"
    result = suite.run("compile", path, *options_for(model), "--device",
                       "xc7z020", "-o", package, "--json")
    if not suite.check(result.status == 0, f"compiles {kit.refusals(result)}",
                       result.command):
        return
    data = suite.work / "rows.npz"
    feeds["x"] = np.clip(feeds["x"], -10, 10)
    np.savez(data, **feeds)
    for level in ("functional", "rtl"):
        result = suite.run("simulate", package, "--level", level, "--input",
                           data, "-n", 5, "--json")
        suite.check(result.status == 0 and result.json["mismatches"] == 0,
                    f"{level}: {result.message[:200]}", result.command)
    result = suite.run("simulate", package, "--level", "functional", "-n", 5,
                       "--json")
    suite.check(result.status == 0 and result.json["mismatches"] == 0,
                f"random sizes: {result.message[:200]}", result.command)


def check_refused(suite):
    def refused(label, build, *says, options=(), shape=None):
        b = kit.Builder(opset=17)
        x = b.input(shape or [1, "rows", 4], name="x")
        build(b, x)
        model = b.model()
        kit.is_refused(suite, label, model, *says,
                       options=options or options_for(model))

    refused("rows as a fixed size", lambda b, x: b.node(
        "Reshape", x, b.ints(1, MOST, 2, 2)),
        f"its shape has {MOST} at axis 1, whose size is bounded")
    refused("rows joined with others", lambda b, x: b.node("Flatten", x),
            "it joins or splits axis 1 of [1, 6, 4], whose size is bounded")
    refused("rows next to rows", lambda b, x: b.node(
        "Concat", x, b.constant(np.ones((1, 2, 4))), axis=1),
        "it joins tensors along axis 1, whose size is bounded")
    refused("rows and a table", lambda b, x: b.node(
        "Add", x, b.constant(np.ones((1, MOST, 4)))),
        f"its input 1 has the fixed size {MOST}")
    refused("some row", lambda b, x: b.node(
        "Gather", x, b.constant(2, "int64"), axis=1),
        "other elements than the first or the last one")
    refused("part of the rows", lambda b, x: b.node(
        "Slice", x, b.ints(1), b.ints(3), b.ints(1)), "it slices axis 1")
    refused("number of rows as a value", lambda b, x: b.node(
        "Mul", x, b.node("Cast", b.node("Gather", b.node("Shape", x), b.constant(
            1, "int64"), axis=0), to=1)), "it reads a size that is bounded")
    refused("convolution", lambda b, x: b.node(
        "Conv", x, b.constant(np.ones((2, MOST, 3)))),
        "Conv is not supported on inputs of a bounded size",
        "give its input a fixed size")
    refused("summed rows", lambda b, x: b.node(
        "MatMul", b.node("Transpose", x, perm=[0, 2, 1]),
        b.constant(np.ones((MOST, 3)))),
        "bounded in one of its inputs only")
    refused("sizes that differ", lambda b, x: b.node("Add", b.input(
        [1, "columns", 4], name="y"), x),
        "it combines the bounded sizes",
        options=("--shape", "x=1,<=6,4", "--shape", "y=1,<=6,4"))
    refused("two bounds", lambda b, x: b.node("Add", b.input(
        [1, "rows", 4], name="y"), x), "the dimension 'rows' has the bounds",
        options=("--shape", "x=1,<=6,4", "--shape", "y=1,<=5,4"))
    kit.is_refused(suite, "MLIR", networks.ROOT / "examples/pytorch/mlp.mlir",
                   "MLIR files have no bounded sizes",
                   options=("--shape", "input0=1,<=64"))


def bounded(suite):
    tools()
    agrees(suite, "attention", attention(), 2e-5)
    agrees(suite, "embedding", embedding(), 1e-5)
    model = layers()
    made = agrees(suite, "layers", model, 0)
    if made:
        path, feeds = made
        for size in (0, MOST + 1):
            kit_feeds = {**feeds, "rows": np.full(5, size)}
            _, result = kit.our_outputs(suite, path, kit_feeds, 1,
                                        options_for(model))
            suite.check(result.status == 1 and f"it holds {size}, outside "
                        "the range 1..6 of the input 'rows'" in result.message,
                        f"{size} rows: {result.message[:150]}", result.command)
        on_the_fpga(suite, path, model, feeds)
    check_refused(suite)
