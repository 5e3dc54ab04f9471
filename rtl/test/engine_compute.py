#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The computing side of an engine, rhz_engine_compute, with random instructions of its
two units that tokens order where they must, against the semantics of rtl/isa/Engine.td
written once more in Python: all words of the scratchpad and all sums are compared.
  engine_compute.py [--seeds N] [--simulator icarus|verilator] [--measure]
--measure tells which share of its cycles the array works for tiles of several sizes."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BENCH = "rhz_tb_engine_compute"
MATRIX = [("place", 17), ("taps2", 5), ("taps1", 5), ("taps0", 9), ("step2", 14), ("step1", 12),
          ("step0", 12), ("rows", 10), ("columns", 10), ("row_step", 14), ("column_step", 12),
          ("bank", 1), ("entry", 10), ("more", 1)]
VECTOR = [("operation", 3), ("a", 17), ("b", 17), ("place", 17), ("constants", 17), ("rows", 10),
          ("columns", 10), ("taps1", 6), ("taps0", 6), ("a_row", 14), ("a_column", 10),
          ("b_row", 14), ("b_column", 10), ("place_row", 14), ("place_column", 10), ("bank", 1),
          ("entry", 10), ("group", 1), ("more", 1), ("shift", 2), ("low", 8), ("high", 8)]
REQUANTIZE, ADD, MAXIMUM, DOT, MULTIPLY, TABLE = range(6)
MATRIX_UNIT, VECTOR_UNIT = 2, 3


