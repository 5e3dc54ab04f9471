// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How deep buffers before joins must be for the first tokens to meet: by counts
// alone, without a run.
#pragma once

#include "rhizome/Timing/EventSim.h"

namespace rhizome::gen {
/// For each of these channels, inputs of processes that join several of them:
/// the tokens that it must hold before its reader can fire for the first time,
/// with the other channels' capacities. What a run without bounds holds is at
/// least as much. Takes time in proportion to the processes and channels, not
/// to the firings.
std::vector<int64_t> leastDepths(const ProcessNetwork &network,
                                 llvm::ArrayRef<int> channels);
} // namespace rhizome::gen
