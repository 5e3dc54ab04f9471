// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every plan of a network takes, without a plan of it.
#pragma once

#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// The shares of all devices that a plan takes, summed over the resources.
double shareOf(const Result &plan, const Cluster &cluster);
/// Whether it is plain that every plan of a network on a single device takes
/// more than this share of it, whatever the goal. Asks generators only about as
/// many operations as that takes, not about the whole network.
bool takesMore(mlir::func::FuncOp network, const Goal &goal,
               const Cluster &cluster, double share);
} // namespace rhizome::explore
