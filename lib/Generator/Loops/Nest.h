// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From `linalg.generic` to a scheduled loop.
#pragma once

#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Units/Floats/Operators.h"

namespace rhizome::gen::loops {
/// Registers before and behind a multiplier.
inline constexpr int64_t kProductLatency = 2;

/// Makes a kernel that computes in f32 or f64 one that computes on their
/// patterns, in place and operation by operation. Does nothing if it is in
/// formats, or has an operation that patterns cannot have.
void realsToPatterns(mlir::func::FuncOp kernel);
/// The operator that a call on patterns stands for, and the first of its
/// operands that is a pattern.
std::optional<floats::Operator> operatorOf(mlir::Operation &op);
unsigned firstPatternOf(mlir::Operation &call);
/// The result of a call on patterns that are constants.
std::optional<llvm::APInt>
evaluateCall(mlir::func::CallOp call, mlir::ArrayRef<mlir::Attribute> operands);

/// Simplifies the body of a nest, in place.
void simplify(mlir::linalg::GenericOp op);

/// Cuts products that are too large for a DSP block into products that are not,
/// and sums of these; in place.
void cutProducts(mlir::linalg::GenericOp op, const CostContext &context);

/// A nest without obstacles with its loops in the chosen order, not yet split
/// nor scheduled; nothing if the choice is not one for this nest. `withSums`
/// allows copies of reductions: where the terms of split sums will be read.
std::optional<Nest> layOut(mlir::linalg::GenericOp op, const NestChoice &choice,
                           bool withSums = false);
/// The schedule of nests that share a datapath; fails with a diagnostic if the
/// result is scheduled wrongly.
mlir::LogicalResult
schedule(llvm::ArrayRef<Nest *> nests,
         const llvm::DenseMap<mlir::Value, BankFactors> &banks,
         const cost::LogicPace &pace, floats::Operators &operators);
/// True if two nests can use one datapath in turns.
bool areAlike(Nest &a, Nest &b);
/// True if an index is a constant plus multiples of loops.
bool isLinear(mlir::AffineExpr index);
/// The constant that all of a tensor's elements have; nothing if they differ
/// or are computed.
std::optional<llvm::APInt> uniformValue(mlir::Value tensor);
/// Is an input of a nest read from a memory? Not if nothing uses it, or if all
/// of its elements are equal.
bool isRead(mlir::linalg::GenericOp nest, mlir::OpOperand &input);
} // namespace rhizome::gen::loops
