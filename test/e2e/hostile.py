# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Input files that are wrong on purpose: names that are words of a language,
numbers that nothing holds, files that never end or that unpack to gigabytes,
and files with one thing changed at random. Every command ends with 0, 1 or 2,
within 4 GB, without an assertion or a signal, and writes where it was told to.
mutations.py changes files; docs/trust.md states the promises."""
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib

import networks
from framework import Skip, run_program

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
DEVICES = networks.ROOT / "data/devices"
SECONDS, MEMORY_GB = 60, 4


def ended(suite, label, *args, wanted=(0, 1, 2), says="", seconds=SECONDS,
          quiet=False, memory_gb=MEMORY_GB):
    """Runs a command; it may succeed or refuse, and nothing else."""
    result = suite.run(*args, timeout=seconds, memory_gb=memory_gb)
    good = (result.status in wanted and "Assertion" not in result.err
            and "please report" not in result.err and says in result.err)
    if not good or not quiet:
        suite.check(good, f"{label}: {result.status} {result.message[:120]}",
                    result.command)
    return result


# --- Names ------------------------------------------------------------------

def kernel_mlir(name, arguments="%a: tensor<4xf64>", attributes=""):
    return (f"func.func @\"{name}\"({arguments}) -> (tensor<4xf64>{attributes}) "
            "attributes {rhizome.kernel} {\n"
            "  %e = tensor.empty() : tensor<4xf64>\n"
            "  %r = linalg.add ins(%a, %a : tensor<4xf64>, tensor<4xf64>) "
            "outs(%e : tensor<4xf64>) -> tensor<4xf64>\n"
            "  return %r : tensor<4xf64>\n}\n")


#: Names of functions that leave a folder, or that mean something to a shell,
#: to Tcl, C, LLVM's text, YAML, make or a template.
FUNCTIONS = (
    "../../../away/evil", "/tmp/rhizome-away", "$(touch harm)k", "`touch harm`k",
    "k;touch harm", "[exec touch harm]k", "x */ int y;", "a b", "-o", "--help",
    "k\\22\\0A#include </etc/passwd>\\0D", "k\\0Aset_part harm", "NAME",
    "@NAME@", "{{rtl}}", "$(shell touch harm)", "no", "main", "\\C3\\A9", "..",
    "k%s%n", "body_range", "__x", "1k", "k.k", "a" * 300)

#: Kernels' names that compilers, linkers or Python take for something else.
KERNELS = (
    "main", "malloc", "exit", "printf", "free", "sin", "abs", "numpy", "os",
    "ctypes", "NAME", "check", "c_int", "int", "threads", "EOF", "I", "NULL",
    "linux", "unix", "asm", "lambda", "class", "register", "_k", "std",
    "rhz_array", "errno", "k" * 120)

#: Arguments' names, likewise.
ARGUMENTS = (
    "asm", "noexcept", "concept", "requires", "thread_local", "wchar_t",
    "co_await", "alignas", "decltype", "nullptr", "NULL", "EOF", "I", "linux",
    "unix", "rhz_array", "check", "_call", "int", "c_int", "c_double", "status",
    "which", "threads", "arrays", "elements", "lambda", "self", "_np", "EDOM",
    "NAN", "INFINITY", "SIGINT", "INT64_MAX", "M_PI", "stdin", "errno", "bool",
    "complex", "typeof", "constinit", "module", "restrict", "iso_c_binding",
    "end", "real", "subroutine", "None", "b" * 120)


def translated(suite, folder):
    """Compiles what a kernel's folder holds for programs."""
    headers = sorted(folder.glob("*.h"))
    everything = "".join(f"#include <{name}.h>\n" for name in (
        "complex", "errno", "fenv", "float", "inttypes", "limits", "math",
        "pthread", "signal", "stdint", "stdio", "stdlib", "string", "time",
        "unistd"))
    standard = "".join(f"#include <{name}>\n" for name in (
        "algorithm", "cmath", "complex", "cstdio", "cstdlib", "functional",
        "numeric", "string", "vector"))
    commands = []
    for header in headers:
        if header.name == "rhizome_kernel.h":
            continue
        for compiler, before, ending in (("gcc", everything, "c"),
                                         ("g++", standard, "cpp")):
            source = folder / f"use_{header.stem}.{ending}"
            source.write_text(f"{before}#include \"{header.name}\"\n")
            commands.append([compiler, "-fsyntax-only", "-Wall", "-Werror",
                             "-Wno-unused-function", source])
    commands += [["gcc", "-fsyntax-only", path] for path in folder.glob("*.c")
                 if not path.name.startswith("use_")]
    if shutil.which("gfortran"):
        commands += [["gfortran", "-fsyntax-only", path.name]
                     for path in folder.glob("*.f90")]
    for path in folder.glob("*.py"):
        # Imported by its name, as programs do.
        commands.append([sys.executable, "-c",
                         "import sys; sys.path.insert(0, '.'); "
                         f"import {path.stem} as m; m.{path.stem}"])
    problems = []
    for command in commands:
        result = run_program(command, cwd=folder)
        if result.status:
            problems.append(f"{command[0]}: {result.message[:200]}")
    return problems, len(commands)


