// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that are not exact: fixed point with a bound of its error, which
// every operation adds to. So the operator that uses it proves its precision
// while it is built.
#pragma once

#include "Datapath.h"

namespace rhizome::gen::floats {
/// bits · 2^-scale, at least zero and at most `most`, and not further than
/// `error` from the number it stands for.
struct Number {
  mlir::Value bits;
  int64_t scale = 0;
  double most = 0, error = 0;
};

class Approximate {
public:
  Approximate(Datapath &d, const CostContext &device) : d(d), device(device) {}

  /// A constant in [0, 2^above), given in units of 2^-scale.
  Number constant(const llvm::APInt &value, int64_t scale, double error);
  /// 1 / n!, or 1 / n.
  Number inverseFactorial(int64_t n, int64_t scale);
  Number inverseOf(int64_t n, int64_t scale);
  /// Without the fraction bits after `scale`.
  Number cut(const Number &x, int64_t scale);
  /// The product with that many fraction bits; what cannot change them is not
  /// computed.
  Number times(const Number &x, const Number &y, int64_t scale);
  Number plus(const Number &x, const Number &y);
  /// x − y, or x + y if `isSum`; x is at least y.
  Number minusOrPlus(const Number &x, const Number &y, mlir::Value isSum);
  /// The entry of a table.
  mlir::Value lookup(mlir::Value index, llvm::ArrayRef<llvm::APInt> entries);

private:
  Datapath &d;
  CostContext device;

  mlir::Value aligned(const Number &x, int64_t scale, int64_t width);
};

/// 2^-n, of any sign of n.
double powerOfTwo(int64_t n);
/// Bits of numbers up to `most` with that many fraction bits.
int64_t bitsFor(double most, int64_t scale);
} // namespace rhizome::gen::floats
