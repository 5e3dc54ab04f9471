// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building circuits: equal nodes are merged, constants are folded, and every
// node has the range of its values.
#include "rhizome/Units/Circuit.h"
#include <algorithm>

namespace rhizome::gen {
using Op = Circuit::Op;

static uint64_t hashOf(const Circuit::Node &n) {
  uint64_t hash = uint64_t(n.op);
  for (int64_t part :
       {int64_t(n.a), int64_t(n.b), int64_t(n.c), n.shift, n.value})
    hash = (hash ^ uint64_t(part)) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

int Circuit::add(const Node &n) {
  // Open addressing, at most half full.
  if (2 * (nodes.size() + 1) > known.size()) {
    known.assign(std::max<size_t>(64, 2 * known.size()), -1);
    for (size_t i = 0; i < nodes.size(); ++i) {
      size_t at = hashOf(nodes[i]) & (known.size() - 1);
      while (known[at] >= 0)
        at = (at + 1) & (known.size() - 1);
      known[at] = int(i);
    }
  }
  size_t at = hashOf(n) & (known.size() - 1);
  for (; known[at] >= 0; at = (at + 1) & (known.size() - 1)) {
    const Node &m = nodes[known[at]];
    if (m.op == n.op && m.a == n.a && m.b == n.b && m.c == n.c &&
        m.shift == n.shift && m.value == n.value)
      return known[at];
  }
  known[at] = int(nodes.size());
  nodes.push_back(n);
  return known[at];
}

int Circuit::input(int64_t lane, int64_t lo, int64_t hi) {
  Node n{Op::Input};
  n.value = lane;
  n.lo = lo;
  n.hi = hi;
  return add(n);
}

int Circuit::constant(int64_t value) {
  Node n{Op::Constant};
  n.value = n.lo = n.hi = value;
  return add(n);
}

int Circuit::sum(Op op, int a, int b, int64_t shift) {
  const Node &x = nodes[a], &y = nodes[b];
  int64_t ylo = y.lo << shift, yhi = y.hi << shift;
  switch (op) {
  case Op::Add:
    return sum(op, a, b, shift, x.lo + ylo, x.hi + yhi);
  case Op::Sub:
    return sum(op, a, b, shift, x.lo - yhi, x.hi - ylo);
  default:
    return sum(op, a, b, shift, ylo - x.hi, yhi - x.lo);
  }
}

int Circuit::addNot(int a, int b, int64_t shift, int64_t bits, int64_t lo,
                    int64_t hi) {
  if (lo == hi)
    return constant(lo);
  Node n{Op::AddNot, a, b};
  n.shift = shift;
  n.value = bits;
  n.lo = lo;
  n.hi = hi;
  return add(n);
}

int Circuit::sum(Op op, int a, int b, int64_t shift, int64_t lo, int64_t hi) {
  if (lo == hi)
    return constant(lo);
  if (op == Op::Add) {
    // A constant after a constant.
    auto apart = [&](int x, int y, int64_t by) -> std::pair<int, int64_t> {
      if (nodes[y].op == Op::Constant)
        return {x, nodes[y].value << by};
      if (by == 0 && nodes[x].op == Op::Constant)
        return {y, nodes[x].value};
      return {-1, 0};
    };
    if (auto [inner, last] = apart(a, b, shift);
        inner >= 0 && nodes[inner].op == Op::Add) {
      const Node &m = nodes[inner];
      if (auto [base, given] = apart(m.a, m.b, m.shift); base >= 0)
        return last + given == 0
                   ? base
                   : sum(Op::Add, base, constant(last + given), 0, lo, hi);
    }
  }
  if (op == Op::Add && shift == 0) {
    if (nodes[a].lo == 0 && nodes[a].hi == 0)
      return b;
    if (a > b)
      std::swap(a, b);
  }
  if (op != Op::Rsub && nodes[b].lo == 0 && nodes[b].hi == 0)
    return a;
  Node n{op, a, b};
  n.shift = shift;
  n.lo = lo;
  n.hi = hi;
  return add(n);
}

int Circuit::floor(int a, int64_t shift) {
  if (shift == 0)
    return a;
  Node n{Op::Floor, a};
  n.shift = shift;
  n.lo = nodes[a].lo >> shift;
  n.hi = nodes[a].hi >> shift;
  return n.lo == n.hi ? constant(n.lo) : add(n);
}

int Circuit::even(int a, int64_t shift) {
  Node n{Op::Even, a};
  n.shift = shift;
  n.lo = (nodes[a].lo >> shift) & ~int64_t(1);
  n.hi = nodes[a].hi >> shift;
  return n.lo == n.hi ? constant(n.lo) : add(n);
}

int Circuit::atLeast(int a, int64_t value) {
  if (value <= nodes[a].lo || value > nodes[a].hi)
    return constant(value <= nodes[a].lo);
  Node n{Op::AtLeast, a};
  n.value = value;
  n.hi = 1;
  return add(n);
}

int Circuit::select(int condition, int ifTrue, int ifFalse) {
  const Node &c = nodes[condition];
  if (c.op == Op::Constant)
    return c.value ? ifTrue : ifFalse;
  if (ifTrue == ifFalse)
    return ifTrue;
  const Node &x = nodes[ifTrue], &y = nodes[ifFalse];
  if (x.op == Op::Constant && y.op == Op::Constant && x.value == 1 &&
      y.value == 0)
    return condition;
  Node n{Op::Select, condition, ifTrue, ifFalse};
  n.lo = std::min(x.lo, y.lo);
  n.hi = std::max(x.hi, y.hi);
  return add(n);
}

int Circuit::clamp(int a, int64_t lo, int64_t hi) {
  int64_t alo = nodes[a].lo, ahi = nodes[a].hi;
  if (alo >= lo && ahi <= hi)
    return a;
  // What follows from the condition but not from the operands' ranges.
  auto narrow = [&](int node, int64_t least, int64_t most) {
    if (nodes[node].op == Op::Select) {
      nodes[node].lo = least;
      nodes[node].hi = most;
    }
    return node;
  };
  int y = a;
  if (alo > hi)
    return constant(hi);
  if (ahi > hi)
    y = narrow(select(atLeast(a, hi + 1), constant(hi), y), alo, hi);
  if (alo < lo)
    y = narrow(select(atLeast(a, lo), y, constant(lo)), lo, std::min(ahi, hi));
  return y;
}

int Circuit::table(int a, std::vector<int64_t> values) {
  auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  if (*lo == *hi)
    return constant(*lo);
  Node n{Op::Table, a};
  n.shift = nodes[a].lo;
  n.lo = *lo;
  n.hi = *hi;
  auto same = std::find(tables.begin(), tables.end(), values);
  n.value = same - tables.begin();
  if (same == tables.end())
    tables.push_back(std::move(values));
  return add(n);
}

/// A node of `from` again; its operands, which are nodes here, may have
/// narrower ranges than there.
int Circuit::again(const Node &n, const Circuit &from) {
  int node = -1;
  switch (n.op) {
  case Op::Add:
  case Op::Sub:
  case Op::Rsub:
    node = sum(n.op, n.a, n.b, n.shift);
    break;
  case Op::AddNot: {
    // The complement has as many bits as before.
    int64_t most = (int64_t(1) << n.value) - 1;
    node = addNot(n.a, n.b, n.shift, n.value,
                  nodes[n.a].lo + ((most - nodes[n.b].hi) << n.shift),
                  nodes[n.a].hi + ((most - nodes[n.b].lo) << n.shift));
    break;
  }
  case Op::Floor:
    return floor(n.a, n.shift);
  case Op::Even:
    return even(n.a, n.shift);
  case Op::AtLeast:
    return atLeast(n.a, n.value);
  case Op::Select:
    node = select(n.a, n.b, n.c);
    break;
  case Op::Table: {
    // The index counts from the lowest value of the operand.
    std::vector<int64_t> values = from.tables[n.value];
    values.erase(values.begin(), values.begin() + (nodes[n.a].lo - n.shift));
    return table(n.a, std::move(values));
  }
  default:
    return add(n);
  }
  Node &made = nodes[node];
  if (made.op == n.op) {
    made.lo = std::max(made.lo, n.lo);
    made.hi = std::min(made.hi, n.hi);
  }
  return node;
}

Circuit Circuit::then(const Circuit &next) const {
  Circuit all = *this;
  std::vector<int> at(next.nodes.size());
  for (size_t i = 0; i < next.nodes.size(); ++i) {
    Node n = next.nodes[i];
    if (n.op == Op::Input) {
      at[i] = outputs[n.value];
      continue;
    }
    for (int *operand : {&n.a, &n.b, &n.c})
      if (*operand >= 0)
        *operand = at[*operand];
    at[i] = all.again(n, next);
  }
  all.outputs.clear();
  for (int o : next.outputs)
    all.outputs.push_back(at[o]);
  all.outWidth = next.outWidth;
  return all;
}

void Circuit::append(const Circuit &other, int64_t first) {
  std::vector<int> at;
  for (Node n : other.nodes) {
    if (n.op == Op::Input)
      n.value += first;
    for (int *operand : {&n.a, &n.b, &n.c})
      if (*operand >= 0)
        *operand = at[*operand];
    if (n.op == Op::Table)
      at.push_back(table(n.a, other.tables[n.value]));
    else
      at.push_back(add(n));
  }
  for (int o : other.outputs)
    outputs.push_back(at[o]);
}

Circuit Circuit::repeated(int64_t copies) const {
  Circuit all;
  all.inLanes = inLanes * copies;
  all.inWidth = inWidth;
  all.outWidth = outWidth;
  for (int64_t copy = 0; copy < copies; ++copy)
    all.append(*this, copy * inLanes);
  return all;
}
} // namespace rhizome::gen
