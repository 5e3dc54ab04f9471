# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of one shape that take turns on one unit, in whole networks: when the
explorer takes it, and that the plan says who shares it; values with and without
stalls, cycles and resources as predicted; a branch around a layer on the unit."""
import json
import resource

import framework
import networks
import plans

DEVICE, LAYERS, SIZE = "xc7a35t", 6, 64
# With UltraRAM and DDR4; with DDR4 alone.
ULTRA, BLOCK = "xck26", "xczu3eg"


def perceptron(kit):
    """Dense layers of one size; the second and the fourth are residual."""
    b = kit.Builder(seed=5)
    v = b.quantized(b.input([1, SIZE], name="x"), 1 / 16)
    for i in range(LAYERS):
        before = v
        v = b.node("Gemm", v, b.weights(SIZE, SIZE, scale=1 / 64))
        v = b.quantized(b.node("Relu", v), 1 / 8)
        if i in (1, 3):
            v = b.quantized(b.node("Add", v, before), 1 / 8)
    b.output(v)
    return b.model()


def shapes(kit, convolutions=True):
    """Dense layers of several sizes, after convolutions of several kernels and
    channels."""
    b = kit.Builder(seed=7)
    before = 4
    v = b.input([1, 4, 6, 6] if convolutions else [1, 144], name="x")
    v = b.quantized(v, 1 / 16)
    for channels, kernel in ((8, 3), (8, 3), (16, 1), (4, 3)) * convolutions:
        v = b.node("Conv", v, b.weights(channels, before, kernel, kernel,
                                        scale=1 / 64),
                   kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
        v = b.quantized(b.node("Relu", v), 1 / 8)
        before = channels
    if convolutions:
        v = b.node("Flatten", v)
    for inputs, outputs in ((144, 24), (24, 8), (8, 40), (40, 8)):
        v = b.node("Gemm", v, b.weights(inputs, outputs, scale=1 / 64))
        v = b.quantized(b.node("Relu", v), 1 / 8)
    b.output(v)
    return b.model()


def blocks(kit, count, channels=8, size=8):
    """Equal residual blocks, one after another."""
    b = kit.Builder(seed=5)
    v = b.quantized(b.input([1, channels, size, size], name="x"), 1 / 16)
    for _ in range(count):
        before = v
        for _ in range(2):
            v = b.node("Conv", v, b.weights(channels, channels, 3, 3,
                                            scale=1 / 64),
                       kernel_shape=[3, 3], pads=[1] * 4)
            v = b.quantized(b.node("Relu", v), 1 / 8)
        v = b.quantized(b.node("Add", v, before), 1 / 8)
    b.output(v)
    return b.model()


def fan(kit, size=8, vectors=12):
    """Three dense layers that read one tensor, as query, key and value do."""
    b = kit.Builder(seed=5)
    v = b.quantized(b.input([1, vectors, size], name="x"), 1 / 16)
    parts = [b.quantized(b.node("MatMul", v, b.weights(size, size, scale=1 / 64)),
                         1 / 8) for _ in range(3)]
    both = b.quantized(b.node("Add", *parts[:2]), 1 / 8)
    b.output(b.quantized(b.node("Add", both, parts[2]), 1 / 8))
    return b.model()


def made(suite, label, model, *options, device=DEVICE):
    """The package and its plan."""
    package = suite.work / f"{label}.rhz"
    result = suite.run("compile", model, "--device", device, *options, "-o",
                       package, "--json")
    if not suite.check(result.status == 0, f"{label}: compiles "
                       f"{result.message[:200]}", result.command):
        return None, None
    return package, json.loads((package / "plan.json").read_text())


def apart(suite, label, model):
    """A steering file with which blocks that repeat are no body."""
    node = next(n for n in model.graph.node if n.op_type in ("Gemm", "Conv"))
    steer = suite.work / f"{label}.yaml"
    steer.write_text(f"repeats: {{{node.name or node.output[0]}: 1}}\n")
    return steer


def sharers(plan):
    """The operations that take turns, with the number of their unit."""
    return {o["name"]: o.get("shared_unit") for o in plan["nodes"][0]["operations"]
            if o["option"].startswith("stream/turns")}


def check_runs(suite, label, package, plan, within=0, frames=8):
    for options in ((), ("--stalls-in", "40", "--stalls-out", "40")):
        result = suite.run("simulate", package, "-n", frames, *options, "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0,
                    f"{label}: values {options} {result.message[:200]}",
                    result.command)
        if options or "measured" not in answer:
            continue
        measured, promised = answer["measured"], plan["predicted"]
        suite.check(all(abs(measured[k] - promised[k]) <= within * promised[k]
                        for k in ("interval_cycles", "latency_cycles"))
                    and measured.get("load_cycles") == promised.get(
                        "load_cycles"),
                    f"{label}: {measured} as predicted: {promised}",
                    result.command)


def shared(suite):
    kit = framework.needed("onnxkit")
    import onnx
    model = suite.work / "perceptron.onnx"
    onnx.save(perceptron(kit), model)
    package, plan = made(suite, "low", model, "--goal", "min-resources",
                         "--steer", apart(suite, "apart", perceptron(kit)))
    if not plan:
        return
    mine = sharers(plan)
    units = [a for a in plan["nodes"][0]["actors"]
             if a["kind"] == "matvec_turns"]
    suite.check(len(mine) >= 3 and len(units) == 1 and
                set(mine.values()) == {0}, f"one unit for all: {mine}")
    check_runs(suite, "low", package, plan)
    # What is for people decides nothing.
    for operation in plan["nodes"][0]["operations"]:
        operation["text"] = ""
    wordless = suite.work / "wordless.json"
    wordless.write_text(json.dumps(plan))
    again = suite.work / "again.rhz"
    result = suite.run("compile", model, "--device", DEVICE, "--plan", wordless,
                       "-o", again, "--json")
    suite.check(result.status == 0
                and plans.hardware(package) == plans.hardware(again),
                f"--plan gives the same hardware {result.message[:200]}",
                result.command)

    # With a unit for each layer it would be larger, and faster than asked for.
    steer = suite.work / "own.yaml"
    steer.write_text("nodes:\n" + "".join(
        f"  {node}: {{option: matvec}}\n" for node in mine))
    _, own = made(suite, "own", model, "--goal", "min-resources", "--steer",
                  steer)
    if own:
        a, b = (p["predicted"] for p in (plan, own))
        suite.check(a["lut"] < 0.95 * b["lut"] and a["ff"] < 0.95 * b["ff"],
                    f"{a}, with own units {b}")
    # One unit has no time for this rate.
    _, fast = made(suite, "fast", model, "--goal", "throughput=20000/s",
                   "--steer", apart(suite, "apart", perceptron(kit)))
    if fast:
        suite.check(fast["predicted"]["interval_cycles"] <= 5000
                    and not sharers(fast), f"own units: {fast['predicted']}")

    # Branches next to each other wait for their turns.
    model, network = suite.work / "fan.onnx", fan(kit)
    onnx.save(network, model)
    steer = suite.work / "fan.yaml"
    steer.write_text("nodes:\n" + "".join(
        f'  {n.name or n.output[0]}: {{option: "stream/turns?pe=2&simd=2"}}\n'
        for n in network.graph.node if n.op_type == "MatMul"))
    package, plan = made(suite, "fan", model, "--goal", "min-resources", "--steer",
                         steer)
    if plan:
        suite.check(len(sharers(plan)) == 3, f"branches: {sharers(plan)}")
        check_runs(suite, "fan", package, plan)

    # Convolutions, by name; an addition goes around the second one.
    steer = suite.work / "turns.yaml"
    steer.write_text("".join(["nodes:\n"] + [
        f'  {node}: {{option: "stream/turns?pe=2&simd=4&style=lut"}}\n'
        for node in ("conv2", "conv3")]))
    package, plan = made(suite, "digits",
                         networks.NETWORKS["digits_qdq_int8"].path,
                         "--goal", "min-resources", "--steer", steer)
    if plan:
        suite.check(set(sharers(plan)) == {"conv2", "conv3"},
                    f"as steered: {sharers(plan)}")
        check_runs(suite, "digits", package, plan)


def check_altered(suite, label, package):
    """A segment that was altered is refused by name."""
    segment = sorted((package / "segments/node0").iterdir())[0]
    whole = segment.read_bytes()
    segment.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    result = suite.run("simulate", package, "--level", "rtl", "-n", "1")
    suite.check(result.status != 0 and segment.name in result.err,
                f"{label}: an altered segment: {result.message}",
                result.command)
    segment.write_bytes(whole)


def shared_homes(suite):
    """Each home of weights, on a shared unit: for dense layers, for convolutions
    and for both on one."""
    kit = framework.needed("onnxkit")
    import onnx
    loaded = (("rom", BLOCK), ("ultra", ULTRA), ("block", BLOCK))
    streamed = (("streamed", BLOCK),)
    for network, model, homes, sizes in (
            ("perceptron", perceptron(kit), loaded + streamed, ""),
            ("blocks", blocks(kit, 2), loaded + streamed, ""),
            ("shapes", shapes(kit), loaded, "&sizes=any"),
            ("dense", shapes(kit, False), streamed, "&sizes=any")):
        path = suite.work / f"{network}.onnx"
        onnx.save(model, path)
        # The input's elements have a sign, so the first layer has its own unit.
        names = [n.name for n in model.graph.node
                 if n.op_type in ("Conv", "Gemm")][1:]
        for home, device in homes:
            label = f"{network} {home}"
            steer = suite.work / "home.yaml"
            field = "" if home == "rom" else f"&weights={home}"
            steer.write_text("nodes:\n" + "".join(
                f'  {name}: {{option: "stream/turns?pe=2&simd=4{sizes}{field}"}}\n'
                for name in names))
            asked = home if home in ("rom", "streamed") else "resident"
            package, plan = made(suite, f"{network}-{home}", path, "--goal",
                                 "min-resources", "--weights", asked, "--steer",
                                 steer, device=device)
            if not plan:
                continue
            kinds = [a["kind"] for a in plan["nodes"][0]["actors"]]
            kind = {"rom": "matvec_turns",
                    "streamed": "turns_streamed"}.get(home, "turns_resident")
            suite.check(set(sharers(plan)) == set(names)
                        and 1 <= kinds.count(kind) < len(names),
                        f"{label}: on shared units: {sharers(plan)}")
            check_runs(suite, label, package, plan,
                       0.03 if home == "streamed" else 0)
            if home != "rom":
                check_altered(suite, label, package)


def lines_of(package):
    return sum(len(path.read_text().splitlines())
               for path in (package / "nodes/node0/rtl").glob("*.sv"))


def shared_blocks(suite):
    """A network of many equal blocks on shared units: what grows with their
    number, and that the RTL is right."""
    kit = framework.needed("onnxkit")
    import onnx
    seen = {}
    for count in (6, 24):
        model = suite.work / f"blocks{count}.onnx"
        onnx.save(blocks(kit, count, size=4), model)
        package, plan = made(suite, f"blocks{count}", model, "--goal",
                             "min-resources", "--steer",
                             apart(suite, f"apart{count}", blocks(kit, count)),
                             device="xc7a100t")
        if not plan:
            return
        suite.check(len(sharers(plan)) >= count,
                    f"{count} blocks: {sharers(plan)}")
        seen[count] = lines_of(package)
        if count == 24:
            check_runs(suite, "blocks", package, plan, frames=3)
    suite.check(seen[24] < 2.5 * seen[6], f"lines of RTL: {seen}")


def bodies(plan):
    return {r["name"]: r["trips"] for r in plan.get("repeats", [])}


def chain(kit, count, size=16):
    """Equal dense blocks."""
    b = kit.Builder(seed=5)
    v = b.quantized(b.input([1, size], name="x"), 1 / 8)
    for _ in range(count):
        v = b.node("Gemm", v, b.weights(size, size, scale=1 / 64))
        v = b.quantized(b.node("Relu", v), 1 / 8)
    b.output(v)
    return b.model()


def separable(kit, count, channels=8, size=6):
    """Equal blocks of a depthwise and a pointwise convolution, whose results have
    gains of either sign, and around which an addition goes."""
    b = kit.Builder(seed=2)
    v = b.quantized(b.input([1, channels, size, size], name="x"), 1 / 16)
    for _ in range(count):
        before = v
        for shape, group in (((channels, 1, 3, 3), channels),
                             ((channels, channels, 1, 1), 1)):
            bias = b.constant(b.rng.integers(-999, 999, channels), "int32")
            v = b.node("Conv", v, b.weights(*shape, scale=1 / 4),
                       b.dequantized(bias, 1 / 64, 0, "int32"),
                       kernel_shape=list(shape[2:]),
                       pads=[shape[2] // 2] * 4, group=group)
            gains = b.rng.choice([-1, 1], (1, channels, 1, 1))
            v = b.node("Mul", v, b.constant(gains))
            v = b.quantized(b.node("Relu", v), 1 / 16)
        v = b.quantized(b.node("Add", v, before), 1 / 16)
    b.output(v)
    return b.model()


def separable_blocks(suite):
    """A body with depthwise convolutions, its weights in each home."""
    kit = framework.needed("onnxkit")
    import onnx
    model = suite.work / "separable.onnx"
    onnx.save(separable(kit, 5), model)
    for home in ("rom", "resident", "streamed"):
        package, plan = made(suite, f"separable-{home}", model, "--goal",
                             "min-resources", "--weights", home, "--steer",
                             both(suite, separable(kit, 5), 5), device=BLOCK)
        if plan:
            kinds = [a["kind"] for a in plan["nodes"][0]["actors"]]
            wanted = {"rom": "lane_reduce", "resident": "depthwise_resident",
                      "streamed": "depthwise_streamed"}
            suite.check(list(bodies(plan).values()) == [5]
                        and kinds.count(wanted[home]) == 1,
                        f"{home}: {bodies(plan)} {kinds}")
            check_runs(suite, f"separable {home}", package, plan, frames=3,
                       within=0.03 if home == "streamed" else 0)


def both(suite, model, trips):
    """A steering file for a body from the first layer's node on."""
    steer = suite.work / "trips.yaml"
    first = next(n for n in model.graph.node if n.op_type == "Conv")
    steer.write_text(f"repeats: {{{first.name or first.output[0]}: {trips}}}\n")
    return steer


