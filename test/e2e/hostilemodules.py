# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of MLIR that somebody has written to do harm, in every place where
one is read: a model, a kernel, a package, between two phases. What reads or
writes outside of its tensors, or divides by zero, ends no command otherwise than
in good order; nesting without end and bytecode do not either."""
import random
import re
import shutil

from framework import run_program
from hostile import MODEL, ended

#: Bodies of a package's last function: from %d, ten numbers, to %r.
LOOP = """    %e = tensor.empty() : tensor<1x10xf32>
    %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins({ins}) outs(%e : tensor<1x10xf32>) {{
    ^bb0({arguments}%o: f32):
{body}
      linalg.yield %v : f32
    }} -> tensor<1x10xf32>
"""


def loop(body, maps="affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>",
         kinds='"parallel", "parallel"', ins="%d : tensor<1x10xf32>",
         arguments="%x: f32, "):
    return LOOP.format(body=body, maps=maps, kinds=kinds, ins=ins,
                       arguments=arguments)


EXTRACT = """      %z = arith.constant 0 : index
      %v = tensor.extract %d[%z, %k] : tensor<1x10xf32>"""
#: What they do, and what is said of it; "" where there is nothing to say.
BODIES = {
    "an index that is a constant": (loop(
        "      %k = arith.constant 100000000000 : index\n" + EXTRACT), "outside"),
    "an index that is computed": (loop(
        "      %i = linalg.index 1 : index\n"
        "      %j = arith.constant -1000000000 : index\n"
        "      %k = arith.muli %i, %j : index\n" + EXTRACT), "outside"),
    "an index that data say": (loop(
        "      %h = arith.constant 1.0e+15 : f32\n"
        "      %y = arith.addf %x, %h : f32\n"
        "      %w = arith.fptosi %y : f32 to i64\n"
        "      %k = arith.index_cast %w : i64 to index\n" + EXTRACT), "outside"),
    "an index that wraps": (loop(
        "      %w = arith.fptosi %x : f32 to i64\n"
        "      %s = arith.constant 9223372036854775807 : i64\n"
        "      %u = arith.ori %w, %s : i64\n"
        "      %k = arith.index_cast %u : i64 to index\n" + EXTRACT), "outside"),
    "a map that leaves its tensor": (loop(
        "      %v = arith.addf %x, %x : f32",
        "affine_map<(a, b, c) -> (a, b - c)>, affine_map<(a, b, c) -> (c)>, "
        "affine_map<(a, b, c) -> (a, b)>", '"parallel", "parallel", "reduction"',
        "%d, %ten : tensor<1x10xf32>, tensor<10xf32>", "%x: f32, %t: f32, "),
        "outside of operand 0"),
    "a slice that runs backwards": (
        "    %r = tensor.extract_slice %d[0, 0] [1, 10] [1, -100000000] : "
        "tensor<1x10xf32> to tensor<1x10xf32>\n", "outside"),
    "a slice from a place that data say": ("""
    %z = arith.constant 0 : index
    %x = tensor.extract %d[%z, %z] : tensor<1x10xf32>
    %h = arith.constant 1.0e+12 : f32
    %y = arith.addf %x, %h : f32
    %w = arith.fptosi %y : f32 to i64
    %k = arith.index_cast %w : i64 to index
    %s = tensor.extract_slice %d[0, %k] [1, 5] [1, 1] : tensor<1x10xf32> to tensor<1x5xf32>
    %r = tensor.insert_slice %s into %d[0, %k] [1, 5] [1, 1] : tensor<1x5xf32> into tensor<1x10xf32>
""", "outside"),
    "a division by zero": (loop(
        "      %i = arith.fptosi %x : f32 to i64\n"
        "      %c = arith.constant 0 : i64\n"
        "      %q = arith.andi %i, %c : i64\n"
        "      %p = arith.divsi %i, %q : i64\n"
        "      %v = arith.sitofp %p : i64 to f32"), ""),
    "a quotient that overflows": (loop(
        "      %c = arith.constant -9223372036854775808 : i64\n"
        "      %i = arith.fptosi %x : f32 to i64\n"
        "      %m = arith.constant -1 : i64\n"
        "      %q = arith.ori %i, %m : i64\n"
        "      %p = arith.remsi %c, %q : i64\n"
        "      %v = arith.sitofp %p : i64 to f32"), ""),
}
BEFORE = ("    %d = osa.dequantize %arg0 {scale = dense<2.500000e-01> : "
          "tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : "
          "(tensor<1x10x!num.int<s8>>) -> tensor<1x10xf32>\n"
          "    %ten = arith.constant dense<1.0> : tensor<10xf32>\n")


def packages(suite):
    """As a package's model."""
    base, copy = suite.work / "plain.rhz", suite.work / "hostile.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", base)
    suite.check(result.status == 0, "compiles", result.command)
    text = (base / "model/network.mlir").read_text()
    head = re.search(r"func\.func @host1.*flow\.place = [^\n]*\{\n", text)
    end = text.index("\n  }", head.end())
    for label, (body, says) in BODIES.items():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(base, copy)
        (copy / "model/network.mlir").write_text(
            f"{text[:head.end()]}{BEFORE}{body}"
            f"    return %r : tensor<1x10xf32>{text[end:]}")
        for words in (("simulate", "--level", "functional", "-n", 1),
                      ("run", "--driver", "cpu", "-n", 1)):
            result = ended(suite, f"{label}, {words[0]}", words[0], copy,
                           *words[1:], "--accept-changes",
                           wanted=(0, 1) if words[0] == "run" else (1,))
            # What `run` does not compute, it does not complain of.
            suite.check(not says or result.status == 0 or says in result.err
                        or "must be from" in result.err,
                        f"… says so: {result.message[-200:]}", result.command)


