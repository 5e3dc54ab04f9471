// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A test bench in SystemVerilog for kernel units: beats from files into every
// stream, results compared with others, cycles counted from the first beat of
// an element, once all that stays is there.
#pragma once

#include "rhizome/Generator/Loops/KernelUnit.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>

namespace rhizome::test {
inline int64_t beatsOf(const gen::loops::UnitStream &stream, int64_t words) {
  int64_t beats = 0;
  for (mlir::Value v : stream.tensors)
    beats += llvm::divideCeil(
        cast<mlir::RankedTensorType>(v.getType()).getNumElements(), words);
  return beats;
}

/// For `elements` of numbers of `bits` bits; the words of a stream's beats are
/// in NAME.hex. Prints CYCLES, and RIGHT if every word is.
inline std::string kernelBench(const gen::loops::KernelUnit &unit, int64_t bits,
                               int64_t elements, bool stalls) {
  using llvm::formatv;
  std::string state, ports, give, check, load, isLoaded = "1", isGiven, isDone;
  auto widthOf = [](const gen::loops::UnitStream &s) {
    unsigned most = 1;
    for (mlir::Value v : s.tensors)
      most = std::max(
          most, getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth());
    return most;
  };
  for (const gen::loops::UnitStream &s : unit.inStreams) {
    const int64_t beats = beatsOf(s, unit.words) * (s.isOnce ? 1 : elements);
    state += formatv("  logic [{0}:0] {1} [{2}];\n  logic {1}_v = 0, {1}_r, "
                     "{1}_was = 0;\n  int {1}_n = 0;\n",
                     bits - 1, s.name, beats * unit.words);
    // Patterns are offered without their sign's copies.
    std::string beat;
    for (int64_t word = unit.words; word-- > 0;)
      beat += formatv("{0}'($signed({1}[({1}_n < {2} ? {1}_n : 0) * {3} + "
                      "{4}])){5}",
                      widthOf(s), s.name, beats, unit.words, word,
                      word ? ", " : "");
    ports += formatv(".{0}_tvalid({0}_v), .{0}_tready({0}_r), "
                     ".{0}_tlast(1'b0), .{0}_tdata({{{1}}),\n    ",
                     s.name, beat);
    give += formatv("      if ({0}_v && {0}_r) begin\n"
                    "        {0}_n <= {0}_n + 1;\n{1}      end\n",
                    s.name,
                    s.isOnce ? "" : "        if (first < 0) first <= cycle;\n");
    if (s.isOnce)
      isLoaded += formatv(" && {0}_n == {1}", s.name, beats);
    load += formatv("    $readmemh(\"{0}.hex\", {0});\n", s.name);
  }
  for (const gen::loops::UnitStream &s : unit.inStreams) {
    const std::string offers = s.isOnce ? "cycle > 4" : isLoaded;
    isGiven += stalls ? formatv("    if (!{0}_v || {0}_was) {0}_v <= {1} && "
                                "$urandom % 3 != 0;\n",
                                s.name, offers)
                            .str()
                      : formatv("    {0}_v <= {1};\n", s.name, offers).str();
    isGiven += formatv("    if ({0}_n >= {1}) {0}_v <= 0;\n", s.name,
                       beatsOf(s, unit.words) * (s.isOnce ? 1 : elements));
    check += formatv("    {0}_was <= {0}_r;\n", s.name);
  }
  for (const gen::loops::UnitStream &s : unit.outStreams) {
    const int64_t beats = beatsOf(s, unit.words) * elements;
    state += formatv("  logic [{0}:0] {1} [{2}];\n  logic [{3}:0] {1}_d;\n"
                     "  logic {1}_v, {1}_l, {1}_r = 0;\n  int {1}_n = 0;\n",
                     bits - 1, s.name, beats * unit.words,
                     unit.words * widthOf(s) - 1);
    ports += formatv(".{0}_tvalid({0}_v), .{0}_tready({0}_r), "
                     ".{0}_tlast({0}_l), .{0}_tdata({0}_d),\n    ",
                     s.name);
    give += formatv(
        "      if ({0}_v && {0}_r) begin\n"
        "        for (int i = 0; i < {3}; i = i + 1)\n"
        "          if ({0}_d[i * {4} +: {1}] !== {0}[{0}_n * {3} + i]) begin\n"
        "            wrong = wrong + 1;\n            if (wrong < 4) "
        "$display(\"word %0d of beat %0d of {0} is %h, not %h\", i, {0}_n, "
        "{0}_d[i * {4} +: {1}], {0}[{0}_n * {3} + i]);\n          end\n"
        "        if ({0}_l !== (({0}_n + 1) % {2} == 0)) wrong = wrong + 1;\n"
        "        {0}_n <= {0}_n + 1;\n        done = done + 1;\n"
        "      end\n",
        s.name, bits, beatsOf(s, unit.words), unit.words, widthOf(s));
    isGiven += formatv("    {0}_r <= {1};\n", s.name,
                       stalls ? "$urandom % 3 != 0" : "1");
    isDone += formatv(" + {0}", beats);
    load += formatv("    $readmemh(\"{0}.hex\", {0});\n", s.name);
  }
  return "`timescale 1ns/1ps\nmodule bench;\n" + state +
         "  logic clk = 0, rst = 0;\n  int cycle = 0, first = -1, wrong = 0, "
         "done = 0;\n  kernel_unit u (" +
         ports + ".clk_i(clk), .rst_ni(rst));\n  always #1 clk = !clk;\n" +
         "  always @(posedge clk) begin\n    cycle <= cycle + 1;\n" + check +
         "    if (rst) begin\n" + give + "      if (done == 0" + isDone +
         ") begin\n        $display(\"CYCLES %0d\", cycle - first + 1);\n" +
         "        if (wrong == 0) $display(\"RIGHT\");\n        $finish;\n" +
         "      end\n    end\n  end\n  always @(negedge clk) begin\n" +
         "    rst <= cycle > 3;\n" + isGiven +
         "    if (cycle > 100000000) $finish;\n  end\n  initial begin\n" +
         load + "  end\nendmodule\n";
}
} // namespace rhizome::test
