# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are loaded when the design starts, and weights that are read for
every frame: forced on every kind of layer, simulated under stalls, rebuilt from
the plan, refused where they are not supported."""
import json
import os
import sys
import threading

import clients
import framework
import networks
import plans

DIGITS = networks.ROOT / "examples/digits/digits_qdq_int8.onnx"
# With UltraRAM and DDR4; with DDR4 alone.
ULTRA, BLOCK = "xck26", "xczu3eg"
GOAL = ("--goal", "throughput=20000/s")
# Options of layers with weights.
WEIGHTED = ("stream/matvec", "stream/turns", "stream/depthwise")


def options_of(package):
    plan = json.loads((package / "plan.json").read_text())
    return {o["name"]: o["option"] for n in plan["nodes"]
            for o in n["operations"]}, plan


def kinds(suite, width=20):
    """A network with every kind of layer that has weights: a convolution, one in
    groups, a depthwise one, a pointwise one with `width` channels, a dense layer."""
    onnxkit = framework.needed("onnxkit")
    b = onnxkit.Builder()
    x = b.quantized(b.input([1, 3, 10, 10]), 0.25)

    def layer(x, channels, inputs, kernel, group=1, pad=0):
        y = b.node("Conv", x, b.weights(channels, inputs // group, kernel, kernel),
                   b.dequantized(b.constant(b.draw([channels]), "int32"), 0.0625,
                                 0, "int32"),
                   kernel_shape=[kernel] * 2, pads=[pad] * 4, group=group)
        return b.quantized(b.node("Relu", y), 2.0)

    x = layer(x, 8, 3, 3)
    x = layer(x, 12, 8, 3, group=2, pad=1)
    x = layer(x, 12, 12, 3, group=12)
    x = layer(x, width, 12, 1)
    x = b.node("Flatten", x)
    x = b.node("Gemm", x, b.weights(10, width * 36), transB=1)
    b.output(b.quantized(x, 8.0))
    path = suite.work / ("kinds.onnx" if width == 20 else f"kinds{width}.onnx")
    path.write_bytes(b.model().SerializeToString())
    return path


def simulated(suite, package, label, *options, frames=3):
    result = suite.run("simulate", package, "--level", "rtl", "-n", str(frames),
                       "--json", *options)
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0,
                f"{label}: the RTL is right {' '.join(options)} "
                f"{result.message if result.status else ''}", result.command)
    return answer


def forced(suite, model, device, home):
    """Compiles with all weights loaded, simulates, rebuilds from the plan."""
    label = f"{model.stem}, {device}"
    package, again = suite.work / f"{model.stem}-{device}.rhz", \
        suite.work / "again.rhz"
    command = ("compile", model, "--device", device, *GOAL, "--weights",
               "resident", "--json")
    built = suite.run(*command, "-o", package)
    if home == "ultra" and built.status == 0:
        # The plan chooses which memory it is: selected by a key's field.
        names = [n for n, o in options_of(package)[0].items() if "weights=" in o]
        steer = suite.work / "steer.yaml"
        steer.write_text("nodes:\n" + "".join(
            f"  {n}: {{option: '?weights=ultra'}}\n" for n in names))
        built = suite.run(*command, "-o", package, "--steer", steer)
    if not suite.check(built.status == 0, f"{label}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command):
        return None
    options, plan = options_of(package)
    weighted = {n: o for n, o in options.items()
                if o.startswith(WEIGHTED)}
    suite.check(weighted and all(f"weights={home}" in o
                                 for o in weighted.values()),
                f"{label}: all weights are loaded: {weighted}")
    node = plan["nodes"][0]
    suite.check(not any(a["config"].get("WeightFile") for a in node["actors"]),
                f"{label}: no weights in ROMs")
    answer = simulated(suite, package, label)
    predicted = plan["predicted"].get("load_cycles", 0)
    measured = (answer.get("measured") or {}).get("load_cycles")
    suite.check(predicted > 0 and predicted == measured,
                f"{label}: loading takes {measured} cycles, {predicted} "
                f"predicted")
    simulated(suite, package, label, "--stalls-in", "40", "--stalls-out", "30")
    result = suite.run("run", package, "--driver", "simulation", "-n", "2")
    suite.check(result.status == 0, f"{label}: the driver runs it"
                + (f": {result.message}" if result.status else ""),
                result.command)
    result = suite.run("compile", model, "--device", device, "--plan", package,
                       "-o", again, "--json")
    suite.check(result.status == 0
                and plans.hardware(package) == plans.hardware(again)
                and (package / "segments/node0/load").read_bytes()
                == (again / "segments/node0/load").read_bytes(),
                f"{label}: --plan gives the same hardware and weights",
                result.command)
    return package


def refusals(suite, package):
    """Unsupported requests are refused, with the reason."""
    def refused(text, *options, model=DIGITS):
        result = suite.run("compile", model, *options, "-o",
                           suite.work / "never.rhz")
        suite.check(result.status != 0 and text in result.err,
                    f"{' '.join(map(str, options))}: {result.message}",
                    result.command)

    refused("a memory outside the chip", "--device", "lfe5u-85f", "--weights",
            "streamed")
    refused("is not a home of weights", "--device", ULTRA, "--weights", "disk")
    refused("a memory outside the chip", "--device", "lfe5u-85f", "--weights",
            "resident")
    refused("a memory outside the chip", "--cluster", "ecp5-12fx4", "--weights",
            "resident")
    refused("the network has no such node", "--device", ULTRA, "--weights",
            "nowhere=resident")
    segment = package / "segments/node0/load"
    whole = segment.read_bytes()
    for label, change in (("altered", bytes([whole[0] ^ 1]) + whole[1:]),
                          ("cut", whole[:-8])):
        segment.write_bytes(change)
        result = suite.run("simulate", package, "--level", "rtl", "-n", "1")
        suite.check(result.status != 0 and "segments/node0/load" in result.err,
                    f"a segment that is {label}: {result.message}",
                    result.command)
    segment.unlink()
    result = suite.run("simulate", package, "--level", "rtl", "-n", "1")
    suite.check(result.status != 0 and "segments/node0/load" in result.err,
                f"a segment that is missing: {result.message}", result.command)
    segment.write_bytes(whole)


def near(suite, answer, label, share=0.03):
    """A design takes the cycles that were predicted, up to a share: 3 % if it
    reads a memory."""
    for key, cycles in (answer.get("measured") or {}).items():
        predicted = (answer.get("predicted") or {}).get(key)
        if key in ("interval_cycles", "latency_cycles") and predicted:
            suite.check(abs(cycles - predicted) <= share * predicted,
                        f"{label}: {key} {cycles}, {predicted} predicted")


def streamed(suite):
    """All weights are read for every frame: an autoencoder of ten dense layers, a
    convolutional network, and a layer next to one that is loaded. And they are
    loaded into the other kind of memory than in `weights`."""
    kinds_model = kinds(suite)
    forced(suite, DIGITS, BLOCK, "block")
    forced(suite, kinds_model, ULTRA, "ultra")

    def compiled(model, label, *options):
        package = suite.work / f"{model.stem}-streamed.rhz"
        built = suite.run("compile", model, "--device", BLOCK, *options,
                          "-o", package, "--json")
        suite.check(built.status == 0, f"{label}: compiles {built.message}",
                    built.command)
        return package if built.status == 0 else None

    for model, goal in ((mlp(suite), "max-throughput"),
                        (DIGITS, "throughput=4000/s")):
        label = f"{model.stem}, streamed"
        package = compiled(model, label, "--goal", goal, "--weights",
                           "streamed")
        if not package:
            continue
        options, plan = options_of(package)
        suite.check(all("weights=streamed" in o for o in options.values()
                        if o.startswith(WEIGHTED)),
                    f"{label}: all weights come from the memory: {options}")
        suite.check("load_cycles" not in plan["predicted"]
                    or not plan["predicted"]["load_cycles"],
                    f"{label}: nothing is loaded")
        near(suite, simulated(suite, package, label), label)
        simulated(suite, package, label, "--stalls-in", "40", "--stalls-out",
                  "30")
        again = suite.work / "again.rhz"
        result = suite.run("compile", model, "--device", BLOCK, "--plan",
                           package, "-o", again, "--json")
        suite.check(result.status == 0
                    and plans.hardware(package) == plans.hardware(again),
                    f"{label}: --plan gives the same hardware", result.command)
        result = suite.run("run", package, "--driver", "simulation", "-n", "2")
        suite.check(result.status == 0, f"{label}: the driver runs it "
                    f"{result.message if result.status else ''}",
                    result.command)
        segment = sorted((package / "segments/node0").iterdir())[0]
        whole = segment.read_bytes()
        segment.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
        result = suite.run("simulate", package, "--level", "rtl", "-n", "1")
        suite.check(result.status != 0 and segment.name in result.err,
                    f"{label}: an altered segment: {result.message}",
                    result.command)
        segment.write_bytes(whole)
    # The last layer streamed, the others loaded, over one port.
    package = compiled(DIGITS, "two homes", *GOAL, "--weights", "resident",
                       "--weights", "dense1=streamed")
    if package:
        options, _ = options_of(package)
        suite.check("weights=streamed" in options["dense1"]
                    and "weights=block" in options["conv2"],
                    f"two homes: {options}")
        simulated(suite, package, "two homes")
    # Each kind of layer; a depthwise one replays what it has read once.
    package = compiled(kinds_model, "each kind", *GOAL, "--weights",
                       "streamed")
    if package:
        options, _ = options_of(package)
        suite.check(sum("weights=streamed" in o for o in options.values())
                    == sum(o.startswith(WEIGHTED)
                           for o in options.values()) > 0
                    and any("depthwise" in o for o in options.values()),
                    f"each kind: {options}")
        near(suite, simulated(suite, package, "each kind"), "each kind")
        simulated(suite, package, "each kind", "--stalls-in", "40",
                  "--stalls-out", "30")


def batches(suite):
    """Frames share weights that are read from a memory: as many as a steering
    file says, whatever their number, at as many times the rate."""
    model, package = mlp(suite), suite.work / "batch.rhz"
    alone = suite.run("explore", model, "--device", BLOCK, "--goal",
                      "min-latency", "--weights", "streamed", "--json")
    names = [o["name"] for n in (alone.json or {}).get("nodes", [])
             for o in n["operations"] if o["option"].startswith(WEIGHTED)]
    suite.check(alone.status == 0 and len(names) == 5
                and "batch=" not in alone.out,
                f"batches: none where the latency is the goal: {names}", alone.command)
    steer = suite.work / "batch.yaml"
    steer.write_text("nodes:\n" + "".join(
        f"  {name}: {{option: 'stream/matvec?weights=streamed&batch=4'}}\n"
        for name in names))
    built = suite.run("compile", model, "--device", BLOCK, "--goal",
                      "max-throughput", "--steer", steer, "-o", package)
    if not suite.check(built.status == 0 and "up to 4 frames" in built.out,
                       f"batches: compiles, and says it {built.message}",
                       built.command):
        return
    options, plan = options_of(package)
    suite.check(sum("batch=4" in o for o in options.values()) == 5,
                f"batches: each layer has one: {options}")
    slow = alone.json["predicted"]["interval_cycles"]
    fast = plan["predicted"]["interval_cycles"]
    suite.check(3.6 * fast <= slow <= 4.4 * fast,
                f"batches: {fast} cycles a frame, {slow} without")
    near(suite, simulated(suite, package, "batches"), "batches")
    for frames in (1, 3, 8, 9):
        simulated(suite, package, f"batches, {frames} frames", "--stalls-in",
                  "40", "--stalls-out", "30", frames=frames)
    again = suite.work / "batch-again.rhz"
    result = suite.run("compile", model, "--device", BLOCK, "--plan", package,
                       "-o", again, "--json")
    suite.check(result.status == 0
                and plans.hardware(package) == plans.hardware(again),
                "batches: --plan gives the same hardware", result.command)
    for frames in (1, 3, 5):
        result = suite.run("run", package, "--driver", "simulation", "-n", frames)
        suite.check(result.status == 0, f"batches: the driver runs {frames} "
                    f"{result.message if result.status else ''}", result.command)
    requests(suite, package)
    # What the plan says of the latency: alone as measured above, and how long
    # the places for batches may keep a frame.
    node = plan["nodes"][0]["actors"]
    places = sum(a["config"]["Places"] for a in node if "Patience" in a["config"])
    suite.check(places == 5 * 2 * 4 and "under full load each is on its way for "
                "up to " in built.out, f"batches: {places} places: {built.out}")
    # On a node with a link, if a steering file asks for them.
    linked = suite.work / "linked.rhz"
    result = suite.run("compile", model, "--cluster", f"{BLOCK}:1@udp-10g",
                       "--steer", steer, "-o", linked)
    suite.check(result.status == 0 and "up to 4 frames" in result.out,
                f"batches: on a link {result.message}", result.command)
    for frames in (1, 3, 9):
        result = suite.run("simulate", linked, "--level", "cluster", "-n",
                           frames, "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"batches: {frames} frames over a link "
                    f"{result.message if result.status else ''}",
                    result.command)
    measured = (result.json or {}).get("measured", {}).get("throughput_per_s", 0)
    promised = json.loads((linked / "plan.json").read_text())["predicted"][
        "throughput_per_s"]
    suite.check(abs(measured / promised - 1) < 0.03,
                f"batches: {measured:.0f}/s over a link, {promised:.0f} promised")


def requests(suite, package):
    """Requests of single frames, one after the other, of fewer than a batch and
    of more, and of several clients at a time: the interpreter's answers."""
    onnxkit = framework.needed("onnxkit")
    np, client = onnxkit.np, clients.module_of(package / "host")
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    x = np.random.default_rng(1).normal(0, 8, (6, 640)).astype("f4")
    given, wanted = suite.work / "x.npy", suite.work / "y.npy"
    np.save(given, x)
    result = suite.run("simulate", package, "--level", "functional", "--input",
                       given, "--output", wanted, "-n", len(x))
    if not suite.check(result.status == 0, f"batches: {result.message}"):
        return
    y, right = np.load(wanted).reshape(x.shape), []

    def ask(*counts):
        at = 0
        with client.Client("simulation") as device:
            for count in counts:
                part = slice(at, at + count)
                right.append(np.array_equal(
                    device.infer(x[part]).reshape(count, -1), y[part]))
                at += count

    ask(1, 1, 1, 3)
    ask(6)
    several = [threading.Thread(target=ask, args=(1, count)) for count in (1, 2, 5)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    suite.check(right == [True] * 11, f"batches: requests: {right}")


def mlp(suite):
    """Five dense layers, as of an autoencoder."""
    onnxkit = framework.needed("onnxkit")
    b = onnxkit.Builder()
    x = b.quantized(b.input([1, 640]), 0.25)
    before = 640
    for size in (64, 64, 8, 64, 640):
        y = b.node("Gemm", x, b.weights(size, before), transB=1)
        x, before = b.quantized(b.node("Relu", y), 2.0), size
    b.output(x)
    path = suite.work / "mlp.onnx"
    path.write_bytes(b.model().SerializeToString())
    return path


def weights(suite):
    package = forced(suite, DIGITS, ULTRA, "ultra")
    forced(suite, kinds(suite), BLOCK, "block")
    # One layer of all.
    one = suite.work / "one.rhz"
    result = suite.run("compile", DIGITS, "--device", ULTRA, *GOAL, "--weights",
                       "rom", "--weights", "conv4=resident", "-o", one, "--json")
    if suite.check(result.status == 0, f"one layer: {result.message}",
                   result.command):
        options, _ = options_of(one)
        suite.check([n for n, o in options.items() if "weights=" in o]
                    == ["conv4"], f"only that one is loaded: {options}")
    simulated(suite, one, "one layer")
    # By default none is loaded if everything fits.
    result = suite.run("explore", DIGITS, "--device", ULTRA, *GOAL, "--json")
    suite.check(result.status == 0 and "weights=" not in result.out,
                "nothing is loaded that needs not be", result.command)
    if package:
        refusals(suite, package)


def made(suite, name):
    """A network of published size, by its exact layers."""
    maker = suite.need(networks.SHARED / "tools/large_networks.py")
    framework.needed("onnx")
    path = suite.work / f"{name}.onnx"
    if not path.exists():
        result = framework.run_program([sys.executable, maker, suite.work, name])
        if not suite.check(result.status == 0, f"{name} is made"
                           + (f": {result.message}" if result.status else ""),
                           result.command):
            return None
    return path


def layer(suite, model, name, size):
    """One convolution of a network, with its own weights and what quantizes
    before and after it, on an image of `size` rows and columns."""
    onnx = framework.needed("onnx")
    graph = onnx.load(model).graph
    makers = {node.output[0]: node for node in graph.node}
    readers = {tensor: node for node in graph.node for tensor in node.input}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    conv = next(node for node in graph.node if node.name == name)
    before = makers[conv.input[0]]
    while before.op_type != "DequantizeLinear":  # a pool keeps its scale
        before = makers[before.input[0]]
    quantize = makers[before.input[0]]
    quantize.input[0], conv.input[0] = "image", before.output[0]
    nodes = [quantize, before, makers[conv.input[1]], makers[conv.input[2]],
             conv]
    while nodes[-1].op_type != "DequantizeLinear":
        nodes.append(readers[nodes[-1].output[0]])
    channels = constants[makers[conv.input[1]].input[0]].dims[1]
    helper = onnx.helper
    cut = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(
            "image", onnx.TensorProto.FLOAT, [1, channels, size, size])],
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
        [constants[t] for t in sorted({t for node in nodes for t in node.input
                                       if t in constants})])
    path = suite.work / f"{model.stem}-{name}.onnx"
    path.write_bytes(helper.make_model(
        cut, opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8).SerializeToString())
    return path