#: Kernels from %t to %u, eight numbers each in memory. What they call, free and
#: reach is not theirs.
MEMORY = {
    "calls a function of the system's": """
  %b = memref.alloca() : memref<2xi64>
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %h0 = arith.constant {first} : i64
  %h1 = arith.constant {second} : i64
  memref.store %h0, %b[%z] : memref<2xi64>
  memref.store %h1, %b[%o] : memref<2xi64>
  %r = func.call @system(%b) : (memref<2xi64>) -> i32""",
    "ends the process": """
  %c = arith.constant 7 : i32
  func.call @exit(%c) : (i32) -> ()""",
    "reads far away": """
  %k = arith.constant 100000000000 : index
  %z = arith.constant 0 : index
  %v = memref.load %t[%k] : memref<8xf64>
  memref.store %v, %u[%z] : memref<8xf64>""",
    "writes where data say": """
  %z = arith.constant 0 : index
  %v = memref.load %t[%z] : memref<8xf64>
  %w = arith.fptosi %v : f64 to i64
  %m = arith.constant 68719476736 : i64
  %s = arith.ori %w, %m : i64
  %k = arith.index_cast %s : i64 to index
  memref.store %v, %u[%k] : memref<8xf64>""",
    "runs beyond an end": """
  affine.for %i = 0 to 8 {{
    %v = affine.load %t[%i * 100000000] : memref<8xf64>
    affine.store %v, %u[%i] : memref<8xf64>
  }}""",
    "runs beyond an end by one": """
  affine.for %i = 0 to 8 {{
    %v = affine.load %t[%i + 1] : memref<8xf64>
    affine.store %v, %u[%i] : memref<8xf64>
  }}""",
    "takes memory for other memory": """
  %v = memref.reinterpret_cast %t to offset: [100000000000], sizes: [8], strides: [1] : memref<8xf64> to memref<8xf64, strided<[1], offset: 100000000000>>
  %z = arith.constant 0 : index
  %x = memref.load %v[%z] : memref<8xf64, strided<[1], offset: 100000000000>>
  memref.store %x, %u[%z] : memref<8xf64>""",
    "frees what is not its own": """
  memref.dealloc %t : memref<8xf64>""",
    "frees what it uses": """
  %a = memref.alloc() : memref<8xf64>
  %z = arith.constant 0 : index
  memref.dealloc %a : memref<8xf64>
  %x = memref.load %a[%z] : memref<8xf64>
  memref.store %x, %u[%z] : memref<8xf64>""",
    "reads vectors": """
  %k = arith.constant 100000000000 : index
  %v = vector.load %t[%k] : memref<8xf64>, vector<4xf64>
  %z = arith.constant 0 : index
  vector.store %v, %u[%z] : memref<8xf64>, vector<4xf64>""",
    "has the stack for itself": """
  %a = memref.alloca() : memref<300000xf64>
  affine.for %i = 0 to 300000 {{
    %v = affine.load %t[%i mod 8] : memref<8xf64>
    affine.store %v, %a[%i] : memref<300000xf64>
  }}
  affine.for %i = 0 to 8 {{
    %v = affine.load %a[%i * 30000] : memref<300000xf64>
    affine.store %v, %u[%i] : memref<8xf64>
  }}""",
    "takes memory in a loop": """
  affine.for %i = 0 to 8 {{
    %a = memref.alloca() : memref<8xf64>
    %v = affine.load %t[%i] : memref<8xf64>
    affine.store %v, %a[%i] : memref<8xf64>
    %w = affine.load %a[%i] : memref<8xf64>
    affine.store %w, %u[%i] : memref<8xf64>
  }}""",
}
#: And on tensors, from %a, eight numbers, to %r, 8 x 8.
TENSORS = {
    "with a map that leaves": """
  %s = tensor.extract_slice %a[0] [1] [1] : tensor<8xf64> to tensor<1xf64>
  %e = tensor.empty() : tensor<8x8xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> ((i - j) * 1000000000)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1xf64>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%x: f64, %o: f64):
    linalg.yield %x : f64
  } -> tensor<8x8xf64>""",
    "with a slice that runs backwards": """
  %s = tensor.extract_slice %a[0] [8] [-100000000] : tensor<8xf64> to tensor<8xf64>
  %e = tensor.empty() : tensor<8x8xf64>
  %r = linalg.broadcast ins(%s : tensor<8xf64>) outs(%e : tensor<8x8xf64>) dimensions = [0]""",
    "with an index that data say": """
  %e = tensor.empty() : tensor<8x8xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8xf64>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%x: f64, %o: f64):
    %w = arith.fptosi %x : f64 to i64
    %c = arith.constant 100000000000 : i64
    %s = arith.ori %w, %c : i64
    %k = arith.index_cast %s : i64 to index
    %v = tensor.extract %a[%k] : tensor<8xf64>
    linalg.yield %v : f64
  } -> tensor<8x8xf64>""",
}


