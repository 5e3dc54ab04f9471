// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the registers stand, and what a circuit then consists of: bits of
// adders, comparisons, choices, tables and registers, which are parameters of
// its actor (small letters: the hardware has none).
#include "rhizome/Generator/Circuit.h"
#include "llvm/ADT/iterator_range.h"
#include <algorithm>
#include <numeric>

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

void describe(Actor &actor, const Circuit &c, int64_t budget) {
  Schedule s = schedule(c, budget);
  // The stages at which each node is read: those of node i stand from
  // `first[i]` up to `first[i + 1]`.
  std::vector<int> first(c.nodes.size() + 1), readers;
  for (size_t i = 0; i < c.nodes.size(); ++i)
    if (s.stage[i] >= 0)
      forOperands(c.nodes[i], [&](int o) { ++first[o + 1]; });
  for (int o : c.outputs)
    ++first[o + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  readers.resize(first.back());
  std::vector<int> next(first.begin(), first.end() - 1);
  double adder = 0, compare = 0, choose = 0, leaves = 0;
  int64_t adders = 0;
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const Circuit::Node &n = c.nodes[i];
    if (s.stage[i] < 0)
      continue;
    forOperands(n, [&](int o) { readers[next[o]++] = s.stage[i]; });
    int64_t bits = c.adderBits(n);
    adder += double(bits);
    adders += bits > 0;
    if (n.op == Op::AtLeast)
      compare += n.value == 0 ? 0 : double(c.nodes[n.a].bits());
    if (n.op == Op::Even)
      compare += double(n.shift);
    if (n.op == Op::Select && delayOf(c, n) > 0)
      choose += double(n.bits());
    if (n.op == Op::Table) {
      int64_t index = c.nodes[n.a].bits();
      leaves +=
          double(n.bits()) * double(index <= 6 ? 1 : int64_t(1) << (index - 6));
    }
  }
  for (int o : c.outputs)
    readers[next[o]++] = s.stages;
  // Registers between readers: rows of three and more of them are rows for the
  // cost model, too.
  int64_t ff = 0, rows = 0, rowStages = 0;
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    if (s.stage[i] < 0 || c.nodes[i].op == Op::Constant)
      continue;
    auto begin = readers.begin() + first[i],
         end = readers.begin() + first[i + 1];
    std::sort(begin, end);
    int from = s.stage[i];
    int64_t bits = c.nodes[i].bits();
    for (int to : llvm::make_range(begin, end)) {
      if (to - from >= 3) {
        rows += bits * ((to - from + 15) / 16);
        rowStages += bits * (to - from);
      } else {
        ff += bits * (to - from);
      }
      from = to;
    }
  }
  int64_t inBits = c.inLanes * c.inWidth;
  int64_t outBits = int64_t(c.outputs.size()) * c.outWidth;
  for (auto [key, value] :
       std::initializer_list<Param>{{"levels", budget},
                                    {"stages", s.stages},
                                    {"inBits", inBits},
                                    {"outBits", outBits},
                                    {"adders", adders},
                                    {"adderBits", int64_t(adder)},
                                    {"compareBits", int64_t(compare)},
                                    {"selectBits", int64_t(choose)},
                                    {"tableLeaves", int64_t(leaves)},
                                    {"ffBits", ff},
                                    {"rowBits", rows},
                                    {"rowStageBits", rowStages}})
    actor.set(key, value);
}
} // namespace rhizome::gen
