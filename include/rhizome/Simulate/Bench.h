// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test benches in SystemVerilog around a node's design: what `simulate` runs in
// Icarus Verilog, and what a package holds for any simulator. Sources, sinks
// and memories are modules of data/sim.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Support/Tensor.h"

namespace rhizome::sim {
struct BenchOptions {
  std::string top; ///< the design's module
  int64_t frames = 1;
  int64_t hang = 100000; ///< cycles without an output that count as hung
  unsigned stallsIn = 0, stallsOut = 0;
  uint64_t seed = 1;
  /// Compares what comes out with rhz_tb_out<k>.hex, and says PASS or FAIL;
  /// otherwise it is written to out<k>.beats.
  bool checks = false;
};

/// Cycles without an output after which a run counts as hung; a frame may take
/// `moreCycles` than the plan says.
int64_t hangLimit(const Plan &plan, int64_t moreCycles = 0);

/// The ending of the files of frames, which no file of a package has.
constexpr const char *kBeats = ".beats";

/// Whether it carries out a program.
bool isEngine(const PlannedActor &actor);

/// The module rhz_tb. If it doesn't check, it says "RHZ_ENGINE instance code"
/// as soon as an engine finds a mistake in its program. Its sources read
/// in<k>.beats, or rhz_tb_in<k>.hex if it checks; memories memory<k>.beats or
/// rhz_tb_memory<k>.hex.
std::string benchText(const PlannedNode &node, const BenchOptions &options);
/// The files of data/sim that it instantiates.
std::vector<std::string> benchFiles(const PlannedNode &node);

/// The module rhz_axi: the design, its memory ports with all the signals that
/// models of AXI4 ask for.
std::string axiText(const PlannedNode &node);

/// Beats' bytes as lines of hex digits, most significant first.
std::string hexLines(const std::vector<uint8_t> &bytes, unsigned beatBytes);
/// The segments of a port's bank as the text of a $readmemh file; `folder` is
/// the package's.
llvm::Expected<std::string> bankText(llvm::StringRef folder,
                                     const PlannedNode &node,
                                     const MemoryPort &port);
} // namespace rhizome::sim
