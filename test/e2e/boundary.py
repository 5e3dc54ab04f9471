# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The border of a package (docs/trust.md): what a stranger's package names,
links to or brings along runs no program, and nothing outside its folder is
read or changed. Every attack is tried as it comes, and with the scan of RTL
switched off, where confinement alone must hold it."""
import ctypes
import ctypes.util
import hashlib
import json
import os
import shutil
import stat
import subprocess

import networks
from framework import run_program

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
STANDINS = networks.ROOT / "test/vendor"
BOARD = "ice40-hx8k-breakout"
SECONDS = 180


def tree(folder):
    """What is in a folder: kind, mode, time and contents of everything."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        if path.is_symlink():
            what = os.readlink(path)
        elif path.is_file():
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            what = ""
        found[str(path.relative_to(folder))] = (
            stat.filemode(state.st_mode), state.st_mtime_ns if what else 0,
            what)
    return found


class Outside:
    """What belongs to the user: a home with files, which must stay as it is."""

    def __init__(self, suite):
        self.home = suite.work / "home"
        shutil.rmtree(self.home, ignore_errors=True)
        for name in ("project-2024/main.c", "letters-77777/letter.txt",
                     ".bashrc", ".ssh/id", "notes/sub/x.txt"):
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("precious\n")
        self.cache = suite.work / "cache"
        self.before = tree(self.home)

    def environment(self, scans=True):
        return ["env", f"HOME={self.home}", f"XDG_CACHE_HOME={self.cache}",
                *(() if scans else ("RHIZOME_UNSCANNED=1",))]

    def changes(self):
        """The names of what has changed; puts the home in order again."""
        now = tree(self.home)
        changed = sorted(name for name in now.keys() | self.before.keys()
                         if now.get(name) != self.before.get(name))
        return changed


class Attacked:
    """A copy of a package, made hostile."""

    def __init__(self, base, target):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(base, target, symlinks=True)
        shutil.rmtree(target / "results", ignore_errors=True)
        self.path = target
        self.plan = json.loads((target / "plan.json").read_text())
        self.node = self.plan["nodes"][0]
        self.rtl = target / "nodes" / self.node["name"] / "rtl"

    def add(self, name, text, modules=False):
        """A file of the RTL that the plan names."""
        (self.rtl / name).parent.mkdir(parents=True, exist_ok=True)
        (self.rtl / name).write_bytes(text.encode("latin-1"))
        self.node["rtl"].append(name)
        if modules:
            for files in self.node["modules"].values():
                files.append(name)
        return self

    def insert(self, line, which=0):
        """A line in a module that is simulated."""
        path = sorted(self.rtl.glob("rhz_*.sv"))[which]
        text = path.read_bytes()
        path.write_bytes(text.replace(
            b"endmodule", line.encode("latin-1") + b"\nendmodule", 1))
        return self

    def link(self, name, to):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(to)
        return self

    def save(self):
        if not (self.path / "plan.json").is_fifo():
            (self.path / "plan.json").write_text(json.dumps(self.plan))
        return self.path


def xxh128(data):
    """The checksum that a sender gives a file; None without the library."""
    name = ctypes.util.find_library("xxhash")
    if not name:
        return None

    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
    function = ctypes.CDLL(name).XXH3_128bits
    function.restype = Hash
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    found = function(data, len(data))
    return f"{found.high:016x}{found.low:016x}"


def attempt(suite, outside, label, package, *words, scans=True, names=None,
            status=(0, 1, 2), prefix=()):
    """Runs a command: it ends in good order, and nothing has happened."""
    result = run_program([*outside.environment(scans), *prefix, suite.rhizome,
                          words[0], package, *words[1:], "--accept-changes"],
                         timeout=SECONDS)
    changed = outside.changes()
    good = (result.status in status and not changed
            and (not names or names in result.err + result.out))
    suite.check(good, f"{label}, {' '.join(map(str, words))}"
                f"{'' if scans else ', unscanned'}: {result.status} "
                f"{changed} {result.message[-300:]}", result.command)
    return result


