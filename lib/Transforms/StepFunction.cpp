// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Piecewise-linear functions over integer ranges and the step positions of a
// quantizer after them. Positions come from 128-bit integers if the
// coefficients fit, otherwise from floating point with an error bound that
// falls back to exact arithmetic near a border; both give the exact position.
#include "rhizome/Transforms/StepFunction.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace rhizome;

PiecewiseLinear PiecewiseLinear::affine(int64_t lo, int64_t hi, Real slope,
                                        Real offset) {
  PiecewiseLinear f;
  f.first = lo;
  f.last = hi;
  f.list.push_back({lo, std::move(slope), std::move(offset)});
  return f;
}

Real PiecewiseLinear::at(int64_t x) const {
  assert(first <= x && x <= last && "outside the domain");
  size_t i = list.size() - 1;
  while (list[i].from > x)
    --i;
  return list[i].at(x);
}

bool PiecewiseLinear::compatible(const Real &other) const {
  return std::all_of(list.begin(), list.end(), [&](const Piece &p) {
    return p.slope.compatible(other) && p.offset.compatible(other);
  });
}

void PiecewiseLinear::scale(const Real &factor) {
  for (Piece &p : list) {
    p.slope = p.slope * factor;
    p.offset = p.offset * factor;
  }
}

void PiecewiseLinear::shift(const Real &term) {
  for (Piece &p : list)
    p.offset = p.offset + term;
}

void PiecewiseLinear::replaceBelow(const Real &bound, const Real &factor,
                                   const Real &term) {
  std::vector<Piece> out;
  auto push = [&](Piece p, int64_t to) {
    if (p.from > to)
      return;
    if (!out.empty() && out.back().slope == p.slope &&
        out.back().offset == p.offset)
      return;
    out.push_back(std::move(p));
  };
  for (size_t i = 0; i < list.size(); ++i) {
    Piece kept = list[i];
    Piece below{kept.from, kept.slope * factor, kept.offset * factor + term};
    int64_t to = end(i);
    int direction = kept.slope.sign();
    if (direction == 0) {
      push(kept.offset < bound ? below : kept, to);
      continue;
    }
    Real crossing = (bound - kept.offset) / kept.slope;
    int64_t border = direction > 0 ? toInt64(crossing.ceil())
                                   : toInt64(crossing.floor()) + 1;
    border = std::clamp(border, kept.from, to + 1);
    Piece &left = direction > 0 ? below : kept;
    Piece &right = direction > 0 ? kept : below;
    right.from = border;
    push(left, border - 1);
    push(right, to);
  }
  list = std::move(out);
}

void PiecewiseLinear::leaky(const Real &alpha) {
  replaceBelow(Real(0), alpha, Real(0));
}

void PiecewiseLinear::atLeast(const Real &bound) {
  replaceBelow(bound, Real(0), bound);
}

void PiecewiseLinear::atMost(const Real &bound) {
  scale(Real(-1));
  atLeast(-bound);
  scale(Real(-1));
}

PiecewiseLinear PiecewiseLinear::mirrored() const {
  PiecewiseLinear f;
  f.first = -last;
  f.last = -first;
  for (size_t i = list.size(); i-- > 0;)
    f.list.push_back({-end(i), -list[i].slope, list[i].offset});
  return f;
}

PiecewiseLinear PiecewiseLinear::over(int64_t lo, int64_t hi) const {
  assert(isAffine() && "only an affine function can change its range");
  return affine(lo, hi, list[0].slope, list[0].offset);
}

bool PiecewiseLinear::neverFalls() const {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].from < end(i) && list[i].slope.sign() < 0)
      return false;
    if (i > 0 && list[i].at(list[i].from) < list[i - 1].at(list[i].from - 1))
      return false;
  }
  return true;
}

int64_t Quantizer::level(const Real &value) const {
  if (rounding == Rounding::Sign)
    return value.sign() >= 0 ? 1 : 0;
  Real u = value / Real(scale);
  const Real half(mpq_class(1, 2));
  mpz_class n;
  switch (rounding) {
  case Rounding::HalfEven: {
    Real shifted = u + half;
    n = shifted.floor();
    if (mpz_odd_p(n.get_mpz_t()) && shifted == Real(mpq_class(n)))
      n -= 1;
    break;
  }
  case Rounding::HalfUp:
    n = (u + half).floor();
    break;
  case Rounding::HalfDown:
    n = (u - half).ceil();
    break;
  case Rounding::HalfAway:
    n = u.sign() < 0 ? (u - half).ceil() : (u + half).floor();
    break;
  case Rounding::HalfTowardZero:
    n = u.sign() < 0 ? (u + half).floor() : (u - half).ceil();
    break;
  case Rounding::TowardZero:
    n = u.sign() < 0 ? u.ceil() : u.floor();
    break;
  case Rounding::AwayFromZero:
    n = u.sign() < 0 ? u.floor() : u.ceil();
    break;
  case Rounding::Up:
    n = u.ceil();
    break;
  case Rounding::Down:
  case Rounding::Sign:
    n = u.floor();
    break;
  }
  return std::clamp(toInt64(n) + zero, lo, hi);
}

