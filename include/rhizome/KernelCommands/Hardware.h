// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as hardware: a package with its unit, and the unit in simulation
// against the evaluator.
#pragma once

#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/PlanBuild/Targets.h"

namespace rhizome::kernelcommands {
struct HardwareRequest {
  std::string path;
  KernelOptions options;
  planbuild::TargetChoice target;
  std::string output; ///< "" for "<kernel>.rhz"; "-": nothing is written
};

struct HardwareResult {
  std::string package; ///< the folder that was written, "" for none
  Plan plan;
  double seconds = 0;
  std::vector<std::string> notes;
};

/// Builds a kernel's loop nests for one device and writes the package: plan,
/// RTL, scripts for vendors' tools, the kernel and its options. Refuses, all at
/// once and at their places, what no hardware is built for; clusters and
/// boards; a unit that the device does not hold.
Result<HardwareResult> buildHardware(const HardwareRequest &request);

struct HardwareRunRequest : KernelRunRequest {
  unsigned stallsIn = 0, stallsOut = 0; ///< percent of cycles
  bool fourState = false;               ///< Icarus, X is an error
  std::string trace;                    ///< a file for waveforms; "": none
  bool acceptChanges = false, trust = false, showProgress = false;
};

struct HardwareRunResult {
  int64_t frames = 0;
  int64_t mismatches = 0; ///< words of the output stream
  std::string firstMismatch;
  Plan plan;
  bool measured = false;
  double intervalCycles = 0;
  int64_t latencyCycles = 0;
  double simCyclesPerS = 0, buildSeconds = 0;
  std::string simulator;
  std::vector<std::string> notes;
};

/// Runs the RTL of a kernel's package (`path`) and compares each word with the
/// evaluator's bits. Differences are a result, not a failure.
Result<HardwareRunResult> simulateHardware(const HardwareRunRequest &request);
} // namespace rhizome::kernelcommands
