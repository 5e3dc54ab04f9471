// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// e^x and log x before their rounding, and how precise they must be so that
// the rounding is that of the exact value.
#pragma once

#include "Approximate.h"
#include "rhizome/Units/Floats/Operators.h"

namespace rhizome::gen::floats {
/// e^x = value · 2^exponent.
struct Exponential {
  mlir::Value exponent; ///< signed
  Number value;         ///< 1 … 2.1; exactly 1 for x = 0
};
/// Of ±magnitude / 2^fraction; `precision` fraction bits are right but for a
/// few units.
Exponential exponentialOf(Datapath &d, const CostContext &device,
                          mlir::Value sign, mlir::Value magnitude,
                          int64_t fraction, int64_t precision);

/// |log x|.
struct Logarithm {
  Number value;
  mlir::Value isNegative;
  /// x is near 1: the value is still to be divided by 2^zeros. Null unless a
  /// float is wanted.
  mlir::Value zeros;
};
/// Of 2^exponent · 1.fraction, a signed number and digits whose top bit is set.
/// `precision` bits are right: after the point, or, for floats, in all.
Logarithm logarithmOf(Datapath &d, const CostContext &device,
                      mlir::Value exponent, mlir::Value digits,
                      int64_t precision, bool isFloat);

/// −log2 of the least distance of f(x), scaled into 1 … 2 for floats, from
/// what rounding decides on (numbers, and halves between two), as far as it is
/// known; for fixed point of what is expected, with 20 bits more.
std::optional<double> distanceOf(Function function, const numeric::Format &f);
/// The widest patterns whose results are all in a table.
inline constexpr int kTableBits = 10;
} // namespace rhizome::gen::floats
