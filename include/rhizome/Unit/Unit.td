// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a hardware unit is described: one record per unit kind. From the records
// scripts/generate_units.py generates the C++ tables and parameter structs, the
// data that the cell tests read, and docs/units.md.
//
// Widths, shapes and constraints are C++ expressions over the kind's
// parameters, with ceilDiv(a, b), clog2(n), addressBits(n), std::min and
// std::max.
#ifndef RHIZOME_UNIT_UNIT_TD
#define RHIZOME_UNIT_UNIT_TD

// A SystemVerilog file of the library; the record's name is the module's and
// the file's. `uses` are the files of the modules that it instantiates, in the
// order in which they are copied.
class Source<list<Source> uses = []> {
  list<Source> Uses = uses;
  string Folder = "src";
}

// A behavioral model of a vendor's primitive, for simulators only.
class Model : Source<[]> { let Folder = "sim"; }

// An integer parameter. `least` and `most` bound its value.
class Parameter<string name, int least, int most, string text> {
  string Name = name;
  int Least = least;
  int Most = most;
  string Text = text;
  bit HasPreset = 0;
  int Preset = 0;
  bit InHardware = 1;
}
// A parameter that an actor may omit: the module then has `preset`.
class Optional<string name, int preset, int least, int most, string text>
    : Parameter<name, least, most, text> {
  let HasPreset = 1;
  let Preset = preset;
}
class Count<string name, string text> : Parameter<name, 1, 2147483647, text>;
class Natural<string name, string text> : Parameter<name, 0, 2147483647, text>;
class Signed<string name, string text>
    : Parameter<name, -2147483648, 2147483647, text>;
class Flag<string name, string text> : Parameter<name, 0, 1, text>;
// The number of bits of a number, and of a beat.
class BeatWidth<string name, string text> : Parameter<name, 1, 1048576, text>;
class Width<string name, string text> : Parameter<name, 1, 4096, text>;
// A value that the compiler plans with and the module does not take.
class Planned<string name, string text>
    : Parameter<name, 0, 1125899906842624, text> { let InHardware = 0; }
// Whether a read-only memory is in block RAM; given if there is one.
class Placed<string name, string text> : Optional<name, 0, 0, 1, text>;

// A file of a memory's initial contents, a text parameter of the module.
class File<string name, string text> {
  string Name = name;
  string Text = text;
}

// A port. `protocol` is a case of unit::Protocol, which defines its
// signals; `width` is the width of its data, `count` the number of
// streams next to each other (the outputs of a fork), `beats` the beats of a
// frame if the port is a stream.
class Port<string name, string protocol, bit isInput, string width,
           string beats = "0", string count = "1"> {
  string Name = name;
  string Protocol = protocol;
  bit IsInput = isInput;
  string Width = width;
  string Beats = beats;
  string Count = count;
  // For a memory port: bytes per frame, beats of the longest burst, maximum
  // number of bursts in flight, the parameter with the page of 4 KiB on which
  // the unit's segment begins, and the one with the bursts that it may be
  // granted in a row, if it has one.
  string Bytes = "0";
  string Burst = "0";
  string InFlight = "0";
  string Page = "";
  string Turn = "";
  // Of a unit that also writes: the bytes of the memory that it has for itself, and
  // those of the segment that lies before them.
  string Space = "0";
  string Held = "0";
}
class StreamIn<string name, string width, string beats>
    : Port<name, "Stream", 1, width, beats>;
class StreamOut<string name, string width, string beats, string count = "1">
    : Port<name, "Stream", 0, width, beats, count>;
// A port of the design: AXI4-Stream with TLAST.
class AxisIn<string name, string width> : Port<name, "Axis", 1, width>;
class AxisOut<string name, string width> : Port<name, "Axis", 0, width>;
// A port to an off-chip memory, which the unit reads: the channels AR and
// R of AXI4. Data are a power of two of bytes wide, bursts take whole beats at
// increasing addresses (ARSIZE and ARBURST are constant), do not cross 4 KiB
// and return in order (ARID is 0).
class Axi4Read<string name, string width, string bytes, string burst,
               string inFlight, string page, string turn = "">
    : Port<name, "Axi4Read", 0, width> {
  let Bytes = bytes;
  let Burst = burst;
  let InFlight = inFlight;
  let Page = page;
  let Turn = turn;
}
// The same for a unit that writes what it reads: with the channels AW, W and B of
// AXI4. All beats are whole, and answers come in order (AWID is 0). Its bytes are
// those of both directions.
class Axi4<string name, string width, string bytes, string burst,
           string inFlight, string page, string space, string held = "0">
    : Port<name, "Axi4", 0, width> {
  let Bytes = bytes;
  let Burst = burst;
  let InFlight = inFlight;
  let Page = page;
  let Space = space;
  let Held = held;
}
// A place in the chain that fills on-chip memories when a design starts: words
// come in, the unit keeps its own (`beats` of them) and passes on all others, and
// a flag reports that its own have arrived.
class LoadIn<string name, string width, string beats>
    : Port<name, "Load", 1, width, beats>;
// The head of that chain.
class LoadOut<string name, string width> : Port<name, "Load", 0, width>;
// A signal that is read for diagnosis only.
class Status<string name, string width> : Port<name, "Status", 0, width>;

// A read-only memory whose contents the generator writes: `copies` memories of
// `words` words of `width` bits, if `exists` is not 0. `placedBy` names the
// parameter that puts it into block RAM.
class Rom<string file, string placedBy, string words, string width,
          string copies = "1", string exists = "1"> {
  string File = file;
  string PlacedBy = placedBy;
  string Words = words;
  string Width = width;
  string Copies = copies;
  string Exists = exists;
}

// A constraint between parameters.
class Constraint<string expression, string text> {
  string Expression = expression;
  string Text = text;
}

// A parameter of the module around a generated datapath, and its value.
class Binding<string name, string expression> {
  string Name = name;
  string Expression = expression;
}

class Unit<string name> {
  string Name = name;         // as in flow.actor
  string Summary = ?;         // a description for people
  string Latency = "";        // of a firing until its result is visible, in words
  // The module: of the library, or none if the generator makes the datapath,
  // which is then in its own module next to the module `Shell`.
  list<Source> Module = [];
  list<Source> Shell = [];
  list<Binding> ShellParameters = [];
  list<Parameter> Parameters = [];
  list<File> Files = [];
  // A text parameter, one of `Files`, that an actor may omit: for each of several
  // parallel streams its own values of some parameters (`Columns`), in four
  // hexadecimal digits each.
  string Rows = "";
  list<string> Columns = [];
  list<Port> Ports = [];
  list<Rom> Roms = [];
  list<Constraint> Constraints = [];
  // The names under which actors of the kind are characterized: families'
  // models have coefficients for each.
  list<string> Characterized = [];
}

// The kinds of a table, in order.
class UnitList<list<Unit> kinds> { list<Unit> Kinds = kinds; }

// The output buffer at the end of every unit.
def Depth : Parameter<"Depth", 2, 1099511627776, "places of the output buffer">;
// Beats of the output in a frame: how many periods of its phases a frame has.
def FrameBeats : Planned<"frameBeats", "beats of the output in a frame">;

#endif
