#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates everything that follows from the description of the engine's
instruction set (include/rhizome/Engine/Isa.td, rtl/isa/Engine.td). Reads
llvm-tblgen's --dump-json and writes

    Isa.h.inc       opcodes, units, parameters of a core, a struct for each
                    instruction, in C++
    Isa.cpp.inc     tables of instructions: fields, rules, accesses
    Semantics.inc   what each instruction does, over a face's macros, in C++
    engine.cl.inc   a program as one work-item, in OpenCL C, as a literal
    rhz_isa.sv      the decoder in SystemVerilog
    isa.md          the page of the documentation
    hash            the description's hash, 64 digits

    generate_isa.py RECORDS.json WHAT -o FILE"""
import argparse
import hashlib
import json
import re
import sys

FIRST_FIELD = 13
BITS = 256
UNITS_OF_MASKS = 5


class Isa:
    """The records, with what each refers to in its place."""

    def __init__(self, data):
        sets = data["!instanceof"].get("InstructionSet", [])
        if len(sets) != 1:
            sys.exit("generate_isa: there must be one InstructionSet")

        def one(reference):
            return data[reference["def"]]

        top = data[sets[0]]
        self.units = [one(u) for u in top["Units"]]
        self.parameters = [one(p) for p in top["Parameters"]]
        self.instructions = []
        for reference in top["Instructions"]:
            record = one(reference)
            self.instructions.append({
                "opcode": record["Opcode"], "name": record["Name"],
                "unit": one(record["Unit"])["Name"],
                "summary": record["Summary"], "text": record["Text"],
                "fields": [one(f) for f in record["Fields"]],
                "rules": [one(r) for r in record["Rules"]],
                "accesses": [one(a) for a in record["Accesses"]],
                "pushes": record["Pushes"], "pops": record["Pops"],
                "semantics": record["Semantics"]})
        self.check()

    def check(self):
        opcodes = [i["opcode"] for i in self.instructions]
        if len(set(opcodes)) != len(opcodes) or not all(
                0 <= o < 8 for o in opcodes):
            sys.exit("generate_isa: opcodes are not unique numbers of 3 bits")
        for instruction in self.instructions:
            names = [f["Name"] for f in instruction["fields"]]
            if len(set(names)) != len(names) or bits_of(instruction) > BITS:
                sys.exit(f"generate_isa: fields of '{instruction['name']}' are "
                         f"not unique, or more than {BITS} bits")

    def unit_number(self, name):
        return next(u["Number"] for u in self.units if u["Name"] == name)

    def hash(self):
        """SHA-256 of everything that has a meaning, and of no explanation."""
        def words(code):
            return " ".join(code.split())

        meaning = {
            "layout": [3, UNITS_OF_MASKS, FIRST_FIELD, BITS],
            "units": [[u["Name"], u["Number"]] for u in self.units],
            "parameters": [[p["Name"], p["Least"], p["Most"]]
                           for p in self.parameters],
            "instructions": [[
                i["opcode"], i["name"], i["unit"],
                [[f["Name"], f["Bits"], f["IsSigned"], words(f["Least"]),
                  words(f["Most"]), f["Values"]] for f in i["fields"]],
                [words(r["Holds"]) for r in i["rules"]],
                [[a["Space"], a["Writes"], words(a["First"]),
                  [words(l) for l in a["Loops"]], words(a["When"]),
                  words(a["Bank"])] for a in i["accesses"]],
                words(i["pushes"]), words(i["pops"]), words(i["semantics"])]
                for i in self.instructions]}
        text = json.dumps(meaning, separators=(",", ":"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def placed(instruction):
    """Each field with its lowest bit."""
    bit = FIRST_FIELD
    for field in instruction["fields"]:
        yield field, bit
        bit += field["Bits"]


def bits_of(instruction):
    """Bits of it that may be other than 0."""
    return FIRST_FIELD + sum(f["Bits"] for f in instruction["fields"])


def verilog(isa):
    def ranged(bits):
        return f"logic [{bits - 1}:0]" if bits > 1 else "logic"

    out = ["// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
           "// Generated from rtl/isa by scripts/generate_isa.py: the decoders of the engine.",
           "/* verilator lint_off DECLFILENAME */",
           "/* verilator lint_off UNUSED */",
           "package rhz_isa_pkg;"]
    for i in isa.instructions:
        out.append(f"  localparam logic [2:0] {i['name'].upper()} = "
                   f"3'd{i['opcode']};")
    for u in isa.units:
        out.append(f"  localparam logic [2:0] UNIT_{u['Name'].upper()} = "
                   f"3'd{u['Number']};")
    seen = {}
    for i in isa.instructions:
        for f in i["fields"]:
            for number, value in enumerate(f["Values"]):
                name = f"{f['Name']}_{value}".upper()
                if seen.setdefault(name, number) != number:
                    sys.exit(f"generate_isa: '{name}' has two values")
    for f, bits in sorted({(f["Name"], f["Bits"]) for i in isa.instructions
                           for f in i["fields"] if f["Values"]}):
        for name, number in seen.items():
            if name.startswith(f.upper() + "_"):
                out.append(f"  localparam logic [{bits - 1}:0] {name} = "
                           f"{bits}'d{number};")
    for u in isa.units:
        own = [i for i in isa.instructions if i["unit"] == u["Name"]]
        out.append(f"  localparam int BITS_{u['Name'].upper()} = "
                   f"{max(map(bits_of, own))};")
    out += [f"  localparam logic [31:0] HASH = 32'h{isa.hash()[:8]};",
            "endpackage", "",
            "module rhz_isa_common (",
            f"  input  logic [{BITS - 1}:0] instruction_i,",
            "  output logic [2:0] opcode_o,",
            f"  output logic [{UNITS_OF_MASKS - 1}:0] waits_o,",
            f"  output logic [{UNITS_OF_MASKS - 1}:0] gives_o,",
            "  output logic [2:0] unit_o",
            ");",
            "  assign opcode_o = instruction_i[2:0];",
            "  assign waits_o = instruction_i[7:3];",
            "  assign gives_o = instruction_i[12:8];",
            "  always_comb",
            "    case (opcode_o)"]
    by_unit = {}
    for i in isa.instructions:
        by_unit.setdefault(i["unit"], []).append(i["opcode"])
    default = isa.instructions[0]["unit"]
    for unit, opcodes in by_unit.items():
        if unit != default:
            cases = ", ".join(f"3'd{o}" for o in opcodes)
            out.append(f"      {cases}: unit_o = 3'd{isa.unit_number(unit)};")
    out += [f"      default: unit_o = 3'd{isa.unit_number(default)};",
            "    endcase", "endmodule"]
    for i in isa.instructions:
        if not i["fields"]:
            continue
        ports = [f"  input  logic [{BITS - 1}:0] instruction_i"]
        wires = []
        for f, bit in placed(i):
            ports.append(f"  output {ranged(f['Bits'])} {f['Name']}_o")
            end = f"{bit + f['Bits'] - 1}:{bit}" if f["Bits"] > 1 else str(bit)
            wires.append(f"  assign {f['Name']}_o = instruction_i[{end}];")
        out += ["", f"module rhz_isa_{i['name']} (", ",\n".join(ports), ");",
                *wires, "endmodule"]
    return "\n".join(out) + "\n"


def preset(field):
    """What a field holds that nobody sets: 0, or its least value above."""
    return int(field["Least"]) if field["Least"].isdigit() else 0


def camel(name):
    return "".join(p.capitalize() for p in name.split("_"))


def quoted(text):
    return json.dumps(text)


def replaced(isa, instruction, text):
    """A C++ expression: a core's parameter as a member of `core`, a field as a
    value of the instruction."""
    fields = {f["Name"]: n for n, f in enumerate(
        instruction["fields"] if instruction else [])}
    parameters = {p["Name"] for p in isa.parameters}

    def one(match):
        word = match.group(0)
        if word in fields:
            return f"f[{fields[word]}]"
        if word in parameters:
            return f"core.{word}"
        if word in ("true", "false"):
            return word
        sys.exit(f"generate_isa: nothing is called '{word}', which '{text}' names")
    return re.sub(r"[A-Za-z_]\w*", one, text)


def function(isa, instruction, text, of="int64_t"):
    body = replaced(isa, instruction, text)
    core = "core" if "core." in body else ""
    if not instruction:
        return f"[](const Parameters &{core}) -> {of} {{ return {body}; }}"
    values = "f" if "f[" in body else ""
    return (f"[](const Parameters &{core}, const int64_t *{values}) -> {of} "
            f"{{ return {body}; }}")


def header(isa):
    def enumeration(name, rows):
        return (f"enum class {name} : uint8_t {{ " +
                ", ".join(f"{camel(n)} = {v}" for n, v in rows) + " };")

    most = max(len(i["fields"]) for i in isa.instructions)
    out = [enumeration("Opcode", [(i["name"], i["opcode"])
                                  for i in isa.instructions]),
           enumeration("Unit", [(u["Name"], u["Number"]) for u in isa.units]),
           f"constexpr unsigned kUnits = {UNITS_OF_MASKS};",
           f"constexpr unsigned kInstructionBytes = {BITS // 8};",
           f"constexpr unsigned kFirstField = {FIRST_FIELD};",
           f"constexpr unsigned kMostFields = {most};",
           f"/// The first 32 bits of the description's hash.",
           f"constexpr uint32_t kIsaHash = 0x{isa.hash()[:8]};", "",
           "/// What programs know of a core.", "struct Parameters {"]
    out += [f"  int64_t {p['Name']} = 0; ///< {p['Text']}"
            for p in isa.parameters]
    out += ["};", "", "namespace isa {"]
    for i in isa.instructions:
        if i["summary"]:
            out.append(f"/// {i['summary'][0].upper()}{i['summary'][1:]}.")
        out += [f"struct {camel(i['name'])} {{",
                f"  static constexpr Opcode kOpcode = Opcode::{camel(i['name'])};"]
        for f in i["fields"]:
            if f["Values"]:
                values = ", ".join(camel(v) for v in f["Values"])
                out.append(f"  enum {camel(f['Name'])} : uint8_t {{ {values} }};")
        out += [f"  int64_t {f['Name']} = {preset(f)}; ///< {f['Text']}"
                for f in i["fields"]]
        names = ", ".join(f["Name"] for f in i["fields"])
        fields = ", ".join(f"f[{n}]" for n in range(len(i["fields"])))
        unused = "" if i["fields"] else "[[maybe_unused]] "
        out += ["", "  std::array<int64_t, kMostFields> values() const {",
                f"    return {{{names}}};", "  }",
                f"  static {camel(i['name'])} of({unused}const std::array<int64_t, "
                "kMostFields> &f) {", f"    return {{{fields}}};", "  }", "};"]
    out.append("} // namespace isa")
    return "\n".join(out) + "\n"


def cpp(isa):
    def table(of_type, name, rows):
        if not rows:
            return f"constexpr llvm::ArrayRef<{of_type}> {name};"
        return (f"const {of_type} {name}[] = {{\n  " +
                ",\n  ".join("{" + ", ".join(r) + "}" for r in rows) + "};")

    out = [table("ParameterInfo", "kParameters", [
        (quoted(p["Name"]), f"&Parameters::{p['Name']}", str(p["Least"]),
         str(p["Most"]), quoted(p["Text"])) for p in isa.parameters])]
    out.append(table("const char *", "kUnitNames", []) if not isa.units else
               "const char *const kUnitNames[] = {" + ", ".join(
                   quoted(u["Name"]) for u in sorted(
                       isa.units, key=lambda u: u["Number"])) + "};")
    for i in isa.instructions:
        name = camel(i["name"])
        for f in i["fields"]:
            if f["Values"]:
                out.append(f"const char *const k{name}{camel(f['Name'])}[] = {{" +
                           ", ".join(quoted(v) for v in f["Values"]) + "};")
        out.append(table("FieldInfo", f"k{name}Fields", [
            (quoted(f["Name"]), str(bit), str(f["Bits"]),
             "true" if f["IsSigned"] else "false", str(preset(f)),
             f"k{name}{camel(f['Name'])}" if f["Values"] else "{}",
             function(isa, None, f["Least"]), function(isa, None, f["Most"]))
            for f, bit in placed(i)]))
        out.append(table("RuleInfo", f"k{name}Rules", [
            (function(isa, i, r["Holds"], "bool"), quoted(r["Holds"]),
             quoted(r["Text"])) for r in i["rules"]]))
        out.append(accesses_of(isa, i))
    rows = [(f"Opcode::{camel(i['name'])}", quoted(i["name"]),
             f"Unit::{camel(i['unit'])}", f"k{camel(i['name'])}Fields",
             f"k{camel(i['name'])}Rules", f"accessesOf{camel(i['name'])}",
             function(isa, i, i["pushes"]), function(isa, i, i["pops"]))
            for i in sorted(isa.instructions, key=lambda i: i["opcode"])]
    out.append(table("InstructionInfo", "kInstructions", rows))
    return "\n".join(out) + "\n"


def accesses_of(isa, instruction):
    lines = []
    for a in instruction["accesses"]:
        loops = []
        for loop in a["Loops"]:
            count, comma, stride = loop.rpartition(",")
            if not comma:
                sys.exit(f"generate_isa: the loop '{loop}' has no stride")
            loops.append("{" + replaced(isa, instruction, count) + ", " +
                         replaced(isa, instruction, stride.strip()) + "}")
        when = replaced(isa, instruction, a["When"])
        guard = "" if when == "true" else f"  if ({when})\n  "
        lines.append(f"{guard}  all.push_back({{Space::{camel(a['Space'])}, "
                     f"{'true' if a['Writes'] else 'false'}, "
                     f"{replaced(isa, instruction, a['Bank'])}, "
                     f"{replaced(isa, instruction, a['First'])}, "
                     "{" + ", ".join(loops) + "}});")
    body = "\n".join(lines)
    core = "core" if "core." in body else ""
    values, all_ = ("f", "all") if body else ("", "")
    return (f"void accessesOf{camel(instruction['name'])}(const Parameters &{core}, "
            f"const int64_t *{values}, std::vector<Access> &{all_}) {{\n{body}\n}}")


def body_of(instruction, value):
    """The semantics after a declaration of each field that it names."""
    text = instruction["semantics"].strip("\n").rstrip()
    lines = [f"    int {f['Name']} = {value(f, bit)};"
             for f, bit in placed(instruction)
             if re.search(rf"\b{f['Name']}\b", text)]
    return "\n".join(lines + [text])


MACROS = """#define IN face.in()
#define OUT face.out()
#define SCRATCH(word, byte) face.scratch(word, byte)
#define SUM(bank, entry, column) face.sum(bank, entry, column)
#define MEMORY(port, word, byte) face.memory(port, word, byte)
#define PUSHED(block, column, row) face.pushed(block, column, row)
#define POPPED(block, column, row) face.popped(block, column, row)
#define RECEIVE(word) face.receive(word)
#define RECEIVE_ROW(words) face.receiveRow(words)
#define RECEIVED(byte) face.received(byte)
#define SEND(word) face.send(word)
#define WRAP(value) face.wrap(value)
"""


def semantics(isa):
    out = [MACROS]
    for i in isa.instructions:
        if i["semantics"]:
            out += ["template <typename Face>\n"
                    f"void carryOut(const isa::{camel(i['name'])} &f, Face &face) {{",
                    body_of(i, lambda f, _: f"int(f.{f['Name']})"), "}"]
    out += re.sub(r"#define (\w+).*", r"#undef \1", MACROS).splitlines()
    out += ["/// Calls a function with the fields of an instruction that does something.",
            "template <typename Function>",
            "void visit(const Instruction &instruction, Function &&function) {",
            "  switch (instruction.opcode) {"]
    for i in isa.instructions:
        name = camel(i["name"])
        out.append(f"  case Opcode::{name}:")
        out.append(f"    return function(instruction.as<isa::{name}>());"
                   if i["semantics"] else "    return;")
    out += ["  }", "}"]
    return "\n".join(out) + "\n"


OPENCL = """// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated from rtl/isa by scripts/generate_isa.py. One work-item carries out a
// whole program in its order. IN, OUT, WORDS, ENTRIES and SUM_BITS are the core's;
// ROOM words are behind each port, STREAM_IN and STREAM_OUT in the streams of a
// frame, INSTRUCTIONS after the head, BLOCKS in the queue. What the verifier would
// refuse gives other bytes, and touches nothing else.
#define BELOW(value, count) min((uint)(value), (uint)(count) - 1)
#define SCRATCH(word, byte) scratch[(long)((word) & (WORDS - 1)) * IN + (byte)]
#define SUM(bank, entry, column)                                              \\
  sums[((long)(bank) * ENTRIES + BELOW(entry, ENTRIES)) * OUT +               \\
       BELOW(column, OUT)]
