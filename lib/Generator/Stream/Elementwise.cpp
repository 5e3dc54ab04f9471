// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with one result per element: requantize, threshold, table, and sums,
// maxima and products of two streams.
// A requantizer is offered with its multiplier whole or split over two smaller
// ones, or as thresholds where it has few levels: the device's prices decide.
// Their lanes carry any channels; which ones are in a beat follows from the
// stream's format alone.
#include "Units.h"
#include "rhizome/Cost/ProductCut.h"
#include <numeric>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// The channel of each lane of each beat (−1 for padding), until the
/// pattern repeats; empty if it does not repeat within a frame.
std::vector<std::vector<int64_t>> channelPattern(const BeatFormat &f,
                                                 int64_t channels) {
  std::vector<std::vector<int64_t>> beats;
  int64_t element = 0;
  while (element < f.count) {
    std::vector<int64_t> beat(f.lanes, -1);
    int64_t inRow = element % f.row;
    int64_t n = std::min(f.lanes, f.row - inRow);
    for (int64_t lane = 0; lane < n; ++lane)
      beat[lane] = (element + lane) % channels;
    beats.push_back(std::move(beat));
    element += n;
    // Back at the start of a channel group and, if rows cut beats, of a row.
    bool rowAligned = element % f.row == 0 || f.row == f.count;
    if (element % channels == 0 && rowAligned &&
        f.beats() % int64_t(beats.size()) == 0)
      return beats;
    if (beats.size() > 4096)
      return {};
  }
  return beats;
}

/// True if all channels share one set of parameters.
bool isUniform(Operation *op) {
  if (auto r = dyn_cast<osa::RequantizeOp>(op))
    return r.getMultiplier().size() == 1 && r.getOffset().size() == 1;
  if (auto t = dyn_cast<osa::ThresholdOp>(op))
    return t.getThresholds().getShapedType().getShape()[0] == 1;
  if (auto t = dyn_cast<osa::TableOp>(op))
    return t.getValues().getShapedType().getShape()[0] == 1;
  return true;
}

unsigned signedBits(ArrayRef<int64_t> values) {
  int64_t lo = 0, hi = 0;
  for (int64_t v : values) {
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  unsigned bits = num::bitsForRange(std::min<int64_t>(lo, -1), hi);
  return std::max(bits, 1u);
}

/// More levels than this are not compared one by one.
constexpr int64_t kMostLevels = 15;
/// Multipliers of up to this many bits may be in LUTs next to a DSP.
constexpr int64_t kNarrow = 5;

int64_t levelsOf(osa::RequantizeOp op) {
  auto type = num::elementInt(op.getResult().getType());
  return type.getHi() - type.getLo();
}

bool isThresholdable(osa::RequantizeOp op) {
  return levelsOf(op) >= 1 && levelsOf(op) <= kMostLevels &&
         llvm::all_of(op.getMultiplier(), [](int64_t m) { return m > 0; });
}

/// The thresholds of an operation that is built as a comparison, [channel][k].
std::vector<int64_t> thresholdsOf(Operation *op) {
  if (auto t = dyn_cast<osa::ThresholdOp>(op))
    return osa::intValues(t.getThresholds());
  auto r = cast<osa::RequantizeOp>(op);
  auto in = num::elementInt(r.getInput().getType());
  auto out = num::elementInt(r.getResult().getType());
  auto pick = [](ArrayRef<int64_t> v, size_t c) {
    return v[v.size() == 1 ? 0 : c];
  };
  std::vector<int64_t> values;
  size_t channels = std::max(r.getMultiplier().size(), r.getOffset().size());
  for (size_t c = 0; c < channels; ++c) {
    auto level = [&](int64_t x) {
      __int128 sum =
          __int128(x) * pick(r.getMultiplier(), c) + pick(r.getOffset(), c);
      int64_t shifted = int64_t(sum >> r.getShift());
      bool tie = r.getTiesEven() && r.getShift() > 0 &&
                 (__int128(shifted) << r.getShift()) == sum;
      return tie ? shifted & ~int64_t(1) : shifted;
    };
    for (int64_t k = 1; k <= levelsOf(r); ++k) {
      int64_t low = in.getLo(), high = in.getHi() + 1; // the result is in here
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (level(middle) >= out.getLo() + k)
          high = middle;
        else
          low = middle + 1;
      }
      values.push_back(low);
    }
  }
  return values;
}

