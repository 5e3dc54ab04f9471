// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether a core may carry a program out: then every run ends, stays in
// its memories and gives the same bytes, however long memories and units take,
// and carrying out one instruction after the other gives these bytes, too.
#pragma once

#include "rhizome/Engine/Program.h"

namespace rhizome::engine {
/// What a program finds around the core.
struct Surroundings {
  std::array<int64_t, 4> memoryWords = {}; ///< words behind each port
  int64_t received = 0, sent = 0;          ///< words of each stream a frame
};

/// What is wrong with a program. Instructions have their numbers, from 1 on;
/// the head is 0.
struct Problem {
  size_t instruction;
  size_t other; ///< the earlier one of two, otherwise the same
  std::string text;
};

/// What is wrong with a program, the first `limit` mistakes; nothing if a core
/// may carry it out. The fields of its instructions fit their bits.
///
/// Refused are fields out of their bounds, broken rules, words that are not
/// there, tokens and blocks of weights that do not meet, or that an instruction
/// needs before they are given; programs that do not end; and two instructions
/// on one word, or on one bank of accumulators, of which one writes and which
/// neither tokens nor their units' order keep apart.
std::vector<Problem> verify(const Program &program, const Core &core,
                            const Surroundings &around, size_t limit = 20);

/// Adds tokens to a program that has none until none of its accesses conflict.
/// At no place in its order more of them wait between two units than the core
/// holds, so tokens alone never keep it from ending. Its instructions are right
/// otherwise.
void addTokens(Program &program, const Core &core);
} // namespace rhizome::engine
