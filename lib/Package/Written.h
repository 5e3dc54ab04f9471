// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this user's compiler has written on this machine. It matters only where
// nothing confines the programs that work on RTL: checksums do not say who
// wrote a package.
#pragma once

#include "rhizome/Package/Plan.h"

namespace rhizome {
/// The sources that a plan names, below the package.
std::vector<std::string> rtlOf(const Plan &plan);

/// Keeps, in the user's cache, that these texts were written; where programs
/// are confined, nothing.
void recordWritten(const std::vector<std::string> &texts);
bool isWrittenHere(const std::vector<std::string> &texts);
} // namespace rhizome
