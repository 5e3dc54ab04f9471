# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as users write them: modules with affine loops, several results and
operations that MLIR takes apart, formats that fill their words, results that
are only copied, boards, and what messages say."""
import json
import pathlib
import re

import numpy as np

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "cases/2026-11-28"

# Affine loops on buffers: sums in a loop's own value and in one word, bounds
# that depend on a loop, steps, scf loops, arithmetic on indices.
LOOPS = {
    "jacobi": """
func.func @jacobi(%u: memref<6x7xf32>, %v: memref<6x7xf32>) {
  %c = arith.constant 0.25 : f32
  affine.for %i = 1 to 5 { affine.for %j = 1 to 6 {
    %a = affine.load %u[%i - 1, %j] : memref<6x7xf32>
    %b = affine.load %u[%i + 1, %j] : memref<6x7xf32>
    %s = arith.addf %a, %b : f32
    %q = arith.mulf %s, %c : f32
    affine.store %q, %v[%i, %j] : memref<6x7xf32>
  }}
  return
}""",
    "gemm": """
func.func @gemm(%A: memref<4x5xf64>, %B: memref<5x3xf64>, %C: memref<4x3xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 4 { affine.for %j = 0 to 3 {
    %r = affine.for %k = 0 to 5 iter_args(%acc = %zero) -> (f64) {
      %a = affine.load %A[%i, %k] : memref<4x5xf64>
      %b = affine.load %B[%k, %j] : memref<5x3xf64>
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %acc, %m : f64
      affine.yield %s : f64
    }
    affine.store %r, %C[%i, %j] : memref<4x3xf64>
  }}
  return
}""",
    "trmm": """
func.func @trmm(%A: memref<6x6xf32>, %B: memref<6x4xf32>) {
  affine.for %i = 0 to 6 { affine.for %j = 0 to 4 {
    affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to 6 {
      %a = affine.load %A[%k, %i] : memref<6x6xf32>
      %b = affine.load %B[%k, %j] : memref<6x4xf32>
      %c = affine.load %B[%i, %j] : memref<6x4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      affine.store %s, %B[%i, %j] : memref<6x4xf32>
    }
  }}
  return
}""",
    "last": """
func.func @last(%x: memref<9xf32>, %y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloca() : memref<1xf32>
  affine.store %zero, %p[0] : memref<1xf32>
  affine.for %i = 0 to 9 step 2 {
    %a = affine.load %x[%i] : memref<9xf32>
    %c = affine.load %p[0] : memref<1xf32>
    %s = arith.addf %c, %a : f32
    affine.store %s, %p[0] : memref<1xf32>
    affine.store %s, %y[(%i + 3) mod 9] : memref<9xf32>
  }
  return
}""",
    "scf": """
