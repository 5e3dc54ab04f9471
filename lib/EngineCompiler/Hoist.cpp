// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass: each load goes up until something stands in its way.
#include "Hoist.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

/// Whether one of two instructions writes what the other uses, as far as the
/// first and last words of their accesses tell.
static bool meet(ArrayRef<Access> a, ArrayRef<Access> b) {
  return any_of(a, [&](const Access &one) {
    return any_of(b, [&](const Access &other) {
      return (one.writes || other.writes) && one.space == other.space &&
             one.bank == other.bank && one.first <= other.last() &&
             other.first <= one.last();
    });
  });
}

static std::vector<Access> accessesOf(ArrayRef<Instruction> instructions,
                                      const Core &core) {
  std::vector<Access> all;
  for (const Instruction &instruction : instructions)
    infoOf(instruction.opcode).accesses(core, instruction.values.data(), all);
  return all;
}

bool engine::conflict(ArrayRef<Instruction> first, ArrayRef<Instruction> others,
                      const Core &core) {
  return meet(accessesOf(first, core), accessesOf(others, core));
}

void engine::moveLoadsUp(std::vector<Instruction> &instructions,
                         std::vector<size_t> &marks, const Core &core,
                         size_t limit) {
  std::vector<std::vector<Access>> accesses;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const InstructionInfo &info = infoOf(instructions[i].opcode);
    std::vector<Access> own = accessesOf(instructions[i], core);
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
