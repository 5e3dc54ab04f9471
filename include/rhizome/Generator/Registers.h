// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines of `rtl` operations: logic without registers, and a schedule of it,
// become logic in stages.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "rhizome/Schedule/Problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace rhizome::gen {
/// The logic of one operation of a schedule: `rtl` operations of one block that
/// stand together, from `first` on.
struct LogicGroup {
  mlir::Operation *first = nullptr; ///< null: its value is one that it reads
  mlir::Value value;                ///< what others read of it; may be null
  bool isConstant = false;          ///< the same in every stage
};

/// Delays what a group reads of groups that start earlier, a register each
/// stage, which all readers share. `groups` are the operations of the problem
/// in the order in which they stand in the block; what each reads is given by
/// the dependences, sorted by their reader. Operations without latency only.
/// Gives the value of the last group in its stage.
mlir::Value insertRegisters(mlir::Block &block, mlir::Value clock,
                            llvm::ArrayRef<LogicGroup> groups,
                            const schedule::Problem &problem,
                            const schedule::Schedule &schedule);
} // namespace rhizome::gen
