# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan written by compile is rebuilt by --plan and gives the same
hardware, whatever the names of the model's nodes; options are named by keys."""
import hashlib
import json
import re

import framework
import networks

DIGITS = networks.ROOT / "examples/digits/digits_qdq_int8.onnx"
# Names of the nodes that compute, in order: from exporters, special in JSON, YAML and
# shells dislike, suffixes like those of channel splits, equal names, no name.
NAMES = {
    "PyTorch": ["features.0", "features.3", "features.3.1", "classifier.10",
                "classifier.10.0"],
    "awkward": ["a/b:0", "two words", "quo\"te's: #&{}", "grün→λ", "x:conv2d"],
    "equal": ["conv", "conv.1", "conv", "conv.1", "conv.concat"],
    "nameless": ["", "", "", "", ""],
}
DEVICE = ("--device", "xcku060-role")
PLACES = {
    "one device": (*DEVICE, "--goal", "throughput=100000/s"),
    "one device, quickest": (*DEVICE,),
    "products in LUTs": (*DEVICE, "--goal", "max-throughput,dsp=0"),
    "replicas": ("--cluster", "ku060x2"),
    "a chain of small devices": ("--cluster", "ecp5-12fx4"),
    "a chain at a low rate": ("--cluster", "ecp5-12fx4", "--goal",
                              "throughput=2000/s"),
    "streams of 512 bits": ("--cluster", "hbm4", "--goal",
                            "throughput=50000/s"),
    "unlike devices": ("--cluster", "mixed9", "--max-nodes", "3"),
}


def hardware(package):
    """A hash of every file of RTL and of every memory image."""
    return {str(path.relative_to(package)):
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(package.glob("nodes/*/rtl/**/*"))
            if path.is_file()}


def operations(package):
    plan = json.loads((package / "plan.json").read_text())
    return [(n["name"], o["name"], o["op"], o["nth"], o["option"])
            for n in plan["nodes"] for o in n["operations"]]


def renamed(suite, label, names):
    """The digits network with other names for the computing nodes."""
    onnx = framework.needed("onnx")
    model = onnx.load(DIGITS)
    computes = [n for n in model.graph.node if n.op_type in ("Conv", "Gemm")]
    for node, name in zip(computes, names, strict=True):
        node.name = name
    path = suite.work / f"{framework.slug(label)}.onnx"
    onnx.save(model, path)
    return path


def again(suite, model, label, options, *more):
    """Compiles, and compiles the plan; True if both gave the same hardware."""
    first, second = suite.work / "first.rhz", suite.work / "second.rhz"
    built = suite.run("compile", model, *options, *more, "-o", first, "--json")
    if not suite.check(built.status == 0, f"{label}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command):
        return False
    where = options[:options.index("--goal")] if "--goal" in options else options
    result = suite.run("compile", model, *where, "--plan", first, "-o", second,
                       "--json")
    good = suite.check(result.status == 0, f"{label}: --plan takes the plan"
                       + (f": {result.message}" if result.status else ""),
                       result.command)
    return good and suite.check(
        hardware(first) == hardware(second)
        and operations(first) == operations(second),
        f"{label}: --plan gives the same hardware", result.command)


def plans(suite):
    for kind, names in NAMES.items():
        model = renamed(suite, kind, names)
        for place, options in PLACES.items():
            again(suite, model, f"{kind} names, {place}", options)
    # Channels split by a user, for a node whose name ends like a part's.
    model = renamed(suite, "PyTorch", NAMES["PyTorch"])
    steer = suite.work / "steer.yaml"
    steer.write_text("splits:\n  features.3: 2\n  classifier.10: 3\n"
                     "nodes:\n  classifier.10.2: {cut: before}\n")
    again(suite, model, "channels shared out",
          ("--cluster", "ku060x2"), "--steer", steer)
    splits = json.loads((suite.work / "first.rhz/plan.json").read_text())[
        "splits"]
    suite.check(sorted((s["name"], s["parts"]) for s in splits)
                == [("classifier.10", 3), ("features.3", 2)],
                f"the plan says what is shared out: {splits}")
    keys(suite)
    of_another(suite)


def of_another(suite):
    """A plan of another network is refused once, with the names of both."""
    result = suite.run("explore", DIGITS, "--cluster", "ku060x2", "--plan",
                       suite.work / "first.rhz")
    suite.check(result.status == 1 and result.err.count("error:") == 1
                and re.search(r"is a plan of the network '\S+', not of "
                              rf"'{DIGITS.stem}', which has no node", result.err)
                and f"remedy: give a plan of '{DIGITS.stem}', or leave --plan out"
                in result.err, f"a plan of another network: {result.message[:200]}",
                result.command)


def keys(suite):
    """Options are named by keys, in plans and in steering files."""
    steer = suite.work / "steer.yaml"

    def steered(option, status=0):
        steer.write_text(f"nodes:\n  conv4: {{option: '{option}'}}\n")
        result = suite.run("explore", DIGITS, *DEVICE, "--steer", steer,
                           "--json")
        suite.check(result.status == status, f"steers conv4 to {option}",
                    result.command)
        return result.json or {}

    def taken(plan):
        return {o["name"]: o["option"] for n in plan.get("nodes", [])
                for o in n["operations"]}.get("conv4", "")

    part = taken(steered("stream/matvec?simd=18&pe=4"))
    suite.check(part.startswith("stream/matvec?pe=4&simd=18&read="),
                f"fields in any order: {part}")
    suite.check(taken(steered(part)) == part, "a whole key names one option")
    shown = suite.run("explore", DIGITS, *DEVICE, "--steer", steer,
                      "--full")
    suite.check(part in shown.out, "explore shows keys", shown.command)
    refused = steered("PE 4 × SIMD 18", status=1).get("refused", [{}])[0]
    suite.check(part in refused.get("remedy", ""),
                f"words are answered with the key: {refused}")
    refused = steered("stream/matvec?pe=999&simd=18", status=1).get("refused", [{}])[0]
    suite.check("offered are" in refused.get("remedy", "")
                and "&simd=18&" in refused["remedy"]
                and len(refused["remedy"]) < 600,
                f"what is not offered is answered with what is like it: "
                f"{refused}")
    # Old plans are refused with how to get a new one.
    package = suite.work / "first.rhz"
    plan = json.loads((package / "plan.json").read_text())
    old = suite.work / "old.json"
    old.write_text(json.dumps({**plan, "schema": 2}))
    result = suite.run("compile", DIGITS, "--cluster", "ku060x2", "--plan", old,
                       "-o", suite.work / "old.rhz")
    suite.check(result.status == 1 and "compile the model again" in result.err,
                f"an older schema: {result.message}", result.command)
