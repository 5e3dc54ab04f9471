// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of plan.json that tells how a model runs: its tasks in order, and
// the copies between host and FPGA.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// A function of model/network.mlir that runs on the host or the FPGA.
struct PlannedTask {
  std::string name;
  bool onFpga = false;
  std::vector<std::string> takes, gives; ///< tensors
  int64_t operations = 0;
  double hostUs = 0; ///< on one core, as predicted; of the FPGA's tasks 0
  bool operator==(const PlannedTask &) const = default;
};

/// All that a task of the FPGA takes, or all that it gives, of one frame.
struct PlannedCopy {
  std::string task;
  bool toFpga = true;
  std::vector<std::string> tensors;
  int64_t bytes = 0; ///< bit-packed
  double us = 0;
  bool operator==(const PlannedCopy &) const = default;
};

struct PlannedTasks {
  std::string host, link; ///< whose figures these are: data/hosts, data/links
  std::vector<PlannedTask> tasks;
  std::vector<PlannedCopy> copies;
  bool operator==(const PlannedTasks &) const = default;
};

/// As in plan.json.
llvm::json::Value toJSON(const PlannedTasks &tasks);
bool fromJSON(const llvm::json::Value &value, PlannedTasks &tasks,
              llvm::json::Path path);
} // namespace rhizome
