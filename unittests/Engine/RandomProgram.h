// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs that a core may carry out, and what they find around it. A
// program first loads the whole scratchpad from memory m0 and at the end stores
// it there, so that the memories and the stream say everything.
#pragma once

#include "rhizome/Engine/Faces.h"
#include "rhizome/Engine/Verifier.h"
#include <random>

namespace rhizome::engine::test {
/// What a random program is made of.
struct Mix {
  std::vector<Opcode> opcodes; ///< besides the first load and the last store
  int instructions = 20;
  bool streams = true;
  std::vector<int64_t> operations = {0, 1, 2, 3, 4, 5}; ///< of vectors
};

struct Case {
  Core core;
  Program program;
  Surroundings around;
  State before;
};

/// A program without mistakes, or one that was refused after many tries.
Case randomCase(const Core &core, const Mix &mix, uint64_t seed);

/// The words of an access, one by one.
std::vector<int64_t> wordsOf(const Access &access);

/// A core that no file describes.
Core coreOf(int64_t in, int64_t out, int64_t portBits, int64_t ports,
            uint64_t seed);
} // namespace rhizome::engine::test
