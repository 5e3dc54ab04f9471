// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logic that operators share, and its stages: every operation is scheduled
// as soon as possible within the clock's budget, and what only joins bits moves
// to its reader, so that registers hold each bit once.
#include "Datapath.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Solvers/Solvers.h"
#include "rhizome/Units/Registers.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen::floats {
using P = rtl::Predicate;

Datapath::Datapath(Block *block, Location loc, const cost::LogicPace &pace,
                   const CostContext &device)
    : b(OpBuilder::atBlockEnd(block)), loc(loc), block(block), pace(pace),
      device(device) {}

Value Datapath::constant(int64_t n, const llvm::APInt &value) {
  return rtl::ConstantOp::create(b, loc, bits(n), value);
}

Value Datapath::constant(int64_t n, int64_t value) {
  return constant(n, llvm::APInt(64, uint64_t(value)).sextOrTrunc(unsigned(n)));
}

Value Datapath::extract(Value v, int64_t low, int64_t n) {
  return b.createOrFold<rtl::ExtractOp>(loc, bits(n), v, uint64_t(low));
}

Value Datapath::join(ValueRange parts) {
  int64_t n = 0;
  for (Value v : parts)
    n += width(v);
  return b.createOrFold<rtl::ConcatOp>(loc, bits(n), parts);
}

Value Datapath::extend(Value v, int64_t n) {
  return n == width(v) ? v : join({v, zero(n - width(v))});
}

Value Datapath::extendSigned(Value v, int64_t n) {
  return n == width(v) ? v : b.createOrFold<rtl::SignExtendOp>(loc, bits(n), v);
}

Value Datapath::both(Value x, Value y) {
  return b.createOrFold<rtl::AndOp>(loc, x, y);
}
Value Datapath::either(Value x, Value y) {
  return b.createOrFold<rtl::OrOp>(loc, x, y);
}
Value Datapath::differ(Value x, Value y) {
  return b.createOrFold<rtl::XorOp>(loc, x, y);
}
Value Datapath::inverse(Value x) { return b.createOrFold<rtl::NotOp>(loc, x); }
Value Datapath::choose(Value condition, Value x, Value y) {
  return b.createOrFold<rtl::MuxOp>(loc, condition, x, y);
}

Value Datapath::any(Value v) {
  return width(v) == 1 ? v
                       : b.createOrFold<rtl::CompareOp>(loc, P::NotEqual, v,
                                                        zero(width(v)));
}
Value Datapath::all(Value v) { return equals(v, -1); }
Value Datapath::equals(Value v, int64_t value) {
  return b.createOrFold<rtl::CompareOp>(loc, P::Equal, v,
                                        constant(width(v), value));
}
Value Datapath::isLess(Value x, Value y) {
  return b.createOrFold<rtl::CompareOp>(loc, P::UnsignedLess, x, y);
}
Value Datapath::isLessSigned(Value x, Value y) {
  return b.createOrFold<rtl::CompareOp>(loc, P::SignedLess, x, y);
}

Value Datapath::add(Value x, Value y, Value carry) {
  if (!carry)
    return b.createOrFold<rtl::AddOp>(loc, x, y);
  // One carry chain: the carry enters as that of another bit.
  Value sum =
      b.createOrFold<rtl::AddOp>(loc, join({ones(), x}), join({carry, y}));
  return extract(sum, 1, width(x));
}

Value Datapath::sub(Value x, Value y) {
  return b.createOrFold<rtl::SubOp>(loc, x, y);
}

Value Datapath::table(Value index, ArrayRef<int64_t> values, int64_t n) {
  return b.createOrFold<rtl::LookupOp>(loc, bits(n), index, values);
}

/// A product that one DSP block holds, if it is worth one.
Value Datapath::blockOf(Value x, Value y) {
  const int64_t n = width(x) + width(y);
  if (width(y) > width(x))
    return blockOf(y, x);
  // A digit or two are multiplexers and a sum at most.
  auto digit = [&](int64_t at) {
    return both(x, spread(bit(y, at), width(x)));
  };
  if (width(y) == 1)
    return extend(digit(0), n);
  if (width(y) == 2)
    return add(extend(digit(0), n), join({zero(), digit(1), zero()}));
  SmallVector<Value> factors;
  Operation *before = block->empty() ? nullptr : &block->back();
  for (Value v : {x, y}) {
    v = rtl::ConcatOp::create(b, loc, bits(width(v) + 1),
                              ValueRange{v, zero()});
    factors.push_back(rtl::SignExtendOp::create(b, loc, bits(n), v));
  }
  Value product = rtl::MulOp::create(b, loc, factors[0], factors[1]);
  firstOf[product.getDefiningOp()] =
      before ? before->getNextNode() : &block->front();
  return product;
}