#: Lines that tools split into words and lines otherwise than a plain scan
#: does, with a command of Verilog that writes or runs something.
def hidden_lines(harm):
    shell = f'$system("echo harm > {harm}")'
    write = (f'integer rhz_h; initial begin rhz_h = $fopen("{harm}"); '
             f'$fwrite(rhz_h, "harm"); $fclose(rhz_h); end')
    return {
        "a form feed": f"wire \\x\f=1;initial\f{shell};",
        "a vertical tab": f"wire \\x\v=1;initial\v{shell};",
        "a no-break space": f"wire \\x\xa0=1; initial {shell};",
        "a carriage return": f"// c\r {write}",
        "a region left out": f'`ifdef NOPE\n"\n`endif\n{write}\n`ifdef NOPE\n"'
                             f"\n`endif",
        "a comment in a region": f"`ifdef NOPE\n/* `endif\n{write}\n"
                                 f"`ifdef NOPE */\n`endif",
        "an escaped quotation mark": f'wire \\" ; // " \n{write}',
        "a glued macro": f"`define W $write\n"
                         f'reg [7:0] rhz_m [0:1]; initial `W/**/memh("{harm}", '
                         f"rhz_m);",
        "as it is": f"initial {shell};\n{write}",
    }


#: Those that these tools take: the simulator runs, and does no harm. The others
#: they refuse themselves.
RUN_BY_ICARUS = ("a carriage return", "a region left out",
                 "a comment in a region", "an escaped quotation mark")
RUN_BY_VERILATOR = ("a form feed", "as it is")


def compiled(suite, name, *where):
    package = suite.work / f"{name}.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package, *where)
    suite.check(result.status == 0, f"{name}: compiles {result.message[:200]}",
                result.command)
    return package


def names_of_files(suite, outside, base):
    """01, 02 and their like."""
    harm = outside.home / "harm"
    code = f'#include <cstdlib>\nstatic int x = std::system("id > {harm}");\n'
    for name in ("zz.cpp", "zz.cc", "zz.c", "zz.o", "zz.a", "zz.so", "zz.vlt",
                 "zz.f", "zz.sv.cpp", "zz.CPP", "zz", ".sv", "module.ys",
                 "a/b.mk", "x.hex"):
        package = Attacked(base, suite.work / "named.rhz")
        package.add(name, code, modules=True)
        for command in ("simulate", "synth"):
            attempt(suite, outside, f"RTL named {name}", package.save(), command,
                    names="plan.nodes[0].rtl", status=(1,))
    for name in ("zz.txt", "a.cpp", "b.sv"):
        package = Attacked(base, suite.work / "named.rhz")
        actor = next(a for a in package.node["actors"]
                     if any(str(v).endswith(".hex") for v in
                            a["config"].values()))
        key = next(k for k, v in actor["config"].items()
                   if str(v).endswith(".hex"))
        actor["config"][key] = name
        attempt(suite, outside, f"an image named {name}", package.save(),
                "simulate", names=f"config.{key}", status=(1,))
    # Names that meet ours.
    for name in ("outer.sv", "rhz_tb.sv", "rhz_tb_sink.sv", "netlist_sim.v",
                 "obj/x.sv", "design/y.sv"):
        package = Attacked(base, suite.work / "named.rhz")
        module = name.split("/")[-1].split(".")[0] + "_theirs"
        package.add(name, f"module {module}; endmodule\n", modules=True)
        attempt(suite, outside, f"RTL named {name}", package.save(), "simulate",
                "-n", 1, "--four-state", status=(0,))


def hidden(suite, outside, base):
    """03, 04 and their like: refused, and without the scan, in vain."""
    harm = outside.home / "harm"
    for label, line in hidden_lines(harm).items():
        package = Attacked(base, suite.work / "hidden.rhz").insert(line).save()
        for words in (("simulate", "-n", 1), ("simulate", "-n", 1,
                                              "--four-state")):
            attempt(suite, outside, label, package, *words, status=(1,),
                    names="rhz_")
        attempt(suite, outside, label, package, "simulate", "-n", 1,
                "--four-state", scans=False,
                status=(0,) if label in RUN_BY_ICARUS else (1,))
    for label, line in list(hidden_lines(harm).items())[::4]:
        package = Attacked(base, suite.work / "hidden.rhz").insert(line).save()
        for words in (("simulate", "-n", 1),
                      ("run", "--driver", "simulation", "-n", 1)):
            attempt(suite, outside, label, package, *words, scans=False,
                    status=(0,) if label in RUN_BY_VERILATOR else (1,))
    # What a confined simulator may not do either.
    harmless = outside.home / ".bashrc"
    for label, line in (
            ("reads the home", f'reg [7:0] rhz_m [0:9]; initial begin $readmemh('
             f'"{harmless}", rhz_m); end'),
            ("appends", f'integer f; initial begin f = $fopen("{harmless}", "a");'
             ' $fwrite(f, "x"); end'),
            ("starts a program",
             f'initial $system("touch {harm}; chmod 777 {harmless}");')):
        package = Attacked(base, suite.work / "hidden.rhz").insert(line).save()
        attempt(suite, outside, f"a simulator that {label}", package, "simulate",
                "-n", 1, scans=False, status=(0,))


