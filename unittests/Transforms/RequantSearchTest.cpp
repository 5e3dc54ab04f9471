// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Step positions and requantizers against brute force over every accumulator
// value, in exact arithmetic: random scales, ranges and roundings, square
// roots, falling and constant channels, ties.
#include "rhizome/Transforms/RequantSearch.h"
#include <gtest/gtest.h>
#include <random>

using namespace rhizome;

namespace {
std::mt19937_64 &rng() {
  static std::mt19937_64 engine(20261120);
  return engine;
}
int64_t pick(int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(rng());
}
float pickScale(double lo, double hi) {
  double u = std::uniform_real_distribution<double>(0, 1)(rng());
  return float(lo * std::pow(hi / lo, u));
}

int64_t evaluate(const Steps &s, int64_t x) {
  int64_t v = s.falls ? -x : x;
  return s.bottom +
         (std::upper_bound(s.at.begin(), s.at.end(), v) - s.at.begin());
}

/// Compares steps and (if found) requantizer with the definition.
void check(const std::vector<PiecewiseLinear> &fs, const Quantizer &q,
           bool mustFind) {
  std::vector<Steps> channels;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (const PiecewiseLinear &f : fs) {
    auto steps = computeSteps(f, q);
    ASSERT_TRUE(steps);
    lo = std::min(lo, steps->bottom);
    hi = std::max(hi, steps->top());
    channels.push_back(*steps);
  }
  auto found = searchRequantizer(channels, lo, hi);
  EXPECT_TRUE(found || !mustFind);
  for (size_t c = 0; c < fs.size(); ++c)
    for (int64_t x = fs[c].lo(); x <= fs[c].hi(); ++x) {
      int64_t want = q.level(fs[c].at(x));
      ASSERT_EQ(evaluate(channels[c], x), want) << "x = " << x;
      if (found) {
        ASSERT_EQ(std::clamp(found->apply(x, c), lo, hi), want)
            << "x = " << x << ", channel " << c << ", shift " << found->shift
            << (found->tiesEven ? " ties" : "");
      }
    }
}

Quantizer makeQuantizer(unsigned bits, bool isSigned, float scale, int64_t zero,
                        Rounding rounding) {
  Quantizer q;
  q.scale = exact(scale);
  q.zero = zero;
  q.lo = isSigned ? -(1 << (bits - 1)) : 0;
  q.hi = isSigned ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  q.rounding = rounding;
  return q;
}
} // namespace

TEST(ExactReal, SurdsCompareAndFloor) {
  Real root2 = Real::sqrt(2);
  EXPECT_EQ((root2 * root2 - Real(2)).sign(), 0);
  EXPECT_EQ((root2 - Real(mpq_class(577, 408))).sign(), -1);
  EXPECT_EQ((Real(7) * root2).floor(), 9);
  EXPECT_EQ((Real(-7) * root2).floor(), -10);
  EXPECT_EQ((Real(-7) * root2).ceil(), -9);
  EXPECT_EQ((Real(1) / (root2 - Real(1)) - root2 - Real(1)).sign(), 0);
  EXPECT_TRUE(Real::sqrt(mpq_class(9, 4)).isRational());
  for (int i = 0; i < 200; ++i) {
    Real v = Real(mpq_class(pick(-99, 99), pick(1, 9))) +
             Real(pick(-9, 9)) * Real::sqrt(mpq_class(pick(1, 50), 7));
    EXPECT_LE(Real(mpq_class(v.floor())), v);
    EXPECT_LT(v, Real(mpq_class(v.floor() + 1)));
  }
}

