// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that compute along rows: softmax and normalization.
include "Sources.td"

def RowSoftmax : Unit<"row_softmax"> {
  let Summary = "softmax of rows: exponentials from a table, one quotient a row";
  let Latency = "5 + V";
  let Module = [rhz_row_softmax];
  let Parameters = [
    Count<"Lanes", "elements of a beat">,
    Width<"InWidth", "bits of x">,
    Flag<"InSigned", "x is signed">,
    Count<"Channels", "elements of a row">,
    Count<"Entries", "differences of two x">,
    Trips, Uses,
    Width<"PowerWidth", "bits of an exponential">,
    Width<"SumWidth", "bits of a row's sum">,
    Parameter<"QuotientBits", 1, 24, "bits of a row's quotient">,
    Natural<"First", "the dividend without its low QuotientBits">,
    Natural<"Low", "those">,
    Parameter<"Shift", 1, 40, "bits that a product loses">,
    Width<"OutWidth", "bits of the result">,
    Natural<"Hi", "the largest result">,
    Parameter<"Store", 2, 2147483647, "beats of x that wait for the row's maximum">,
    Parameter<"PowerStore", 2, 2147483647, "beats of exponentials that wait for the quotient">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Placed<"Block", "the table is in block RAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"TableFile", "exponentials, by difference">];
  let Ports = [StreamIn<"in", "Lanes * InWidth", "frameBeats">,
               StreamOut<"out", "Lanes * OutWidth", "frameBeats">];
  let Roms = [Rom<"TableFile", "Block", "Trips * Entries", "PowerWidth", "Lanes">];
  let Constraints = [
    Constraint<"Lanes <= Channels", "a beat is part of a row">,
    Constraint<"Store >= ceilDiv(Channels, Lanes) && PowerStore >= ceilDiv(Channels, Lanes)",
               "a row fits the stores">
  ];
  let Characterized = ["row_softmax"];
}

def RowNorm : Unit<"row_norm"> {
  let Summary = "rows with mean 0 and variance 1: sums, a root and a reciprocal a row";
  let Latency = "9 + V";
  let Module = [rhz_row_norm];
  let Parameters = [
    Count<"Lanes", "elements of a beat">,
    Width<"InWidth", "bits of x">,
    Flag<"InSigned", "x is signed">,
    Count<"Channels", "elements of a row">,
    Flag<"Centered", "the mean is subtracted">,
    Signed<"Zero", "the zero point of x">,
    Width<"XWidth", "signed bits of x - Zero">,
    Width<"SumWidth", "signed bits of a row's sum">,
    Width<"SquareWidth", "bits of the sum of squares">,
    Parameter<"Digits", 1, 30, "digits of the variance to the base 4">,
    Natural<"EpsilonLow", "30 bits of what is added to the variance">,
    Natural<"EpsilonHigh", "those above">,
    Optional<"Stored", 0, 0, 1, "what is added is in a memory">,
    Trips, Uses,
    Placed<"Block", "that is a block RAM">,
    Width<"DiffWidth", "signed bits of Channels times a difference from the mean">,
    Width<"ScaledWidth", "signed bits of the same, shifted">,
    Parameter<"Shift", 1, 62, "bits that a product loses">,
    Width<"OutWidth", "bits of the result">,
    Parameter<"Store", 2, 2147483647, "beats of x that wait for the row's numbers">,
    Parameter<"Style", 0, 1, "products in LUTs (0) or in DSPs (1)">,
    Depth, FrameBeats
  ];
  let Files = [File<"EpsilonFile", "what is added to the variance, by trip">];
  let Roms = [Rom<"EpsilonFile", "Block", "Trips", "2 * Digits", "1", "Stored">];
  let Ports = [StreamIn<"in", "Lanes * InWidth", "frameBeats">,
               StreamOut<"out", "Lanes * OutWidth", "frameBeats">];
  let Constraints = [
    Constraint<"Lanes <= Channels", "a beat is part of a row">,
    Constraint<"Store >= ceilDiv(Channels, Lanes)", "a row fits the store">
  ];
  let Characterized = ["row_norm"];
}
