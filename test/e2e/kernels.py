# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels from files to programs: the results of C, C++ and Fortran programs
that call them, the C99 text, the language's page, MLIR modules."""
import ast
import json
import math
import pathlib
import re
import shlex
import shutil
import sys

import framework

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/kernels"
SNIPPET = re.compile(r"^```(cfd|fortran|cpp)\n(.*?)^```", re.M | re.S)

# Applies the kernel to dense arrays, strided views and a batch on threads, and
# prints the results as bits.
MAIN = r"""
#include "helmholtz.h"
#include <stdio.h>
#include <string.h>
static double S[121], D[1331], u[1331], v[1331];
int main(void) {
  unsigned long state = 1;
  double *all[] = {S, D, u};
  int sizes[] = {121, 1331, 1331};
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < sizes[a]; ++i) {
      state = (state * 1103515245u + 12345u) % 2147483648u;
      all[a][i] = (double)state / 1073741824.0 - 1.0;
    }
  helmholtz(S, D, u, v);
  for (int i = 0; i < 1331; ++i)
    printf("%.17g\n", v[i]);
  return 0;
}
"""
VIEWS = r"""
#include "helmholtz.h"
#include <cmath>
#include <cstdio>
#include <vector>
int main() {
  const int n = 11, elements = 7, size = n * n * n;
  std::vector<double> S(n * n), D(size), u(2 * size * elements),
      v(size * elements), w(size);
  for (std::size_t i = 0; i < S.size(); ++i) S[i] = std::sin(i + 1.0);
  for (std::size_t i = 0; i < D.size(); ++i) D[i] = std::cos(i + 2.0);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(i * 3.0);
  rhizome::view<double, 2> s(S.data(), {n, n});
  rhizome::view<double, 3> d(D.data(), {n, n, n});
  // Every second value, elements one after the other, on three threads.
  rhizome::view<double, 3> x(u.data(), {n, n, n}, {2 * n * n, 2 * n, 2});
  rhizome::view<double, 3> y(v.data(), {n, n, n});
  helmholtz_batch(elements, 3, s, d, {x, 2 * size}, {y, size});
  for (int e = 0; e < elements; ++e) {
    // Column-major output of one element.
    auto z = rhizome::view<double, 3>::column_major(w.data(), {n, n, n});
    helmholtz(s, d, rhizome::view<double, 3>(u.data() + e * 2 * size,
                                             {n, n, n}, {2 * n * n, 2 * n, 2}),
              z);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
          if (v[e * size + (i * n + j) * n + k] != z(i, j, k)) {
            std::printf("element %d differs at %d %d %d\n", e, i, j, k);
            return 1;
          }
  }
  try {
    helmholtz(s, d, rhizome::view<double, 3>(u.data(), {n, n, n - 1}), y);
    return 1;
  } catch (const std::invalid_argument &) {
  }
  return 0;
}
"""


def build(suite, *command):
    result = framework.run_program(command, cwd=suite.work)
    return suite.check(result.status == 0 and not result.err.strip(),
                       f"{' '.join(str(c) for c in command[:3])} … {result.message}",
                       result.command)


def values(text):
    return [float(line) for line in text.split()]


def distance(a, b):
    largest = max(map(abs, a))
    return max(abs(x - y) for x, y in zip(a, b)) / largest


def kernels(suite):
    """Examples, C, C++, C99."""
    for name in ("helmholtz", "interpolation", "gradient", "heat",
                 "convolution", "pooling"):
        source = EXAMPLES / f"{name}.cfd"
        result = suite.run("simulate", source, "--level", "functional",
                           "-n", "3", "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0 and
                    answer.get("frames") == 3 and
                    not {"predicted", "sim_cycles_per_s"} & set(answer) and
                    answer.get("largest_error", 1) < 1e-12,
                    f"{name}: within 1e-12 of its formula", result.command)
    # What is fused with a product keeps the product's result.
    (suite.work / "kept.cfd").write_text(
        "var input w : [4]\nvar input m : [4]\nvar output v : [4]\n"
        "var output x : [4]\nv[i] = w[i] * w[i]\n"
        "x[i] = sum(j) w[j] * m[i] + w[i]\n")
    result = suite.run("run", suite.work / "kept.cfd", "--check", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"results that fusion keeps {result.message}", result.command)
    folder = suite.work / "out"
    result = suite.run("compile", EXAMPLES / "helmholtz.cfd", "--target", "cpu",
                       "-o", folder, "--json")
    answer = result.json or {}
    work = answer.get("work", {})
    suite.check(work.get("chosen") == {"macs": 87846, "operations": 177023} and
                work.get("direct", {}).get("macs") == 2 * 1771561,
                f"helmholtz: 2 × 43,923 multiply-accumulates, 177,023 "
                f"operations {result.message if result.status else ''}",
                result.command)
    suite.check(set(answer) == {"ok", "package", "seconds", "work", "inputs",
                                "outputs", "statements", "files"},
                f"compile --json says what there is: {sorted(answer)}",
                result.command)

    suite.tool("gcc")
    (suite.work / "main.c").write_text(MAIN)
    (suite.work / "views.cpp").write_text(VIEWS)
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-O2", f"-I{folder}"]
    good = build(suite, "gcc", *strict, "main.c", folder / "helmholtz.o", "-o",
                 "object", "-lpthread", "-lm")
    good &= build(suite, "gcc", *strict, "main.c", folder / "helmholtz.c", "-o",
                  "c99", "-lm")
    if good:
        runs = [framework.run_program([suite.work / name])
                for name in ("object", "c99")]
        error = distance(*(values(run.out) for run in runs))
        suite.check(error < 1e-12, f"C99 and the object agree ({error:.1e})")
    if build(suite, "g++", "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-O2",
             f"-I{folder}", "views.cpp", folder / "helmholtz.o", "-o", "views",
             "-lpthread"):
        run = framework.run_program([suite.work / "views"])
        suite.check(run.status == 0, f"C++ views and batches {run.message}")

    # Damaged and missing files end in a message.
    (suite.work / "bad.cfd").write_text("var input a : [3]\nb = a\n")
    result = suite.run("compile", suite.work / "bad.cfd", "--target", "cpu")
    suite.check(result.status == 1 and "bad.cfd:2:1: error: 'b' is not declared"
                in result.err, "an error has its place", result.command)


def kernel_page(suite):
    """Every snippet of the language's page compiles."""
    text = (ROOT / "docs/kernel-language.md").read_text()
    count = 0
    for number, match in enumerate(SNIPPET.finditer(text)):
        language, code = match.groups()
        ending = {"cfd": "cfd", "fortran": "f90", "cpp": "cpp"}[language]
        path = suite.work / f"snippet{number}.{ending}"
        path.write_text(code)
        if language == "cfd":
            result = suite.run("explore", path)
        else:
            result = suite.run("embed", path, "-o", suite.work / "embedded")
        line = text.count("\n", 0, match.start()) + 1
        suite.check(result.status == 0, f"docs/kernel-language.md:{line} "
                    f"{result.message if result.status else ''}", result.command)
        if result.status == 0 and language != "cfd":
            written = (suite.work / "embedded" / path.name).read_text()
            shift = 2 if language == "cpp" else 0
            suite.check(written.count("\n") == code.count("\n") + shift,
                        "embedding keeps the number of lines")
            suite.tool("gcc")
            if language == "cpp":
                build(suite, "g++", "-c", "-Wall", f"-I{suite.work}/embedded",
                      suite.work / "embedded" / path.name, "-o", "embedded.o")
        count += 1
    suite.check(count > 8, f"{count} snippets")


def helmholtz_of(suite, points):
    """The example for another number of points per side."""
    text = (EXAMPLES / "helmholtz.cfd").read_text()
    text = re.sub(r"\b11\b", str(points), text)
    path = suite.work / f"helmholtz{points}.cfd"
    path.write_text(text)
    return path


def processors():
    """This processor and older ones whose instructions it has."""
    info = pathlib.Path("/proc/cpuinfo")
    flags = set(re.search(r"^flags\s*:(.*)", info.read_text(), re.M)[1].split()
                if info.exists() and "flags" in info.read_text() else ())
    zen4 = {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_bf16",
            "avx512_vbmi2", "gfni", "vaes", "avx512_vpopcntdq", "bmi2", "sha_ni"}
    for name, needs in (("native", set()), ("x86-64-v3", {"avx2", "fma", "bmi2"}),
                        ("x86-64-v4", {"avx512bw", "avx512vl", "avx512dq"}),
                        ("znver4", zen4),
                        ("znver5", zen4 | {"avx_vnni", "avx512_vp2intersect"})):
        if needs <= flags:
            yield name