TEST(RequantSearch, RandomScalesAllWidths) {
  for (int round = 0; round < 120; ++round) {
    unsigned bits = unsigned(pick(1, 16));
    int64_t reach = pick(3, 3000);
    Quantizer q = makeQuantizer(
        bits, pick(0, 1), pickScale(1e-3, 1), 0,
        std::array{Rounding::HalfEven, Rounding::HalfUp, Rounding::HalfDown,
                   Rounding::HalfAway, Rounding::TowardZero, Rounding::Up,
                   Rounding::Down}[size_t(pick(0, 6))]);
    q.zero = pick(q.lo, q.hi);
    std::vector<PiecewiseLinear> fs;
    // With Relu only before some channels, a common clamp cannot replace it.
    bool relu = pick(0, 1), mixed = pick(0, 3) == 0;
    for (int c = 0; c < 3; ++c) {
      Real slope(exact(pickScale(1e-4, 1e-1)));
      if (pick(0, 4) == 0)
        slope = -slope;
      if (pick(0, 9) == 0)
        slope = Real(0);
      fs.push_back(PiecewiseLinear::affine(
          -reach, pick(1, reach), slope,
          Real(exact(float(pick(-1000, 1000)) / 777.f))));
      if (mixed ? pick(0, 1) : relu)
        fs.back().atLeast(Real(0));
    }
    check(fs, q,
          !relu && !mixed && q.rounding != Rounding::TowardZero &&
              q.rounding != Rounding::HalfAway);
    if (testing::Test::HasFatalFailure())
      FAIL() << "round " << round;
  }
}

TEST(RequantSearch, BatchNormGains) {
  for (int round = 0; round < 60; ++round) {
    Quantizer q = makeQuantizer(unsigned(pick(1, 8)), true, pickScale(1e-2, 1),
                                0, Rounding::HalfEven);
    std::vector<PiecewiseLinear> fs;
    for (int c = 0; c < 2; ++c) {
      auto f = PiecewiseLinear::affine(
          -800, 700, Real(exact(pickScale(1e-3, 1e-1))), Real(0));
      f.shift(Real(exact(-0.37f)));
      f.scale(Real(exact(pick(0, 3) ? 0.71f : -0.71f)) /
              Real::sqrt(exact(pickScale(0.1, 10)) + exact(1e-5f)));
      f.shift(Real(exact(0.25f)));
      if (round % 2)
        f.atMost(Real(exact(1.5f)));
      fs.push_back(f);
    }
    check(fs, q, round % 2 == 0);
  }
}

TEST(RequantSearch, TiesToEvenWithPowerOfTwoSlope) {
  for (int shift = 1; shift <= 7; ++shift)
    for (bool relu : {false, true}) {
      Quantizer q =
          makeQuantizer(8, true, std::ldexp(1.f, -7), 0, Rounding::HalfEven);
      auto f = PiecewiseLinear::affine(
          -9000, 9000, Real(exact(std::ldexp(1.0, -7 - shift))),
          Real(exact(std::ldexp(5.0, -7 - shift))));
      if (relu)
        f.atLeast(Real(0));
      check({f, f.mirrored()}, q, true);
      auto steps = computeSteps(f, q);
      auto found = searchRequantizer({*steps}, steps->bottom, steps->top());
      ASSERT_TRUE(found);
      EXPECT_TRUE(found->tiesEven);
      EXPECT_EQ(found->multiplierBits(), 1u);
      EXPECT_EQ(found->shift, shift);
    }
}

TEST(RequantSearch, SignAndLeakySteps) {
  Quantizer sign;
  sign.zero = 1;
  sign.lo = 0;
  sign.hi = 1;
  sign.rounding = Rounding::Sign;
  auto f =
      PiecewiseLinear::affine(-100, 100, Real(exact(0.3f)), Real(exact(-2.7f)));
  check({f, PiecewiseLinear::affine(-100, 100, Real(-2), Real(0))}, sign, true);

  Quantizer q = makeQuantizer(8, true, 0.037f, 3, Rounding::HalfEven);
  f.scale(Real(exact(0.2f)));
  f.leaky(Real(exact(0.1f)));
  check({f}, q, false);
}

