// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tokens of a program: each conflict that nothing orders gets one,
// given as early as possible.
#include "Order.h"
#include "rhizome/Engine/Verifier.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

void engine::addTokens(Program &program, const Core &core) {
  struct Pair {
    size_t giver, waiter;
  };
  std::array<std::array<std::vector<Pair>, kUnits>, kUnits> pairs;
  Order order;
  Accessors accessors;
  for (auto [index, instruction] : enumerate(program.instructions)) {
    const size_t number = index + 1;
    const InstructionInfo &info = infoOf(instruction.opcode);
    if (info.unit == Unit::Fetch)
      continue;
    uint8_t missing = 0;
    Clock start = order.begin(info.unit, /*waits=*/0, missing);
    const uint8_t to = bitOf(info.unit);
    auto addToken = [&, &waiter = instruction](const Conflict &conflict) {
      // Of another unit, and after the last one that gave this unit a token:
      // all others are known.
      Instruction &giver = program.instructions[conflict.earlier - 1];
      const Unit from = infoOf(giver.opcode).unit;
      auto &tokens = pairs[unsigned(from)][unsigned(info.unit)];
      // Their waiters ascend.
      const int64_t waiting =
          tokens.end() - partition_point(tokens, [&](const Pair &pair) {
            return pair.waiter <= conflict.earlier;
          });
      giver.gives |= to;
      start.join(order.ended(conflict.earlier));
      // One token is enough for an instruction; and where no more fit, the one
      // before comes later and stands for both.
      if (!tokens.empty() &&
          (tokens.back().waiter == number || waiting == core.tokens)) {
        program.instructions[tokens.back().giver - 1].gives &= uint8_t(~to);
        tokens.back().giver = conflict.earlier;
        return;
      }
      waiter.waits |= bitOf(from);
      tokens.push_back({conflict.earlier, number});
    };
    const int64_t *values = instruction.values.data();
    std::vector<Access> accesses;
    info.accesses(core, values, accesses);
    accessors.add(number, info.unit, accesses, start, addToken);
    order.end(number, info.unit, start, /*gives=*/0, info.pushes(core, values),
              info.pops(core, values));
  }
}
