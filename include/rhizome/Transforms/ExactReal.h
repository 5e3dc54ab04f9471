// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact real numbers for a network between two quantizers:
// rationals, and rationals with one square root (batch norm's gain). Order and
// floor are decided exactly, never through floating point.
#pragma once

#include <cstdint>
#include <gmpxx.h>

namespace rhizome {
/// a + b·√r with rational a, b and r ≥ 0; rational numbers have b = r = 0.
/// Two numbers can be combined if their radicands agree or one is rational
/// (`compatible`); combining others is an assertion failure.
class Real {
public:
  Real() = default;
  Real(mpq_class value) : a(std::move(value)) {}
  Real(int64_t value) : a(static_cast<long>(value)) {}

  /// √value for value ≥ 0; rational if value is a rational's square.
  static Real sqrt(const mpq_class &value);

  bool isRational() const { return b == 0; }
  const mpq_class &rational() const { return a; }
  bool compatible(const Real &other) const {
    return isRational() || other.isRational() || r == other.r;
  }

  Real operator-() const;
  Real operator+(const Real &other) const;
  Real operator-(const Real &other) const { return *this + -other; }
  Real operator*(const Real &other) const;
  /// `other` must not be zero.
  Real operator/(const Real &other) const { return *this * other.inverse(); }
  Real inverse() const;

  /// −1, 0 or 1.
  int sign() const;
  bool operator==(const Real &o) const {
    return a == o.a && b == o.b && r == o.r;
  }
  bool operator<(const Real &o) const { return (*this - o).sign() < 0; }
  bool operator<=(const Real &o) const { return (*this - o).sign() <= 0; }

  /// The largest whole number not above, and the smallest not below.
  mpz_class floor() const;
  mpz_class ceil() const { return -(-*this).floor(); }
  /// An approximation, only for filters and messages.
  double toDouble() const;
  /// |a| + |b|·√r, against which toDouble's error is relative.
  double magnitude() const;

private:
  mpq_class a = 0, b = 0, r = 0;
};

/// The exact value of a finite float or double.
inline mpq_class exact(double value) { return mpq_class(value); }

/// A whole number as int64; saturates at ±2^62, beyond every range that the
/// compiler admits.
int64_t toInt64(const mpz_class &value);
} // namespace rhizome
