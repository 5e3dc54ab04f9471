# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages and files that mean harm: refused by name, and nothing of theirs
has run (docs/trust.md)."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import networks
from cluster import service
from framework import needed, run_program
from nodes import Node, at, namespaces, running

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
DEVICES = networks.ROOT / "data/devices"
SECONDS = 20  # then a command is ended
REFUSED_S = 1  # of the processor, so that a busy machine changes nothing


def hostile_plans(harm):
    """By name: a change to a plan, and what the message names."""
    def node(plan):
        return plan["nodes"][0]

    def stream(plan):
        return node(plan)["ports"]["stream"][0]

    def set_every(plan):
        plan["channels"] = [{
            "id": 1, "tensor": "x", "elements": 1,
            "element": stream(plan)["element"], "from": {"node": "host", "port": "input0"},
            "to": {"node": node(plan)["name"], "port": "s_axis_0"},
            "first": 0, "every": 4 * 10**18, "link": "lan"}]

    def rename_parameter(plan):
        actor = next(a for a in node(plan)["actors"] if a["parameters"])
        name = actor["parameters"][0]
        actor["parameters"][0] = f"../../{harm.name}"
        actor["config"][f"../../{harm.name}"] = actor["config"].pop(name)

    return {
        "a command in a file's name": (
            lambda p: node(p)["rtl"].append(f"x.sv\n!touch {harm}"),
            "plan.nodes[0].rtl"),
        "a parameter that is a path": (rename_parameter,
                                       "plan.nodes[0].actors"),
        "a file of others": (lambda p: node(p)["rtl"].append("/etc/hostname"),
                             "plan.nodes[0].rtl"),
        "a node elsewhere": (lambda p: node(p).update(name="../elsewhere"),
                             "plan.nodes[0].name"),
        "a port without a number": (
            lambda p: stream(p).update(port="s_axis"),
            "plan.nodes[0].ports.stream.in[0].port"),
        "turns without end": (set_every, "plan.channels[0].every"),
        "a buffer without end": (
            lambda p: node(p)["actors"][1]["config"].update(Depth=2**40),
            "plan.nodes[0].actors[1].config.Depth"),
        "a shape too large": (
            lambda p: stream(p).update(shape=[2**40, 2**40]),
            "shape"),
        "a terminal's commands": (lambda p: p.update(device="\x1b[2J"),
                                  "plan.device"),
    }


def hostile_files(suite, copy, fresh, harm):
    """What else a package holds: hardware that does more than compute, and data
    that no reader should believe."""
    for label, line, names in (
            ("a system task", f'initial $system("touch {harm}");', "'$system'"),
            ("a file", f'integer f = $fopen("{harm}");', "'$fopen'"),
            ("C of Verilator's", f'initial $c("system(0);");', "'$c'"),
            ("imported C", 'import "DPI-C" function void harm();', "'import'"),
            ("a file of others", '`include "/etc/passwd"', "'`include'")):
        fresh()
        source = next((copy / "nodes/node0/rtl").glob("rhz_*.sv"))
        source.write_text(source.read_text().replace(
            "endmodule", f"{line}\nendmodule", 1))
        for command in ("synth", "simulate", "run"):
            refused(suite, f"{label} in RTL, {command}", names, command, copy,
                    "--accept-changes")
    for file, content, names, command in (
            ("model/network.mlir", "module {" * 100000, "nested deeper",
             ("simulate", "--level", "functional", "--accept-changes")),
            ("checksums.json", "[" * 100000, "checksums.json", ("report",)),
            ("checksums.json", json.dumps({"checksum": "XXH3-128", "files": [
                {"path": "../../../../etc/passwd", "bytes": 1,
                 "checksum": "0" * 32}]}), "checksums.json", ("report",))):
        fresh()
        (copy / file).write_text(content)
        refused(suite, f"{file} of {content[:30]}", names, command[0], copy,
                *command[1:])
    fresh()
    (copy / "plan.json").unlink()
    os.mkfifo(copy / "plan.json")
    refused(suite, "a plan that is a pipe", "plan.json': it is no file",
            "report", copy)
    service = suite.work / "service.rhz"
    suite.compile(MODEL, (), "throughput=1000/s", service, "--cluster",
                  "ku060x1")
    for content in ("nodes: " + "[" * 100000, "nodes: [{name: ../x, place: a}]"):
        (service / "deploy.yaml").write_text(content)
        refused(suite, f"deploy.yaml of {content[:30]}", "deploy.yaml:1: ",
                "run", service)