def kernel_formats(suite):
    """Kernels in number formats: published errors, an overflow and the input
    that causes it, compiled code against the interpreter."""
    formats = "fixed<24,40>", "fixed<8,24>"
    for points, published in ((11, (9.39e-22, 3.58e-12)), (7, None)):
        kernel = helmholtz_of(suite, points)
        result = suite.run("formats", kernel, "--formats", *formats, "-n", "40",
                           "--json")
        answer = {p["format"]: p["mean_square_error"]
                  for p in (result.json or {}).get("formats", [])}
        for number, format in enumerate(formats):
            error = answer.get(format, 1.0)
            wanted = published[number] if published else None
            suite.check(abs(error / wanted - 1) < 0.15 if wanted else
                        error < 1e-11, f"p = {points}, {format}: mean square "
                        f"error {error:.3g}, published {wanted}", result.command)
    for annotation in ("fixed<24,40>", "fixed<8,24>", "half", "float<6,9>"):
        result = suite.run("run", kernel, "--numbers", annotation, "--check",
                           "-n", "2", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{annotation}: the interpreter's bits "
                    f"{result.message if result.status else ''}", result.command)
    # On every processor that this one can stand for.
    (suite.work / "add.cfd").write_text(
        "var input u : [2 3]\nvar input w : [2 3]\nvar output v : [2 3]\n"
        "v = u + w\n")
    for name, frames in ("add.cfd", "500"), (kernel, "2"):
        for cpu in processors():
            result = suite.run("run", suite.work / name, "--numbers",
                               "fixed<6,10>", "--check", "-n", frames, "--cpu",
                               cpu, "--json")
            suite.check((result.json or {}).get("mismatches") == 0,
                        f"{cpu}: the interpreter's bits "
                        f"{result.message if result.status else ''}",
                        result.command)
    # The input found by the search does overflow, as saturation shows.
    result = suite.run("formats", kernel, "--check-ranges", "--formats",
                       "fixed<8,24>", "--json")
    shown = [place for place in (result.json or {}).get("overflows", [])
             if place["shown"]]
    suite.check(shown and {len(v) for v in shown[0]["input"].values()} ==
                {49, 343} and not -128 <= shown[0]["reached"] < 128,
                f"8.24 overflows for an input ({len(shown)} places)",
                result.command)
    # The number format of a folder's kernel was chosen when it was compiled.
    folder = suite.work / "compiled"
    suite.run("compile", kernel, "--numbers", "half", "-o", folder)
    files = [suite.work / "a.npy", suite.work / "b.npy"]
    suite.run("run", kernel, "--numbers", "half", "--output", files[0])
    result = suite.run("run", folder, "--output", files[1])
    suite.check(result.status == 0 and
                files[0].read_bytes() == files[1].read_bytes(),
                f"the folder remembers its format {result.message}",
                result.command)
    for command, option in (("compile", "--number-format=fixed<6,10>"),
                            ("explore", "--goal=max-throughput"),
                            ("run", "--patience-s=3"),
                            ("simulate", "--loss=0.1"),
                            ("simulate", "--level=rtl")):
        result = suite.run(command, kernel, option)
        suite.check(result.status == 2 and option.split("=")[0] in result.err,
                    f"{command} {option} of a kernel is refused",
                    result.command)
    result = suite.run(
        "compile",
        EXAMPLES.parent / "tiny-digits/tiny_digits_qdq_int8.onnx",
        "--numbers", "half")
    suite.check(result.status == 2 and "--numbers" in result.err,
                "--numbers of a network is refused", result.command)


STAYS = """
var input  A : [3 3]
var input  u : [3]
var output v : [3]
v = (A # u) . [[1 2]]
"""


def kernel_stages(suite, kernel, package):
    """Two lanes of seven stages, of which S is read once."""
    common = ("--numbers", "fixed<8,24>", "--device", "xcu280")
    result = suite.run("compile", kernel, *common, "--stages", "7",
                       "--resident", "S", "--lanes", "2", "-o", package)
    plan = json.loads((package / "plan.json").read_text())
    unit = plan["kernel"]
    cycles = plan["predicted"]["interval_cycles"]
    suite.check(result.status == 0 and unit["dataflow"] and
                unit["lanes"] == 2 and len(unit["stages"]) == 11 and
                cycles == max(s["cycles"] for s in unit["stages"]) and
                [s["tensors"] for s in unit["streams"] if s["once"]] == [["S"]],
                f"stages {result.message}", result.command)
    text = (package / "nodes/node0/memories.yaml").read_text()
    suite.check("arrays:" in text and "cgraph:" in text and
                "slots: 2" in text, f"memories.yaml: {text}")
    result = suite.run("simulate", package, "-n", "5", "--json")
    answer = result.json or {}
    measured = answer.get("measured") or {}
    suite.check(answer.get("mismatches") == 0 and
                measured.get("interval_cycles") == cycles and
                measured.get("latency_cycles") ==
                plan["predicted"]["latency_cycles"],
                f"stages in RTL, {cycles} cycles: {answer} {result.message}",
                result.command)
    # Random elements are drawn in batches of 1,024; what stays, stays.
    many = suite.work / "stays.rhz"
    stays = suite.work / "stays.cfd"
    stays.write_text(STAYS)
    suite.run("compile", stays, *common, "--resident", "A", "-o", many)
    result = suite.run("simulate", many, "-n", "1030", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"A stays: {result.json} {result.message}", result.command)
    result = suite.run("simulate", package, "-n", "5", "--stalls-in", "30",
                       "--stalls-out", "30", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"stages under stalls {result.message}", result.command)
    for options, wanted in ((("--resident", "T"), "reads no 'T'"),
                            (("--resident", "S", "--resident", "u",
                              "--resident", "D"), "no input is left")):
        result = suite.run("compile", kernel, *common, *options)
        suite.check(result.status == 2 and wanted in result.err,
                    f"{options}: {result.err}", result.command)
    result = suite.run("explore", kernel, *common, "--systems", "--resident",
                       "S", "--json")
    best = (result.json or {}).get("best", {})
    suite.check(best.get("lanes", 0) > 26 and best.get("bound") and
                any(p["pareto"] for p in result.json["points"]),
                f"systems: {best} {result.message}", result.command)
    result = suite.run("explore", kernel, *common, "--systems")
    suite.check("bound" in result.out and "front" in result.out,
                f"systems for people: {result.out}", result.command)
    result = suite.run("explore", kernel, *common, "--systems", "--stages", "2")
    suite.check(result.status == 2 and "--systems chooses" in result.err,
                f"systems with stages: {result.err}", result.command)
    result = suite.run("compile", kernel, "--stages", "2")
    suite.check(result.status == 2 and "name a --device" in result.err,
                f"stages of the CPU: {result.err}", result.command)


