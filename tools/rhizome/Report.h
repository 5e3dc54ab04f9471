// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace rhizome::cli {
/// Draws the page of a package again, after something was measured. What
/// prevents that is no failure: `rhizome report` tells it.
void redrawReport(const std::string &dir);
} // namespace rhizome::cli
