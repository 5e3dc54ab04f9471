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

/// What the model keeps from frame to frame. If the host keeps it and hands it
/// on, a frame of the FPGA begins when the one before has ended.
struct PlannedState {
  std::string name, next; ///< tensors: of this frame, and of the next one
  int64_t bytes = 0;
  bool onFpga = false; ///< where it is kept
  std::string why;     ///< why the host keeps it
  bool operator==(const PlannedState &) const = default;
};

struct PlannedTasks {
  std::string host, link; ///< whose figures these are: data/hosts, data/links
  std::vector<PlannedTask> tasks;
  std::vector<PlannedCopy> copies;
  std::vector<PlannedState> states{};
  /// The first state that the host keeps; null if there is none.
  const PlannedState *keptByHost() const;
  /// Whether the FPGA keeps any.
  bool isKeptByFpga() const;
  /// What the host and copies take of a frame.
  double outsideUs() const;
  bool operator==(const PlannedTasks &) const = default;
};

/// As in plan.json.
llvm::json::Value toJSON(const PlannedTasks &tasks);
bool fromJSON(const llvm::json::Value &value, PlannedTasks &tasks,
              llvm::json::Path path);
} // namespace rhizome
