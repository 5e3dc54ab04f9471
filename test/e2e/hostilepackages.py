# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages made hostile at random: names, numbers, links, endings, scripts, text
of RTL and results, one to three changes each, under every command that reads a
package. Commands end with 0, 1 or 2, start no programs but those we name, and
change nothing outside their folders; in every second case with the scan of RTL
switched off. A case depends on its seed and number alone."""
import json
import os
import random
import re
import shutil

import boundary
import networks
from boundary import BOARD, Attacked, Outside, compiled, hidden_lines
from framework import run_program

SECONDS = 300
IMAGES = networks.ROOT / "examples/tiny-digits/test_images.npy"
#: What may start. Simulators are in the cache.
PROGRAMS = re.compile(
    r"^(rhizome|verilator(_bin(_dbg)?)?|perl|sh|dash|bash|make|ccache|"
    r"clang(\+\+)?(-\d+)?|[\w-]*g(\+\+|cc)(-\d+)?|cc1(plus)?|collect2|as|"
    r"ld(\.\w+)?|lld|mold|ar|[\w-]*ranlib|[\w-]*-(ar|ld|as)|llvm-ar(-\d+)?|"
    r"iverilog|ivl|ivlpp|vvp|yosys|(yosys|berkeley)-abc|yosys-filterlib|"
    r"nextpnr-ice40|"
    r"icepack|iceunpack|icebox_vlog|python3(\.\d+)?|env|uname|echo|mkdir|rm|cp|"
    r"mv|cat|touch|test|true|basename|dirname|xargs|tclsh\S*|tool\.sh|vivado)$")
COMMANDS = (
    ("simulate", "-n", 1, "--four-state"), ("simulate", "-n", 1),
    ("simulate", "-n", 1, "--four-state"),
    ("simulate", "-n", 1, "--level", "functional"),
    ("simulate", "-n", 1, "--level", "netlist"),
    ("simulate", "-n", 1, "--level", "bitstream"),
    ("synth",), ("synth", "--tool", "vivado"),
    ("run", "--driver", "cpu", "-n", 1),
    ("run", "--driver", "simulation", "-n", 1), ("run", "--driver", "null"),
    ("report",), ("report",), ("trace",),
    ("evaluate", "--data", IMAGES, "-n", 2, "--rtl-frames", 1))
TEXTS = ("", "x", "../x", "/etc/passwd", "a b", "$(touch {harm})", "`id`",
         "x\n!touch {harm}", "-o", "--config=x", "a;b", "x.cpp", "x.sv", "con",
         "a" * 300, "é", "\x1b[2J", "%s%n", "{{x}}", "node0", "rhz_top")
NUMBERS = (0, -1, 1, 2**31, 2**32, 2**63 - 1, -2**63, 2**53, 1e308, 0.5, 65536,
           10**15)
ENDINGS = (".cpp", ".cc", ".o", ".so", ".a", ".vlt", ".f", ".mk", ".ys", ".tcl",
           ".sv", ".v", ".svh", ".hex", ".mem", ".vh", "")
SCRIPTS = ("nodes/node0/vivado/build.tcl", "nodes/node0/vivado/sources.tcl",
           "nodes/node0/rtl/files.f", "deploy.sh", "host/CMakeLists.txt",
           "nodes/node0/tb/Makefile", "nodes/node0/rtl/abc.rc",
           "nodes/node0/rtl/module.ys", "results/nextpnr/netlist.ys",
           "results/sim/sim.mk", "results/nextpnr/board.pcf")


def leaves(value, wanted, path=()):
    """The places of a JSON value's strings, or of its numbers."""
    if isinstance(value, (dict, list)):
        for key in (value if isinstance(value, dict) else range(len(value))):
            yield from leaves(value[key], wanted, (*path, key))
    elif isinstance(value, wanted) and not isinstance(value, bool):
        yield path


def put(plan, path, value):
    for key in path[:-1]:
        plan = plan[key]
    plan[path[-1]] = value


