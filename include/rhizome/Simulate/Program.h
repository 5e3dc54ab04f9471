// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator of a package of one node as a program that others can run; its
// arguments are those of data/sim/harness.cpp.
#pragma once

#include "rhizome/Package/Package.h"
#include "rhizome/Support/KeptFiles.h"
#include <functional>

namespace rhizome {
struct SimulatorProgram {
  std::string program;
  std::string folder;     ///< in which it must run
  int64_t hangCycles = 0; ///< without output after which it counts as hung
  KeptFiles::Held held;   ///< keeps the program in place
  /// How it runs, without the folder where it writes; none if the package is
  /// trusted.
  std::optional<Confinement> confinement;
};

/// Told in words of what takes a while, as it begins; may be empty.
using WaitNotice = std::function<void(const std::string &what)>;

/// Builds it, or finds it in the user's cache.
llvm::Expected<SimulatorProgram>
buildSimulator(const Package &package, const WaitNotice &onWait = nullptr);
} // namespace rhizome