def names(suite, every):
    """Names in kernels: of functions, arguments and files; one of `every` so many
    of the functions and kernels."""
    every = int(every)
    for tool in ("gcc", "g++"):
        suite.tool(tool)
    away = suite.work / "away"
    inside = suite.work / "a/b/c"
    inside.mkdir(parents=True)
    for i, name in enumerate(FUNCTIONS[::every]):
        source = inside / f"f{i}.mlir"
        source.write_text(kernel_mlir(name))
        for label, words in (
                ("run", ("run", source)),
                ("cpu", ("compile", source, "--target", "cpu", "-o", inside / f"c{i}")),
                ("vitis-hls", ("compile", source, "--target", "vitis-hls", "--device",
                               "xcu280", "-o", inside / f"v{i}")),
                ("bambu", ("compile", source, "--target", "bambu", "--device",
                           "xcu280", "-o", inside / f"b{i}"))):
            ended(suite, f"{label} of @{name[:30]}", *words, wanted=(0,),
                  quiet=True)
        problems, count = translated(suite, inside / f"c{i}")
        suite.check(not problems and count > 3,
                    f"@{name[:30]}: {count} files are taken by compilers "
                    f"{problems}")
        script = inside / f"b{i}/bambu.sh"
        run_program(["env", "PATH=/usr/bin:/bin", "sh", script], cwd=inside)
        for path in (inside / f"v{i}").glob("*"):
            text = path.read_text()
            suite.check("touch harm" not in text and "/etc/" not in text,
                        f"@{name[:30]}: {path.name} holds nothing of the name")
    # Beside the folder, and above it.
    found = [str(p) for p in suite.work.rglob("*")
             if p.name in ("harm", "evil") or p.stem == "evil"]
    suite.check(not found and not away.exists()
                and not pathlib.Path("/tmp/rhizome-away.ll").exists(),
                f"nothing was written or run elsewhere {found}")
    for label, arguments, attributes in (
            ("of an argument", '%a: tensor<4xf64> {rhizome.name = "a */ \\22"}', ""),
            ("with a line's end", '%a: tensor<4xf64> {rhizome.name = "a\\0Ab: c"}', ""),
            ("of a result", "%a: tensor<4xf64>", ' {rhizome.name = "q\\22);"}'),
            ("twice", '%a: tensor<4xf64> {rhizome.name = "a"}, '
             '%b: tensor<4xf64> {rhizome.name = "a"}', "")):
        source = inside / "named.mlir"
        source.write_text(kernel_mlir("good", arguments, attributes))
        for words in (("run", source),
                      ("compile", source, "--device", "xcu280", "-o", inside / "named.rhz")):
            ended(suite, f"a name {label}, {words[0]}", *words, wanted=(1,),
                  says="remedy: rename")
    kernel_names(suite, every)