/// The ways to build a requantizer's product: whole, or split so that each part
/// fits one multiplier.
void multiplierVariants(const Actor &whole, const DeviceContext &device,
                        std::vector<Actor> &variants) {
  int64_t m = whole.get("MulWidth");
  int64_t x = whole.get("InWidth") + (whole.get("InSigned") ? 0 : 1);
  auto add = [&](int64_t style, ProductCut cut, int64_t splitStyle) {
    Actor a = whole;
    a.set("Style", style);
    a.set("Split", cut.split);
    a.set("SplitStyle", splitStyle);
    a.set("Slice", cut.slice);
    variants.push_back(std::move(a));
  };
  if (m == 0 || !device.hasDsp)
    return add(0, {}, 0);
  if (std::min(m, x) <= kNarrow)
    add(0, {}, 0);
  ProductCut cut = productCut(m, x, device.cost);
  add(1, cut, cut.split > 0);
  if (cut.split > 0 && cut.split + 1 <= kNarrow)
    add(1, cut, 0);
}

/// The signed bits that hold every value of `type` times `factor` plus `term`.
unsigned scaledBits(num::IntType type, int64_t factor, int64_t term) {
  return signedBits(
      {type.getLo() * factor + term, type.getHi() * factor + term});
}

/// The unit of an operation of two streams.
Actor pairUnit(Operation *op, const BeatFormat &in, const BeatFormat &out) {
  BeatFormat b = formatOf(op->getOperand(1).getType(), 1, 1);
  num::IntType lhs = num::elementInt(op->getOperand(0).getType()),
               rhs = num::elementInt(op->getOperand(1).getType());
  bool multiplies = isa<osa::ProductOp>(op);
  Actor a(multiplies ? unit::Product::kKind : unit::ScaledAdd::kKind);
  a.params = {{"Lanes", in.lanes},      {"AWidth", in.width},
              {"ASigned", in.isSigned}, {"BWidth", b.width},
              {"BSigned", b.isSigned},  {"OutWidth", out.width}};
  if (auto product = dyn_cast<osa::ProductOp>(op)) {
    int64_t za = product.getLhsZero(), zb = product.getRhsZero();
    a.params = {{"ZeroA", za},
                {"ZeroB", zb},
                {"ADiff", scaledBits(lhs, 1, -za)},
                {"BDiff", scaledBits(rhs, 1, -zb)},
                {"Style", 0}};
    return a;
  }
  auto add = dyn_cast<osa::ScaledAddOp>(op);
  auto most = dyn_cast<osa::ScaledMaxOp>(op);
  int64_t ma = add ? add.getLhsMultiplier() : most.getLhsMultiplier();
  int64_t mb = add ? add.getRhsMultiplier() : most.getRhsMultiplier();
  int64_t offset = add ? 0 : int64_t(most.getRhsOffset());
  a.params = {{"MulA", ma},
              {"MulB", mb},
              {"MulWidth", signedBits({ma, mb})},
              {"Max", bool(most)},
              {"Offset", offset},
              {"MaxWidth", most ? std::max(scaledBits(lhs, ma, 0),
                                           scaledBits(rhs, mb, offset))
                                : 1}};
  return a;
}

Actor makeUnit(Operation *op, const BeatFormat &in, const BeatFormat &out,
               int64_t beats) {
  Actor a;
  auto outType = num::elementInt(op->getResult(0).getType());
  auto inType = num::elementInt(op->getOperand(0).getType());
  if (auto r = dyn_cast<osa::RequantizeOp>(op)) {
    bool unit =
        llvm::all_of(r.getMultiplier(), [](int64_t m) { return m == 1; });
    a = Actor(unit::Requant::kKind);
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"MulWidth", unit ? 0 : signedBits(r.getMultiplier())},
                {"OffsetWidth", signedBits(r.getOffset())},
                {"Shift", int64_t(r.getShift())},
                {"TiesEven", r.getTiesEven()},
                {"OutWidth", out.width},
                {"Lo", outType.getLo()},
                {"Hi", outType.getHi()},
                {"OutFolds", beats},
                {"Style", 1},
                {"Split", 0},
                {"SplitStyle", 0},
                {"Slice", 0}};
  } else if (auto t = dyn_cast<osa::ThresholdOp>(op)) {
    a = Actor(unit::Threshold::kKind);
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"OutWidth", out.width},
                {"Base", int64_t(t.getBase())},
                {"Step", int64_t(t.getStep())},
                {"Count", t.getThresholds().getShapedType().getShape()[1]},
                {"OutFolds", beats}};
  } else if (isa<osa::TableOp>(op)) {
    a = Actor(unit::Table::kKind);
    a.params = {{"Lanes", in.lanes},
                {"InWidth", in.width},
                {"InSigned", in.isSigned},
                {"OutWidth", out.width},
                {"Lo", inType.getLo()},
                {"Entries", inType.getHi() - inType.getLo() + 1},
                {"OutFolds", beats}};
  } else {
    a = pairUnit(op, in, out);
  }
  a.name = a.kind().name;
  a.set("frameBeats", out.beats());
  return a;
}

