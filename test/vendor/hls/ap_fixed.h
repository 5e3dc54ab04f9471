// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of an HLS tool's fixed point that emitted kernels use: exact sums
// and products, and every mode of rounding; overflow wraps or saturates. Up to
// 64 bits, and their exact results.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

enum ap_q_mode {
  AP_RND,         ///< to nearest, ties up
  AP_RND_ZERO,    ///< ties toward zero
  AP_RND_MIN_INF, ///< ties down
  AP_RND_INF,     ///< ties away from zero
  AP_RND_CONV,    ///< ties to even
  AP_TRN,         ///< down
  AP_TRN_ZERO     ///< toward zero
};
enum ap_o_mode { AP_SAT, AP_WRAP };

namespace hls_test {
using Wide = __int128;

/// value / 2^shift as an integer.
inline Wide rounded(Wide value, int shift, ap_q_mode mode) {
  // Only the sign and that it is less than a quarter matter.
  if (shift > 120)
    value = value < 0 ? -1 : value > 0, shift = 2;
  if (shift <= 0) {
    assert(shift > -120 && "the result does not fit 128 bits");
    return value * (Wide(1) << -shift);
  }
  Wide floor = value >> shift, rest = value - (floor << shift),
       half = Wide(1) << (shift - 1);
  bool up = rest > half;
  switch (mode) {
  case AP_RND:
    up |= rest == half;
    break;
  case AP_RND_ZERO:
    up |= rest == half && value < 0;
    break;
  case AP_RND_MIN_INF:
    break;
  case AP_RND_INF:
    up |= rest == half && value >= 0;
    break;
  case AP_RND_CONV:
    up |= rest == half && (floor & 1);
    break;
  case AP_TRN:
    up = false;
    break;
  case AP_TRN_ZERO:
    up = rest != 0 && value < 0;
    break;
  }
  return floor + up;
}

template <int W, int I, bool S> class Fixed {
public:
  static const int width = W, iwidth = I, fraction = W - I;
  static_assert(W > 0 && W <= 131, "a test knows at most 64 bits and products");
  Wide raw = 0;

  double to_double() const { return std::ldexp(double(raw), I - W); }
  Fixed<W + 1, I + 1, true> operator-() const { return {-raw}; }
  Fixed() = default;
  Fixed(Wide raw) : raw(raw) {}

protected:
  void fit(Wide value, ap_o_mode mode) {
    static_assert(W <= 64, "a number of at most 64 bits");
    const Wide one = 1, least = S ? -(one << (W - 1)) : 0,
               most = S ? (one << (W - 1)) - 1 : (one << W) - 1;
    if (mode == AP_SAT) {
      raw = value < least ? least : value > most ? most : value;
      return;
    }
    raw = value & ((one << W) - 1);
    if (S && raw > most)
      raw -= one << W;
  }
};

constexpr int larger(int a, int b) { return a > b ? a : b; }
template <int I1, int F1, int I2, int F2, bool S>
using Sum = Fixed<larger(I1, I2) + larger(F1, F2) + 2, larger(I1, I2) + 2, S>;

/// Both raw values with the fraction bits of the longer.
template <int W1, int I1, bool S1, int W2, int I2, bool S2>
void align(const Fixed<W1, I1, S1> &a, const Fixed<W2, I2, S2> &b, Wide &x,
           Wide &y) {
  constexpr int f = larger(W1 - I1, W2 - I2);
  x = a.raw * (Wide(1) << (f - (W1 - I1)));
  y = b.raw * (Wide(1) << (f - (W2 - I2)));
}

template <int W1, int I1, bool S1, int W2, int I2, bool S2>
Sum<I1, W1 - I1, I2, W2 - I2, S1 || S2> operator+(const Fixed<W1, I1, S1> &a,
                                                  const Fixed<W2, I2, S2> &b) {
  Wide x, y;
  align(a, b, x, y);
  return {x + y};
}
template <int W1, int I1, bool S1, int W2, int I2, bool S2>
Sum<I1, W1 - I1, I2, W2 - I2, true> operator-(const Fixed<W1, I1, S1> &a,
                                              const Fixed<W2, I2, S2> &b) {
  Wide x, y;
  align(a, b, x, y);
  return {x - y};
}
template <int W1, int I1, bool S1, int W2, int I2, bool S2>
Fixed<W1 + W2, I1 + I2, S1 || S2> operator*(const Fixed<W1, I1, S1> &a,
                                            const Fixed<W2, I2, S2> &b) {
  return {a.raw * b.raw};
}
#define HLS_TEST_COMPARE(OP)                                                   \
  template <int W1, int I1, bool S1, int W2, int I2, bool S2>                  \
  bool operator OP(const Fixed<W1, I1, S1> &a, const Fixed<W2, I2, S2> &b) {   \
    Wide x, y;                                                                 \
    align(a, b, x, y);                                                         \
    return x OP y;                                                             \
  }
HLS_TEST_COMPARE(<)
HLS_TEST_COMPARE(<=)
HLS_TEST_COMPARE(>)
HLS_TEST_COMPARE(>=)
HLS_TEST_COMPARE(==)
HLS_TEST_COMPARE(!=)
#undef HLS_TEST_COMPARE
template <int W, int I, bool S>
bool operator<(const Fixed<W, I, S> &a, int b) {
  return a < Fixed<33, 33, true>(b);
}

/// A number that rounds and overflows.
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
class Rounding : public Fixed<W, I, S> {
public:
  Rounding() = default;
  template <int W2, int I2, bool S2> Rounding(const Fixed<W2, I2, S2> &from) {
    this->fit(rounded(from.raw, (W2 - I2) - (W - I), Q), O);
  }
  Rounding(double value) {
    int exponent = 0;
    double mantissa = std::frexp(value, &exponent);
    auto integer = Wide(std::ldexp(mantissa, 53));
    this->fit(rounded(integer, 53 - exponent - (W - I), Q), O);
  }
  Rounding(int value) : Rounding(double(value)) {}

  /// All bits of a pattern.
  class Range {
  public:
    explicit Range(Rounding &of) : of(of) {}
    Range &operator=(unsigned long long bits) {
      of.fit(Wide(bits), AP_WRAP);
      return *this;
    }
    unsigned long long to_uint64() const {
      uint64_t mask = W == 64 ? ~uint64_t(0) : (uint64_t(1) << W % 64) - 1;
      return uint64_t(of.raw) & mask;
    }

  private:
    Rounding &of;
  };
  Range range(int high, int low) {
    assert(high == W - 1 && low == 0 && "all bits");
    (void)high, (void)low;
    return Range(*this);
  }
};
} // namespace hls_test

template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP>
using ap_fixed = hls_test::Rounding<W, I, true, Q, O>;
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP>
using ap_ufixed = hls_test::Rounding<W, I, false, Q, O>;
