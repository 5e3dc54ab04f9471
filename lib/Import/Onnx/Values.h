// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as values in their two layouts, and the results of a node.
#pragma once

#include "Context.h"
#include "rhizome/Support/LinalgLoops.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rhizome::importer {
/// The tensor's value in one of the layouts; null if refused.
mlir::Value plain(Place &place, const TensorRef &t);
mlir::Value channelsLast(Place &place, const TensorRef &t);
/// A constant operand used with a channels-last tensor of `rank`: permuted,
/// with its leading unit axes dropped.
mlir::Value constantBesideLast(Place &place, const TensorRef &t, size_t rank);
mlir::Value materialize(Place &place, const GraphTensor &t);
/// The same with its axes in another order.
mlir::Value materialize(Place &place, const TensorRef &t,
                        llvm::ArrayRef<int64_t> permutation);

mlir::Value transpose(Place &place, mlir::Value v,
                      llvm::ArrayRef<int64_t> permutation);
mlir::Value reshape(Place &place, mlir::Value v, llvm::ArrayRef<int64_t> shape);
mlir::Value quantStep(Place &place, mlir::Value v, const QuantStep &step,
                      int64_t axis);

host::Loops loops(Place &place);
mlir::Value wholeConstant(Place &place, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> values);
mlir::Value realConstant(Place &place, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<float> values);

/// The first result of the node: a value in ONNX's layout, a channels-last one
/// whose ONNX shape is `shape`, or an unchanged tensor.
llvm::LogicalResult setPlain(NodeContext &node, mlir::Value v);
llvm::LogicalResult setLast(NodeContext &node, mlir::Value v, Shape shape);
llvm::LogicalResult passThrough(NodeContext &node, const TensorRef &x);
/// Applies `make` in the layout that the tensor already has.
llvm::LogicalResult
elementwise(NodeContext &node, const TensorRef &x, mlir::Type element,
            llvm::function_ref<mlir::Value(mlir::Value, mlir::RankedTensorType,
                                           bool last)>
                make);
/// Marks the node's first result as integers represented as reals.
void setWhole(NodeContext &node, std::pair<int64_t, int64_t> bounds);

/// Rounds the reals of `t` to a shorter type of float.
void roundTo(Place &place, GraphTensor &t, mlir::FloatType half);
/// Gives the node's real results the file's element type; float16 and
/// bfloat16 results are rounded.
void settleTypes(NodeContext &node);
} // namespace rhizome::importer