def kernels(suite):
    """Kernels are data: what a module declares is not called, and nothing but
    its arrays is reached."""
    command = b"touch harm".ljust(16, b"\0")
    first, second = (int.from_bytes(command[k:k + 8], "little") for k in (0, 8))
    path, out = suite.work / "kernel.mlir", suite.work / "kernel"
    texts = {label: "func.func private @system(memref<2xi64>) -> i32\n" *
             ("@system" in body) + "func.func private @exit(i32)\n" *
             ("@exit" in body) + "func.func @k(%t: memref<8xf64>, %u: "
             "memref<8xf64>) attributes {rhizome.kernel} {" +
             body.format(first=first, second=second) + "\n  return\n}\n"
             for label, body in MEMORY.items()}
    texts |= {label: "func.func @k(%a: tensor<8xf64>) -> tensor<8x8xf64> "
              "attributes {rhizome.kernel} {" + body +
              "\n  return %r : tensor<8x8xf64>\n}\n"
              for label, body in TENSORS.items()}
    for label, text in texts.items():
        path.write_text(text)
        for words in (("run", path), ("compile", path, "-o", out),
                      ("formats", path)):
            result = run_program([suite.rhizome, *words], timeout=60,
                                 memory_gb=4, cwd=suite.work)
            suite.check(result.status == 1 and "kernel.mlir:" in result.err
                        and not (suite.work / "harm").exists(),
                        f"a kernel {label}, {words[0]}: {result.status} "
                        f"{result.message[:200]}", result.command)
            shutil.rmtree(out, ignore_errors=True)


def nested(suite):
    """What MLIR's parser does not survive, wherever it is read."""
    out = suite.work / "out.rhz"
    for label, text in (
            ("nested deeply", "module {" * 100000 + "}" * 100000),
            ("with an array of indices",
             "module attributes {a = array<index: 1>} {}")):
        path = suite.work / "module.mlir"
        path.write_text(text)
        for phase in ("import", "quantize", "explore", "lower", "emit"):
            ended(suite, f"a module {label}, {phase}", "compile", path,
                  "--compile-from", phase, "-o", out, wanted=(1,),
                  says="module.mlir")
        for command in ("run", "coverage", "analyze", "formats"):
            ended(suite, f"a module {label}, {command}", command, path,
                  wanted=(1,), says="module.mlir")


def bytecode(suite, count):
    """A file of bytecode with a few bytes changed; the process that reads it
    may die of that, the command may not."""
    path, code = suite.work / "net.mlir", suite.work / "net.mlirbc"
    path.write_text("""func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %w = arith.constant dense<0.5> : tensor<4x4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%f : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}
""")
    made = run_program([suite.rhizome.parent / "rhizome-opt", "--emit-bytecode",
                        path, "-o", code])
    suite.check(made.status == 0, "bytecode is written", made.command)
    good = code.read_bytes()
    ends = {}
    for i in range(int(count)):
        chance, data = random.Random(f"bytecode {i}"), bytearray(good)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(8, len(data))
            if chance.random() < 0.8:
                data[at] = chance.randrange(256)
            else:
                del data[at:at + chance.randint(1, 8)]
        code.write_bytes(data)
        result = ended(suite, f"bytecode {i}", "coverage", code, quiet=True)
        ends[result.status] = ends.get(result.status, 0) + 1
    suite.check(set(ends) <= {0, 1}, f"{count} files of bytecode: {ends}")
    code.write_bytes(good)
    for words in (("compile", code, "--compile-from", "import", "-o",
                   suite.work / "out.rhz"),):
        ended(suite, "bytecode between phases", *words, wanted=(1,),
              says="bytecode")


def modules(suite, count=40):
    packages(suite)
    kernels(suite)
    nested(suite)
    bytecode(suite, count)
