# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network that no die of its device could hold: laid out on several, with
crossings, exact values at the predicted cycles under stalls, constraints that
name every instance, and the same plan again from its file."""
import json
import re

import cluster
import networks
import plans

DIGITS = networks.ROOT / "examples/digits/digits_qdq_int8.onnx"
DEVICES = networks.ROOT / "data/devices"
SIZES = {"lut": 4200, "lutram": 2000, "ff": 12000, "bram": 12, "uram": 0,
         "dsp": 40}


def device(suite, registers, border, memory=None, **other):
    """xczu3eg cut to four small dies, `other` resources of each than the usual
    ones; the memory is next to the border unless it is told where."""
    sizes = {**SIZES, **other}
    text = (DEVICES / "xczu3eg.yaml").read_text()
    whole = ", ".join(f"{k}: {4 * n}" for k, n in sizes.items())
    text = re.sub(r"budget:\n(  .*\n)+", f"budget: {{{whole}}}\n", text)
    one = ", ".join(f"{k}: {n}" for k, n in sizes.items() if n)
    dies = "".join(f"  - {{name: SLR{d}, {one}}}\n" for d in range(4))
    ports = "" if memory is None else f"memory_die: SLR{memory}\n"
    text = text.replace("bram_bits:", f"dies:\n{dies}crossings: {{wires: 600, "
                        f"registers: {registers}}}\nborder_die: SLR{border}\n"
                        f"{ports}routable: {{lut: 0.9}}\nbram_bits:", 1)
    path = suite.work / f"four_dies{registers}{border}.yaml"
    text = text.replace("name: xczu3eg", f"name: {path.stem}", 1)
    path.write_text(text)
    return path


def on_dies(suite, registers, border, goal):
    label = f"{registers} registers, border on SLR{border}"
    file, package = device(suite, registers, border), suite.work / "dies.rhz"
    options = ("--device", file, "--goal", goal)
    built = suite.run("compile", DIGITS, *options, "-o", package, "--json")
    if not suite.check(built.status == 0, f"{label}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command):
        return
    node = json.loads((package / "plan.json").read_text())["nodes"][0]
    used = {o["die"] for o in node["operations"]}
    suite.check(len(used) > 1, f"{label}: operations lie on {sorted(used)}")
    fits = all(die["resources"].get(k, 0) <= die["budget"].get(k, 0)
               for die in node["dies"] for k in die["resources"])
    suite.check(fits and all(d["budget"]["lut"] == int(0.9 * SIZES["lut"])
                             for d in node["dies"]),
                f"{label}: each die holds what lies there")
    crossings = [a for a in node["actors"] if a["kind"] == "crossing"]
    steps = [abs(int(a["die"][3:]) - int(a["from_die"][3:])) for a in crossings]
    wires = sum(a["config"]["Width"] + 2 for a in crossings)
    suite.check(crossings and set(steps) == {1}
                and wires == sum(d["wires"] for d in node["dies"])
                and all(d["wires"] <= 600 for d in node["dies"]),
                f"{label}: {len(crossings)} crossings, {wires} wires")
    borders = {a["die"] for a in node["actors"] if a["kind"].startswith("axis")}
    suite.check(borders == {f"SLR{border}"}, f"{label}: borders on {borders}")
    result = suite.run("simulate", package, "--level", "rtl", "-n", 4,
                       "--json")
    measured, said = (result.json or {}).get("measured", {}), built.json["predicted"]
    suite.check(result.status == 0
                and measured.get("interval_cycles") == said["interval_cycles"]
                and measured.get("latency_cycles") == said["latency_cycles"],
                f"{label}: exact at the predicted cycles: {measured}",
                result.command)
    stalled = suite.run("simulate", package, "--level", "rtl", "-n", 4,
                        "--stalls-in", 30, "--stalls-out", 40, "--json")
    suite.check(stalled.status == 0, f"{label}: exact under stalls",
                stalled.command)
    constraints(suite, label, package, node)
    plans.again(suite, DIGITS, label, options)


def constraints(suite, label, package, node):
    """Every instance of the design is named once, both halves of a crossing."""
    text = (package / "nodes/node0/floorplan/rhz_dies.xdc").read_text()
    named = re.findall(r"^  (u_\S+) \\$", text, re.M)
    top = (package / "nodes/node0/rtl/rhz_top.sv").read_text()
    instances = set(re.findall(r"\b(u_\w+) \(", top))
    wanted = sorted(
        half for a in node["actors"] for half in
        ([f"u_{a['name']}/u_from", f"u_{a['name']}/u_to"]
         if a["kind"] == "crossing" else [f"u_{a['name']}"]))
    suite.check(sorted(named) == wanted
                and {n.split("/")[0] for n in named} <= instances,
                f"{label}: the constraints name every instance")


def in_a_cluster(suite):
    """Two such devices on a link: each design has its dies and its endpoint."""
    file = suite.work / "two.yaml"
    file.write_text(
        "name: two\ndescription: two devices of four dies\nlink: udp-10g\n"
        f"nodes:\n  - {{device: {device(suite, 2, 0)}, count: 2}}\n"
        "sources: [\"this test\"]\n")
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n  conv4: {cut: before}\n")
    cluster.promised(suite, "digits_qdq_int8", str(file), "throughput=20000/s",
                     4, "--steer", steer)
    nodes = json.loads((suite.work / "two.rhz/plan.json").read_text())["nodes"]
    used = [sorted({o["die"] for o in n["operations"]}) for n in nodes]
    suite.check(len(nodes) == 2 and all(used), f"dies of the nodes: {used}")


def pinned(suite):
    """A steering file puts an operation on a die."""
    file, steer = device(suite, 2, 0), suite.work / "steer.yaml"
    package = suite.work / "pinned.rhz"

    def compiled(die):
        steer.write_text(f"nodes:\n  conv4: {{die: {die}}}\n")
        return suite.run("compile", DIGITS, "--device", file, "--goal",
                         "throughput=20000/s", "--steer", steer, "-o", package,
                         "--json")

    result = compiled(3)
    good = result.status == 0
    plan = json.loads((package / "plan.json").read_text()) if good else {}
    where = {o["name"]: o["die"] for n in plan.get("nodes", [])
             for o in n["operations"]}
    suite.check(where.get("conv4") == "SLR3", f"conv4 is put on {where}",
                result.command)
    refused = compiled(4)
    suite.check(refused.status != 0 and "there is no die 4" in refused.message,
                f"a die that is not there: {refused.message}", refused.command)


def nearest(suite):
    """A plan that was laid out nowhere has no dies, and compiles all the same: too
    many LUTs, with too long a latency, and too many of several things. One that
    fits and is too slow has them."""
    for registers, border, goal, fits in (
            (2, 0, "throughput=1000/s,lut=1000", False),
            (5, 3, "latency=1ns,lut=2000", False),
            (4, 1, "throughput=1000/s,dsp=0,bram=0,lut=500", False),
            (3, 2, "throughput=100000000/s", True)):
        package = suite.work / "nearest.rhz"
        result = suite.run("compile", DIGITS, "--device",
                           device(suite, registers, border), "--goal", goal,
                           "--accept-nearest", "-o", package, "--json")
        if not suite.check(result.status == 0, f"the nearest plan for {goal} "
                           f"compiles {result.message if result.status else ''}",
                           result.command):
            continue
        node = json.loads((package / "plan.json").read_text())["nodes"][0]
        files = {path.name for path in package.rglob("*.xdc")}
        suite.check(bool(node.get("dies")) == ("rhz_dies.xdc" in files) == fits,
                    f"{goal}: dies, and their constraints: {sorted(files)}")


def dies(suite):
    on_dies(suite, 2, 0, "throughput=30000/s")
    on_dies(suite, 5, 2, "throughput=20000/s")
    in_a_cluster(suite)
    pinned(suite)
    nearest(suite)
    # A goal that bounds a resource takes the place of the share that routes.
    file = device(suite, 2, 0)
    asked = suite.run("explore", DIGITS, "--device", file, "--goal",
                      "max-throughput,lut=100%", "--json")
    usual = suite.run("explore", DIGITS, "--device", file, "--json")
    rate = lambda r: (r.json or {}).get("predicted", {}).get(
        "throughput_per_s", 0)
    suite.check(rate(asked) >= rate(usual) > 0,
                f"all LUTs give no less: {rate(usual)}, {rate(asked)}",
                asked.command)