def encode(opcode, fields, values, waits, gives):
    word, at = opcode | waits << 3 | gives << 8, 13
    for name, bits in fields:
        word |= (values[name] & ((1 << bits) - 1)) << at
        at += bits
    return word


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Core:
    def __init__(self, p, rng):
        self.p = p
        edge = lambda: rng.choice([-128, 127, 0, -1, rng.randint(-128, 127),
                                   rng.randint(-128, 127), rng.randint(-128, 127)])
        self.scratch = [[edge() for _ in range(p["In"])] for _ in range(p["Words"])]
        self.sums = [[[0] * p["Out"] for _ in range(p["Entries"])] for _ in range(2)]

    def wrap(self, value):
        return signed(value, self.p["SumBits"])

    def matrix(self, v, blocks):
        p = self.p
        t = 0
        for i in range(v["taps2"]):
            for j in range(v["taps1"]):
                for k in range(v["taps0"]):
                    tap = v["place"] + i * v["step2"] + j * v["step1"] + k * v["step0"]
                    fresh = t == 0 and not v["more"]
                    for y in range(v["rows"]):
                        for x in range(v["columns"]):
                            word = self.scratch[tap + y * v["row_step"] + x * v["column_step"]]
                            sums = self.sums[v["bank"]][v["entry"] + y * v["columns"] + x]
                            for n in range(p["Out"]):
                                sum_ = sum(a * b for a, b in zip(word, blocks[t][n]))
                                sums[n] = self.wrap(sum_ if fresh else sums[n] + sum_)
                    t += 1

    def constant(self, first, count, lane, bits):
        value = 0
        for i in reversed(range(count)):
            value = value * 256 + (self.scratch[first + i][lane] & 255)
        return signed(value, bits)

    def vector(self, v):
        p, op = self.p, v["operation"]
        for t in range(v["taps1"] * v["taps0"]):
            i, j = divmod(t, v["taps0"])
            for y in range(v["rows"]):
                for x in range(v["columns"]):
                    entry = v["entry"] + y * v["columns"] + x
                    a = v["a"] + y * v["a_row"] + x * v["a_column"]
                    b = v["b"] + y * v["b_row"] + x * v["b_column"]
                    to = v["place"] + y * v["place_row"] + x * v["place_column"]
                    tap = a + i * v["b_row"] + j * v["b_column"]
                    for c in range(p["In"]):
                        n = v["group"] * p["In"] + c
                        if op == REQUANTIZE:
                            m = self.constant(v["constants"], 5, c, 35)
                            o = self.constant(v["constants"] + 5, 6, c, 47)
                            value = (self.sums[v["bank"]][entry][n] * m + o) >> (17 + 8 * v["shift"])
                        elif op == ADD:
                            m = self.constant(v["constants"], 3, c, 24)
                            k = self.constant(v["constants"] + 3, 3, c, 24)
                            o = self.constant(v["constants"] + 6, 6, c, 47)
                            value = (4 * (self.scratch[a][c] * m + self.scratch[b][c] * k) + o) >> (
                                8 * v["shift"])
                        elif op == MAXIMUM:
                            value = self.scratch[tap][c]
                            if t > 0:
                                value = max(value, self.scratch[to][c])
                        elif op == TABLE:
                            at = self.scratch[a][c] + 128
                            value = self.scratch[v["constants"] + at // p["In"]][at % p["In"]]
                        else:
                            first, second = (tap, v["b"] + t) if op == DOT else (a, b)
                            product = self.scratch[first][c] * self.scratch[second][c]
                            fresh = t == 0 and not v["more"]
                            sums = self.sums[v["bank"]][entry]
                            sums[n] = self.wrap(product if fresh else sums[n] + product)
                            continue
                        self.scratch[to][c] = min(max(value, v["low"]), v["high"])


def box(first, loops):
    words = {first}
    for count, stride in loops:
        words = {w + i * stride for w in words for i in range(count)}
    return words


def accesses(unit, v, p):
    """What an instruction reads and what it writes, and how many writes that are."""
    tile = {("sum", v["bank"], v["entry"] + e) for e in range(v["rows"] * v["columns"])}
    if unit == MATRIX_UNIT:
        reads = box(v["place"], [(v["taps2"], v["step2"]), (v["taps1"], v["step1"]),
                                 (v["taps0"], v["step0"]), (v["rows"], v["row_step"]),
                                 (v["columns"], v["column_step"])])
        return reads | (tile if v["more"] else set()), tile, len(tile)
    op = v["operation"]
    reads, writes, count = set(), set(), v["rows"] * v["columns"]
    pixels = [(v["rows"], "row"), (v["columns"], "column")]
    of = lambda name: [(n, v[name + "_" + k]) for n, k in pixels]
    taps = [(v["taps1"], v["b_row"]), (v["taps0"], v["b_column"])]
    if op != REQUANTIZE:
        reads |= box(v["a"], of("a") + (taps if op in (MAXIMUM, DOT) else []))
    if op in (ADD, MULTIPLY):
        reads |= box(v["b"], of("b"))
    if op == DOT:
        reads |= box(v["b"], [(v["taps1"] * v["taps0"], 1)])
    if op in (REQUANTIZE, ADD, TABLE):
        reads |= box(v["constants"], [({REQUANTIZE: 11, ADD: 12}.get(op, 256 // p["In"]), 1)])
    if op in (DOT, MULTIPLY):
        writes |= tile
        reads |= tile if v["more"] else set()
    else:
        writes |= box(v["place"], of("place"))
        reads |= tile if op == REQUANTIZE else set()
    return reads, writes, count


def legal(unit, v, p):
    reads, writes, count = accesses(unit, v, p)
    words = [w for w in reads | writes if not isinstance(w, tuple)]
    # The first words, one of each bank, are the bench's.
    if any(not p["Banks"] <= w < p["Words"] for w in words):
        return False
    if unit == VECTOR_UNIT and v["operation"] not in (DOT, MULTIPLY):
        if len(writes) != count or reads & writes:
            return False
    return v["entry"] + v["rows"] * v["columns"] <= p["Entries"]


def random_instruction(rng, unit, p):
    while True:
        word = lambda: rng.randrange(p["Words"])
        stride = lambda: rng.choice([0, 1, 1, 2, 3, rng.randint(0, 20)])
        size = lambda: rng.choice([1, 1, 2, 3, rng.randint(1, 12)])
        v = {"rows": size(), "columns": size(), "bank": rng.randint(0, 1),
             "entry": rng.randrange(p["Entries"]), "more": rng.randint(0, 1), "place": word()}
        if unit == MATRIX_UNIT:
            v.update(taps2=rng.choice([1, 1, 2, 3]), taps1=rng.choice([1, 1, 2, 3]),
                     taps0=rng.choice([1, 1, 2, 5]), step2=stride(), step1=stride(),
                     step0=stride(), row_step=stride(), column_step=stride())
        else:
            op = rng.randint(0, 5)
            taps = op in (MAXIMUM, DOT)
            low, high = sorted(rng.choice([(-128, 127), (rng.randint(-128, 127),
                                                         rng.randint(-128, 127))]))
            v.update(operation=op, a=word(), b=word(), constants=word(),
                     taps1=rng.choice([1, 2, 3]) if taps else 1,
                     taps0=rng.choice([1, 2, 3]) if taps else 1, a_row=stride(),
                     a_column=stride(), b_row=stride(), b_column=stride(), place_row=stride(),
                     place_column=stride(), group=rng.randrange(p["Out"] // p["In"]),
                     shift=rng.randint(0, 3), low=low, high=high)
            if op == DOT and rng.randint(0, 1):   # three neighbors of each pixel
                v.update(taps0=3, a_column=v["b_column"] * rng.randint(1, 2))
        if legal(unit, v, p):
            return v


def instruction(unit, fields, p):
    reads, writes, _ = accesses(unit, fields, p)
    return {"unit": unit, "fields": fields, "reads": reads, "writes": writes, "waits": 0, "gives": 0}


def clear(p):
    """A first program that gives all sums a value, so that `more` has something to add to."""
    program = []
    for bank in range(2):
        v = dict(place=1, taps2=1, taps1=1, taps0=1, step2=0, step1=0, step0=0, rows=1,
                 columns=p["Entries"], row_step=0, column_step=0, bank=bank, entry=0, more=0)
        program.append(instruction(MATRIX_UNIT, v, p))
    return program


def random_program(rng, p, count):
    """Instructions in an order that is right, with the tokens that keep to it."""
    program = clear(p)
    waited = {MATRIX_UNIT: -1, VECTOR_UNIT: -1}
    for _ in range(count):
        unit = rng.choice([MATRIX_UNIT, VECTOR_UNIT])
        this = instruction(unit, random_instruction(rng, unit, p), p)
        reads, writes = this["reads"], this["writes"]
        for index in reversed(range(len(program))):
            before = program[index]
            if before["unit"] == unit or index <= waited[unit]:
                continue
            if before["writes"] & (reads | writes) or before["reads"] & writes:
                before["gives"] |= 1 << unit
                this["waits"] |= 1 << before["unit"]
                waited[unit] = index
                break
        program.append(this)
    return program


def hexes(path, values):
    with open(path, "w") as file:
        file.write("\n".join("%x" % value for value in values) + "\n")


def pack(values, bits):
    word = 0
    for k, value in enumerate(values):
        word |= (value & ((1 << bits) - 1)) << (k * bits)
    return word


def build(p, folder, arguments):
    """Compiles the bench; the command that runs it."""
    sources = [arguments.isa, os.path.join(HERE, BENCH + ".sv")]
    folders = ["-y", os.path.join(ROOT, "rtl/src"), "-y", os.path.join(ROOT, "rtl/sim")]
    if arguments.simulator == "icarus":
        command = ["iverilog", "-g2012", "-s", BENCH, "-o", "sim.vvp", "-Y", ".sv"] + folders
        command += ["-P%s.%s=%d" % (BENCH, *item) for item in p.items()] + sources
        run = ["vvp", "-n", os.path.join(folder, "sim.vvp")]
    else:
        command = ["verilator", "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style",
                   "--top-module", BENCH, "--Mdir", "obj", "-O3", "-CFLAGS", "-O1"] + folders
        command += ["-G%s=%d" % item for item in p.items()] + sources
        run = [os.path.join(folder, "obj/V" + BENCH)]
    built = subprocess.run(command, capture_output=True, text=True, cwd=folder,
                           env={**os.environ, "OBJCACHE": "ccache"})
    if built.returncode:
        raise RuntimeError(built.stdout[-500:] + built.stderr[-1500:])
    return run


def run(p, command, program, core, rng, folder):
    """Runs a program in the bench and in Python; what the bench says, and what differs."""
    weights = []
    for this in program:
        if this["unit"] == MATRIX_UNIT:
            v = this["fields"]
            this["blocks"] = [[[rng.choice([-128, 127, rng.randint(-128, 127)])
                                for _ in range(p["In"])] for _ in range(p["Out"])]
                              for _ in range(v["taps2"] * v["taps1"] * v["taps0"])]
            weights += sum(this["blocks"], [])
    for unit, name, opcode, fields in ((MATRIX_UNIT, "matrices", 4, MATRIX),
                                       (VECTOR_UNIT, "vectors", 5, VECTOR)):
        hexes(os.path.join(folder, name + ".hex"),
              [encode(opcode, fields, this["fields"], this["waits"], this["gives"])
               for this in program if this["unit"] == unit] + [0])
    hexes(os.path.join(folder, "weights.hex"), [pack(w, 8) for w in weights] + [0])
    hexes(os.path.join(folder, "scratch.hex"), [pack(w, 8) for w in core.scratch])
    count = lambda unit: sum(this["unit"] == unit for this in program)
    values = dict(stalls=p["Stalls"], seed=p["Seed"], matrices=count(MATRIX_UNIT),
                  vectors=count(VECTOR_UNIT), weights=len(weights))
    ran = subprocess.run(command + ["+%s=%d" % item for item in values.items()],
                         capture_output=True, text=True, cwd=folder, timeout=300)
    said = [line for line in ran.stdout.splitlines() if line.startswith("CYCLES")]
    if not said or "HANG" in ran.stdout or "X in" in ran.stdout:
        return "", (ran.stdout + ran.stderr)[-600:]
    for this in program:
        if this["unit"] == MATRIX_UNIT:
            core.matrix(this["fields"], this["blocks"])
        else:
            core.vector(this["fields"])
    with open(os.path.join(folder, "words.txt")) as file:
        for k, line in enumerate(file):
            if line.strip() != "%0*x" % (p["In"] * 2, pack(core.scratch[k], 8)):
                return said[0], "word %d is %s and not %x" % (
                    k, line.strip(), pack(core.scratch[k], 8))
    written = set().union(*(this["writes"] for this in program))
    for bank in range(2):
        for group in range(p["Out"] // p["In"]):
            with open(os.path.join(folder, "sums%d%d.txt" % (bank, group))) as file:
                for entry, line in enumerate(file):
                    if ("sum", bank, entry) not in written:
                        continue
                    for c in range(p["In"]):
                        want = core.sums[bank][entry][group * p["In"] + c] & ((1 << p["SumBits"]) - 1)
                        try:
                            got = int(line, 16) >> (c * p["SumBits"]) & ((1 << p["SumBits"]) - 1)
                        except ValueError:
                            got = line.strip()
                        if got != want:
                            return said[0], "sum %d of entry %d of bank %d is %s and not %x" % (
                                group * p["In"] + c, entry, bank, got, want)
    return said[0], ""


def measure(arguments, folder):
    p = dict(In=8, Out=16, Words=1024, Banks=4, Entries=512, SumBits=27, Wide=1, Table=1)
    command = build(p, folder, arguments)
    for pixels, taps in ((49, 9), (16, 9), (49, 1), (196, 1), (196, 9), (512, 1), (512, 9)):
        program = []
        for k in range(3):
            v = dict(place=1, taps2=1, taps1=1, taps0=taps, step2=0, step1=0, step0=1, rows=1,
                     columns=pixels, row_step=0, column_step=1, bank=k % 2, entry=0, more=0)
            program.append(instruction(MATRIX_UNIT, v, p))
        rng = random.Random(1)
        now = {**p, "Stalls": 0, "Seed": 1}
        said, problem = run(now, command, program, Core(now, rng), rng, folder)
        busy, cycles = int(said.split()[3]), int(said.split()[5])
        print("%3d pixels, %d taps: %.1f %% of %d cycles %s" % (
            pixels, taps, 100 * busy / cycles, cycles, problem), flush=True)


SHAPES = [dict(In=8, Out=8, Banks=4, Entries=32, SumBits=24, Wide=1, Table=1),
          dict(In=4, Out=8, Banks=2, Entries=64, SumBits=20, Wide=1, Table=0),
          dict(In=16, Out=16, Banks=4, Entries=32, SumBits=27, Wide=1, Table=1),
          dict(In=4, Out=4, Banks=1, Entries=16, SumBits=25, Wide=0, Table=1),
          dict(In=8, Out=16, Banks=8, Entries=32, SumBits=25, Wide=0, Table=0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="programs for each shape")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40, help="instructions of a program")
    parser.add_argument("--simulator", default="icarus", choices=["icarus", "verilator"])
    parser.add_argument("--isa", default=os.path.join(ROOT, "build/rtl/rhz_isa.sv"),
                        help="the decoders that the build generates")
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    folder = tempfile.mkdtemp(prefix="rhz_engine_")
    try:
        if arguments.measure:
            return measure(arguments, folder)
        for number, shape in enumerate(SHAPES):
            shape = {**shape, "Words": 256}
            command = build(shape, folder, arguments)
            for seed in range(arguments.seed, arguments.seed + arguments.seeds):
                rng = random.Random(number + len(SHAPES) * seed)
                p = {**shape, "Stalls": rng.choice([0, 0, 30, 70]), "Seed": seed + 1}
                core = Core(p, rng)
                program = random_program(rng, p, arguments.count)
                said, problem = run(p, command, program, core, rng, folder)
                if problem:
                    failed += 1
                    print("FAILED seed %d %s: %s" % (seed, p, problem), flush=True)
    finally:
        shutil.rmtree(folder)
    print("%d of %d programs failed" % (failed, len(SHAPES) * arguments.seeds))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
