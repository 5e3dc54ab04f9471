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
/// Where an operation runs, and which generators can build it.
struct CoverageRow {
  /// An operation of the integer model on the FPGA, or of the file on the host.
  std::string node, op, type;
  bool onHost = false;
  /// For the host's: why not on the FPGA; "" if it does not belong there.
  std::string reason, remedy;
  /// generator -> "" if it can build it, otherwise the reason.
  std::vector<std::pair<std::string, std::string>> generators;
};
struct CoverageResult {
  /// Every operation of the FPGA can be built.
  bool isBuildable = true;
  std::vector<CoverageRow> rows;
  int64_t fpga = 0, host = 0; ///< operations
  /// Tensors copied to the FPGA, and from it.
  int64_t copiesIn = 0, copiesOut = 0;
  PlannedTasks tasks;
  /// Needs, and the roofs of the default device; empty without a network.
  llvm::json::Object analysis;
};
} // namespace rhizome::model
