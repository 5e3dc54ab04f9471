// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction set of the engine: what programs say to a core, whatever its size.
// A core has a scratchpad of words of IN bytes, an array of IN × OUT multipliers
// whose weights stand still while words stream by, two banks of accumulators, and a
// vector unit of IN lanes. Every byte is signed: an unsigned tensor lies there less
// 128, and the offset of the next requantizer makes up for it.
include "rhizome/Engine/Isa.td"

def LoadUnit    : EngineUnit<"load", 0, "memory or a stream to the scratchpad">;
def WeightUnit  : EngineUnit<"weights", 1, "memory or the scratchpad to the queue of weights">;
def MatrixUnit  : EngineUnit<"matrix", 2, "the array">;
def VectorUnit  : EngineUnit<"vector", 3, "the lanes">;
def StoreUnit   : EngineUnit<"store", 4, "the scratchpad to memory or a stream">;
def FetchUnit   : EngineUnit<"fetch", 5, "reads the program and hands its instructions out">;

def In       : CoreParameter<"in", 4, 128, "rows of the array, bytes of a word, lanes">;
def Out      : CoreParameter<"out", 4, 128, "columns of the array, one or two times `in`">;
def Words    : CoreParameter<"words", 256, 131072, "words of the scratchpad">;
def Banks    : CoreParameter<"banks", 1, 16, "equal parts of the scratchpad that are read and written independently">;
def Entries  : CoreParameter<"entries", 16, 1024, "entries of each of the two banks of accumulators">;
def SumBits  : CoreParameter<"sum_bits", 20, 27, "bits of an accumulator, which wraps">;
def Queue    : CoreParameter<"queue", 1, 64, "blocks of IN × OUT weights that wait for the array">;
def Depth    : CoreParameter<"depth", 2, 64, "instructions that wait before each unit">;
def Tokens   : CoreParameter<"tokens", 1, 15, "tokens that wait between two units">;
def Ports    : CoreParameter<"ports", 1, 4, "memory ports">;
def PortBits : CoreParameter<"port_bits", 32, 1024, "bits of a memory port, at most a word">;

class Place<string name, string text> : Field<name, 17, "0", "words - 1", text>;
class Address<string text> : Field<"address", 28, "0", "268435455", text>;

def Port : Choice<"port", 3, ["m0", "m1", "m2", "m3", "stream"], "where the words come from or go">;
def Source : Choice<"port", 3, ["m0", "m1", "m2", "m3", "scratch"], "where the weights come from">;
def ThePort : Rule<"port < ports || port == 4", "the core has the port">;
def StreamHasNoAddress : Rule<"port != 4 || (address == 0 && row_step == 0)",
                              "a stream has no address">;
def InnerRows : Rule<"top + bottom < rows", "a row lies between the borders">;

def Load : Instruction<1, "load", LoadUnit> {
  let Summary = "a box of words, with borders, from a memory or a stream to the scratchpad";
  let Text = [{
    Row y, column x and word c of the box lie at `place + y · place_row + x · place_column
    + c`. The first `top` and last `bottom` rows and the first `left` and last `right`
    columns are `pad`; the rest comes from `address + (y − top) · row_step + (x − left) ·
    column_step + c`, or in this order from the stream.}];
  let Fields = [
    Port, Address<"the first word in memory">,
    Stride<"row_step", 20, "words of memory from row to row">,
    Stride<"column_step", 12, "words of memory from column to column">,
    Place<"place", "the first word in the scratchpad">,
    Stride<"place_row", 14, "words of the scratchpad from row to row">,
    Stride<"place_column", 10, "words of the scratchpad from column to column">,
    Times<"rows", 10, "1023", "rows, borders included">,
    Times<"columns", 10, "1023", "columns, borders included">,
    Times<"channels", 9, "511", "words of a column">,
    Field<"top", 4, "0", "15", "rows of the upper border">,
    Field<"bottom", 4, "0", "15", "rows of the lower border">,
    Field<"left", 4, "0", "15", "columns of the left border">,
    Field<"right", 4, "0", "15", "columns of the right border">,
    Byte<"pad", "the value of the borders">
  ];
  let Rules = [
    ThePort, InnerRows,
    Rule<"left + right < columns", "a column lies between the borders">,
    Rule<"port != 4 || (address == 0 && row_step == 0 && column_step == 0)",
         "a stream has no address">
  ];
  let Accesses = [
    Reads<"memory", "address",
          ["rows - top - bottom, row_step", "columns - left - right, column_step", "channels, 1"],
          "port != 4", "port">,
    Reads<"stream", "0", ["(rows - top - bottom) * (columns - left - right) * channels, 1"],
          "port == 4">,
    Writes<"scratch", "place", ["rows, place_row", "columns, place_column", "channels, 1"]>
  ];
  let Semantics = [{
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++)
        for (int c = 0; c < channels; c++) {
          int word = place + y * place_row + x * place_column + c;
          if (y < top || y >= rows - bottom || x < left || x >= columns - right) {
            for (int i = 0; i < IN; i++) SCRATCH(word, i) = pad;
          } else if (port == 4) {
            RECEIVE(word);
          } else {
            int from = address + (y - top) * row_step + (x - left) * column_step + c;
            for (int i = 0; i < IN; i++) SCRATCH(word, i) = MEMORY(port, from, i);
          }
        }
  }];
}

