// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared parts of the solver: equivalent places, the times at which
// anything can change, and the bound of a relaxation.
#pragma once

#include "rhizome/Explore/Solver/Runs.h"

namespace rhizome::explore {
/// Distinct places, each once, and what several have at least, with those that
/// cover it, ascending.
struct Sort {
  Place place;
  std::vector<int> members;
};
std::vector<Sort> sortsOf(const Problem &problem);

/// Numbers of replicas that are considered.
std::vector<int> copiesUpTo(const Problem &problem);

/// The limits for a problem of this size; they depend on
/// nothing that more devices or budgets could change.
Limits limitsFor(const Problem &problem, Limits limits);

/// Every time per frame at which a plan can become possible, ascending.
std::vector<double> times(const Problem &problem);

/// Whether several stages add up their times, on a shared unit or a memory.
bool hasSums(const Problem &problem);

/// Seconds for which the parts of a run's place are busy with a frame.
double busySeconds(const Problem &problem, const Run &run);

/// lowerBound() among these times.
double boundOf(const Problem &problem, const std::vector<double> &all,
               Limit *why);
} // namespace rhizome::explore
