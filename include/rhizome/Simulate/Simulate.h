// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a package's RTL: real frames through the AXI4-Stream border in
// Verilator or, with four-state values, in Icarus Verilog. It reads the
// package only, and compares nothing; that is up to the caller.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Simulate/Program.h"
#include "rhizome/Support/Tensor.h"
#include <array>
#include <functional>
#include <optional>

namespace rhizome {
/// What is simulated instead of node 0's RTL: a top module with its ports,
/// from sources that may use vendor cells.
struct SimDesign {
  std::vector<std::string> files; ///< absolute
  std::string top;
  int64_t cyclesPerFrame = 0; ///< in addition to the predicted ones
};

struct SimOptions {
  std::optional<SimDesign> design;
  unsigned stallsIn = 0; ///< percent of cycles in which a source offers nothing
  unsigned stallsOut = 0; ///< percent of cycles in which a sink refuses
  uint64_t seed = 1;      ///< of the stalls and of the random initial values
  /// Also measure interval and latency (free-running streams only). Frames
  /// are repeated until there are enough.
  bool measure = true;
  /// No frame begins before the last one has left: two are enough to measure.
  bool isSerial = false;
  /// Of the system of a kernel: elements by which the last frame, a group of
  /// elements, is short.
  int64_t missing = 0;
  /// Of the system of a kernel: the port whose buffer's middle the memory
  /// answers with this response of AXI4, 2 or 3; "": none.
  std::string faultyPort;
  unsigned fault = 0;
  bool fourState = false; ///< Icarus: X is an error, nothing is measured
  bool progress = false;  ///< a line on stderr that counts frames
  WaitNotice onWait;
  /// Verilator: all signals to this file, .fst or .vcd; "": none. Then only
  /// the given frames run, and nothing is measured.
  std::string trace;
};

/// An instruction of an engine's unit, in cycles from the start of the frame.
struct UnitEvent {
  int64_t begin = 0, end = 0;
  /// The unit whose token came last before it began, in the order of the
  /// instruction set; 5: the instruction itself came last, 8: nothing was
  /// missing but its unit.
  int64_t before = 0;
  /// Cycles in which the matrix unit had no weights, and the unit of weights no
  /// room for them.
  int64_t stood = 0;
};

/// What an engine did in one frame.
struct EngineFrame {
  std::string actor;
  int64_t cycles = 0;
  std::array<std::vector<UnitEvent>, 5> units; ///< in the order of each
};

struct SimResult {
  /// [frame][output], channels-last, for the given frames.
  std::vector<std::vector<Tensor>> outputs;
  bool measured = false;
  /// Mean distance in cycles between the first output beats of successive
  /// frames, over at least 8 distances after warm-up, or one if they are
  /// serial; for the slowest output.
  double intervalCycles = 0;
  /// From the cycle that accepts the first input beat to the cycle that
  /// delivers the last output beat, with an empty pipeline before.
  int64_t latencyCycles = 0;
  /// From reset until the first input beat is accepted, i.e. while memories are
  /// loaded.
  int64_t loadCycles = 0;
  int64_t cycles = 0; ///< total simulated cycles
  /// Of each engine of the RTL in Verilator, a frame in the middle.
  std::vector<EngineFrame> engines;
  double simCyclesPerS = 0;
  double buildSeconds = 0; ///< 0 if the simulator came from the cache
  std::string simulator;   ///< Verilator's program, "" of Icarus
};

/// Sends `frames` ([frame][input], with the plan's shapes and ranges) through
/// node 0. An error describes the problem: a tool that is missing or fails
/// (with the path of its log), a hang (no output for 100,000 cycles or 20 times
/// the predicted ones), a stream protocol violation (TLAST at the wrong beat, a
/// beat withdrawn or changed while it waits, an extra beat), an X. The
/// simulator is kept in the user's cache by a hash of its inputs.
llvm::Expected<SimResult>
simulateRtl(const Package &package,
            const std::vector<std::vector<Tensor>> &frames,
            const SimOptions &options);
} // namespace rhizome
