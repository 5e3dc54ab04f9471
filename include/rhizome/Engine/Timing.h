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
  /// Of a beat in the memory, refreshes included. A port takes or brings at
  /// most a beat a cycle in each direction, in whatever time the memory has it.
  double perBeat = 1;
  /// Lost where a burst does not go on in the same direction where the last one
  /// ended.
  int64_t turn = 0;
  bool isShared = false; ///< reads and writes take turns
};

/// What a unit waits for: a token of another one, or a block of its weights or
/// room for one; the next instruction; what lies around the core; or the
/// instruction before, and its own pipeline.
enum class Cause : uint8_t {
  Load,
  Weights,
  Matrix,
  Vector,
  Store,
  Fetch,
  Memory,
  Stream,
  Itself
};
constexpr unsigned kCauses = 9;

/// "memory".
const char *nameOf(Cause cause);

/// An instruction in its unit, in cycles from the start of the frame.
struct Span {
  int64_t begin = 0, end = 0;
  Cause before = Cause::Itself; ///< what came last of all that it waited for
  Cause during = Cause::Itself; ///< what it waited for while it was carried out
};

/// Words of a burst at most; bursts end where their addresses are a multiple of
/// it.
constexpr int64_t kBurst = 16;

struct Prediction {
  int64_t cycles = 0; ///< from the start of a frame to its end
  /// Of each unit, in how many cycles it carries something out.
  std::array<int64_t, kUnits> runs = {};
  int64_t arrayCycles = 0; ///< in which a word goes through the array
  std::array<int64_t, 4> readWords = {}, writtenWords = {}; ///< at each port
  std::vector<Span> spans; ///< of each instruction; `end` is not among them
};

/// The cycles in which the lanes are given the words of an instruction.
int64_t vectorCycles(const isa::Vector &instruction);

/// What the model reads of an instruction besides the words that it uses.
std::array<int64_t, 3> paceOf(const Instruction &instruction);

/// Runs a program that has passed the verifier, word counts instead of words:
/// fetch, units, tokens, the queue of weights and bursts at the ports. That two
/// units read from one bank of the scratchpad is left out: banks are those of
/// the lowest bits, so who has waited a cycle meets the other no more if both
/// go on at the same pace.
Prediction predict(const Program &program, const Core &core,
                   const MemoryTiming &memory = {});
} // namespace rhizome::engine