/// Every unit that computes the operation in these formats.
std::vector<Actor> unitVariants(Operation *op, const BeatFormat &in,
                                const BeatFormat &out, int64_t beats,
                                const DeviceContext &device) {
  Actor unit = makeUnit(op, in, out, beats);
  std::vector<Actor> variants;
  if (unit.is<unit::Product>()) {
    variants.push_back(unit);
    if (device.hasDsp) {
      unit.set("Style", 1);
      variants.push_back(std::move(unit));
    }
    return variants;
  }
  auto r = dyn_cast<osa::RequantizeOp>(op);
  if (!r)
    return {unit};
  multiplierVariants(unit, device, variants);
  if (isThresholdable(r)) {
    Actor compare(unit::Threshold::kKind, "threshold");
    compare.params = {{"Lanes", in.lanes},        {"InWidth", in.width},
                      {"InSigned", in.isSigned},  {"OutWidth", out.width},
                      {"Base", unit.get("Lo")},   {"Step", 1},
                      {"Count", levelsOf(r)},     {"OutFolds", beats},
                      {"frameBeats", out.beats()}};
    variants.push_back(std::move(compare));
  }
  return variants;
}

/// Adds an offer; if its parameters take more than a block or two, also with
/// them in LUTs: which of the two is scarce depends on the plan.
void addPlaced(std::vector<Offer> &offers, Offer offer,
               const DeviceContext &device) {
  constexpr double kLarge = 2; // blocks
  Offer inLuts = offer;
  finish(offer, device);
  const bool isLarge =
      offer.body.back().is<unit::Requant>() && offer.resources.bram() >= kLarge;
  offers.push_back(std::move(offer));
  if (!isLarge)
    return;
  DeviceContext other = device;
  other.cost.lutsOfABlock = INFINITY;
  inLuts.key.add("table", "lut");
  finish(inLuts, other);
  offers.push_back(std::move(inLuts));
}
} // namespace

std::vector<Offer> elementwiseOffers(Operation *op, Upstream upstream,
                                     const DeviceContext &device) {
  int64_t channels = channelsOf(op);
  BeatFormat base = formatOf(op->getOperand(0).getType(), 1, 1);
  // In the inputs' formats, or in few lanes, or in whole pixels.
  std::vector<BeatFormat> candidates;
  auto consider = [&](int64_t lanes, int64_t row) {
    BeatFormat f = base;
    f.lanes = lanes;
    f.row = row;
    f = f.canonical();
    if (!llvm::is_contained(candidates, f))
      candidates.push_back(f);
  };
  for (const auto &f : upstream)
    if (f)
      consider(f->lanes, f->row);
  for (int64_t lanes : foldings(channels))
    consider(lanes, channels);
  int64_t pixels = base.count / channels;
  for (int64_t k = 2; k <= 16 && k <= pixels; k *= 2)
    if (pixels % k == 0)
      consider(k * channels, base.count);

  std::vector<Offer> offers;
  for (const BeatFormat &in : candidates) {
    int64_t beats = 1;
    if (!isUniform(op)) {
      beats = int64_t(channelPattern(in, channels).size());
      if (beats == 0)
        continue;
    }
    Offer offer;
    BeatFormat out = formatOf(op->getResult(0).getType(), 1, 1);
    out.lanes = in.lanes;
    out.row = in.row;
    offer.inputs = {in};
    if (op->getNumOperands() == 2) {
      BeatFormat b = formatOf(op->getOperand(1).getType(), 1, 1);
      b.lanes = in.lanes;
      b.row = in.row;
      offer.inputs.push_back(b);
    }
    offer.outputs = {out};
    offer.busyCycles = in.beats();
    offer.summary = in.lanesText();
    for (Actor &unit : unitVariants(op, in, out, beats, device)) {
      Offer variant = offer;
      variant.key = OptionKey("stream", unit.kind().name)
                        .add("lanes", in.lanes)
                        .add("row", in.row);
      variant.body.chain(std::move(unit), out);
      addPlaced(offers, std::move(variant), device);
    }
  }
  return offers;
}

