# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over time and state from frame to frame: recurrent layers against ONNX
Runtime, whose code does not grow with their steps; networks that keep a tensor
from frame to frame, on every level and behind drivers."""
import json
import time

import clients
import framework
from framework import run_program

DEVICE = "xc7a100t"


def tools():
    try:
        import numpy as np
        import onnxkit
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    return np, onnxkit


#===----------------------------------------------------------------------===//
# Loops over time
#===----------------------------------------------------------------------===//

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


#===----------------------------------------------------------------------===//
# State from frame to frame
#===----------------------------------------------------------------------===//

SIZE = 6
BEGINS = 0.75  # the file's default


def cell(kit, default=None):
    """hn = x Wx + relu(h) Wh + b, y = relu(hn) Wy; and the same in numpy."""
    import numpy as np
    b = kit.Builder(opset=13)
    x, h = b.input([1, 4], name="x"), b.input([1, SIZE], name="h")
    if default is not None:
        b.constant(np.full((1, SIZE), default), name="h")
    wx, wh, wy = (b.rng.normal(0, 0.4, s).astype(np.float32)
                  for s in ((4, SIZE), (SIZE, SIZE), (SIZE, 3)))
    bias = b.rng.normal(0, 0.2, SIZE).astype(np.float32)
    a = b.node("Gemm", x, b.constant(wx), b.constant(bias))
    c = b.node("Gemm", b.node("Relu", h), b.constant(wh))
    hn = b.node("Add", a, c)
    y = b.node("Gemm", b.node("Relu", hn), b.constant(wy))
    b.output(y, hn)

    def steps(frames):
        state = np.full((1, SIZE), default or 0, np.float32)
        for frame in frames:
            state = frame @ wx + bias + np.maximum(state, 0) @ wh
            yield np.maximum(state, 0) @ wy, state
    return b.model(), f"h={hn}", steps


def evaluated(suite, np, model, options, data, *more):
    files = [suite.work / "y.npy", suite.work / "h.npy"]
    result = suite.run("evaluate", model, *options, "--data", data, "--output",
                       files[0], "--output", files[1], "--json", *more)
    if result.status:
        return None, result
    return [np.load(f) for f in files], result


def check_float(suite, np, kit):
    """The file's own arithmetic, from zeros and from the file's default."""
    import onnx
    data = suite.work / "x.npy"
    frames = np.random.default_rng(3).normal(0, 1, (12, 1, 4)).astype("f")
    np.save(data, frames)
    for default in (None, BEGINS):
        model, pair, steps = cell(kit, default)
        path = suite.work / f"cell{default}.onnx"
        onnx.save(model, path)
        want = list(steps(frames))
        for level in (("--level", "float"), ()):
            got, result = evaluated(suite, np, path, ("--state", pair), data,
                                    *level)
            good = got is not None and all(
                np.abs(got[k] - np.stack([w[k] for w in want])).max() < 1e-5
                for k in (0, 1))
            suite.check(good, f"begins as {default}, {level}: "
                        f"{kit.refusals(result)}", result.command)
    return path, pair, data, frames


def small(kit, build, opset=17):
    b = kit.Builder(opset=opset)
    pairs = build(b)
    return b.model(), [f"--state={s}={t}" for s, t in pairs]


def delays(b):
    """y = x, two frames ago: what is read before it is written."""
    x, one, two = (b.input([1, 3], name=n) for n in ("x", "one", "two"))
    outputs = [b.node("Identity", two), b.node("Identity", x),
               b.node("Identity", one)]
    b.output(*outputs)
    return [("one", outputs[1]), ("two", outputs[2])]


def swaps(b):
    """Two states that change places; one grows."""
    x, p, q = (b.input([1, 3], name=n) for n in ("x", "p", "q"))
    b.output(b.node("Add", p, x), b.node("Identity", q))
    return [("q", "Add0_0"), ("p", "Identity1_0")]


def counts(b):
    """Whole numbers: an index of 64 bits and codes of 8, which wrap."""
    x = b.input([1, 3], name="x")
    n = b.input([1], "int64", name="n")
    c = b.input([1, 3], "uint8", name="c")
    more = b.node("Add", n, b.ints(1))
    step = b.node("Cast", x, to=kinds()["uint8"])
    b.output(more, b.node("Add", b.node("Cast", c, to=kinds()["int32"]),
                          b.node("Cast", step, to=kinds()["int32"])))
    last = b.node("Cast", b.outputs[1], to=kinds()["uint8"])
    b.output(more, b.outputs[1], last)
    return [("n", more), ("c", last)]


def kinds():
    import onnxkit
    return onnxkit.KINDS


def passed_on(b):
    """An output that is the state itself, and a state whose next value it is
    not: both ends have one name."""
    x, h = b.input([1, 3], name="x"), b.input([1, 3], name="h")
    b.output(b.node("Add", x, h), h)
    return [("h", "Add0_0")]


def steps_of(model, pairs, frames, np):
    """ONNX Runtime, which is handed the states frame by frame."""
    import onnxruntime
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    pairs = [p.removeprefix("--state=").split("=") for p in pairs]
    types = {"tensor(float)": "f", "tensor(int64)": "i8", "tensor(uint8)": "u1"}
    state = {i.name: np.zeros(i.shape, types[i.type])
             for i in session.get_inputs() if i.name in dict(pairs)}
    names = [o.name for o in session.get_outputs()]
    rows = []
    for frame in frames:
        row = dict(zip(names, session.run(None, {"x": frame, **state})))
        state = {s: row[t] for s, t in pairs}
        rows.append([row[n] for n in names])
    return [np.stack(column) for column in zip(*rows)]


def check_meaning(suite, np, kit):
    """What is read when, for states of several kinds."""
    import onnx
    frames = np.arange(18, dtype="f").reshape(6, 1, 3)
    data = suite.work / "meaning.npy"
    np.save(data, frames)
    for build in (delays, swaps, counts, passed_on):
        model, options = small(kit, build)
        path = suite.work / f"{build.__name__}.onnx"
        onnx.save(model, path)
        want = steps_of(model, options, frames, np)
        files = [suite.work / f"m{k}.npy" for k in range(len(want))]
        more = [v for f in files for v in ("--output", f)]
        for level in (("--level", "float"), ("--float-frames", 0)):
            for file in files:
                file.unlink(missing_ok=True)
            result = suite.run("evaluate", path, *options, "--data", data,
                               *more, *level, "--json")
            good = result.status == 0 and all(
                (np.load(f) == w).all() for f, w in zip(files, want))
            suite.check(good, f"{build.__name__} {level}: "
                        f"{kit.refusals(result)}", result.command)


def check_lstm(suite, np, kit):
    """An LSTM that was exported for one step, its layer on the host and the
    layer after it on the FPGA: the values of the whole sequence."""
    import onnx
    size, frames = 5, 20
    b = kit.Builder(opset=14, seed=9)
    x = b.input([1, 1, 4], name="x")
    states = [b.input([1, 1, size], name=n) for n in ("h", "c")]
    weights = [b.constant(b.rng.normal(0, 0.5, s))
               for s in ((1, 4 * size, 4), (1, 4 * size, size), (1, 8 * size))]
    _, h, c = b.node("LSTM", x, *weights, "", *states, outputs=3,
                     hidden_size=size)
    flat = b.node("Reshape", h, b.ints(1, size))
    y = b.node("Gemm", flat, b.constant(b.rng.normal(0, 0.5, (size, 3))))
    b.output(y, h, c)
    model, options = b.model(), [f"--state=h={h}", f"--state=c={c}"]
    path, data = suite.work / "lstm.onnx", suite.work / "lstm.npy"
    onnx.save(model, path)
    values = np.random.default_rng(4).normal(0, 1, (frames, 1, 1, 4))
    values = values.astype("f")
    np.save(data, values)
    want = steps_of(model, options, values, np)
    files = [suite.work / f"lstm{k}.npy" for k in range(3)]
    more = [v for f in files for v in ("--output", f)]
    result = suite.run("evaluate", path, *options, "--data", data, *more,
                       "--level", "float", "--json")
    suite.check(result.status == 0 and all(
        np.abs(np.load(f) - w).max() < 2e-6 for f, w in zip(files, want)),
        f"an LSTM step by step: {kit.refusals(result)}", result.command)
    package = suite.work / "lstm.rhz"
    result = suite.run("compile", path, *options, "--calibration", data,
                       "--device", DEVICE, "--goal", "throughput=1000/s",
                       "--cpu-object", "-o", package, "--json")
    if not suite.check(result.status == 0, f"compiles: {kit.refusals(result)}",
                       result.command):
        return
    got = {}
    for label, command in (
            ("functional", ("simulate", package, "--level", "functional")),
            ("rtl", ("simulate", package)),
            ("cpu", ("run", package, "--driver", "cpu")),
            ("simulation", ("run", package, "--driver", "simulation"))):
        result = suite.run(*command, "--input", data, "-n", frames, *more,
                           "--json")
        if suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       f"LSTM, {label}: {result.message}", result.command):
            got[label] = [np.load(f) for f in files]
    suite.check(len(got) == 4 and all(
        (a == b).all() for one in got.values()
        for a, b in zip(one, got["rtl"])), "one answer on all levels")
    suite.check(got and np.abs(got["rtl"][0] - want[0]).max() < 0.05
                and np.abs(got["rtl"][1] - want[1]).max() < 0.05,
                "the integer model follows the reals over all frames")


def check_goals(suite, kit, path, pair, data):
    """A frame waits for the one before: a rate is a bound of what it takes."""
    options = ("--state", pair, "--calibration", data, "--device", DEVICE,
               "--state-home", "host")
    result = suite.run("explore", path, *options, "--goal",
                       "throughput=10000000/s", "--json")
    suite.check(result.status == 1 and "the host and copies alone take"
                in result.message, f"too fast: {result.message[:200]}",
                result.command)
    result = suite.run("explore", path, *options, "--goal",
                       "throughput=3000/s")
    suite.check(result.status == 0 and "us for the device" in
                result.out + result.err, f"a note on the rate "
                f"{result.message[:200]}", result.command)


def check_refused(suite, path, pair):
    output = pair.split("=")[1]
    for state, words in ((f"g={output}", "the model has no such input"),
                         ("h=g", "the model does not have"),
                         ("h=Gemm5_0", "its next value 'Gemm5_0' is"),
                         ("h", "is not INPUT=OUTPUT")):
        result = suite.run("coverage", path, "--state", state, "--json")
        suite.check(result.status in (1, 2)
                    and words in json.dumps(result.json) + result.err,
                    f"refused: {words}; {result.message[:200]}",
                    result.command)


def check_package(suite, np, kit, path, pair, data, frames):
    package = suite.work / "cell.rhz"
    result = suite.run("compile", path, "--state", pair, "--calibration", data,
                       "--device", DEVICE, "--goal", "throughput=1000/s",
                       "--state-home", "host", "--cpu-object", "-o", package,
                       "--json")
    if not suite.check(result.status == 0, f"compiles: {kit.refusals(result)}",
                       result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    states = plan["tasks"].get("states", [])
    suite.check([s["name"] for s in states] == ["h"] and states[0]["bytes"] > 0,
                f"the plan names what is kept: {states}")
    suite.check(len(plan["host"].get("states", [])) == 1
                and plan["host"]["complete"], "and a client can keep it")
    outputs = {}
    for level, count in (("functional", 12), ("rtl", 12)):
        files = [suite.work / f"{level}{k}.npy" for k in (0, 1)]
        result = suite.run("simulate", package, "--level", level, "--input",
                           data, "-n", count, "--output", files[0], "--output",
                           files[1], "--json")
        if suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       f"{level} equals the interpreter: {result.message}",
                       result.command):
            outputs[level] = [np.load(f) for f in files]
    for driver, more in (("cpu", ()), ("simulation", ("--stalls-in", "30",
                                                       "--stalls-out", "30"))):
        files = [suite.work / f"{driver}{k}.npy" for k in (0, 1)]
        result = suite.run("run", package, "--driver", driver, "--input", data,
                           "-n", 12, "--output", files[0], "--output", files[1],
                           "--json", *more)
        if suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       f"driver {driver}: {result.message}", result.command):
            outputs[driver] = [np.load(f) for f in files]
    first = next(iter(outputs.values()), None)
    suite.check(first is not None and len(outputs) == 4 and all(
        (np.asarray(got[k]) == first[k]).all()
        for got in outputs.values() for k in (0, 1)),
        "all levels and drivers have the same answers")
    if first is None:
        return
    # The state is used: without it the frames would stand alone.
    alone = suite.work / "alone.npy"
    np.save(alone, frames[5:6])
    result = suite.run("simulate", package, "--level", "functional", "--input",
                       alone, "-n", 1, "--output", suite.work / "a.npy", "--output",
                       suite.work / "b.npy", "--json")
    suite.check(result.status == 0
                and (np.load(suite.work / "b.npy")[0] != first[1][5]).any(),
                "a frame alone gives something else")
    # The integer model is near the float one over the whole sequence.
    got, result = evaluated(suite, np, package, (), data)
    want, _ = evaluated(suite, np, path, ("--state", pair), data, "--level",
                        "float")
    suite.check(got and want and np.abs(got[1] - want[1]).max()
                < 0.05 * np.abs(want[1]).max(),
                "the integers follow the reals", result.command)
    result = suite.run("explore", path, "--state", pair, "--calibration", data,
                       "--device", DEVICE, "--state-home", "host")
    suite.check("kept from frame to frame" in result.out
                and "a frame begins when the one before has ended" in result.out,
                "explore tells what the host keeps and the rate that this "
                "leaves", result.command)
    check_client(suite, np, package, frames, first)


def check_client(suite, np, package, frames, want):
    """The generated client keeps the state by itself."""
    program = clients.built_example(suite, package)
    if not program:
        return
    named = suite.run("simulate", package, "-n", 1, "--json").json or {}
    wanted = np.concatenate([np.reshape(w, (len(frames), -1)) for w in want],
                            1).astype(np.float32)

    def answers(rows, *driver):
        text = suite.work / "frames.txt"
        text.write_text("\n".join(" ".join(str(float(v)) for v in row)
                                  for row in rows))
        result = run_program(["sh", "-c", 'in=$1; shift; exec "$@" < "$in"',
                              "sh", text, program, package, *driver])
        return np.array([[float(w) for w in line.split()]
                         for line in result.out.splitlines()],
                        np.float32), result

    rows = frames.reshape(len(frames), -1)
    for driver in (("simulation", named.get("simulator", "")), ("cpu",)):
        got, result = answers(rows, *driver)
        suite.check(result.status == 0 and got.shape == wanted.shape
                    and (got == wanted).all(), f"the client has the same "
                    f"answers by {driver[0]} {result.err}", result.command)
    # The whole model as a function takes the state, and gives the next one.
    before = np.concatenate([np.full((1, SIZE), BEGINS), wanted[:-1, -SIZE:]])
    got, result = answers(np.concatenate([rows, before], 1), "model")
    suite.check(result.status == 0
                and got.shape == (len(rows), wanted.shape[1] + SIZE)
                and (got[:, :-SIZE] == wanted).all()
                and (got[:, -SIZE:] == wanted[:, -SIZE:]).all(),
                f"rhz_compute takes and gives the state {result.err}",
                result.command)


def states(suite):
    suite.tool("verilator")
    np, kit = tools()
    path, pair, data, frames = check_float(suite, np, kit)
    check_refused(suite, path, pair)
    check_meaning(suite, np, kit)
    check_goals(suite, kit, path, pair, data)
    check_package(suite, np, kit, path, pair, data, frames)
    check_lstm(suite, np, kit)