def links(suite, outside, base, ice):
    """05 and its like."""
    home = outside.home
    for label, package, name, target, words in (
            ("a", base, "results/sim", home, ("simulate", "-n", 1)),
            ("b", ice, "results/nextpnr", home, ("synth", "--tool", "nextpnr")),
            ("b", base, "results/vivado", home, ("synth", "--tool", "vivado")),
            ("c", base, "nodes/node0/rtl/log.txt", home / ".bashrc",
             ("simulate", "-n", 1, "--four-state")),
            ("d", base, "nodes/node0/rtl/in0.hex", home / ".bashrc",
             ("simulate", "-n", 1, "--four-state")),
            ("e", base, "results", home, ("synth",)),
            ("e", base, "results", home, ("report",)),
            ("f", base, "report.html", home / ".bashrc", ("report",)),
            ("g", base, "model", home, ("simulate", "-n", 1)),
            ("h", base, "nodes/node0", home, ("synth",)),
            ("i", base, "segments", home, ("run", "--driver", "cpu")),
            ("j", base, "results/trace.json", home / ".bashrc", ("trace",)),
            ("k", base, "plan.json", home / ".bashrc", ("report",)),
            ("l", base, "results/synth.json", home / ".bashrc", ("synth",))):
        attacked = Attacked(package, suite.work / "linked.rhz")
        attacked.link(name, target)
        attempt(suite, outside, f"{label}: {name} is a link", attacked.path,
                *words, status=(1,), names="symbolic link")
    # Left by a vendor's tool, or by one's own build, they are no harm.
    attacked = Attacked(base, suite.work / "linked.rhz")
    attacked.link("results/vivado/node0/out/last", home)
    attacked.link("host/build/x", home)
    attempt(suite, outside, "links of other tools", attacked.path, "report",
            status=(0,))
    tools = suite.work / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "vivado").exists():
        (tools / "vivado").symlink_to(STANDINS / "tool.sh")
    attempt(suite, outside, "links of other tools are removed, not followed",
            attacked.path, "synth", "--tool", "vivado", "--tool-path", tools,
            prefix=("env", f"STANDIN_STUBS={STANDINS}", "STANDIN_PERIOD=10"))
    for kind in ("pipe", "device"):
        attacked = Attacked(base, suite.work / "linked.rhz")
        path = attacked.rtl / "theirs.hex"
        if kind == "pipe":
            os.mkfifo(path)
        else:
            attacked.link("nodes/node0/rtl/theirs.hex", "/dev/zero")
        attempt(suite, outside, f"a {kind} in a package", attacked.path,
                "simulate", "-n", 1, "--four-state", status=(1,),
                names="theirs.hex")


def build_files(suite, outside, base):
    """06 and its like: what tools run is made anew."""
    harm = outside.home / "harm"
    tools = suite.work / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("vivado", "v++"):
        if not (tools / name).exists():
            (tools / name).symlink_to(STANDINS / "tool.sh")
    u280 = compiled(suite, "u280", "--board", "alveo-u280")
    for package, flow, file, text in (
            (u280, "vitis", "Makefile", f"all:\n\tid > {harm}\n"),
            (base, "vivado", "build.tcl", f"exec touch {harm}\n"),
            (base, "vivado", "sources.tcl", f"exec touch {harm}\n")):
        attacked = Attacked(package, suite.work / "scripts.rhz")
        path = attacked.path / "nodes/node0" / flow / file
        want = path.read_text()
        path.write_text(text)
        attempt(suite, outside, f"{flow}'s {file}", attacked.path, "synth",
                "--tool", flow, "--tool-path", tools,
                prefix=("env", f"STANDIN_STUBS={STANDINS}", "STANDIN_PERIOD=10",
                        f"PATH={tools}:{os.environ['PATH']}"))
        ran = attacked.path / "results" / flow / "node0" / flow / file
        suite.check(ran.exists() and ran.read_text() == want,
                    f"{flow}'s {file} is made anew, as compile made it")


