// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an instruction set is described: one record per instruction. From the
// records scripts/generate_isa.py generates the encoder, decoder, printer and
// parser in C++, the decoder in SystemVerilog, the semantics for the software
// faces (checked, native, OpenCL), the page of the documentation and the hash
// that programs and cores carry.
//
// An instruction has 32 bytes, little-endian. Its opcode stands in bits 2 to 0,
// the units for which it waits in bits 7 to 3 and those that it lets go on in
// bits 12 to 8, one bit per unit; its fields follow from bit 13 on, in the order
// of the record, without gaps. What is left is zero.
//
// Bounds are C++ expressions over the core's parameters (see `Cores`) and, in
// constraints, over the fields of the instruction.
#ifndef RHIZOME_ENGINE_ISA_TD
#define RHIZOME_ENGINE_ISA_TD

// A unit that executes its instructions in order. `number` is its bit in the
// masks of waits and gives.
class EngineUnit<string name, int number, string text> {
  string Name = name;
  int Number = number;
  string Text = text;
}

// A parameter of a core. A core is a file in data/engines.
class CoreParameter<string name, int least, int most, string text> {
  string Name = name;
  int Least = least;
  int Most = most;
  string Text = text;
}

// A field: `width` bits in the instruction, and the least and the greatest value that
// a core accepts. A signed field holds two's complement.
class Field<string name, int width, string least, string most, string text> {
  string Name = name;
  int Bits = width;
  string Least = least;
  string Most = most;
  string Text = text;
  bit IsSigned = 0;
  // Names of values, for the program text; empty: a number.
  list<string> Values = [];
}
class Choice<string name, int width, list<string> values, string text>
    : Field<name, width, "0", !cast<string>(!add(!size(values), -1)), text> {
  let Values = values;
}
class Flag<string name, string text> : Field<name, 1, "0", "1", text>;
class Byte<string name, string text> : Field<name, 8, "-128", "127", text> {
  let IsSigned = 1;
}
// How often a loop runs.
class Times<string name, int width, string most, string text>
    : Field<name, width, "1", most, text>;
// Words from one place to the next; a loop may stand still.
class Stride<string name, int width, string text>
    : Field<name, width, "0", !cast<string>(!add(!shl(1, width), -1)), text>;

// A condition on fields that a program must meet.
class Rule<string holds, string text> {
  string Holds = holds;
  string Text = text;
}

// What an instruction reads or writes: an affine set of words of a space
// ("scratch", "memory", "accumulator", "queue", "stream"). `first` is its first
// word, `loops` the counts and strides as expressions over fields, outermost
// first; `when` says whether the access takes place at all. `bank` names the
// accumulators' bank or the memory's port.
class Access<string space, bit writes, string first, list<string> loops,
             string when = "true", string bank = "0"> {
  string Space = space;
  bit Writes = writes;
  string First = first;
  list<string> Loops = loops;   // "count, stride"
  string When = when;
  string Bank = bank;
}
class Reads<string space, string first, list<string> loops,
            string when = "true", string bank = "0">
    : Access<space, 0, first, loops, when, bank>;
class Writes<string space, string first, list<string> loops,
             string when = "true", string bank = "0">
    : Access<space, 1, first, loops, when, bank>;

// An instruction. `semantics` is C that is also OpenCL C; fields are `int`
// variables of their names, and it uses
//
//   IN, OUT                        the array's rows and columns
//   SCRATCH(word, byte)            a signed byte of the scratchpad
//   SUM(bank, entry, column)       an accumulator, an int that wraps
//   MEMORY(port, word, byte)       a signed byte behind a port
//   PUSHED(block, column, row)     a weight that this instruction appends
//   POPPED(block, column, row)     a weight that this instruction takes
//   RECEIVE(word), SEND(word)      a word of the scratchpad from or to a stream
//   RECEIVE_ROW(words)             the next words of a stream,
//   RECEIVED(byte)                 of which this is a signed byte
//   WRAP(value)                    an int as an accumulator holds it
//
// An instruction writes no word twice and none that it reads, and neither waits
// for its own unit nor gives to it; so no order within an instruction matters.
class Instruction<int opcode, string name, EngineUnit unit> {
  int Opcode = opcode;
  string Name = name;
  EngineUnit Unit = unit;
  string Summary = "";
  string Text = "";
  list<Field> Fields = [];
  list<Rule> Rules = [];
  list<Access> Accesses = [];
  // Blocks of weights that it appends to the queue or takes from it.
  string Pushes = "0";
  string Pops = "0";
  code Semantics = "";
}

class InstructionSet<list<EngineUnit> units, list<CoreParameter> parameters,
                     list<Instruction> instructions> {
  list<EngineUnit> Units = units;
  list<CoreParameter> Parameters = parameters;
  list<Instruction> Instructions = instructions;
}

#endif // RHIZOME_ENGINE_ISA_TD
