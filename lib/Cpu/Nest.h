// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linalg operations on buffers as nests of loops over flat memory, and what
// stands around a nest of sums: what VectorLoops.cpp knows of its input.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace rhizome::cpu {
/// An operand as flat memory and what a step of each loop moves there.
struct Access {
  mlir::Value
      memory; ///< a memref, or the scalar itself; null if it is not read
  int64_t offset = 0;
  /// Begins at an offset that is known at run time only, which `memory` has;
  /// `offset` is counted from there.
  bool isMoved = false;
  llvm::SmallVector<int64_t> steps;
  /// If it lies in strips as wide as a tile (packStrips): what a step of the
  /// loop along vectors moves from one tile to the next.
  int64_t stripStep = 0;

  bool isScalar() const {
    return !memory || !llvm::isa<mlir::MemRefType>(memory.getType());
  }
  mlir::Type element() const {
    return mlir::getElementTypeOrSelf(memory.getType());
  }
};

struct Loop {
  int64_t extent;
  bool isSummed;
};

/// One linalg operation.
struct Nest {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Access> in;
  Access out;
  bool readsOut = false;

  bool hasSums() const {
    return llvm::any_of(loops, [](const Loop &l) { return l.isSummed; });
  }
};

/// An elementwise operation on the buffer of the sums: how far a step of each
/// of the sums' loops moves in its operands and in its result.
struct Following {
  Nest nest;
  llvm::SmallVector<llvm::SmallVector<int64_t>> steps;
  Access out;
};

/// The buffer that a memref is a view of.
mlir::Value rootOf(mlir::Value memref);

/// `size` elements of the memory that a memref is a view of: from where the
/// buffer begins, or, if it begins at an offset that is known at run time only,
/// from there.
mlir::Value flatMemory(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value memref, int64_t size);

/// The nest of an operation; nothing if its subscripts are not linear, its
/// shapes not static or its body no plain arithmetic. Joins loops that walk
/// memory like one and drops those of one step; summed loops keep their order.
std::optional<Nest> nestOf(mlir::Operation *op);

/// What writes the values that the sums of `nest` begin with, if it writes
/// nothing else and its values follow from the place in the sums' buffer.
std::optional<Following> beginningOf(const Nest &nest);

/// The elementwise operation that alone reads the sums of `nest`.
std::optional<Following> endOf(const Nest &nest,
                               const std::optional<Following> &beginning);
} // namespace rhizome::cpu
