# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention of a ViT block, made for this test in 8-bit QDQ form: queries,
keys and values of one tensor of tokens, QK^T and PV of every head, and the
output's projection. Both products are in DSPs, exact, and take the predicted
cycles."""
import json

import framework
from operations import FRAMES, Branches

TOKENS, HEADS, DEPTH = 10, 3, 8


def build(b, activation):
    """`activation` of the scores: Softmax is the host's, Relu the FPGA's.
    Returns the nodes of both products."""
    width = HEADS * DEPTH

    def projected(x, scale):
        return b.quantized(b.node("MatMul", x, b.weights(width, width)), scale)

    def heads(x, order):
        split = b.node("Reshape", x, b.ints(1, TOKENS, HEADS, DEPTH))
        return b.node("Transpose", split, perm=order)

    x = b.quantized("x", 0.25)
    q, k, v = (projected(x, scale) for scale in (1.0, 1.0, 2.0))
    products = [b.node("MatMul", heads(q, [0, 2, 1, 3]), heads(k, [0, 2, 3, 1]))]
    scores = b.quantized(b.node("Mul", products[0], b.floats(2.0 ** -9)), 2.0 ** -4)
    if activation == "Softmax":
        shares = b.quantized(b.node("Softmax", scores, axis=-1), 2.0 ** -8,
                             kind="uint8")
    else:
        shares = b.quantized(b.node("Relu", scores), 2.0 ** -4, kind="uint8")
    products.append(b.node("MatMul", shares, heads(v, [0, 2, 1, 3])))
    mixed = b.node("Reshape", b.node("Transpose", products[1], perm=[0, 2, 1, 3]),
                   b.ints(1, TOKENS, width))
    out = projected(b.quantized(mixed, 2.0 if activation == "Softmax" else 16.0),
                    16.0)
    b.node("Identity", out)
    return products


def block(suite, activation):
    try:
        import numpy as np
        import onnx
        import onnxruntime
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    suite.tool("verilator")
    shape = (1, TOKENS, HEADS * DEPTH)
    b = Branches(np, onnx, shape)
    nodes = build(b, activation)
    (suite.work / "steer.yaml").write_text("nodes:\n" + "".join(
        f'  {node}: {{option: "stream/matmul?style=paired"}}\n' for node in nodes))
    path = suite.work / f"{activation.lower()}.onnx"
    onnx.save(b.model(), path)
    x = b.rng.integers(-128, 128, (FRAMES, *shape[1:])).astype(np.float32) / 4
    np.save(suite.work / "x.npy", x)
    package = suite.work / f"{activation.lower()}.rhz"
    done = suite.run("compile", path, "--device", "xczu3eg", "--goal",
                     "throughput=200000/s", "--steer",
                     suite.work / "steer.yaml", "-o", package, "--json")
    if not suite.check(done.status == 0, f"{activation}: compiles"
                       + ("" if done.status == 0 else f": {done.message}"),
                       done.command):
        return
    actors = [a for n in json.loads((package / "plan.json").read_text())["nodes"]
              for a in n["actors"]]
    products = [a for a in actors if a["kind"] == "matmul"]
    suite.check(len(products) == 2 and all(
        a["resources"].get("dsp", 0) > 0 for a in products),
        f"{activation}: both products are in DSPs: "
        f"{[a['resources'].get('dsp', 0) for a in products]}")
    # The host has the shares by heads: what they mix is brought to tokens.
    transposes = 1 if activation == "Softmax" else 0
    suite.check(sum(a["kind"] == "reorder" for a in actors) == transposes,
                f"{activation}: {transposes} transposes")
    done = suite.run("simulate", package, "--input", suite.work / "x.npy",
                     "--output", suite.work / "y.npy", "--json")
    if not suite.check(done.status == 0 and done.json["mismatches"] == 0,
                       f"{activation}: RTL equals the interpreter",
                       done.command):
        return
    measured, predicted = done.json["measured"], done.json["predicted"]
    suite.check(all(measured[key] == predicted[key]
                    for key in ("interval_cycles", "latency_cycles")),
                f"{activation}: {measured['interval_cycles']:.0f} cycles a "
                f"frame and {measured['latency_cycles']} to the first, as "
                "predicted", done.command)
    session = onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"])
    wanted = np.concatenate([session.run(None, {"x": frame[None]})[0]
                             for frame in x])
    off = np.abs(np.load(suite.work / "y.npy").reshape(wanted.shape) - wanted)
    # A softmax in float32 may round a share to the next code.
    most = 16.0 if activation == "Softmax" else 0
    suite.check(off.max() <= most,
                f"{activation}: {wanted.size} elements are ONNX Runtime's",
                f"off by up to {off.max()}")


def attention(suite):
    block(suite, "Relu")
    block(suite, "Softmax")
