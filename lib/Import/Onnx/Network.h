// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that become part of the network, as real-level `osa`, and their
// common parts. A builder sets the node's results, or refuses what
// the network does not support; then the host computes the node.
#pragma once

#include "Values.h"

namespace rhizome::importer {
namespace network {
// NetworkWindows.cpp, NetworkConvTranspose.cpp
llvm::LogicalResult conv(NodeContext &node);
llvm::LogicalResult maxPool(NodeContext &node);
llvm::LogicalResult averagePool(NodeContext &node);
llvm::LogicalResult globalPool(NodeContext &node);
llvm::LogicalResult batchNormalization(NodeContext &node);
llvm::LogicalResult convTranspose(NodeContext &node);

// NetworkProducts.cpp
llvm::LogicalResult gemm(NodeContext &node);
llvm::LogicalResult matMul(NodeContext &node);
llvm::LogicalResult einsum(NodeContext &node);

// NetworkElementwise.cpp
llvm::LogicalResult binary(NodeContext &node);
llvm::LogicalResult sum(NodeContext &node);
llvm::LogicalResult extremum(NodeContext &node);
llvm::LogicalResult pow(NodeContext &node);
llvm::LogicalResult relu(NodeContext &node);
llvm::LogicalResult leakyRelu(NodeContext &node);
llvm::LogicalResult clip(NodeContext &node);
llvm::LogicalResult unary(NodeContext &node);

// NetworkReduce.cpp
llvm::LogicalResult reduce(NodeContext &node);
llvm::LogicalResult softmax(NodeContext &node);
llvm::LogicalResult layerNormalization(NodeContext &node);
llvm::LogicalResult argMax(NodeContext &node);
llvm::LogicalResult topK(NodeContext &node);

// NetworkShapes.cpp
llvm::LogicalResult reshapeOp(NodeContext &node);
llvm::LogicalResult flatten(NodeContext &node);
llvm::LogicalResult squeeze(NodeContext &node);
llvm::LogicalResult unsqueeze(NodeContext &node);
llvm::LogicalResult transposeOp(NodeContext &node);
llvm::LogicalResult concat(NodeContext &node);
llvm::LogicalResult pad(NodeContext &node);
llvm::LogicalResult identity(NodeContext &node);
llvm::LogicalResult dropout(NodeContext &node);
llvm::LogicalResult castOp(NodeContext &node);
llvm::LogicalResult shapeOf(NodeContext &node);

// NetworkMoves.cpp, NetworkResize.cpp
llvm::LogicalResult gather(NodeContext &node);
llvm::LogicalResult slice(NodeContext &node);
llvm::LogicalResult split(NodeContext &node);
llvm::LogicalResult depthToSpace(NodeContext &node);
llvm::LogicalResult spaceToDepth(NodeContext &node);
llvm::LogicalResult resize(NodeContext &node);

// NetworkQuantize.cpp, NetworkQonnx.cpp
llvm::LogicalResult quantizeLinear(NodeContext &node);
llvm::LogicalResult dequantizeLinear(NodeContext &node);
llvm::LogicalResult roundToWhole(NodeContext &node);
llvm::LogicalResult quant(NodeContext &node);
llvm::LogicalResult bipolarQuant(NodeContext &node);
llvm::LogicalResult trunc(NodeContext &node);
llvm::LogicalResult multiThreshold(NodeContext &node);
} // namespace network

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

/// Refuses anything other than a signal or image of one frame.
llvm::LogicalResult checkImage(NodeContext &node, const TensorRef &x);
/// The `axes` attribute or input 1; `given` tells whether there is one.
std::optional<std::vector<int64_t>> axesArgument(NodeContext &node,
                                                 bool &given);

mlir::Value scalar(NodeContext &node, double value);
mlir::Value emitBinary(NodeContext &node, llvm::StringRef op, mlir::Value a,
                       mlir::Value b, mlir::Type result);
/// With broadcasting, in the tensors' layout; null if refused.
TensorRef emitBinaryTensors(NodeContext &node, llvm::StringRef op,
                            const TensorRef &a, const TensorRef &b);
mlir::Value emitDense(NodeContext &node, mlir::Value x,
                      const TensorRef &weights, const TensorRef &bias);
mlir::Value conv2d(NodeContext &node, mlir::Value x, mlir::Value weights,
                   mlir::Value bias, Shape pads, int64_t groups);

/// Elements `indices` of `x` along `axis`, in `x`'s layout.
TensorRef taken(NodeContext &node, const TensorRef &x, int64_t axis,
                llvm::ArrayRef<int64_t> indices);
mlir::Value take(NodeContext &node, mlir::Value v, int64_t axis,
                 llvm::ArrayRef<int64_t> indices);
/// Refuses (and returns true) more positions than a list may have.
bool isTooLong(NodeContext &node, int64_t positions);
/// [1,H,W,C·h·w] to [1,H·h,W·w,C], the channel outermost (as DepthToSpace's
/// CRD) or innermost.
mlir::Value spread(NodeContext &node, mlir::Value v, int64_t h, int64_t w,
                   bool channelOutermost);

/// Between which numbers the reals of a tensor lie.
RealInterval boundsOf(NodeContext &node, const TensorRef &t);

std::optional<std::vector<double>> scaleValues(NodeContext &node, size_t i);
/// Quantizers after `x`, as the node's result.
llvm::LogicalResult applySteps(NodeContext &node, const TensorRef &x,
                               llvm::ArrayRef<QuantStep> steps);
llvm::LogicalResult clipIntegers(NodeContext &node, int64_t lo, int64_t hi);
/// Rounds the reals of `x` to whole numbers within `bounds`.
TensorRef rounded(NodeContext &node, const TensorRef &x, osa::Rounding rounding,
                  std::pair<int64_t, int64_t> bounds);

/// The parameters of QONNX's quantizers as floats; some exporters write them as
/// integers.
void liftParameters(NodeContext &node);
/// QONNX's rounding modes; nullopt for unknown ones.
std::optional<osa::Rounding> qonnxRounding(llvm::StringRef mode);
/// The integers of QONNX's Quant.
num::IntType qonnxType(mlir::MLIRContext *context, bool isSigned, bool narrow,
                       unsigned width);
} // namespace rhizome::importer