#define MEMORY(port, word, byte)                                              \\
  ((port) == 0 ? m0 : (port) == 1 ? m1 : (port) == 2 ? m2 : m3)               \\
      [(long)BELOW(word, ROOM) * IN + (byte)]
#define BLOCK(number, column, row) \\
  queue[((long)((number) % room) * OUT + (column)) * IN + (row)]
#define PUSHED(block, column, row) BLOCK(pushed + (block), column, row)
#define POPPED(block, column, row) BLOCK(popped + (block), column, row)
#define RECEIVE(word)                                                         \\
  {                                                                           \\
    for (int i_ = 0; i_ < IN; i_++)                                           \\
      SCRATCH(word, i_) =                                                     \\
          stream_in[(long)BELOW(received, STREAM_IN) * IN + i_];              \\
    received++;                                                               \\
  }
#define RECEIVE_ROW(words) (row_at = received * IN, received += (words))
#define RECEIVED(byte) stream_in[min(row_at + (byte), (long)STREAM_IN * IN - 1)]
#define SEND(word)                                                            \\
  {                                                                           \\
    for (int i_ = 0; i_ < IN; i_++)                                           \\
      stream_out[(long)BELOW(sent, STREAM_OUT) * IN + i_] =                   \\
          SCRATCH(word, i_);                                                  \\
    sent++;                                                                   \\
  }
