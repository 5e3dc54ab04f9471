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
/// Sums of fewer bits are logic.
constexpr int64_t kShortest = 3;

} // namespace

void WordDelays::Arrival::join(Arrival other) {
  at = std::max(at, other.at);
  carries = std::max(carries, other.carries);
}

WordDelays::WordDelays(const WordGraph &graph, const LogicPace &pace)
    : graph(graph), pace(pace), stages(graph.nodes.size(), -1),
      arrivals(graph.nodes.size()) {}

int64_t WordDelays::total(Arrival arrival) const {
  return arrival.at + (arrival.carries * pace.chainBit + kLevel - 1) / kLevel;
}

/// Delay of a word's logic in 32nds of a level, without carries.
int64_t WordDelays::delayOf(const Word &n) const {
  const WordGraph &c = graph;
  switch (n.op) {
  case Op::Input:
  case Op::Constant:
  case Op::Floor:
    return 0;
  case Op::Add:
  case Op::Sub:
  case Op::Rsub:
  case Op::AddNot: {
    int64_t bits = c.adderBits(n);
    if (bits == 1 && c.nodes[n.b].op == Op::Constant)
      return 0; // an inverter
    return bits == 0 ? 0 : bits < kShortest ? kLevel : kLevel + pace.chain;
  }
  case Op::Even:
    return n.shift <= 5 ? kLevel : 2 * kLevel;
  case Op::AtLeast: {
    int64_t bits = c.nodes[n.a].bits();
    return bits <= 6 ? kLevel : kLevel + pace.chain;
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

/// The delay of the operands of word i in its stage.
WordDelays::Arrival WordDelays::before(int i) {
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
  if (n.op == Op::Floor || (n.isSum() && delay == 0))
    return before;
  if (n.isSum())
    return {before.at + delay, std::max(before.carries, n.bits())};
  // Any bit may depend on the last one.
  int64_t at = total(before) + delay;
  int64_t compared = n.op == Op::AtLeast ? graph.nodes[n.a].bits() : 0;
  return compared > 6 ? Arrival{total({at, compared / 2}), 0} : Arrival{at, 0};
}

std::pair<WordDelays::Arrival, WordDelays::Arrival>
WordDelays::place(int i, int64_t stage) {
  stages[i] = stage;
  Arrival start = before(i);
  arrivals[i] = after(i, start);
  return {start, arrivals[i]};
}
} // namespace rhizome::gen::cost
