# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What machines and people do to programs: several at one cache, kill -9 at any
moment, disks that are full or read-only, clocks that jump, environments without
this and that, paths and names of any length. The answer stays the same, or a
sentence says why there is none; the next command works."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import networks
from framework import Skip, needed, run_program
from nodes import Node, at, check_answers, running
from packages import same_tree

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
GOAL = "throughput=1000/s"
COMMANDS = ("compile", "simulate", "synth", "run")


class Bench:
    """A package, its commands with a cache of their own, and what they answer."""

    def __init__(self, suite):
        self.suite = suite
        self.package = suite.work / "net.rhz"
        self.cache = suite.work / "cache"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        self.reference, self.answers = suite.work / "reference.rhz", {}
        result = suite.compile(MODEL, (), GOAL, self.reference)
        suite.check(result.status == 0, "compiles", result.command)

    def words(self, command, package=None):
        package = package or self.package
        return [str(word) for word in (self.suite.rhizome, *{
            "compile": ("compile", MODEL, "--goal", GOAL, "-o", package),
            "simulate": ("simulate", package, "-n", 2),
            "synth": ("synth", package),
            "run": ("run", package, "--driver", "cpu", "-n", 3),
        }[command], "--json")]

    def run(self, command, **more):
        environment = more.pop("environment", self.environment)
        return run_program(["env", "-i", *(f"{k}={v}" for k, v in
                                           environment.items()),
                            *self.words(command, **more)])

    def wanted(self, command, result):
        """Whether it answers as it should: as it did the first time."""
        answer = result.json or {}
        kept = {key: answer.get(key) for key in ("mismatches", "frames",
                                                 "predicted", "ok")}
        kept["measured"] = (answer.get("measured")
                            if command in ("simulate", "synth") else None)
        return (result.status == 0
                and self.answers.setdefault(command, kept) == kept)

    def check(self, command, label, **more):
        result = self.run(command, **more)
        return self.suite.check(
            self.wanted(command, result),
            f"{label}: {command} answers as before"
            + ("" if result.status == 0 else f": {result.message}"),
            result.command)

    def fresh(self):
        shutil.rmtree(self.package, ignore_errors=True)
        shutil.copytree(self.reference, self.package)


def forget(bench, command, draw):
    """Takes from the cache what the command has to make anew; for synthesis,
    which takes longest, a module of it."""
    for path in (bench.cache / "rhizome/simulators").glob("*"):
        if command == "simulate":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if command == "synth":
        kept = sorted((bench.cache / "rhizome/synth").glob("*.json"))
        for path in draw.sample(kept, min(1, len(kept))):
            path.unlink()


def broken(folder):
    """JSON files that are cut off, and pages and programs that are; not those in
    the folders that a killed compile was still writing, which the next clears."""
    bad = []
    for path in folder.rglob("*.json"):
        if any(".tmp-" in part for part in path.relative_to(folder).parts):
            continue
        try:
            json.loads(path.read_text())
        except ValueError:
            bad.append(str(path))
    for path in folder.rglob("report.html"):
        if not path.read_text().rstrip().endswith("</html>"):
            bad.append(str(path))
    for path in folder.rglob("simulators/sim-*"):
        if path.is_file() and path.read_bytes()[:4] != b"\x7fELF":
            bad.append(str(path))
    return bad


