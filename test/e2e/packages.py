# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package appears completely or not at all, is the same each time, and is refused
once it is damaged."""
import filecmp
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import framework
import networks
from framework import run_program

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
GOAL = "throughput=1000/s"
INTERRUPTIONS = 24


def same_tree(a, b):
    """Names of the files that differ between two folders."""
    compared = filecmp.dircmp(a, b)
    different = compared.left_only + compared.right_only
    different += [name for name in compared.common_files
                  if (a / name).read_bytes() != (b / name).read_bytes()]
    for name in compared.common_dirs:
        different += same_tree(a / name, b / name)
    return different


def deterministic(suite, reference):
    """Compiles again; returns the seconds that it took."""
    second = suite.work / "elsewhere/second.rhz"
    second.parent.mkdir()
    result = suite.compile(MODEL, (), GOAL, second)
    suite.check(result.status == 0, "compiles again", result.command)
    different = same_tree(reference, second)
    suite.check(not different, f"the same bytes again {different[:4]}",
                result.command)
    result = suite.compile(MODEL, (), GOAL, second)
    suite.check(result.status == 0 and not same_tree(reference, second),
                "compiling over a package replaces it", result.command)
    return result.wall_s


def awkward_names(suite):
    """Model and package with names that are special in shells, make and JSON."""
    for name in (b"two words", b"quo'te\"s", b"$HOME;#&", "grün".encode(),
                 b"not UTF-8 \xff"):
        folder = pathlib.Path(os.fsdecode(
            os.fsencode(suite.work) + b"/" + name))
        folder.mkdir()
        model, package = folder / folder.name, folder / "net.rhz"
        model = model.with_suffix(".onnx")
        shutil.copy(MODEL, model)
        label = name.decode(errors="replace")
        result = suite.compile(model, (), GOAL, package)
        suite.check(result.status == 0 and result.json
                    and result.json.get("ok"),
                    f"a model below '{label}' compiles", result.command)
        result = suite.run("simulate", package, "--level", "functional",
                           "--json")
        suite.check(result.status == 0 and result.json,
                    f"a package below '{label}' runs" + (
                        f": {result.message}" if result.status else ""),
                    result.command)
    if not shutil.which("verilator"):
        return suite.skip("the program verilator is missing")
    result = suite.run("simulate", suite.work / "two words/net.rhz", "--level",
                       "rtl", "--json")
    suite.check(result.status == 0 and result.json
                and result.json["mismatches"] == 0,
                "simulates below 'two words'" + (
                    f": {result.message}" if result.status else ""),
                result.command)


def interrupted(suite, reference, seconds):
    """Interrupts a compile at random moments. The reference was compiled alone;
    after an interruption there is nothing, or all of it."""
    draw = random.Random(1)
    whole = 0
    for i in range(INTERRUPTIONS):
        kind = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3]
        folder = suite.work / f"interrupted{i}"
        folder.mkdir()
        target = folder / "net.rhz"
        replaces = i % 2 == 1
        if replaces:
            shutil.copytree(reference, target)
        command = [str(suite.rhizome), "compile", str(MODEL), "--goal", GOAL,
                   "-o", str(target), "--json"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        # Two thirds of the draws fall where files are written: at the end.
        time.sleep(seconds * draw.choice((draw.uniform(0, 1),
                                          draw.uniform(0.6, 1.1),
                                          draw.uniform(0.8, 1.1))))
        process.send_signal(kind)
        process.wait()
        done = target.exists()
        good = not same_tree(reference, target) if done else not replaces
        left = [n for n in os.listdir(folder) if n != "net.rhz"]
        if kind != signal.SIGKILL:
            good = good and not left
        whole += done
        suite.check(good, f"{kind.name} {i}: "
                          f"{'a whole package' if done else 'no package'}"
                          f" stands {left or ''}", " ".join(command))
        again = suite.compile(MODEL, (), GOAL, target) if left else None
        if again:
            left = [n for n in os.listdir(folder) if n != "net.rhz"]
            suite.check(again.status == 0 and not left,
                        f"the next compile clears what {kind.name} left "
                        f"{left or ''}", again.command)
        shutil.rmtree(folder)
    print(f"{whole} of {INTERRUPTIONS} interruptions found a whole package")


def refused(suite, reference):
    """Damaged packages, and folders that are not packages."""
    plan = (reference / "plan.json").read_text()
    parsed = json.loads(plan)
    node = reference / "nodes" / parsed["nodes"][0]["name"] / "rtl"
    schema = json.loads(plan)
    schema["schema"] += 1000
    nodes = json.loads(plan)
    nodes["nodes"] = []
    outside = json.loads(plan)
    outside["nodes"][0]["rtl"][0] = "../../../../../etc/passwd"
    model = (reference / "model/network.mlir").read_text()
    blob = re.search(r'^ +(\w+): "0x[0-9A-F]{40,}(?=")', model, re.M)
    cases = {
        "an empty plan.json": ("plan.json", ""),
        "a plan.json of half the length": ("plan.json",
                                           plan[:len(plan) // 2]),
        "a plan.json without its last brace": ("plan.json",
                                               plan.rstrip()[:-1]),
        "a plan.json of another schema": ("plan.json", json.dumps(schema)),
        "a plan.json without nodes": ("plan.json", json.dumps(nodes)),
        "a plan.json with a list at its top": ("plan.json", "[]"),
        "a plan that names a file outside": ("plan.json",
                                             json.dumps(outside)),
        "no plan.json": ("plan.json", None),
        "a missing RTL file": (node.relative_to(reference)
                               / parsed["nodes"][0]["rtl"][0], None),
        "no integer model": ("model/network.mlir", None),
        "half an integer model": ("model/network.mlir", model[:2000]),
        "an integer model of other words": (
            "model/network.mlir", model.replace("osa.requantize",
                                                "osa.requantize osa", 1)),
        "weights of a byte less": (
            "model/network.mlir",
            model[:blob.end() - 2] + model[blob.end():]),
        "weights of a byte more": (
            "model/network.mlir",
            model[:blob.end()] + "00" + model[blob.end():]),
        "no weights": ("model/network.mlir",
                       model[:model.index("{-#")]),
        "an integer model without its network": (
            "model/network.mlir", model.replace("func.func @network",
                                                "func.func @other", 1)),
    }
    # The required message: the file, the remedy, and which weights.
    words = {label: ["model/network.mlir", "compile the model again"]
             for label in list(cases)[list(cases).index(
                 "half an integer model"):]}
    for label in ("weights of a byte less", "weights of a byte more"):
        words[label] += [f"'{blob[1]}'", "needs", "holds"]
    words["no weights"] += ["needs", "holds 0"]
    for label, (name, text) in cases.items():
        damaged = suite.work / "damaged.rhz"
        shutil.copytree(reference, damaged)
        if text is None:
            (damaged / name).unlink()
        else:
            (damaged / name).write_text(text)
        # The error inside a file, not that it is another one.
        options = ["--accept-changes"] if label in words else []
        result = suite.run("simulate", damaged, "--level", "functional", "-n",
                           "1", "--json", *options, timeout=120)
        answer = result.json or {}
        suite.check(result.status == 1 and answer.get("error"),
                    f"{label}: status {result.status}, "
                    f"{answer.get('error', result.message)[:160]}",
                    result.command)
        missing = [w for w in words.get(label, [])
                   if w not in str(answer.get("error"))]
        suite.check(not missing, f"{label}: the answer lacks {missing}",
                    result.command)
        shutil.rmtree(damaged)
    for label, path in (("a folder that does not exist", "nowhere.rhz"),
                        ("a folder that is not a package", ".")):
        result = suite.run("simulate", suite.work / path, timeout=120)
        suite.check(result.status == 1 and result.err,
                    f"{label}: status {result.status}, "
                    f"{result.message[:160]}", result.command)
    # Files in place of the output must not be destroyed.
    taken = suite.work / "taken"
    taken.mkdir()
    (taken / "thesis.txt").write_text("the only copy")
    for label, target in (("a folder with other files", taken),
                          ("a file", taken / "thesis.txt"),
                          ("a folder that cannot be made",
                           taken / "thesis.txt/net.rhz")):
        result = suite.compile(MODEL, (), GOAL, target)
        kept = (taken / "thesis.txt").read_text() == "the only copy"
        suite.check(result.status == 1 and kept,
                    f"output onto {label}: status {result.status}, "
                    f"{result.message[:160]}", result.command)


def commands(suite, package):
    """Every command that reads a package: its name and its arguments."""
    images = networks.ROOT / "examples/tiny-digits/test_images.npy"
    yield "simulate", [suite.rhizome, "simulate", package, "--level",
                       "functional", "-n", "1"]
    yield "evaluate", [suite.rhizome, "evaluate", package, "--data", images,
                       "-n", "1"]
    yield "synth", [suite.rhizome, "synth", package]
    yield "report", [suite.rhizome, "report", package]
    for driver in ("null", "cpu", "simulation", "uart", "udp"):
        port = ["--port", "/dev/null"] if driver == "uart" else []
        yield f"run-{driver}", [suite.rhizome, "run", package, "-n", "1",
                                "--driver", driver, *port]
    node = suite.rhizome.parent / "rhizome-node"
    if node.exists():
        yield "rhizome-node", [node, package, "node0"]
    else:
        suite.skip("rhizome-node is not built")


def refused_by_schema(suite, package):
    """The schema of plan.json refuses a plan without a required key, with a
    number beyond its bounds, and with a key that nobody writes."""
    validator = framework.plan_schema()
    if not validator:
        suite.skip("Python's jsonschema is missing")
        return
    schema = validator.schema
    validator.check_schema(schema)
    plan = json.loads((package / "plan.json").read_text())
    accepted, tried = [], 0

    def attempt(what, change, undo):
        nonlocal tried
        tried += 1
        change()
        if validator.is_valid(plan):
            accepted.append(what)
        undo()

    def walk(value, kind, at):
        kind = schema["$defs"][kind["$ref"].split("/")[-1]] if "$ref" in kind else kind
        if kind.get("type") == "array" and value:
            walk(value[0], kind["items"], f"{at}[0]")
        if "properties" not in kind:
            return
        attempt(f"{at}.nonsense", lambda: value.update(nonsense=1),
                lambda: value.pop("nonsense"))
        for key, each in kind["properties"].items():
            if key not in value:
                continue
            old = value[key]
            if key in kind["required"]:
                attempt(f"no {at}.{key}", lambda: value.pop(key),
                        lambda: value.update({key: old}))
            for bound, step in (("minimum", -1), ("maximum", 1)):
                if bound in each:
                    attempt(f"{at}.{key} {bound}",
                            lambda: value.update({key: each[bound] + step}),
                            lambda: value.update({key: old}))
            walk(old, each, f"{at}.{key}")

    walk(plan, schema, "plan")
    suite.check(tried > 150 and not accepted and validator.is_valid(plan),
                f"the schema refuses {tried} changed plans; not {accepted}")


def checked(suite, reference):
    """Removed, truncated or changed files are refused by name before
    anything runs, and accepted on request."""
    plan = json.loads((reference / "plan.json").read_text())
    rtl = "nodes/node0/rtl"
    image = next(p.name for p in sorted((reference / rtl).glob("*.hex")))
    files = [f"{rtl}/{image}", f"{rtl}/{plan['nodes'][0]['rtl'][0]}",
             "model/network.mlir", "plan.json"]
    damaged = suite.work / "damaged.rhz"

    def fresh():
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(reference, damaged)

    for file in files:
        good = (reference / file).read_bytes()
        kinds = {"altered": good + b"\n", "short": good[:-3], "removed": None}
        if file == "plan.json":  # still a plan
            kinds = {"altered": good.replace(b"throughput=1000", b"throughput=2")}
        for kind, data in kinds.items():
            fresh()
            if data is None:
                (damaged / file).unlink()
            else:
                (damaged / file).write_bytes(data)
            for name, words in commands(suite, damaged):
                result = run_program(words, timeout=120)
                suite.check(result.status == 1 and file in result.err
                            and "ompile the model again" in result.err,
                            f"{name} refuses {file}, {kind}: "
                            f"{result.message[:200]}", result.command)
    fresh()
    top = damaged / rtl / plan["nodes"][0]["rtl"][-1]
    top.write_text(top.read_text() + "// by hand\n")
    for name, words in commands(suite, damaged):
        if name in ("run-uart", "run-udp", "rhizome-node", "synth"):
            continue  # needs a board or a cluster, or takes long
        result = run_program([*words, "--accept-changes"], timeout=120)
        suite.check(result.status == 0 and "is taken as it is" in result.err
                    and top.name in result.err,
                    f"{name} --accept-changes: {result.message[:200]}",
                    result.command)
    result = suite.run("simulate", damaged, "-n", "1", "--accept-changes",
                       "--json")
    if shutil.which("verilator"):
        suite.check(result.json and result.json["mismatches"] == 0,
                    f"edited RTL is simulated: {result.message[:200]}",
                    result.command)


def segments(suite, reference):
    """A segment that is missing or of another size is named by every driver,
    also where changes are accepted."""
    damaged = suite.work / "segments.rhz"
    shutil.copytree(reference, damaged)
    plan = json.loads((damaged / "plan.json").read_text())
    file = "segments/node0/weights.bin"
    plan["nodes"][0]["memories"] = [
        {"name": "ddr4", "banks": 1, "bytes_per_s": 10 ** 10, "latency_ns": 100,
         "turnaround_ns": 0, "refresh_every_ns": 0, "refresh_ns": 0}]
    plan["nodes"][0]["segments"] = [
        {"file": file, "memory": "ddr4", "bank": 0, "address": 0, "bytes": 64,
         "load": "start"}]
    (damaged / "plan.json").write_text(json.dumps(plan))
    for kind, data in (("removed", None), ("short", bytes(63))):
        if data is not None:
            (damaged / file).parent.mkdir(parents=True)
            (damaged / file).write_bytes(data)
        for name, words in commands(suite, damaged):
            if not name.startswith("run-"):
                continue
            result = run_program([*words, "--accept-changes"], timeout=120)
            suite.check(result.status == 1 and file in result.err,
                        f"{name} names a segment that is {kind}: "
                        f"{result.message[:200]}", result.command)


def read_only(suite, reference):
    """A read-only package can still be simulated."""
    if not shutil.which("verilator"):
        return suite.skip("the program verilator is missing")
    package = suite.work / "readonly.rhz"
    shutil.copytree(reference, package)
    cache = suite.work / "cache"
    environment = ["env", f"XDG_CACHE_HOME={cache}"]
    command = [suite.rhizome, "simulate", package, "-n", "2", "--json"]
    page = [suite.rhizome, "report", package, "--json"]
    if os.geteuid() == 0:
        # Root can write everywhere except on a read-only file system.
        def words(command):
            script = ('mount --bind "$0" "$0" && '
                      'mount -o remount,ro,bind "$0" && exec "$@"')
            return ["unshare", "-m", "sh", "-c", script, package, *environment,
                    *command]
        if run_program(words(["true"])).status != 0:
            return suite.skip("nothing can be mounted here")
    else:
        for folder, _, _ in os.walk(package):
            os.chmod(folder, 0o555)

        def words(command):
            return [*environment, *command]
    result = run_program(words(command))
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0
                and answer.get("measured")
                and "cannot be written; results go to" in result.err,
                f"a package that is read-only: {result.message[:300]}",
                result.command)
    result = run_program(words(page))
    drawn = pathlib.Path((result.json or {}).get("report", "/nowhere"))
    suite.check(drawn.is_relative_to(cache) and drawn.exists()
                and not (package / "results").exists()
                and '"simulate"' in drawn.read_text(),
                f"its report: {result.message[:300]}", result.command)
    for folder, _, _ in os.walk(package):
        os.chmod(folder, 0o755)


def compiled_again(suite):
    """Measurements are kept if the same package is compiled; otherwise their
    removal is reported. Obstacles are reported before the work."""
    package = suite.work / "again.rhz"
    suite.compile(MODEL, (), GOAL, package)
    (package / "results").mkdir()
    (package / "results/synth.json").write_text("{}")
    same = suite.compile(MODEL, (), GOAL, package)
    suite.check((package / "results/synth.json").exists()
                and not (same.json or {}).get("notes"),
                "the same package keeps what was measured", same.command)
    other = suite.compile(MODEL, (), "throughput=2000/s", package)
    suite.check(not (package / "results").exists()
                and "were deleted because the package changed"
                in " ".join((other.json or {}).get("notes", [])),
                f"another one says what goes: {other.message}", other.command)
    taken = suite.work / "thesis"
    taken.mkdir()
    (taken / "thesis.txt").write_text("the only copy")
    result = suite.run("compile", suite.work / "no model.onnx", "-o", taken)
    suite.check(result.status == 1 and "is no rhizome package" in result.err,
                f"the output is looked at first: {result.message}",
                result.command)


def packages(suite):
    reference = suite.work / "reference.rhz"
    result = suite.compile(MODEL, (), GOAL, reference)
    if not suite.check(result.status == 0 and reference.exists(),
                       f"compiles {result.message[:200]}", result.command):
        return
    seconds = deterministic(suite, reference)
    interrupted(suite, reference, seconds)
    awkward_names(suite)
    refused(suite, reference)
    checked(suite, reference)
    segments(suite, reference)
    read_only(suite, reference)
    compiled_again(suite)
