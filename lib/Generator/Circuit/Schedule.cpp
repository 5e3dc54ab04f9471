// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the registers of a circuit stand.
#include "rhizome/Generator/Circuit.h"
#include <algorithm>
#include <cmath>

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
    // Four bits may be two levels of LUTs of four inputs instead of a chain.
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

/// Levels in which rows of full adders make two terms of so many.
int64_t levelsToTwo(int64_t terms) {
  int64_t levels = 0;
  for (; terms > 2; ++levels)
    terms -= terms / 3;
  return levels;
}

/// Where a node's value is in its stage.
struct Arrival {
  int64_t at = 0; ///< in 32nds of a level
  int chains = 0; ///< that the path to it passes

  void join(Arrival other) {
    at = std::max(at, other.at);
    chains = std::max(chains, other.chains);
  }
};

class Scheduler {
public:
  Scheduler(const Circuit &c, int64_t budget)
      : c(c), budget(budget), reads(c.nodes.size(), 0),
        arrivals(c.nodes.size()), sums(c.nodes.size()) {}
  Schedule run();

private:
  /// What is added where sums that nothing else reads are their reader's terms.
  struct Sum {
    int64_t terms = 0;
    Arrival latest;  ///< of the terms
    double most = 0; ///< that terms of their widths come to
  };

  void place(int i);
  bool isTerm(int i, int operand) const;
  Sum sumOf(int i) const;
  Arrival before(int i);
  Arrival behind(int i, Arrival before) const;

  const Circuit &c;
  int64_t budget;
  Schedule s;
  std::vector<int> reads; ///< of each node, by nodes and outputs
  std::vector<Arrival> arrivals;
  std::vector<Sum> sums;
};

/// Whether the sum `operand` of the sum i is no carry chain of its own: Yosys
/// adds all terms of both in one go if nothing else reads it and no bit of the
/// result differs for that.
bool Scheduler::isTerm(int i, int operand) const {
  const Circuit::Node &n = c.nodes[i], &o = c.nodes[operand];
  if (!o.isSum() || reads[operand] != 1 || s.stage[operand] != s.stage[i] ||
      c.adderBits(n) == 0 || c.adderBits(o) == 0 ||
      (o.shift != 0 && o.op != Op::Rsub))
    return false;
  // Of a shifted sum one operand is read in part or behind zeros.
  bool isShifted = n.shift != 0 && (operand == n.a) != (n.op == Op::Rsub);
  if (isShifted)
    return false;
  // Bits beyond the operand's must be what they would be without its end.
  int64_t width = n.bits() - (n.op == Op::Rsub ? 0 : n.shift);
  return o.bits() >= width ||
         (o.op == Op::Add && o.lo >= 0 && c.nodes[o.a].lo >= 0 &&
          c.nodes[o.b].lo >= 0 && sums[operand].most < std::ldexp(1, o.bits()));
}

Scheduler::Sum Scheduler::sumOf(int i) const {
  Sum sum;
  forOperands(c.nodes[i], [&](int o) {
    if (isTerm(i, o)) {
      sum.terms += sums[o].terms;
      sum.latest.join(sums[o].latest);
      sum.most += sums[o].most;
    } else {
      ++sum.terms;
      if (s.stage[o] == s.stage[i])
        sum.latest.join(arrivals[o]);
      sum.most += std::ldexp(1, c.nodes[o].bits()) - 1;
    }
  });
  return sum;
}

/// Of what node i reads in its stage.
Arrival Scheduler::before(int i) {
  if (c.nodes[i].isSum()) {
    sums[i] = sumOf(i);
    return sums[i].latest;
  }
  Arrival latest;
  forOperands(c.nodes[i], [&](int o) {
    if (s.stage[o] == s.stage[i])
      latest.join(arrivals[o]);
  });
  return latest;
}

Arrival Scheduler::behind(int i, Arrival before) const {
  const Circuit::Node &n = c.nodes[i];
  if (n.op == Op::Input)
    return {kArrival};
  int64_t delay = delayOf(c, n);
  if (n.isSum())
    delay += levelsToTwo(sums[i].terms) * kLevel;
  if (delay > 0 && hasChain(c, n))
    delay += before.chains++ < kFreeChains ? 0 : kLevel;
  return {before.at + delay, before.chains};
}

void Scheduler::place(int i) {
  s.stage[i] = 0;
  forOperands(c.nodes[i],
              [&](int o) { s.stage[i] = std::max(s.stage[i], s.stage[o]); });
  Arrival start = before(i);
  arrivals[i] = behind(i, start);
  if (start.at > 0 && arrivals[i].at > std::max(start.at, budget)) {
    ++s.stage[i];
    arrivals[i] = behind(i, before(i));
  }
}

Schedule Scheduler::run() {
  s.stage.assign(c.nodes.size(), -1);
  std::vector<bool> needed(c.nodes.size(), false);
  for (int o : c.outputs) {
    needed[o] = true;
    ++reads[o];
  }
  for (size_t i = c.nodes.size(); i-- > 0;)
    if (needed[i])
      forOperands(c.nodes[i], [&](int o) {
        needed[o] = true;
        ++reads[o];
      });
  for (size_t i = 0; i < c.nodes.size(); ++i)
    if (needed[i])
      place(int(i));
  for (int o : c.outputs)
    s.stages = std::max(s.stages, s.stage[o]);
  return s;
}
} // namespace

Schedule schedule(const Circuit &c, int64_t budget) {
  return Scheduler(c, budget).run();
}
} // namespace rhizome::gen
