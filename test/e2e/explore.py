# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exploration over devices and clusters, as the command line shows it: goals,
steering, plans that are rebuilt, constraint files."""
import json
import re

from framework import Skip
from networks import DOSA, NETWORKS

FIVE = ("CERN", "MPCNN", "TFC", "lenet5", "PTTCNN_int8")
RATE = 5000
# Processor time, far above what is needed; bench/explore.cpp measures.
SECONDS = 5


def explored(suite, network, *options, status=0):
    result = suite.run("explore", NETWORKS[network].path, *options, "--json")
    suite.check(result.status == status and result.json is not None,
                f"explore {network} {' '.join(map(str, options))}"
                + (f": {result.message}" if result.status != status else ""),
                result.command)
    return (result.json or {}) | {"cpu_s": result.cpu_s}


def explore(suite):
    if not DOSA.exists():
        raise Skip(f"{DOSA} is missing")
    for network in FIVE:
        plan = explored(suite, network, *NETWORKS[network].options,
                        "--goal", f"throughput={RATE}/s")
        suite.check(plan.get("ok") and len(plan["nodes"]) == 1
                    and plan["predicted"]["throughput_per_s"] >= RATE
                    and plan["bound"] >= plan["predicted"]["throughput_per_s"],
                    f"{network}: one KU060 role at {RATE}/s, below the bound")
        suite.check(plan["cpu_s"] < SECONDS,
                    f"{network}: explored in {plan['cpu_s']:.2f} s")
        suite.check(all(share <= 1 for node in plan.get("nodes", [])
                        for share in node["utilization"].values()),
                    f"{network}: within the budget")

    codes = NETWORKS["MPCNN"].options
    one = explored(suite, "PTTCNN_int8", *codes, "--cluster", "ku060x1")
    suite.check(one.get("ok") and
                one["predicted"]["throughput_per_s"] > 363000
                and one["predicted"]["latency_us"] < 30,
                "PTTCNN_int8 at the rate of 10 GbE on one KU060 role")

    # A part of the device: the same rate within other resources.
    parts = {"lut": 30000, "ff": 45000, "dsp": 1000}
    goal = "throughput=363000/s," + ",".join(f"{k}={v}"
                                             for k, v in parts.items())
    part = explored(suite, "PTTCNN_int8", *codes, "--goal", goal)
    got = part.get("predicted", {})
    suite.check(part.get("ok") and got["throughput_per_s"] >= 363000
                and all(got[k] + got.get(k + "_error", 0) <= most
                        for k, most in parts.items()),
                f"PTTCNN_int8 within {goal}: {got}")
    share = explored(suite, "PTTCNN_int8", *codes, "--goal",
                     "max-throughput,lut=15%,nodes=1")
    suite.check(share.get("ok") and share["predicted"]["throughput_per_s"]
                < one["predicted"]["throughput_per_s"] and all(
                    n["utilization"]["lut"] <= 1 for n in share["nodes"]),
                "15 % of the LUTs give a slower plan within them")
    tight = explored(suite, "PTTCNN_int8", *codes, "--goal",
                     "throughput=363000/s,lut=12000", status=1)
    suite.check(re.search(r"lut: \d+ needed, 12000 available",
                          tight.get("limit", ""))
                and tight["predicted"]["lut"] <= 12000,
                f"a bound that cannot be met is named: {tight.get('limit')}")

    quick = explored(suite, "digits_qdq_int8", "--goal", "max-throughput")
    kinds = {o["generator"] for o in quick["nodes"][0].get("operations", [])
             if o["op"] == "conv2d"}
    suite.check(quick.get("ok") and kinds == {"dhm", "stream"}
                and quick["predicted"]["interval_cycles"] <= 128,
                "digits at its quickest: convolutions in DSP blocks and as "
                "constants, 128 cycles a frame")

    rates = [explored(suite, "digits_qdq_int8", "--goal",
                      f"max-throughput,dsp={n}").get("predicted", {})
             .get("throughput_per_s", 0) for n in (0, 1, 12, 100)]
    suite.check(rates[0] > 0 and rates == sorted(rates),
                f"with 0, 1, 12, 100 DSP blocks ever quicker: {rates}")

    # Several small devices; a rebuilt plan is the same plan.
    package = suite.work / "mpcnn.rhz"
    small = ["--cluster", "ecp5-12fx4"]
    built = suite.run("compile", NETWORKS["MPCNN"].path, *codes, *small,
                      "--goal", "max-throughput", "-o", package, "--json")
    suite.check(built.status == 0, "MPCNN on several ECP5-12F", built.command)
    if built.status != 0:
        return
    plan = json.loads((package / "plan.json").read_text())
    suite.check(len(plan["nodes"]) > 2 and any(
        op["op"] == "concat" for n in plan["nodes"] for op in n["operations"]),
        "one layer is split by channels")
    ports = {(c["to"]["node"], c["to"]["port"]) for c in plan["channels"]}
    suite.check(all((n["name"], i["port"]) in ports
                    for n in plan["nodes"] for i in n["ports"]["stream"]
                    if i["direction"] == "in"),
                "every input of a node has a channel")
    suite.check(all((package / "nodes" / n["name"] / "rtl/rhz_top.sv").exists()
                    for n in plan["nodes"]), "every node has its hardware")
    again = explored(suite, "MPCNN", *codes, *small, "--plan", package)
    suite.check(again.get("ok") and again["predicted"] == built.json["predicted"],
                "--plan gives the same plan")
    # Products in LUTs stay there, also without a goal.
    package = suite.work / "luts.rhz"
    device = ["--device", "xczu3eg"]
    built = suite.run("compile", NETWORKS["digits_qdq_int8"].path, *device,
                      "--goal", "throughput=20000/s,dsp=0", "-o", package,
                      "--json")
    again = explored(suite, "digits_qdq_int8", *device, "--plan", package)
    suite.check(built.json and built.json["predicted"]["dsp"] == 0
                and again.get("predicted") == built.json["predicted"],
                "--plan keeps products in LUTs")

    plan = explored(suite, "MPCNN", *codes, *small, "--goal",
                    "throughput=5000/s")
    suite.check(plan.get("ok")
                and plan["predicted"]["throughput_per_s"] >= 5000,
                "four ECP5-12F at 5,000/s")
    plan = explored(suite, "MPCNN", *codes, *small, "--goal",
                    "throughput=50000/s", status=1)
    suite.check(re.search(r"by itself is slower|\d needed, \d+ available",
                          plan.get("limit", "")),
                f"why not ten times as many: {plan.get('limit')}")

    # A user's pins, and errors in some.
    steer = suite.work / "steer.yaml"

    def steered(text, status=0, cluster="ku060x2"):
        steer.write_text(text)
        return explored(suite, "MPCNN", *codes, "--cluster", cluster,
                        "--steer", steer, status=status)

    plan = steered("nodes:\n  Conv_3: {cut: before, place: 1}\n")
    suite.check(len(plan.get("nodes", [])) == 2
                and plan["nodes"][1]["operations"][0]["name"] == "Conv_3",
                "a cut where the user wants it")
    plan = steered("nodes:\n  Conv_0: {place: 5}\n  Conv_3: {place: 0}\n",
                   status=1, cluster="mixed9")
    suite.check("'Conv_3' at place 0 comes after" in plan.get("limit", ""),
                f"places out of order: {plan.get('limit')}")
    plan = steered("nodes:\n  Conv_4: {place: 1}\n", status=1)
    refused = plan.get("refused") or [{}]
    suite.check(refused[0].get("reason") == "the network has no such node"
                and refused[0].get("line") == 2, "an unknown node, by line")
    plan = steered("nodes:\n  Conv_3:\n    speed: 1\n", status=1)
    suite.check("steer.yaml:3: unknown key 'speed'" in plan.get("error", ""),
                "an unknown key, by line")
    plan = steered("nodes: [\n", status=1)
    suite.check("steer.yaml:" in plan.get("error", ""), "no YAML at all")

    meta = DOSA / "PTTCNN_meta.json"
    plan = explored(suite, "PTTCNN_int8", "--raw-integers", "--constraints", meta)
    suite.check(plan.get("ok") and len(plan["nodes"]) == 1
                and plan["predicted"]["throughput_per_s"] >= RATE
                and plan["goal"] == f"throughput={RATE}/s",
                "DOSA's own constraint file")
    broken = json.loads(meta.read_text())
    broken["used_batch_n"] = 4
    constraints = suite.work / "constraints.json"
    constraints.write_text(json.dumps(broken))
    plan = explored(suite, "PTTCNN_int8", "--raw-integers", "--constraints",
                    constraints, status=1)
    suite.check("'used_batch_n' must be 1" in plan.get("error", ""),
                "a constraint file for batches")
