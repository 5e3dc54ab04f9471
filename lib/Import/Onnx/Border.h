// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The imported function's border: the graph's inputs as its arguments, the
// graph's outputs as its results.
#pragma once

#include "Context.h"

namespace rhizome::importer {
/// A graph input as an argument: whether it holds whole numbers as reals, and
/// the range of its integers.
struct Argument {
  std::string name;
  bool isWhole = false;
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt;
  HostRef initial = nullptr; ///< the file's default; null if it has none
};

/// Adds the graph's inputs to the function, which has no arguments yet.
std::vector<Argument> declareInputs(ImportState &state);
/// Returns the graph's outputs, drops what nobody uses, and describes arguments
/// and results in attributes.
void returnOutputs(ImportState &state, llvm::ArrayRef<Argument> arguments);
} // namespace rhizome::importer
