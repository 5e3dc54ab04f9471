// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic in ℚ(√r): signs by squaring, floors by integer square roots.
#include "rhizome/Transforms/ExactReal.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace rhizome;

Real Real::sqrt(const mpq_class &value) {
  assert(value >= 0 && "square root of a negative number");
  // √(p/q) = √(p·q)/q
  mpz_class radicand = value.get_num() * value.get_den();
  Real result;
  if (mpz_perfect_square_p(radicand.get_mpz_t())) {
    mpz_class root;
    mpz_sqrt(root.get_mpz_t(), radicand.get_mpz_t());
    result.a = mpq_class(root, value.get_den());
    result.a.canonicalize();
    return result;
  }
  result.b = 1;
  result.r = value;
  return result;
}

Real Real::operator-() const {
  Real result = *this;
  result.a = -a;
  result.b = -b;
  return result;
}

Real Real::operator+(const Real &other) const {
  assert(compatible(other) && "different square roots");
  Real result;
  result.a = a + other.a;
  result.b = b + other.b;
  if (result.b != 0)
    result.r = isRational() ? other.r : r;
  return result;
}

Real Real::operator*(const Real &other) const {
  assert(compatible(other) && "different square roots");
  Real result;
  if (isRational() && other.isRational()) {
    result.a = a * other.a;
    return result;
  }
  const mpq_class &root = isRational() ? other.r : r;
  result.a = a * other.a + b * other.b * root;
  result.b = a * other.b + b * other.a;
  if (result.b != 0)
    result.r = root;
  return result;
}

Real Real::inverse() const {
  assert(sign() != 0 && "division by zero");
  Real result;
  if (isRational()) {
    result.a = 1 / a;
    return result;
  }
  mpq_class norm = a * a - b * b * r;
  result.a = a / norm;
  result.b = -b / norm;
  result.r = r;
  return result;
}

int Real::sign() const {
  if (isRational())
    return sgn(a);
  if (sgn(a) == 0 || sgn(a) == sgn(b))
    return sgn(b);
  int larger = cmp(a * a, b * b * r);
  return larger == 0 ? 0 : larger > 0 ? sgn(a) : sgn(b);
}

mpz_class Real::floor() const {
  mpz_class result;
  if (isRational()) {
    mpz_fdiv_q(result.get_mpz_t(), a.get_num_mpz_t(), a.get_den_mpz_t());
    return result;
  }
  // a ± √(b²·r) = (p ± √m) / q with whole p, m and q.
  mpq_class square = b * b * r;
  mpz_class den = square.get_den();
  mpz_class q = a.get_den() * den;
  mpz_class p = a.get_num() * den;
  mpz_class m = square.get_num() * den * a.get_den() * a.get_den();
  mpz_class root, rest;
  mpz_sqrtrem(root.get_mpz_t(), rest.get_mpz_t(), m.get_mpz_t());
  mpz_class whole = p;
  if (sgn(b) > 0)
    whole += root;
  else
    whole -= root + (rest != 0 ? 1 : 0);
  mpz_fdiv_q(result.get_mpz_t(), whole.get_mpz_t(), q.get_mpz_t());
  return result;
}

double Real::toDouble() const {
  return a.get_d() + (isRational() ? 0 : b.get_d() * std::sqrt(r.get_d()));
}

double Real::magnitude() const {
  return std::abs(a.get_d()) +
         (isRational() ? 0 : std::abs(b.get_d()) * std::sqrt(r.get_d()));
}

int64_t rhizome::toInt64(const mpz_class &value) {
  constexpr int64_t limit = int64_t(1) << 62;
  if (!value.fits_slong_p())
    return sgn(value) < 0 ? -limit : limit;
  return std::clamp<int64_t>(value.get_si(), -limit, limit);
}
