// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic against MPFR: exhaustive for small formats, random for large
// ones, in all five directions. RHIZOME_ARITHMETIC_CASES random cases per
// format; RHIZOME_ARITHMETIC_BITS is the largest exhaustive width.
#include "Oracle.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::numeric;
using namespace rhizome::numeric::test;

static int setting(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

static const Rounding roundings[] = {
    Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero,
    Rounding::Up, Rounding::Down};
static const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Div, Op::Sqrt};
static const char *const opNames[] = {"add", "sub", "mul",
                                      "fma", "div", "sqrt"};

static Bits apply(const Arithmetic &n, Op op, Bits a, Bits b, Bits c) {
  switch (op) {
  case Op::Add:
    return n.add(a, b);
  case Op::Sub:
    return n.sub(a, b);
  case Op::Mul:
    return n.mul(a, b);
  case Op::Fma:
    return n.fma(a, b, c);
  case Op::Div:
    return n.div(a, b);
  case Op::Sqrt:
    return n.sqrt(a);
  }
  return 0;
}

static std::string hex(Bits a) {
  char text[40];
  std::snprintf(text, sizeof text, "%016lx%016lx", (unsigned long)(a >> 64),
                (unsigned long)(a));
  return text;
}

static Format parse(const char *text) {
  std::string error;
  auto f = Format::parse(text, error);
  EXPECT_TRUE(f) << error;
  return f.value_or(Format::binary32());
}

/// Overflows that the format can have.
static std::vector<Overflow> overflows(const Format &f) {
  return {f.isFixed() ? Overflow::Wrap : Overflow::Infinity,
          Overflow::Saturate};
}

static ::testing::AssertionResult agree(const Arithmetic &n, Oracle &oracle,
                                        Op op, Bits a, Bits b, Bits c) {
  Bits got = apply(n, op, a, b, c), want = oracle.compute(op, a, b, c);
  if (got == want)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << n.format().str() << " " << name(n.rounding()) << " "
         << name(n.overflow()) << ": " << opNames[int(op)] << "(" << hex(a)
         << ", " << hex(b) << ", " << hex(c) << ") is " << hex(want)
         << " by MPFR, not " << hex(got);
}

TEST(Arithmetic, ExhaustiveSmallFormats) {
  const int most = setting("RHIZOME_ARITHMETIC_BITS", 6);
  for (const char *text : {"float<2,1>",
                           "float<2,2>",
                           "float<3,2>",
                           "float<2,3,flush>",
                           "float<3,2,finite>",
                           "float<3,3,bias=-2>",
                           "float<4,3>",
                           "float<4,3,finite>",
                           "float<4,3,flush>",
                           "float<5,2>",
                           "float<4,4,bias=9,flush,finite>",
                           "float<5,4>",
                           "float<3,6>",
                           "fixed<1,2>",
                           "fixed<3,3>",
                           "fixed<3,3,unsigned>",
                           "fixed<8,-2>",
                           "fixed<-2,8>",
                           "fixed<4,4>",
                           "fixed<2,8>",
                           "fixed<5,5,unsigned>"}) {
    Format f = parse(text);
    if (f.width() > most)
      continue;
    std::mt19937_64 random(f.width());
    const Bits end = Bits(1) << f.width();
    for (Rounding rounding : roundings)
      for (Overflow overflow : overflows(f)) {
        Arithmetic n(f, rounding, overflow);
        Oracle oracle(f, rounding, overflow);
        for (Op op : ops)
          for (Bits a = 0; a < end; ++a)
            for (Bits b = 0; b < (op == Op::Sqrt ? 1 : end); ++b)
              ASSERT_TRUE(
                  agree(n, oracle, op, a, b, random() & uint64_t(f.mask())));
      }
  }
}

/// Operands of every kind: any pattern, neighbors in exponent, edges.
static Bits operand(std::mt19937_64 &random, const Format &f, Bits other) {
  Bits any = (Bits(random()) << 64 | random()) & f.mask();
  switch (random() % 8) {
  case 0:
    return (other ^ (any & (any >> (random() % f.width())) &
                     ((Bits(1) << (f.width() / 2)) - 1))) &
           f.mask();
  case 1: { // few ones
    Bits few = 0;
    for (int i = 0; i < 3; ++i)
      few |= Bits(1) << (random() % f.width());
    return few & f.mask();
  }
  case 2: // near an edge
    return ((random() & 1 ? f.greatest() : f.least()) ^ (random() & 7)) &
           f.mask();
  case 3: // small magnitudes
    return any >> (random() % f.width());
  case 4:
    if (f.isFloat()) { // exponent near the other's
      Bits fields = f.mask() & ~((Bits(1) << f.mantissaBits) - 1);
      Bits near = (other & fields) + (Bits(random() % 5) << f.mantissaBits) -
                  (Bits(2) << f.mantissaBits);
      return ((near & fields) | (any & ~fields)) & f.mask();
    }
    return any;
  default:
    return any;
  }
}