def refused(suite, label, names, *args):
    result = suite.run(*args, timeout=SECONDS)
    suite.check(result.status == 1 and names in result.err
                and "\x1b" not in result.err and result.cpu_s < REFUSED_S,
                f"{label}: {result.message[:150]} ({result.cpu_s:.2f} s)",
                result.command)


def strangers(suite):
    package = suite.work / "plain.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    suite.check(result.status == 0, "compiles", result.command)
    harm = suite.work / "harm"
    plan = json.loads((package / "plan.json").read_text())
    copy = suite.work / "hostile.rhz"

    def fresh():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(package, copy)
        return json.loads(json.dumps(plan))

    for label, (change, names) in hostile_plans(harm).items():
        changed = fresh()
        change(changed)
        (copy / "plan.json").write_text(json.dumps(changed))
        for command in ("report", "synth", "simulate"):
            refused(suite, f"{label}, {command}", names, command, copy,
                    "--accept-changes")
    fresh()
    (copy / "plan.json").write_text("[" * 300000)
    refused(suite, "a plan nested deeply", "nested deeper", "report", copy,
            "--accept-changes")
    hostile_files(suite, copy, fresh, harm)
    # A simulator that a package brings along.
    fresh()
    folder = copy / "results/sim"
    folder.mkdir(parents=True, exist_ok=True)
    script = f"#!/bin/sh\ntouch {harm}\n"
    first = suite.run("simulate", package, "-n", 2, "--json")
    suite.check(first.status == 0, "the plain package simulates",
                first.command)
    brought = list((package / "results/sim").glob("sim-*"))
    suite.check(not brought, f"no program lies in the package {brought}")
    # Under the very name by which this design's simulator is kept.
    simulator = pathlib.Path((first.json or {}).get("simulator", "none"))
    suite.check(simulator.is_file() and package not in simulator.parents,
                f"the simulator lies elsewhere: {simulator}", first.command)
    (folder / simulator.name).write_text(script)
    (folder / simulator.name).chmod(0o755)
    result = suite.run("simulate", copy, "-n", 2, "--json")
    suite.check(result.status == 0 and (result.json or {}).get("mismatches")
                == (first.json or {}).get("mismatches"),
                "a program in the package changes nothing", result.command)
    # Files.
    kernel = suite.work / "deep.mlir"
    kernel.write_text("module {" * 100000 + "}" * 100000)
    refused(suite, "a module nested deeply", "nested deeper", "compile", kernel,
            "-o", suite.work / "deep.rhz")
    hostile_devices(suite, script)
    suite.check(not harm.exists(), "nothing of theirs has run")


def hostile_devices(suite, script):
    """Device files are data: none brings a command or names a program."""
    program = suite.work / "program.sh"
    program.write_text(script)
    program.chmod(0o755)
    device = suite.work / "device.yaml"
    for label, own, old, new, names in (
            ("brings a command", "xczu3eg", "name: xczu3eg",
             'name: "x\\n    load: touch harm"', "'name' is"),
            ("brings a command of make's", "xcu55c", "platform: ",
             "platform: $(shell touch harm)", "'platform' is"),
            ("names a program", "ice40-hx8k", "nextpnr-ice40", str(program),
             "'program' is"),
            ("adds an option", "ice40-hx8k", "chip: hx8k", "chip: run=x.py",
             "'chip' is")):
        device.write_text((DEVICES / f"{own}.yaml").read_text().replace(
            old, new, 1))
        refused(suite, f"a device that {label}", names, "compile", MODEL,
                "--device", device, "-o", suite.work / "named.rhz")


