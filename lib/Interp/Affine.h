// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals and affine forms (de Figueiredo and Stolfi, "Affine arithmetic:
// concepts and applications", 2004), both widened outwards for the rounding of
// their own computation.
#pragma once

#include "rhizome/Interp/Ranges.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace rhizome::interp {
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Slightly more than the value computed in double.
inline Interval widened(double lo, double hi) {
  if (std::isnan(lo) || std::isnan(hi))
    return {-infinite, infinite};
  return {std::nextafter(lo, -infinite), std::nextafter(hi, infinite)};
}
inline Interval product(const Interval &a, const Interval &b) {
  auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  double p[] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo),
                times(a.hi, b.hi)};
  return widened(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}
inline Interval quotient(const Interval &a, const Interval &b) {
  if (b.lo <= 0 && b.hi >= 0)
    return {-infinite, infinite};
  double p[] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
  for (double v : p)
    if (std::isnan(v))
      return {-infinite, infinite};
  return widened(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}

/// center + Σ factor · ε + error · ε', every ε in [−1, 1]; the input elements'
/// ε are shared by all forms, ε' is private to this form.
struct AffineForm {
  double center = 0, error = 0;
  std::vector<std::pair<int32_t, double>> terms; ///< by rising index

  double radius() const {
    double sum = error;
    for (auto &[index, factor] : terms)
      sum += std::fabs(factor);
    return sum;
  }
  Interval range() const {
    // The sum's own rounding: each of its terms contributes at most half an
    // ulp.
    double r = radius() * (1 + 1e-15 * double(terms.size() + 4)) +
               std::fabs(center) * 1e-15;
    return widened(center - r, center + r);
  }
  static AffineForm of(const Interval &range) {
    AffineForm f;
    f.center = range.lo / 2 + range.hi / 2;
    f.error = (range.hi - range.lo) / 2 * (1 + 1e-15);
    return f;
  }
  static AffineForm input(int32_t index, const Interval &range) {
    AffineForm f = of(range);
    f.terms.push_back({index, f.error});
    f.error = 0;
    return f;
  }
  AffineForm scaled(double by) const {
    AffineForm f = *this;
    f.center *= by;
    f.error *= std::fabs(by);
    for (auto &[index, factor] : f.terms)
      factor *= by;
    return f.rounded();
  }
  /// Including the rounding of center and factors.
  AffineForm rounded() const {
    AffineForm f = *this;
    f.error += (std::fabs(center) + radius()) * 4e-16;
    return f;
  }
  /// x·a + y·b.
  static AffineForm combine(const AffineForm &a, double x, const AffineForm &b,
                            double y) {
    AffineForm f;
    f.center = x * a.center + y * b.center;
    f.error = std::fabs(x) * a.error + std::fabs(y) * b.error;
    f.terms.reserve(a.terms.size() + b.terms.size());
    size_t i = 0, j = 0;
    while (i < a.terms.size() || j < b.terms.size()) {
      bool left = j == b.terms.size() ||
                  (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
      bool right = i == a.terms.size() ||
                   (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
      double factor = 0;
      int32_t index = left ? a.terms[i].first : b.terms[j].first;
      if (left)
        factor += x * a.terms[i++].second;
      if (right)
        factor += y * b.terms[j++].second;
      if (factor != 0)
        f.terms.push_back({index, factor});
    }
    return f.rounded();
  }
  static AffineForm multiply(const AffineForm &a, const AffineForm &b) {
    AffineForm f = combine(a, b.center, b, a.center);
    f.center = a.center * b.center;
    f.error += a.radius() * b.radius();
    return f.rounded();
  }
};
} // namespace rhizome::interp
