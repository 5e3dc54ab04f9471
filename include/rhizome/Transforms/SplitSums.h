// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several terms of a sum in one iteration.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome {
/// A change of the order of a kernel's sum.
struct SumChoice {
  unsigned sum = 0;  ///< of the kernel's sums (isSum), which copies add none to
  unsigned loop = 0; ///< a reduction of it
  int64_t terms = 1; ///< in one iteration; divides the loop's iterations
  bool operator==(const SumChoice &) const = default;
};

/// True if the nest adds one term to its result in each iteration.
bool isSum(mlir::linalg::GenericOp op);

/// Adds the terms of consecutive iterations of a reduction to each other, as a
/// balanced tree, and then to the result. Another order of the same terms:
/// numbers that are rounded or saturate may differ. Fails, and changes
/// nothing, if the nest is not such a sum or `terms` does not divide the loop.
llvm::FailureOr<mlir::linalg::GenericOp> splitSum(mlir::linalg::GenericOp op,
                                                  unsigned loop, int64_t terms);

/// Applies choices to the function's nests. Fails as above.
llvm::LogicalResult splitSums(mlir::Operation *func,
                              llvm::ArrayRef<SumChoice> choices);
} // namespace rhizome