def kernel_hardware(suite):
    """A kernel's package: plan, simulated RTL with the predicted cycles, the
    same results as on the CPU; altered and missing files are named."""
    suite.tool("verilator")
    kernel = helmholtz_of(suite, 4)
    package = suite.work / "unit.rhz"
    result = suite.run("compile", kernel, "--numbers", "fixed<8,24>",
                       "--device", "xcu280", "--clock-mhz", "250", "-o",
                       package, "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("package") == str(package),
                f"compile {result.message if result.status else ''}",
                result.command)
    plan = json.loads((package / "plan.json").read_text())
    unit = plan["kernel"]
    cycles = plan["predicted"]["interval_cycles"]
    suite.check(plan["device"] == "xcu280" and plan["clock_mhz"] == 250 and
                [t["name"] for t in unit["inputs"] + unit["outputs"]]
                == ["S", "u", "D", "v"] and
                all(t["format"] == "fixed<8,24>" for t in unit["inputs"]) and
                cycles == unit["read_cycles"] + unit["compute_cycles"] +
                unit["write_cycles"] and
                unit["compute_cycles"] == sum(n["cycles"] for n in unit["nests"])
                and len(unit["nests"]) == 7 and
                unit["nests"][0]["iterations"] == 256 and
                unit["nests"][0]["place"].startswith("helmholtz4.cfd:13:"),
                f"the plan of the unit: {unit}")
    files = [str(p.relative_to(package)) for p in package.rglob("*")]
    suite.check({"nodes/node0/rtl/rhz_top.sv", "nodes/node0/vivado/build.tcl",
                 "model/kernel.cfd", "model/options.json", "checksums.json"} <=
                set(files), f"its files: {sorted(files)}")
    again = suite.work / "again.rhz"
    suite.run("compile", kernel, "--numbers", "fixed<8,24>", "--device",
              "xcu280", "--clock-mhz", "250", "-o", again)
    suite.check((again / "checksums.json").read_bytes() ==
                (package / "checksums.json").read_bytes(), "the same bytes")

    array = suite.work / "rtl.npy", suite.work / "cpu.npy"
    result = suite.run("simulate", package, "-n", "5", "--output", array[0],
                       "--json")
    answer = result.json or {}
    measured = answer.get("measured") or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0 and
                answer.get("frames") == 5 and
                measured.get("interval_cycles") == cycles and
                measured.get("latency_cycles") ==
                plan["predicted"]["latency_cycles"],
                f"cycles as predicted, {cycles}: {answer} {result.message}",
                result.command)
    suite.run("run", package / "model", "-n", "5", "--output", array[1])
    suite.check(array[0].read_bytes() == array[1].read_bytes(),
                "the RTL's results are the CPU's")
    for options in (("--stalls-in", "40", "--stalls-out", "40"),
                    ("--four-state", "-n", "1")):
        if "--four-state" in options:
            suite.tool("iverilog")
        result = suite.run("simulate", package, *options, "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{options[0]} {result.message}", result.command)
    result = suite.run("simulate", package)
    suite.check("predicted" in result.out and
                "0 mismatches with the evaluator's bits" in result.out,
                f"for people: {result.out}", result.command)
    result = suite.run("trace", package, "--json")
    suite.check((result.json or {}).get("kernel") and
                (package / "results/trace.json").exists(),
                f"trace of a kernel's package: {result.message}",
                result.command)
    result = suite.run("compile", package)
    suite.check(result.status == 1 and "package of a kernel" in result.err,
                f"compile of a package: {result.err}", result.command)
    for option in ("--numbers=half", "--level=cluster", "--loss=0.1"):
        result = suite.run("simulate", package, option)
        suite.check(result.status == 2 and option.split("=")[0] in result.err,
                    f"simulate {option}: {result.err}", result.command)

    stages = suite.work / "stages.rhz"
    kernel_stages(suite, kernel, stages)

    # RTL that computes something else is found, if it is taken at all.
    rtl = package / "nodes/node0/rtl/rhz_top.sv"
    text = rtl.read_text()
    rtl.write_text(re.sub(r"signed\((\w+)\) \* \$signed\(\w+\)",
                          r"signed(\1) * $signed(\1)", text, count=1))
    result = suite.run("simulate", package)
    suite.check(result.status == 1 and
                "'nodes/node0/rtl/rhz_top.sv' was altered" in result.err,
                f"altered RTL: {result.err}", result.command)
    result = suite.run("simulate", package, "--accept-changes", "--json")
    answer = result.json or {}
    suite.check(result.status == 1 and answer.get("mismatches", 0) > 0 and
                "of 'v' of frame 0 has the bits" in
                answer.get("first_mismatch", ""),
                f"wrong RTL: {answer} {result.message}", result.command)
    rtl.write_text(text)
    source = package / "model/kernel.cfd"
    shutil.copy(EXAMPLES / "interpolation.cfd", source)
    result = suite.run("simulate", package, "--accept-changes")
    suite.check(result.status == 1 and "is not the kernel" in result.err,
                f"another kernel: {result.err}", result.command)
    source.unlink()
    (package / "model/kernel.mlir").unlink(missing_ok=True)
    result = suite.run("simulate", package)
    suite.check(result.status == 1 and "'model/kernel.cfd' is missing" in
                result.err, f"a missing kernel: {result.err}", result.command)


def padded(suite):
    """A module that puts a sum into a tensor of zeros."""
    path = suite.work / "padded.mlir"
    path.write_text("""func.func @f(%a: tensor<2x3xf64>) -> tensor<4x3xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x3xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x3xf64>) -> tensor<4x3xf64>
  %init = tensor.empty() : tensor<2x3xf64>
  %b = linalg.add ins(%a, %a : tensor<2x3xf64>, tensor<2x3xf64>)
    outs(%init : tensor<2x3xf64>) -> tensor<2x3xf64>
  %c = tensor.insert_slice %b into %zeros[1, 0] [2, 3] [1, 1]
    : tensor<2x3xf64> into tensor<4x3xf64>
  return %c : tensor<4x3xf64>
}
""")
    return path


# Parts that are computed in their places, and those that cannot be: their
# tensor is read later, or by themselves, or is an input, or they occur twice.
PARTS = """
var input u : [4]
var input output v : [3 4]
var output w : [3 4]
var output x : [2 4]
var output y : [2 2 4]
var t : [3 4]
t[0,j] = u[j] + 1
t[1,j] = 2 * u[j]
t[2,j] = u[3-j]
w[i,j] = t[i,j] + v[i,j]
t[1,j] = t[2,3-j] + t[1,j]
x[i,j] = t[i+0,j] + t[i+1,j]
v[0,j] = v[2,j] + u[j]
v[2,j] = v[0,3-j]
y = [ [u u] [(u + u) u] ]
"""


def kernel_parts(suite):
    """Tensors that are put together, read in part, and with halos, in RTL."""
    suite.tool("verilator")
    (suite.work / "parts.cfd").write_text(PARTS)
    kernels = (suite.work / "parts.cfd", padded(suite), EXAMPLES / "gradient.cfd",
               EXAMPLES / "heat.cfd", EXAMPLES / "pooling.cfd",
               EXAMPLES / "convolution.cfd")
    fixed = "--numbers", "fixed<6,10>"
    for kernel, numbers in [(k, fixed) for k in kernels] + [
            (k, ()) for k in kernels[:3]]:
        package = suite.work / f"{kernel.stem}.rhz"
        result = suite.run("compile", kernel, *numbers, "--device", "xcu280",
                           "-o", package)
        suite.check(result.status == 0, f"{kernel.name} {result.message}",
                    result.command)
        plan = json.loads((package / "plan.json").read_text())
        result = suite.run("simulate", package, "-n", "2", "--json")
        answer = result.json or {}
        suite.check(answer.get("mismatches") == 0 and
                    answer.get("measured", {}).get("interval_cycles") ==
                    plan["predicted"]["interval_cycles"],
                    f"{kernel.name}: the evaluator's bits, cycles as predicted:"
                    f" {answer} {result.message}", result.command)
        result = suite.run("simulate", package, "-n", "1", "--stalls-in", "30",
                           "--stalls-out", "30", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{kernel.name} with stalls {result.message}",
                    result.command)


