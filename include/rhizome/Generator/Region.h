// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a generator is asked about: one operation, or connected operations that
// it would build as one.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace rhizome::gen {
/// The value that owns these elements: reshapes do not move data in a stream.
mlir::Value rootOf(mlir::Value v);

class Region {
public:
  /// One operation.
  Region(mlir::Operation *op);
  /// Connected operations, in the network's order, each once.
  explicit Region(llvm::ArrayRef<mlir::Operation *> ops);
  /// All of these regions as one: the streams of the first, then those
  /// of the second, and so on, even where one feeds another.
  static Region joined(llvm::ArrayRef<Region> members);
  /// The same region with other operations that have the same operands and
  /// results.
  Region with(llvm::ArrayRef<mlir::Operation *> others) const;

  llvm::ArrayRef<mlir::Operation *> ops() const { return operations; }
  /// The first operation: the only one of most regions.
  mlir::Operation *front() const { return operations.front(); }
  bool isSingle() const { return operations.size() == 1; }
  /// The streams that enter, once for every time that an operation reads one:
  /// everything except constants that is not produced inside.
  llvm::ArrayRef<mlir::Value> ins() const { return inputs; }
  /// Results that are read outside.
  llvm::ArrayRef<mlir::Value> outs() const { return results; }

private:
  Region() = default;
  llvm::SmallVector<mlir::Operation *, 1> operations;
  llvm::SmallVector<mlir::Value, 2> inputs;
  llvm::SmallVector<mlir::Value, 1> results;
};
} // namespace rhizome::gen
