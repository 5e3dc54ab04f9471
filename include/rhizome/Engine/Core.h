// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A core of the engine: its parameters, read from one data file each
// (data/engines/*.yaml). All that the hardware is built from and that programs
// depend on; the instruction set is the same for every core.
#pragma once

#include "rhizome/Engine/Isa.h"
#include "rhizome/Unit/Units.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace rhizome::engine {
struct Core : Parameters {
  std::string name;
  std::string description;

  /// What a program for this core carries: the first 32 bits of SHA-256 of the
  /// parameters, "in=16,out=16,…".
  uint32_t hash() const;
};

/// The core of a unit, as its programs name it: with one port.
Core coreOf(const unit::Engine &unit);

/// Why no core has these parameters, or success.
llvm::Error check(const Parameters &core);

/// Reads a core by its name or from a path, like loadDevice.
llvm::Expected<Core> loadCore(llvm::StringRef nameOrPath);

/// All cores of the data folder, by name in ascending order.
llvm::Expected<std::vector<Core>> listCores();
} // namespace rhizome::engine