def repeated_blocks(suite):
    """Equal blocks are one body that each frame passes several times: chosen
    where it serves the goal, as large for many blocks as for few, exact and as
    fast as predicted; kept by --plan; with weights in each home."""
    kit = framework.needed("onnxkit")
    import onnx
    seen = {}
    for count in (6, 48):
        model = suite.work / f"blocks{count}.onnx"
        onnx.save(blocks(kit, count, size=4), model)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        package, plan = made(suite, f"body{count}", model, "--goal",
                             "min-resources", device=BLOCK)
        if not plan:
            return
        suite.check(list(bodies(plan).values()) == [count],
                    f"{count} blocks: {bodies(plan)}")
        seen[count] = (lines_of(package), plan["predicted"]["lut"],
                       resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                       - before)
    suite.check(seen[48][0] < 1.02 * seen[6][0]
                and seen[48][1] < 1.15 * seen[6][1], f"lines and LUTs: {seen}")
    suite.check(seen[48][2] < 4 * seen[6][2], f"processor time: {seen}")

    model = suite.work / "blocks3.onnx"
    onnx.save(blocks(kit, 3, size=4), model)
    package, plan = made(suite, "body3", model, "--goal", "min-resources",
                         device=BLOCK)
    if not plan:
        return
    check_runs(suite, "body3", package, plan, frames=3)
    again = suite.work / "again.rhz"
    result = suite.run("compile", model, "--device", BLOCK, "--plan", package,
                       "-o", again, "--json")
    suite.check(result.status == 0
                and plans.hardware(package) == plans.hardware(again),
                f"--plan gives the same hardware {result.message[:200]}",
                result.command)
    _, own = made(suite, "own3", model, "--goal", "min-resources", "--steer",
                  apart(suite, "apart3", blocks(kit, 3)), device=BLOCK)
    if own:
        suite.check(not bodies(own) and plan["predicted"]["lut"]
                    < 0.8 * own["predicted"]["lut"],
                    f"{plan['predicted']}, apart {own['predicted']}")

    # Where units for all of them leave each too little, for the rate, too.
    network = blocks(kit, 24)
    onnx.save(network, model)
    _, plan = made(suite, "fast24", model, device="xc7a100t")
    _, own = made(suite, "apart24", model, "--steer",
                  apart(suite, "apart24", network), device="xc7a100t")
    if plan and own:
        rates = [p["predicted"]["throughput_per_s"] for p in (plan, own)]
        suite.check(list(bodies(plan).values()) == [24] and rates[0] > rates[1],
                    f"a second, apart: {rates}")

    # Rows that end inside a beat: 16 results, three at a time.
    network = chain(kit, 4)
    onnx.save(network, model)
    steer = suite.work / "trips.yaml"
    first = [n for n in network.graph.node if n.op_type == "Gemm"][1]
    name = first.name or first.output[0]
    steer.write_text(f"repeats: {{{name}: 3}}\nnodes:\n  {name}: "
                     '{option: "stream/matvec?pe=3"}\n')
    package, plan = made(suite, "uneven", model, "--goal", "max-throughput",
                         "--steer", steer, device=BLOCK)
    if plan:
        suite.check("pe=3" in str(plan["nodes"][0]["operations"]) and
                    list(bodies(plan).values()) == [3], f"{bodies(plan)}")
        check_runs(suite, "uneven", package, plan, frames=3)

    # By name, with the weights in other homes.
    steer.write_text(f"repeats: {{{name}: 3}}\n")
    for home in ("resident", "streamed"):
        package, plan = made(suite, home, model, "--goal", "min-resources",
                             "--steer", steer, "--weights", home, device=BLOCK)
        if plan:
            suite.check(list(bodies(plan).values()) == [3],
                        f"{home}: {bodies(plan)}")
            check_runs(suite, home, package, plan, frames=3,
                       within=0.03 if home == "streamed" else 0)
    steer.write_text("repeats: {nobody: 3}\n")
    for text, said in (("nobody: 3", "begins no chain of 3 equal blocks"),
                       ("nobody: 1", "the network has no such node"),
                       (f"{name}: 9",
                        "begins no chain of 9 equal blocks")):
        steer.write_text(f"repeats: {{{text}}}\n")
        result = suite.run("compile", model, "--device", BLOCK, "--steer",
                           steer, "-o", suite.work / "none.rhz")
        suite.check(result.status != 0 and said in result.message,
                    f"{text}: {result.message[:200]}", result.command)


def shared_netlist(suite):
    """Resources of a network with a shared unit by Yosys."""
    suite.tool("yosys")
    kit = framework.needed("onnxkit")
    import onnx
    model = suite.work / "perceptron.onnx"
    onnx.save(perceptron(kit), model)
    package, plan = made(suite, "low", model, "--goal", "min-resources",
                         "--steer", apart(suite, "apart", perceptron(kit)))
    if not plan:
        return
    result = suite.run("synth", package, "--json")
    if not suite.check(result.status == 0, f"synthesis {result.message[:200]}",
                       result.command):
        return
    units = [m for m in result.json["modules"] if m["cell"] == "matvec_turns"]
    for unit in units:
        a, b = unit["predicted"], unit["measured"]
        suite.check(abs(a["lut"] / b["lut"] - 1) < 0.25
                    and abs(a["ff"] / b["ff"] - 1) < 0.05
                    and a["bram"] == b["bram"],
                    f"the unit: {a}, by Yosys {b}", result.command)
    suite.check(len(units) == 1, f"{len(units)} shared units")