def Pack : Instruction<2, "pack", LoadUnit> {
  let Summary = "rows of bytes as overlapping words, for layers with few channels";
  let Text = [{
    A row has `bytes` bytes, channels last. Column x gets the `channels` words whose
    bytes begin at `x · step − left`: what a row of a kernel sees at that column. Bytes
    outside of the row, and the first `top` and last `bottom` rows, are `pad`. So a
    kernel row of 7 × 3 values is two words of 16, and not seven words of three values
    each.}];
  let Fields = [
    Port, Address<"the first word in memory">,
    Stride<"row_step", 20, "words of memory from row to row">,
    Place<"place", "the first word in the scratchpad">,
    Stride<"place_row", 14, "words of the scratchpad from row to row">,
    Times<"rows", 10, "1023", "rows, borders included">,
    Times<"columns", 10, "1023", "columns">,
    Times<"channels", 2, "2", "words of a column">,
    Times<"bytes", 14, "16383", "bytes of a row">,
    Times<"step", 7, "in", "bytes from column to column">,
    Field<"left", 7, "0", "in", "bytes before the row that the first column sees">,
    Field<"top", 4, "0", "15", "rows of the upper border">,
    Field<"bottom", 4, "0", "15", "rows of the lower border">,
    Byte<"pad", "the value of the borders">
  ];
  let Rules = [
    ThePort, InnerRows, StreamHasNoAddress,
    Rule<"port != 4 || bytes % in == 0", "rows of a stream are whole words">
  ];
  let Accesses = [
    Reads<"memory", "address", ["rows - top - bottom, row_step", "(bytes + in - 1) / in, 1"],
          "port != 4", "port">,
    Reads<"stream", "0", ["(rows - top - bottom) * (bytes / in), 1"], "port == 4">,
    Writes<"scratch", "place", ["rows, place_row", "columns * channels, 1"]>
  ];
  let Semantics = [{
    for (int y = 0; y < rows; y++) {
      int inside = y >= top && y < rows - bottom;
      if (inside && port == 4) RECEIVE_ROW(bytes / IN);
      for (int x = 0; x < columns; x++)
        for (int i = 0; i < channels * IN; i++) {
          int at = x * step - left + i;
          int value = pad;
          if (inside && at >= 0 && at < bytes)
            value = port == 4 ? RECEIVED(at)
                              : MEMORY(port, address + (y - top) * row_step + at / IN, at % IN);
          SCRATCH(place + y * place_row + x * channels + i / IN, i % IN) = value;
        }
    }
  }];
}