def served(suite, outside):
    """A node in software whose design is Verilated: its code runs in a process
    with sockets, which must not do what the RTL says. Not only the beginning
    and the trips of a design are code: its end is, too."""
    package = compiled(suite, "served", "--cluster", "ku060x1")
    harm, harmless = outside.home / "harm", outside.home / ".bashrc"
    place = f"127.0.0.1:{20000 + os.getpid() % 20000}"
    for label, line in (
            ("as it begins", f'initial $system("id > {harm}");'),
            ("as it ends", f'final $system("id > {harm}");'),
            ("with a file", f'integer f; initial begin f = $fopen("{harmless}",'
             ' "a"); $fwrite(f, "x"); $fclose(f); end'),
            ("with the home", 'reg [7:0] rhz_m [0:9]; initial $readmemh('
             f'"{harmless}", rhz_m);')):
        attacked = Attacked(package, suite.work / "served-hostile.rhz")
        attacked.insert(line)
        for scans in (True, False):
            words = [str(w) for w in (
                *outside.environment(scans), suite.rhizome.parent /
                "rhizome-node", attacked.save(), "node0", "--engine", "rtl",
                "--at", f"node0={place}", "--accept-changes")]
            node = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
            said = ""
            while node.poll() is None and "listens" not in said:
                said += node.stderr.readline()
            answer = {}
            if node.poll() is None:
                answer = suite.run("run", attacked.path, "-n", 2, "--json",
                                   "--accept-changes", "--trust", "--at",
                                   f"node0={place}").json or {}
                node.terminate()
            said += node.communicate(timeout=20)[1]
            changed = outside.changes()
            suite.check(
                not changed and (node.returncode == 1 and "rhz_" in said
                                 if scans and "readmemh" not in line
                                 else node.returncode == 0
                                 and answer.get("mismatches") == 0),
                f"a node {label}{'' if scans else ', unscanned'}: "
                f"{node.returncode} {changed} {answer.get('frames')} "
                f"{said[-300:]}", " ".join(words))


def netlists(suite, outside, ice):
    """22 and its like."""
    harm = outside.home / "harm"
    text = (f'module rhz_board(input clk_i, input rxd_i, output txd_o);\n'
            f'initial $system("id > {harm}");\nendmodule\n')
    for level, name in (("netlist", "netlist.v"), ("bitstream", f"{BOARD}.bin"),
                        ("bitstream", "bitstream.v")):
        for known in (False, True):
            digest = xxh128(text.encode())
            if known and not digest:
                suite.skip("libxxhash is missing")
                continue
            attacked = Attacked(ice, suite.work / "netlist.rhz")
            folder = attacked.path / "results/nextpnr"
            folder.mkdir(parents=True)
            (folder / name).write_text(text)
            (folder.parent / "nextpnr.json").write_text(json.dumps(
                {"board": BOARD, "utilization": {}, "files": [
                    {"path": name, "bytes": len(text), "checksum": digest}]
                 if known else []}))
            for scans in (True, False):
                attempt(suite, outside, f"{name}, checksum "
                        f"{'right' if known else 'missing'}", attacked.path,
                        "simulate", "--level", level, "-n", 1, scans=scans,
                        status=(1,))
    attacked = Attacked(ice, suite.work / "netlist.rhz")
    (attacked.path / "results").mkdir()
    (attacked.path / "results/nextpnr.json").write_text(json.dumps(
        {"board": str(attacked.path / "board.yaml")}))
    attempt(suite, outside, "a board of the sender's", attacked.path, "simulate",
            "--level", "netlist", "-n", 1, status=(1,), names="no name")


