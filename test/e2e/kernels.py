# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels from files to programs: what C, C++ and Fortran programs
compute with them, the C99 text, the language's page, MLIR modules."""
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
  // Every second value, elements one behind the other, on three threads.
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


def kernel_programs(suite):
    """MLIR modules, and a CMake project of an annotated Fortran file."""
    for name, text in (("scale", AFFINE), ("product", LINALG)):
        path = suite.work / f"{name}.mlir"
        path.write_text(text)
        result = suite.run("run", path, "-n", "2", "--json")
        suite.check(result.status == 0 and (result.json or {}).get("frames") == 2,
                    f"{name}.mlir runs {result.message if result.status else ''}",
                    result.command)
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
