// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines of `rtl` operations: inserts the registers of a schedule into logic
// without registers.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "rhizome/Solvers/Problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome::gen {
/// The logic of one operation of a schedule: `rtl` operations of one block that
/// are contiguous, starting at `first`.
struct LogicGroup {
  mlir::Operation *first = nullptr; ///< null: its value is one of its operands
  mlir::Value value;                ///< the value that others read; may be null
  bool isConstant = false;          ///< the same in every stage
};

/// Delays the values that a group reads from groups that start earlier, by one
/// register per stage, which all readers share. `groups` are the operations of
/// the problem in their order in the block; the dependences, sorted by their
/// reader, give what each reads. Only for operations without latency. Returns
/// the value of the last group in its stage.
mlir::Value insertRegisters(mlir::Block &block, mlir::Value clock,
                            llvm::ArrayRef<LogicGroup> groups,
                            const schedule::Problem &problem,
                            const schedule::Schedule &schedule);
} // namespace rhizome::gen