def kills(suite, count, *commands):
    """kill -9 at random moments; what stands then is whole, and the next command
    gives what the first one gave."""
    bench = Bench(suite)
    draw = random.Random(3)
    commands = commands or COMMANDS
    for tool, command in (("verilator", "simulate"), ("yosys", "synth")):
        if command in commands:
            suite.tool(tool)
    bench.fresh()
    seconds = {}
    for command in commands:
        bench.check(command, "undisturbed")
        forget(bench, command, draw)
        start = time.time()
        bench.check(command, "timed")
        seconds[command] = time.time() - start
    i = killed = complete = 0
    # One that ends before its moment does not count.
    while killed < int(count) and i < 3 * int(count):
        command = commands[i % len(commands)]
        if command == "compile" and i // len(commands) % 2:
            shutil.rmtree(bench.package)
        forget(bench, command, draw)
        process = subprocess.Popen(bench.words(command),
                                   env=bench.environment,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(seconds[command] * draw.uniform(0, 1.05))
        process.send_signal(signal.SIGKILL)
        process.wait()
        was_killed = process.returncode == -signal.SIGKILL
        killed += was_killed
        if not was_killed:  # the machine is less busy than when it was timed
            seconds[command] *= 0.9
        whole = bench.package.exists()
        complete += whole
        bad = broken(suite.work)
        if whole:
            bad += [name for name in same_tree(bench.reference, bench.package)
                    # Of these, a page shows the measurements.
                    if name not in ("results", "deploy.yaml", "report.html")]
        again = bench.run(command)
        if not suite.check(not bad and bench.wanted(command, again),
                           f"kill {i}, {command}: what stands is whole, and the "
                           f"next one works {bad}"
                           + ("" if again.status == 0 else again.message),
                           again.command):
            bench.fresh()
        i += 1
    left = [name for name in os.listdir(suite.work) if name.startswith(".net")]
    suite.check(not left, f"the last compile cleared what was left {left}")
    print(f"{i} commands, {killed} killed before their end; {complete} times a "
          f"package stood")
    suite.check(killed >= int(count), f"{killed} of {count} were killed")


def one_cache(suite, command):
    """Several processes at once with one empty cache."""
    bench = Bench(suite)
    suite.tool({"simulate": "verilator", "synth": "yosys"}[command])
    packages = []
    for i in range(3):
        packages.append(suite.work / f"net{i}.rhz")
        shutil.copytree(bench.reference, packages[-1])
    processes = [subprocess.Popen(bench.words(command, package),
                                  env=bench.environment,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
                 for package in packages]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=600)
        answer = json.loads(out.splitlines()[-1]) if out else {}
        answers.append(answer.get("measured"))
        suite.check(process.returncode == 0 and answer.get("measured"),
                    f"one of three at one cache, {command}: {err.strip()[:200]}")
    suite.check(all(answer == answers[0] for answer in answers),
                f"they answer alike: {answers[0]}")
    bad = broken(suite.work)
    suite.check(not bad, f"the cache is whole {bad}")
    result = bench.run(command, package=packages[0])
    suite.check(result.status == 0 and (result.json or {}).get("measured")
                == answers[0], f"and serves a fourth in {result.wall_s:.1f} s",
                result.command)


def mounted(suite, options, words, prepare=""):
    """Runs words with a small file system at work/disk."""
    disk = suite.work / "disk"
    disk.mkdir(exist_ok=True)
    script = (f'mount -t tmpfs -o {options} none "$0" && {prepare or "true"} '
              '&& mount -o remount,$RHIZOME_MODE "$0" && "$@"; status=$?; '
              'find "$0" -mindepth 1 -printf "left: %p\\n" >&2; exit $status')
    mode = "ro" if "read-only" in prepare else "rw"
    return run_program(["env", f"RHIZOME_MODE={mode}", "unshare", "-m", "sh",
                        "-c", script, disk, *words])


def disks(suite):
    """Full and read-only: a sentence with the path and the reason, nothing left
    behind, and the old package as it was."""
    bench = Bench(suite)
    if mounted(suite, "size=1m", ["true"]).status != 0:
        raise Skip("nothing can be mounted here")
    disk = suite.work / "disk"
    compiled = bench.words("compile", disk / "net.rhz")
    for label, options, prepare, reason in (
            ("a full disk", "size=64k", "", "No space left on device"),
            ("a disk without files left", "nr_inodes=8", "",
             "No space left on device"),
            ("a read-only disk", "size=1m", ": read-only",
             "Permission denied")):
        result = mounted(suite, options, compiled, prepare)
        answer = result.json or {}
        suite.check(result.status == 1 and reason in answer.get("error", "")
                    and str(disk) in answer.get("error", "")
                    and "left: " not in result.err,
                    f"{label}: {answer.get('error')} {result.err.strip()[:200]}",
                    result.command)
    # A cache that takes nothing: the answer comes all the same, or a sentence.
    bench.fresh()
    for label, options, prepare in (
            ("a full cache", "size=64k",
             'dd if=/dev/zero of="$0/ballast" bs=1k count=60 2>/dev/null'),
            ("a read-only cache", "size=1m", ": read-only")):
        for command, tool in (("simulate", "verilator"), ("run", "true")):
            if not shutil.which(tool):
                suite.skip(f"the program {tool} is missing")
                continue
            result = mounted(suite, options, [
                "env", f"XDG_CACHE_HOME={disk}", *bench.words(command)], prepare)
            answer = result.json or {}
            good = answer.get("mismatches") == 0 if result.status == 0 else (
                str(disk) in result.err + answer.get("error", ""))
            suite.check(result.status in (0, 1) and good,
                        f"{label}, {command}: status {result.status} "
                        f"{answer.get('error', '')} {result.err.strip()[:200]}",
                        result.command)
    result = bench.run("run")
    suite.check(bench.wanted("run", result), "afterwards it runs",
                result.command)


def environments(suite):
    """No HOME, no TMPDIR or ones that lead nowhere, other locales: the same
    bytes, or a sentence that names what is missing."""
    bench = Bench(suite)
    bench.fresh()
    plain = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(bench.cache)}
    locales = suite.work / "locales"
    locales.mkdir()
    cases = {"nothing but PATH": {"PATH": os.environ["PATH"]},
             "TMPDIR nowhere": {**plain, "TMPDIR": "/dev/null/nowhere"},
             "HOME nowhere": {"PATH": os.environ["PATH"],
                              "HOME": "/dev/null/nowhere"},
             "HOME a file": {"PATH": os.environ["PATH"], "HOME": "/etc/passwd"},
             "LC_ALL of no language": {**plain, "LC_ALL": "xx_XX.UTF-8"}}
    for name in ("de_DE", "tr_TR"):
        if shutil.which("localedef") and run_program(
                ["localedef", "-i", name, "-f", "UTF-8",
                 locales / f"{name}.UTF-8"]).status == 0:
            cases[f"LC_ALL of {name}"] = {
                **plain, "LOCPATH": str(locales), "LC_ALL": f"{name}.UTF-8"}
        else:
            suite.skip(f"the locale {name} cannot be made")
    for label, environment in cases.items():
        target = suite.work / "made.rhz"
        shutil.rmtree(target, ignore_errors=True)
        result = bench.run("compile", package=target, environment=environment)
        suite.check(result.status == 0
                    and not same_tree(bench.reference, target),
                    f"{label}: compile gives the same bytes"
                    + ("" if result.status == 0 else f": {result.message}"),
                    result.command)
        bench.check("run", label, environment=environment)
        if not shutil.which("verilator"):
            suite.skip("the program verilator is missing")
            continue
        result = bench.run("simulate", environment=environment)
        # Where programs are to be kept there must be a place.
        told = any(word in (result.json or {}).get("error", "")
                   for word in ("HOME", "/dev/null/nowhere", "/etc/passwd"))
        suite.check(bench.wanted("simulate", result)
                    if "LC_ALL" in environment or result.status == 0
                    else result.status == 1 and told,
                    f"{label}: simulate, status {result.status} "
                    f"{(result.json or {}).get('error', '')}", result.command)