/// The factors of a sum that lie in a memory.
static void buildFactors(Operation *op, Actor &unit, MemoryImages &images) {
  auto add = cast<osa::ScaledAddOp>(op);
  const int64_t bits = unit.get("MulWidth");
  MemoryImage image(2 * bits, 1);
  image.set(0, 0, bits, add.getLhsMultiplier());
  image.set(0, bits, bits, add.getRhsMultiplier());
  const std::string name = unit.name + "_factors.hex";
  images[name] = std::move(image);
  unit.files.push_back({"FactorFile", name});
}

void buildElementwise(Operation *op, Offer &offer, MemoryImages &images) {
  Actor &unit = offer.body.back();
  if (op->getNumOperands() == 2) {
    if (unit.is<unit::ScaledAdd>() && unit.get("Stored"))
      buildFactors(op, unit, images);
    return;
  }
  int64_t lanes = unit.get("Lanes"), beats = unit.get("OutFolds");
  std::vector<std::vector<int64_t>> pattern;
  if (isUniform(op))
    pattern = {std::vector<int64_t>(lanes, 0)};
  else
    pattern = channelPattern(offer.inputs[0], channelsOf(op));
  auto file = [&](const char *param, const char *suffix, MemoryImage image) {
    std::string name = unit.name + suffix;
    images[name] = std::move(image);
    unit.files.push_back({param, name});
  };

  if (unit.is<unit::Requant>()) {
    auto r = cast<osa::RequantizeOp>(op);
    int64_t mul = unit.get("MulWidth"), off = unit.get("OffsetWidth");
    MemoryImage image(lanes * (mul + off), beats);
    auto pick = [](ArrayRef<int64_t> v, int64_t c) {
      return v[v.size() == 1 ? 0 : c];
    };
    for (int64_t beat = 0; beat < beats; ++beat)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t c = pattern[beat][lane], low = lane * (mul + off);
        if (c < 0)
          continue;
        if (mul > 0)
          image.set(beat, low, mul, pick(r.getMultiplier(), c));
        image.set(beat, low + mul, off, pick(r.getOffset(), c));
      }
    return file("ParamFile", "_params.hex", std::move(image));
  }
  if (unit.is<unit::Threshold>()) {
    int64_t count = unit.get("Count"), bits = unit.get("InWidth") + 1;
    std::vector<int64_t> values = thresholdsOf(op);
    // Thresholds beyond the input's width never count, or always.
    int64_t lo = -(int64_t(1) << (bits - 1)), hi = -lo - 1;
    MemoryImage image(lanes * count * bits, beats);
    for (int64_t beat = 0; beat < beats; ++beat)
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (int64_t k = 0; k < count && pattern[beat][lane] >= 0; ++k)
          image.set(
              beat, (lane * count + k) * bits, bits,
              std::clamp(values[pattern[beat][lane] * count + k], lo, hi));
    return file("ParamFile", "_thresholds.hex", std::move(image));
  }
  auto t = cast<osa::TableOp>(op);
  int64_t entries = unit.get("Entries"), bits = unit.get("OutWidth");
  std::vector<int64_t> values = osa::intValues(t.getValues());
  MemoryImage image(bits, beats * lanes * entries);
  for (int64_t beat = 0; beat < beats; ++beat)
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t i = 0; i < entries && pattern[beat][lane] >= 0; ++i)
        image.set((beat * lanes + lane) * entries + i, 0, bits,
                  values[pattern[beat][lane] * entries + i]);
  file("TableFile", "_table.hex", std::move(image));
}
} // namespace rhizome::gen::stream
