// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's system takes with its memory, as its simulation would measure
// it.
#pragma once

#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/Package/PlannedSystem.h"
#include "rhizome/Units/System.h"
#include "rhz_memory.h"
#include <optional>

namespace rhizome::kernelcommands {
/// Cycles between groups of elements while all is busy, and those of a single
/// one, from a start after a refresh to the interrupt.
struct SystemTiming {
  double interval = 0;
  int64_t latency = 0;
};
/// Nothing if a group takes too many cycles to be followed.
std::optional<SystemTiming> timeSystem(const gen::loops::KernelUnit &unit,
                                       llvm::ArrayRef<gen::Mover> movers,
                                       const PlannedSystem &system,
                                       const rhz::MemoryTiming &timing);
} // namespace rhizome::kernelcommands
