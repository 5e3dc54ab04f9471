// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A core of the engine with a program (rtl/isa), between streams.
include "Sources.td"

def Engine : Unit<"engine"> {
  let Summary = "a core that carries out a program for every frame";
  let Latency = "V";
  let Module = [rhz_engine_unit];
  let Parameters = [
    Parameter<"In", 4, 128, "rows of the array, bytes of a word, lanes">,
    Parameter<"Out", 4, 128, "columns of the array">,
    Count<"Words", "words of the scratchpad">,
    Parameter<"Banks", 1, 16, "its banks">,
    Parameter<"Entries", 16, 1024, "accumulators of a column, in each of two banks">,
    Parameter<"SumBits", 20, 27, "bits of an accumulator">,
    Parameter<"Queue", 1, 64, "blocks of weights that wait for the array">,
    Parameter<"Waiting", 2, 64, "instructions that wait before each unit">,
    Parameter<"Tokens", 1, 15, "tokens that wait between two units">,
    BeatWidth<"DataWidth", "bits of a beat of the memory">,
    Parameter<"Hash", 0, 4294967295, "the core, as programs name it">,
    Optional<"Ultra", 0, 0, 1, "the scratchpad is in UltraRAM">,
    Optional<"Wide", 1, 0, 1, "DSPs are DSP48E2 (1) or DSP48E1 (0)">,
    Natural<"Program", "the program's first word">,
    Count<"Room", "words of memory: program, weights, constants and working space">,
    Optional<"Page", 0, 0, 2147483647, "the page of 4 KiB on which they begin">,
    Parameter<"InWidth", 1, 9, "bits of an element that comes">,
    Flag<"InSigned", "it is signed">,
    Signed<"InBias", "what a byte is less">,
    Parameter<"OutWidth", 1, 9, "bits of an element that leaves">,
    Signed<"OutBias", "what it is more than its byte">,
    Count<"InBeats", "beats of a frame that comes">,
    Count<"OutBeats", "beats of one that leaves">,
    Depth,
    Planned<"segment", "bytes of program, weights and constants">,
    Planned<"cycles", "of a frame, from its first beat to its end">,
    Planned<"traffic", "bytes of a frame to and from the memory">,
    Planned<"latency", "cycles that the memory takes for a burst's first beat">,
    Planned<"beatTicks", "parts of a cycle, of 65,536, that it takes for a beat">,
    Planned<"turn", "cycles between bursts that do not follow each other">
  ];
  let Ports = [
    StreamIn<"in", "In * InWidth", "InBeats">,
    Axi4<"m_axi", "DataWidth", "traffic", "16 * 8 * In / DataWidth", "24", "Page",
         "Room * In - segment", "segment">,
    StreamOut<"out", "In * OutWidth", "OutBeats">,
    Status<"err_o", "16">
  ];
  let Constraints = [
    Constraint<"DataWidth <= 8 * In && 8 * In % DataWidth == 0", "a word is whole beats">,
    Constraint<"Room * In >= segment && segment % 4096 == 0", "working space begins on a page">
  ];
  let Characterized = ["engine"];
}
