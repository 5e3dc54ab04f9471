// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with one result an element.
include "Sources.td"

def Requant : Unit<"requant"> {
  let Summary = "clamp((x * m + o) >>> Shift, Lo, Hi), m and o by channel";
  let Latency = "6 + M + (1 if Split > 0, else 0) + V, M = 2 if Slice > 0 or a "
                "product in LUTs has more than 4 bits in both operands, else 1";
  let Module = [rhz_requant];
  let Parameters = [
    Optional<"Pixels", 1, 1, 2147483647, "pixels of a beat that share m and o">,
    Count<"Lanes", "elements of a beat">,
    Width<"InWidth", "bits of x">,
    Flag<"InSigned", "x is signed">,
    Parameter<"MulWidth", 0, 4096, "bits of m, signed; 0: m = 1">,
    Width<"OffsetWidth", "bits of o, signed">,
    Natural<"Shift", "bits that are dropped">,
    Flag<"TiesEven", "half to even">,
    Width<"OutWidth", "bits of the result">,
    Signed<"Lo", "the least result">,
    Signed<"Hi", "the largest result">,
    Count<"OutFolds", "beats of a pixel">,
    Trips, Uses,
    Parameter<"Style", 0, 1, "the (high) product in LUTs (0) or DSPs (1)">,
    Natural<"Split", "low bits of m that are multiplied separately; 0: none">,
    Parameter<"SplitStyle", 0, 1, "the low product in LUTs (0) or DSPs (1)">,
    Natural<"Slice", "bits of x that a DSP takes; 0: all">,
    Placed<"Block", "m and o are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"ParamFile", "{o, m} by lane, of every beat of a pixel">];
  let Ports = [StreamIn<"in", "Pixels * Lanes * InWidth", "frameBeats">,
               StreamOut<"out", "Pixels * Lanes * OutWidth", "frameBeats">];
  let Roms = [Rom<"ParamFile", "Block", "Trips * OutFolds",
                  "Lanes * (MulWidth + OffsetWidth)">];
  let Constraints = [Constraint<"Lo <= Hi", "Lo is at most Hi">];
  let Characterized = ["requant", "requant_dsp"];
}

def Threshold : Unit<"threshold"> {
  let Summary = "Base + Step times the number of thresholds reached, by channel";
  let Latency = "4 + V if Count <= 3, else 2 + 2 clog2(Count + 1) + V";
  let Module = [rhz_threshold];
  let Parameters = [
    Optional<"Pixels", 1, 1, 2147483647, "pixels of a beat that share the thresholds">,
    Count<"Lanes", "elements of a beat">,
    Width<"InWidth", "bits of x">,
    Flag<"InSigned", "x is signed">,
    Width<"OutWidth", "bits of the result">,
    Signed<"Base", "the result below all thresholds">,
    Signed<"Step", "the increment per threshold">,
    Count<"Count", "thresholds of a channel">,
    Count<"OutFolds", "beats of a pixel">,
    Trips, Uses,
    Placed<"Block", "up to three thresholds are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"ParamFile", "thresholds, ascending by lane, of every beat "
                                 "of a pixel">];
  let Ports = [StreamIn<"in", "Pixels * Lanes * InWidth", "frameBeats">,
               StreamOut<"out", "Pixels * Lanes * OutWidth", "frameBeats">];
  let Roms = [Rom<"ParamFile", "Block", "Trips * OutFolds",
                  "Lanes * Count * (InWidth + 1)", "1", "Count <= 3">];
  let Characterized = ["threshold", "bisect"];
}

def Table : Unit<"table"> {
  let Summary = "table look-up, by channel";
  let Latency = "4 + V";
  let Module = [rhz_table];
  let Parameters = [
    Optional<"Pixels", 1, 1, 2147483647, "pixels of a beat that share the tables">,
    Count<"Lanes", "elements of a beat">,
    Width<"InWidth", "bits of x">,
    Flag<"InSigned", "x is signed">,
    Width<"OutWidth", "bits of the result">,
    Signed<"Lo", "the least x">,
    Count<"Entries", "values of x">,
    Count<"OutFolds", "beats of a pixel">,
    Trips, Uses,
    Placed<"Block", "the tables are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"TableFile", "tables of all channels, one after another">];
  let Ports = [StreamIn<"in", "Pixels * Lanes * InWidth", "frameBeats">,
               StreamOut<"out", "Pixels * Lanes * OutWidth", "frameBeats">];
  let Roms = [Rom<"TableFile", "Block", "Trips * OutFolds * Lanes * Entries",
                  "OutWidth", "Lanes">];
  let Characterized = ["table"];
}

def ScaledAdd : Unit<"scaled_add"> {
  let Summary = "a * MulA + b * MulB, or the larger of both";
  let Latency = "4 + V";
  let Module = [rhz_scaled_add];
  let Parameters = [
    Count<"Lanes", "elements of a beat">,
    Width<"AWidth", "bits of a">,
    Flag<"ASigned", "a is signed">,
    Width<"BWidth", "bits of b">,
    Flag<"BSigned", "b is signed">,
    Signed<"MulA", "the factor of a">,
    Signed<"MulB", "the factor of b">,
    Width<"MulWidth", "bits of a factor, signed">,
    Flag<"Max", "the larger one instead of the sum">,
    Optional<"Offset", 0, -2147483648, 2147483647, "the offset that Max adds to b's side">,
    Optional<"MaxWidth", 16, 1, 4096, "signed bits in which Max compares">,
    Width<"OutWidth", "bits of the result">,
    Optional<"Stored", 0, 0, 1, "the factors and the offset are in a memory">,
    Trips, Uses,
    Placed<"Block", "that is a block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"FactorFile", "{offset, b's factor, a's factor}; with Max "
                                  "the offset has MaxWidth bits">];
  let Roms = [Rom<"FactorFile", "Block", "Trips",
                  "2 * MulWidth + (Max ? MaxWidth : 0)", "1", "Stored">];
  let Ports = [StreamIn<"a", "Lanes * AWidth", "frameBeats">, StreamIn<"b", "Lanes * BWidth", "frameBeats">,
               StreamOut<"out", "Lanes * OutWidth", "frameBeats">];
  let Characterized = ["scaled_add"];
}

def Product : Unit<"product"> {
  let Summary = "(a - ZeroA) * (b - ZeroB)";
  let Latency = "4 + V";
  let Module = [rhz_product];
  let Parameters = [
    Count<"Lanes", "elements of a beat">,
    Width<"AWidth", "bits of a">,
    Flag<"ASigned", "a is signed">,
    Width<"BWidth", "bits of b">,
    Flag<"BSigned", "b is signed">,
    Signed<"ZeroA", "the zero point of a">,
    Signed<"ZeroB", "the zero point of b">,
    Width<"ADiff", "signed bits of a - ZeroA">,
    Width<"BDiff", "signed bits of b - ZeroB">,
    Width<"OutWidth", "bits of the result">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Depth, FrameBeats
  ];
  let Ports = [StreamIn<"a", "Lanes * AWidth", "frameBeats">, StreamIn<"b", "Lanes * BWidth", "frameBeats">,
               StreamOut<"out", "Lanes * OutWidth", "frameBeats">];
  // As alike as the characterized units are.
  let Characterized = ["scaled_add"];
}