def kernel_names(suite, every):
    kernel = "var input {0} : [4]\nvar output y : [4]\ny = {0} + {0}\n"
    folder = suite.work / "named"
    folder.mkdir()
    for name in KERNELS[::every]:
        source = folder / f"{name}.cfd"
        source.write_text(kernel.format("a"))
        out = folder / f"{name[:40]}.kernel"
        ended(suite, f"compile {name[:40]}.cfd", "compile", source, "-o", out,
              wanted=(0,), quiet=True)
        problems, count = translated(suite, out)
        suite.check(not problems and count > 3, f"a kernel called {name[:40]}: "
                    f"{count} files {problems}")
    # All in one kernel would hide which of them is not taken.
    for begin in range(0, len(ARGUMENTS), 8):
        some = ARGUMENTS[begin:begin + 8]
        source = folder / "arguments.cfd"
        source.write_text("".join(f"var input {name} : [4]\n" for name in some)
                          + "var output y : [4]\ny = " + " + ".join(some) + "\n")
        out = folder / "arguments.kernel"
        shutil.rmtree(out, ignore_errors=True)
        ended(suite, f"compile with {some[0]} …", "compile", source, "-o", out,
              wanted=(0,), quiet=True)
        problems, count = translated(suite, out)
        suite.check(not problems and count > 3,
                    f"arguments {' '.join(some)[:60]}: {count} files {problems}")


def pages(suite):
    """Names of a model's tensors in the pages of its package."""
    from framework import needed
    onnx = needed("onnx")
    model = onnx.load(str(MODEL))
    evil = "<script>alert(1)</script>|`x`\n# h"
    old = model.graph.input[0].name
    for node in model.graph.node:
        node.input[:] = [evil if name == old else name for name in node.input]
    model.graph.input[0].name = evil
    path, package = suite.work / "pages.onnx", suite.work / "pages.rhz"
    onnx.save(model, str(path))
    result = suite.compile(path, (), "throughput=1000/s", package)
    suite.check(result.status == 0, f"compiles {result.message[:200]}", result.command)
    for name in ("README.md", "host/README.md"):
        text = (package / name).read_text()
        suite.check("<script" not in text and "\n# h" not in text
                    and "script" in text, f"{name} shows the name as text")


# --- Sizes ------------------------------------------------------------------

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(
        ">I", zlib.crc32(kind + data))


def png(width, height, color, padding, where="before"):
    row = b"\0" * (1 + (width + 7) // 8)
    packer = zlib.compressobj(9)
    pixels = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    extra = chunk(b"rhZz", b"\0" * padding) if padding else b""
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, color, 0, 0, 0))
            + (chunk(b"PLTE", b"\1\2\3\4\5\6") if color == 3 else b"")
            + (extra if where == "before" else b"")
            + chunk(b"IDAT", pixels)
            + (extra if where == "after" else b"") + chunk(b"IEND", b""))


def npy_head(count, kind="|u1"):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode()


def overlapping(path, count, data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    crc = zlib.crc32(data)
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 0, crc,
                        len(packed), len(data), 5, 0) + b"x.npy" + packed
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 8, 0, 0,
                        crc, len(packed), len(data), 5, 0, 0, 0, 0, 0, 0) + b"x.npy"
    path.write_bytes(local + entry * count + struct.pack(
        "<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(entry) * count,
        len(local), 0))


def bombs(suite):
    """Data of a few kilobytes that would take gigabytes."""
    package = suite.work / "plain.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    suite.check(result.status == 0, "compiles", result.command)
    folder = suite.work / "bombs"
    folder.mkdir()
    (folder / "padded.png").write_bytes(png(8000, 8000, 0, 12000))
    (folder / "palette.png").write_bytes(png(8000, 8000, 3, 45000))
    (folder / "after.png").write_bytes(png(9000, 9000, 3, 60000, "after"))
    (folder / "wide.png").write_bytes(png(65535, 4000, 3, 3_000_000))
    zeros = b"\0" * (1 << 20)
    for name, head, times in (("idx.gz", b"\0\0\x08\x01" + struct.pack(">I", 1 << 28), 256),
                              ("npy.gz", npy_head(1 << 28), 256),
                              ("doubles.gz", npy_head(1 << 27, "<f8"), 1024)):
        with gzip.open(folder / name, "wb", 9) as file:
            file.write(head)
            for _ in range(times):
                file.write(zeros)
    with zipfile.ZipFile(folder / "one.npz", "w", zipfile.ZIP_DEFLATED,
                         compresslevel=9) as archive:
        with archive.open("x.npy", "w") as file:
            file.write(npy_head(1 << 28))
            for _ in range(256):
                file.write(zeros)
    overlapping(folder / "overlap.npz", 200, npy_head(1 << 20) + zeros)
    for path in sorted(folder.iterdir()):
        result = ended(suite, f"{path.name} of {path.stat().st_size} bytes",
                       "simulate", package, "--level", "functional",
                       "--input", path, wanted=(1,), says=path.name)
        suite.check(result.cpu_s < 10, f"{path.name} takes {result.cpu_s:.1f} s")