class Maker:
    def __init__(self, random, package, outside):
        self.random, self.package, self.outside = random, package, outside
        self.harm = outside.home / "harm"
        self.done = []

    def note(self, *what):
        self.done.append(" ".join(map(str, what)))

    def text(self):
        return self.random.choice(TEXTS).format(harm=self.harm)

    def name(self):
        path = self.random.choice(sorted(leaves(self.package.plan, str),
                                         key=str))
        value = self.text()
        put(self.package.plan, path, value)
        self.note("name", path, repr(value)[:40])

    def number(self):
        path = self.random.choice(sorted(leaves(self.package.plan, (int, float)),
                                         key=str))
        value = self.random.choice(NUMBERS)
        put(self.package.plan, path, value)
        self.note("number", path, value)

    def link(self):
        files = [str(p.relative_to(self.package.path)) for p in sorted(
            self.package.path.rglob("*"))] + [
                "results", "results/sim", "results/nextpnr", "results/vivado",
                "results/trace.json", "results/simulate.json",
                "results/nextpnr/netlist.v", "results/sim/x-99999",
                "nodes/node0/rtl/log.txt", "nodes/node0/rtl/out0.hex"]
        name = self.random.choice(files)
        to = self.random.choice((self.outside.home, "/dev/zero", "/", "nowhere",
                                 self.outside.home / ".bashrc",
                                 self.outside.home / "harm"))
        try:
            self.package.link(name, to)
        except OSError:
            return
        self.note("link", name, to)

    def pipe(self):
        path = self.random.choice(
            [p for p in sorted(self.package.path.rglob("*")) if p.is_file()])
        path.unlink()
        os.mkfifo(path)
        self.note("pipe", path.name)

    def ending(self):
        name = self.random.choice(("zz", "module", "outer", "obj/x", "rhz_tb",
                                   "../zz", ".zz")) + self.random.choice(ENDINGS)
        code = ('#include <cstdlib>\nstatic int x = std::system("id > '
                f'{self.harm}");\n')
        try:
            self.package.add(name, self.random.choice((
                code, f"!touch {self.harm}\n", "module zz; endmodule\n")),
                self.random.random() < 0.5)
        except OSError:
            return
        self.note("ending", name)

    def script(self):
        name = self.random.choice(SCRIPTS)
        path = self.package.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.random.choice((
            f"all:\n\tid > {self.harm}\n", f"exec touch {self.harm}\n",
            f"!touch {self.harm}\n", f"#!/bin/sh\ntouch {self.harm}\n")))
        path.chmod(0o755)
        self.note("script", name)

    def hardware(self):
        lines = hidden_lines(self.harm)
        label = self.random.choice(sorted(lines))
        line = "".join(self.random.choice("\f\v\r\x85\xa0\0\x1a")
                       if c == " " and self.random.random() < 0.05 else c
                       for c in lines[label])
        count = len(list(self.package.rtl.glob("rhz_*.sv")))
        if count == 0:  # a change before this one renamed the folder
            return
        self.package.insert(line, self.random.randrange(count))
        self.note("RTL", label)

    def results(self):
        folder = self.package.path / "results"
        (folder / "nextpnr").mkdir(parents=True, exist_ok=True)
        kind = self.random.randrange(4)
        if kind == 0:
            text = ("module rhz_board(input clk_i, input rxd_i, output txd_o);\n"
                    f'initial $system("id > {self.harm}");\nendmodule\n')
            for name in ("netlist.v", f"{BOARD}.bin", "bitstream.v"):
                (folder / "nextpnr" / name).write_text(text)
            digest = boundary.xxh128(text.encode())
            (folder / "nextpnr.json").write_text(json.dumps(
                {"board": BOARD, "files": [
                    {"path": name, "bytes": len(text), "checksum": digest}
                    for name in ("netlist.v", f"{BOARD}.bin")]}))
        elif kind == 1:
            (folder / "nextpnr.json").write_text(json.dumps(
                {"board": self.text(), "files": self.text()}))
        elif kind == 2:
            for name in ("simulate", "synth", "vivado", "trace", "cluster"):
                (folder / f"{name}.json").write_text(self.random.choice((
                    "[" * 99999, "{", '{"nodes": [1, {"measured": 7}]}',
                    json.dumps({"predicted": self.text(), "measured": None}))))
        else:
            for name in ("build-99999", "sim-1", "run-x", "icarus-4194305"):
                (folder / "sim" / name / "obj").mkdir(parents=True,
                                                      exist_ok=True)
                (folder / "sim" / name / "Makefile").write_text(
                    f"all:\n\tid > {self.harm}\n")
        self.note("results", kind)

    def change(self, count):
        """So many changes; pipes last, since others would wait at them."""
        changes = [self.random.choice(
            (self.name, self.name, self.number, self.link, self.link, self.pipe,
             self.ending, self.ending, self.script, self.hardware,
             self.hardware, self.hardware, self.results))
                   for _ in range(count)]
        for change in sorted(changes, key=lambda c: c == self.pipe):
            change()