#define WRAP(value) \\
  ((int)((uint)(value) << (32 - SUM_BITS)) >> (32 - SUM_BITS))

static uint bits(__global const uchar *instruction, int bit, int count) {
  ulong all = 0;
  for (int i = bit / 8; i <= (bit + count - 1) / 8; i++)
    all |= (ulong)instruction[i] << (8 * (i - bit / 8));
  return (uint)(all >> (bit % 8) & ((1ul << count) - 1));
}

#define HEAD_OPCODE(head) bits(head, 0, 3)
#define HEAD_ISA(head) bits(head, @ISA@)
#define HEAD_CORE(head) bits(head, @CORE@)
#define HEAD_INSTRUCTIONS(head) bits(head, @INSTRUCTIONS@)
#define HEAD_BLOCKS(head) bits(head, @BLOCKS@)

static int signed_bits(__global const uchar *instruction, int bit, int count) {
  return (int)(bits(instruction, bit, count) << (32 - count)) >> (32 - count);
}

__kernel void engine(__global const uchar *program, __global char *m0,
                     __global char *m1, __global char *m2, __global char *m3,
                     __global char *scratch, __global int *sums,
                     __global char *queue, __global const char *stream_in,
                     __global char *stream_out) {
  long received = 0, row_at = 0, sent = 0;
  int pushed = 0, popped = 0;
  const int instructions = (int)min(HEAD_INSTRUCTIONS(program), (uint)INSTRUCTIONS);
  const int room = clamp((int)HEAD_BLOCKS(program), 1, BLOCKS);
  for (int order = 0; order < instructions; order++) {
    program += @BYTES@;
    switch (bits(program, 0, 3)) {
@CASES@
    }
  }
}
"""


def opencl(isa):
    cases = []
    for i in isa.instructions:
        if not i["semantics"]:
            continue
        def read(f, bit):
            name = "signed_bits" if f["IsSigned"] else "bits"
            return f"(int){name}(program, {bit}, {f['Bits']})"
        lines = [f"    case {i['opcode']}: { '{' } // {i['name']}",
                 body_of(i, read)]
        for counter, text in (("pushed", i["pushes"]), ("popped", i["pops"])):
            if text != "0":
                lines.append(f"    {counter} = ({counter} + {text}) % room;")
        cases += lines + ["      break;", "    }"]
    head = next(i for i in isa.instructions if i["name"] == "head")
    places = {f["Name"]: f"{bit}, {f['Bits']}" for f, bit in placed(head)}
    return (OPENCL.replace("@CASES@", "\n".join(cases))
            .replace("@ISA@", places["isa"]).replace("@CORE@", places["core"])
            .replace("@INSTRUCTIONS@", places["instructions"])
            .replace("@BLOCKS@", places["blocks"])
            .replace("@BYTES@", str(BITS // 8)))


PAGE = """Generated from its description in `rtl/isa`, as are the encoder, the decoders and
the software faces of the engine. Every program carries the first 32 bits of the
description's hash, `@HASH@`, and is for one core, whose parameters it was made for.

