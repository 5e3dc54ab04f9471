// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requantizers, thresholds and tables with wired-in constants, for all
// channels of a pixel at once. A requantizer is first made as small as its
// input's range allows: any multiplier and shift with the same steps is valid.
#include "Units.h"
#include <limits>

using namespace mlir;

namespace rhizome::gen::dhm {
namespace {
/// Maximum number of comparisons per channel.
constexpr int64_t kMostThresholds = 31;
/// Bits of the widest operand of a table.
constexpr int64_t kMostTableBits = 8;

/// Sets of constants: one for all channels, or one each.
int64_t setsOf(Operation *op) {
  if (auto r = dyn_cast<osa::RequantizeOp>(op))
    return std::max(r.getMultiplier().size(), r.getOffset().size());
  if (auto t = dyn_cast<osa::ThresholdOp>(op))
    return t.getThresholds().getShapedType().getShape()[0];
  return cast<osa::TableOp>(op).getValues().getShapedType().getShape()[0];
}

/// (x · factor + offset) >> shift, half to even with `ties`.
struct Scale {
  int64_t factor = 1, offset = 0, shift = 0;
  bool ties = false;

  int64_t operator()(int64_t x) const {
    __int128 sum = __int128(x) * factor + offset;
    int64_t level = int64_t(sum >> shift);
    bool tie = ties && shift > 0 && (__int128(level) << shift) == sum;
    return tie ? level & ~int64_t(1) : level;
  }
};

/// Where a scale with a positive factor steps to lo + 1 … hi: the smallest
/// inputs that reach each level (one beyond the range if none does).
std::vector<int64_t> stepsOf(const Scale &s, num::IntType in,
                             num::IntType out) {
  assert(s.factor > 0);
  std::vector<int64_t> steps;
  __int128 least = in.getLo(), beyond = __int128(in.getHi()) + 1;
  for (int64_t level = out.getLo() + 1; level <= out.getHi(); ++level) {
    // At a tie the level below an odd one is the even one.
    bool isMissed = s.ties && s.shift > 0 && (level & 1);
    __int128 due = (__int128(level) << s.shift) - s.offset + isMissed;
    // A division of this width takes several times as long.
    __int128 first = due == int64_t(due) ? __int128(int64_t(due) / s.factor)
                                         : due / s.factor;
    first += first * s.factor < due;
    steps.push_back(int64_t(std::clamp(first, least, beyond)));
  }
  return steps;
}

/// The scale with the fewest digits that has the same steps.
Scale cheapest(const Scale &s, num::IntType in, num::IntType out) {
  if (s.factor <= 0)
    return s;
  const std::vector<int64_t> steps = stepsOf(s, in, out);
  const int64_t low = in.getLo(), high = in.getHi(), first = out.getLo() + 1;
  /// The offset with which factor and shift have these steps, if there is one.
  auto offsetFor = [&](int64_t factor,
                       int64_t shift) -> std::optional<int64_t> {
    __int128 least = std::numeric_limits<int64_t>::min() / 4;
    __int128 most = -least;
    auto narrow = [&](size_t k) {
      __int128 level = __int128(first + int64_t(k)) << shift;
      if (steps[k] <= high) // reached there
        least = std::max(least, level - __int128(steps[k]) * factor);
      if (steps[k] > low) // and not before
        most = std::min(most, level - 1 - __int128(steps[k] - 1) * factor);
      return least <= most;
    };
    // Check the ends first: a wrong factor deviates more with each step.
    if (!steps.empty() && (!narrow(0) || !narrow(steps.size() - 1)))
      return std::nullopt;
    for (size_t k = 1; k + 1 < steps.size(); ++k)
      if (!narrow(k))
        return std::nullopt;
    // The one with the most low zeros: an adder's low bits are free.
    for (int64_t zeros = 40; zeros > 0; --zeros) {
      __int128 unit = __int128(1) << zeros;
      __int128 offset = (least + unit - 1) & -unit;
      if (offset <= most)
        return int64_t(offset);
    }
    return int64_t(least);
  };
  std::optional<Scale> best;
  int64_t fewest = 0, found = 0;
  for (int64_t shift = 0; shift <= s.shift; ++shift) {
    if (found && shift > found + 6)
      break;
    int64_t around =
        shift == s.shift ? s.factor : s.factor >> (s.shift - shift);
    for (int64_t factor = std::max<int64_t>(1, around - 3);
         factor <= around + 4; ++factor) {
      int64_t digits = digitsOf(factor);
      if (best && digits >= fewest)
        continue;
      auto offset = offsetFor(factor, shift);
      if (!offset)
        continue;
      best = Scale{factor, *offset, shift, false};
      fewest = digits;
      found = found ? found : shift + 1;
    }
  }
  return best ? *best : s;
}

/// The number of thresholds reached, as the resulting value.
int choose(Circuit &c, int x, llvm::ArrayRef<int64_t> thresholds, int64_t value,
           int64_t step) {
  if (thresholds.empty())
    return c.constant(value);
  size_t middle = thresholds.size() / 2;
  int upper = choose(c, x, thresholds.drop_front(middle + 1),
                     value + int64_t(middle + 1) * step, step);
  int lower = choose(c, x, thresholds.take_front(middle), value, step);
  return c.select(c.atLeast(x, thresholds[middle]), upper, lower);
}

/// Estimate of the LUTs, for choosing between two forms.
double weigh(const Circuit &c, const cost::LogicPace &pace) {
  Actor a = describe(c, pace);
  return double(a.get("narrowSumBits") + a.get("narrowLuts") +
                a.get("narrowCompareBits"));
}

/// The circuit of one set of constants, on input element 0.
Circuit circuitOfSet(Operation *op, int64_t set, const cost::LogicPace &pace) {
  num::IntType in = num::elementInt(op->getOperand(0).getType());
  num::IntType out = num::elementInt(op->getResult(0).getType());
  Circuit empty;
  empty.inLanes = 1;
  empty.inWidth = in.getWidth();
  empty.outWidth = out.getWidth();
  int x = empty.input(0, in.getLo(), in.getHi());
  Circuit c = empty;
  if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    std::vector<int64_t> all = osa::intValues(t.getThresholds());
    int64_t count = t.getThresholds().getShapedType().getShape()[1];
    c.outputs = {choose(c, x, llvm::ArrayRef(all).slice(set * count, count),
                        int64_t(t.getBase()), int64_t(t.getStep()))};
    return c;
  }
  if (auto t = dyn_cast<osa::TableOp>(op)) {
    std::vector<int64_t> all = osa::intValues(t.getValues());
    int64_t entries = in.getHi() - in.getLo() + 1;
    c.outputs = {c.table(
        x, {all.begin() + set * entries, all.begin() + (set + 1) * entries})};
    return c;
  }
  auto r = cast<osa::RequantizeOp>(op);
  auto pick = [&](ArrayRef<int64_t> v) { return v[v.size() == 1 ? 0 : set]; };
  Scale given{pick(r.getMultiplier()), pick(r.getOffset()),
              int64_t(r.getShift()), r.getTiesEven()};
  Scale s = cheapest(given, in, out);
  std::vector<Row> rows(1);
  if (s.factor)
    rows[0] = {{0, s.factor}};
  int sum = addLinear(c, {x}, rows, {s.offset})[0];
  int level =
      s.ties && s.shift > 0 ? c.even(sum, s.shift) : c.floor(sum, s.shift);
  c.outputs = {c.clamp(level, out.getLo(), out.getHi())};
  int64_t levels = out.getHi() - out.getLo();
  if (given.factor > 0 && levels >= 1 && levels <= kMostThresholds) {
    Circuit compare = empty;
    compare.outputs = {
        choose(compare, x, stepsOf(given, in, out), out.getLo(), 1)};
    if (weigh(compare, pace) < weigh(c, pace))
      return compare;
  }
  return c;
}

/// All channels of a pixel, or one element if they have one set.
Circuit makeCircuit(Operation *op, const cost::LogicPace &pace) {
  int64_t sets = setsOf(op);
  Circuit all = circuitOfSet(op, 0, pace);
  if (sets == 1)
    return all;
  Circuit wide;
  wide.inLanes = sets;
  wide.inWidth = all.inWidth;
  wide.outWidth = all.outWidth;
  for (int64_t set = 0; set < sets; ++set)
    wide.append(set == 0 ? all : circuitOfSet(op, set, pace), set);
  return wide;
}

Kept circuitOf(Operation *op, const cost::LogicPace &pace) {
  num::IntType in = num::elementInt(op->getOperand(0).getType());
  num::IntType out = num::elementInt(op->getResult(0).getType());
  std::vector<int64_t> key = {
      1,           in.getLo(),  in.getHi(),     in.getWidth(),
      out.getLo(), out.getHi(), out.getWidth(), setsOf(op)};
  auto add = [&](ArrayRef<int64_t> values) {
    key.push_back(int64_t(values.size()));
    key.insert(key.end(), values.begin(), values.end());
  };
  if (auto r = dyn_cast<osa::RequantizeOp>(op)) {
    add(r.getMultiplier());
    add(r.getOffset());
    add({int64_t(r.getShift()), r.getTiesEven()});
  } else if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    add(osa::intValues(t.getThresholds()));
    add({int64_t(t.getBase()), int64_t(t.getStep()), -1});
  } else {
    add(osa::intValues(cast<osa::TableOp>(op).getValues()));
  }
  return kept(std::move(key), pace, [&] { return makeCircuit(op, pace); });
}
} // namespace