def kernel_floats(suite):
    """Kernels in floating point: compile, coverage, simulate and synth tell one
    truth, in double, in a custom format and with functions of floats."""
    suite.tool("verilator")
    functions = suite.work / "functions.cfd"
    functions.write_text("var input a : [4 5]\nvar input b : [4 5]\n"
                         "var output c : [4 5]\nvar output d : [4 5]\n"
                         "c[i,j] = a[i,j] / (b[i,j] * b[i,j] + 1)\n"
                         "d[i,j] = sqrt(abs(c[i,j])) - min(b[i,j], 0.5)\n")
    for kernel, numbers in ((helmholtz_of(suite, 4), ()),
                            (helmholtz_of(suite, 4),
                             ("--numbers", "float<6,9>")),
                            (functions, ()),
                            (functions, ("--numbers", "half"))):
        package = suite.work / "floats.rhz"
        result = suite.run("compile", kernel, *numbers, "--device", "xcu280",
                           "--clock-mhz", "300", "-o", package, "--json")
        suite.check(result.status == 0, f"compile {result.message}",
                    result.command)
        plan = json.loads((package / "plan.json").read_text())
        unit = plan["kernel"]
        wanted = "double" if not numbers else numbers[1]
        suite.check(all(t["name"] and t["format"] == wanted
                        for t in unit["inputs"] + unit["outputs"]),
                    f"tensors: {unit['inputs']} {unit['outputs']}")
        result = suite.run("coverage", kernel, *numbers, "--json")
        suite.check((result.json or {}).get("host") == 0,
                    f"coverage: {result.json}", result.command)
        for stalls in ((), ("--stalls-in", "30", "--stalls-out", "30")):
            result = suite.run("simulate", package, "-n", "3", *stalls,
                               "--json")
            answer = result.json or {}
            suite.check(answer.get("mismatches") == 0,
                        f"{kernel.name} {numbers} {stalls}: {answer} "
                        f"{result.message}", result.command)
            measured = (answer.get("measured") or {}).get("interval_cycles")
            suite.check(stalls or measured ==
                        plan["predicted"]["interval_cycles"],
                        f"cycles as predicted: {answer}", result.command)
    suite.tool("yosys")
    result = suite.run("synth", package, "--json")
    answer = result.json or {}
    suite.check(result.status == 0, f"synth: {answer} {result.message}",
                result.command)
    # A softmax: exponentials, quotients.
    softmax = suite.work / "softmax.cfd"
    softmax.write_text(
        "var input a : [3 4]\nvar output y : [3 4]\nvar m : [3]\n"
        "var e : [3 4]\nvar s : [3]\nm[i] = max(j) a[i,j]\n"
        "e[i,j] = exp(a[i,j] - m[i])\ns[i] = sum(j) e[i,j]\n"
        "y[i,j] = e[i,j] / s[i]\n")
    for numbers in ("half", "fixed<6,10>"):
        package = suite.work / "softmax.rhz"
        result = suite.run("compile", softmax, "--device", "xcu280",
                           "--numbers", numbers, "-o", package)
        suite.check(result.status == 0, f"softmax: {result.message}",
                    result.command)
        result = suite.run("simulate", package, "-n", "2", "--stalls-in", "30",
                           "--stalls-out", "30", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"softmax: {result.json} {result.message}", result.command)


def kernel_parallel(suite):
    """Copies of nests' bodies, chosen for a goal or by hand: the evaluator's
    bits, the predicted cycles, and fewer of them."""
    # A larger device is hardly slower.
    cycles = {}
    for device in ("xcu280", "xcu250", "xczu7ev"):
        result = suite.run("explore", EXAMPLES / "helmholtz.cfd", "--numbers",
                           "fixed<8,24>", "--device", device, "--goal",
                           "max-throughput", "--json")
        cycles[device] = result.json["predicted"]["interval_cycles"]
    suite.check(cycles["xcu250"] < 1.1 * cycles["xcu280"],
                f"Helmholtz at its fastest: {cycles}", result.command)
    # And one where the fastest nests leave nothing for a wide border.
    suite.check(cycles["xczu7ev"] < 1.1 * cycles["xcu280"],
                f"Helmholtz with a border as fast as the nests: {cycles}",
                result.command)
    suite.tool("verilator")
    chain = suite.work / "chain.cfd"
    chain.write_text("var input a : [6 8]\nvar input b : [8 5]\n"
                     "var input c : [5 7]\nvar output d : [6 7]\n"
                     "var t : [6 5]\nt = a # b . [[1 2]]\n"
                     "d = t # c . [[1 2]]\n")
    device = ("--device", "xcu280", "--clock-mhz", "300")
    cycles = {}
    for numbers in ("fixed<6,10>", "float<5,8>"):
        for options in ((), ("--goal", "max-throughput,dsp=24"),
                        ("--copies", "1=4x2x2"),
                        ("--goal", "throughput=1200000/s")):
            package = suite.work / "parallel.rhz"
            result = suite.run("compile", chain, "--numbers", numbers, *device,
                               *options, "-o", package, "--json")
            suite.check(result.status == 0, f"compile {result.message}",
                        result.command)
            predicted = (result.json or {}).get("predicted", {})
            cycles[numbers, options] = result.json["kernel"]["compute_cycles"]
            suite.check("dsp=24" not in str(options) or
                        0 < predicted["dsp"] <= 24, f"DSPs: {predicted}",
                        result.command)
            suite.check("throughput=" not in str(options) or
                        predicted["throughput_per_s"] >= 1200000,
                        f"goal: {predicted}", result.command)
            for stalls in ((), ("--stalls-in", "30", "--stalls-out", "30")):
                result = suite.run("simulate", package, "-n", "3", *stalls,
                                   "--json")
                answer = result.json or {}
                measured = answer.get("measured") or {}
                suite.check(answer.get("mismatches") == 0 and
                            (stalls or measured.get("interval_cycles") ==
                             predicted["interval_cycles"]),
                            f"{numbers} {options}: {answer} {result.message}",
                            result.command)
        alone = cycles[numbers, ()]
        suite.check(all(now < alone for (n, options), now in cycles.items()
                        if n == numbers and options),
                    f"fewer cycles: {cycles}")
    for options, wanted in ((("--copies", "x=2"), "has no nest 'x'"),
                            (("--copies", "1=2"), "which cannot have the copies 2"),
                            (("--copies", "1=2y"), "is not NEST=NxN"),
                            (("--goal", "throughput=1000000000/s"),
                             "no copies of this kernel")):
        result = suite.run("compile", chain, "--numbers", "fixed<6,10>",
                           *device, *options, "-o", suite.work / "no.rhz")
        suite.check(result.status in (1, 2) and wanted in result.err,
                    f"{options}: {result.err}", result.command)
    for option in ("--copies=1=2x1x1", "--goal=max-throughput"):
        result = suite.run("compile", chain, option)
        suite.check(result.status == 2 and "name a --device" in result.err,
                    f"{option}: {result.err}", result.command)
    # Doubles as they are: contractions become loop nests first.
    package = suite.work / "native.rhz"
    result = suite.run("compile", helmholtz_of(suite, 4), "--device", "xcu280",
                       "--goal", "max-throughput,dsp=60", "-o", package)
    suite.check(result.status == 0, f"doubles {result.message}", result.command)
    result = suite.run("simulate", package, "-n", "2", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"doubles: {result.json} {result.message}", result.command)


