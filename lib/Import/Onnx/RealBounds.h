// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which numbers the reals of the network lie, as far as quantizers and
// constants tell. It decides where the network may stand for integer
// arithmetic: its reals don't wrap around.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

namespace rhizome::importer {
/// A closed interval; unbounded unless something is known.
struct RealInterval {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool isWithin(double low, double high) const {
    return lo >= low && hi <= high;
  }
};

/// Intervals of real-level values, each computed once.
class RealBounds {
public:
  RealInterval of(mlir::Value v);

private:
  llvm::DenseMap<mlir::Value, RealInterval> known;
};
} // namespace rhizome::importer
