# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FIFOs of long skips in a memory outside the chip: forced, simulated under
stalls, as fast as predicted, rebuilt from the plan; and chosen where the chip, or
one of its dies, has no room for them."""
import json

import dies
import framework
import plans
from weights import near, simulated

DDR = "xczu3eg"
BLOCKS = 2  # of each die, too few for the FIFOs


def unet(suite, size, channels=16, depth=2):
    """Convolutions around poolings and as many enlargements, with a skip around
    each: the outermost one holds the most."""
    onnxkit = framework.needed("onnxkit")
    b = onnxkit.Builder()
    x = b.quantized(b.input([1, 3, size, size]), 0.25)

    def layer(x, filters, inputs):
        y = b.node("Conv", x, b.weights(filters, inputs, 3, 3),
                   kernel_shape=[3, 3], pads=[1] * 4)
        return b.quantized(b.node("Relu", y), 2.0)

    x = layer(x, channels, 3)
    skips = []
    for _ in range(depth):
        skips.append(x)
        x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = layer(x, channels, channels)
    for skip in reversed(skips):
        x = b.node("Resize", x, "", b.floats(1, 1, 2, 2), mode="nearest",
                   coordinate_transformation_mode="asymmetric",
                   nearest_mode="floor")
        x = b.quantized(b.node("Add", x, skip), 4.0)
        x = layer(x, channels, channels)
    b.output(b.quantized(x, 8.0))
    model = b.model()
    # A comma in a name is no list of names.
    for node in model.graph.node:
        if node.op_type == "Add":
            node.name = f"{node.output[0]}, joined"
    path = suite.work / f"unet{size}.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def fifos_of(package):
    """The FIFOs of a package by kind, and its plan."""
    plan = json.loads((package / "plan.json").read_text())
    actors = [a for n in plan["nodes"] for a in n["actors"]]
    return {kind: [a for a in actors if a["kind"] == kind]
            for kind in ("fifo", "mem_fifo")}, plan


def compiled(suite, label, model, package, *options):
    built = suite.run("compile", model, "-o", package, "--json", *options)
    return suite.check(built.status == 0, f"{label}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command)


def spill(suite):
    """A network with skips, all of them in the memory: its bits, its cycles, its
    bytes; and settings that nothing meets."""
    model = unet(suite, 32)
    goal = ("--device", DDR, "--goal", "throughput=2000/s")
    chip, package, again = (suite.work / f"{n}.rhz" for n in
                            ("chip", "memory", "again"))
    if not compiled(suite, "on-chip", model, chip, *goal, "--fifos", "on-chip"):
        return
    if not compiled(suite, "memory", model, package, *goal, "--fifos", "memory"):
        return
    before, plan = fifos_of(chip)
    suite.check(not before["mem_fifo"] and not plan["nodes"][0]["memories"],
                "on-chip: no FIFO is in a memory")
    after, plan = fifos_of(package)
    suite.check([a["nodes"][0].partition(", ")[2] for a in after["mem_fifo"]]
                == ["joined"] * 2, "memory: both skips are there")
    ports = plan["nodes"][0]["ports"]["memory"]
    moved = sum(port["bytes_per_frame"] for port in ports)
    # Whole beats, written and read.
    least = sum(2 * a["config"]["Words"] * a["config"]["Width"] // 8
                for a in after["mem_fifo"])
    suite.check(least <= moved < 1.3 * least
                and all(port["space_bytes"] > 0 for port in ports),
                f"memory: {moved} bytes a frame, at least {least}")
    blocks = [sum(a["resources"].get("bram", 0) for a in kinds["fifo"]
                  + kinds["mem_fifo"]) for kinds in (before, after)]
    suite.check(blocks[1] < blocks[0],
                f"memory: blocks of FIFOs {blocks[0]} on the chip, {blocks[1]}")
    near(suite, simulated(suite, package, "memory", frames=2), "memory", 0.03)
    simulated(suite, package, "memory", "--stalls-in", "30", "--stalls-out", "40")
    if compiled(suite, "--plan", model, again, "--device", DDR, "--plan", package):
        suite.check(plans.hardware(package) == plans.hardware(again),
                    "--plan gives the same hardware")
    module, later = suite.work / "explored.mlir", suite.work / "later.rhz"
    suite.run("compile", model, *goal, "--fifos", "memory", "--compile-to",
              "explore", "-o", module)
    suite.run("compile", module, "--compile-from", "explore", "-o", later)
    suite.check(plans.hardware(package) == plans.hardware(later),
                "a stop after 'explore' gives the same hardware")
    for options, text in (
            (("--device", DDR, "--fifos", "disk"), "is not a place of FIFOs"),
            (("--device", DDR, "--fifos", "nowhere=memory"), "can lie in a memory"),
            (("--device", "lfe5u-85f", "--fifos", "memory"), "can lie in a memory")):
        result = suite.run("compile", model, *options, "-o",
                           suite.work / "never.rhz")
        suite.check(result.status != 0 and text in result.err,
                    f"{' '.join(options)}: {result.message}", result.command)


def choice(suite):
    """Where block RAM is what binds, the largest FIFOs move: what does not fit
    without the memory fits, and is right."""
    model = unet(suite, 64)
    options = ("--device", DDR, "--goal", "throughput=300/s,bram=3")
    package = suite.work / "choice.rhz"
    refused = suite.run("compile", model, *options, "--fifos", "on-chip", "-o",
                        package)
    suite.check(refused.status != 0 and "does not fit" in refused.err,
                f"on-chip: {refused.message}", refused.command)
    if not compiled(suite, "choice", model, package, *options):
        return
    check_choice(suite, package)


def check_choice(suite, package):
    """What moved, and that the design is right."""
    kinds, _ = fifos_of(package)
    suite.check(kinds["mem_fifo"], "choice: a FIFO is in the memory: "
                f"{[a['name'] for a in kinds['mem_fifo']]}")
    near(suite, simulated(suite, package, "choice", frames=1), "choice", 0.03)


def paced(suite):
    """Without a memory for them, FIFOs hold what an even pace of beats asks for:
    so few blocks are enough, for the whole rate, under stalls, and from the
    plan."""
    model = unet(suite, 32)
    device = "xc7z020"
    package, again = suite.work / "paced.rhz", suite.work / "again.rhz"
    if not compiled(suite, "paced", model, package, "--device", device, "--goal",
                    "max-throughput,bram=4", "--fifos", "on-chip"):
        return
    kinds, plan = fifos_of(package)
    node = plan["nodes"][0]
    slowest = max(layer["interval_cycles"] for layer in node["operations"])
    blocks = node["predicted"]["bram"]
    suite.check(not kinds["mem_fifo"] and blocks <= 4 and
                plan["predicted"]["interval_cycles"] == slowest,
                f"paced: {blocks} blocks, "
                f"{plan['predicted']['interval_cycles']} cycles as its slowest "
                f"operation's {slowest}")
    near(suite, simulated(suite, package, "paced"), "paced", 0)
    simulated(suite, package, "paced", "--stalls-in", "30", "--stalls-out", "40",
              frames=2)
    if compiled(suite, "--plan", model, again, "--device", device, "--plan",
                package):
        suite.check(plans.hardware(package) == plans.hardware(again),
                    "--plan gives the same hardware")


def on_dies(suite):
    """The same where the memory's ports are on another die than the border: words
    cross to it and back."""
    model = unet(suite, 64)
    device = dies.device(suite, 2, 0, memory=2, lut=12000, lutram=3000, ff=40000,
                         bram=BLOCKS)
    options = ("--device", device, "--goal", "throughput=300/s")
    package, again = (suite.work / f"{n}.rhz" for n in ("dies", "again"))
    refused = suite.run("compile", model, *options, "--fifos", "on-chip", "-o",
                        package)
    suite.check(refused.status != 0 and "does not fit" in refused.err,
                f"on-chip: {refused.message}", refused.command)
    if not compiled(suite, "dies", model, package, *options):
        return
    check_choice(suite, package)
    simulated(suite, package, "dies", "--stalls-in", "30", "--stalls-out", "40",
              frames=1)
    kinds, plan = fifos_of(package)
    node = plan["nodes"][0]
    ways = [(a["from_die"], a["die"]) for a in node["actors"]
            if a["kind"] == "crossing" and "_fifo_" in a["name"]]
    suite.check({a["die"] for a in kinds["mem_fifo"]} == {"SLR2"}
                and sorted(ways) == sorted((b, a) for a, b in ways),
                f"dies: words cross to the memory's die and back: {ways}")
    suite.check(all(d["resources"].get("bram", 0) <= BLOCKS for d in node["dies"]),
                "dies: each has the blocks that it needs")
    if compiled(suite, "--plan", model, again, "--device", device, "--plan",
                package):
        suite.check(plans.hardware(package) == plans.hardware(again),
                    "--plan gives the same hardware on dies")
