// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requantizer: clamp((x * m + o) >>> Shift), m and o by channel.
#include "Models.h"
#include "rhizome/Cost/ProductCut.h"
#include "rhizome/Generator/Sampler.h"
#include <cmath>

namespace rhizome::gen {
namespace {
using namespace cost;

int64_t multiplierStages(const unit::Instance &a);

/// Products of w bits by x signed bits in DSP blocks that take `slice` bits of
/// x each (rhz_mul), with all registers except the last.
void slicedProducts(Builder &b, double count, int64_t w, int64_t x,
                    int64_t slice) {
  for (int64_t first = 0; first < x; first += slice) {
    bool last = x - first <= slice + 1;
    int64_t bits = last ? x - first : slice;
    b.ff(count * double(bits + w));
    if (bits > 2)
      b.dsp(count * double(dspTiles(w, bits + !last, b.context())));
    else // a narrow LUT before a carry has no free input for a row's
         // multiplexer
      b.adder(count, w + bits + (b.context().lutInputs < 6 ? w : 0));
    if (first > 0)
      b.adder(count, w + x - first);
    if (last)
      break;
  }
}
void requant(Builder &b) {
  int64_t in = b.get("InWidth"), mul = b.get("MulWidth");
  int64_t offset = b.get("OffsetWidth"), out = b.get("OutWidth");
  int64_t split = b.get("Split"), folds = b.get("Trips") * b.get("OutFolds");
  int64_t channels = b.get("Lanes");
  double lanes = double(channels);
  int64_t shift = b.get("Shift"), slice = b.get("Slice");
  int64_t x = in + (b.get("InSigned") ? 0 : 1);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(folds, false);
  countTrips(b, b.get("OutFolds"));
  int64_t multiplier = multiplierStages(b.instance());
  b.ff(double(6 + multiplier + (split > 0 ? 1 : 0))); // valid bits
  if (folds > 1)
    b.ff(double(clog2(folds)));
  // Multipliers and offsets: one memory, the offsets delayed by a stage.
  if (folds > 1) {
    RomContents c =
        b.contents("ParamFile", folds, channels * (mul + offset), 1);
    // Blocks output equal columns as often as they contain them.
    auto registers = [&](const RomContents &r) {
      return b.get("Block") ? r.varying : r.columns;
    };
    double factors = registers(c) * double(mul) / double(mul + offset);
    double offsets = registers(c) - factors;
    if (const MemoryImage *image = b.image("ParamFile")) {
      int64_t k = b.context().lutInputs;
      factors = registers(image->contents(k, mul + offset, 0, mul));
      offsets = registers(image->contents(k, mul + offset, mul, offset));
    }
    if (b.get("Block")) {
      b.addMemory(romOf(folds, int64_t(c.varying), b.context()), folds,
                  int64_t(c.varying));
      b.delay(offsets, 1 + multiplier);
      b.delay(factors, 1);
    } else {
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      b.delay(offsets, 2 + multiplier);
      b.delay(factors, 2);
    }
  }
  int64_t product = in + std::max<int64_t>(mul, 1);
  int64_t sum = std::max(mul == 0 ? x : product, offset) + 1;
  bool ties = b.get("TiesEven") && shift > 0;
  // If a limit is zero or a power of two, a test of the bits between it and the
  // sign replaces the comparison; other limits are compared. Returns whether no
  // level can exceed the limit.
  int64_t level = std::max<int64_t>(sum - shift, out + 1);
  auto limit = [&](int64_t bound) { // of the values on the sign's side
    if (bound < 0 || (bound & (bound - 1))) {
      b.adder(lanes, level);
      return false;
    }
    int64_t above = bound > 0 ? sum - shift - 1 - clog2(bound) : 0;
    b.compare(lanes, std::max<int64_t>(above, 0));
    return bound > 0 && above <= 0;
  };
  // Below the lowest bit of all offsets of a lane, its product passes through.
  const MemoryImage *image = b.image("ParamFile");
  auto offsetZeros = [&](int64_t lane) {
    int64_t at = lane * (mul + offset) + mul;
    return image ? image->zeroColumns(at, offset) : 0;
  };
  // Bits that are the same in all take no LUT before AMD's carry chains either.
  auto addOffset = [&](int64_t lane, int64_t bits) {
    int64_t at = lane * (mul + offset) + mul, own = std::min(offset, bits);
    if (b.hasShiftRegisters() && folds == 1)
      return;
    if (b.hasShiftRegisters() && image)
      b.adder(1, image->varyingColumns(at, own) +
                     image->varyingColumns(at + offset - 1, 1) * (bits - own));
    else
      b.adder(1, bits - offsetZeros(lane));
  };
  // If all scales are zero, only the flow of beats remains.
  bool isUsed = mul == 0 || !image;
  for (int64_t l = 0; l < channels && !isUsed; ++l)
    isUsed = image->usedColumns(l * (mul + offset), mul) > 0;
  if (!isUsed) {
    b.outbuf(b.get("Depth"), channels * out);
    return;
  }
  int64_t lo = b.get("Lo");
  bool neverBelow = limit(ties && lo < 0 ? -lo / 2 * 2 : -lo);
  bool neverAbove = limit(b.get("Hi") + 1);
  // Bits of the sum that a level or a tie reads, and bits of a level: copies of
  // the sign count once.
  int64_t sumBits = ties ? sum : std::max<int64_t>(sum - shift, 1);
  int64_t said = std::min(out, std::max<int64_t>(sum - shift, 1));
  // If no limit bounds a level, it passes through, and the registers of sum,
  // level and result form a row; `bounded` lanes have them separately.
  const bool passes = neverBelow && neverAbove && !ties;
  double bounded = mul > 0 && passes ? 0 : lanes;
  if (mul == 0) {
    for (int64_t l = 0; l < channels; ++l) {
      // If an offset's low bits are zero, those of the sum are the input's,
      // one stage later, and unused below the level unless ties read them.
      int64_t zeros = offsetZeros(l);
      int64_t passed = zeros == offset ? in : std::min(zeros, in);
      int64_t kept = passed - (ties ? 0 : std::min(shift, passed));
      // Without a sign and a negative offset, nothing is below zero either.
      bool isPositive = lo == 0 && x > in && image &&
                        image->usedColumns((l + 1) * offset - 1, 1) == 0;
      bool isFree = neverAbove && !ties && (neverBelow || isPositive);
      bounded -= isFree;
      b.delay(double(in - passed), 4);
      b.delay(double(kept), zeros == offset && isFree ? 7 : 5);
      if (zeros == offset) {
        b.ff(isFree ? 0 : -double(sumBits));
        continue;
      }
      b.ff(-double(kept));
      addOffset(l, sum);
      if (isFree)
        b.delay(
            double(neverBelow ? said : std::max(in, offset - 1) + 1 - shift),
            3);
    }
  } else if (split == 0) {
    b.delay(lanes * double(in), 3);
    if (folds == 1 && image && !b.get("Style")) {
      for (int64_t l = 0; l < channels; ++l)
        b.constantProduct(*image, l * (mul + offset), mul, in);
    } else {
      // Scales are positive: in LUTs their sign is free.
      int64_t zeros = b.get("Style") ? 0 : 1;
      b.ff(lanes * double(product - zeros));
      if (slice > 0)
        slicedProducts(b, lanes, mul, x, slice);
      else
        b.products(lanes, {.w = mul,
                           .x = in,
                           .xSigned = x == in,
                           .style = b.get("Style"),
                           .zeros = zeros});
    }
    for (int64_t l = 0; l < channels; ++l)
      addOffset(l, sum);
  } else {
    b.delay(lanes * double(in), 3);
    // Lanes whose multipliers end in zeros need no low product: the high
    // one is added directly to the offset.
    double lows = lanes, plain = 0, wired = 0;
    const int64_t added = std::max(in + split, offset) + 1;
    if (!image)
      b.adder(lows, added);
    else
      for (int64_t l = 0; l < channels; ++l) {
        int64_t pair = mul + offset;
        // In LUTs, a scale shared by all channels is wired in.
        RomContents low = image->contents(b.context().lutInputs, image->width,
                                          l * pair, split);
        if (!b.get("SplitStyle") && low.varying == 0) {
          int64_t ones = image->usedColumns(l * pair, split);
          b.adder(double(std::max<int64_t>(ones - 1, 0)), in + split);
          wired += ones > 0;
        }
        if (image->zeroColumns(l * pair, split) < split) {
          addOffset(l, added);
          continue;
        }
        --lows;
        plain += image
                     ->contents(b.context().lutInputs, image->width,
                                l * pair + mul, offset)
                     .columns;
      }
    b.ff(lows * double(in + split));
    // The shorter of two products waits.
    auto isSliced = [&](const char *style) {
      return slice > 0 && b.get(style);
    };
    auto waits = [&](const char *style, int64_t w) {
      return multiplier > 1 && !isSliced(style) &&
             (b.get(style) || std::min(w, x) <= 4);
    };
    // The high one waits one more stage for the low one's sum.
    b.delay(lanes * double(in + mul - split),
            waits("Style", mul - split) ? 3 : 2);
    if (waits("SplitStyle", split + 1))
      b.ff(lows * double(in + split));
    auto part = [&](double count, const char *style, int64_t w, int64_t zeros) {
      if (isSliced(style))
        slicedProducts(b, count, w, x, slice);
      else
        b.products(count, {.w = w,
                           .x = in,
                           .xSigned = x == in,
                           .style = b.get(style),
                           .zeros = zeros});
    };
    part(lanes, "Style", mul - split, 0);
    part(lows - wired, "SplitStyle", split + 1, 1); // its sign is zero
    b.ff(lows * double(std::max(in + split, offset)) + plain);
    b.adder(lanes, sum - split);
  }
  if (mul > 0 && passes)
    b.delay(lanes * double(said), 3);
  if (ties)
    b.compare(lanes, std::min(shift, sum));
  // Sum, level, below, above, tie and result; only signed values can be below
  // zero.
  bool isSign = lo == 0 && said < out;
  int64_t flags = !(isSign || neverBelow) + !neverAbove + ties;
  int64_t results = said + (said < out && lo < 0);
  // For levels that no limit bounds, a tie clears the lowest bit; the others
  // pass through.
  int64_t row = mul > 0 && ties && neverBelow && neverAbove ? said - 1 : 0;
  b.delay(lanes * double(row), 3);
  b.ff(bounded * double(sumBits + said + flags + results - 3 * row));
  // If zero is the only constant to select, it is a reset of the result
  // registers.
  bool isReset = neverAbove && (neverBelow || lo == 0);
  b.term(Term::Select, bounded * double(isReset ? ties : results));
  b.outbuf(b.get("Depth"), channels * out);
}

int64_t multiplierStages(const unit::Instance &a) {
  auto p = a.as<unit::Requant>();
  int64_t x = p.InWidth + !p.InSigned;
  bool deep = (p.Slice > 0 && p.MulWidth > 0) ||
              multiplierIsDeep(p.Style, x, p.MulWidth - p.Split) ||
              (p.Split > 0 && multiplierIsDeep(p.SplitStyle, x, p.Split + 1));
  return deep ? 2 : 1;
}

class RequantUnit final : public UnitModel {
public:
  RequantUnit() : UnitModel(unit::Requant::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 6 + multiplierStages(a) + (a.get("Split") > 0 ? 1 : 0) +
           bufferLatency(a);
  }
  void structure(Builder &b) const override { requant(b); }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[a.get("MulWidth") > 0 && a.get("Style")];
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

bool RequantUnit::sample(Sampler &s, llvm::StringRef name) const {
  bool dsp = name == kind().characterized[1];
  if (dsp && !s.device.hasDsp)
    return false;
  s.begin(kind().name);
  int64_t in = s.any({12, 16, 18, 20, 22}), out = s.any({4, 7, 8});
  int64_t mul = dsp ? s.any({10, 14, 18, 22, 25}) : s.any({0, 0, 3, 5});
  int64_t shift = mul > 0 ? mul + in - out - 3 : s.any({4, 7, 8});
  int64_t offset = mul > 0 ? in + mul - 4 : in - 3;
  int64_t lanes = s.any({1, 2, 4, 8, 12}), folds = s.any({1, 2, 8, 16, 40});
  if (dsp)
    lanes = std::min<int64_t>(lanes, 4);
  ProductCut cut = dsp ? productCut(mul, in, s.device.cost) : ProductCut();
  bool isSigned = s.draw(0, 1);
  s.actor.params = {{"Lanes", lanes},
                    {"InWidth", in},
                    {"InSigned", 1},
                    {"MulWidth", mul},
                    {"OffsetWidth", offset},
                    {"Shift", shift},
                    {"TiesEven", s.draw(0, 1)},
                    {"OutWidth", out},
                    {"Lo", isSigned ? -(int64_t(1) << (out - 1)) : 0},
                    {"Hi", (int64_t(1) << (isSigned ? out - 1 : out)) - 1},
                    {"OutFolds", folds},
                    {"Style", dsp},
                    {"Split", cut.split},
                    {"SplitStyle", cut.split > 4},
                    {"Slice", cut.slice}};
  // Offsets of fixed-point networks are whole steps; others have all bits.
  MemoryImage image(lanes * (mul + offset), folds);
  for (int64_t w = 0; w < folds; ++w)
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t low = l * (mul + offset);
      if (mul > 0)
        image.set(w, low, mul,
                  (int64_t(1) << (mul - 2)) +
                      s.draw(0, (int64_t(1) << (mul - 2)) - 1));
      int64_t value = int64_t(s.bits()) >> (64 - offset * 8 / 10);
      if (mul == 0)
        value &= -(int64_t(1) << std::min(shift, offset - 2));
      image.set(w, low + mul, offset, value);
    }
  s.add("ParamFile", "params", std::move(image));
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeRequantUnit() {
  return std::make_unique<RequantUnit>();
}
} // namespace rhizome::gen
