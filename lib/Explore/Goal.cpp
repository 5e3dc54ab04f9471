// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Explore/Explore.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>

namespace rhizome::explore {
/// A positive number, 0 for other text.
static double positive(llvm::StringRef text) {
  double value = 0;
  return text.getAsDouble(value) || !(value > 0) || std::isinf(value) ? 0
                                                                      : value;
}

/// A positive time in seconds, 0 for other text.
static double secondsOf(llvm::StringRef text) {
  for (auto [name, unit] :
       {std::pair{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}})
    if (text.consume_back(name))
      return positive(text) * unit;
  return 0;
}

/// `30000` or `60%`; none for other text, or if more than all.
static std::optional<Goal::Part> partOf(llvm::StringRef text) {
  Goal::Part part;
  part.isShare = text.consume_back("%");
  if (text.getAsDouble(part.amount) || !(part.amount >= 0) ||
      std::isinf(part.amount) || (part.isShare && part.amount > 100))
    return std::nullopt;
  if (part.isShare)
    part.amount /= 100;
  return part;
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
    } else if (clause.consume_front("nodes=")) {
      if (goal.maxNodes != INT64_MAX ||
          clause.getAsInteger(10, goal.maxNodes) || goal.maxNodes <= 0)
        return std::nullopt;
    } else if (llvm::is_contained(gen::kResourceNames,
                                  clause.split('=').first)) {
      auto [resource, amount] = clause.split('=');
      std::optional<Goal::Part> part = partOf(amount);
      if (!part || !goal.parts.try_emplace(resource.str(), *part).second)
        return std::nullopt;
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

Goal Goal::withoutDsp() const {
  Goal goal = *this;
  goal.parts["dsp"] = {};
  return goal;
}

Cluster withinParts(Cluster cluster, const Goal &goal) {
  for (ClusterPlace &place : cluster.places) {
    gen::Budget &budget = place.context.budget;
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k) {
      const std::string name = gen::kResourceNames[k];
      const double all = gen::available(place.capacity, k);
      auto routable = place.routable.find(name);
      double share = routable == place.routable.end() ? 1 : routable->second;
      double most = std::min(gen::available(budget, k), all * share);
      auto part = goal.parts.find(name);
      if (part != goal.parts.end()) {
        double asked = part->second.amount * (part->second.isShare ? all : 1);
        most = std::min(gen::available(budget, k), asked);
        // Whoever wants more than routes wants it of every die.
        if (all > 0)
          share = std::min(1.0, std::max(share, asked / all));
      } else if (share == 1) {
        continue;
      }
      budget[name] = int64_t(std::floor(most));
      for (size_t d = 0; d < place.dies.count(); ++d) {
        double &left = place.dies.budgets[d].amount[k];
        left =
            std::min(left, std::floor(place.dieCapacity[d].amount[k] * share));
      }
    }
    // Without DSP blocks, all products are built from LUTs.
    if (auto dsp = budget.find("dsp"); dsp != budget.end() && !dsp->second) {
      place.context.hasDsp = false;
      place.context.cost.dspWide = place.context.cost.dspNarrow = 0;
    }
  }
  return cluster;
}
} // namespace rhizome::explore
