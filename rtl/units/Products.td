// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that multiply by weights and reduce.
include "Sources.td"

defvar StyleText =
    "products in LUTs (0), in DSPs (1), two of them in a DSP48E2 (2) or in a "
    "DSP48E1 (3)";

def Matvec : Unit<"matvec"> {
  let Summary = "matrix times vector in folds of Pe x Simd, weights in memory";
  let Latency = "5 + M + clog2(Simd) + V for Style 0 and 1, M = 2 if Style = 0 "
                "and min(XWidth, WWidth) > 4, else 1; for Style 2 and 3 "
                "8 + C + clog2(N) + V, M = 7 if XSigned, else 4, in "
                "Style 3 at most what its low field has room for, "
                "N = ceil(Simd / M), C = ceil(Simd / N)";
  let Module = [rhz_matvec];
  let Parameters = [
    Count<"Pixels", "vectors of a beat that share the weights">,
    Count<"Pe", "results of a beat and vector">,
    Count<"Simd", "elements of a beat and vector">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a vector, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 3, StyleText>,
    Placed<"Block", "the weights are in block RAM">,
    Placed<"BiasBlock", "the biases are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"WeightFile", "weights, [pe][simd] of every fold">,
               File<"BiasFile", "biases, [pe] of every output fold">];
  let Ports = [StreamIn<"in", "Pixels * Simd * XWidth", "frameBeats * Folds">,
               StreamOut<"out", "Pixels * Pe * AccWidth", "frameBeats">];
  let Roms = [
    Rom<"WeightFile", "Block", "Trips * Folds * OutFolds", "Pe * Simd * WWidth">,
    Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Pe * AccWidth", "1", "Bias">
  ];
  let Constraints = [
    Constraint<"Style < 2 || (XWidth <= 8 && WWidth <= 8)",
               "two products in a DSP are of at most 8 bits by 8">
  ];
  let Characterized = ["matvec_lut", "matvec_dsp", "matvec_pair"];
}

def MatvecResident : Unit<"matvec_resident"> {
  let Summary = "matrix times vector in folds of Pe x Simd, weights in a memory "
                "that is filled when the design starts";
  let Latency = "5 + M + clog2(Simd) + V for Style 0 and 1, M = 2 if Style = 0 "
                "and min(XWidth, WWidth) > 4, else 1; for Style 2 and 3 "
                "8 + C + clog2(N) + V, M = 7 if XSigned, else 4, in "
                "Style 3 at most what its low field has room for, "
                "N = ceil(Simd / M), C = ceil(Simd / N)";
  let Module = [rhz_matvec_resident];
  let Parameters = [
    Count<"Pixels", "vectors of a beat that share the weights">,
    Count<"Pe", "results of a beat and vector">,
    Count<"Simd", "elements of a beat and vector">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a vector, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 3, StyleText>,
    Flag<"Ultra", "the weights are in UltraRAM, otherwise in block RAM">,
    Placed<"BiasBlock", "the biases are in block RAM">,
    Parameter<"Load", 8, 1024, "bits of a word of the load chain">,
    Depth, FrameBeats
  ];
  let Files = [File<"BiasFile", "biases, [pe] of every output fold">];
  let Ports = [LoadIn<"load", "Load", "Trips * Folds * OutFolds * ceilDiv(Pe * Simd * WWidth, Load)">,
               StreamIn<"in", "Pixels * Simd * XWidth", "frameBeats * Folds">,
               StreamOut<"out", "Pixels * Pe * AccWidth", "frameBeats">];
  let Roms = [
    Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Pe * AccWidth", "1", "Bias">
  ];
  let Constraints = [
    Constraint<"Style < 2 || (XWidth <= 8 && WWidth <= 8)",
               "two products in a DSP are of at most 8 bits by 8">
  ];
  // As alike as the characterized units are.
  let Characterized = ["matvec_lut", "matvec_dsp", "matvec_pair"];
}

