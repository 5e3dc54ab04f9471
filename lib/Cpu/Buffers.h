// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers, the first step from linalg to machine code.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "rhizome/Support/LinalgLoops.h"

namespace rhizome::cpu {
/// The bytes of constants, each with the type of its buffer.
using Constants = std::vector<std::vector<char>>;

/// The memory in which a caller hands over a function's arguments and results.
struct Memory {
  llvm::SmallVector<mlir::MemRefType> inputs, results;
  /// For each result the argument whose memory it takes, or -1.
  llvm::SmallVector<int> takes;

  /// Dense arrays, none shared.
  static Memory dense(mlir::func::FuncOp func);
};

/// Joins elementwise operations on tensors with the one operation that reads
/// their result, place by place.
void fuseElementwise(mlir::func::FuncOp func);

/// Rewrites a function on tensors (linalg, slices, reshapes; one block) to
/// take memrefs only: inputs, then results with memory of their own, then
/// constants, whose bytes go to `constants`. Temporaries become `memref.alloc`
/// at the function's top level, without deallocation. Operations without
/// tensors stay as they are. Fails with a diagnostic at what it does not know.
llvm::LogicalResult bufferize(mlir::func::FuncOp func, const Memory &memory,
                              Constants &constants);

/// Keeps a function on buffers, fresh from `bufferize`, within them, and from
/// divisions at which a processor traps, whatever its model computes: checks
/// are added where its indices do not show it, if there may be any. Fails with
/// a diagnostic at an access that is always outside, or may be, and at what is
/// neither arithmetic nor a loop nor an access.
llvm::LogicalResult guardAccesses(mlir::func::FuncOp func, bool mayCheck);

/// Makes the loops' checks (host::Check) record the first value for which one
/// does not hold, in a new argument of the function, int64 [3]. Returns the
/// checks; of none there is no argument.
std::vector<host::Check> recordChecks(mlir::func::FuncOp func,
                                      unsigned argument);

/// Moves the operations of a long function into functions of their own, which
/// lowering and LLVM take in linear time and whose arguments do not overlap.
/// Buffers stay where they are, and no other value crosses a cut.
void cutIntoParts(mlir::func::FuncOp func);

/// Replaces allocations by views of one scratch buffer, a new last argument of
/// the function: buffers whose lifetimes, in operations of the entry block, do
/// not overlap share their place (left-edge order). `margin` bytes after each
/// may be read. Returns the scratch buffer's bytes.
int64_t shareScratch(mlir::func::FuncOp func, int64_t margin);
} // namespace rhizome::cpu
