// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The delay of the logic of a datapath: how synthesis maps chains of sums,
// comparisons, multiplexers and tables.
#include "rhizome/Cost/Words.h"
#include <algorithm>
#include <cmath>

namespace rhizome::gen::cost {
using Op = Word::Op;

namespace {
constexpr int64_t kLevel = 32;
/// The beat comes from a memory in LUTs.
constexpr int64_t kArrival = kLevel;
/// Carry chains that a path may pass before each counts as another level.
constexpr int kFreeChains = 2;

/// Levels in which rows of full adders reduce this many terms to two.
int64_t levelsToTwo(int64_t terms) {
  int64_t levels = 0;
  for (; terms > 2; ++levels)
    terms -= terms / 3;
  return levels;
}

} // namespace

void WordDelays::Arrival::join(Arrival other) {
  at = std::max(at, other.at);
  chains = std::max(chains, other.chains);
}

WordDelays::WordDelays(const WordGraph &graph)
    : graph(graph), reads(graph.readers()), stages(graph.nodes.size(), -1),
      arrivals(graph.nodes.size()), sums(graph.nodes.size()) {}

/// Delay of a word's logic in 32nds of a level.
int64_t WordDelays::delayOf(const Word &n) const {
  const WordGraph &c = graph;
  switch (n.op) {
  case Op::Input:
  case Op::Constant:
  case Op::Floor:
    return 0;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub: {
    // Four bits may be two levels of four-input LUTs instead of a chain.
    int64_t bits = c.adderBits(n);
    return bits > 0 ? kLevel + (bits == 4 ? kLevel : bits) : 0;
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

/// Whether a word's logic is a carry chain.
bool WordDelays::hasChain(const Word &n) const {
  if (n.op == Op::AtLeast)
    return graph.nodes[n.a].bits() > 6;
  return graph.adderBits(n) > 0;
}

/// Whether the sum `operand` of the sum i has no carry chain of its own: Yosys
/// merges both into one multi-operand addition if nothing else reads the
/// operand and the result is the same in all bits.
bool WordDelays::isTerm(int i, int operand) const {
  const Word &n = graph.nodes[i], &o = graph.nodes[operand];
  if (!o.isSum() || reads[operand] != 1 || stages[operand] != stages[i] ||
      graph.adderBits(n) == 0 || graph.adderBits(o) == 0 ||
      (o.shift != 0 && o.op != Op::Rsub))
    return false;
  // One operand of a shifted sum is partly read, or follows zeros.
  bool isShifted = n.shift != 0 && (operand == n.a) != (n.op == Op::Rsub);
  if (isShifted)
    return false;
  // Bits beyond the operand's width must be the same as without truncation.
  int64_t width = n.bits() - (n.op == Op::Rsub ? 0 : n.shift);
  return o.bits() >= width ||
         (o.op == Op::Add && o.lo >= 0 && graph.nodes[o.a].lo >= 0 &&
          graph.nodes[o.b].lo >= 0 &&
          sums[operand].most < std::ldexp(1, o.bits()));
}

WordDelays::Sum WordDelays::sumOf(int i) const {
  Sum sum;
  graph.nodes[i].forOperands([&](int o) {
    if (isTerm(i, o)) {
      sum.terms += sums[o].terms;
      sum.latest.join(sums[o].latest);
      sum.most += sums[o].most;
    } else {
      ++sum.terms;
      if (stages[o] == stages[i])
        sum.latest.join(arrivals[o]);
      sum.most += std::ldexp(1, graph.nodes[o].bits()) - 1;
    }
  });
  return sum;
}

/// The delay of the operands of word i in its stage.
WordDelays::Arrival WordDelays::before(int i) {
  if (graph.nodes[i].isSum()) {
    sums[i] = sumOf(i);
    return sums[i].latest;
  }
  Arrival latest;
  graph.nodes[i].forOperands([&](int o) {
    if (stages[o] == stages[i])
      latest.join(arrivals[o]);
  });
  return latest;
}

WordDelays::Arrival WordDelays::after(int i, Arrival before) const {
  const Word &n = graph.nodes[i];
  if (n.op == Op::Input)
    return {kArrival};
  int64_t delay = delayOf(n);
  if (n.isSum())
    delay += levelsToTwo(sums[i].terms) * kLevel;
  if (delay > 0 && hasChain(n))
    delay += before.chains++ < kFreeChains ? 0 : kLevel;
  return {before.at + delay, before.chains};
}

std::pair<WordDelays::Arrival, WordDelays::Arrival>
WordDelays::place(int i, int64_t stage) {
  stages[i] = stage;
  Arrival start = before(i);
  arrivals[i] = after(i, start);
  return {start, arrivals[i]};
}
} // namespace rhizome::gen::cost
