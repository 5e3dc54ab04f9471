// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many cycles a program takes on a core: the only model of the time of an
// instruction. Compilers choose by it, and offers have their prices from it.
#pragma once

#include "rhizome/Engine/Program.h"

namespace rhizome::engine {
/// What answers at a port, in cycles of the core.
struct MemoryTiming {
  int64_t latency = 20; ///< from a burst's request to its first beat
  int64_t answer = 20;  ///< from the last beat of a written burst to its answer
  double perBeat = 1;   ///< of a beat, refreshes included
  /// Lost where a burst does not go on in the same direction where the last one
  /// ended.
  int64_t turn = 0;
  bool isShared = false; ///< reads and writes take turns
};

struct Prediction {
  int64_t cycles = 0; ///< from the start of a frame to its end
  /// Of each unit, in how many cycles it carries something out.
  std::array<int64_t, kUnits> runs = {};
  int64_t arrayCycles = 0; ///< in which a word goes through the array
  std::array<int64_t, 4> readWords = {}, writtenWords = {}; ///< at each port
  /// When each instruction begins and ends; `end` is not among them.
  std::vector<int64_t> begins, ends;
};

/// Runs a program that has passed the verifier, word counts instead of words:
/// fetch, units, tokens, the queue of weights and bursts at the ports. That two
/// units read from one bank of the scratchpad is left out: banks are those of
/// the lowest bits, so who has waited a cycle meets the other no more if both
/// go on at the same pace.
Prediction predict(const Program &program, const Core &core,
                   const MemoryTiming &memory = {});
} // namespace rhizome::engine