Value Datapath::multiply(Value x, Value y) {
  const int64_t n = width(x) + width(y);
  const int64_t wide = device.dspWide - 1, narrow = device.dspNarrow - 1;
  if (wide < 1 || (width(x) <= wide && width(y) <= narrow) ||
      (width(y) <= wide && width(x) <= narrow))
    return blockOf(x, y);
  auto count = [](Value v, int64_t most) {
    return cost::ceilDiv(width(v), most);
  };
  if (count(x, narrow) * count(y, wide) < count(x, wide) * count(y, narrow))
    std::swap(x, y);
  // Rows of pieces of y; in each, every other product is next to the one two
  // before it, so that one sum adds both.
  Value total;
  for (int64_t at = 0; at < width(y); at += narrow) {
    Value piece = extract(y, at, std::min(narrow, width(y) - at));
    SmallVector<Value> lanes[2];
    int64_t from[2] = {0, wide};
    bool isOdd = false;
    for (int64_t low = 0; low < width(x); low += wide, isOdd = !isOdd) {
      Value other = extract(x, low, std::min(wide, width(x) - low));
      SmallVector<Value> &lane = lanes[isOdd];
      int64_t end = from[isOdd];
      for (Value v : lane)
        end += width(v);
      if (end < low)
        lane.push_back(zero(low - end));
      lane.push_back(blockOf(other, piece));
    }
    Value row = join(lanes[0]);
    const int64_t rowBits = width(x) + width(piece);
    auto above = [&](Value v, int64_t by, int64_t size) {
      return extend(extract(v, by, width(v) - by), size);
    };
    if (!lanes[1].empty()) {
      Value odd = join(lanes[1]);
      row = extend(row, std::max(rowBits, width(row)));
      row = join({extract(row, 0, wide),
                  add(extract(row, wide, rowBits - wide),
                      extract(extend(odd, std::max(rowBits - wide, width(odd))),
                              0, rowBits - wide))});
    }
    if (!total) {
      total = row;
      continue;
    }
    const int64_t size = rowBits;
    total = join({extract(total, 0, at), add(above(total, at, size), row)});
  }
  return extract(total, 0, n);
}

Datapath::Zeros Datapath::countZeros(Value v) {
  const int64_t n = width(v);
  if (n == 1)
    return {inverse(v), {}};
  Zeros high = countZeros(extract(v, n / 2, n / 2));
  Zeros low = countZeros(extract(v, 0, n / 2));
  Zeros out;
  out.isZero = both(high.isZero, low.isZero);
  out.count = high.isZero;
  if (high.count)
    out.count = join({choose(high.isZero, low.count, high.count), high.isZero});
  return out;
}

Value Datapath::leadingZeros(Value v) {
  const int64_t n = width(v);
  int64_t size = 1;
  while (size < n)
    size *= 2;
  if (size > n)
    return countZeros(join({ones(size - n), v})).count;
  Zeros zeros = countZeros(v);
  if (!zeros.count)
    return zeros.isZero;
  return join(
      {both(zeros.count, spread(inverse(zeros.isZero), width(zeros.count))),
       zeros.isZero});
}

Value Datapath::shiftLeft(Value v, Value amount) {
  const int64_t n = width(v);
  for (int64_t k = width(amount); k-- > 0;) {
    const int64_t by = k < 62 ? int64_t(1) << k : n;
    Value shifted = by >= n ? zero(n) : join({zero(by), extract(v, 0, n - by)});
    v = choose(bit(amount, k), shifted, v);
  }
  return v;
}

Value Datapath::shiftRight(Value v, Value amount, Value &lost) {
  const int64_t n = width(v);
  lost = zero();
  for (int64_t k = width(amount); k-- > 0;) {
    const int64_t by = std::min(n, int64_t(1) << k);
    Value shifted =
        by == n ? zero(n) : join({extract(v, by, n - by), zero(by)});
    lost = either(lost, both(bit(amount, k), any(extract(v, 0, by))));
    v = choose(bit(amount, k), shifted, v);
  }
  return v;
}

