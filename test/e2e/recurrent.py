# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers: the answers of ONNX Runtime, and code that does not grow with
their steps."""
import time

import framework


def tools():
    try:
        import numpy as np
        import onnxkit
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    return np, onnxkit


def layer(kit, op, steps=7, batch=3, size=5, inputs=4, direction="forward",
          lens=None, bias=True, states=False, peepholes=False, own=False,
          **attributes):
    """One recurrent layer; `own`: its weights come in as graph inputs."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    d = 2 if direction == "bidirectional" else 1
    b = kit.Builder()
    real = lambda *shape: b.rng.normal(0, 0.4, shape)
    x = b.input([steps, batch, inputs])
    shapes = [(d, gates * size, inputs), (d, gates * size, size)]
    weights = [b.input(s) if own else b.constant(real(*s)) for s in shapes]
    ins = [x, *weights]
    ins.append(b.constant(real(d, 2 * gates * size)) if bias else "")
    ins.append(b.constant(lens, "int32") if lens else "")
    ins.append(b.input([d, batch, size]) if states else "")
    if op == "LSTM":
        ins.append(b.input([d, batch, size]) if states else "")
        ins.append(b.constant(real(d, 3 * size)) if peepholes else "")
    while not ins[-1]:
        ins.pop()
    outs = b.node(op, *ins, outputs=3 if op == "LSTM" else 2,
                  hidden_size=size, direction=direction, **attributes)
    b.output(*outs)
    return b.model()


def cases():
    for op in ("LSTM", "GRU", "RNN"):
        for direction in ("forward", "reverse", "bidirectional"):
            yield f"{op} {direction}", dict(op=op, direction=direction)
            yield (f"{op} {direction}, lengths and states",
                   dict(op=op, direction=direction, lens=[7, 1, 4],
                        states=True))
        yield f"{op} of one step", dict(op=op, steps=1, batch=1)
        yield f"{op} without a bias", dict(op=op, bias=False)
        yield (f"{op} of weights that come in",
               dict(op=op, own=True, direction="bidirectional"))
    yield "RNN clipped", dict(op="RNN", clip=0.4, activations=["Relu"])
    yield "GRU, reset after the product", dict(op="GRU", linear_before_reset=1)
    yield ("GRU, reset after the product, no bias",
           dict(op="GRU", linear_before_reset=1, bias=False))
    yield "LSTM with peepholes", dict(op="LSTM", peepholes=True)
    yield ("LSTM with peepholes, lengths",
           dict(op="LSTM", peepholes=True, lens=[2, 7, 3]))
    yield "LSTM coupled", dict(op="LSTM", input_forget=1)
    yield "LSTM clipped", dict(op="LSTM", clip=0.5)
    yield ("LSTM with other activations",
           dict(op="LSTM", activations=["HardSigmoid", "Relu", "Softsign"]))


def recurrent(suite):
    np, kit = tools()
    for label, options in cases():
        model = layer(kit, **options)
        kit.agrees(suite, label, model, kit.feeds_for(model, step=0.0125),
                   within=2e-6)
    # What is compiled does not grow with the steps.
    import onnx
    taken = {}
    for steps in (20, 2000):
        model = layer(kit, "LSTM", steps=steps, batch=1, size=16,
                      direction="bidirectional")
        path = suite.work / f"steps{steps}.onnx"
        onnx.save(model, path)
        feeds = kit.feeds_for(model, frames=1, step=0.0125)
        begin = time.monotonic()
        got, result = kit.our_outputs(suite, path, feeds, 3)
        taken[steps] = time.monotonic() - begin
        suite.check(got is not None, f"{steps} steps in "
                    f"{taken[steps]:.1f} s", result.command)
        module = suite.run("compile", path, "--compile-to", "import", "-o", "-")
        taken[steps, "lines"] = len(module.out.splitlines())
    suite.check(taken[20, "lines"] == taken[2000, "lines"] > 0,
                f"as many lines of IR for 20 steps as for 2,000: {taken}")
