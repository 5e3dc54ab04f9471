// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analysis as tables, for every command that shows it.
#pragma once

#include "llvm/Support/JSON.h"

namespace rhizome::cli {
/// What every operation needs, then the roofs of each device. `analysis` is the
/// result of pipeline::analyzeModel(), as model/analysis.json contains it.
void printAnalysis(const llvm::json::Object &analysis);
} // namespace rhizome::cli
