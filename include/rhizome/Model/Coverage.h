// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the operations of a network or a kernel run, and which generators could
// build each.
#pragma once

#include "rhizome/Package/PlannedTasks.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <utility>
#include <vector>

namespace rhizome::model {
/// Where an operation runs, and who can build it.
struct CoverageRow {
  /// Of the integer model on the FPGA, of the file on the host.
  std::string node, op, type;
  bool onHost = false;
  /// Of the host's: why not on the FPGA; "" if it is none's business there.
  std::string reason, remedy;
  /// generator -> "" if it can, else the reason.
  std::vector<std::pair<std::string, std::string>> generators;
};
struct CoverageResult {
  /// Something builds every operation of the FPGA.
  bool isBuildable = true;
  std::vector<CoverageRow> rows;
  int64_t fpga = 0, host = 0; ///< operations
  /// Tensors that go to the FPGA, and come from it.
  int64_t copiesIn = 0, copiesOut = 0;
  PlannedTasks tasks;
  /// Needs, and the roofs of the default device; empty without a network.
  llvm::json::Object analysis;
};
} // namespace rhizome::model
