// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of programs take the same time: those that only differ in where
// their words lie. Networks repeat their blocks, and the search asks for the
// cycles of each many times.
#pragma once

#include "rhizome/Engine/Timing.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome::engine {
/// 128 bits that only parts share that take equally long, but for a memory's
/// turn where a tensor happens to follow another one. Tokens are not needed:
/// they follow from the instructions. Of addresses counts where in a burst they
/// are, and which instructions use the same words.
using Likeness = std::pair<uint64_t, uint64_t>;
Likeness likenessOf(llvm::ArrayRef<Instruction> instructions, const Core &core);
} // namespace rhizome::engine