def targets(suite, outside, base):
    """19 and its like: a folder is replaced only if it is a package."""
    plan = (base / "plan.json").read_text()
    sums = (base / "checksums.json").read_text()
    folder = outside.home / "infrastructure"
    for label, files in (
            ("a plan.json", {"plan.json": "{}"}),
            ("a plan with a schema", {"plan.json": '{"schema": 8}'}),
            ("a package's plan alone", {"plan.json": plan}),
            ("checksums without a plan's", {
                "plan.json": plan, "checksums.json":
                    '{"checksum": "XXH3-128", "files": []}'}),
            ("checksums of something else", {"plan.json": plan,
                                             "checksums.json": "{}"}),
            ("another's plan", {"plan.json": "{}", "checksums.json": sums})):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in {**files, "main.tf": "precious"}.items():
            (folder / name).write_text(text)
        outside.before = tree(outside.home)
        result = run_program([suite.rhizome, "compile", MODEL, "--goal",
                              "throughput=1000/s", "-o", folder])
        suite.check(result.status == 1 and not outside.changes()
                    and "is no rhizome package" in result.err,
                    f"-o of a folder with {label}: {outside.changes()} "
                    f"{result.message[:200]}", result.command)
    shutil.rmtree(folder)
    copy, link = suite.work / "copy.rhz", suite.work / "link.rhz"
    shutil.rmtree(copy, ignore_errors=True)
    link.unlink(missing_ok=True)
    shutil.copytree(base, copy)
    for to in (copy, outside.home, suite.work / "nowhere"):
        link.unlink(missing_ok=True)
        link.symlink_to(to)
        outside.before = tree(outside.home)
        result = run_program([suite.rhizome, "compile", MODEL, "--goal",
                              "throughput=1000/s", "-o", link])
        suite.check(result.status == 1 and "symbolic link" in result.err
                    and link.is_symlink() and (copy / "plan.json").exists()
                    and not outside.changes(),
                    f"-o of a link: {result.message[:200]}", result.command)
    result = run_program([suite.rhizome, "compile", MODEL, "--goal",
                          "throughput=1000/s", "-o", copy])
    suite.check(result.status == 0, f"a package is replaced {result.message}",
                result.command)


def data(suite):
    """15: a program looks for its data by its own layout only."""
    root = suite.work / "root"
    shutil.rmtree(root, ignore_errors=True)
    for layout in ("usr", "home/.local"):
        program = root / layout / "bin/rhizome"
        program.parent.mkdir(parents=True)
        shutil.copy2(suite.rhizome, program)
        stranger = program.parent.parent.parent / "data"
        shutil.copytree(networks.ROOT / "data/devices", stranger / "devices")
        (stranger / "devices/planted.yaml").write_text(
            (networks.ROOT / "data/devices/xczu3eg.yaml").read_text().replace(
                "name: xczu3eg", "name: planted"))
        result = run_program([program, "targets"])
        suite.check(result.status == 1 and "planted" not in result.out
                    and "../share/rhizome" in result.err,
                    f"{layout}: data of others are not taken "
                    f"{result.message[:200]}", result.command)
        share = root / layout / "share/rhizome"
        share.parent.mkdir(parents=True)
        share.symlink_to(networks.ROOT / "data")
        result = run_program([program, "targets"])
        suite.check(result.status == 0 and "planted" not in result.out,
                    f"{layout}: those beside the program are "
                    f"{result.message[:200]}", result.command)
        # Not a build tree of rhizome's.
        (program.parent.parent / "CMakeCache.txt").write_text(
            "\nCMAKE_PROJECT_NAME:STATIC=other\n")
        result = run_program([program, "targets"])
        suite.check("planted" not in result.out, f"{layout}: in another build")


def boundary(suite, part="all"):
    outside = Outside(suite)
    base = compiled(suite, "plain")
    parts = {
        "names": lambda: names_of_files(suite, outside, base),
        "hidden": lambda: hidden(suite, outside, base),
        "links": lambda: links(suite, outside, base,
                               compiled(suite, "ice", "--board", BOARD)),
        "scripts": lambda: build_files(suite, outside, base),
        "served": lambda: served(suite, outside),
        "netlists": lambda: netlists(suite, outside, compiled(
            suite, "ice", "--board", BOARD)),
        "targets": lambda: targets(suite, outside, base),
        "data": lambda: data(suite),
    }
    for name, run in parts.items():
        if part in ("all", name):
            run()