TEST(Arithmetic, RandomLargeFormats) {
  const int cases = setting("RHIZOME_ARITHMETIC_CASES", 4000);
  for (const char *text :
       {"half", "bfloat16", "single", "double", "float<6,9,bias=20,flush>",
        "float<9,41,finite>", "fixed<24,40>", "fixed<8,24>", "fixed<37,91>",
        "fixed<-5,40,unsigned>"}) {
    Format f = parse(text);
    std::mt19937_64 random(f.width());
    for (Rounding rounding : roundings)
      for (Overflow overflow : overflows(f)) {
        Arithmetic n(f, rounding, overflow);
        Oracle oracle(f, rounding, overflow);
        for (Op op : ops)
          for (int i = 0; i < cases / 10; ++i) {
            Bits a = operand(random, f, random());
            Bits b = operand(random, f, a), c = operand(random, f, b);
            if (op == Op::Fma && random() % 2) // cancellation
              c = n.neg(n.mul(a, b)) ^ (random() % 4 == 0);
            ASSERT_TRUE(agree(n, oracle, op, a, b, c & f.mask()));
          }
      }
  }
}

/// MPFR's own rounding with bounded exponents and mpfr_subnormalize.
TEST(Arithmetic, AgreesWithMpfrsSubnormals) {
  const int cases = setting("RHIZOME_ARITHMETIC_CASES", 4000);
  for (const char *text : {"half", "bfloat16", "single", "double"}) {
    Format f = parse(text);
    Arithmetic n(f, Rounding::NearestEven, Overflow::Infinity);
    std::mt19937_64 random(99);
    mpfr_t x, y, r;
    mpfr_inits2(f.mantissaBits + 1, x, y, r, mpfr_ptr(nullptr));
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    for (int i = 0; i < cases; ++i) {
      Bits a = operand(random, f, random()), b = operand(random, f, a);
      Real u, v;
      setPattern(u, f, a);
      setPattern(v, f, b);
      mpfr_set(x, u, MPFR_RNDN);
      mpfr_set(y, v, MPFR_RNDN);
      for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt}) {
        mpfr_set_emin(f.minExponent() - f.mantissaBits + 1);
        mpfr_set_emax(f.maxExponent() + 1);
        int t = op == Op::Add   ? mpfr_add(r, x, y, MPFR_RNDN)
                : op == Op::Sub ? mpfr_sub(r, x, y, MPFR_RNDN)
                : op == Op::Mul ? mpfr_mul(r, x, y, MPFR_RNDN)
                : op == Op::Div ? mpfr_div(r, x, y, MPFR_RNDN)
                                : mpfr_sqrt(r, x, MPFR_RNDN);
        mpfr_subnormalize(r, t, MPFR_RNDN);
        mpfr_set_emin(emin);
        mpfr_set_emax(emax);
        Real got;
        setPattern(got, f, apply(n, op, a, b, 0));
        ASSERT_TRUE((mpfr_nan_p(r) && mpfr_nan_p(mpfr_srcptr(got))) ||
                    (mpfr_equal_p(r, got) &&
                     mpfr_signbit(r) == mpfr_signbit(mpfr_srcptr(got))))
            << text << " " << opNames[int(op)] << " " << hex(a) << " "
            << hex(b);
      }
    }
    mpfr_clears(x, y, r, mpfr_ptr(nullptr));
  }
}

namespace {
/// One number format a test.
class Elementary : public ::testing::TestWithParam<const char *> {};

/// An MPFR number of another precision than the oracle's.
struct Narrow {
  mpfr_t value;
  explicit Narrow(mpfr_prec_t precision) { mpfr_init2(value, precision); }
  Narrow(const Narrow &) = delete;
  ~Narrow() { mpfr_clear(value); }
};
} // namespace

