#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates everything that follows from the description of the engine's
instruction set (include/rhizome/Engine/Isa.td, rtl/isa/Engine.td). Reads
llvm-tblgen's --dump-json and writes

    rhz_isa.sv     the decoder in SystemVerilog
    hash           the description's hash, 64 digits

    generate_isa.py RECORDS.json verilog|hash -o FILE"""
import argparse
import hashlib
import json
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
            bits = FIRST_FIELD + sum(f["Bits"] for f in instruction["fields"])
            if len(set(names)) != len(names) or bits > BITS:
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


def verilog(isa):
    def ranged(bits):
        return f"logic [{bits - 1}:0]" if bits > 1 else "logic"

    out = ["// Generated from rtl/isa by scripts/generate_isa.py.",
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


def main():
    make = {"verilog": verilog, "hash": lambda isa: isa.hash() + "\n"}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("what", choices=list(make))
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.records) as stream:
        isa = Isa(json.load(stream))
    with open(options.output, "w") as stream:
        stream.write(make[options.what](isa))


if __name__ == "__main__":
    main()
