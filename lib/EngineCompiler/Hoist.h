// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a program's instructions: loads move up to where what they need
// is there, so that they run while other units work on what came before.
#pragma once

#include "rhizome/Engine/Program.h"

namespace rhizome::engine {
/// Whether one of the first instructions writes what one of the others uses, or
/// the other way round, as far as the first and last words of accesses tell.
bool conflict(llvm::ArrayRef<Instruction> first,
              llvm::ArrayRef<Instruction> others, const Core &core);

/// Moves the load unit's instructions up, none before another one, past
/// instructions that share no words with them; at most past `limit`. What
/// `marks` has for each instruction moves with it.
void moveLoadsUp(std::vector<Instruction> &instructions,
                 std::vector<size_t> &marks, const Core &core, size_t limit);
} // namespace rhizome::engine
