# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels from files to programs: the results of C, C++ and Fortran programs
that call them, the C99 text, the language's page, MLIR modules."""
import pathlib
import re

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
    for name in ("helmholtz", "interpolation", "gradient", "heat"):
        source = EXAMPLES / f"{name}.cfd"
        result = suite.run("simulate", source, "--level", "functional",
                           "-n", "3", "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0 and
                    answer.get("frames") == 3 and "predicted" in answer and
                    answer.get("largest_error", 1) < 1e-12,
                    f"{name}: within 1e-12 of its formula", result.command)
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
    suite.check(set(answer) >= {"ok", "package", "seconds", "predicted"},
                "compile --json has a network's keys", result.command)

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

    # A line with several operations is named once.
    result = suite.run("compile", EXAMPLES / "gradient.cfd", "--device",
                       "xcu280")
    suite.check(result.status == 1
                and "'line 9' (tensor.insert_slice, 3 times): " in result.err,
                f"a line is named once: {result.err}", result.command)
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
    result = suite.run("compile", kernel, "--device=xczu3eg")
    suite.check(result.status == 1 and "stream has no" in result.err and
                "nothing was built" in result.err,
                "a device for a kernel is answered by its generators",
                result.command)
    result = suite.run("compile", "net.onnx", "--numbers", "half")
    suite.check(result.status == 2 and "--numbers" in result.err,
                "--numbers of a network is refused", result.command)


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
    # Kernels on tensors are checked, whoever wrote them; buffers are not.
    result = suite.run("run", suite.work / "product.mlir", "-n", "3", "--check",
                       "--json")
    suite.check(result.status == 0 and
                (result.json or {}).get("mismatches") == 0,
                f"product.mlir is checked: {result.message}", result.command)
    result = suite.run("run", suite.work / "scale.mlir", "--check", "--json")
    error = str((result.json or {}).get("error"))
    suite.check(result.status == 1 and "cannot check this kernel" in error,
                f"scale.mlir is not checked: {error[:160]}", result.command)
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
