// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values that a kernel's operations can give, from the ranges of its
// inputs: interval and affine arithmetic, both sound; the narrower result is
// used. If a value may exceed its format, a search looks for an input that
// makes it do so, and proves it by running the kernel in its formats.
#pragma once

#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Numeric/Format.h"

namespace rhizome {
/// A closed interval.
struct Interval {
  double lo = -1, hi = 1;
};

/// An operation whose exact results may exceed its format.
struct OverflowWarning {
  mlir::Operation *op = nullptr;
  mlir::Location place; ///< the operation's, or the nearest around it
  numeric::Format format = {};
  Interval range = {};    ///< what may occur before rounding into the format
  Interval limits = {};   ///< what the format holds
  bool isCertain = false; ///< `input` overflows there
  double reached = 0;     ///< the value for `input`
  std::vector<std::vector<double>> input = {}; ///< one vector per argument
};

struct RangeOptions {
  std::vector<Interval> inputs; ///< one per argument; [-1, 1] by default
  uint64_t seed = 1;
  int starts = 8; ///< of the search, for each operation
  bool search = true;
};

struct RangeReport {
  std::vector<OverflowWarning> warnings; ///< in the kernel's order
  uint64_t scalars = 0; ///< number of scalar operations analyzed
};

/// How large a kernel's numbers become, in real arithmetic.
struct Magnitudes {
  double onData = 0;   ///< the largest in the given runs
  double possible = 0; ///< an upper bound for all inputs in their ranges
  int64_t multiplications = 0, additions = 0; ///< per run
};
llvm::FailureOr<Magnitudes>
magnitudes(mlir::func::FuncOp func,
           llvm::ArrayRef<std::vector<Tensor>> applications,
           const RangeOptions &options);

/// Analyzes a kernel whose formats have been applied. Its arguments are f64 or
/// f32. Kernels of more than 2^25 scalar operations are refused. Fails with a
/// diagnostic.
llvm::FailureOr<RangeReport> analyzeRanges(mlir::func::FuncOp func,
                                           const RangeOptions &options);
} // namespace rhizome
