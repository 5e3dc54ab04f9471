// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of the cells with one result per element: requant, threshold,
// table, scaled_add.
#include "Structure.h"
#include <cmath>

namespace rhizome::gen::cost {
void requant(Builder &b) {
  int64_t in = b.get("InWidth"), mul = b.get("MulWidth");
  int64_t offset = b.get("OffsetWidth"), out = b.get("OutWidth");
  int64_t split = b.get("Split"), folds = b.get("OutFolds");
  int64_t channels = b.get("Lanes");
  double lanes = double(channels);
  int64_t shift = b.get("Shift");
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
    double factors = c.columns * double(mul) / double(mul + offset);
    double offsets = c.columns - factors;
    if (const MemoryImage *image = b.image("ParamFile")) {
      int64_t k = b.context().lutInputs;
      factors = image->contents(k, mul + offset, 0, mul).columns;
      offsets = image->contents(k, mul + offset, mul, offset).columns;
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
  int64_t sum = std::max(product, offset) + 1;
  if (mul == 0) {
    b.delay(lanes * double(in), 4);
    sum = std::max(x, offset) + 1;
    b.adder(lanes, sum);
    // Where an offset's low bits are zero those of the sum are the input's.
    if (const MemoryImage *image = b.image("ParamFile"); image && b.isAmd())
      for (int64_t l = 0; l < channels; ++l) {
        int64_t zeros = image->zeroColumns(l * offset, offset);
        b.ff(-double(zeros == offset ? sum : std::min(shift, zeros)));
      }
  } else if (split == 0) {
    b.delay(lanes * double(in), 3);
    // Scales are positive: in LUTs their sign takes nothing.
    int64_t zeros = b.get("Style") ? 0 : 1;
    b.ff(lanes * double(product - zeros));
    b.products(lanes, mul, zeros ? in : x, b.get("Style"), 128, zeros);
    b.adder(lanes, sum);
  } else {
    b.delay(lanes * double(in), 3);
    b.ff(lanes * double(in + mul - split + in + split));
    // The shorter one of two products waits.
    auto waits = [&](const char *style, int64_t w) {
      return multiplier > 1 && (b.get(style) || std::min(w, in) <= 4);
    };
    if (waits("Style", mul - split))
      b.ff(lanes * double(in + mul - split));
    if (waits("SplitStyle", split + 1))
      b.ff(lanes * double(in + split));
    b.products(lanes, mul - split, x, b.get("Style"));
    b.products(lanes, split + 1, x, b.get("SplitStyle"));
    b.ff(lanes * double(in + mul - split)); // the high product once more
    b.ff(lanes * double(std::max(in + split, offset)));
    b.adder(lanes, std::max(in + split, offset) + 1);
    b.adder(lanes, sum - split);
  }
  // The bits of the sum that a level or a tie reads.
  bool ties = b.get("TiesEven") && shift > 0;
  b.ff(lanes * double(ties ? sum : std::max<int64_t>(sum - shift, 1)));
  int64_t level = std::max<int64_t>(sum - shift, out + 1);
  b.compare(2 * lanes, level);
  if (ties)
    b.compare(lanes, std::min(shift, sum));
  b.ff(lanes * double(out + 2 + (ties ? 1 : 0))); // level, below, above, tie
  b.ff(lanes * double(out));
  b.term(Term::Select, lanes * double(out));
  b.outbuf(b.get("Depth"), channels * out);
}

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
    for (int64_t s = 0; s < bits; ++s) {
      RomContents c = RomContents::expected(folds << s, double(width),
                                            b.context().lutInputs);
      if (folds << s > 1) {
        b.term(Term::RomLeaf, lanes * c.leaves);
        b.term(Term::RomMux, lanes * c.muxes);
        b.ff(lanes * double(width + 1));
      }
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
  if (b.get("OutFolds") > 1) {
    b.ff(double(address));
    b.adder(1, address);
  }
  b.ff(lanes * double(b.get("InWidth") + 2 * address));
  b.adder(2 * lanes, address);
  b.rom("TableFile", "Block", words, out, 2, channels);
  b.outbuf(b.get("Depth"), channels * out);
}

void scaledAdd(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.ff(4);
  // A constant factor is a sum of shifted copies, or a DSP block.
  for (auto [factor, width, sign] : {std::tuple("MulA", "AWidth", "ASigned"),
                                     std::tuple("MulB", "BWidth", "BSigned")}) {
    int64_t m = std::abs(b.get(factor)), x = b.get(width);
    int64_t bits = clog2(m + 1), zeros = 0;
    while (m > 0 && !(m >> zeros & 1))
      ++zeros;
    bool power = m > 0 && m >> zeros == 1;
    if (power) {
      b.delay(lanes * double(x), 3);
      if (b.get(factor) < 0)
        b.adder(lanes, x + 1);
    } else if (b.context().dspWide > 0) {
      b.ff(lanes * double(x));
      b.products(lanes, b.get("MulWidth"), x + 1, 1);
      b.ff(2 * lanes * double(x + bits));
    } else {
      b.ff(lanes * double(x));
      b.products(lanes, b.get("MulWidth"), x + 1, 0);
      b.ff(2 * lanes * double(x + bits));
    }
    (void)sign;
  }
  b.ff(lanes * double(out));
  b.adder(lanes, b.get("Max") ? b.get("MaxWidth") : out);
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
      b.adder(lanes, b.get(diff));
  }
  b.products(lanes, b.get("BDiff"), b.get("ADiff"), b.get("Style"));
  b.ff(lanes * double(out));
  b.outbuf(b.get("Depth"), channels * out);
}
} // namespace rhizome::gen::cost
