// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between the units of operations: converters of formats, the
// design's borders, forks and buffers.
include "Sources.td"

def Gearbox : Unit<"gearbox"> {
  let Summary = "regroups elements between lane counts and row lengths";
  let Latency = "1 + V from emit, 2 + V where reading rotates far";
  let Module = [rhz_gearbox];
  let Parameters = [
    Width<"Elem", "bits of an element">,
    Count<"LanesIn", "elements of an input beat">,
    Count<"LanesOut", "elements of an output beat">,
    Count<"RowIn", "elements after which a new input beat begins">,
    Count<"RowOut", "elements after which a new output beat begins">,
    Depth, Planned<"frameElements", "elements of a frame">
  ];
  let Ports = [StreamIn<"in", "LanesIn * Elem",
                        "frameElements / RowIn * ceilDiv(RowIn, LanesIn)">,
               StreamOut<"out", "LanesOut * Elem",
                         "frameElements / RowOut * ceilDiv(RowOut, LanesOut)">];
  let Characterized = ["gearbox", "gearbox_rotate"];
}

class Border<string name> : Unit<name> {
  let Parameters = [
    Width<"DataWidth", "bits of tdata">,
    Width<"Elem", "bits of an element">,
    Count<"Lanes", "elements of a beat inside">,
    Count<"FrameElements", "elements of a frame">,
    Count<"Row", "elements after which a new beat inside begins">,
    Depth
  ];
  let Characterized = ["gearbox", "gearbox_rotate"];
}

def AxisInUnit : Border<"axis_in"> {
  let Summary = "frames from an AXI4-Stream port, elements packed";
  let Latency = "1 + V from emit, 2 + V where reading rotates far";
  let Module = [rhz_axis_in];
  let Ports = [AxisIn<"s_axis", "DataWidth">, Status<"err_o", "16">,
               StreamOut<"out", "Lanes * Elem",
                         "FrameElements / Row * ceilDiv(Row, Lanes)">];
}

def AxisOutUnit : Border<"axis_out"> {
  let Summary = "frames to an AXI4-Stream port, elements packed, TLAST on the "
                "last beat";
  let Latency = "1 + V from emit, 2 + V where reading rotates far";
  let Module = [rhz_axis_out];
  let Ports = [StreamIn<"in", "Lanes * Elem",
                        "FrameElements / Row * ceilDiv(Row, Lanes)">, AxisOut<"m_axis", "DataWidth">];
}

class WideBorder<string name> : Unit<name> {
  let Latency = "0";
  let Parameters = [
    Width<"DataWidth", "bits of tdata: a frame in whole bytes">,
    Width<"Width", "bits of a frame">,
    Depth
  ];
  let Characterized = ["fork"];
}

def WideIn : WideBorder<"wide_in"> {
  let Summary = "a whole frame a beat from a port, without registers";
  let Module = [rhz_wide_in];
  let Ports = [AxisIn<"s_axis", "DataWidth">, Status<"err_o", "16">,
               StreamOut<"out", "Width", "1">];
}

def WideOut : WideBorder<"wide_out"> {
  let Summary = "a whole frame a beat to a port, without registers";
  let Module = [rhz_wide_out];
  let Ports = [StreamIn<"in", "Width", "1">, AxisOut<"m_axis", "DataWidth">];
}

def Fork : Unit<"fork"> {
  let Summary = "one beat into every output";
  let Latency = "1 + V";
  let Module = [rhz_fork];
  let Parameters = [
    BeatWidth<"Width", "bits of a beat">,
    Count<"Outputs", "outputs">, Depth, FrameBeats
  ];
  let Ports = [StreamIn<"in", "Width", "frameBeats">,
               StreamOut<"out", "Width", "frameBeats", "Outputs">];
  let Characterized = ["fork"];
}

def Fifo : Unit<"fifo"> {
  let Summary = "a FIFO between actors, one beat per cycle";
  let Latency = "1 + V";
  let Module = [rhz_fifo];
  let Parameters = [
    BeatWidth<"Width", "bits of a beat">,
    Depth, FrameBeats
  ];
  let Ports = [StreamIn<"in", "Width", "frameBeats">,
               StreamOut<"out", "Width", "frameBeats">];
  let Characterized = ["fork"];
}

def Crossing : Unit<"crossing"> {
  let Summary = "a stream from one die to the next, with registers on both "
                "sides of the border";
  let Latency = "Registers + V";
  let Module = [rhz_crossing];
  let Parameters = [
    BeatWidth<"Width", "bits of a beat">,
    Count<"Registers", "registers that a beat passes, at least one on each side">,
    Depth, FrameBeats
  ];
  let Ports = [StreamIn<"in", "Width", "frameBeats">,
               StreamOut<"out", "Width", "frameBeats">];
  let Constraints = [
    Constraint<"Registers >= 2", "there is a register on each side">
  ];
  let Characterized = ["fork"];
}

def StateUnit : Unit<"state"> {
  let Summary = "a tensor that is kept from frame to frame: after reset its "
                "initial value, then what comes in";
  let Latency = "1 + V";
  let Module = [rhz_state];
  let Parameters = [
    BeatWidth<"Width", "bits of a beat">,
    Count<"Beats", "beats of a frame">,
    Placed<"Block", "the initial value is in block RAM">,
    Depth
  ];
  let Files = [File<"InitFile", "the beats of the initial value">];
  let Ports = [StreamIn<"in", "Width", "Beats">,
               StreamOut<"out", "Width", "Beats">];
  let Roms = [Rom<"InitFile", "Block", "Beats", "Width">];
  let Constraints = [
    Constraint<"Depth >= Beats", "the buffer takes a frame">
  ];
  let Characterized = ["fork"];
}
