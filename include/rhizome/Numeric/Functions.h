// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that networks use and processors do not have, each defined once
// by primitive ones. The arithmetic is a parameter: a double for the
// interpreter, operations of a loop's body, a rational, a bounded real.
//
// An arithmetic provides `real(double)` and add, sub, mul, div, neg, abs, min,
// max, exp, log, log1p, sqrt, tanh, erf and `gaussian`, which is
// 1 + erf(x / √2), computed without cancellation where that is possible.
// `min` and `max` give NaN if their first operand is NaN.
#pragma once

#include <cmath>

namespace rhizome::numeric {
/// 1 / (1 + e^-x).
template <typename A, typename V> V sigmoid(A &&a, const V &x) {
  return a.div(a.real(1), a.add(a.real(1), a.exp(a.sub(a.real(0), x))));
}

/// log(1 + e^x), without overflow.
template <typename A, typename V> V softplus(A &&a, const V &x) {
  V tail = a.exp(a.sub(a.real(0), a.abs(x)));
  return a.add(a.max(x, a.real(0)), a.log1p(tail));
}

/// x / (1 + |x|).
template <typename A, typename V> V softsign(A &&a, const V &x) {
  return a.div(x, a.add(a.real(1), a.abs(x)));
}

/// x · Φ(x), where Φ is the normal distribution.
template <typename A, typename V> V gelu(A &&a, const V &x) {
  V e = a.gaussian(x);
  return a.mul(a.mul(x, a.real(0.5)), e);
}

/// Its approximation with tanh.
template <typename A, typename V> V geluTanh(A &&a, const V &x) {
  V cube = a.mul(x, a.mul(x, x));
  V line = a.add(x, a.mul(cube, a.real(0.044715)));
  V t = a.tanh(a.mul(line, a.real(0.79788456080286535588)));
  return a.mul(a.mul(x, a.real(0.5)), a.add(a.real(1), t));
}

/// x · sigmoid(alpha · x).
template <typename A, typename V> V swish(A &&a, const V &x, double alpha) {
  return a.mul(x, sigmoid(a, a.mul(x, a.real(alpha))));
}

/// x · tanh(softplus(x)).
template <typename A, typename V> V mish(A &&a, const V &x) {
  return a.mul(x, a.tanh(softplus(a, x)));
}

/// x · min(max(x + 3, 0), 6) / 6.
template <typename A, typename V> V hardSwish(A &&a, const V &x) {
  V line = a.add(x, a.real(3));
  line = a.min(a.max(line, a.real(0)), a.real(6));
  return a.div(a.mul(x, line), a.real(6));
}

/// The arithmetic of the processor's double or long double.
template <typename T> struct Native {
  T real(double v) const { return T(v); }
  T add(T x, T y) const { return x + y; }
  T sub(T x, T y) const { return x - y; }
  T mul(T x, T y) const { return x * y; }
  T div(T x, T y) const { return x / y; }
  T neg(T x) const { return -x; }
  T abs(T x) const { return std::fabs(x); }
  T min(T x, T y) const { return y < x ? y : x; }
  T max(T x, T y) const { return x < y ? y : x; }
  T exp(T x) const { return std::exp(x); }
  T log(T x) const { return std::log(x); }
  T log1p(T x) const { return std::log1p(x); }
  T sqrt(T x) const { return std::sqrt(x); }
  T tanh(T x) const { return std::tanh(x); }
  T erf(T x) const { return std::erf(x); }
  T gaussian(T x) const {
    return std::erfc(-x * T(0.707106781186547524400844362104849039L));
  }
};
} // namespace rhizome::numeric