def started(trace):
    """The programs that a trace names, but those that were not there."""
    return {match.group(1) for line in trace.read_text(
        errors="replace").splitlines()
        if (match := re.search(r'execve\("([^"]*)".*= 0$', line))}


def hostile(suite, count, seed, first=0):
    outside = Outside(suite)
    bases = [compiled(suite, "plain"), compiled(suite, "ice", "--board", BOARD)]
    tools = suite.work / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "vivado").exists():
        (tools / "vivado").symlink_to(boundary.STANDINS / "tool.sh")
    tracer = shutil.which("strace")
    if not tracer:
        suite.skip("strace is missing: what is started is not looked at")
    trace = suite.work / "trace.txt"
    ended = {0: 0, 1: 0, 2: 0}
    # The cache first, so that few cases wait for a compiler.
    run_program([*outside.environment(), suite.rhizome, "simulate", bases[0],
                 "-n", 1], timeout=600)
    outside.before = boundary.tree(outside.home)
    for k in range(int(first), int(first) + int(count)):
        source = random.Random(f"{seed}/{k}")
        package = Attacked(source.choice(bases), suite.work / "hostile.rhz")
        maker = Maker(source, package, outside)
        # A change may meet a link of one before it: then nothing comes of it, or
        # the maker itself writes outside, which is not what is looked for.
        try:
            maker.change(source.randrange(1, 4))
            package.save()
        except OSError:
            continue
        outside.before = boundary.tree(outside.home)
        words = source.choice(COMMANDS)
        command = [*outside.environment(k % 2 == 0), f"STANDIN_PERIOD=10",
                   f"STANDIN_STUBS={boundary.STANDINS}",
                   f"PATH={tools}:{os.environ['PATH']}",
                   *((tracer, "-f", "-qq", "--seccomp-bpf", "-e",
                      "trace=execve", "-o", trace) if tracer else ()),
                   suite.rhizome, words[0], package.path, *words[1:],
                   "--accept-changes"]
        result = run_program(command, timeout=SECONDS)
        programs = started(trace) if tracer else set()
        strange = sorted(p for p in programs
                         if not PROGRAMS.match(p.rsplit("/", 1)[-1])
                         and not p.startswith(f"{outside.cache}/"))
        changed = outside.changes()
        good = result.status in ended and not changed and not strange
        if good:
            ended[result.status] += 1
        else:
            suite.check(False, f"case {seed}/{k}, {maker.done}, "
                        f"{' '.join(map(str, words))}: {result.status} "
                        f"{changed} {strange} {result.message[-300:]}",
                        result.command)
            outside = Outside(suite)
            kept = suite.work / f"case-{seed}-{k}.rhz"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.move(package.path, kept)
    suite.check(sum(ended.values()) > 0, f"{int(count)} hostile packages: "
                f"{ended[0]} used, {ended[1]} refused, {ended[2]} not understood")