std::optional<std::string> elementwiseCoverage(Operation *op) {
  if (op->getOperand(0).getDefiningOp<osa::ConstantOp>())
    return "needs a stream as operand, not a constant";
  if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    int64_t count = t.getThresholds().getShapedType().getShape()[1];
    if (count > kMostThresholds)
      return "compares with up to " + std::to_string(kMostThresholds) +
             " thresholds at once, not with " + std::to_string(count);
  }
  if (auto r = dyn_cast<osa::RequantizeOp>(op)) {
    constexpr unsigned kMostBits = 63;
    const unsigned bits = osa::sumBits(r);
    if (bits > kMostBits)
      return "makes products of up to " + std::to_string(kMostBits) +
             " bits, not of " + std::to_string(bits);
  }
  if (isa<osa::TableOp>(op)) {
    unsigned bits = num::elementInt(op->getOperand(0).getType()).getWidth();
    if (bits > kMostTableBits)
      return "makes tables of up to " + std::to_string(kMostTableBits) +
             " address bits, not of " + std::to_string(bits);
  }
  return std::nullopt;
}

std::vector<Offer> elementwiseOffers(Operation *op, Upstream upstream,
                                     const DeviceContext &device) {
  int64_t channels = channelsOf(op);
  bool uniform = setsOf(op) == 1;
  BeatFormat base = formatOf(op->getOperand(0).getType(), 1, 1);
  std::vector<BeatFormat> candidates;
  auto consider = [&](int64_t lanes, int64_t row) {
    BeatFormat f = base;
    f.lanes = lanes;
    f.row = row;
    f = f.canonical();
    if (!uniform && (lanes % channels || row % channels))
      return;
    if (!llvm::is_contained(candidates, f))
      candidates.push_back(f);
  };
  for (const auto &f : upstream)
    if (f)
      consider(f->lanes, f->row);
  consider(channels, channels);
  int64_t pixels = base.count / channels;
  for (int64_t k = 2; k <= 16 && k <= pixels; k *= 2)
    if (pixels % k == 0)
      consider(k * channels, base.count);

  Kept one = circuitOf(op, paceFor(device));
  std::vector<Offer> offers;
  for (const BeatFormat &in : candidates) {
    BeatFormat out = formatOf(op->getResult(0).getType(), 1, 1);
    out.lanes = in.lanes;
    out.row = in.row;
    Offer offer;
    offer.inputs = {in};
    offer.outputs = {out};
    offer.busyCycles = in.beats();
    offer.key =
        OptionKey("dhm", "circuit").add("lanes", in.lanes).add("row", in.row);
    offer.summary = in.lanesText() + " of constants";
    offer.body.chain(
        circuitActor(one, in.lanes / one.circuit->inLanes, out.beats()), out);
    offers.push_back(std::move(offer));
  }
  return offers;
}

void prepareElementwise(Operation *op, const DeviceContext &device) {
  circuitOf(op, paceFor(device));
}

void buildElementwise(Operation *op, Offer &offer) {
  Actor &unit = offer.body.back();
  Kept one = circuitOf(op, paceOf(unit));
  int64_t copies = offer.inputs[0].lanes / one.circuit->inLanes;
  unit.datapath =
      copies == 1
          ? one.circuit
          : std::make_shared<const Circuit>(one.circuit->repeated(copies));
}
} // namespace rhizome::gen::dhm
