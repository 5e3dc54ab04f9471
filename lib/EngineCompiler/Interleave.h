// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the pieces of neighboring layers, so that the array works on one
// layer while the lanes work on another one.
#pragma once

#include "Emit.h"
#include "rhizome/Engine/Timing.h"

namespace rhizome::engine {
/// The pieces of layers in one order, those of each layer in their own. A piece
/// comes after all pieces of earlier layers that use words which it writes, or
/// write words which it uses. Units have their instructions in order, so what
/// comes next is what lets the array and the lanes stand least; where neither
/// would, what helps the one that is behind.
Pieces interleaved(std::vector<Pieces> layers, const Core &core,
                   const MemoryTiming &memory);

/// Lets the pieces take turns with the banks of accumulators: sums of the array
/// go where the lanes have been done with longer. `bank` is the one that is
/// used next.
void alternateBanks(Pieces &pieces, int64_t &bank);
} // namespace rhizome::engine