def folders(suite):
    """The name of a package's folder is the sender's, too; tools get to see
    it."""
    package = suite.work / "plain.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    suite.check(result.status == 0, "compiles", result.command)
    for i, name in enumerate(("$(shell touch harm)`touch harm`.rhz",
                              "`touch${IFS}harm`;$harm#:%'&|*?[a].rhz")):
        folder = suite.work / name
        shutil.copytree(package, folder)
        # Nothing is kept from elsewhere.
        environment = ["env", f"XDG_CACHE_HOME={suite.work / f'cache{i}'}"]
        for tool, words in (("verilator", ("simulate", folder, "-n", 2)),
                            ("true", ("report", folder)),
                            ("true", ("run", folder, "--driver", "cpu"))):
            if not shutil.which(tool):
                suite.skip(f"the program {tool} is missing")
                continue
            result = run_program([*environment, suite.rhizome, *words])
            suite.check(result.status == 0, f"{words[0]} in '{name}' "
                        f"({result.wall_s:.1f} s)"
                        + ("" if result.status == 0 else result.message),
                        result.command)
    found = list(suite.work.rglob("harm"))
    suite.check(not found, f"its name was not taken for a command {found}")


def models(suite):
    """Models that reach out of their folder, and names of any length."""
    onnx = needed("onnx")
    folder = suite.work / "models"
    folder.mkdir()
    plain = onnx.load(str(MODEL))
    weights = plain.graph.initializer[0]
    content = onnx.numpy_helper.to_array(weights).tobytes()
    (suite.work / "outside.bin").write_bytes(content)
    (folder / "inside.bin").write_bytes(content)
    (folder / "link.bin").symlink_to(suite.work / "outside.bin")
    (folder / "near.bin").symlink_to(folder / "inside.bin")
    (folder / "up").symlink_to(suite.work)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    del weights.external_data[:]
    location = weights.external_data.add(key="location")
    model = folder / "net.onnx"
    for place, good in (("inside.bin", True), ("near.bin", True),
                        ("link.bin", False), ("up/outside.bin", False),
                        ("../outside.bin", False),
                        (str(suite.work / "outside.bin"), False)):
        location.value = place
        model.write_bytes(plain.SerializeToString())
        if good:
            result = suite.run("coverage", model, "--json")
            suite.check(result.status == 0, f"weights at '{place}' are read "
                        + result.message[-100:], result.command)
        else:
            refused(suite, f"weights at '{place}'", "model's folder",
                    "coverage", model)
    plain = onnx.load(str(MODEL))
    for i, node in enumerate(plain.graph.node):
        node.name = "a" * 5000 + str(i)
    model.write_bytes(plain.SerializeToString())
    package = suite.work / "long.rhz"
    result = suite.compile(model, (), "throughput=1000/s", package)
    words = [word for path in package.rglob("*")
             if path.suffix in (".sv", ".tcl", ".xdc", ".f", ".h", ".yaml")
             for word in re.findall(r"[\w$]+", path.read_text())]
    longest = max(map(len, words), default=0)
    suite.check(result.status == 0 and 0 < longest <= 255,
                f"names of 5,000 characters: the longest word in RTL and "
                f"scripts has {longest}", result.command)
    terminals(suite)


def terminals(suite):
    """What a file names does not reach a terminal as a command."""
    onnx = needed("onnx")
    plain = onnx.load(str(MODEL))
    command = "\x1b]0;harm\x07\x1b[2J\u009b31m"
    inner = {name for node in plain.graph.node for name in node.output
             } - {value.name for value in plain.graph.output}
    for i, node in enumerate(plain.graph.node):
        node.name = f"{command}{i}"
        for names in (node.input, node.output):
            for j, name in enumerate(names):
                names[j] = command + name if name in inner else name
    model, package = suite.work / "terminal.onnx", suite.work / "terminal.rhz"
    onnx.save(plain, str(model))
    plain.graph.node[2].op_type = f"Nothing{command}"
    refused_model = suite.work / "refused.onnx"
    onnx.save(plain, str(refused_model))
    kernel = suite.work / "terminal.cfd"
    kernel.write_text(f"var input A : [11 {command}]\n")
    for status, *words in (
            (1, "explore", kernel),
            (0, "coverage", model), (0, "explore", model),
            (0, "compile", model, "--goal", "throughput=1000/s", "-o", package),
            (0, "report", package), (0, "run", package, "--driver", "cpu"),
            (1, "coverage", refused_model),
            (1, "compile", refused_model, "-o", suite.work / "refused.rhz")):
        result = suite.run(*words)
        text = result.out + result.err
        suite.check(result.status == status
                    and not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", text)
                    and ("\\x1b]0;harm" in text or words[0] in
                         ("report", "run", "compile")),
                    f"{words[0]} of names that command a terminal",
                    result.command)


LIVE_PORT, NODES = 2718, 2
CLIENT_PORT = 2700
RATE = 100_000  # datagrams a second; a busy machine may send fewer


