# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files with one to three things changed at random, given to the command that
reads them and goes on with them: devices, boards, clusters, steering files,
configurations, modules between phases. A command ends with 0, 1 or 2. A seed
gives the same files on every machine."""
import concurrent.futures
import os
import random
import re

import networks
from framework import run_program
from hostile import DEVICES, MEMORY_GB, MODEL

DATA = networks.ROOT / "data"

#: Numbers at the ends of types, and what a cast makes of them.
NUMBERS = ("0", "1", "-1", "2", "3", "7", "8", "9", "15", "16", "17", "31", "32",
           "33", "63", "64", "65", "127", "128", "255", "256", "1000", "1023",
           "1024", "4096", "65535", "65536", "1048576", "2147483647",
           "2147483648", "4294967295", "4294967296", "4294967297",
           "999999999999999", "9007199254740993", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "0.5", "1e-9", "1e15",
           "1e300", "-1e300", ".inf", ".nan", "0x10", "010")
WORDS = ("", "x", "''", "a b", "no", "null", "~", "[]", "{}", "[1, 2]", "&a *a",
         "../x", "-o", "\"\\0\"", "é", "a" * 300)


def mutated(text, chance, numbers=NUMBERS, words=WORDS):
    """The text with up to three numbers, words or lines changed."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        way = chance.random()
        if way < 0.7:
            found = list(re.finditer(r"(?<![\w.#%@])-?\d+(\.\d+)?([eE][+-]?\d+)?(?![\w.])", text))
            if found:
                at = chance.choice(found)
                text = text[:at.start()] + chance.choice(numbers) + text[at.end():]
        elif way < 0.82:
            found = list(re.finditer(r"(?<=[:=] )[\w./+-]+", text))
            if found and words:
                at = chance.choice(found)
                text = text[:at.start()] + chance.choice(words) + text[at.end():]
        else:
            i = chance.randrange(len(lines))
            if way < 0.9:
                del lines[i]
            elif way < 0.95:
                lines.insert(i, lines[i])
            else:
                j = chance.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
    return text


def tried(suite, kind, count, seed, make, seconds=60):
    """Gives `count` files to the commands that `make` returns for a number and
    a source of chance; counts how they ended."""
    def one(i):
        words = make(i, random.Random(f"{kind} {seed} {i}"))
        return i, run_program([suite.rhizome, *words], timeout=seconds,
                              memory_gb=MEMORY_GB)

    ends = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, result in pool.map(one, range(count)):
            ends[result.status] = ends.get(result.status, 0) + 1
            good = (result.status in (0, 1, 2) and "Assertion" not in result.err
                    and "please report" not in result.err)
            if not good:
                suite.check(False, f"{kind} {seed} {i}: {result.status} "
                            f"{result.message[-200:]}", result.command)
    suite.check(sum(ends.values()) == count and len(ends) > 1,
                f"{count} {kind}, seed {seed}: exit codes {dict(sorted(ends.items()))}")


def devices(suite, count, seed):
    files = sorted(DEVICES.glob("*.yaml"))

    def make(i, chance):
        source = chance.choice(files)
        path = suite.work / f"d{i}.yaml"
        path.write_text(mutated(source.read_text(), chance))
        more = chance.choice(((), (), ("--weights", "streamed"), ("--border", "wide"),
                              ("--goal", "min-resources"), ("--accept-nearest",)))
        return ("compile", MODEL, "--device", path, *more, "-o", suite.work / f"d{i}.rhz")
    tried(suite, "device files", count, seed, make)


def boards(suite, count, seed):
    files = sorted((DATA / "boards").glob("*.yaml"))

    def make(i, chance):
        path = suite.work / f"b{i}.yaml"
        path.write_text(mutated(chance.choice(files).read_text(), chance))
        return ("compile", MODEL, "--board", path, "-o", suite.work / f"b{i}.rhz")
    tried(suite, "board files", count, seed, make)


def clusters(suite, count, seed):
    files = sorted((DATA / "clusters").glob("*.yaml"))
    links = sorted((DATA / "links").glob("*.yaml"))

    def make(i, chance):
        path = suite.work / f"c{i}.yaml"
        text = chance.choice(files).read_text()
        if chance.random() < 0.5:
            link = suite.work / f"l{i}.yaml"
            link.write_text(mutated(chance.choice(links).read_text(), chance))
            text = re.sub(r"(?m)^link: .*$", f"link: {link}", text)
        else:
            text = mutated(text, chance)
        path.write_text(text)
        return ("explore", MODEL, "--cluster", path, "--max-nodes", chance.choice((1, 2, 3)))
    tried(suite, "cluster files", count, seed, make)


STEERING = """nodes:
  conv1: {generator: stream, option: "stream/matvec?pe=1&simd=1", place: 0}
  act1_quantize: {option: "stream/requant?lanes=1"}
  dense1: {generator: stream, place: 0}
splits:
  conv2: 2
"""
CONFIGURATION = """device: xcku060-role
goal: throughput=1000/s
clock-mhz: 156.25
accept-nearest: true
weights: rom
max-nodes: 1
"""


def steering(suite, count, seed):
    def make(i, chance):
        path = suite.work / f"s{i}.yaml"
        path.write_text(mutated(STEERING, chance))
        return ("explore", MODEL, "--device", "xcku060-role", "--steer", path)
    tried(suite, "steering files", count, seed, make)


def configurations(suite, count, seed):
    def make(i, chance):
        path = suite.work / f"r{i}.yaml"
        path.write_text(mutated(CONFIGURATION, chance))
        return ("explore", MODEL, "--config", path)
    tried(suite, "configurations", count, seed, make)


PHASES = ("import", "normalize", "quantize", "integerize", "explore", "build",
          "lower", "emit")


def tried_between(suite, what, model, options, count, seed):
    """Numbers and attributes of a model's modules between phases."""
    modules = {}
    for phase in PHASES:
        path = suite.work / f"{phase}.mlir"
        result = suite.run("compile", model, *options, "--compile-to", phase,
                           "-o", path)
        if suite.check(result.status == 0, f"compiles to {phase}", result.command):
            modules[phase] = path.read_text()
    numbers = [n for n in NUMBERS if not n.startswith(".") and "x" not in n]

    def make(i, chance):
        phase = PHASES[i % len(PHASES)]
        path = suite.work / f"p{i}.mlir"
        path.write_text(mutated(modules[phase], chance, numbers, ()))
        return ("compile", path, "--compile-from", phase, "-o", suite.work / f"p{i}.rhz")
    tried(suite, what, count, seed, make)


def phases(suite, count, seed):
    tried_between(suite, "phase modules", MODEL,
                  ("--goal", "throughput=1000/s"), count, seed)


def kernel_phases(suite, count, seed):
    tried_between(suite, "phase modules of a kernel",
                  networks.ROOT / "examples/kernels/gradient.cfd",
                  ("--numbers", "fixed<8,24>", "--device", "xcu280", "--goal",
                   "throughput=1000000/s"), count, seed)


KINDS = {"devices": devices, "boards": boards, "clusters": clusters,
         "steering": steering, "configurations": configurations,
         "phases": phases, "kernel-phases": kernel_phases}


def mutations(suite, kind, count, seed=1):
    KINDS[kind](suite, int(count), int(seed))


def everyday(suite):
    for kind, function in KINDS.items():
        function(suite, 16 if kind in ("devices", "phases", "steering") else 6, 1)
