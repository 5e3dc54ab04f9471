// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rational arithmetic stays exact; a transcendental function of a rational is
// never rational except at a few known points, so a bound of about 2⁻⁵⁵ decides
// every rounding that occurs.
#include "Curve.h"
#include "rhizome/Dialect/Osa/Unary.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace rhizome;
using Binary = Curve::Binary;
using osa::UnaryKind;

namespace {
using Wide = long double;
/// The relative error of one operation of the C library; generous.
constexpr Wide kRelative = 0x1p-58L;

/// A function of the C library, by a bound on the magnitude of its slope near
/// x.
struct Unary {
  Wide (*slope)(Wide);
  int direction; ///< as Curve::direction
  /// The points at which it is rational, and its values there.
  std::vector<std::pair<int, mpq_class>> known;
};

/// The functions that are neither rational nor a root.
const std::map<UnaryKind, Unary> &unaries() {
  auto one = [](Wide) { return Wide(1.2); };
  static const std::map<UnaryKind, Unary> table = {
      {UnaryKind::Sigmoid, {one, 1, {{0, mpq_class(1, 2)}}}},
      {UnaryKind::Tanh, {one, 1, {{0, 0}}}},
      {UnaryKind::Erf, {one, 1, {{0, 0}}}},
      {UnaryKind::Exp, {[](Wide x) { return 2 * std::exp(x); }, 1, {{0, 1}}}},
      {UnaryKind::Log, {[](Wide x) { return 2 / x; }, 1, {{1, 0}}}},
      {UnaryKind::Softplus, {one, 1, {}}},
      {UnaryKind::Gelu, {one, 0, {{0, 0}}}},
      {UnaryKind::Mish, {one, 0, {{0, 0}}}},
  };
  return table;
}

/// The arithmetic of Numeric/Functions.h on rationals.
struct Rational {
  using Q = mpq_class;
  Q real(double v) const { return Q(v); }
  Q add(const Q &x, const Q &y) const { return x + y; }
  Q mul(const Q &x, const Q &y) const { return x * y; }
  Q div(const Q &x, const Q &y) const { return x / y; }
  Q abs(const Q &x) const { return ::abs(x); }
  Q min(const Q &x, const Q &y) const { return std::min(x, y); }
  Q max(const Q &x, const Q &y) const { return std::max(x, y); }
};

Number near(Wide value, Wide off) {
  Number n;
  n.exact = false;
  n.near = value;
  n.off = off + std::abs(value) * kRelative + 0x1p-100L;
  return n;
}

/// An exact number as a bounded one.
Number rough(const Number &n) {
  if (!n.exact)
    return n;
  // get_d truncates to 53 bits; the rest of the quotient gives 53 more.
  double high = n.value.get_d();
  double low = mpq_class(n.value - mpq_class(high)).get_d();
  return near(Wide(high) + Wide(low), 0);
}

Number apply(const Curve::Limit &limit, const Number &x) {
  const mpq_class &bound = limit.bound;
  if (x.exact)
    return Number::of(limit.atLeast ? std::max(x.value, bound)
                                    : std::min(x.value, bound));
  Wide l = bound.get_d();
  return near(limit.atLeast ? std::max(x.near, l) : std::min(x.near, l), x.off);
}

/// A function of the C library.
std::optional<Number> applyLibrary(UnaryKind kind, const Number &x) {
  const Unary &u = unaries().at(kind);
  if (x.exact)
    for (const auto &[point, value] : u.known)
      if (x.value == point)
        return Number::of(value);
  Number r = rough(x);
  Wide value = osa::applyUnary(numeric::Native<Wide>(), kind, r.near);
  if (!std::isfinite(value))
    return std::nullopt;
  // Some consist of several operations of the library.
  return near(value, r.off * u.slope(r.near) +
                         8 * kRelative * (std::abs(value) + std::abs(r.near)));
}

std::optional<Number> apply(UnaryKind kind, const Number &x) {
  switch (kind) {
  case UnaryKind::Neg:
  case UnaryKind::Abs: {
    Number n = x;
    if (kind == UnaryKind::Neg || (x.exact ? sgn(x.value) < 0 : x.near < 0)) {
      n.value = -n.value;
      n.near = -n.near;
    }
    return n;
  }
  case UnaryKind::Reciprocal:
    if (x.exact ? sgn(x.value) == 0 : std::abs(x.near) <= 2 * x.off)
      return std::nullopt;
    if (x.exact)
      return Number::of(1 / x.value);
    return near(1 / x.near, 4 * x.off / (x.near * x.near));
  case UnaryKind::HardSwish:
    if (!x.exact)
      return std::nullopt;
    return Number::of(numeric::hardSwish(Rational(), x.value));
  case UnaryKind::Softsign:
    if (!x.exact)
      return std::nullopt;
    return Number::of(numeric::softsign(Rational(), x.value));
  case UnaryKind::Sqrt: {
    if (x.exact ? sgn(x.value) < 0 : x.near <= 2 * x.off)
      return std::nullopt;
    if (x.exact) {
      Real root = Real::sqrt(x.value);
      if (root.isRational())
        return Number::of(root.rational());
    }
    Number r = rough(x);
    Wide root = std::sqrt(r.near);
    return near(root, r.off / root);
  }
  case UnaryKind::Log:
    if (x.exact ? sgn(x.value) <= 0 : x.near <= 2 * x.off)
      return std::nullopt;
    return applyLibrary(kind, x);
  case UnaryKind::Erf:
  case UnaryKind::Exp:
  case UnaryKind::Gelu:
  case UnaryKind::Mish:
  case UnaryKind::Sigmoid:
  case UnaryKind::Softplus:
  case UnaryKind::Tanh:
    return applyLibrary(kind, x);
  }
  llvm_unreachable("every kind is handled");
}

std::optional<Number> combine(Binary kind, const Number &a, const Number &b) {
  if (kind == Binary::Max || kind == Binary::Min) {
    // If bounded numbers overlap, the choice is open, but not the bound.
    bool second =
        (a.exact && b.exact ? a.value < b.value : a.middle() < b.middle()) ==
        (kind == Binary::Max);
    if (a.exact && b.exact)
      return second ? b : a;
    Number x = rough(a), y = rough(b);
    return near(second ? y.near : x.near, std::max(x.off, y.off));
  }
  if (a.exact && b.exact) {
    if (kind == Binary::Add)
      return Number::of(a.value + b.value);
    if (kind == Binary::Sub)
      return Number::of(a.value - b.value);
    if (kind == Binary::Mul)
      return Number::of(a.value * b.value);
    if (sgn(b.value) == 0)
      return std::nullopt;
    return Number::of(a.value / b.value);
  }
  if (kind == Binary::Mul &&
      ((a.exact && sgn(a.value) == 0) || (b.exact && sgn(b.value) == 0)))
    return Number::of(mpq_class(0));
  Number x = rough(a), y = rough(b);
  if (kind == Binary::Add)
    return near(x.near + y.near, x.off + y.off);
  if (kind == Binary::Sub)
    return near(x.near - y.near, x.off + y.off);
  if (kind == Binary::Mul)
    return near(x.near * y.near,
                x.off * (std::abs(y.near) + y.off) + y.off * std::abs(x.near));
  if (std::abs(y.near) <= 2 * y.off)
    return std::nullopt;
  Wide quotient = x.near / y.near;
  return near(quotient,
              2 * (x.off + std::abs(quotient) * y.off) / std::abs(y.near));
}
} // namespace