Quantizer::Boundary Quantizer::boundary(int64_t level) const {
  int64_t n = level - zero;
  switch (rounding) {
  case Rounding::HalfEven:
    return {1, n % 2 == 0};
  case Rounding::HalfUp:
    return {1, true};
  case Rounding::HalfDown:
    return {1, false};
  case Rounding::HalfAway:
    return {1, n > 0};
  case Rounding::HalfTowardZero:
    return {1, n <= 0};
  case Rounding::AwayFromZero:
    return n > 0 ? Boundary{2, false} : Boundary{0, true};
  case Rounding::TowardZero:
    return n > 0 ? Boundary{0, true} : Boundary{2, false};
  case Rounding::Up:
    return {2, false};
  case Rounding::Down:
  case Rounding::Sign:
    return {0, true};
  }
  return {0, true};
}

namespace {
/// The first whole x with x ≥ (or >) c0 + c1 · level, exactly and fast.
class LevelSolver {
public:
  LevelSolver(Real constant, Real perLevel, int64_t largestLevel)
      : c0(std::move(constant)), c1(std::move(perLevel)) {
    if (c0.isRational() && c1.isRational()) {
      mpz_class den = lcm(c0.rational().get_den(), c1.rational().get_den());
      mpq_class p = c0.rational() * den, q = c1.rational() * den;
      mpz_class top = abs(q.get_num()) * (largestLevel + 1);
      if (bits(p.get_num()) < 120 && bits(top) < 120 && bits(den) < 120) {
        narrow = true;
        constantNum = wide(p.get_num());
        perLevelNum = wide(q.get_num());
        denominator = wide(den);
      }
    }
    approx0 = c0.toDouble();
    approx1 = c1.toDouble();
    error0 = c0.magnitude() * 0x1p-46;
    error1 = c1.magnitude() * 0x1p-46;
  }

  int64_t solve(int64_t level, bool closed) const {
    if (narrow) {
      __int128 t = constantNum + perLevelNum * level;
      __int128 floor = t / denominator;
      if (t % denominator < 0)
        --floor;
      bool onBorder = floor * denominator == t;
      return saturate(onBorder && closed ? floor : floor + 1);
    }
    double t = approx0 + approx1 * double(level);
    double error = error0 + error1 * std::abs(double(level));
    if (std::abs(t) < 0x1p52 && std::abs(t - std::nearbyint(t)) > error)
      return int64_t(std::floor(t)) + 1;
    Real exactly = c0 + c1 * Real(level);
    return closed ? toInt64(exactly.ceil()) : toInt64(exactly.floor()) + 1;
  }

private:
  static size_t bits(const mpz_class &v) {
    return mpz_sizeinbase(v.get_mpz_t(), 2);
  }
  static __int128 wide(const mpz_class &v) {
    mpz_class magnitude = abs(v);
    mpz_class high = magnitude >> 62;
    mpz_class low = magnitude - (high << 62);
    __int128 result = (__int128(high.get_si()) << 62) + low.get_si();
    return sgn(v) < 0 ? -result : result;
  }
  static int64_t saturate(__int128 v) {
    constexpr int64_t limit = int64_t(1) << 62;
    return v > limit ? limit : v < -limit ? -limit : int64_t(v);
  }

  Real c0, c1;
  bool narrow = false;
  __int128 constantNum = 0, perLevelNum = 0, denominator = 1;
  double approx0, approx1, error0, error1;
};
} // namespace

/// Appends the steps that lie on one rising or level piece.
static void stepsOfPiece(const PiecewiseLinear::Piece &piece, int64_t to,
                         const Quantizer &quantizer, Steps &steps) {
  int64_t top = quantizer.level(piece.at(to));
  if (top <= steps.top())
    return;
  if (piece.slope.sign() == 0 || piece.from == to) {
    steps.at.insert(steps.at.end(), top - steps.top(), piece.from);
    return;
  }
  Real scale(quantizer.scale);
  Real perLevel = scale / piece.slope;
  std::optional<LevelSolver> solvers[3];
  int64_t largest = std::max(std::abs(top), std::abs(steps.bottom));
  for (int64_t level = steps.top() + 1; level <= top; ++level) {
    auto [halves, closed] = quantizer.boundary(level);
    auto &solver = solvers[halves];
    if (!solver) {
      Real origin = scale * Real(mpq_class(-2 * quantizer.zero - halves, 2));
      solver.emplace((origin - piece.offset) / piece.slope, perLevel, largest);
    }
    steps.at.push_back(
        std::clamp(solver->solve(level, closed), piece.from, to));
  }
}

std::optional<Steps> rhizome::computeSteps(const PiecewiseLinear &f,
                                           const Quantizer &quantizer) {
  Steps steps;
  const PiecewiseLinear *rising = &f;
  PiecewiseLinear mirror;
  if (!f.neverFalls()) {
    mirror = f.mirrored();
    rising = &mirror;
    steps.falls = true;
    if (!mirror.neverFalls())
      return std::nullopt;
  }
  steps.lo = rising->lo();
  steps.hi = rising->hi();
  steps.bottom = quantizer.level(rising->at(steps.lo));
  for (size_t i = 0; i < rising->pieces().size(); ++i)
    stepsOfPiece(rising->pieces()[i], rising->end(i), quantizer, steps);
  return steps;
}