def clocks(suite):
    """Dates that cannot be, and a clock that jumps while a service is at work."""
    library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"),
                   None)
    if not library:
        raise Skip("faketime is missing")
    bench = Bench(suite)
    bench.fresh()

    def at_date(date):
        return {**bench.environment, "LD_PRELOAD": str(library),
                "FAKETIME": date, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                # The library needs a semaphore that confined tools cannot make.
                "RHIZOME_CONFINE": "none"}
    for date in ("@1970-01-02 00:00:00", "@2037-12-31 23:59:59", "-40y"):
        target = suite.work / "made.rhz"
        shutil.rmtree(target, ignore_errors=True)
        result = bench.run("compile", package=target, environment=at_date(date))
        suite.check(result.status == 0
                    and not same_tree(bench.reference, target),
                    f"{date}: compile gives the same bytes", result.command)
        bench.check("run", date, environment=at_date(date))
        if shutil.which("verilator"):
            bench.check("simulate", date, environment=at_date(date))
    jumping_service(suite, library)


def jumping_service(suite, library):
    package = suite.work / "service.rhz"
    result = suite.compile(MODEL, (), GOAL, package, "--cluster", "ku060x1")
    suite.check(result.status == 0, f"a service compiles {result.message}",
                result.command)
    offset = suite.work / "offset"
    offset.write_text("+0")
    fake = {"LD_PRELOAD": str(library), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_TIMESTAMP_FILE": str(offset)}
    place = {"node0": f"127.0.0.1:{20000 + os.getpid() % 20000}"}
    os.environ.update(fake)
    try:
        with running([Node(suite, package, "node0", place)]):
            client = subprocess.Popen(
                [str(w) for w in (suite.rhizome, "run", package, "-n", 20000,
                                  "--json", *at(place))],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            jumps = 0
            for jumps, date in enumerate(40 * ("+3y", "-3y", "+1h", "-1d"), 1):
                if client.poll() is not None:
                    break
                offset.write_text(date)
                time.sleep(0.05)
            out, err = client.communicate(timeout=300)
    finally:
        for key in fake:
            os.environ.pop(key)
    answer = json.loads(out.splitlines()[-1]) if out else {}
    suite.check(client.returncode == 0 and answer.get("mismatches") == 0
                and answer.get("frames") == 20000 and jumps > 3
                and not answer.get("events"),
                f"{jumps} jumps of the clock: {answer.get('frames')} right "
                f"answers, {answer.get('events')} {err[:200]}")


def lengths(suite):
    """Paths and names of any length, and a thousand nodes of one name."""
    bench = Bench(suite)
    deep = suite.work
    while len(str(deep)) < 3800:
        deep /= "d" * 200
    made = subprocess.run(["mkdir", "-p", "--", str(deep)])
    if made.returncode == 0:
        target = deep / "net.rhz"
        result = bench.run("compile", package=target)
        # A path has 4,095 bytes at most, and what lies in the package longer ones.
        if suite.check(result.status == 0 or "File name too long"
                       in (result.json or {}).get("error", ""),
                       f"a path of {len(str(target))} bytes: status "
                       f"{result.status} {result.message[:80]}"):
            left = [name for name in os.listdir(deep) if name != "net.rhz"]
            suite.check(not left, f"nothing is left aside {left}")
        if result.status == 0:
            bench.check("run", "a long path", package=target)
    for label, target in (("a name of 300 bytes", suite.work / ("n" * 300)),
                          ("a path of 5,000 bytes",
                           suite.work / "/".join(["e" * 200] * 25))):
        result = bench.run("compile", package=target)
        suite.check(result.status == 1 and "File name too long"
                    in (result.json or {}).get("error", ""),
                    f"{label}: {result.message[:60]} … {result.message[-60:]}")
    any_bytes(suite)
    equal_names(suite)


def any_bytes(suite):
    """Paths and words that are no UTF-8, which JSON cannot hold."""
    strange = os.fsdecode(b"\xff\xc0")
    package = suite.work / f"{strange}.rhz"
    kernel = suite.work / f"{strange}.cfd"
    shutil.copy(networks.ROOT / "examples/kernels/gradient.cfd", kernel)
    device = suite.work / f"{strange}.yaml"
    shutil.copy(networks.ROOT / "data/devices/xczu3eg.yaml", device)
    for good, *words in (
            (True, "compile", MODEL, "--goal", GOAL, "-o", package),
            (True, "report", package), (True, "targets", device),
            (True, "run", package, "--driver", "cpu"),
            (True, "formats", kernel, "--formats", "half", "--device", device),
            (True, "coverage", kernel),
            (True, "compile", kernel, "-o", suite.work / f"{strange}.out"),
            (False, "coverage", suite.work / f"{strange}.onnx"),
            (False, "compile", MODEL, "--shape", f"{strange}=1"),
            (False, "run", package, "--driver", strange),
            (False, "run", package, "--driver", "cpu", "--input",
             f"{strange}=x.npy")):
        result = suite.run(*words, "--json")
        suite.check(result.status == 0 if good else result.status in (1, 2),
                    f"{words[0]} of words that are no UTF-8: {result.status} "
                    f"{result.err.strip()[:100]!a}")
    for words in ((package, "node0"), (package, strange)):
        result = run_program([suite.rhizome.parent / "rhizome-node", *words,
                              "--json"])
        suite.check(result.status in (1, 2),
                    f"rhizome-node of such a package: {result.status} "
                    f"{result.err.strip()[:100]!a}")


def equal_names(suite):
    onnxkit = needed("onnxkit")
    import numpy
    onnx = onnxkit.onnx
    helper = onnx.helper
    nodes, constants, value = [], [], "x"
    for i in range(1000):
        constants.append(onnx.numpy_helper.from_array(
            numpy.full((1, 4), 1 + i % 3, numpy.float32), f"c{i}"))
        nodes.append(helper.make_node(("Add", "Mul", "Sub")[i % 3],
                                      [value, f"c{i}"], [f"v{i}"], name="same"))
        value = f"v{i}"
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "same", [helper.make_tensor_value_info("x", kind, (1, 4))],
        [helper.make_tensor_value_info(value, kind, (1, 4))], constants)
    model = suite.work / "same.onnx"
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    result = suite.run("coverage", model, "--json", timeout=120)
    suite.check(result.json and "fpga" in result.json,
                f"1,000 nodes of one name are told ({result.wall_s:.1f} s)",
                result.command)
    # The digits' network with one name for every node: as with its own names.
    plain = onnx.load(str(MODEL))
    for node in plain.graph.node:
        node.name = "same"
    model = suite.work / "digits.onnx"
    onnx.save(plain, model)
    package = suite.work / "same.rhz"
    result = suite.compile(model, (), GOAL, package)
    if suite.check(result.status == 0, "one name for every layer compiles",
                   result.command) and shutil.which("verilator"):
        result = suite.run("simulate", package, "-n", 2, "--json")
        suite.check(result.status == 0 and result.json["mismatches"] == 0,
                    f"and is right: {result.message[:200]}", result.command)