Number Number::of(const Real &v) {
  if (v.isRational())
    return of(v.rational());
  return ::near(v.toDouble(), Wide(v.magnitude()) * 0x1p-50L);
}

std::optional<Number> Curve::at(size_t channel, int64_t x) const {
  if (operands.empty()) {
    const PiecewiseLinear &f = leaf[leaf.size() == 1 ? 0 : channel];
    return Number::of(f.at(std::clamp(x, f.lo(), f.hi())));
  }
  std::optional<Number> first = operands[0]->at(channel, x);
  if (!first)
    return std::nullopt;
  if (auto *limit = std::get_if<Limit>(&kind))
    return apply(*limit, *first);
  if (auto *function = std::get_if<UnaryKind>(&kind))
    return apply(*function, *first);
  std::optional<Number> second = operands[1]->at(channel, x);
  return second ? combine(std::get<Binary>(kind), *first, *second)
                : std::nullopt;
}

/// Like Curve::direction, for the function alone.
static int directionOf(UnaryKind kind) {
  if (kind == UnaryKind::Softsign || kind == UnaryKind::Sqrt)
    return 1;
  if (kind == UnaryKind::Neg)
    return -1;
  auto found = unaries().find(kind);
  return found == unaries().end() ? 0 : found->second.direction;
}