int64_t Datapath::delayOf(Operation &op) const {
  constexpr double kLevel = 32;
  // Of gates with two inputs; a LUT holds several.
  constexpr double kGate = 13, kMux = 16;
  auto chain = [&](int64_t n) {
    return kLevel + double(pace.chain) + double(n * pace.chainBit) / kLevel;
  };
  double delay = 0;
  if (isa<rtl::AndOp, rtl::OrOp, rtl::XorOp>(op))
    delay = kGate;
  else if (isa<rtl::MuxOp>(op))
    delay = kMux;
  else if (isa<rtl::AddOp, rtl::SubOp>(op))
    delay = chain(width(op.getResult(0)));
  else if (isa<rtl::MulOp>(op))
    delay = double(pace.budget);
  else if (auto table = dyn_cast<rtl::LookupOp>(op))
    // A LUT has six inputs, or selects among four.
    delay = kLevel * std::max(1.0, double(width(table.getIndex())) / 2 - 2);
  else if (auto compare = dyn_cast<rtl::CompareOp>(op)) {
    const int64_t n = width(compare.getLhs());
    if (compare.getPredicate() == P::Equal ||
        compare.getPredicate() == P::NotEqual)
      delay = kGate * std::log2(double(std::max<int64_t>(2, n)));
    else
      delay = chain(n / 2);
  }
  return std::min(int64_t(std::ceil(delay)), pace.budget);
}

void Datapath::finish(Value clock, Value result, int64_t &latency,
                      schedule::ChainedProblem::Delay &delay) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (op.use_empty() && op.getResult(0) != result) {
      firstOf.erase(&op);
      op.erase();
    }
  schedule::ChainedProblem p;
  p.period = pace.budget;
  std::vector<LogicGroup> groups;
  DenseMap<Value, int> made;
  auto add = [&](const LogicGroup &group) {
    groups.push_back(group);
    made[group.value] = int(groups.size()) - 1;
    p.add(0);
  };
  for (Value argument : block->getArguments()) {
    if (argument == clock)
      continue;
    add({nullptr, argument, false});
    // Operands come through multiplexers: of nests, and of a sum's first value.
    // Nor does a product follow an operand without a register.
    constexpr int64_t kArrival = 24;
    p.setDelay(int(groups.size()) - 1, std::min(kArrival, pace.budget));
  }
  DenseSet<Operation *> inside;
  for (auto [product, first] : firstOf)
    for (Operation *op = first; op != product; op = op->getNextNode())
      inside.insert(op);
  for (Operation &op : *block) {
    if (inside.contains(&op))
      continue;
    Operation *first = firstOf.lookup(&op) ? firstOf.lookup(&op) : &op;
    LogicGroup group{first, op.getResult(0), isa<rtl::ConstantOp>(op)};
    add(group);
    const int at = int(groups.size()) - 1;
    p.setDelay(at, delayOf(op));
    SmallVector<int> from;
    for (Operation *part = first;; part = part->getNextNode()) {
      for (Value v : part->getOperands())
        if (auto it = made.find(v); it != made.end() && it->second != at)
          from.push_back(it->second);
      if (part == &op)
        break;
    }
    llvm::sort(from);
    from.erase(llvm::unique(from), from.end());
    for (int f : from)
      if (!groups[f].isConstant)
        p.depend(f, at);
  }
  if (result != groups.back().value) {
    const int from = made.at(result);
    groups.push_back({nullptr, result, false});
    p.depend(from, p.add(0));
  }
  schedule::Schedule s = *schedule::scheduleChained(p);
  // Wires follow the registers of what they join.
  std::vector<int64_t> readers(size_t(p.size()), INT64_MAX);
  std::vector<std::vector<int>> reads(size_t(p.size()));
  for (const schedule::Dependence &d : p.dependences)
    reads[size_t(d.to)].push_back(d.from);
  for (int i = p.size(); i-- > 0;) {
    if (groups[i].first &&
        isa<rtl::ConcatOp, rtl::SignExtendOp>(
            groups[i].value.getDefiningOp()) &&
        readers[i] != INT64_MAX)
      s.start[i] = std::max(s.start[i], readers[i]);
    for (int f : reads[size_t(i)])
      readers[f] = std::min(readers[f], s.start[i]);
  }
  std::vector<int64_t> arrival(size_t(p.size()), 0);
  delay = {};
  latency = s.start.back();
  for (int i = 0; i < p.size(); ++i) {
    for (int f : reads[size_t(i)])
      if (s.start[f] == s.start[i])
        arrival[i] = std::max(arrival[i], arrival[f]);
    arrival[i] += p.delayOf(i).before;
    if (s.start[i] == 0)
      delay.before = std::max(delay.before, arrival[i]);
  }
  if (latency > 0)
    delay.after = arrival.back();
  Value last = insertRegisters(*block, clock, groups, p, s);
  b.setInsertionPointToEnd(block);
  rtl::OutputOp::create(b, loc, last);
}
} // namespace rhizome::gen::floats
