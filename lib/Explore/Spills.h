// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which FIFOs of a plan lie in the memory of their device.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Explore/Solver/Problem.h"

namespace rhizome::explore {
/// What it takes to move FIFOs of a node.
struct SpillSite {
  NodeResult &node;
  const ClusterPlace &place;
  const Steering &steering;
  const Place &room; ///< what the place has
  gen::DieRow dies;
  /// Prices the node's design as it is, and says whether it fits.
  llvm::function_ref<bool()> fits;
};

/// Moves the FIFOs that the user wants in a memory, as far as they can lie
/// there; true if any did.
bool spillAsAsked(const SpillSite &site);
/// Could the design, which does not fit, do so with FIFOs in a memory? `fits`
/// says of resources whether they do.
bool couldSpill(const SpillSite &site,
                llvm::function_ref<bool(const gen::Resources &)> fits);
/// Moves FIFOs, those with most blocks first, until the design fits. If it does
/// not, or if the memory could not keep up, all stay on the chip. Those alone
/// stay moved with which a device has enough blocks although one of its dies
/// has not: the next layout is made for what is left. True if any are moved.
bool spillToFit(const SpillSite &site);
/// The interval that a node's plan is made for, in cycles.
int64_t intervalOf(const NodeResult &node);
/// The part of its best rate that the busiest bank of the memory needs then.
double memoryShareOf(const SpillSite &site);
} // namespace rhizome::explore