def special(suite):
    """Links to devices, and pipes, in the place of every kind of file."""
    package = suite.work / "plain.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    suite.check(result.status == 0, "compiles", result.command)
    out, served = suite.work / "out", suite.work / "served.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", served, "--cluster",
                           "ku060x1")
    suite.check(result.status == 0, "compiles", result.command)
    commands = {
        "m.onnx": [("coverage", "{}"), ("compile", "{}", "-o", out),
                   ("explore", "{}"), ("analyze", "{}"),
                   ("trace", package, "--model", "{}")],
        "m.mlir": [("coverage", "{}"), ("compile", "{}", "-o", out),
                   ("run", "{}"),
                   ("compile", "{}", "--compile-from", "explore", "-o", out)],
        "k.cfd": [("explore", "{}"), ("compile", "{}", "-o", out), ("run", "{}"),
                  ("formats", "{}"), ("coverage", "{}")],
        "h.f90": [("embed", "{}", "-o", out)],
        "l.csv": [("evaluate", MODEL, "--data", MODEL, "--labels", "{}")],
        "l.txt": [("evaluate", MODEL, "--data", MODEL, "--labels", "{}")],
        "x.npy": [("simulate", package, "--level", "functional", "--input", "{}")],
        "x.png": [("run", package, "--driver", "cpu", "--input", "{}")],
        "program.bin": [("run", package, "--driver", "opencl", "--program", "{}")],
        "baseline.onnx": [("report", package, "--baseline", "{}")],
        "key": [("run", served, "--key", "{}"), ("run", served, "--manifest", "{}")],
        "hosts": [("run", served, "--driver", "mpi", "--hostfile", "{}"),
                  ("simulate", served, "--level", "cluster", "--hostfile", "{}")],
        "d.yaml": [("compile", MODEL, "--device", "{}", "-o", out),
                   ("compile", MODEL, "--cluster", "{}", "-o", out),
                   ("compile", MODEL, "--board", "{}", "-o", out),
                   ("compile", MODEL, "--steer", "{}", "-o", out),
                   ("compile", MODEL, "--config", "{}", "-o", out),
                   ("targets", "{}")],
        "p.json": [("compile", MODEL, "--plan", "{}", "-o", out),
                   ("explore", MODEL, "--constraints", "{}")],
        "bits.txt": [("compile", MODEL, "--calibration", MODEL, "--bits", "{}", "-o", out)],
    }
    folder = suite.work / "special"
    for kind in ("zero", "pipe", "null"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, all_words in commands.items():
            path = folder / name
            if kind == "pipe":
                os.mkfifo(path)
            else:
                path.symlink_to(f"/dev/{kind}")
            for words in all_words:
                words = [path if word == "{}" else word for word in words]
                # A report without its baseline says so.
                wanted = (0, 1) if "baseline" in name else (1, 2)
                result = ended(suite, f"{name} as {kind}, {words[0]}", *words,
                               wanted=wanted, seconds=10)
                suite.check(result.cpu_s < 3, f"… takes {result.cpu_s:.1f} s")


def flat(suite):
    """Trees and lists without end, and shapes that overflow."""
    folder = suite.work
    kernels = {
        "sum": "y = " + " + ".join(["a"] * 8000),
        "product": "y = " + " * ".join(["a"] * 8000),
        "index": "y[i] = " + " + ".join(["a[i]"] * 8000),
        "outer": "y = " + " # ".join(["a"] * 3000),
        "transposed": "y = a" + " ^[[0 0]]" * 4000,
        "negated": "y = " + "-" * 5000 + "a",
    }
    for name, statement in kernels.items():
        path = folder / f"{name}.cfd"
        path.write_text(f"var input a : [4]\nvar output y : [4]\n{statement}\n")
        for command in ("explore", "run", "compile"):
            ended(suite, f"{name}, {command}", command, path,
                  *(("-o", folder / "out") if command == "compile" else ()),
                  wanted=(1,), says=f"{name}.cfd:")
    path = folder / "fine.cfd"
    path.write_text("var input a : [4]\nvar output y : [4]\ny = "
                    + " + ".join(["a"] * 1000) + "\n")
    for command in ("run", "coverage"):
        ended(suite, f"a sum of 1,000 terms, {command}", command, path, wanted=(0,))
    path = folder / "chain.cfd"
    path.write_text("var input a : [4]\nvar output y : [4]\n"
                    + "".join(f"var t{i} : [4]\n" for i in range(2000))
                    + "t0 = a + a\n"
                    + "".join(f"t{i} = t{i - 1} + a\n" for i in range(1, 2000))
                    + "y = t1999 + a\n")
    ended(suite, "2,000 statements", "run", path, wanted=(0, 1))
    path = folder / "many.cfd"
    path.write_text("".join(f"var input a{i} : [2]\n" for i in range(20000))
                    + "var output y : [2]\ny = a0 + a1\n")
    result = ended(suite, "20,000 inputs", "run", path, wanted=(1,),
                   says="inputs and outputs")
    suite.check(result.cpu_s < 10, f"20,000 inputs take {result.cpu_s:.1f} s")
    largest = 2**63 - 1
    for i, shape in enumerate((f"{largest}x{largest}xf32", f"{2**32}x{2**32}xf64",
                               f"{2**62}x4xf32", f"{2**41}xf32", f"0x{largest}x{largest}xf32")):
        path = folder / f"huge{i}.mlir"
        path.write_text(f"func.func @main(%a: tensor<{shape}>) -> tensor<{shape}> {{\n"
                        f"  return %a : tensor<{shape}>\n}}\n")
        for command in ("run", "coverage", "explore", "compile"):
            ended(suite, f"tensor<{shape}>, {command}", command, path,
                  *(("-o", folder / "out") if command == "compile" else ()),
                  wanted=(1,), says="elements")


def memory(suite):
    """Where memory does not suffice, a command says so, and leaves nothing."""
    package = suite.work / "small.rhz"
    path = suite.work / "large.mlir"
    path.write_text(kernel_mlir("k").replace("tensor<4x", f"tensor<{2**31}x"))
    result = ended(suite, "16 GiB of an array", "run", path, wanted=(1,))
    suite.check("memory" in result.err, f"it says so: {result.message[:200]}",
                result.command)
    for megabytes in (200, 260, 330, 420, 550):
        kilobytes = megabytes * 1024
        words = ["bash", "-c", f"ulimit -v {kilobytes}; exec \"$@\"", "bash",
                 suite.rhizome, "compile", MODEL, "-o", package]
        result = run_program(words, timeout=SECONDS)
        left = [p.name for p in suite.work.iterdir()
                if "small" in p.name and p != package]
        suite.check(result.status in (0, 1, 127) and not left
                    and package.exists() == (result.status == 0),
                    f"compile in {megabytes} MB: {result.status} "
                    f"{result.message[-80:]} {left}", result.command)
        shutil.rmtree(package, ignore_errors=True)


def statuses(suite):
    """2 is bad usage: an option or a name that does not exist."""
    for words in (("compile", MODEL, "--device", "nothing"),
                  ("explore", MODEL, "--device", "nothing"),
                  ("analyze", MODEL, "--device", "nothing"),
                  ("explore", MODEL, "--cluster", "nothing"),
                  ("explore", MODEL, "--cluster", "nothing:2@udp-10g"),
                  ("explore", MODEL, "--cluster", "xcku060:2@nothing"),
                  ("explore", MODEL, "--board", "nothing"),
                  ("analyze", MODEL, "--link", "nothing"),
                  ("targets", "nothing"), ("explore", MODEL, "--nothing"),
                  ("nothing",)):
        ended(suite, " ".join(map(str, words[1:] or words)), *words, wanted=(2,))
    broken = suite.work / "d.yaml"
    broken.write_text("name: x\n")
    ended(suite, "a file that is wrong", "explore", MODEL, "--device", broken,
          wanted=(1,))
    ended(suite, "a file that is missing", "explore", MODEL, "--device",
          suite.work / "none.yaml", wanted=(1,))
