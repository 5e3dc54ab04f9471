# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a network keeps from frame to frame on the FPGA: a GRU cell whose state
goes from its end to its beginning there, the same values wherever it is kept,
the cycles that were predicted, and why the host keeps others."""
import json
import re

import framework
import recurrent

DEVICE, FRAMES, SIZE = "xc7a100t", 20, 8
FIXED = ("--number-format", "fixed<3,5>")


def gru(kit, quantized=False, begins=0.5):
    """h' = n + z (h - n), z = sigmoid(x Wz + h Uz), n = tanh(x Wn + (r h) Un);
    `quantized`: its tensors have quantizers of 8 bits."""
    import numpy as np
    b = kit.Builder(opset=13, seed=5)
    x, h = b.input([1, 4], name="x"), b.input([1, SIZE], name="h")
    b.constant(np.full((1, SIZE), begins), name="h")

    def rounded(v, scale):
        if not quantized:
            return v
        s, z = b.constant(scale), b.constant(0, "int8")
        return b.node("DequantizeLinear", b.node("QuantizeLinear", v, s, z), s,
                      z)

    def weights(*shape):
        real = b.rng.normal(0, 0.4, shape)
        if not quantized:
            return b.constant(real)
        s, z = b.constant(1 / 64), b.constant(0, "int8")
        codes = b.constant(np.clip(np.round(real * 64), -128, 127), "int8")
        return b.node("DequantizeLinear", codes, s, z)

    def product(v, size, bias=None):
        rest = (b.constant(bias),) if bias is not None and not quantized else ()
        return b.node("Gemm", v, weights(size, SIZE), *rest)

    qx, qh = rounded(x, 1 / 32), rounded(h, 1 / 64)

    def gate(function, state):
        a = rounded(product(qx, 4, b.rng.normal(0, 0.2, SIZE)), 1 / 32)
        c = rounded(product(state, SIZE), 1 / 32)
        return rounded(b.node(function, rounded(b.node("Add", a, c), 1 / 32)),
                       1 / 128)

    z, r = gate("Sigmoid", qh), gate("Sigmoid", qh)
    n = gate("Tanh", rounded(b.node("Mul", r, qh), 1 / 64))
    # z h + (1 - z) n
    kept = rounded(b.node("Mul", z, qh), 1 / 64)
    new = rounded(b.node("Mul", z, n), 1 / 128)
    hn = rounded(b.node("Add", kept, rounded(b.node("Sub", n, new), 1 / 64)),
                 1 / 64)
    y = product(hn, SIZE)
    b.output(y, hn)
    return b.model(), f"h={hn}"


def outputs_of(suite, np, label, *command):
    """The two outputs of all frames that a command gives, and its result."""
    files = [suite.work / f"{label}{k}.npy" for k in (0, 1)]
    for file in files:
        file.unlink(missing_ok=True)
    result = suite.run(*command, "--output", files[0], "--output", files[1],
                       "--json")
    good = result.status == 0 and all(f.exists() for f in files)
    return ([np.load(f) for f in files] if good else None), result


def check_home(suite, np, kit, label, model, options, data, wants_home="fpga"):
    """One network with both homes: equal answers, predicted cycles."""
    answers = {}
    got, result = outputs_of(suite, np, f"{label}-e", "evaluate", model,
                             *options, "--data", data)
    if suite.check(got is not None, f"{label}: evaluate "
                   f"{kit.refusals(result)}", result.command):
        answers["evaluate"] = got
    for home in ("auto", "host"):
        package = suite.work / f"{label}-{home}.rhz"
        result = suite.run("compile", model, *options, "--device", DEVICE,
                           "--state-home", home, "--cpu-object", "-o", package,
                           "--json")
        if not suite.check(result.status == 0, f"{label}: compiles, {home} "
                           f"{kit.refusals(result)}", result.command):
            return
        plan = json.loads((package / "plan.json").read_text())
        state = plan["tasks"]["states"][0]
        wanted = wants_home if home == "auto" else "host"
        suite.check(state["name"] == "h" and state["home"] == wanted
                    and (wanted == "fpga") == (state["why"] == ""),
                    f"{label}, {home}: {state}")
        ports = [p["name"] for p in plan["nodes"][0]["ports"]["stream"]
                 if p["direction"] == "in"]
        suite.check(ports == (["x"] if wanted == "fpga" else ports)
                    and ("h" in ports) == (wanted == "host"),
                    f"{label}, {home}: streams into the design: {ports}")
        runs = [("rtl", ("simulate", package)),
                ("stalled", ("simulate", package, "--stalls-in", "35",
                             "--stalls-out", "35")),
                ("functional", ("simulate", package, "--level", "functional")),
                ("cpu", ("run", package, "--driver", "cpu")),
                ("simulation", ("run", package, "--driver", "simulation",
                                "--stalls-out", "30"))]
        if wanted == "fpga":
            runs.append(("alone", ("run", package, "--driver", "simulation",
                                   "--outstanding", "3")))
        for level, command in runs:
            got, result = outputs_of(suite, np, f"{label}-{home}-{level}",
                                     *command, "--input", data, "-n", FRAMES)
            if suite.check(got is not None and result.json["mismatches"] == 0,
                           f"{label}, {home}, {level}: {result.message}",
                           result.command):
                answers[home, level] = got
            if level == "rtl" and wanted == "fpga" and got is not None:
                check_cycles(suite, label, result, plan)
    first = next(iter(answers.values()), None)
    suite.check(first is not None and len(answers) > 9 and all(
        (a == b).all() for one in answers.values() for a, b in zip(one, first)),
        f"{label}: one answer everywhere: {sorted(map(str, answers))}")


def check_cycles(suite, label, result, plan):
    measured, promised = result.json["measured"], plan["predicted"]
    suite.check(measured["interval_cycles"] == promised["interval_cycles"]
                and measured["latency_cycles"] == promised["latency_cycles"],
                f"{label}: {measured} as predicted: "
                f"{promised['interval_cycles']}, {promised['latency_cycles']}",
                result.command)
    suite.check(plan["bottleneck_kind"] == "state" and "'h'" in
                plan["bottleneck"], f"{label}: what binds: {plan['bottleneck']}")


def check_hidden(suite, np, kit, model, pair, data):
    """A state that does not leave the FPGA: one stream in and one out, and the
    other output as before."""
    got = {}
    for label, more in (("shown", ()), ("hidden", ("--hide-states",))):
        package = suite.work / f"{label}.rhz"
        result = suite.run("compile", model, "--state", pair, *FIXED,
                           "--device", DEVICE, *more, "-o", package, "--json")
        if not suite.check(result.status == 0, f"{label} compiles "
                           f"{kit.refusals(result)}", result.command):
            return
        plan = json.loads((package / "plan.json").read_text())
        ports = plan["nodes"][0]["ports"]["stream"]
        suite.check(len(ports) == (3 if label == "shown" else 2),
                    f"{label}: {[p['port'] for p in ports]}")
        for level, options in (("rtl", ()),
                               ("stalled", ("--stalls-out", "40"))):
            file = suite.work / f"{label}-{level}.npy"
            other = (("--output", suite.work / f"{label}-{level}-h.npy")
                     if label == "shown" else ())
            result = suite.run("simulate", package, *options, "--input", data,
                               "-n", FRAMES, "--output", file, *other, "--json")
            if suite.check(result.status == 0 and result.json["mismatches"] == 0
                           and file.exists(), f"{label}, {level}: "
                           f"{result.message}", result.command):
                got[label, level] = np.load(file)
                if level == "rtl":
                    check_cycles(suite, label, result, plan)
    suite.check(len(got) == 4 and all((a == got["shown", "rtl"]).all()
                                      for a in got.values()),
                "the other output is the same")


def check_reasons(suite, kit, model, pair):
    """Why the host keeps a state, and what the explorer says of one that it
    does not."""
    import onnx
    result = suite.run("explore", model, "--state", pair, *FIXED, "--device",
                       DEVICE)
    suite.check(result.status == 0 and re.search(r"h +\S+ +8 +fpga", result.out)
                and "the way of 'h' to the next frame" in result.out
                and "around that loop takes" in result.out,
                "explore says where it is kept, and that it binds",
                result.command)
    for options, words in (
            (("--device", DEVICE, "--state-home", "host"),
             "--state-home host"),
            (("--cluster", "ku060x2"), "a node on a link")):
        result = suite.run("explore", model, "--state", pair, *FIXED, *options)
        suite.check(result.status == 0 and words in result.out
                    and re.search(r"h +\S+ +\d+ +host", result.out),
                    f"the host keeps it: {words} {result.message[:200]}",
                    result.command)
    # The host computes the next value.
    b = kit.Builder(opset=13)
    x, h = b.input([1, 8], name="x"), b.input([1, 8], name="h")
    w = b.constant(b.rng.normal(0, 0.3, (8, 8)))
    s = b.node("Softmax", b.node("Gemm", b.node("Add", x, h), w))
    b.output(s)
    path = suite.work / "softmax.onnx"
    onnx.save(b.model(), path)
    result = suite.run("explore", path, "--state", f"h={s}", *FIXED, "--device",
                       DEVICE)
    suite.check(result.status == 0
                and "the host computes its next value" in result.out,
                f"the host computes it {result.message[:200]}", result.command)


def homes(suite):
    suite.tool("verilator")
    np, kit = recurrent.tools()
    import onnx
    data = suite.work / "x.npy"
    rows = np.random.default_rng(3).normal(0, 0.8, (FRAMES, 1, 4)).astype("f")
    np.save(data, rows)
    for label, quantized, options in (("fixed", False, FIXED),
                                      ("qdq", True, ()),
                                      ("calibrated", False,
                                       ("--calibration", data))):
        model, pair = gru(kit, quantized)
        path = suite.work / f"{label}.onnx"
        onnx.save(model, path)
        check_home(suite, np, kit, label, path, ("--state", pair, *options),
                   data)
        if label == "fixed":
            check_reasons(suite, kit, path, pair)
            check_hidden(suite, np, kit, path, pair, data)
