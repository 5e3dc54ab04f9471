// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analysis as tables, for every command that shows it.
#pragma once

#include "llvm/Support/JSON.h"

namespace rhizome::cli {
/// Needs of every operation, then the roofs of each device. `analysis` is what
/// pipeline::analyzeModel() gives and model/analysis.json holds.
void printAnalysis(const llvm::json::Object &analysis);
} // namespace rhizome::cli