TEST(RequantSearch, PairsOfOperands) {
  for (int round = 0; round < 30; ++round) {
    // q = round((x·sx + y·sy)/so) for 6-bit operands.
    mpq_class sx = exact(pickScale(0.01, 0.1)),
              sy = exact(pickScale(0.01, 0.1));
    mpq_class ratio = sx / sy;
    int64_t p = ratio.get_num().get_si(), n = ratio.get_den().get_si();
    int64_t reachP = 32 * (p + n);
    Quantizer q = makeQuantizer(8, true, pickScale(0.02, 0.2), pick(-9, 9),
                                Rounding::HalfEven);
    auto f = PiecewiseLinear::affine(-reachP, reachP, Real(mpq_class(sx / p)),
                                     Real(0));
    auto steps = computeSteps(f, q);
    ASSERT_TRUE(steps);
    double slope = mpq_class(sx / p / q.scale).get_d();
    auto found = searchPair(*steps, steps->bottom, steps->top(), slope, p, n,
                            {-32, 31}, {-32, 31});
    ASSERT_TRUE(found);
    for (int64_t x = -32; x < 32; ++x)
      for (int64_t y = -32; y < 32; ++y) {
        int64_t got =
            (x * found->lhs + y * found->rhs + found->offset) >> found->shift;
        ASSERT_EQ(std::clamp(got, steps->bottom, steps->top()),
                  q.level(Real(mpq_class(x * sx + y * sy))));
      }
  }
}

TEST(RequantSearch, SixteenBitOutputs) {
  std::vector<Steps> channels;
  Quantizer q = makeQuantizer(16, true, 1.f / 1024, 0, Rounding::HalfEven);
  for (int c = 0; c < 64; ++c) {
    auto f = PiecewiseLinear::affine(-(int64_t(1) << 18), int64_t(1) << 18,
                                     Real(exact(1.f / (1 << 12))) /
                                         Real::sqrt(exact(1.003f + 0.01f * c)),
                                     Real(exact(0.01f * c)));
    f.atLeast(Real(0));
    auto steps = computeSteps(f, q);
    ASSERT_TRUE(steps);
    channels.push_back(std::move(*steps));
  }
  auto found = searchRequantizer(channels, 0, 32767);
  ASSERT_TRUE(found);
  RecordProperty("multiplier_bits", int(found->multiplierBits()));
}

// Codes of 16 bits from sums of 29: products of 62 bits do not reach; wide ones
// do, with the whole levels of the offset apart.
TEST(RequantSearch, WideProducts) {
  Quantizer q = makeQuantizer(16, false, 0.0005f, 31806, Rounding::HalfEven);
  std::vector<Steps> channels;
  std::vector<PiecewiseLinear> functions;
  for (int c = 0; c < 3; ++c) {
    functions.push_back(PiecewiseLinear::affine(
        -(int64_t(1) << 28), int64_t(1) << 28,
        Real(exact(0.0000915f)) * Real(exact(0.002273575f + 0.0011f * c)) *
            Real(c == 1 ? -1 : 1),
        Real(exact(0.37f * c))));
    auto steps = computeSteps(functions.back(), q);
    ASSERT_TRUE(steps);
    channels.push_back(std::move(*steps));
  }
  EXPECT_FALSE(searchRequantizer(channels, q.lo, q.hi));
  auto found = searchRequantizer(channels, q.lo, q.hi, Reach::Wide);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->base.size(), channels.size());
  for (auto [c, steps] : llvm::enumerate(channels)) {
    EXPECT_GE(found->offset[c], 0);
    EXPECT_LT(found->offset[c], int64_t(1) << found->shift);
    // Both are monotone: they are equal if they are where the steps are.
    for (int64_t at : steps.at)
      for (int64_t near : {at - 1, at}) {
        const int64_t x = steps.falls ? -near : near;
        ASSERT_EQ(std::clamp(found->apply(x, c), q.lo, q.hi),
                  q.level(functions[c].at(x)))
            << "x = " << x << ", channel " << c;
      }
  }
}
