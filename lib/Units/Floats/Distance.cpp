// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How close e^x and log x come to what rounding decides on. The distances of
// floats are those of all arguments of a format, and so of every format whose
// numbers are among its numbers.
#include "Elementary.h"
#include <cmath>
#include <numbers>

namespace rhizome::gen::floats {
namespace {
struct Row {
  int exponentBits, mantissaBits;
  /// −log2 of the least distance, rounded up.
  double exp, log;
};
/// bench/distances.cpp finds them; for double, Lefèvre and Muller, "Worst cases
/// for correct rounding of the elementary functions in double precision", 2003,
/// and for e^x the argument 2^-52 − 2^-105, whose distance is 2^-156 / 3.
constexpr Row kRows[] = {{5, 10, 31.6, 26.3}, {8, 7, 23.4, 25.0},
                         {8, 10, 31.6, 30.1}, {8, 16, 49.6, 43.9},
                         {8, 23, 70.6, 57.1}, {11, 52, 157.6, 120}};
} // namespace

std::optional<double> distanceOf(Function function, const numeric::Format &f) {
  const bool isExp = function == Function::Exp;
  if (f.isFixed()) {
    // Results are next to 2^-(W + 1) units from a half by chance.
    constexpr double kMore = 20;
    const double places =
        f.fractionBits + 1 + std::max(f.width(), f.fractionBits) + kMore;
    return isExp ? std::max(0, f.integerBits) + places : places;
  }
  for (const Row &row : kRows) {
    const int bias = (1 << (row.exponentBits - 1)) - 1;
    // Beyond it e^x overflows in any case; log takes all numbers.
    const double most =
        std::max(f.maxExponent() + 2, -f.minExponent() + f.mantissaBits + 3);
    const bool isCovered =
        isExp ? most * std::numbers::ln2 <= std::ldexp(1, row.exponentBits + 1)
              : f.maxExponent() <= bias && f.minExponent() >= 1 - bias;
    if (f.mantissaBits <= row.mantissaBits && isCovered)
      return isExp ? row.exp : row.log;
  }
  return std::nullopt;
}
} // namespace rhizome::gen::floats