def MatvecStreamed : Unit<"matvec_streamed"> {
  let Summary = "matrix times vector in folds of Pe x Simd, weights as a second "
                "stream in the order of use";
  let Latency = "3 + M + clog2(Simd) + V for Style 0 and 1, M = 2 if Style = 0 "
                "and min(XWidth, WWidth) > 4, else 1; for Style 2 and 3 "
                "7 + C + clog2(N) + V, M = 7 if XSigned, else 4, in "
                "Style 3 at most what its low field has room for, "
                "N = ceil(Simd / M), C = ceil(Simd / N)";
  let Module = [rhz_matvec_streamed];
  let Parameters = [
    Count<"Pixels", "vectors of a beat that share the weights">,
    Count<"Pe", "results of a beat and vector">,
    Count<"Simd", "elements of a beat and vector">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a vector, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 3, StyleText>,
    Placed<"BiasBlock", "the biases are in block RAM">,
    BeatWidth<"Beat", "bits of a beat of weights">,
    Count<"Words", "firings for which a beat has weights">,
    Optional<"Positions", 1, 1, 1048576,
             "vectors, one after another, that share the weights">,
    Depth, FrameBeats
  ];
  let Files = [File<"BiasFile", "biases, [pe] of every output fold">];
  let Ports = [StreamIn<"in", "Pixels * Simd * XWidth", "frameBeats * Folds">,
               StreamIn<"w", "Beat", "frameBeats / Positions * ceilDiv(Folds * ceilDiv(Pe * Simd * WWidth, Beat), Words)">,
               StreamOut<"out", "Pixels * Pe * AccWidth", "frameBeats">];
  let Roms = [
    Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Pe * AccWidth", "1", "Bias">
  ];
  let Constraints = [
    Constraint<"Style < 2 || (XWidth <= 8 && WWidth <= 8)",
               "two products in a DSP are of at most 8 bits by 8">,
    Constraint<"Words == 1 || Words * Pe * Simd * WWidth <= Beat",
               "a beat has room for its weights">,
    Constraint<"frameBeats % (Positions * OutFolds) == 0",
               "a frame has whole groups of vectors">
  ];
  // As alike as the characterized units are.
  let Characterized = ["matvec_lut", "matvec_dsp", "matvec_pair"];
}

// What units have in common on which layers take turns. Layers of different
// sizes have Folds, OutFolds and Vectors in Sizes; the parameters are then the
// greatest ones.
class Turns<string name, list<Parameter> memory> : Unit<name> {
  let Latency = "1 + V, with Bias 3 + V, from the store of Places results on, "
                "which is behind a matvec";
  let Parameters = !listconcat([
    Count<"Layers", "layers, one after another in a frame">,
    Count<"Pe", "results of a beat">,
    Count<"Simd", "elements of a beat">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Parameter<"Folds", 1, 65535, "beats that make one result">,
    Parameter<"OutFolds", 1, 65535, "results of a vector, one after another">,
    Parameter<"Vectors", 1, 65535, "vectors of a layer in a frame">,
    Count<"Words", "words of Pe x Simd weights of all layers">,
    Count<"Biases", "words of Pe biases of all layers">,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 3, StyleText>], memory, [
    Placed<"BiasBlock", "the biases are in block RAM">,
    Parameter<"Places", 2, 1073741824, "results that are stored for all layers">,
    Depth
  ]);
  list<File> TextFiles = [
    File<"BiasFile", "biases, [pe] of every output fold of every layer">,
    File<"Sizes", "of layers of different sizes: Folds, OutFolds and Vectors of "
                  "each, in four hexadecimal digits">];
  let Files = TextFiles;
  let Rows = "Sizes";
  let Columns = ["Folds", "OutFolds", "Vectors"];
  Port In = Port<"in", "Stream", 1, "Simd * XWidth",
                 "Folds * OutFolds * Vectors", "Layers">;
  Port Out = StreamOut<"out", "Pe * AccWidth", "OutFolds * Vectors", "Layers">;
  Rom Biases = Rom<"BiasFile", "BiasBlock", "Biases", "Pe * AccWidth", "1", "Bias">;
  let Ports = [In, Out];
  let Roms = [Biases];
  let Constraints = [
    Constraint<"Style < 2 || (XWidth <= 8 && WWidth <= 8)",
               "two products in a DSP are of at most 8 bits by 8">
  ];
  // As alike as the characterized units are.
  let Characterized = ["matvec_lut", "matvec_dsp", "matvec_pair"];
}

def MatvecTurns : Turns<"matvec_turns", [
    Placed<"Block", "the weights are in block RAM">]> {
  let Summary = "matrix times vector in folds of Pe x Simd for several layers, "
                "which take turns";
  let Module = [rhz_matvec_turns];
  let Files = !listconcat(
      [File<"WeightFile", "weights, [pe][simd] of every fold of every layer">],
      TextFiles);
  let Roms = [Rom<"WeightFile", "Block", "Words", "Pe * Simd * WWidth">, Biases];
}

