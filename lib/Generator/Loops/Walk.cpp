// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a phase: counters, and addresses that follow them.
#include "Unit.h"

using namespace mlir;

namespace rhizome::gen::loops {
const BankFactors &Unit::banksOf(Value base) {
  return unit.banks.try_emplace(base, BankFactors::one(base)).first->second;
}

Walk Unit::walk(const Loops &loops, const llvm::BitVector &isMarked,
                Value issue) {
  Walk out;
  out.loops = loops;
  out.issue = issue;
  const size_t n = loops.trips.size();
  out.counts.resize(n);
  out.ends.resize(n);
  out.isLast = out.isFirst = out.isFinal = constant(1, 1);
  for (size_t l = 0; l < n; ++l) {
    const int64_t trips = loops.trips[l], last = loops.lasts[l];
    out.counts[l] = state(addressBits(trips), Value());
    out.ends[l] = isEqual(out.counts[l], trips - 1);
    if (last == trips)
      continue;
    Value isShort = constant(1, 1);
    for (size_t o = l; o-- > 0 && loops.loop[o] == loops.loop[l];)
      isShort = both(out.ends[o], isShort);
    out.ends[l] =
        either(both(isShort, isEqual(out.counts[l], last - 1)), out.ends[l]);
  }
  for (size_t l = n; l-- > 0;) {
    Value count = out.counts[l];
    const int64_t width = addressBits(loops.trips[l]);
    count.getDefiningOp<rtl::RegisterOp>().getEnableMutable().assign(
        both(issue, out.isLast));
    setNext(count,
            choose(out.ends[l], constant(width, 0),
                   rtl::AddOp::create(b, loc, count, constant(width, 1))));
    if (isMarked.test(unsigned(l))) {
      out.isFirst = both(out.isFirst, isEqual(count, 0));
      out.isFinal = both(out.isFinal, out.ends[l]);
    }
    out.isLast = both(out.isLast, out.ends[l]);
  }
  return out;
}

Value Unit::addressOf(Walk &w, const Reach &reach, Value tensor,
                      int64_t spread) {
  const int64_t n = addressBits(depthOf(tensor) * spread);
  Slots slots = slotsOf(tensor);
  slots.words *= spread;
  const std::array<int64_t, 4> shape = {n, slots.words, slots.count, spread};
  for (const auto &[key, address] : w.addresses)
    if (key.second == shape && key.first == reach)
      return address;
  Value address = state(n, w.issue, reach.first);
  // The innermost loop that does not end steps; after all, the start again.
  // Counters further in are at their ends, of a last round unless they and the
  // one that steps are the same loop's.
  const Loops &loops = w.loops;
  const size_t counters = loops.trips.size();
  auto back = [&](size_t l) {
    int64_t sum = 0;
    for (size_t c = l < counters ? l + 1 : 0; c < counters; ++c)
      sum += reach.steps[c] * ((l < counters && loops.loop[c] == loops.loop[l]
                                    ? loops.trips[c]
                                    : loops.lasts[c]) -
                               1);
    return sum;
  };
  // Then on to the next slot, around.
  const int64_t all = back(counters);
  Value step = constant(n, slots.isLast ? slots.words - all : -all);
  if (slots.isLast)
    step = choose(slots.isLast,
                  constant(n, -slots.words * (slots.count - 1) - all), step);
  for (size_t l = 0; l < counters; ++l)
    step = choose(w.ends[l], step, constant(n, reach.steps[l] - back(l)));
  setNext(address, rtl::AddOp::create(b, loc, address, step));
  w.addresses.push_back({{reach, shape}, address});
  return address;
}

std::pair<Value, Value> Unit::divide(Value address, Value tensor,
                                     int64_t spread) {
  if (spread == 1)
    return {address, Value()};
  auto [it, isNew] = divided.try_emplace(address);
  if (isNew) {
    const auto n = int64_t(address.getType().getIntOrFloatBitWidth());
    const auto low = int64_t(llvm::Log2_64(uint64_t(spread)));
    const int64_t high = addressBits(depthOf(tensor));
    it->second = {low + high <= n ? Value(rtl::ExtractOp::create(
                                        b, loc, bits(high), address, low))
                                  : constant(high, 0),
                  rtl::ExtractOp::create(b, loc, bits(low), address, 0)};
  }
  return it->second;
}

Value Unit::pick(Value number, std::vector<Value> values) {
  for (int64_t bit = 0; values.size() > 1; ++bit) {
    std::vector<Value> halves;
    Value choice = rtl::ExtractOp::create(b, loc, bits(1), number, bit);
    for (size_t i = 0; i < values.size(); i += 2)
      halves.push_back(i + 1 < values.size()
                           ? choose(choice, values[i + 1], values[i])
                           : values[i]);
    values = std::move(halves);
  }
  return values[0];
}

Value Unit::select(const Walk &w, const Access &access, ArrayRef<Value> values,
                   int64_t cycles) {
  std::vector<Value> left(values);
  for (size_t s = access.selectors.size(); s-- > 0;) {
    // Groups of as many as the counter counts, by the bits of its count.
    const size_t c = access.selectors[s];
    const auto trips = size_t(w.loops.trips[c]);
    Value count = after(w.counts[c], cycles);
    std::vector<Value> next;
    for (size_t first = 0; first < left.size(); first += trips) {
      std::vector<Value> group(left.begin() + ptrdiff_t(first),
                               left.begin() + ptrdiff_t(first + trips));
      next.push_back(pick(count, std::move(group)));
    }
    left = std::move(next);
  }
  return left[0];
}

} // namespace rhizome::gen::loops
