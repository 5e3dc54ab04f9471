// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsigned integers of N 64-bit words, for exact intermediate
// results. Results are modulo 2^(64 N).
#pragma once

#include <bit>
#include <cstdint>

namespace rhizome::numeric {
template <unsigned N> struct Wide {
  uint64_t word[N] = {};
  static constexpr int bits = 64 * int(N);

  Wide() = default;
  Wide(unsigned __int128 value) {
    word[0] = uint64_t(value);
    word[1] = uint64_t(value >> 64);
  }
  unsigned __int128 low() const {
    return (unsigned __int128)(word[1]) << 64 | word[0];
  }
  bool isZero() const {
    uint64_t any = 0;
    for (uint64_t w : word)
      any |= w;
    return any == 0;
  }
  /// Position of the highest one plus 1; 0 for zero.
  int length() const {
    for (int i = int(N) - 1; i >= 0; --i)
      if (word[i])
        return 64 * i + 64 - std::countl_zero(word[i]);
    return 0;
  }
  bool bit(int i) const {
    return i >= 0 && i < bits && (word[i / 64] >> (i % 64) & 1);
  }
  void set(int i) { word[i / 64] |= uint64_t(1) << (i % 64); }
  /// True if one of the lowest `n` bits is set.
  bool anyBelow(int n) const {
    if (n <= 0)
      return false;
    if (n >= bits)
      return !isZero();
    for (int i = 0; i < n / 64; ++i)
      if (word[i])
        return true;
    return n % 64 && (word[n / 64] & ((uint64_t(1) << (n % 64)) - 1));
  }
  int compare(const Wide &b) const {
    for (int i = int(N) - 1; i >= 0; --i)
      if (word[i] != b.word[i])
        return word[i] < b.word[i] ? -1 : 1;
    return 0;
  }
  Wide operator<<(int n) const {
    Wide r;
    if (n >= bits)
      return r;
    int words = n / 64, rest = n % 64;
    for (int i = int(N) - 1; i >= words; --i) {
      r.word[i] = word[i - words] << rest;
      if (rest && i > words)
        r.word[i] |= word[i - words - 1] >> (64 - rest);
    }
    return r;
  }
  Wide operator>>(int n) const {
    Wide r;
    if (n >= bits)
      return r;
    int words = n / 64, rest = n % 64;
    for (int i = 0; i + words < int(N); ++i) {
      r.word[i] = word[i + words] >> rest;
      if (rest && i + words + 1 < int(N))
        r.word[i] |= word[i + words + 1] << (64 - rest);
    }
    return r;
  }
  Wide operator+(const Wide &b) const {
    Wide r;
    unsigned __int128 sum = 0;
    for (unsigned i = 0; i < N; ++i) {
      sum += (unsigned __int128)(word[i]) + b.word[i];
      r.word[i] = uint64_t(sum);
      sum >>= 64;
    }
    return r;
  }
  Wide operator-(const Wide &b) const {
    Wide r;
    uint64_t borrow = 0;
    for (unsigned i = 0; i < N; ++i) {
      unsigned __int128 take = (unsigned __int128)(b.word[i]) + borrow;
      r.word[i] = uint64_t(word[i] - take);
      borrow = word[i] < take;
    }
    return r;
  }
  Wide operator*(const Wide &b) const {
    Wide r;
    for (unsigned i = 0; i < N; ++i) {
      if (!word[i])
        continue;
      unsigned __int128 carry = 0;
      for (unsigned j = 0; i + j < N; ++j) {
        carry += (unsigned __int128)(word[i]) * b.word[j] + r.word[i + j];
        r.word[i + j] = uint64_t(carry);
        carry >>= 64;
      }
    }
    return r;
  }
  Wide dividedBy(uint64_t divisor) const {
    Wide r;
    unsigned __int128 rest = 0;
    for (int i = int(N) - 1; i >= 0; --i) {
      rest = rest << 64 | word[i];
      r.word[i] = uint64_t(rest / divisor);
      rest %= divisor;
    }
    return r;
  }
  /// Long division; `rest` receives the remainder. The divisor is not zero and
  /// has its highest bit clear.
  Wide divide(const Wide &divisor, Wide &rest) const {
    Wide quotient;
    int shift = length() - divisor.length();
    rest = *this;
    if (shift < 0)
      return quotient;
    Wide d = divisor << shift;
    for (; shift >= 0; --shift, d = d >> 1)
      if (rest.compare(d) >= 0) {
        rest = rest - d;
        quotient.set(shift);
      }
    return quotient;
  }
  /// Integer square root; `exact` tells whether there is no remainder.
  Wide squareRoot(bool &exact) const {
    Wide root, rest = *this;
    for (int i = (length() + 1) / 2 - 1; i >= 0; --i) {
      // (root + 2^i)^2 - root^2 = root·2^(i+1) + 2^(2i)
      Wide step = root << (i + 1);
      Wide one;
      one.set(2 * i);
      step = step + one;
      if (rest.compare(step) >= 0) {
        rest = rest - step;
        root.set(i);
      }
    }
    exact = rest.isZero();
    return root;
  }
};
} // namespace rhizome::numeric