def TurnsResident : Turns<"turns_resident", [
    Flag<"Ultra", "the weights are in UltraRAM, otherwise in block RAM">,
    Parameter<"Load", 8, 1024, "bits of a word of the load chain">]> {
  let Summary = "matrix times vector for several layers, which take turns, weights "
                "in a memory that is filled when the design starts";
  let Module = [rhz_turns_resident];
  let Ports = [LoadIn<"load", "Load", "Words * ceilDiv(Pe * Simd * WWidth, Load)">,
               In, Out];
}

def TurnsStreamed : Turns<"turns_streamed", [
    Planned<"firings", "beats of weights in a frame">]> {
  let Summary = "matrix times vector for several layers, which take turns, weights "
                "as one more stream";
  let Module = [rhz_turns_streamed];
  let Ports = [In, StreamIn<"w", "Pe * Simd * WWidth", "firings">, Out];
}

def Matmul : Unit<"matmul"> {
  let Summary = "matrix times matrix in folds of Pe x Simd: both are streams, the "
                "second one is stored";
  let Latency = "5 + M + clog2(Simd) + V for Style 0 and 1, M = 2 if Style = 0 "
                "and min(XWidth, WWidth) > 4, else 1; for Style 2 and 3 "
                "8 + C + clog2(N) + V, M = 7 if XSigned, else 4, in "
                "Style 3 at most what its low field has room for, "
                "N = ceil(Simd / M), C = ceil(Simd / N)";
  let Module = [rhz_matmul];
  let Parameters = [
    Count<"Pe", "results of a beat: columns of b">,
    Count<"Simd", "elements of a beat of a">,
    Width<"AWidth", "bits of an element of a">,
    Flag<"ASigned", "elements of a are signed">,
    Signed<"ZeroA", "taken off every element of a">,
    Width<"XWidth", "bits of a - ZeroA">,
    Flag<"XSigned", "a - ZeroA is signed">,
    Width<"BWidth", "bits of an element of b">,
    Flag<"BSigned", "elements of b are signed">,
    Signed<"ZeroB", "taken off every element of b">,
    Width<"WWidth", "bits of b - ZeroB, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Inner", "products of a sum">,
    Count<"Columns", "results of a row of a">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a row, one after another">,
    Count<"Rows", "rows of a by one matrix, one after another">,
    Count<"Matrices", "matrices of a page of memory">,
    Count<"Passes", "times that a page is gone through">,
    Flag<"ByColumn", "a beat of b is of a column (Simd elements), otherwise of a "
                     "row (Pe)">,
    Flag<"Interleaved", "b has a row or column of each matrix in turn">,
    Parameter<"Style", 0, 3, StyleText>,
    Flag<"Ultra", "b is in UltraRAM, otherwise in block RAM or LUTs by its shape">,
    Depth, FrameBeats
  ];
  let Ports = [StreamIn<"a", "Simd * AWidth", "frameBeats * Folds">,
               StreamIn<"b", "(ByColumn ? Simd : Pe) * BWidth",
                        "frameBeats / (Passes * Rows * OutFolds) * "
                        "(ByColumn ? Columns * Folds : Inner * OutFolds)">,
               StreamOut<"out", "Pe * AccWidth", "frameBeats">];
  let Constraints = [
    Constraint<"Style < 2 || (XWidth <= 8 && WWidth <= 8)",
               "two products in a DSP are of at most 8 bits by 8">,
    Constraint<"Folds == ceilDiv(Inner, Simd) && OutFolds == ceilDiv(Columns, Pe)",
               "the folds are those of Inner by Simd and of Columns by Pe">,
    Constraint<"ZeroA != 0 || (XWidth == AWidth && XSigned == ASigned)",
               "a without zero point is multiplied as it is">,
    Constraint<"WWidth >= (ZeroB == 0 ? BWidth + (BSigned ? 0 : 1) : 1)",
               "b is multiplied with a sign">
  ];
  // As alike as the characterized units are.
  let Characterized = ["matvec_lut", "matvec_dsp", "matvec_pair"];
}

