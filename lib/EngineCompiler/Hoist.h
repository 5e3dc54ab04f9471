// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a program's instructions: loads move up to where what they need
// is there, so that they run while other units work on what came before.
#pragma once

#include "rhizome/Engine/Program.h"

namespace rhizome::engine {
/// Moves the load unit's instructions up, none before another one, past
/// instructions that share no words with them; at most past `limit`. What
/// `marks` has for each instruction moves with it.
void moveLoadsUp(std::vector<Instruction> &instructions,
                 std::vector<size_t> &marks, const Core &core, size_t limit);
} // namespace rhizome::engine
