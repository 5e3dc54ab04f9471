// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass: each load goes up until something stands in its way.
#include "Hoist.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

/// Whether they may have a word in common, as far as first and last words and
/// the greatest common divisor of all strides tell.
static bool mayMeet(const Access &one, const Access &other) {
  if (one.first > other.last() || other.first > one.last())
    return false;
  int64_t step = 0;
  for (const Access *access : {&one, &other})
    for (const Loop &loop : access->loops)
      if (loop.count > 1)
        step = std::gcd(step, loop.stride);
  return step == 0 ? one.first == other.first
                   : (one.first - other.first) % step == 0;
}

std::optional<Space> engine::meet(ArrayRef<Access> accesses,
                                  ArrayRef<Access> others) {
  for (const Access &one : accesses)
    for (const Access &other : others)
      if ((one.writes || other.writes) && one.space == other.space &&
          one.bank == other.bank && mayMeet(one, other))
        return one.space;
  return std::nullopt;
}

void engine::moveLoadsUp(std::vector<Instruction> &instructions,
                         std::vector<size_t> &marks, const Core &core,
                         size_t limit) {
  std::vector<std::vector<Access>> accesses;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const InstructionInfo &info = infoOf(instructions[i].opcode);
    std::vector<Access> own;
    info.accesses(core, instructions[i].values.data(), own);
    size_t to = i;
    if (info.unit == Unit::Load)
      while (to > 0 && i - to < limit &&
             infoOf(instructions[to - 1].opcode).unit != Unit::Load &&
             !meet(own, accesses[to - 1]))
        --to;
    accesses.push_back(std::move(own));
    auto toLast = [&](auto &all) {
      std::rotate(all.begin() + ptrdiff_t(to), all.begin() + ptrdiff_t(i),
                  all.begin() + ptrdiff_t(i + 1));
    };
    toLast(instructions);
    toLast(marks);
    toLast(accesses);
  }
}
