// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's units side by side on a device with off-chip memory: which stages,
// copies and lanes give how many elements per second, and what ends it.
#pragma once

#include "rhizome/Generator/Generator.h"
#include "rhizome/KernelCommands/Hardware.h"

namespace rhizome::kernelcommands {
/// Lanes of the same unit. A unit has as many lanes as words fit into a beat of
/// a memory channel's port; each of its streams has a channel of its own, from
/// which or to which all lanes go with a beat each cycle.
struct SystemPoint {
  int64_t stages = 0;   ///< 0: serial
  int64_t products = 0; ///< multiplications that a lane starts in a cycle
  bool isShared = true; ///< tensors of a stage share memories
  std::vector<std::string> copies; ///< as --copies takes them
  int64_t interval = 0;            ///< cycles of an element in a lane
  std::string slowest;             ///< what takes these cycles
  gen::Resources lane;
  int64_t lanes = 0, units = 0, channels = 0;
  double elementsPerS = 0, operationsPerS = 0;
  double bytesPerS = 0;   ///< to and from memory
  double channelLoad = 0; ///< of the busiest channel's bandwidth
  double share = 0;       ///< the largest of any die's routable resources
  std::string bound;      ///< why there is no lane more
  bool isPareto = false;  ///< none is faster at this share
};

struct SystemResult {
  std::vector<SystemPoint> points; ///< by rising rate, the best last
  int64_t operations = 0;          ///< of an element
  double clockMhz = 0;
  std::string device;
  std::vector<std::string> notes;
};

/// Builds one lane for each number of stages and copies, prices it, and
/// repeats it over the dies of the device as far as resources that route,
/// wires between dies, channels and their bandwidth allow.
Result<SystemResult> exploreSystems(const HardwareRequest &request);
} // namespace rhizome::kernelcommands