/// e^x and log x from MPFR, truncated to 256 bits (no format has more than 128,
/// so that one unit can be distinguished from one unit and a bit), then rounded
/// by the oracle.
TEST_P(Elementary, WithinOneUnit) {
  Format f = parse(GetParam());
  const int cases = setting("RHIZOME_ARITHMETIC_CASES", 4000) / 5;
  std::mt19937_64 random(f.width());
  const bool all = f.width() <= 8;
  Real pattern, exact;
  Narrow x(128), truncated(256);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  for (Rounding rounding : roundings) {
    Arithmetic n(f, rounding,
                 f.isFixed() ? Overflow::Saturate : Overflow::Infinity);
    Oracle oracle(f, rounding, n.overflow());
    for (int i = 0; i < (all ? 1 << f.width() : cases); ++i) {
      Bits a = all ? Bits(i) : operand(random, f, random());
      setPattern(pattern, f, a);
      ASSERT_EQ(mpfr_set(x.value, pattern, MPFR_RNDZ), 0);
      for (bool isLog : {false, true}) {
        int t = isLog ? mpfr_log(truncated.value, x.value, MPFR_RNDZ)
                      : mpfr_exp(truncated.value, x.value, MPFR_RNDZ);
        mpfr_set(exact, truncated.value, MPFR_RNDN);
        Bits result = isLog ? n.log(a) : n.exp(a);
        Bits want = oracle.round(exact, t);
        if (result == want)
          continue;
        // If not correctly rounded, then the neighbor, and no
        // infinity or NaN.
        setPattern(pattern, f, want);
        ASSERT_TRUE(mpfr_number_p(mpfr_srcptr(pattern)) &&
                    (result - want == 1 || want - result == 1))
            << GetParam() << " " << name(rounding)
            << (isLog ? " log " : " exp ") << hex(a) << " is " << hex(want)
            << " not " << hex(result);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Formats, Elementary,
                         ::testing::Values("float<4,3>", "half", "bfloat16",
                                           "single", "double",
                                           "float<6,9,bias=20,flush>",
                                           "float<9,41,finite>", "fixed<24,40>",
                                           "fixed<8,24>", "fixed<37,91>"));

TEST(Arithmetic, Conversions) {
  std::mt19937_64 random(7);
  const char *texts[] = {"half",
                         "bfloat16",
                         "single",
                         "double",
                         "float<4,3,finite>",
                         "fixed<24,40>",
                         "fixed<8,24>",
                         "fixed<12,-4>",
                         "fixed<64,64>",
                         "float<3,4,flush>"};
  const int cases = setting("RHIZOME_ARITHMETIC_CASES", 4000) / 100;
  Real x;
  for (const char *fromText : texts)
    for (const char *toText : texts) {
      Format from = parse(fromText), to = parse(toText);
      for (Rounding rounding : roundings)
        for (Overflow overflow : overflows(to)) {
          Arithmetic n(to, rounding, overflow);
          Oracle oracle(to, rounding, overflow);
          for (int i = 0; i < cases; ++i) {
            Bits a = operand(random, from, random());
            setPattern(x, from, a);
            Bits want = oracle.round(x, 0);
            if (to.isFixed() && mpfr_zero_p(mpfr_srcptr(x)))
              want = 0;
            ASSERT_EQ(hex(n.convert(from, a)), hex(want))
                << fromText << " " << hex(a) << " to " << toText << " "
                << name(rounding) << " " << name(overflow);
          }
        }
    }
  for (double v : {0.0, -0.0, 1.5, -2.75, 1e-310, 1e308, -3e-5})
    EXPECT_EQ(
        Arithmetic(Format::binary64(), Rounding::NearestEven,
                   Overflow::Infinity)
            .toDouble(Arithmetic(Format::binary64(), Rounding::NearestEven,
                                 Overflow::Infinity)
                          .fromDouble(v)),
        v);
}

TEST(Arithmetic, Comparisons) {
  for (const char *text : {"float<3,2>", "float<3,2,finite>", "fixed<3,3>",
                           "fixed<3,3,unsigned>", "float<2,3,flush>"}) {
    Format f = parse(text);
    Arithmetic n(f, Rounding::NearestEven, defaultOverflow(f));
    Real x, y;
    for (Bits a = 0; a < Bits(1) << f.width(); ++a)
      for (Bits b = 0; b < Bits(1) << f.width(); ++b) {
        setPattern(x, f, a);
        setPattern(y, f, b);
        bool unordered = mpfr_unordered_p(x, y);
        int order = unordered ? 0 : mpfr_cmp(x, y);
        Order want = unordered   ? Order::Unordered
                     : order < 0 ? Order::Less
                     : order > 0 ? Order::Greater
                                 : Order::Equal;
        ASSERT_EQ(int(n.compare(a, b)), int(want))
            << text << " " << hex(a) << " " << hex(b);
        if (!unordered && order != 0) {
          ASSERT_EQ(hex(n.min(a, b)), hex(order < 0 ? a : b));
          ASSERT_EQ(hex(n.max(a, b)), hex(order < 0 ? b : a));
        }
      }
  }
}

/// The processor's own arithmetic.
TEST(Arithmetic, AgreesWithTheProcessor) {
  Arithmetic single(Format::binary32(), Rounding::NearestEven,
                    Overflow::Infinity);
  std::mt19937_64 random(3);
  auto real = [](uint32_t bits) {
    float v;
    std::memcpy(&v, &bits, 4);
    return v;
  };
  auto pattern = [](float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, 4);
    return Bits(v != v ? 0x7fc00000u : bits);
  };
  for (int i = 0; i < 20000; ++i) {
    Bits a = operand(random, Format::binary32(), random());
    Bits b = operand(random, Format::binary32(), a);
    float x = real(uint32_t(a)), y = real(uint32_t(b));
    ASSERT_EQ(hex(single.add(a, b)), hex(pattern(x + y)));
    ASSERT_EQ(hex(single.mul(a, b)), hex(pattern(x * y)));
    ASSERT_EQ(hex(single.div(a, b)), hex(pattern(x / y)));
  }
}
