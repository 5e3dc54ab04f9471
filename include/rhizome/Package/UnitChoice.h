// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel.choice`: all that was decided about how a kernel's unit
// is put together, by a user or by the search. A plan that is built again is
// built from this alone.
#pragma once

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
/// Dataflow stages of a unit, at most.
inline constexpr int64_t kMostStages = 1000;
/// Elements side by side in a unit, at most.
inline constexpr int64_t kMostLanes = 64;
/// Words of a tensor in a beat of a stream, at most.
inline constexpr int64_t kMostBeatWords = 4096;
/// Units of a system, at most.
inline constexpr int64_t kMostUnits = 64;

/// How a loop nest is built. The numbers of its loops are those of the kernel's
/// operation.
struct ChosenNest {
  std::string name; ///< for people
  /// The loops, outermost first; empty: those of its sum are innermost.
  std::vector<int64_t> order;
  std::vector<int64_t> copies; ///< of its body, by loop; empty: one
  int64_t datapath = 0;        ///< only equal numbers may share one
  bool operator==(const ChosenNest &) const = default;
};

/// Terms of a sum that are added to each other first, in one iteration.
struct ChosenSum {
  int64_t sum = 0;  ///< among the kernel's sums, in its order
  int64_t loop = 0; ///< the sum's
  int64_t terms = 1;
  bool operator==(const ChosenSum &) const = default;
};

struct UnitChoice {
  /// Dataflow stages of the nests, at most; 0: one element at a time.
  int64_t stages = 0;
  std::vector<std::string> residents; ///< inputs that are read once
  int64_t lanes = 1;                  ///< elements side by side
  /// Words of a tensor in a beat of a stream; 0 in a request: one, or what
  /// serves the goal.
  int64_t words = 0;
  /// With ports to off-chip memory and registers for a host.
  bool isSystem = false;
  int64_t units = 1; ///< equal systems, each with elements of its own
  /// For each input and then each output of the unit: its words that pass the
  /// border in a cycle, which divide `words`. Empty in a request: as many as
  /// its memories' banks allow.
  std::vector<int64_t> borders;
  std::vector<ChosenNest> nests; ///< one for each nest; empty: none has copies
  std::vector<ChosenSum> sums;   ///< the others are added as written
  bool operator==(const UnitChoice &) const = default;
};

/// As in plan.json.
llvm::json::Value toJSON(const UnitChoice &choice);
bool fromJSON(const llvm::json::Value &value, UnitChoice &choice,
              llvm::json::Path path);
} // namespace rhizome
