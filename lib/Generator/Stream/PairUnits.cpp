// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units of two streams, an element of each at a time: scaled sums, maxima and
// products.
#include "Models.h"
#include "rhizome/Generator/Sampler.h"
#include <algorithm>
#include <cmath>

namespace rhizome::gen {
namespace {
using namespace cost;

/// Factors that lie in a memory, and their products in LUTs.
void storedFactors(Builder &b) {
  const int64_t channels = b.get("Lanes"), out = b.get("OutWidth"),
                m = b.get("MulWidth"), trips = b.get("Trips");
  const bool isMax = b.get("Max");
  const double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.ff(4);
  b.counter(trips);
  countTrips(b, 1);
  b.rom("FactorFile", "Block", trips, 2 * m + (isMax ? b.get("MaxWidth") : 0),
        1);
  if (isMax)
    b.delay(double(b.get("MaxWidth")), 2);
  for (const char *width : {"AWidth", "BWidth"}) {
    const int64_t x = b.get(width) + 1;
    b.ff(lanes * double(x));
    b.products(lanes, {.w = m,
                       .x = x,
                       .xSigned = true,
                       .style = 0,
                       .kept = x + m,
                       .perW = lanes});
    b.ff(lanes * double(x + m));
  }
  b.ff(lanes * double(out));
  b.adder(lanes, isMax ? b.get("MaxWidth") : out);
  if (isMax)
    b.mux(lanes * double(out), 2);
  b.outbuf(b.get("Depth"), channels * out);
}

void scaledAdd(Builder &b) {
  int64_t channels = b.get("Lanes"), out = b.get("OutWidth");
  double lanes = double(channels);
  b.term(Term::Fixed, 1);
  b.ff(4);
  // A constant factor is a sum of shifted copies, or a DSP block. Its low zero
  // bits are those of the product; below the other product's lowest bit, the
  // sum is just this product, and its registers form a row with those of the
  // sum.
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
    // The sum reads only this part.
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
      // The product's bits are those of this operand.
      b.delay(lanes, 3);
    } else {
      b.ff(lanes * double(x + 2 * (product - zeros - row)));
      b.delay(lanes * double(row), 3);
      // Synthesis shortens the factor at both ends: too few bits are no product
      // for a DSP.
      b.products(lanes,
                 {.w = b.get("MulWidth"),
                  .x = x,
                  .xSigned = b.get(sign) != 0,
                  .style = b.context().dspWide > 0,
                  .kept = b.context().dspWide > 0 ? product - zeros : 128});
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
  // In a DSP, operands without a sign have no bit for it.
  const bool isUnsigned = b.get("Style") && !b.get("ASigned") &&
                          !b.get("BSigned") && !b.get("ZeroA") &&
                          !b.get("ZeroB");
  const Product of{.w = b.get("BDiff"),
                   .x = b.get("ADiff") - isUnsigned,
                   .xSigned = !isUnsigned,
                   .style = b.get("Style"),
                   .kept = out,
                   .zeros = isUnsigned,
                   .masksInLuts = true};
  const LateBits late = lateBits(of);
  for (auto [zero, width, diff, waiting] :
       {std::tuple("ZeroA", "AWidth", "ADiff", late.x),
        std::tuple("ZeroB", "BWidth", "BDiff", late.w)}) {
    if (b.get(zero)) {
      b.ff(lanes * double(b.get(width) + b.get(diff)));
      b.constantAdder(lanes, b.get(diff));
      continue;
    }
    // Nothing is subtracted: two registers of the same bits, for those that
    // wait for the product's second stage a shift register with its third one.
    b.ff(lanes * double(2 * b.get(width) - 3 * waiting));
    b.delay(lanes * double(waiting), 3);
  }
  b.products(lanes, of);
  // A product in LUTs of few bits, or one in DSPs, has a register of its own
  // before that of the result.
  const bool takesTwo = of.style == 0 && std::min(of.w, of.x) > 4;
  b.ff(lanes * double(takesTwo ? out : 2 * out));
  b.outbuf(b.get("Depth"), channels * out);
}

/// The common part of both: one firing takes a beat of each input.
class PairUnit : public UnitModel {
public:
  using UnitModel::UnitModel;

  int64_t latency(const unit::Instance &a) const override {
    return 4 + bufferLatency(a);
  }
};

class ScaledAddUnit final : public PairUnit {
public:
  ScaledAddUnit() : PairUnit(unit::ScaledAdd::kKind) {}
  void structure(Builder &b) const override {
    b.get("Stored") ? storedFactors(b) : scaledAdd(b);
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

class ProductUnit final : public PairUnit {
public:
  ProductUnit() : PairUnit(unit::Product::kKind) {}
  void structure(Builder &b) const override { product(b); }
};

bool ScaledAddUnit::sample(Sampler &s, llvm::StringRef) const {
  s.begin(kind().name);
  int64_t a = s.any({4, 7, 8}), b = s.any({4, 7, 8});
  bool plain = s.draw(0, 1);
  int64_t ma = plain ? 1 : s.draw(3, 4000), mb = plain ? 1 : s.draw(3, 4000);
  s.actor.params = {{"Lanes", s.any({1, 2, 4, 8})},
                    {"AWidth", a},
                    {"ASigned", s.draw(0, 1)},
                    {"BWidth", b},
                    {"BSigned", s.draw(0, 1)},
                    {"MulA", ma},
                    {"MulB", mb},
                    {"MulWidth", plain ? 2 : 13},
                    {"Max", 0},
                    {"OutWidth", std::max(a, b) + (plain ? 2 : 13)}};
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeScaledAddUnit() {
  return std::make_unique<ScaledAddUnit>();
}
std::unique_ptr<UnitModel> makeProductUnit() {
  return std::make_unique<ProductUnit>();
}
} // namespace rhizome::gen
