// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a package's RTL: real frames through the AXI4-Stream border in
// Verilator or, with four-state values, in Icarus Verilog. It reads the
// package only, and compares nothing; the caller knows what is expected.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Support/Tensor.h"
#include <functional>
#include <optional>

namespace rhizome {
/// What is simulated in place of node 0's RTL: a top module with its ports,
/// from sources that may name vendor cells.
struct SimDesign {
  std::vector<std::string> files; ///< absolute
  std::string top;
  int64_t cyclesPerFrame = 0; ///< beside the predicted ones
};

struct SimOptions {
  std::optional<SimDesign> design;
  unsigned stallsIn =
      0; ///< per cent of cycles in which a source offers nothing
  unsigned stallsOut = 0; ///< per cent of cycles in which a sink refuses
  uint64_t seed = 1;      ///< of the stalls and of the random initial values
  /// Measure interval and latency as well (free-running streams only). Frames
  /// are repeated until there are enough of them.
  bool measure = true;
  bool fourState = false; ///< Icarus: X is an error, nothing is measured
  bool progress = false;  ///< a line on stderr that counts frames
};

struct SimResult {
  /// [frame][output], channels-last, of the frames that were given.
  std::vector<std::vector<Tensor>> outputs;
  bool measured = false;
  /// Mean distance in cycles of the first output beats of successive frames,
  /// over at least 8 distances after warm-up; of the slowest output.
  double intervalCycles = 0;
  /// From the cycle that accepts the first input beat to the cycle that
  /// delivers the last output beat, pipeline empty before.
  int64_t latencyCycles = 0;
  /// From reset until the first input beat is accepted, while memories are
  /// loaded.
  int64_t loadCycles = 0;
  int64_t cycles = 0; ///< simulated in all
  double simCyclesPerS = 0;
  double buildSeconds = 0; ///< 0 if the simulator came from the cache
  std::string simulator;   ///< Verilator's program, "" of Icarus
};

/// Sends `frames` ([frame][input], shapes and ranges as the plan says) through
/// node 0. An error says what went wrong: a tool that is missing or fails (with
/// the place of its log), a hang (no output for 100,000 cycles or 20 times the
/// predicted ones), a broken stream protocol (TLAST at the wrong beat, a beat
/// withdrawn or changed while it waits, a beat too many), an X. The simulator
/// is kept in the user's cache by the hash of what it is made from.
llvm::Expected<SimResult>
simulateRtl(const Package &package,
            const std::vector<std::vector<Tensor>> &frames,
            const SimOptions &options);
} // namespace rhizome
