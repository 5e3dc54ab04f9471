// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Explore/Explore.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace rhizome::explore {
/// A positive number, 0 if it is none.
static double positive(llvm::StringRef text) {
  double value = 0;
  return text.getAsDouble(value) || !(value > 0) || std::isinf(value) ? 0
                                                                      : value;
}

/// A positive time in seconds, 0 if it is none.
static double secondsOf(llvm::StringRef text) {
  for (auto [name, unit] :
       {std::pair{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}})
    if (text.consume_back(name))
      return positive(text) * unit;
  return 0;
}

std::optional<Goal> parseGoal(llvm::StringRef text) {
  Goal goal;
  bool hasObjective = false;
  llvm::SmallVector<llvm::StringRef> clauses;
  text.split(clauses, ',');
  for (llvm::StringRef clause : clauses) {
    if (clause.consume_front("throughput=")) {
      clause.consume_back("/s");
      double bound = positive(clause);
      if (goal.throughput > 0 || bound == 0)
        return std::nullopt;
      goal.throughput = bound;
    } else if (clause.consume_front("latency=")) {
      double bound = secondsOf(clause);
      if (goal.latency > 0 || bound == 0)
        return std::nullopt;
      goal.latency = bound;
    } else {
      auto kind = llvm::StringSwitch<std::optional<Goal::Kind>>(clause)
                      .Case("max-throughput", Goal::Kind::MaxThroughput)
                      .Case("min-latency", Goal::Kind::MinLatency)
                      .Case("min-resources", Goal::Kind::MinResources)
                      .Case("min-nodes", Goal::Kind::MinNodes)
                      .Default(std::nullopt);
      if (!kind || hasObjective)
        return std::nullopt;
      goal.kind = *kind;
      hasObjective = true;
    }
  }
  return goal;
}
} // namespace rhizome::explore