def LaneReduce : Unit<"lane_reduce"> {
  let Summary = "weighted sum, maximum or (scaled) sum of each lane over taps "
                "and folds";
  let Latency = "6 + M + clog2(Taps) + V, M = 2 if Op = 0, Style = 0 and "
                "min(XWidth, WWidth) > 4, else 1";
  let Module = [rhz_lane_reduce];
  let Parameters = [
    Count<"Pixels", "pixels of a beat that share the weights">,
    Count<"Lanes", "channels of a beat">,
    Count<"Taps", "positions of the kernel in a beat">,
    Parameter<"Op", 0, 2, "weighted sum (0), maximum (1), sum (2)">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a pixel, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Signed<"Zero", "zero point that a scaled sum takes off every element">,
    Width<"ScaleWidth", "bits of a scale, unsigned">,
    Natural<"Positions", "output positions with a scale of their own; 0: none">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Placed<"Block", "the weights or scales are in block RAM">,
    Placed<"BiasBlock", "the biases are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"WeightFile", "weights, [tap][lane] of every fold">,
               File<"BiasFile", "biases, [lane] of every output fold">,
               File<"ScaleFile", "scales, [pixel] of every output position">];
  let Ports = [StreamIn<"in", "Pixels * Taps * Lanes * XWidth",
                        "frameBeats * Folds">,
               StreamOut<"out", "Pixels * Lanes * AccWidth", "frameBeats">];
  let Roms = [
    Rom<"WeightFile", "Block", "Trips * Folds * OutFolds", "Lanes * Taps * WWidth",
        "1", "Op == 0">,
    Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Lanes * AccWidth", "1",
        "Op == 0 && Bias">,
    Rom<"ScaleFile", "Block", "Positions", "Pixels * ScaleWidth", "1",
        "Op != 0 && Positions > 0">
  ];
  let Characterized = ["lane_reduce", "depthwise"];
}

def DepthwiseResident : Unit<"depthwise_resident"> {
  let Summary = "weighted sum of each lane over taps and folds, weights in a "
                "memory that is filled when the design starts";
  let Latency = "6 + M + clog2(Taps) + V, M = 2 if Style = 0 and "
                "min(XWidth, WWidth) > 4, else 1";
  let Module = [rhz_depthwise_resident];
  let Parameters = [
    Count<"Pixels", "pixels of a beat that share the weights">,
    Count<"Lanes", "channels of a beat">,
    Count<"Taps", "positions of the kernel in a beat">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a pixel, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Flag<"Ultra", "the weights are in UltraRAM, otherwise in block RAM">,
    Placed<"BiasBlock", "the biases are in block RAM">,
    Parameter<"Load", 8, 1024, "bits of a word of the load chain">,
    Depth, FrameBeats
  ];
  let Files = [File<"BiasFile", "biases, [lane] of every output fold">];
  let Ports = [LoadIn<"load", "Load", "Trips * Folds * OutFolds * ceilDiv(Lanes * Taps * WWidth, Load)">,
               StreamIn<"in", "Pixels * Taps * Lanes * XWidth",
                        "frameBeats * Folds">,
               StreamOut<"out", "Pixels * Lanes * AccWidth", "frameBeats">];
  let Roms = [Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Lanes * AccWidth", "1",
                  "Bias">];
  // As alike as the characterized units are.
  let Characterized = ["depthwise"];
}

def DepthwiseStreamed : Unit<"depthwise_streamed"> {
  let Summary = "weighted sum of each lane over taps and folds, weights as a "
                "second stream";
  let Latency = "4 + M + clog2(Taps) + V, M = 2 if Style = 0 and "
                "min(XWidth, WWidth) > 4, else 1";
  let Module = [rhz_depthwise_streamed];
  let Parameters = [
    Count<"Pixels", "pixels of a beat that share the weights">,
    Count<"Lanes", "channels of a beat">,
    Count<"Taps", "positions of the kernel in a beat">,
    Width<"XWidth", "bits of an element">,
    Flag<"XSigned", "elements are signed">,
    Width<"WWidth", "bits of a weight, signed">,
    Width<"AccWidth", "bits of a result">,
    Count<"Folds", "beats that make one result">,
    Count<"OutFolds", "results of a pixel, one after another">,
    Trips, Uses,
    Flag<"Bias", "a bias is added">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Placed<"BiasBlock", "the biases are in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"BiasFile", "biases, [lane] of every output fold">];
  let Ports = [StreamIn<"in", "Pixels * Taps * Lanes * XWidth",
                        "frameBeats * Folds">,
               StreamIn<"w", "Taps * Lanes * WWidth", "frameBeats * Folds">,
               StreamOut<"out", "Pixels * Lanes * AccWidth", "frameBeats">];
  let Roms = [Rom<"BiasFile", "BiasBlock", "Trips * OutFolds", "Lanes * AccWidth", "1",
                  "Bias">];
  // As alike as the characterized units are.
  let Characterized = ["depthwise"];
}