An instruction has 32 bytes, little-endian: the opcode in bits 2 to 0, the units for
which it waits in bits 7 to 3, those to which it gives a token in bits 12 to 8, and its
fields from bit 13 on. Bits that no field takes are zero. In the text of a program, an
instruction is a line: its name, `wait(load,matrix)`, `give(store)` and `field=value`. A
field that is left out is 0, or 1 if that is its least value. A comment begins with `#`.

Units carry out their own instructions in order, and do not wait for each other but by
tokens. There is a counter for each ordered pair of units. An instruction begins when
there is a token of each unit for which it waits, which it takes, and gives its tokens
when all that it writes can be seen; while a counter is full, it waits. `weights` appends
blocks to a queue, from which `matrix` takes them in order. The verifier refuses programs
of which the result could depend on time, so carrying out one instruction after the other
is enough to know what a program does.

The listings are C that is also OpenCL C. Fields are variables of type `int`, and

| | |
|---|---|
| `IN`, `OUT` | the core's `in` and `out` |
| `SCRATCH(word, byte)` | a signed byte of the scratchpad |
| `SUM(bank, entry, column)` | an accumulator |
| `WRAP(value)` | a value as an accumulator holds it: its low `sum_bits` bits, signed |
| `MEMORY(port, word, byte)` | a signed byte behind a port |
| `PUSHED(block, column, row)` | a weight that the instruction appends to the queue |
| `POPPED(block, column, row)` | a weight that it takes |
| `RECEIVE(word)`, `SEND(word)` | the next word of a stream to the scratchpad, or from it |
| `RECEIVE_ROW(words)` | takes the next words of the stream, |
| `RECEIVED(byte)` | of which this is a signed byte |
"""


def page(isa):
    out = ["# The engine's instruction set", "",
           *PAGE.replace("@HASH@", isa.hash()[:8]).splitlines(), "",
           "| bit | unit | |", "|---|---|---|"]
    for u in isa.units:
        bit = u["Number"] if u["Number"] < UNITS_OF_MASKS else ""
        out.append(f"| {bit} | `{u['Name']}` | {u['Text']} |")
    out += ["", "| parameter of a core | least | most | |", "|---|---|---|---|"]
    out += [f"| `{p['Name']}` | {p['Least']} | {p['Most']} | {p['Text']} |"
            for p in isa.parameters]
    for i in isa.instructions:
        out += ["", f"## {i['name']}", "",
                f"Opcode {i['opcode']}, unit `{i['unit']}`: {i['summary']}."]
        if i["text"]:
            lines = [line[4:] if line.startswith("    ") else line
                     for line in i["text"].strip("\n").split("\n")]
            out += ["", *lines]
        if i["fields"]:
            out += ["", "| field | bits | least | most | |", "|---|---|---|---|---|"]
        for f, bit in placed(i):
            end = f"{bit + f['Bits'] - 1}:{bit}" if f["Bits"] > 1 else f"{bit}"
            names = ": " + ", ".join(f"`{v}`" for v in f["Values"]) if (
                f["Values"]) else ""
            out.append(f"| `{f['Name']}` | {end} | `{f['Least']}` | `{f['Most']}` | "
                       f"{f['Text']}{names} |")
        if i["rules"]:
            out.append("")
        out += [f"- {r['Text'][0].upper()}{r['Text'][1:]}: `{r['Holds']}`."
                for r in i["rules"]]
        for what, text in (("Appends", i["pushes"]), ("Takes", i["pops"])):
            if text != "0":
                out += ["", f"{what} `{text}` blocks of weights."]
        if i["semantics"]:
            lines = i["semantics"].strip("\n").rstrip().split("\n")
            indent = min(len(l) - len(l.lstrip()) for l in lines if l.strip())
            out += ["", "```c", *[l[indent:].rstrip() for l in lines], "```"]
    return "\n".join(out) + "\n"


def main():
    make = {"header": header, "cpp": cpp, "semantics": semantics,
            "opencl": lambda isa: f'R"cl({opencl(isa)})cl"\n', "verilog": verilog, "page": page,
            "hash": lambda isa: isa.hash() + "\n"}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("what", choices=list(make))
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.records) as stream:
        isa = Isa(json.load(stream))
    mark = "// Generated from rtl/isa by scripts/generate_isa.py.\n"
    with open(options.output, "w") as stream:
        if options.what in ("header", "cpp", "semantics"):
            stream.write(mark)
        stream.write(make[options.what](isa))


if __name__ == "__main__":
    main()