int Curve::direction(size_t channel) const {
  if (operands.empty()) {
    const PiecewiseLinear &f = leaf[leaf.size() == 1 ? 0 : channel];
    return f.neverFalls() ? 1 : f.mirrored().neverFalls() ? -1 : 0;
  }
  auto constant = [&](const Curve &c) -> const PiecewiseLinear * {
    if (!c.operands.empty())
      return nullptr;
    const PiecewiseLinear &f = c.leaf[c.leaf.size() == 1 ? 0 : channel];
    return f.isAffine() && f.pieces()[0].slope.sign() == 0 ? &f : nullptr;
  };
  int own = operands[0]->direction(channel);
  if (std::holds_alternative<Limit>(kind))
    return own;
  if (auto *function = std::get_if<UnaryKind>(&kind))
    return own * directionOf(*function);
  auto join = std::get<Binary>(kind);
  int other = operands[1]->direction(channel);
  if (join == Binary::Max || join == Binary::Min) {
    if (constant(*operands[1]))
      return own;
    return constant(*operands[0]) ? other : own == other ? own : 0;
  }
  if (join == Binary::Add)
    return own == other ? own : 0;
  if (join == Binary::Sub) {
    if (constant(*operands[1]))
      return own;
    return constant(*operands[0]) ? -other : own == -other ? own : 0;
  }
  if (const PiecewiseLinear *factor = constant(*operands[1]))
    return own * factor->pieces()[0].offset.sign();
  if (const PiecewiseLinear *factor = constant(*operands[0]);
      factor && join == Binary::Mul)
    return other * factor->pieces()[0].offset.sign();
  return 0;
}

std::optional<int64_t> rhizome::levelOf(const Quantizer &quantizer,
                                        const Number &value) {
  if (value.exact)
    return quantizer.level(Real(value.value));
  double low = std::nextafter(double(value.near - value.off), -INFINITY),
         high = std::nextafter(double(value.near + value.off), INFINITY);
  int64_t from = quantizer.level(Real(exact(low)));
  if (from != quantizer.level(Real(exact(high)))) {
    // Doubles are coarse: try the bounds themselves.
    auto whole = [](Wide v) {
      double high = double(v);
      return mpq_class(mpq_class(high) + mpq_class(double(v - Wide(high))));
    };
    from = quantizer.level(Real(whole(value.near - value.off)));
    if (from != quantizer.level(Real(whole(value.near + value.off))))
      return std::nullopt;
  }
  return from;
}

std::optional<Steps> rhizome::computeSteps(const Curve &curve, size_t channel,
                                           int64_t lo, int64_t hi,
                                           const Quantizer &quantizer,
                                           int64_t most) {
  int direction = curve.direction(channel);
  if (direction == 0)
    return std::nullopt;
  Steps steps;
  steps.falls = direction < 0;
  steps.lo = steps.falls ? -hi : lo;
  steps.hi = steps.falls ? -lo : hi;
  auto level = [&](int64_t x) -> std::optional<int64_t> {
    std::optional<Number> value = curve.at(channel, steps.falls ? -x : x);
    return value ? levelOf(quantizer, *value) : std::nullopt;
  };
  std::optional<int64_t> bottom = level(steps.lo), top = level(steps.hi);
  if (!bottom || !top || *top - *bottom > most)
    return std::nullopt;
  steps.bottom = *bottom;
  int64_t from = steps.lo;
  for (int64_t k = *bottom; k < *top; ++k) {
    int64_t low = from, high = steps.hi; // level(high) > k
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      std::optional<int64_t> here = level(middle);
      if (!here)
        return std::nullopt;
      if (*here > k)
        high = middle;
      else
        low = middle + 1;
    }
    steps.at.push_back(low);
    from = low;
  }
  return steps;
}