def live(suite, seconds):
    """A service whose nodes and client are flooded by strangers in a network of
    their own: every answer is right, and nobody is sent more than he sent. Once
    without a key, once with one."""
    package = service(suite, "CERN", "throughput=100000/s", NODES)
    if not package:
        return
    key = suite.work / "key"
    key.write_text("0123456789abcdef" * 2 + "\n")
    with namespaces(suite, 1) as spaces:
        inside = ["ip", "netns", "exec", spaces[0]]
        plain = suite.work / "plain.rhz"
        result = suite.compile(MODEL, (), "throughput=1000/s", plain,
                               "--cluster", "ku060x1")
        suite.check(result.status == 0, "compiles", result.command)
        with running([Node(suite, plain, "node0", {}, namespace=spaces[0])]):
            table = run_program([*inside, "cat", "/proc/net/udp"]).out
            listening = [line.split()[1] for line in table.splitlines()[1:]]
            suite.check(listening == [f"0100007F:{LIVE_PORT + 1:04X}"],
                        f"a node listens on this machine only: {listening}")
        for options in ((), ("--key", key)):
            flooded(suite, package, inside, spaces[0], float(seconds), options)


def flooded(suite, package, inside, space, seconds, options):
    names = ["node0"] + [f"replica{i}" for i in range(1, NODES)]
    places = {name: f"127.0.0.1:{LIVE_PORT + i}"
              for i, name in enumerate(names)}
    label = "with a key" if options else "without a key"
    client = [*inside, suite.rhizome, "run", package, "--accept-changes", "-n",
              200, "--json", *options, *at(places), "--at",
              f"host=127.0.0.1:{CLIENT_PORT}"]
    ports = [CLIENT_PORT, *(LIVE_PORT + i for i in range(NODES))]
    # Who speaks as the client is known by the key alone.
    spoofed = CLIENT_PORT if options else 0
    with running([Node(suite, package, name, places, *options, namespace=space)
                  for name in names]) as nodes:
        before = run_program(client)
        suite.check(right(before), f"{label}, in peace",
                    before.command)
        words = [*inside, suite.rhizome.parent / "rhizome-flood", seconds,
                 1.05 * RATE, spoofed, *ports]
        flood = subprocess.Popen([str(w) for w in words],
                                 stdout=subprocess.PIPE, text=True)
        runs = [before]
        while flood.poll() is None and right(runs[-1]):
            runs.append(run_program(client))
        suite.check(right(runs[-1]) and len(runs) > 1,
                    f"{label}, flooded: {len(runs) - 1} runs of 200 frames, all "
                    f"answers right; the longest took "
                    f"{max(r.wall_s for r in runs):.1f} s"
                    + ("" if right(runs[-1]) else runs[-1].message),
                    runs[-1].command)
        told = json.loads(flood.communicate()[0])
        rate = told["sent"] / told["seconds"]
        suite.check(rate >= RATE / 4 and told["seconds"] >= seconds,
                    f"{label}: {told['sent']} datagrams in {told['seconds']} s, "
                    f"{rate:.0f} a second, {told['copied']} were heard there, "
                    f"{told['forged']} came from port 0" + (" or the client's" if options else ""))
        suite.check(told["forged"] > 0 and told["copied"] > 0,
                    "the flood could forge and listen")
        # A header, and a hash if the datagram that it answers, a copy, had one.
        suite.check(told["longest"] <= (24 if options else 16)
                    and told["answers"] <= told["sent"],
                    f"{label}: {told['answers']} answers, the longest of "
                    f"{told['longest']} bytes")
        after = run_program(client)
        suite.check(right(after), f"{label}, afterwards",
                    after.command)
        # They end in good order under a flood, too.
        words[len(inside) + 1] = 3
        flood = subprocess.Popen([str(w) for w in words],
                                 stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        for node in nodes:
            start = time.time()
            status, statistics, _ = node.stop()
            took = time.time() - start
            suite.check(status == 0 and statistics.get("dropped", 0) > 0
                        and flood.poll() is None,
                        f"{node.name} ends after {took:.2f} s: {statistics}")
        flood.wait()


def right(result):
    answer = result.json or {}
    return (result.status == 0 and answer.get("mismatches") == 0
            and answer.get("frames") == 200)
