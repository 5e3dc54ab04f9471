// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of the solver share: places that are alike, the times at which
// anything can change, and the bound that a relaxation gives.
#pragma once

#include "Runs.h"

namespace rhizome::explore {
/// Places that differ, each once, with those that cover it, ascending.
struct Sort {
  const Place *place;
  std::vector<int> members;
};
std::vector<Sort> sortsOf(const Problem &problem);

/// Numbers of replicas that are considered.
std::vector<int> copiesUpTo(const Problem &problem);

/// The limits that a problem of this size is solved with; they depend on
/// nothing that more devices or budgets could change.
Limits limitsFor(const Problem &problem, Limits limits);

/// Every time a frame at which a plan can become possible, ascending.
std::vector<double> times(const Problem &problem);

/// Do several stages add up their times, on a shared unit or a memory?
bool hasSums(const Problem &problem);

/// Seconds for which the parts of a run's place are busy with a frame.
double busySeconds(const Problem &problem, const Run &run);

/// lowerBound() among these times.
double boundOf(const Problem &problem, const std::vector<double> &all,
               Limit *why);
} // namespace rhizome::explore
