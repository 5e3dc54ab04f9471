// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of the cells with one result per element: requant, threshold,
// table, scaled_add.
#include "Structure.h"
#include <cmath>

namespace rhizome::gen::cost {
namespace {
/// Products of w bits by x signed bits in DSP blocks that take `slice` bits of
/// x each (rhz_mul), with all but their last registers.
void slicedProducts(Builder &b, double count, int64_t w, int64_t x,
                    int64_t slice) {
  for (int64_t first = 0; first < x; first += slice) {
    bool last = x - first <= slice + 1;
    int64_t bits = last ? x - first : slice;
    b.ff(count * double(bits + w));
    if (bits > 2)
      b.dsp(count * double(dspTiles(w, bits + !last, b.context())));
    else // a narrow LUT before a carry has no room for the choice of a row
      b.adder(count, w + bits + (b.context().lutInputs < 6 ? w : 0));
    if (first > 0)
      b.adder(count, w + x - first);
    if (last)
      break;
  }
}
} // namespace

void requant(Builder &b) {
  int64_t in = b.get("InWidth"), mul = b.get("MulWidth");
  int64_t offset = b.get("OffsetWidth"), out = b.get("OutWidth");
  int64_t split = b.get("Split"), folds = b.get("OutFolds");
  int64_t channels = b.get("Lanes");
  double lanes = double(channels);
  int64_t shift = b.get("Shift"), slice = b.get("Slice");
  int64_t x = in + (b.get("InSigned") ? 0 : 1);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(folds, false);
  int64_t multiplier = multiplierStages(b.actor());
  b.ff(double(6 + multiplier + (split > 0 ? 1 : 0))); // valid bits
  if (folds > 1)
    b.ff(double(clog2(folds)));
  // Multipliers and offsets: one memory, the offsets a stage longer.
  if (folds > 1) {
    RomContents c =
        b.contents("ParamFile", folds, channels * (mul + offset), 1);
    // Blocks put out equal columns as often as they hold them.
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
  // Whether a level is beyond a limit that is zero or a power of two lies in
  // the bits from there on below the sign; others are compared with. Returns
  // whether none can be.
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
  // Below the lowest bit of all offsets of a lane its product passes.
  const MemoryImage *image = b.image("ParamFile");
  auto offsetZeros = [&](int64_t lane) {
    int64_t at = lane * (mul + offset) + mul;
    return image ? image->zeroColumns(at, offset) : 0;
  };
  // Nor do bits that are the same in all take a LUT before AMD's carry chains.
  auto addOffset = [&](int64_t lane, int64_t bits) {
    int64_t at = lane * (mul + offset) + mul, own = std::min(offset, bits);
    if (b.isAmd() && folds == 1)
      return;
    if (b.isAmd() && image)
      b.adder(1, image->varyingColumns(at, own) +
                     image->varyingColumns(at + offset - 1, 1) * (bits - own));
    else
      b.adder(1, bits - offsetZeros(lane));
  };
  // Where all scales are zero only the beats' flow is left.
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
  // Bits of the sum that a level or a tie reads, and of a level: those that
  // copy its sign are one.
  int64_t sumBits = ties ? sum : std::max<int64_t>(sum - shift, 1);
  int64_t said = std::min(out, std::max<int64_t>(sum - shift, 1));
  // Where no limit bounds a level it passes, and the registers of sum, level
  // and result are a row; `bounded` lanes have them apart.
  const bool passes = neverBelow && neverAbove && !ties;
  double bounded = mul > 0 && passes ? 0 : lanes;
  if (mul == 0) {
    for (int64_t l = 0; l < channels; ++l) {
      // Where an offset's low bits are zero those of the sum are the input's,
      // one stage later, and of no use below the level unless ties read them.
      int64_t zeros = offsetZeros(l);
      int64_t passed = zeros == offset ? in : std::min(zeros, in);
      int64_t kept = passed - (ties ? 0 : std::min(shift, passed));
      // Without a sign and a negative offset nothing lies below zero, either.
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
      // Scales are positive: in LUTs their sign takes nothing.
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
    // Lanes whose multipliers end in zeros need no low product: what the high
    // one meets is the offset.
    double lows = lanes, plain = 0, wired = 0;
    const int64_t added = std::max(in + split, offset) + 1;
    if (!image)
      b.adder(lows, added);
    else
      for (int64_t l = 0; l < channels; ++l) {
        int64_t pair = mul + offset;
        // In LUTs a scale that all channels share is wired in.
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
    // The shorter one of two products waits.
    auto isSliced = [&](const char *style) {
      return slice > 0 && b.get(style);
    };
    auto waits = [&](const char *style, int64_t w) {
      return multiplier > 1 && !isSliced(style) &&
             (b.get(style) || std::min(w, x) <= 4);
    };
    // The high one waits a stage more for the low one's sum.
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
  // Sum, level, below, above, tie and result; below zero lies what has a sign.
  bool isSign = lo == 0 && said < out;
  int64_t flags = !(isSign || neverBelow) + !neverAbove + ties;
  int64_t results = said + (said < out && lo < 0);
  // Of levels that no limit bounds a tie clears the lowest bit; the others
  // pass.
  int64_t row = mul > 0 && ties && neverBelow && neverAbove ? said - 1 : 0;
  b.delay(lanes * double(row), 3);
  b.ff(bounded * double(sumBits + said + flags + results - 3 * row));
  // Zero alone is a reset of the results.
  bool isReset = neverAbove && (neverBelow || lo == 0);
  b.term(Term::Select, bounded * double(isReset ? ties : results));
  b.outbuf(b.get("Depth"), channels * out);
}

namespace {
/// What the stages of a bisection read for one lane each: the thresholds that
/// they can meet, by index and by what was found.
std::vector<RomContents> bisected(const Builder &b, int64_t bits) {
  int64_t count = b.get("Count"), width = b.get("InWidth") + 1;
  int64_t folds = b.get("OutFolds"), k = b.context().lutInputs;
  std::vector<RomContents> found;
  const MemoryImage *image = b.image("ParamFile");
  const std::string digits = image ? image->hex() : "";
  auto isSet = [&](int64_t word, int64_t column) {
    int64_t line = (image->width + 3) / 4;
    char c = digits[size_t((line + 1) * word + line - 1 - column / 4)];
    return ((c <= '9' ? c - '0' : c - 'a' + 10) >> (column % 4) & 1) != 0;
  };
  for (int64_t s = 0; s < bits; ++s)
    for (int64_t lane = 0; lane < b.get("Lanes"); ++lane) {
      if (!image) {
        found.push_back(RomContents::expected(folds << s, double(width), k));
        continue;
      }
      MemoryImage met(width, folds << s);
      int64_t half = int64_t(1) << (bits - 1 - s);
      for (int64_t word = 0; word < folds; ++word)
        for (int64_t j = 0; j < int64_t(1) << s; ++j)
          if (int64_t n = (2 * j + 1) * half; n <= count)
            for (int64_t bit = 0; bit < width; ++bit)
              met.set(word << s | j, bit, 1,
                      isSet(word, (lane * count + n - 1) * width + bit));
      found.push_back(met.contents(k));
    }
  return found;
}
} // namespace

void threshold(Builder &b) {
  int64_t count = b.get("Count"), in = b.get("InWidth"), width = in + 1;
  int64_t channels = b.get("Lanes"), folds = b.get("OutFolds");
  int64_t bits = clog2(count + 1), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(folds, false);
  if (folds > 1)
    b.ff(double(clog2(folds)));
  if (count <= 3) {
    b.ff(4);
    b.ff(lanes * double(2 * in));
    b.rom("ParamFile", "Block", folds, channels * count * width, 1, 1, 0.8);
    b.ff(lanes * double(count));
    b.compare(lanes * double(count), width);
  } else {
    b.ff(double(2 + 2 * bits));
    // The operand and the index pass all stages; the thresholds' memories are
    // functions of the index and of what was found.
    b.ff(lanes * double(in * 2 * bits));
    b.delay(double(folds > 1 ? clog2(folds) : 0), 2 * (bits - 1));
    bool all = count == (int64_t(1) << bits) - 1;
    for (const RomContents &c : bisected(b, bits)) {
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      b.ff(c.columns);
    }
    for (int64_t s = 0; s < bits; ++s) {
      b.ff(s > 0 && !all ? lanes : 0); // whether there is a threshold
      b.compare(lanes, width);
      b.ff(lanes * double(2 * s + 1));
    }
  }
  b.ff(lanes * double(out));
  b.term(Term::Select, lanes * double(out));
  b.outbuf(b.get("Depth"), channels * out);
}

void table(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  int64_t words = b.get("OutFolds") * channels * b.get("Entries");
  int64_t address = addressBits(words);
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.term(Term::Lane, lanes);
  b.counter(b.get("OutFolds"));
  b.ff(4);
  // Tables of 2^n entries from 0 on lie at places whose low n bits are zero:
  // without folds the address is a constant and x, and a lane reads nothing but
  // its own table.
  int64_t entries = b.get("Entries"), low = clog2(entries);
  bool aligned = entries == int64_t(1) << low && b.get("Lo") == 0;
  bool folded = b.get("OutFolds") > 1;
  if (folded) {
    // The fold's table, then with the lane's, then with x.
    int64_t high = aligned ? clog2(b.get("OutFolds")) + 1 : address;
    b.ff(double(high) + lanes * double(high + address + b.get("InWidth")));
    b.adder(1, high);
    b.adder(lanes * (aligned ? 1 : 2), address);
  } else if (aligned) {
    b.ff(lanes * double(2 * std::min(low, b.get("InWidth"))));
  } else {
    b.ff(lanes * double(b.get("InWidth") + address));
    b.adder(lanes, address);
  }
  if (aligned && !folded && !b.get("Block")) {
    const int64_t k = b.context().lutInputs;
    const MemoryImage *image = b.image("TableFile");
    const std::string digits = image ? image->hex() : "";
    const size_t lane =
        image ? size_t(entries * ((image->width + 3) / 4 + 1)) : 0;
    for (int64_t l = 0; l < channels; ++l) {
      RomContents c =
          image ? MemoryImage::parse(digits.substr(size_t(l) * lane, lane))
                      .contents(k)
                : RomContents::expected(entries, double(out), k);
      b.term(Term::RomLeaf, c.leaves);
      b.term(Term::RomMux, c.muxes);
      b.delay(c.columns, 2);
    }
  } else {
    b.rom("TableFile", "Block", words, out, 2, channels);
  }
  b.outbuf(b.get("Depth"), channels * out);
}

void scaledAdd(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.ff(4);
  // A constant factor is a sum of shifted copies, or a DSP block. Its low zero
  // bits are those of the product; below the other one's the sum is this one's
  // product, whose registers and the sum's are a row.
  auto zerosOf = [&](const char *factor) {
    int64_t m = std::abs(b.get(factor)), zeros = 0;
    while (m > 0 && !(m >> zeros & 1))
      ++zeros;
    return zeros;
  };
  const int64_t zerosA = zerosOf("MulA"), zerosB = zerosOf("MulB");
  const int64_t least = std::min(zerosA, zerosB);
  int64_t wide = 0, alone = 0;
  for (auto [factor, width, sign, zeros] :
       {std::tuple("MulA", "AWidth", "ASigned", zerosA),
        std::tuple("MulB", "BWidth", "BSigned", zerosB)}) {
    int64_t m = std::abs(b.get(factor)), x = b.get(width);
    int64_t bits = clog2(m + 1);
    bool power = m > 0 && m >> zeros == 1;
    int64_t product = x + bits - (power ? 1 : 0) + (b.get(sign) ? 1 : 0);
    wide = std::max(wide, product);
    // The sum reads no more of it.
    product = std::min(product, b.get("Max") ? b.get("MaxWidth") : out);
    bool isBit = x == 1 && !b.get(sign);
    int64_t row = 0;
    if (!b.get("Max") && !isBit && zeros == least)
      row = std::clamp<int64_t>(zerosA + zerosB - 2 * least, 0,
                                power ? x : product - zeros);
    alone += row;
    if (power) {
      b.delay(lanes * double(x - row), 3);
      b.delay(lanes * double(row), 4);
      if (b.get(factor) < 0)
        b.constantAdder(lanes, x + 1);
    } else if (isBit) {
      // The product's bits are that one.
      b.delay(lanes, 3);
    } else {
      b.ff(lanes * double(x + 2 * (product - zeros - row)));
      b.delay(lanes * double(row), 3);
      b.products(lanes, {.w = b.get("MulWidth"),
                         .x = x,
                         .xSigned = b.get(sign) != 0,
                         .style = b.context().dspWide > 0});
    }
  }
  if (b.get("Max") == 0)
    b.ff(lanes * double(std::min(out, wide + 1) - least - alone));
  else
    b.ff(lanes * double(out));
  b.adder(lanes, b.get("Max") ? b.get("MaxWidth") : out - least - alone);
  if (b.get("Max"))
    b.mux(lanes * double(out), 2);
  b.outbuf(b.get("Depth"), channels * out);
}

void product(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.ff(4);
  for (auto [zero, width, diff] : {std::tuple("ZeroA", "AWidth", "ADiff"),
                                   std::tuple("ZeroB", "BWidth", "BDiff")}) {
    b.ff(lanes * double(b.get(width) + b.get(diff)));
    if (b.get(zero))
      b.constantAdder(lanes, b.get(diff));
  }
  b.products(
      lanes,
      {.w = b.get("BDiff"), .x = b.get("ADiff"), .style = b.get("Style")});
  b.ff(lanes * double(out));
  b.outbuf(b.get("Depth"), channels * out);
}
} // namespace rhizome::gen::cost
