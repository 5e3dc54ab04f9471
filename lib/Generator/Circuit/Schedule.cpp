// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the registers of a circuit stand.
#include "rhizome/Generator/Circuit.h"
#include <algorithm>

namespace rhizome::gen {
using Op = Circuit::Op;

namespace {
constexpr int64_t kLevel = 32;
/// The beat comes out of a memory in LUTs.
constexpr int64_t kArrival = kLevel;
/// Carry chains that a path passes before each takes a level more.
constexpr int kFreeChains = 2;

/// Length of a node's logic in 32nds of a level.
int64_t delayOf(const Circuit &c, const Circuit::Node &n) {
  switch (n.op) {
  case Op::Input:
  case Op::Constant:
  case Op::Floor:
    return 0;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub: {
    int64_t bits = c.adderBits(n);
    return bits > 0 ? kLevel + bits : 0;
  }
  case Op::Even:
    return n.shift <= 5 ? kLevel : 2 * kLevel;
  case Op::AtLeast: {
    int64_t bits = c.nodes[n.a].bits();
    return bits <= 6 ? kLevel : kLevel + bits / 2;
  }
  case Op::Select: {
    auto fixed = [&](int i) { return c.nodes[i].op == Op::Constant; };
    return fixed(n.b) && fixed(n.c) ? 0 : kLevel;
  }
  case Op::Table:
    return std::max<int64_t>(1, c.nodes[n.a].bits() - 5) * kLevel;
  }
  return 0;
}

/// Whether a node's logic is a carry chain.
bool hasChain(const Circuit &c, const Circuit::Node &n) {
  if (n.op == Op::AtLeast)
    return c.nodes[n.a].bits() > 6;
  return c.adderBits(n) > 0;
}

/// Calls `use(operand)` for the operands of a node.
template <typename Use> void forOperands(const Circuit::Node &n, Use use) {
  for (int operand : {n.a, n.b, n.c})
    if (operand >= 0)
      use(operand);
}
} // namespace

Schedule schedule(const Circuit &c, int64_t budget) {
  Schedule s;
  std::vector<bool> needed(c.nodes.size(), false);
  for (int o : c.outputs)
    needed[o] = true;
  for (size_t i = c.nodes.size(); i-- > 0;)
    if (needed[i])
      forOperands(c.nodes[i], [&](int o) { needed[o] = true; });
  s.stage.assign(c.nodes.size(), -1);
  std::vector<int64_t> at(c.nodes.size(), 0);
  std::vector<int> chains(c.nodes.size(), 0); ///< on the way, in its stage
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Circuit::Node &n = c.nodes[i];
    if (!needed[i])
      continue;
    s.stage[i] = 0;
    at[i] = n.op == Op::Input ? kArrival : 0;
    forOperands(n, [&](int o) {
      if (s.stage[o] > s.stage[i]) {
        s.stage[i] = s.stage[o];
        at[i] = 0;
        chains[i] = 0;
      }
      if (s.stage[o] == s.stage[i]) {
        at[i] = std::max(at[i], at[o]);
        chains[i] = std::max(chains[i], chains[o]);
      }
    });
    int64_t delay = delayOf(c, n);
    bool chain = delay > 0 && hasChain(c, n);
    int64_t entry = chain && chains[i] >= kFreeChains ? kLevel : 0;
    if (delay > 0 && at[i] > 0 && at[i] + delay + entry > budget) {
      ++s.stage[i];
      at[i] = entry = 0;
      chains[i] = 0;
    }
    at[i] += delay + entry;
    chains[i] += chain;
  }
  for (int o : c.outputs)
    s.stages = std::max(s.stages, s.stage[o]);
  return s;
}
} // namespace rhizome::gen