func.func @scf(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %j = arith.subi %c7, %i : index
    %a = memref.load %x[%i] : memref<8xf32>
    %b = math.sqrt %a : f32
    memref.store %a, %y[%j] : memref<8xf32>
  }
  return
}""",
}

ARGMIN = """
#d = affine_map<(n, k) -> (n, k)>
#r = affine_map<(n, k) -> (n)>
func.func @argmin(%d: tensor<5x7xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %big = arith.constant 1.0e30 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %m0 = linalg.fill ins(%big : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %m:2 = linalg.generic {indexing_maps = [#d, #r, #r],
      iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<5x7xf32>) outs(%m0, %i0 : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %b: f32, %l: f32):
    %k = linalg.index 1 : index
    %ki = arith.index_cast %k : index to i32
    %kf = arith.sitofp %ki : i32 to f32
    %lt = arith.cmpf olt, %x, %b : f32
    %nb = arith.select %lt, %x, %b : f32
    %nl = arith.select %lt, %kf, %l : f32
    linalg.yield %nb, %nl : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  return %m#0, %m#1 : tensor<5xf32>, tensor<5xf32>
}"""

# Both results begin as one tensor, and the second is not used.
SAME = """
#i = affine_map<(i) -> (i)>
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#i, #i, #i],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%t, %t : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %m = arith.mulf %a, %c : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}"""

TAKEN_APART = {
    "softmax": """
func.func @softmax(%x: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  %0 = tensor.empty() : tensor<2x5x7xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<2x5x7xf32>)
      outs(%0 : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return %1 : tensor<2x5x7xf32>
}""",
    "pad": """
func.func @pad(%x: tensor<3x4xf32>) -> tensor<5x6xf32> {
  %z = arith.constant 2.5 : f32
  %r = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<3x4xf32> to tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}""",
    "concat": """
func.func @concat(%x: tensor<3x4xf32>, %y: tensor<2x4xf32>) -> tensor<5x4xf32> {
  %r = tensor.concat dim(0) %x, %y
      : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}""",
    "generate": """
func.func @generate(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%j, %i] : tensor<3x4xf32>
    tensor.yield %v : f32
  } : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}""",
    "pack": """
func.func @pack(%x: tensor<4x6xf32>) -> tensor<2x2x2x3xf32> {
  %e = tensor.empty() : tensor<2x2x2x3xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e
      : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  return %r : tensor<2x2x2x3xf32>
}""",
    "unpack": """
func.func @unpack(%x: tensor<2x2x2x3xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e
      : tensor<2x2x2x3xf32> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}""",
    "insert": """
func.func @insert(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<6xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %e) -> (tensor<6xf32>) {
    %j = arith.subi %c5, %i : index
    %v = tensor.extract %x[%j] : tensor<6xf32>
    %n = tensor.insert %v into %t[%i] : tensor<6xf32>
    scf.yield %n : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}""",
}


def wants(name, x):
    """What numpy makes of the inputs."""
    if name == "softmax":
        e = np.exp(x[0] - x[0].max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    if name == "pad":
        return np.pad(x[0], ((1, 1), (0, 2)), constant_values=2.5)
    if name == "concat":
        return np.concatenate(x)
    if name == "generate":
        return x[0].T
    if name == "pack":
        return x[0].reshape(2, 2, 2, 3).transpose(0, 2, 1, 3)
    if name == "unpack":
        return x[0].transpose(0, 2, 1, 3).reshape(4, 6)
    return x[0][::-1]


def kernel_modules(suite):
    """MLIR that other tools write: computed as it says, or refused at its
    place; nothing ends the program."""
    def source(name, text):
        path = suite.work / f"{name}.mlir"
        path.write_text(text + "\n")
        return path

    def refused(path, *options, wanted, command="compile"):
        result = suite.run(command, path, *options)
        missing = [text for text in wanted if text not in result.err]
        suite.check(result.status in (1, 2) and not missing and
                    "loc(" not in result.err,
                    f"{path.name} {options}: lacks {missing}: {result.err}",
                    result.command)

    for name, text in LOOPS.items():
        path = source(name, text)
        result = suite.run("run", path, "-n", "3", "--check", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{name} {result.message}", result.command)
        # Buffers have no formats.
        for options in (("--numbers", "fixed<8,24>"), ("--numbers", "half"),
                        ("--numbers", "fixed<8,24>", "--device", "xcu280")):
            refused(path, *options, "-o", suite.work / "no",
                    wanted=(f"{name}.mlir:2:", "number formats are for tensors",
                            "memref<", "remedy"))
        folder = suite.work / f"{name}.cpu"
        result = suite.run("compile", path, "--target", "cpu", "-o", folder)
        if name not in ("scf", "last"):
            suite.check((folder / f"{name}.c").exists(),
                        f"{name} as C99: {result.err}", result.command)
    outside = source("outside", LOOPS["jacobi"].replace("= 1 to 5", "= 0 to 5"))
    refused(outside, "--check", command="run",
            wanted=("'affine.load'", "outside of its memref", "remedy"))

    path = source("argmin", ARGMIN)
    x = np.random.default_rng(1).normal(size=(4, 5, 7)).astype(np.float32)
    np.save(suite.work / "x.npy", x)
    outputs = suite.work / "least.npy", suite.work / "place.npy"
    result = suite.run("run", path, "--input", suite.work / "x.npy", "--check",
                       "--output", outputs[0], "--output", outputs[1], "--json")
    suite.check((result.json or {}).get("mismatches") == 0 and
                np.array_equal(np.load(outputs[0]), x.min(axis=2)) and
                np.array_equal(np.load(outputs[1]), x.argmin(axis=2)),
                f"two results {result.message}", result.command)
    refused(path, "--device", "xcu280", "-o", suite.work / "no",
            wanted=("argmin.mlir:10:", "no hardware is built yet", "remedy"))
    path = source("same", SAME)
    np.save(suite.work / "x.npy", np.arange(4, dtype=np.float32))
    result = suite.run("run", path, "--input", suite.work / "x.npy", "--check",
                       "--output", outputs[0], "--json")
    suite.check((result.json or {}).get("mismatches") == 0 and
                np.load(outputs[0])[0].tolist() == [0, 2, 6, 12],
                f"results that begin alike {result.message}", result.command)

    shapes = {"concat": [(3, 4), (2, 4)], "softmax": [(2, 5, 7)],
              "pack": [(4, 6)], "unpack": [(2, 2, 2, 3)], "insert": [(6,)]}
    for name, text in TAKEN_APART.items():
        path = source(name, text)
        x = [np.random.default_rng(2).normal(size=shape).astype(np.float32)
             for shape in shapes.get(name, [(3, 4)])]
        names = [suite.work / f"x{i}.npy" for i in range(len(x))]
        for file, values in zip(names, x):
            np.save(file, values)
        result = suite.run("run", path, *(word for file in names
                                          for word in ("--input", file)),
                           "--check", "--output", outputs[0], "--json")
        good = (result.json or {}).get("mismatches") == 0
        suite.check(good and np.allclose(np.load(outputs[0])[0], wants(name, x),
                                         rtol=1e-5),
                    f"{name} {result.message}", result.command)
    refused(source("strange", """
func.func @strange(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}"""), command="run", wanted=("strange.mlir",))
    refused(source("layout", """
func.func @layout(%x: memref<4x4xf32, strided<[8, 1]>>) {
  return
}"""), command="run", wanted=("layout or a memory of its own", "remedy"))


UNSIGNED = """
var input  u : [{n}] @{of}
var output v : [{n}] @{to}
v[i] = u[i] + 3
"""


def kernel_unsigned(suite):
    """Unsigned formats that fill their words, through RTL, on the CPU and by
    numpy; results that are only copied."""
    suite.tool("verilator")
    x = np.array([[0, 1, 127, 128, 200, 252, 253, 255]], dtype=np.float64)
    np.save(suite.work / "x.npy", x)
    for bits, to in ((8, "ufixed(8,0)"), (16, "ufixed(16,0)"),
                     (32, "fixed(33,0)"), (64, "ufixed(64,0)")):
        kernel = suite.work / f"u{bits}.cfd"
        kernel.write_text(UNSIGNED.format(n=8, of=f"ufixed({bits},0)", to=to))
        package = suite.work / f"u{bits}.rhz"
        result = suite.run("compile", kernel, "--device", "xcu280", "-o",
                           package)
        suite.check(result.status == 0, f"{bits} bits {result.message}",
                    result.command)
        outputs = [suite.work / "rtl.npy", suite.work / "cpu.npy"]
        for data in (("-n", "3"), ("--input", suite.work / "x.npy")):
            for driver, output in zip(("simulation", "cpu"), outputs):
                result = suite.run("run", package, *data, "--driver", driver,
                                   "--check", "--output", output, "--json")
                suite.check((result.json or {}).get("mismatches") == 0,
                            f"{bits} bits, {driver} {result.message}",
                            result.command)
            suite.check(outputs[0].read_bytes() == outputs[1].read_bytes(),
                        f"{bits} bits: RTL and CPU agree")
        want = (x[0] + 3) % 2 ** bits if to.startswith("u") else x[0] + 3
        suite.check(np.array_equal(np.load(outputs[0])[0], want),
                    f"{bits} bits: {np.load(outputs[0])[0]}")
        # Random numbers are from all of the format.
        result = suite.run("run", package, "-n", "50", "--output", outputs[1])
        suite.check(np.load(outputs[1]).max() > 2 ** bits / 2,
                    f"{bits} bits: random numbers up to "
                    f"{np.load(outputs[1]).max()}")

    copies = suite.work / "copies.cfd"
    copies.write_text("var input u : [4]\nvar output w : [4]\n"
                      "var output v : [3]\nvar output x : [4]\n"
                      "var output y : [4]\n"
                      "w[i] = u[i+0]\nv[i] = u[i+1]\nx[i] = 2 * u[i]\n"
                      "y[i] = x[i]\n")
    np.save(suite.work / "u.npy", np.array([1.5, -2, 3, 0.25]))
    outputs = [suite.work / f"{name}.npy" for name in "wvxy"]
    for options in (("--numbers", "fixed<20,4>"), ("--numbers", "half"), ()):
        package = suite.work / "copies.rhz"
        result = suite.run("compile", copies, *options, "--device", "xcu280",
                           "-o", package)
        suite.check(result.status == 0, f"copies {options} {result.message}",
                    result.command)
        result = suite.run("run", package, "--driver", "simulation", "--input",
                           suite.work / "u.npy", *(
                               word for file in outputs
                               for word in ("--output", file)), "--json")
        answer = result.json or {}
        suite.check(answer.get("mismatches") == 0 and
                    answer.get("outputs") == ["w", "v", "x", "y"] and
                    [np.load(file)[0].tolist() for file in outputs] ==
                    [[1.5, -2, 3, 0.25], [-2, 3, 0.25], [3, -4, 6, 0.5],
                     [3, -4, 6, 0.5]],
                    f"copies {options}: {answer} {result.message}",
                    result.command)


def kernel_words_of_users(suite):
    """Goals and bounds in plans, boards, and what messages say."""
    kernel = suite.work / "mm.cfd"
    kernel.write_text("var input A : [8 8]\nvar input B : [8 8]\n"
                      "var output C : [8 8]\nC[i,j] = sum(k) A[i,k] * B[k,j]\n")
    fixed = ("--numbers", "fixed<8,8>")
    rates = {}
    for goal in ("", "min-resources", "max-throughput,dsp=200"):
        package = suite.work / "mm.rhz"
        result = suite.run("compile", kernel, *fixed, "--device", "xcu280",
                           *(("--goal", goal) if goal else ()), "-o", package,
                           "--json")
        plan = json.loads((package / "plan.json").read_text())
        rates[goal] = plan["predicted"]["throughput_per_s"]
        suite.check(plan["goal"] == goal and
                    plan["bound_per_s"] >= rates[goal],
                    f"goal {goal!r}: {plan['goal']}, {plan['bound_per_s']} "
                    f"{result.message}", result.command)
        bound = plan["bound_per_s"]
    suite.check(rates["min-resources"] < bound > rates[""] and
                bound >= max(rates.values()), f"bound {bound}, {rates}")
    system = suite.work / "system.rhz"
    suite.run("compile", kernel, *fixed, "--device", "xcu280", "--system",
              "-o", system)
    plan = json.loads((system / "plan.json").read_text())
    suite.check(plan["bound_per_s"] >= plan["predicted"]["throughput_per_s"],
                f"bound of a system: {plan['bound_per_s']}")
    for name in ("report.html", "README.md"):
        suite.check((system / name).exists(), f"{name} of a kernel's package")
    page = (system / "README.md").read_text()
    suite.check(all(text in page for text in ("# mm", "xcu280", "`A`", "`C`",
                                              "fixed<8,8>", "s_axis")),
                f"README.md: {page}")

    for command in (("compile", "-o", suite.work / "board.rhz"), ("explore",)):
        result = suite.run(command[0], kernel, *fixed, "--board",
                           "alveo-u280", *command[1:])
        suite.check(result.status == 0 and "xcu280" in result.out + result.err,
                    f"{command[0]} --board: {result.message}", result.command)

    package = suite.work / "mm.rhz"
    result = suite.run("run", package, "-n", "3", "--check", "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"run {result.message}", result.command)
    for options, wanted in ((("--driver", "xrt"), "has the drivers"),
                            (("--numbers", "half"), "--numbers"),
                            (("--metrics", "9"), "--metrics")):
        result = suite.run("run", package, *options)
        suite.check(result.status == 2 and wanted in result.err,
                    f"run {options}: {result.err}", result.command)

    def says(text, *wanted, options=()):
        path = suite.work / "said.cfd"
        path.write_text(text)
        result = suite.run("compile", path, *options, "-o", suite.work / "no")
        missing = [each for each in wanted if each not in result.err]
        found = [each for each in ("loc(", "!num", "'math.")
                 if each in result.err]
        suite.check(result.status in (1, 2) and not missing and not found and
                    result.err.count("error:") == 1,
                    f"{text!r}: lacks {missing}, has {found}: {result.err}",
                    result.command)

    device = (*fixed, "--device", "xcu280")
    head = "var input A : [4 4]\nvar output C : [4 4]\n"
    for options in ((), device):
        says(head + "C[i,j] = sum(k) A[i,k] * B[k,j]\n",
             "said.cfd:3:26: error: 'B' is not declared",
             "remedy: declare it: var input B : [4 4]", options=options)
        says(head + "C[i,j] = A[i,j\n", "said.cfd:3:15: error: expected ',' or "
             "']'", "not the end", options=options)
        says("var input a : [4]\nvar output c : [4]\nc[i] = tanh(a[i])\n",
             "said.cfd:3:", "'tanh' has no meaning in fixed<8,8>", "remedy",
             options=options or fixed)
    np.save(suite.work / "nan.npy", np.array([[1, np.nan, 2, 3]]))
    (suite.work / "double.cfd").write_text(
        "var input a : [4]\nvar output c : [4]\nc[i] = 2 * a[i]\n")
    for command in ("run", "simulate"):
        result = suite.run(command, suite.work / "double.cfd", *fixed,
                           *(("--level", "functional")
                             if command == "simulate" else ()),
                           "--input", suite.work / "nan.npy")
        suite.check(result.status == 1 and re.search(
            r"the input 'a' holds NaN at element 1, for which fixed<8,8> has no "
            r"number\n  remedy: ", result.err), f"NaN: {result.err}",
            result.command)
    result = suite.run("run", suite.work / "double.cfd", "--numbers", "half",
                       "--input", suite.work / "nan.npy", "--check")
    suite.check(result.status == 0, f"NaN in half: {result.err}",
                result.command)


def kernel_cases(suite):
    """The inputs that failed, from ../shared."""
    if not CASES.is_dir():
        suite.skip(f"{CASES} is missing")
        return
    for name in ("kernels/argmin.mlir", "kernels/jac_affine.mlir",
                 "reports/07-kernel-mlir-ops/concat.mlir",
                 "reports/07-kernel-mlir-ops/k15c_softmax_op.mlir",
                 "reports/07-kernel-mlir-ops/pad.mlir",
                 "reports/07-kernel-mlir-ops/softmax1.mlir",
                 "reports/09-affine-kernels/k03b_triangular.mlir",
                 "reports/09-affine-kernels/k05_gemm_scalar.mlir",
                 "reports/09-affine-kernels/k05b_gemm_iterargs.mlir",
                 "reports/11-language-gaps/k11c_trace.cfd"):
        result = suite.run("run", CASES / name, "-n", "1", "--check", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{name} {result.message}", result.command)
    for name in ("k12d_ufixed8", "k12e_ufixed_out", "k12f_u32"):
        package = suite.work / f"{name}.rhz"
        suite.run("compile", CASES / "reports/04-unsigned-full-width-formats" /
                  f"{name}.cfd", "--device", "xcu280", "-o", package)
        result = suite.run("simulate", package, "-n", "3", "--json")
        suite.check((result.json or {}).get("mismatches") == 0,
                    f"{name} {result.message}", result.command)