def Weights : Instruction<3, "weights", WeightUnit> {
  let Summary = "blocks of IN × OUT weights to the queue before the array";
  let Text = [{
    From a memory, a block is OUT words, one a column, byte r of which is the weight of
    row r; with `four`, a word holds two columns, the first in the low four bits of its
    bytes. From the scratchpad, column n of block b is the word at `place + b · block_step +
    n · column_step`: the products of two tensors. With `turned`, row r of it is the word
    at `place + b · block_step + r · column_step + n / IN`, and byte n % IN the column's.}];
  let Fields = [
    Source, Address<"the first word in memory">,
    Place<"place", "the first word in the scratchpad">,
    Times<"blocks", 12, "4095", "blocks">,
    Flag<"four", "weights have four bits">,
    Flag<"turned", "words are rows and not columns">,
    Stride<"column_step", 12, "words of the scratchpad from column to column, or from row to row">,
    Stride<"block_step", 14, "words of the scratchpad from block to block">
  ];
  let Rules = [
    ThePort,
    Rule<"port == 4 || (place == 0 && column_step == 0 && block_step == 0 && !turned)",
         "weights of a memory follow each other">,
    Rule<"port != 4 || (address == 0 && !four)", "weights of the scratchpad have eight bits">
  ];
  let Accesses = [
    Reads<"memory", "address", ["blocks * (four ? out / 2 : out), 1"], "port != 4", "port">,
    Reads<"scratch", "place", ["blocks, block_step", "out, column_step"], "port == 4 && !turned">,
    Reads<"scratch", "place", ["blocks, block_step", "in, column_step", "out / in, 1"],
          "port == 4 && turned">
  ];
  let Pushes = "blocks";
  let Semantics = [{
    for (int b = 0; b < blocks; b++)
      for (int n = 0; n < OUT; n++)
        for (int r = 0; r < IN; r++) {
          int value;
          if (port != 4 && four) {
            int pair = MEMORY(port, address + (b * OUT + n) / 2, r);
            int low = (n & 1) ? (pair >> 4) & 15 : pair & 15;
            value = low >= 8 ? low - 16 : low;
          } else if (port != 4) {
            value = MEMORY(port, address + b * OUT + n, r);
          } else if (turned) {
            value = SCRATCH(place + b * block_step + r * column_step + n / IN, n % IN);
          } else {
            value = SCRATCH(place + b * block_step + n * column_step, r);
          }
          PUSHED(b, n, r) = value;
        }
  }];
}

def Matrix : Instruction<4, "matrix", MatrixUnit> {
  let Summary = "a tile of sums: words times blocks of weights";
  let Text = [{
    For each of the taps (kernel rows, kernel columns, words of the input, outermost
    first) the next block of weights is taken from the queue, and every pixel of the tile
    adds the products of its word with it. The first tap replaces the sums unless
    `more` is set. Pixel (y, x) has entry `entry + y · columns + x`.}];
  let Fields = [
    Place<"place", "the first pixel's word for the first tap">,
    Times<"taps2", 5, "31", "kernel rows">,
    Times<"taps1", 5, "31", "kernel columns">,
    Times<"taps0", 9, "511", "words of the input">,
    Stride<"step2", 14, "words from kernel row to kernel row">,
    Stride<"step1", 12, "words from kernel column to kernel column">,
    Stride<"step0", 12, "words from word of the input to word of the input">,
    Times<"rows", 10, "entries", "rows of the tile">,
    Times<"columns", 10, "entries", "columns of the tile">,
    Stride<"row_step", 14, "words from row to row">,
    Stride<"column_step", 12, "words from column to column">,
    Flag<"bank", "the accumulators' bank">,
    Field<"entry", 10, "0", "entries - 1", "the first pixel's entry">,
    Flag<"more", "adds to what is there">
  ];
  let Rules = [
    Rule<"entry + rows * columns <= entries", "the tile fits the accumulators">
  ];
  let Accesses = [
    Reads<"scratch", "place",
          ["taps2, step2", "taps1, step1", "taps0, step0", "rows, row_step", "columns, column_step"]>,
    Reads<"accumulator", "entry", ["rows * columns, 1"], "more", "bank">,
    Writes<"accumulator", "entry", ["rows * columns, 1"], "true", "bank">
  ];
  let Pops = "taps2 * taps1 * taps0";
  let Semantics = [{
    for (int t = 0; t < taps2 * taps1 * taps0; t++) {
      int tap = place + t / (taps1 * taps0) * step2 + t / taps0 % taps1 * step1 + t % taps0 * step0;
      int fresh = t == 0 && !more;
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
          int word = tap + y * row_step + x * column_step;
          int e = entry + y * columns + x;
          for (int n = 0; n < OUT; n++) {
            int sum = 0;
            for (int r = 0; r < IN; r++) sum += SCRATCH(word, r) * POPPED(t, n, r);
            SUM(bank, e, n) = WRAP(fresh ? sum : SUM(bank, e, n) + sum);
          }
        }
    }
  }];
}

def Vector : Instruction<5, "vector", VectorUnit> {
  let Summary = "what is done to each element: requantization, addition, pools, depthwise sums, products, tables";
  let Text = [{
    Of pixel (y, x), operand a is the word at `a + y · a_row + x · a_column`, operand b the
    word at `b + y · b_row + x · b_column`, the sum that of entry `entry + y · columns + x`,
    columns `group · IN` and on, and the result the word at `place + y · place_row + x ·
    place_column`. Tap (i, j) of operand a lies `i · b_row + j · b_column` farther on.

    - `requantize`: result = clamp((sum · m + o) >> (17 + 8 · shift)). Constants: five words
      of m, six of o, byte by byte, the lowest first; m has 35 bits, and the five highest
      of its last byte do not count.
    - `add`: result = clamp((4 · (a · m + b · n) + o) >> (8 · shift)), so that a shift of
      three eights leaves 22 bits of fraction and one for the whole part of m and n.
      Constants: three words of m, three of n, six of o. Here and there o has 47 bits, and
      the highest of its last byte does not count.
    - `maximum`: result = clamp(the greatest tap of a).
    - `dot`: sum = the taps of a times the words from b on, one a tap; `more` adds.
    - `multiply`: sum = a · b; `more` adds.
    - `table`: result = byte a + 128 of the table, 256 bytes from `constants` on.}];
  let Fields = [
    Choice<"operation", 3, ["requantize", "add", "maximum", "dot", "multiply", "table"],
           "what is done">,
    Place<"a", "the first word of operand a">,
    Place<"b", "the first word of operand b">,
    Place<"place", "the first word of the result">,
    Place<"constants", "the first word of the constants">,
    Times<"rows", 10, "1023", "rows">,
    Times<"columns", 10, "1023", "columns">,
    Times<"taps1", 6, "63", "taps of a column">,
    Times<"taps0", 6, "63", "taps of a row">,
    Stride<"a_row", 14, "words of a from row to row">,
    Stride<"a_column", 10, "words of a from column to column">,
    Stride<"b_row", 14, "words of b from row to row, or of a from tap row to tap row">,
    Stride<"b_column", 10, "words of b from column to column, or of a from tap to tap">,
    Stride<"place_row", 14, "words of the result from row to row">,
    Stride<"place_column", 10, "words of the result from column to column">,
    Flag<"bank", "the accumulators' bank">,
    Field<"entry", 10, "0", "entries - 1", "the first pixel's entry">,
    Field<"group", 1, "0", "out / in - 1", "the group of IN columns">,
    Flag<"more", "adds to what is there">,
    Field<"shift", 2, "0", "3", "bits of the shift, in eights">,
    Byte<"low", "the least result">,
    Byte<"high", "the greatest result">
  ];
  let Rules = [
    Rule<"operation == 2 || operation == 3 || (taps1 == 1 && taps0 == 1)", "only pools and dots have taps">,
    Rule<"(operation != 0 && operation != 3 && operation != 4) || entry + rows * columns <= entries",
         "the tile fits the accumulators">,
    Rule<"low <= high", "bounds are in order">
  ];
  let Accesses = [
    Reads<"scratch", "a", ["taps1, b_row", "taps0, b_column", "rows, a_row", "columns, a_column"],
          "operation != 0">,
    Reads<"scratch", "b", ["rows, b_row", "columns, b_column"], "operation == 1 || operation == 4">,
    Reads<"scratch", "b", ["taps1 * taps0, 1"], "operation == 3">,
    Reads<"scratch", "constants", ["operation == 0 ? 11 : operation == 1 ? 12 : (256 + in - 1) / in, 1"],
          "operation == 0 || operation == 1 || operation == 5">,
    Reads<"accumulator", "entry", ["rows * columns, 1"],
          "operation == 0 || ((operation == 3 || operation == 4) && more)", "bank">,
    Writes<"accumulator", "entry", ["rows * columns, 1"], "operation == 3 || operation == 4", "bank">,
    Writes<"scratch", "place", ["rows, place_row", "columns, place_column"],
           "operation != 3 && operation != 4">
  ];
  let Semantics = [{
    for (int t = 0; t < taps1 * taps0; t++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
          for (int c = 0; c < IN; c++) {
            int e = entry + y * columns + x;
            int n = group * IN + c;
            int to = place + y * place_row + x * place_column;
            int fa = a + y * a_row + x * a_column;
            int fb = b + y * b_row + x * b_column;
            long value = 0;
            if (operation == 0) {
              long m = 0, o = 0;
              for (int i = 4; i >= 0; i--) {
                int byte = SCRATCH(constants + i, c);
                m = m * 256 + (i == 4 ? (byte & 3) - (byte & 4) : byte & 255);
              }
              for (int i = 10; i >= 5; i--) {
                int byte = SCRATCH(constants + i, c);
                o = o * 256 + (i == 10 ? (byte & 63) - (byte & 64) : byte & 255);
              }
              value = (SUM(bank, e, n) * m + o) >> (17 + 8 * shift);
            } else if (operation == 1) {
              long m[3] = {0, 0, 0};
              for (int i = 11; i >= 0; i--) {
                int k = i < 3 ? 0 : i < 6 ? 1 : 2;
                int byte = SCRATCH(constants + i, c);
                m[k] = m[k] * 256 + (i == 11 ? (byte & 63) - (byte & 64)
                                     : i == 2 || i == 5 ? byte : byte & 255);
              }
              value = (4 * (SCRATCH(fa, c) * m[0] + SCRATCH(fb, c) * m[1]) + m[2]) >> (8 * shift);
            } else if (operation == 2) {
              fa += t / taps0 * b_row + t % taps0 * b_column;
              value = SCRATCH(fa, c);
              if (t > 0 && SCRATCH(to, c) > value) value = SCRATCH(to, c);
            } else if (operation == 5) {
              int at = SCRATCH(fa, c) + 128;
              value = SCRATCH(constants + at / IN, at % IN);
            }
            if (operation == 3) {
              fa += t / taps0 * b_row + t % taps0 * b_column;
              int product = SCRATCH(fa, c) * SCRATCH(b + t, c);
              SUM(bank, e, n) = WRAP(t == 0 && !more ? product : SUM(bank, e, n) + product);
            } else if (operation == 4) {
              int product = SCRATCH(fa, c) * SCRATCH(fb, c);
              SUM(bank, e, n) = WRAP(more ? SUM(bank, e, n) + product : product);
            } else {
              SCRATCH(to, c) = value < low ? low : value > high ? high : value;
            }
          }
  }];
}

def Store : Instruction<6, "store", StoreUnit> {
  let Summary = "a box of words from the scratchpad to a memory or a stream";
  let Text = [{
    Row y, column x and word c lie at `place + y · place_row + x · place_column + c` and go
    to `address + y · row_step + x · column_step + c`, or in this order to the stream. What
    it lets go on finds them in the memory.}];
  let Fields = [
    Port, Address<"the first word in memory">,
    Stride<"row_step", 20, "words of memory from row to row">,
    Stride<"column_step", 12, "words of memory from column to column">,
    Place<"place", "the first word in the scratchpad">,
    Stride<"place_row", 14, "words of the scratchpad from row to row">,
    Stride<"place_column", 10, "words of the scratchpad from column to column">,
    Times<"rows", 10, "1023", "rows">,
    Times<"columns", 10, "1023", "columns">,
    Times<"channels", 9, "511", "words of a column">
  ];
  let Rules = [
    ThePort,
    Rule<"port != 4 || (address == 0 && row_step == 0 && column_step == 0)",
         "a stream has no address">
  ];
  let Accesses = [
    Reads<"scratch", "place", ["rows, place_row", "columns, place_column", "channels, 1"]>,
    Writes<"memory", "address", ["rows, row_step", "columns, column_step", "channels, 1"],
           "port != 4", "port">,
    Writes<"stream", "0", ["rows * columns * channels, 1"], "port == 4">
  ];
  let Semantics = [{
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++)
        for (int c = 0; c < channels; c++) {
          int word = place + y * place_row + x * place_column + c;
          int to = address + y * row_step + x * column_step + c;
          if (port == 4) {
            SEND(word);
          } else {
            for (int i = 0; i < IN; i++) MEMORY(port, to, i) = SCRATCH(word, i);
          }
        }
  }];
}

def Head : Instruction<7, "head", FetchUnit> {
  let Summary = "the first 32 bytes of a program: for whom it is, and how long";
  let Text = [{
    The core compares `isa` with the hash of this description and `core` with that of its
    own parameters, and refuses a program for another one.}];
  let Fields = [
    Field<"isa", 32, "0", "4294967295", "the hash of the instruction set">,
    Field<"core", 32, "0", "4294967295", "the hash of the core's parameters">,
    Field<"instructions", 32, "1", "16777215", "instructions, `end` included">,
    Field<"blocks", 16, "0", "65535", "blocks that wait in the queue when instructions are carried out one by one">
  ];
}

def End : Instruction<0, "end", FetchUnit> {
  let Summary = "the frame ends when all units are done";
}

def Engine : InstructionSet<
    [LoadUnit, WeightUnit, MatrixUnit, VectorUnit, StoreUnit, FetchUnit],
    [In, Out, Words, Banks, Entries, SumBits, Queue, Depth, Tokens, Ports, PortBits],
    [Head, Load, Pack, Weights, Matrix, Vector, Store, End]>;
