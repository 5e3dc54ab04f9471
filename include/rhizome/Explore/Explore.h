// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses: one option per operation that meets the goal within the device's
// budget, the cheapest where several do.
#pragma once

#include "rhizome/Generator/Design.h"
#include "rhizome/Support/Refusal.h"

namespace rhizome::explore {
struct Goal {
  enum class Kind { Throughput, MaxThroughput, Latency, MinResources };
  Kind kind = Kind::MaxThroughput;
  double value = 0; ///< inferences per second, or seconds
};

/// Parses `throughput=5000/s`, `latency=100us`, `max-throughput` or
/// `min-resources`; nullopt if the text is none of these.
std::optional<Goal> parseGoal(llvm::StringRef text);

/// Every operation of `network` that no generator can build, with the reasons.
Refusals coverage(mlir::func::FuncOp network);

struct Result {
  std::vector<gen::Selection> selections;
  flow::DesignOp design;
  gen::MemoryImages images;
  gen::Timing timing;
  gen::Resources resources;
  gen::Resources errors; ///< how far LUTs and FFs may be off
  bool meetsGoal = true;
  std::string limit;      ///< what binds, if the goal is not met
  std::string bottleneck; ///< the node that bounds the rate
};

/// Explores and builds. All operations must be covered. If the goal can't be
/// met the result is the nearest plan, with `meetsGoal` false.
mlir::FailureOr<Result> explore(mlir::func::FuncOp network, const Goal &goal,
                                const gen::DeviceContext &device,
                                const gen::Border &border);
} // namespace rhizome::explore