def kernel_words(suite):
    """Several words of a tensor in a beat: layout, cycles and bits."""
    suite.tool("verilator")
    kernel = helmholtz_of(suite, 4)
    common = ("--numbers", "fixed<8,24>", "--device", "xcu280")
    package = suite.work / "wide.rhz"
    for options, words in ((("--words", "8"), 8), (("--words", "5"), 5),
                           (("--words", "6", "--lanes", "2", "--stages", "3",
                             "--resident", "S"), 6),
                           (("--goal", "max-throughput,dsp=60"), None),
                           (("--goal", "min-resources"), 1)):
        result = suite.run("compile", kernel, *common, *options, "-o", package,
                           "--json")
        suite.check(result.status == 0, f"compile {result.message}",
                    result.command)
        plan = json.loads((package / "plan.json").read_text())
        unit, node = plan["kernel"], plan["nodes"][0]
        got = unit["streams"][0]["words"]
        suite.check(got == words or words is None and got > 3,
                    f"{options}: {got} words in a beat")
        sizes = {t["name"]: t["words"] for t in unit["inputs"] +
                 unit["outputs"]}
        for stream in unit["streams"]:
            port, = (p for p in node["ports"]["stream"]
                     if p["port"] == stream["port"])
            lanes = 1 if stream["once"] else unit["lanes"]
            beats = sum(-(-sizes[t] // got) for t in stream["tensors"])
            suite.check(port["data_width"] == 32 * got * lanes and
                        port["shape"] == [beats * got * lanes],
                        f"{options}: {stream} {port}")
        for stage in unit["stages"]:
            suite.check(sum(stage["part_cycles"]) == stage["cycles"],
                        f"parts of a stage: {stage}")
        for extra in ((), ("--stalls-in", "30", "--stalls-out", "30"),
                      ("--four-state",)):
            result = suite.run("simulate", package, "-n", "3", *extra,
                               "--json")
            answer = result.json or {}
            measured = answer.get("measured") or {}
            wanted = plan["predicted"]
            suite.check(answer.get("mismatches") == 0 and
                        (extra or all(measured.get(key) == wanted[key] for key
                                      in ("interval_cycles",
                                          "latency_cycles"))),
                        f"{options} {extra}: {answer} {result.message}",
                        result.command)
    for options in (("--words", "4"), ("--words", "0", "--device", "xcu280")):
        result = suite.run("compile", kernel, *options)
        suite.check(result.status == 2 and "--words" in result.err,
                    f"{options}: {result.err}", result.command)
    result = suite.run("compile", suite.work / "none.cfd", *common)
    suite.check(result.status == 1 and "check the path" in result.err,
                f"a missing file: {result.err}", result.command)


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def kernel_plans(suite):
    """--plan gives a kernel's package again, byte for byte; what is edited in
    the plan's choice is built; plans of something else are refused."""
    fixed = ("--numbers", "fixed<8,24>")
    first, second = suite.work / "first.rhz", suite.work / "second.rhz"

    def compiled(kernel, package, *options):
        return suite.run("compile", EXAMPLES / f"{kernel}.cfd", *options, "-o",
                         package)

    for kernel, device, *options in (
            ("interpolation", "xcu280", "--goal", "max-throughput"),
            ("helmholtz", "xcu280", "--stages", "3", "--resident", "S",
             "--system", "--lanes", "2", "--units", "3"),
            ("convolution", "xczu3eg", "--goal", "throughput=100000/s,dsp=100"),
            ("heat", "xczu3eg", "--words", "3", "--clock-mhz", "150")):
        target = (*fixed, "--device", device)
        result = compiled(kernel, first, *target, *options)
        good = suite.check(result.status == 0, f"{kernel}: {result.message}",
                           result.command)
        result = compiled(kernel, second, *target, "--plan", first)
        suite.check(good and result.status == 0 and
                    files_of(first) == files_of(second),
                    f"{kernel}: --plan gives the same package {result.message}",
                    result.command)
    # One that is slower than its goal was: the choice decides.
    target = (*fixed, "--device", "xczu3eg")
    compiled("convolution", first, *target, "--goal", "throughput=100000/s")
    plan = json.loads((first / "plan.json").read_text())
    plan["kernel"]["choice"] |= {"nests": [], "sums": [], "borders": []}
    edited = suite.work / "edited.json"
    edited.write_text(json.dumps(plan))
    result = compiled("convolution", second, *target, "--plan", edited)
    built = json.loads((second / "plan.json").read_text())
    suite.check(result.status == 0 and
                built["predicted"]["throughput_per_s"] < 100000,
                f"a plan without its copies {result.message}", result.command)
    compiled("heat", first, *target, "--words", "3", "--clock-mhz", "150")
    # An edited choice: what the plan describes beside it is not read.
    plan = json.loads((first / "plan.json").read_text())
    plan["kernel"]["choice"] |= {"lanes": 2, "words": 1, "borders": [],
                                 "stages": 1}
    edited.write_text(json.dumps(plan))
    zynq = (*fixed, "--device", "xczu3eg")
    result = compiled("heat", second, *zynq, "--plan", edited)
    built = json.loads((second / "plan.json").read_text())["kernel"]
    suite.check(result.status == 0 and built["lanes"] == 2 and
                built["dataflow"], f"an edited plan {result.message}",
                result.command)
    result = suite.run("simulate", second, "-n", "4", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"an edited plan {result.json} {result.message}",
                result.command)

    def refuse(kernel, options, *wanted):
        result = compiled(kernel, suite.work / "refused.rhz", *options)
        missing = [text for text in wanted if text not in result.err]
        suite.check(result.status in (1, 2) and not missing,
                    f"{kernel} {options}: lacks {missing}: {result.err}",
                    result.command)

    refuse("gradient", (*zynq, "--plan", first), "the kernel 'heat', not of "
           "'gradient'", "leave --plan out")
    refuse("heat", (*fixed, "--plan", first), "a plan for xczu3eg, not for",
           "give --device xczu3eg")
    refuse("heat", ("--device", "xczu3eg", "--numbers", "half", "--plan",
                    first), "in fixed<8,24>, and in this kernel it is in half",
           "give --numbers 'fixed<8,24>'")
    refuse("heat", (*zynq, "--plan", first, "--lanes", "2"),
           "--lanes: the --plan says it")
    for edit, reason in (({"lanes": 65}, "kernel.choice.lanes"),
                         ({"words": 4, "borders": [3, 1, 4]},
                          "3 does not divide the 4 words"),
                         ({"borders": [1]}, "leave kernel.choice.borders "
                          "empty"),
                         ({"residents": ["nobody"]}, "reads no 'nobody'"),
                         ({"nests": [{"name": "", "order": [], "copies": [],
                                      "datapath": 0}] * 9},
                          "chooses for 9 loop nests"),
                         ({"sums": [{"sum": 99, "loop": 0, "terms": 2}]},
                          "the orders of sums")):
        changed = json.loads((first / "plan.json").read_text())
        changed["kernel"]["choice"] |= edit
        edited.write_text(json.dumps(changed))
        refuse("heat", (*zynq, "--plan", edited), reason)
    network = suite.work / "network.rhz"
    suite.run("compile", EXAMPLES.parent /
              "tiny-digits/tiny_digits_qdq_int8.onnx", "--device", "xczu3eg", "-o", network)
    refuse("heat", (*zynq, "--plan", network), "the plan of a network",
           "leave --plan out")


FIXED = ("--numbers", "fixed<8,24>")


def kernel_steering(suite):
    """A steering file asks for options of a kernel and its nests."""
    device = ("--device", "xcu280")
    kernel = EXAMPLES / "helmholtz.cfd"
    steer, package = suite.work / "steer.yaml", suite.work / "steered.rhz"

    def compile_with(text, *more, path=kernel):
        steer.write_text(text)
        shutil.rmtree(package, ignore_errors=True)
        return suite.run("compile", path, *FIXED, *device, "--steer", steer,
                         *more, "-o", package)

    # As the options ask for.
    result = compile_with("nodes:\n  helmholtz: {option: \"?stages=3&resident=0"
                          "\"}\n  line 14: {option: \"loops/nest?copies=1-1-11"
                          "\", generator: loops}\n")
    suite.check(result.status == 0, f"is built: {result.message}",
                result.command)
    plain = suite.work / "plain.rhz"
    suite.run("compile", kernel, *FIXED, *device, "--stages", "3", "--resident",
              "S", "--copies", "line 14=1x1x11", "-o", plain)
    suite.check(files_of(package) == files_of(plain),
                "as the options --stages, --resident and --copies",
                result.command)
    # By loop, not by index of the result.
    text = ("nodes: {swap: {option: \"unit?lanes=2\"}, line 4: {option: "
            "\"?copies=4-2\"}}\n")
    swap = suite.work / "swap.cfd"
    swap.write_text("var input a : [4 8]\nvar output b : [8 4]\n\n"
                    "b[i,j] = 3 * a[j,i]\n")
    result = compile_with(text, path=swap)
    choice = (json.loads((package / "plan.json").read_text())["kernel"]["choice"]
              if result.status == 0 else {})
    suite.check(choice.get("lanes") == 2 and
                choice["nests"][0]["copies"] == [4, 2],
                f"lanes and copies by loop: {choice}", result.command)
    # Through a module, as at once.
    module = suite.work / "steered.mlir"
    suite.run("compile", swap, *FIXED, *device, "--steer", steer,
              "--compile-to", "normalize", "-o", module)
    again = suite.work / "again.rhz"
    result = suite.run("compile", module, "--compile-from", "normalize", "-o",
                       again)
    suite.check(result.status == 0 and files_of(again) == files_of(package),
                f"a module keeps it: {result.message}", result.command)
    for text, words in (
            ("nodes: {u: {option: \"?stages=1\"}}", "no nest 'u'"),
            ("nodes: {helmholtz: {option: \"?stages=99999\"}}", "out of range"),
            ("nodes: {helmholtz: {option: \"?stages=x\"}}", "out of range"),
            ("nodes: {helmholtz: {option: \"?pe=4\"}}", "no option"),
            ("nodes: {helmholtz: {option: \"stream/unit?lanes=4\"}}",
             "no option"),
            ("nodes: {helmholtz: {option: \"?resident=9\"}}", "no input 9"),
            ("nodes: {helmholtz: {option: \"a b\"}}", "no key"),
            ("nodes: {helmholtz: {option: \"?units=2\"}}", "say --system"),
            ("nodes: {line 14: {option: \"?copies=2\"}}", "3 loops"),
            ("nodes: {line 14: {option: \"?copies=0-1-1\"}}", "that are none"),
            ("nodes: {line 14: {option: \"?copies=1-1-99\"}}", "cannot have"),
            ("nodes: {line 14: {place: 1}}", "one device"),
            ("nodes: {line 14: {generator: stream}}", "'loops'"),
            ("splits: {line 14: 2}", "neither splits"),
            ("nodes: [1]", "key: value")):
        result = compile_with(text + "\n")
        suite.check(result.status in (1, 2) and words in result.err and
                    "remedy" in result.err or words == "key: value" and
                    words in result.err, f"{text} is refused: {result.err}",
                    result.command)


def kernel_analysis(suite):
    """What a kernel needs, and roofs that no plan exceeds."""
    device = ("--device", "xcu280")
    for name in ("helmholtz", "heat", "gradient", "interpolation"):
        path = EXAMPLES / f"{name}.cfd"
        result = suite.run("analyze", path, *FIXED, *device, "--json")
        if not suite.check(result.status == 0, f"{name}: {result.message}",
                           result.command):
            continue
        total = result.json["total"]
        work = suite.run("compile", path, "-o", suite.work / name,
                         "--json").json["work"]["chosen"]
        suite.check(total["flops"] == work["operations"] and
                    total["macs"] == work["macs"],
                    f"{name}: {total['flops']} operations, {work}",
                    result.command)
        plan = suite.run("explore", path, *FIXED, *device, "--json")
        built = plan.json["kernel"]
        suite.check([o["node"] for o in result.json["operations"]] ==
                    [nest["name"] for nest in built["nests"]],
                    f"{name}: an operation for each nest", result.command)
        words = sum(4 * math.prod(t["shape"]) for t in built["inputs"])
        suite.check(total["input_bytes"] == words,
                    f"{name}: {words} bytes in, {total}", result.command)
        [roofs] = result.json["devices"]
        whole = roofs["whole"]
        best = suite.run("explore", path, *FIXED, *device, "--goal",
                         "max-throughput", "--json").json["predicted"]
        suite.check(best["throughput_per_s"] <= min(
            whole["compute"]["loops"], whole["network"]),
            f"{name}: {best['throughput_per_s']} is below the roofs {whole}",
            result.command)
    result = suite.run("analyze", EXAMPLES / "heat.cfd", "--number-format",
                       "fixed<8,8>")
    suite.check(result.status == 2 and "--number-format" in result.err,
                "options of networks are refused", result.command)
    bad = suite.work / "bad.cfd"
    bad.write_text("var input a : [4]\nvar output b : [4]\nb[i] = a[i] +\n")
    result = suite.run("analyze", bad)
    suite.check(result.status == 1 and "bad.cfd:" in result.err,
                f"a broken kernel is refused at its place: {result.err}",
                result.command)


def kernel_refusals(suite):
    """What no hardware is built for, all at once; coverage says the same."""
    fixed = ("--numbers", "fixed<8,24>")

    def refuse(name, options, *wanted, device="xcu280"):
        path = name if isinstance(name, pathlib.Path) else EXAMPLES / name
        result = suite.run("compile", path, "--device", device, *options,
                           "-o", suite.work / "refused.rhz")
        missing = [text for text in wanted if text not in result.err]
        suite.check(result.status in (1, 2) and not missing and
                    not (suite.work / "refused.rhz").exists(),
                    f"{path.name} {options}: lacks {missing}: {result.err}",
                    result.command)

    # What cannot be read is told before the options that it might take.
    odd = suite.work / "odd.mlir"
    odd.write_text("func.func @f(%a: tensor<4xf32> {rhizome.nmae = \"a\"}) -> "
                   "tensor<4xf32> { return %a : tensor<4xf32> }\n")
    refuse(odd, fixed, "odd.mlir:1:", "no attribute 'rhizome.nmae'",
           "'rhizome.name' is the nearest")
    refuse(suite.work / "absent.mlir", fixed, "No such file", "check the path")
    wave = suite.work / "wave.cfd"
    wave.write_text("var input a : [4]\nvar output c : [4]\n"
                    "var output d : [4]\nc[i] = sin(a[i])\nd[i] = exp(a[i])\n")
    refuse(wave, (), "'wave.cfd:4:", "'wave.cfd:5:", "floating point",
           "--numbers 'fixed<8,24>'", "nothing was built")
    # Nothing tells when the next frame of such a result begins.
    same = suite.work / "same.cfd"
    same.write_text("var input a : [4]\nvar output c : [4]\n"
                    "c[i] = a[i] - a[i]\n")
    refuse(same, fixed, "'same.cfd:3:", "no result depends on an argument",
           "the CPU computes it")
    covered = suite.run("coverage", same, *fixed)
    suite.check("no result depends on an argument" in covered.out,
                f"coverage says so {covered.out[-300:]}", covered.command)
    part = suite.work / "part.cfd"
    part.write_text("var input a : [4]\nvar output c : [4]\n"
                    "var output d : [4]\nc[i] = 2 * a[i]\n"
                    "d[i] = a[i] - a[i]\n")
    refuse(part, (*fixed, "--stages", "1"),
           "--stages: the result 'd' depends on no argument",
           "leave out --stages")
    kept = suite.work / "kept.cfd"
    kept.write_text("var input a : [4]\nvar input b : [4]\n"
                    "var output c : [4]\nvar output d : [4]\n"
                    "c[i] = a[i] + b[i]\nd[i] = 2 * b[i]\n")
    refuse(kept, (*fixed, "--stages", "1", "--resident", "b"),
           "the result 'd' depends on resident arguments only (b)",
           "leave out --resident b, or leave out --stages")
    function = suite.work / "function.cfd"
    function.write_text("var input a : [4]\nvar output c : [4]\n"
                        "c[i] = exp(a[i])\n")
    # Beyond double's exponents nobody knows how precise it has to be.
    refuse(function, ("--numbers", "float<15,30>"),
           "no logic is built for 'exp' in 'float<15,30>'")
    # A place with several operations is named once.
    functions = suite.work / "functions.cfd"
    functions.write_text("var input a : [4]\nvar output c : [2 4]\n"
                         "c[0,i] = exp(a[i])\nc[1,i] = exp(a[i]) + a[i]\n")
    refuse(functions, ("--numbers", "float<15,30>"),
           "'functions.cfd:3:10', 'functions.cfd:4:10' "
           "(linalg.generic, 2 times): no logic is built for 'exp'",
           "leave the device out")
    refuse("interpolation.cfd", ("--numbers", "fixed<40,40>"),
           "have 80 bits; a word of a stream has at most 64")
    refuse("interpolation.cfd", (*fixed, "--target", "cpu"), "--target")
    refuse("interpolation.cfd", (*fixed, "--clock-mhz", "5000"), "--clock-mhz")
    result = suite.run("compile", EXAMPLES / "interpolation.cfd", *fixed,
                       "--cluster", "mixed9")
    suite.check(result.status == 2 and "nodes are equal" in result.err and
                ":2@LINK" in result.err, f"unlike devices: {result.err}",
                result.command)
    result = suite.run("compile", EXAMPLES / "interpolation.cfd", "--clock-mhz",
                       "200")
    suite.check(result.status == 2 and "name a --device" in result.err,
                f"a clock of the CPU: {result.err}", result.command)
    large = suite.work / "large.cfd"
    large.write_text("var input a : [300 300]\nvar input b : [300 300]\n"
                     "var output c : [300 300]\nc = a # b . [[1 2]]\n")
    refuse(large, fixed, "it needs ", "choose a larger device",
           device="ice40-hx8k")
    quotient = suite.work / "quotient.cfd"
    quotient.write_text("var input a : [4]\nvar input b : [4]\n"
                        "var output c : [4]\nc = a / b\n")
    refuse(quotient, ("--numbers", "fixed<40,40>"),
           "no logic is built for quotients of more than 64 bits yet",
           "quotient.cfd:4:7")
    for name, options, all_of in (("helmholtz.cfd", (), True),
                                  ("helmholtz.cfd", fixed, True),
                                  ("gradient.cfd", fixed, True)):
        result = suite.run("coverage", EXAMPLES / name, *options, "--json")
        answer = result.json or {}
        suite.check(answer.get("fpga", 0) + answer.get("host", 0) > 0 and
                    (answer.get("host") == 0) is all_of,
                    f"coverage {name} {options}: {answer}", result.command)
    # What it does build: constants, several outputs, other formats.
    source = suite.work / "several.cfd"
    source.write_text("var input a : [3 4]\nvar input b : [4 5]\n"
                      "var output c : [3 5]\nvar output d : [3 5]\n"
                      "c = a # b . [[1 2]]\nd = 0.5 * c + c * c\n")
    result = suite.run("compile", source, "--device", "xcu280", "--numbers",
                       "fixed<5,8>", "--saturate", "-o",
                       suite.work / "several.rhz")
    suite.check(result.status == 0, f"two outputs: {result.message}",
                result.command)
    result = suite.run("simulate", suite.work / "several.rhz", "-n", "3",
                       "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"two outputs: {result.json} {result.message}", result.command)
    result = suite.run("explore", source, "--device", "xcu280", "--numbers",
                       "fixed<5,8>")
    suite.check(result.status == 0 and "read" in result.out and
                "write" in result.out, f"explore: {result.out}",
                result.command)


# Arrays of any strides, batches, mistakes; no names of Python's.
CALLER = r"""
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import both, convolution, helmholtz
rng = np.random.default_rng(1)
S = rng.uniform(-1, 1, (11, 11))
D, u = rng.uniform(-1, 1, (2, 5, 11, 11, 11))
def formula(D, u):
    t = np.einsum("il,jm,kn,lmn->ijk", S, S, S, u, optimize=True)
    return np.einsum("li,mj,nk,lmn->ijk", S, S, S, D * t, optimize=True)
v = helmholtz.helmholtz(S, D, u, threads=2)
for e in range(5):
    assert np.allclose(v[e], formula(D[e], u[e]), rtol=0, atol=1e-12)
    one = helmholtz.helmholtz(np.asfortranarray(S), D[e], u[e, ::-1])
    assert np.allclose(one, formula(D[e], u[e, ::-1]), rtol=0, atol=1e-12)
assert helmholtz.helmholtz(S, D[:0], u[:0]).shape == (0, 11, 11, 11)
u, w = rng.uniform(-1, 1, (18, 18, 3)), rng.uniform(-1, 1, (3, 3, 3, 4))
want = sum(u[a:a + 16, b:b + 16] @ w[a, b] for a in range(3) for b in range(3))
assert np.allclose(convolution.convolution(u, w), want, rtol=0, atol=1e-12)
w, halves = np.arange(3.0), np.full(3, 0.5, np.float32)
changed, y = both.both(w, lambda_n=halves)
assert (w == [0, 1, 2]).all() and (changed == w * w).all()
assert (y == w + 0.5).all() and both.both([1, 2, 3], halves)[0].dtype == float
for call, error in ((lambda: helmholtz.helmholtz(S, D, D[:3]), "has 3 elements"),
                    (lambda: helmholtz.helmholtz(S, S, D), "the kernel takes"),
                    (lambda: both.both(w + 0j, halves), "Cannot cast")):
    try:
        call()
        raise SystemExit("not refused: " + error)
    except (TypeError, ValueError) as refused:
        assert error in str(refused), refused
print("agree")
"""


def kernel_library(suite):
    """The shared library: from C, and from Python as a module."""
    suite.tool("gcc")
    both = suite.work / "both.cfd"
    both.write_text("var input output w : [3]\nvar input lambda : [3] @f32\n"
                    "var output y : [3]\ny = w + lambda\nw = w * w\n")
    folder = suite.work / "out"
    for kernel in (EXAMPLES / "helmholtz.cfd", EXAMPLES / "convolution.cfd",
                   both):
        result = suite.run("compile", kernel, "-o", folder, "--json")
        files = (result.json or {}).get("files", [])
        suite.check({f"lib{kernel.stem}.so", f"{kernel.stem}.py",
                     f"{kernel.stem}.pyi"} <= set(files),
                    f"{kernel.name}: {files} {result.message}", result.command)
    (suite.work / "caller.py").write_text(CALLER)
    run = framework.run_program([sys.executable, suite.work / "caller.py",
                                 folder])
    suite.check(run.out == "agree\n", f"numpy's arrays: {run.message}")
    stub = ast.parse((folder / "both.pyi").read_text())
    suite.check([a.arg for a in stub.body[-1].args.args] == ["w", "lambda_n"],
                "the types of a module")
    (suite.work / "main.c").write_text(MAIN)
    programs = []
    for name, library in (("shared", [f"-L{folder}", "-lhelmholtz",
                                      f"-Wl,-rpath,{folder}"]),
                          ("static", [folder / "helmholtz.o", "-lpthread"])):
        if build(suite, "gcc", f"-I{folder}", "main.c", *library, "-lm", "-o",
                 name):
            programs.append(framework.run_program([suite.work / name]).out)
    suite.check(len(programs) == 2 and programs[0] == programs[1] != "",
                "the shared library is the object")
    result = suite.run("compile", EXAMPLES / "interpolation.cfd", "--numbers",
                       "half", "-o", suite.work / "half")
    suite.check(result.status == 0 and "no shared library" in result.err,
                f"custom floats: {result.err}", result.command)


def foreign(suite, tool, kernel, *options):
    """What the test bench of a kernel says that was written for a tool."""
    folder = suite.work / f"{kernel.stem}.{tool}"
    shutil.rmtree(folder, ignore_errors=True)
    result = suite.run("compile", kernel, "--target", tool, "--device",
                       "xcu280", *options, "-o", folder, "--json")
    if not suite.check(result.status == 0, f"{kernel.name} {options} for {tool}"
                       f" {result.message}", result.command):
        return
    name = folder / kernel.stem
    if tool == "vitis-hls":
        # Those that the tool itself has.
        good = build(suite, "g++", "-std=c++14", "-Wall", "-Wextra",
                     "-Wno-unknown-pragmas", "-Wno-unused-label",
                     "-Wno-maybe-uninitialized", "-O1",
                     "-ffp-contract=off", f"-I{ROOT}/test/vendor/hls",
                     f"{name}.cpp", f"{name}_tb.cpp", "-o", "tb")
    else:
        text = pathlib.Path(f"{name}.ll").read_text()
        suite.check(f"define void @{kernel.stem}(" in text and
                    not re.search(r"<\d+ x ", text) and "fast" not in text and
                    "reassoc" not in text, "plain LLVM IR, no vectors")
        good = build(suite, "opt-22", "-passes=verify", "-disable-output",
                     f"{name}.ll")
        good &= build(suite, "clang-22", "-Wno-override-module", "-O1",
                      "-ffp-contract=off", f"{name}.ll", f"{name}_tb.c", "-lm",
                      "-o", "tb")
    if not good:
        return
    run = framework.run_program([suite.work / "tb", f"{name}_data.txt"])
    suite.check(run.status == 0 and run.out ==
                "0 mismatches with the evaluator's bits\n",
                f"{kernel.name} {options} in {tool}: {run.out} {run.message}",
                result.command)
    # A wrong word is found.
    data = pathlib.Path(f"{name}_data.txt")
    words = data.read_text().split()
    data.write_text("\n".join(words[:-1] + [f"{int(words[-1], 16) ^ 1:x}"]))
    run = framework.run_program([suite.work / "tb", data])
    suite.check(run.status == 1 and "1 mismatches" in run.out,
                "a wrong word is found")


# Names that a test bench uses itself, formats that differ, reals.
NAMES = """
var input m0 : [4] @fixed(3,5)
var input output e : [4] @fixed(6,10)
var input w : [4] @ufixed(4,12)
var output v0 : [4]
var t : [4]
t = m0 + e
v0[i] = max(abs(t[i]), min(t[i], m0[i])) - w[i] * t[i]
e[i] = sum(j) t[j] * m0[i] + w[i]
"""
REALS = """
var input a : [3 4]
var input b : [4] @f32
var output c : [3]
var output d : [4] @f32
c[i] = sum(j) a[i,j] * b[j] + sqrt(abs(a[i,0])) / 3
d[j] = max(i) a[i,j] - min(b[j], 0.1)
"""

CHOICES = """
func.func @choices(%a: tensor<16xf64>, %b: tensor<16xf64>) -> tensor<16xf64> {
  %q = arith.constant 0.25 : f64
  %e = tensor.empty() : tensor<16xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%a, %b : tensor<16xf64>, tensor<16xf64>)
      outs(%e : tensor<16xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %c = arith.cmpf ult, %x, %y : f64
    %d = arith.cmpf one, %x, %q : f64
    %s = arith.select %c, %x, %q : f64
    %t = arith.select %d, %s, %y : f64
    linalg.yield %t : f64
  } -> tensor<16xf64>
  return %r : tensor<16xf64>
}
"""


def kernel_foreign(suite):
    """Kernels for Vitis HLS and Bambu, against the evaluator's bits."""
    for tool in ("g++", "clang-22", "opt-22"):
        suite.tool(tool)
    paths = {}
    for name, text in (("parts", PARTS), ("names", NAMES), ("reals", REALS)):
        paths[name] = suite.work / f"{name}.cfd"
        paths[name].write_text(text)
    paths["choices"] = suite.work / "choices.mlir"
    paths["choices"].write_text(CHOICES)
    helmholtz = EXAMPLES / "helmholtz.cfd"
    numbers = "--numbers"
    for kernel, options in (
            (helmholtz, (numbers, "fixed<8,24>")), (helmholtz, ()),
            (helmholtz, (numbers, "fixed<24,40>", "--saturate", "--rounding",
                         "nearest_away")),
            (EXAMPLES / "interpolation.cfd", (numbers, "fixed<2,3>", "--fused",
                                              "--saturate", "--rounding",
                                              "toward_zero")),
            (paths["parts"], (numbers, "fixed<6,10>", "--rounding", "down")),
            (paths["parts"], ()), (paths["reals"], ()),
            (paths["names"], ("--saturate",)),
            (EXAMPLES / "heat.cfd", (numbers, "ufixed<2,14>")),
            (paths["choices"], (numbers, "fixed<4,12>")),
            (paths["choices"], ())):
        foreign(suite, "vitis-hls", kernel, *options)
        foreign(suite, "bambu", kernel, *options)
    foreign(suite, "vitis-hls", helmholtz, numbers, "single")

    def refuse(kernel, tool, options, *wanted):
        result = suite.run("compile", kernel, "--target", tool, *options, "-o",
                           suite.work / "refused")
        suite.check(result.status in (1, 2) and
                    all(text in result.err for text in wanted) and
                    not (suite.work / "refused").exists(),
                    f"{tool} {options}: {result.err}", result.command)

    for format, tool, text in (
            ("half", "vitis-hls", "there is no C++ for half"),
            ("half", "bambu", "its numbers are computed by rhizome itself"),
            ("fixed<40,40>", "vitis-hls", "wider than a word of 64")):
        refuse(helmholtz, tool, (numbers, format), "helmholtz.cfd:1", text,
               "choose")
    refuse(helmholtz, "vitis-hls", (numbers, "fixed<8,24>", "--rounding", "up"),
           "ap_fixed does not round up", "nearest_even")
    refuse(paths["reals"], "vitis-hls", (numbers, "fixed<8,24>"),
           "'num.sqrt' rounds otherwise", "reals.cfd:6:")
    refuse(helmholtz, "bambu", ("--device", "ice40-hx8k"), "none of AMD's",
           "--device")
    result = suite.run("compile", helmholtz, "--target", "bambu", "--board",
                       "arty-a7-35t", "-o", suite.work / "board")
    suite.check(result.status == 0, f"a board's device: {result.message}",
                result.command)
    result = suite.run("compile", helmholtz, "--target", "bambu", "--device",
                       "xcu280", "--system", "-o", suite.work / "ours")
    suite.check(result.status == 2 and "for Rhizome's own RTL" in result.err,
                f"--system for another tool: {result.err}", result.command)
    result = suite.run("explore", helmholtz, "--target", "bambu")
    suite.check(result.status == 2 and "--target" in result.err,
                f"explore: {result.err}", result.command)
    for tool, names in (("vitis-hls", ("helmholtz.tcl", "helmholtz.cfg")),
                        ("bambu", ("bambu.sh",))):
        folder = suite.work / tool
        result = suite.run("compile", helmholtz, "--target", tool, "--device",
                           "xcu280", numbers, "fixed<8,24>", "--clock-mhz",
                           "250", "-o", folder)
        for name in names:
            golden = ROOT / f"test/vendor/golden/xcu280-{tool}" / name
            suite.check(result.status == 0 and
                        (folder / name).read_text() == golden.read_text(),
                        f"{name} is {golden}", result.command)


def kernel_howto(suite):
    """docs/howto/kernels-from-numpy.md: its kernels, commands and program."""
    suite.tool("verilator")
    suite.tool("gcc")
    text = (ROOT / "docs/howto/kernels-from-numpy.md").read_text()
    found = re.findall(r"`(\w+\.cfd)`:.*?```cfd\n(.*?)```", text, re.S)
    for name, code in found:
        (suite.work / name).write_text(code)
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S)
                for line in block.replace("\\\n", "").splitlines()]
    for line in commands:
        result = suite.run(*shlex.split(line)[1:], cwd=suite.work)
        suite.check(result.status == 0 and
                    (" simulate " not in line or "2 elements, 0 mismatches with"
                     " the evaluator's bits" in result.out),
                    f"{line}: {result.out if result.status else ''} "
                    f"{result.message}", result.command)
    (suite.work / "program.py").write_text(
        "import sys\nsys.path.insert(0, 'kernels')\n" +
        re.search(r"```python\n(.*?)```", text, re.S).group(1))
    run = framework.run_program([sys.executable, "program.py"], cwd=suite.work)
    suite.check(run.status == 0 and len(found) == 3 and len(commands) > 8,
                f"numpy agrees {run.message}")


AFFINE = """
func.func @scale(%a: memref<8x4xf64>, %b: memref<8x4xf64>) {
  %two = arith.constant 2.0 : f64
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 4 {
      %x = affine.load %a[%i, %j] : memref<8x4xf64>
      %y = arith.mulf %x, %two : f64
      affine.store %y, %b[%i, %j] : memref<8x4xf64>
    }
  }
  return
}
"""
LINALG = """
func.func @product(%a: tensor<5x6xf64>, %b: tensor<6x7xf64>) -> tensor<5x7xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<5x7xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<5x7xf64>) -> tensor<5x7xf64>
  %c = linalg.matmul ins(%a, %b : tensor<5x6xf64>, tensor<6x7xf64>)
    outs(%init : tensor<5x7xf64>) -> tensor<5x7xf64>
  return %c : tensor<5x7xf64>
}
"""

# Printed by a tool with an option that elides large constants.
ELIDED = """func.func @weighted(%a: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %w = arith.constant dense_resource<__elided__> : tensor<2x2xf64>
  %init = tensor.empty() : tensor<2x2xf64>
  %c = linalg.add ins(%a, %w : tensor<2x2xf64>, tensor<2x2xf64>)
    outs(%init : tensor<2x2xf64>) -> tensor<2x2xf64>
  return %c : tensor<2x2xf64>
}
"""


def kernel_programs(suite):
    """MLIR modules, and a CMake project of an annotated Fortran file."""
    for name, text in (("scale", AFFINE), ("product", LINALG)):
        path = suite.work / f"{name}.mlir"
        path.write_text(text)
        result = suite.run("run", path, "-n", "2", "--json")
        suite.check(result.status == 0 and (result.json or {}).get("frames") == 2,
                    f"{name}.mlir runs {result.message if result.status else ''}",
                    result.command)
    # Kernels are checked, whoever wrote them, on tensors and on buffers.
    for name in ("product", "scale"):
        result = suite.run("run", suite.work / f"{name}.mlir", "-n", "3",
                           "--check", "--json")
        suite.check(result.status == 0 and
                    (result.json or {}).get("mismatches") == 0,
                    f"{name}.mlir is checked: {result.message}", result.command)
    path = suite.work / "elided.mlir"
    path.write_text(ELIDED)
    for command in (("run", path, "-n", "1"),
                    ("compile", path, "-o", suite.work / "elided")):
        result = suite.run(*command, "--json")
        error = str((result.json or {}).get("error"))
        missing = [w for w in ("elided.mlir", "'__elided__' holds 0", "32 bytes",
                               "write it again") if w not in error]
        suite.check(result.status == 1 and not missing,
                    f"weights left out: status {result.status}, the answer "
                    f"lacks {missing}: {error[:160]}", result.command)
    for tool in ("gfortran", "cmake", "ninja"):
        suite.tool(tool)
    out = suite.work / "cmake"
    configured = build(suite, "cmake", "-G", "Ninja", "-S",
                       EXAMPLES / "fortran", "-B", out,
                       f"-DCMAKE_MODULE_PATH={ROOT / 'cmake'}",
                       f"-DRHIZOME_EXECUTABLE={suite.rhizome}")
    if configured and build(suite, "cmake", "--build", out):
        run = framework.run_program([out / "solver"])
        suite.check(run.status == 0 and "agree" in run.out,
                    f"the Fortran program: {run.message}")
