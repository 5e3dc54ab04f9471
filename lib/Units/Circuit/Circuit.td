// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit kind of generated datapaths (include/rhizome/Units/Circuit.h).
include "Sources.td"

def Circuit : Unit<"circuit"> {
  let Summary = "a datapath whose constants are wired in, made by the compiler";
  let Latency = "stages + V";
  let Shell = [rhz_pipeline];
  let ShellParameters = [Binding<"Width", "outBits">,
                         Binding<"Stages", "stages">, Binding<"Depth", "Depth">];
  // What its graph counts to, for LUTs of six inputs (wide) and of four
  // (narrow): include/rhizome/Cost/Words.h.
  let Parameters = [
    Planned<"levels", "the length of logic between registers, in 32nds of a "
                      "level of LUTs">,
    Planned<"chain", "what a carry chain takes in addition to its LUT, likewise">,
    Planned<"chainBit", "what each of its bits takes, in 1024ths of a level">,
    Planned<"stages", "registers from input to output">,
    Planned<"inBits", "bits of an input beat">,
    Planned<"outBits", "bits of an output beat">,
    Planned<"adders", "sums">,
    Planned<"ffBits", "bits of registers that stand alone or in twos">,
    Planned<"rowBits", "LUTs of rows of three registers and more">,
    Planned<"rowStageBits", "bits of these rows as registers">,
    Planned<"wideSumBits", "bits of sums">,
    Planned<"wideLuts", "LUTs of choices">,
    Planned<"wideTableLeaves", "LUTs that look up parts of tables">,
    Planned<"wideTableChoices", "choices between these">,
    Planned<"narrowSumBits", "bits of sums">,
    Planned<"narrowLuts", "LUTs of choices">,
    Planned<"narrowCompareBits", "bits of comparisons">,
    Planned<"narrowTableLeaves", "LUTs that look up parts of tables">,
    Planned<"narrowTableChoices", "choices between these">,
    Depth, FrameBeats
  ];
  let Ports = [StreamIn<"in", "inBits", "frameBeats">, StreamOut<"out", "outBits", "frameBeats">];
  let Characterized = ["circuit"];
}
