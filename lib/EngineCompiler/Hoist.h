// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a program's instructions: loads move up to where what they need
// is there, so that they run while other units work on what came before.
#pragma once

#include "rhizome/Engine/Program.h"
#include <optional>

namespace rhizome::engine {
/// The space where an access writes what one of the others uses, or the other
/// way round, as far as their first and last words and strides tell; none if
/// they don't.
std::optional<Space> meet(llvm::ArrayRef<Access> accesses,
                          llvm::ArrayRef<Access> others);

/// Moves the load unit's instructions up, none before another one, past
/// instructions that share no words with them; at most past `limit`. What
/// `marks` has for each instruction moves with it.
void moveLoadsUp(std::vector<Instruction> &instructions,
                 std::vector<size_t> &marks, const Core &core, size_t limit);
} // namespace rhizome::engine
