# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels as hardware: programs of stencils, strided and partial reads,
windows, contractions and elementwise work, each with every option of the command
line drawn; in RTL they equal the evaluator, and cycles are as predicted."""
import json
import random
import re

import framework
import kernels

WITH_MEMORY = ("xcu280", "xc7z020", "xc7z010", "xczu3eg", "xc7a100t", "xck26",
               "xcu55c")
DEVICES = WITH_MEMORY + ("xcku060-role",)
# Reasons for which options that do not go together are refused.
REFUSALS = ("no copies of this kernel", "copies of --copies", "it needs ", "no room for",
            "no input is left", "no off-chip memory", "cannot be built so",
            "fits no", "is not within", "the goal does not allow",
            "no logic is built for", "for which no hardware is built yet",
            "and other statements in formats", "slower", "at most 64", "channels",
            "a result that is not computed", "for 'tensor.collapse_shape'",
            "bits wide", "larger than", "the kernel reads no",
            "depends on no argument", "no result depends on an argument",
            "depends on resident arguments only")
# Kernels that were wrong once, with their options.
FIXED = (
    # A stage reads a part of a slot whose address has as many bits as that of
    # what it writes.
    ("var input  u : [4]\nvar output w : [3]\nw[j] = u[j+0] * 2\n",
     ("--numbers", "fixed<20,4>", "--stages", "1", "--device", "xcu280")),
    ("var input  u : [12] halo [1]\nvar output w : [12]\n"
     "w[i] = u[i-1] + u[i] + u[i+1]\n",
     ("--numbers", "fixed<8,8>", "--stages", "2", "--device", "xcu280")),
    ("var input  u : [5 10]\nvar output w : [2 10]\nw[i,j] = u[2*i+0,j] * 3\n",
     ("--numbers", "fixed<8,8>", "--stages", "1", "--lanes", "2", "--device",
      "xcu280")),
    ("var input  u : [8 6]\nvar output w : [7 6]\nw[i,j] = u[i+0,j] - 1\n",
     ("--numbers", "float<5,10>", "--stages", "3", "--words", "2", "--device",
      "xcu280")),
    # A burst that is longer than the queue of a small device's memory.
    ("var input S : [6 6]\nvar input u : [6 6 6]\nvar output v : [6 6 6]\n"
     "var t : [6 6 6]\nt = S # S # S # u . [[1 6] [3 7] [5 8]]\nv = t * u\n",
     ("--numbers", "fixed<8,24>", "--system", "--device", "xc7z020")),
    # A ring of words whose last ones wait for nothing else to happen.
    ("var input b : [3 7]\nvar output t : [3 7]\nt[i,j] = b[i+0,j] * 0.75\n",
     ("--numbers", "fixed<12,0>", "--goal", "min-latency", "--system", "--device",
      "xc7z010")),
    # An order of a sum, beside copies that are added for hardware.
    ("var input a : [18]\nvar input b : [3 18]\nvar t : [2 18]\n"
     "var output v : [2 3]\nt[0,i] = a[i] + 0.5\nt[1,i] = 1 * a[i]\n"
     "v[i,n] = sum(j) b[n,j] * t[i,j]\n",
     ("--numbers", "float<8,23>", "--goal", "min-latency,dsp=20", "--device",
      "xcu55c")),
    # Units that share a bank, whose distances grow for a long time.
    ("var input b : [2 6 5]\nvar output t : [2 6 5]\nt[i,j,k] = b[i,j,k] / 1\n",
     ("--numbers", "fixed<6,5>", "--stages", "5", "--words", "8", "--system",
      "--units", "3", "--device", "xc7z020", "--clock-mhz", "150")),
    # A remainder of one bit against its half, which it is never above.
    ("var input u : [4]\nvar output w : [4]\nw[i] = u[i] * 0.5\n",
     ("--numbers", "fixed<4,1>", "--stages", "1", "--device", "xcu280")),
    # A tensor of zeros has no banks that its readers must go with.
    ("var input a : [11 7]\nvar t : [2 11 7]\nvar z : [2 11 7]\n"
     "var output v : [2 11 7]\nvar output w : [2 11 7]\nt[0,i,j] = a[i,j] + 2\n"
     "t[1,i,j] = 2 * a[i,j]\nz[i,j,k] = t[i,j,k] - t[i,j,k]\n"
     "v[i,j,k] = z[i,10-j,k] + z[i,j,k]\nw[i,j,k] = t[i,j,6-k] + t[i,j,k]\n",
     ("--numbers", "fixed<9,24>", "--lanes", "4", "--goal",
      "max-throughput,dsp=8", "--device", "xc7z010", "--clock-mhz", "100")),
    # Numbers without a sign in wider words of the stream.
    ("var input b : [38]\nvar t0 : [38]\nvar t1 : [38] @ufixed(11,19)\n"
     "var t2 : [7] @fixed(9,14)\nvar output t3 : [7]\n"
     "var output t4 : [38] @ufixed(5,11)\nt0[i] = b[i] + b[i]\n"
     "t1[i] = t0[37-i] + t0[i]\nt2[i] = t0[3*i+2] + 0.75 * t0[3*i+2]\n"
     "t3[i] = t0[i+31] + t2[i]\nt4[i] = t1[i] * t1[i] + 0.75\n",
     ("--numbers", "fixed<4,13>", "--device", "xc7a100t", "--goal",
      "max-throughput,dsp=8")),
    # Zeros that nothing reads, beside sums in formats of their own.
    ("var input b : [2 3] @fixed(5,5)\nvar input c : [3 2]\n"
     "var input d : [2 3]\nvar t0 : [3 2] @float(5,5)\nvar output t1 : [3 3]\n"
     "var t2 : [2 2] @fixed(9,1)\nvar output t3 : [2]\nt0[j,i] = b[i,j] * 3\n"
     "t1[i,n] = sum(j) c[n,j] * t0[i,j]\nt2[i,n] = sum(j) d[n,j] * b[i,j]\n"
     "t3[j] = sum(i) t2[i,j]\n",
     ("--numbers", "fixed<7,2>", "--device", "xczu3eg", "--stages", "4",
      "--lanes", "4", "--words", "8", "--gemm")),
    # Formats that read the caller's reals.
    ("var input a : [4]\nvar t : [4] @fixed(8,8)\nvar output w : [4] "
     "@fixed(8,8)\nt[i] = a[i] * a[i]\nw[i] = t[i] + t[3-i]\n",
     ("--device", "xcu280")),
    ("var input b : [22] halo [1]\nvar output t0 : [15] @fixed(2,7)\n"
     "var output t1 : [21] @ufixed(5,6)\nvar output t2 : [22] @float(5,23)\n"
     "t0[i] = b[i+7] * 2\nt1[i] = max(p : 2) b[i+p]\n"
     "t2[i] = b[i+1] - b[i-1]\n", ("--device", "xcu55c", "--stages", "5")),
    # Two parts of what is no result, beside a sum of the same shape.
    ("var input b : [3 2]\nvar input c : [2 2]\nvar t : [2 3 2]\n"
     "var output v : [2 3 2]\nt[0,i,j] = b[i,j] + 1\nt[1,i,j] = 1 * b[i,j]\n"
     "v[n,j,k] = sum(i) c[n,i] * t[i,j,k]\n",
     ("--numbers", "fixed<3,1>", "--stages", "5", "--device", "xc7z020")),
    ("var input b : [3 2]\nvar input c : [2 2]\nvar t : [2 3 2]\n"
     "var output v : [2 3 2]\nt[0,i,j] = b[i,j] + 1\nt[1,i,j] = 2 * b[i,j]\n"
     "v[n,j,k] = sum(i) c[n,i] * t[i,j,k]\n",
     ("--stages", "2", "--device", "xcu280")),
    # What follows a sum names it, and does not read it.
    ("var input a : [6 12]\nvar t : [12]\nvar output w : [12]\n"
     "var output v : [12]\nt[j] = min(i) a[i,j]\nw[i] = t[i] - t[i]\n"
     "v[j] = max(i) a[i,j]\n",
     ("--numbers", "fixed<7,3>", "--device", "xc7z020", "--lanes", "2")),
)


class Program:
    """A random kernel: statements that each read tensors of those before."""

    def __init__(self, rng):
        self.rng = rng
        self.declared, self.lines = [], []
        self.tensors = []  # (name, shape) that may be read
        self.inputs, self.halos, self.read = [], {}, set()
        self.usesFunctions = False
        for _ in range(rng.randint(1, 2)):
            self.add_input(self.shape())
        for _ in range(rng.randint(1, 5)):
            self.add_statement()
        self.finish()

    def shape(self):
        rank = self.rng.choice((1, 1, 2, 2, 3))
        most = {1: 40, 2: 12, 3: 6}[rank]
        return tuple(self.rng.randint(2, most) for _ in range(rank))

    def add_input(self, shape):
        name = "abcdefgh"[len(self.inputs)]
        halo = ()
        if self.rng.random() < 0.3:
            halo = tuple(self.rng.randint(0, 2) for _ in shape)
        self.inputs.append((name, shape, halo))
        self.halos[name] = halo
        self.tensors.append((name, shape))
        return name, shape

    def pick(self):
        # What is new is read more often.
        at = max(self.rng.randrange(len(self.tensors))
                 for _ in range(2))
        name, shape = self.tensors[at]
        self.read.add(name)
        return name, shape

    def number(self):
        return self.rng.choice(("2", "3", "0.5", "1.25", "0.75", "1"))

    def make(self, shape, line, *more):
        name = f"t{len(self.declared)}"
        self.declared.append((name, shape))
        self.lines += [text.replace("@", name) for text in (line, *more)]
        self.tensors.append((name, shape))

    @staticmethod
    def indices(shape):
        return list("ijk"[:len(shape)])

    def add_statement(self):
        rng = self.rng
        name, shape = self.pick()
        if len(self.inputs) == len(self.read) and rng.random() < 0.2 and \
                len(self.inputs) < 4:
            self.add_input(self.shape())
        kind = rng.choice((self.stencil, self.stencil, self.strided,
                           self.prefix, self.reverse, self.unary, self.binary,
                           self.reduce, self.contract, self.window,
                           self.transpose, self.parts))
        kind(name, shape)

    def stencil(self, name, shape):
        """Neighbors along some dimensions, in the halo or inside."""
        rng, halo = self.rng, self.halos.get(name, ())
        i, out = self.indices(shape), list(shape)
        offsets = [0] * len(shape)
        if not any(halo):
            for d, size in enumerate(shape):
                if size > 2 and rng.random() < 0.6:
                    offsets[d] = rng.randint(1, min(3, size - 1))
                    out[d] = size - offsets[d]
        terms = []
        for _ in range(rng.randint(2, 4)):
            at = []
            for d, index in enumerate(i):
                if any(halo):
                    by = rng.randint(-halo[d], halo[d])
                    at.append(f"{index}{by:+d}" if by else index)
                elif offsets[d]:
                    at.append(f"{index}+{rng.randint(0, offsets[d])}")
                else:
                    at.append(index)
            factor = f"{self.number()} * " if rng.random() < 0.5 else ""
            terms.append(f"{factor}{name}[{','.join(at)}]")
        self.make(tuple(out), f"@[{','.join(i)}] = " +
                  rng.choice((" + ", " - ")).join(terms))

    def strided(self, name, shape):
        d = self.rng.randrange(len(shape))
        i, step = self.indices(shape), self.rng.randint(2, 3)
        if shape[d] < step + 1:
            return self.unary(name, shape)
        out, at = list(shape), list(i)
        out[d] = self.rng.randint(1, shape[d] // step)
        at[d] = f"{step}*{i[d]}+{self.rng.randint(0, step - 1)}"
        other = list(at)
        other[d] = f"{step}*{i[d]}+{self.rng.randint(0, step - 1)}"
        self.make(tuple(out), f"@[{','.join(i)}] = {name}[{','.join(at)}] + "
                  f"{self.number()} * {name}[{','.join(other)}]")

    def prefix(self, name, shape):
        """The first places of a dimension, or a few from the middle."""
        d, i = self.rng.randrange(len(shape)), self.indices(shape)
        out, at = list(shape), list(i)
        out[d] = self.rng.randint(1, shape[d])
        at[d] = f"{i[d]}+{self.rng.randint(0, shape[d] - out[d])}"
        self.make(tuple(out), f"@[{','.join(i)}] = {name}[{','.join(at)}] * "
                  f"{self.number()}")

    def reverse(self, name, shape):
        d, i = self.rng.randrange(len(shape)), self.indices(shape)
        at = list(i)
        at[d] = f"{shape[d] - 1}-{i[d]}"
        self.make(shape, f"@[{','.join(i)}] = {name}[{','.join(at)}] + "
                  f"{name}[{','.join(i)}]")

    def unary(self, name, shape):
        i = ",".join(self.indices(shape))
        x, c = f"{name}[{i}]", self.number()
        text = self.rng.choice((f"abs({x}) + {c}", f"min({x}, {c})",
                                f"max({x}, {x} * {c})", f"{c} - {x}",
                                f"{x} * {x} + {c}", f"{x} / {c}"))
        self.make(shape, f"@[{i}] = {text}")

    def binary(self, name, shape):
        """With another tensor of which it reads as much as both have."""
        other, its = self.pick()
        if len(its) != len(shape):
            return self.unary(name, shape)
        out = tuple(map(min, shape, its))
        i = self.indices(shape)
        x = [a if n == o else f"{a}+{n - o}" for a, n, o in zip(i, shape, out)]
        y = [a if n == o else f"{a}+0" for a, n, o in zip(i, its, out)]
        self.make(out, f"@[{','.join(i)}] = {name}[{','.join(x)}] "
                  f"{self.rng.choice('+-*')} {other}[{','.join(y)}]")

    def reduce(self, name, shape):
        i = self.indices(shape)
        if len(shape) == 1:
            return self.unary(name, shape)
        d = self.rng.randrange(len(shape))
        out = shape[:d] + shape[d + 1:]
        rest = i[:d] + i[d + 1:]
        self.make(out, f"@[{','.join(rest)}] = "
                  f"{self.rng.choice(('sum', 'max', 'min'))}({i[d]}) "
                  f"{name}[{','.join(i)}]")

    def contract(self, name, shape):
        """A dimension with that of a matrix or vector of weights."""
        if len(self.inputs) > 4:
            return self.unary(name, shape)
        d, i = self.rng.randrange(len(shape)), self.indices(shape)
        rows = self.rng.randint(1, 5)
        halos, self.halos = self.halos, dict(self.halos)
        weights = "abcdefgh"[len(self.inputs)]
        self.inputs.append((weights, (rows, shape[d]), ()))
        self.halos = {**halos, weights: ()}
        self.read.add(weights)
        at = list(i)
        at[d] = "n"
        out = list(shape)
        out[d] = rows
        self.make(tuple(out), f"@[{','.join(at)}] = sum({i[d]}) "
                  f"{weights}[n,{i[d]}] * {name}[{','.join(i)}]")

    def window(self, name, shape):
        """A maximum or sum over windows, with strides."""
        i = self.indices(shape)
        d = self.rng.randrange(len(shape))
        if shape[d] < 3:
            return self.unary(name, shape)
        size = self.rng.randint(2, min(3, shape[d]))
        step = self.rng.randint(1, size)
        out, at = list(shape), list(i)
        out[d] = (shape[d] - size) // step + 1
        at[d] = f"{step}*{i[d]}+p" if step > 1 else f"{i[d]}+p"
        self.make(tuple(out), f"@[{','.join(i)}] = "
                  f"{self.rng.choice(('max', 'sum', 'min'))}(p : {size}) "
                  f"{name}[{','.join(at)}]")

    def transpose(self, name, shape):
        i = self.indices(shape)
        order = list(range(len(shape)))
        self.rng.shuffle(order)
        self.make(tuple(shape[d] for d in order),
                  f"@[{','.join(i[d] for d in order)}] = "
                  f"{name}[{','.join(i)}] * {self.number()}")

    def parts(self, name, shape):
        """Rows of a tensor, each computed in its place."""
        if len(shape) == 3:
            return self.unary(name, shape)
        i = ",".join(self.indices(shape))
        self.make((2,) + shape, f"@[0,{i}] = {name}[{i}] + {self.number()}",
                  f"@[1,{i}] = {self.number()} * {name}[{i}]")

    def finish(self):
        """What nobody reads is an output; inputs that nobody reads go."""
        self.inputs = [one for one in self.inputs if one[0] in self.read]
        outputs = [one for one in self.declared if one[0] not in self.read]
        text = ""
        for name, shape, halo in self.inputs:
            extents = " ".join(map(str, shape))
            text += f"var input {name} : [{extents}]"
            text += (f" halo [{' '.join(map(str, halo))}]\n" if any(halo)
                     else "\n")
        for name, shape in self.declared:
            word = "output " if (name, shape) in outputs else ""
            text += f"var {word}{name} : [{' '.join(map(str, shape))}]\n"
        self.text = text + "\n".join(self.lines) + "\n"


def numbers(rng):
    """A number format, with its rounding."""
    kind = rng.choice(("fixed", "fixed", "fixed", "float", "own"))
    if kind == "own":
        return ()
    if kind == "float":
        return "--numbers", rng.choice(("float<5,10>", "float<8,23>", "half",
                                        "float<6,9>", "float<4,5>"))
    out = ["--numbers", f"fixed<{rng.randint(2, 12)},{rng.randint(0, 24)}>"]
    if rng.random() < 0.5:
        out += ["--rounding", rng.choice(("nearest_even", "nearest_away",
                                          "toward_zero", "up", "down"))]
    if rng.random() < 0.3:
        out.append("--saturate")
    if rng.random() < 0.3:
        out.append("--fused")
    return tuple(out)


def annotated(rng, text):
    """The program, some of whose declarations have formats of their own."""
    if rng.random() < 0.7:
        return text
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("var ") and rng.random() < 0.5:
            kind = rng.choice(("fixed", "fixed", "fixed", "ufixed", "float"))
            widths = ((rng.choice((5, 6, 8)), rng.choice((5, 10, 23)))
                      if kind == "float" else
                      (rng.randint(2, 12), rng.randint(0, 24)))
            lines[number] += f" @{kind}({widths[0]},{widths[1]})"
    return "\n".join(lines) + "\n"


def options(rng, program):
    """How it is built."""
    isSystem = rng.random() < 0.25
    out = ["--device", rng.choice(WITH_MEMORY if isSystem else DEVICES)]
    if rng.random() < 0.3:
        out += ["--clock-mhz", str(rng.choice((50, 100, 150, 200)))]
    if rng.random() < 0.6:
        out += ["--stages", str(rng.randint(1, 5))]
    if rng.random() < 0.3:
        out += ["--lanes", str(rng.randint(2, 4))]
    goal = rng.random() < 0.35
    if not goal and rng.random() < 0.4:
        out += ["--words", str(rng.choice((2, 3, 4, 5, 8)))]
    if len(program.inputs) > 1 and rng.random() < 0.25:
        out += ["--resident", rng.choice(program.inputs)[0]]
    if goal:
        out += ["--goal", rng.choice((
            "max-throughput", "min-latency", "min-resources",
            "max-throughput,dsp=8", "max-throughput,lut=4000",
            "throughput=200000/s", "min-latency,dsp=20"))]
    if isSystem:
        out.append("--system")
        if rng.random() < 0.4:
            out += ["--units", str(rng.randint(2, 3))]
    if rng.random() < 0.2:
        out.append("--keep-order")
    if rng.random() < 0.2:
        out.append("--gemm")
    return tuple(out)


def copies(suite, rng, path, chosen):
    """Copies of one or two nests, as the command names them."""
    answer = suite.run("explore", path, *chosen, "--json").json or {}
    out = []
    for number, nest in enumerate((answer.get("kernel") or {})
                                  .get("nests", [])):
        if rng.random() < 0.4:
            continue
        # Which loops it has is told by a refusal.
        result = suite.run("explore", path, *chosen, "--copies",
                           f"{number + 1}=1x1x1x1x1x1x1x1x1")
        loops = re.search(r"the iterations ([\d, ]+),", result.err)
        if not loops:
            continue
        ways = [rng.choice([n for n in range(1, size + 1) if n <= 4])
                for size in map(int, loops[1].split(", "))]
        out += ["--copies", f"{number + 1}=" + "x".join(map(str, ways))]
    return tuple(out[:4])


class Tally:
    built = refused = systems = verilated = 0


def without_choices(options):
    """Options without those that a plan has."""
    out, options = [], iter(options)
    for option in options:
        if option in ("--goal", "--copies", "--stages", "--resident", "--lanes",
                      "--words", "--units"):
            next(options)
        elif option != "--system":
            out.append(option)
    return out


def check(suite, label, path, chosen, rng, tally, verilate):
    """Compiles and simulates one; False if something is wrong."""
    package = suite.work / "random.rhz"
    keep = suite.work / "wrong" / f"{framework.slug(label)}.cfd"

    def wrong(text, result):
        keep.parent.mkdir(exist_ok=True)
        keep.write_text(f"// {' '.join(map(str, chosen))}\n" +
                        path.read_text())
        return suite.check(False, f"{label}: {text}; kept as {keep}\n"
                           f"{path.read_text()}", result.command)

    result = suite.run("compile", path, *chosen, "-o", package, "--json",
                       timeout=60)
    if result.status != 0:
        tally.refused += 1
        if result.status in (1, 2) and any(
                r in result.err + result.out for r in REFUSALS):
            return True
        return wrong(f"compile ends with {result.status}: {result.message}",
                     result)
    if rng.random() < 0.25:
        again = suite.work / "again.rhz"
        result = suite.run("compile", path, *without_choices(chosen), "--plan",
                           package, "-o", again, "--json", timeout=60)
        if result.status != 0 or (kernels.files_of(again) !=
                                  kernels.files_of(package)):
            return wrong(f"--plan gives another package {result.message}",
                         result)
    if rng.random() < 0.15:
        phase = rng.choice(["import", "normalize", "quantize", "integerize",
                            "explore", "build", "lower", "emit"])
        module, again = suite.work / "random.mlir", suite.work / "phased.rhz"
        result = suite.run("compile", path, *chosen, "--compile-to", phase,
                           "-o", module, timeout=60)
        if result.status == 0:
            result = suite.run("compile", module, "--compile-from", phase, "-o",
                               again, timeout=60)
        if result.status != 0 or (kernels.files_of(again) !=
                                  kernels.files_of(package)):
            return wrong(f"{phase} gives another package {result.message}",
                         result)
    plan = json.loads((package / "plan.json").read_text())
    predicted, unit = plan["predicted"], plan["kernel"]
    tally.built += 1
    system = unit.get("system")
    tally.systems += bool(system)
    frames = str(rng.randint(1, 4) * (1 + 2 * bool(unit["dataflow"])))
    if not system and not verilate:
        result = suite.run("simulate", package, "-n", frames, "--four-state",
                           "--json", timeout=240)
        if (result.json or {}).get("mismatches") != 0:
            return wrong(f"{result.json} {result.message}", result)
        return True
    tally.verilated += 1
    result = suite.run("simulate", package, "-n", frames, "--json",
                       timeout=240)
    answer = result.json or {}
    measured = answer.get("measured") or {}
    if answer.get("mismatches") != 0 or not measured:
        return wrong(f"{answer} {result.message}", result)

    def isNear(key, share):
        return abs(measured[key] - predicted[key]) <= share * measured[key] + 1

    good = (isNear("interval_cycles", 0.01) and isNear("latency_cycles", 0.03)
            if system else
            all(measured[k] == predicted[k]
                for k in ("interval_cycles", "latency_cycles")))
    if not good:
        return wrong(f"measured {measured}, predicted {predicted}", result)
    if rng.random() < 0.3:
        result = suite.run("simulate", package, "-n", frames, "--stalls-in",
                           "30", "--stalls-out", "30", "--json", timeout=240)
        if (result.json or {}).get("mismatches") != 0:
            return wrong(f"with stalls: {result.json} {result.message}", result)
    return True


def random_kernels(suite, first, count, share="0.2"):
    """Kernels from one seed on; a share of those without a system in Verilator,
    with cycles, the others in Icarus Verilog, with X."""
    suite.tool("verilator")
    suite.tool("iverilog")
    tally = Tally()
    for number, (text, chosen) in enumerate(FIXED if share != "0" else ()):
        path = suite.work / "fixed.cfd"
        path.write_text(text)
        check(suite, f"fixed {number}", path, chosen, random.Random(number),
              tally, True)
    for seed in range(int(first), int(first) + int(count)):
        rng = random.Random(seed)
        program = Program(rng)
        path = suite.work / "random.cfd"
        path.write_text(annotated(random.Random(f"formats {seed}"),
                                  program.text))
        chosen = numbers(rng) + options(rng, program)
        if "--goal" not in chosen and rng.random() < 0.35:
            chosen += copies(suite, rng, path, chosen)
        check(suite, f"seed {seed}", path, chosen, rng, tally,
              rng.random() < float(share))
    suite.check(not suite.failures,
                f"{tally.built} kernels built and right in RTL, "
                f"{tally.systems} of them with systems, {tally.verilated} with "
                f"cycles; {tally.refused} refused")