# Network, convolution, rows of the image, where its weights are, frames per
# second: ResNet-50's first one, 7 x 7; 3 x 3 with steps of two; 1 x 1 with half
# a million weights. VGG-16's, half as wide, of 3 x 3.
LAYERS = (("tv_resnet50", "conv2", 16, "streamed", 4000),
          ("tv_resnet50", "conv90", 4, "ultra", 4000),
          ("tv_resnet50", "conv155", 4, "streamed", 2500),
          ("vgg16_half_conv", "conv29", 4, "ultra", 4000),
          ("vgg16_half_conv", "conv29", 3, "rom", 4000),
          ("vgg16_half_conv", "conv36", 3, "streamed", 1500))


def layers(suite):
    """Single layers of large networks, with their channels and weights."""
    for network, name, size, home, rate in LAYERS:
        model = made(suite, network)
        if model is None:
            continue
        label = f"{name} of {network}, {home}"
        package = suite.work / "layer.rhz"
        pin = suite.work / "layer.yaml"
        pin.write_text(f"nodes:\n  {name}: {{option: '?weights={home}'}}\n")
        where = (("--weights", "rom") if home == "rom" else ("--steer", pin))
        built = suite.run("compile", layer(suite, model, name, size), "--device",
                          ULTRA, "--goal", f"throughput={rate}/s", *where,
                          "-o", package, "--json")
        if not suite.check(built.status == 0, f"{label}: compiles"
                           + (f": {built.message}" if built.status else ""),
                           built.command):
            continue
        options, plan = options_of(package)
        if home == "rom":
            suite.check(not any("weights=" in o for o in options.values()),
                        f"{label}: its weights are there: {options}")
        else:
            suite.check(any(f"weights={home}" in o for o in options.values())
                        and not any(a["config"].get("WeightFile")
                                    for a in plan["nodes"][0]["actors"]),
                        f"{label}: its weights are there: {options}")
        near(suite, simulated(suite, package, label), label,
             0.03 if home == "streamed" else 0.01)
    simulated(suite, package, f"{label}, stalls", "--stalls-in", "30",
              "--stalls-out", "30")


def whole(suite, name, rate, home="streamed"):
    """A network of MLPerf Tiny with every weight read for every frame, or loaded at
    the start: the RTL is right, and as fast as predicted."""
    model = made(suite, name)
    if model is None:
        return
    package = suite.work / f"{name}.rhz"
    built = suite.run("compile", model, "--device", BLOCK,
                      "--goal", f"throughput={rate}/s", "--weights", home,
                      "-o", package, "--json")
    if not suite.check(built.status == 0, f"{name}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command):
        return
    options, plan = options_of(package)
    weighted = {n: o for n, o in options.items()
                if o.startswith(WEIGHTED)}
    suite.check(weighted and not any(
        "weights=rom" in o or (home == "streamed") != ("weights=streamed" in o)
        for o in weighted.values()), f"{name}: where the weights are: {weighted}")
    suite.check(not any(a["config"].get("WeightFile")
                        for a in plan["nodes"][0]["actors"]),
                f"{name}: none are in ROMs")
    near(suite, simulated(suite, package, name), name,
         0.03 if home == "streamed" else 0)
