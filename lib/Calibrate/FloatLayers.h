// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of a float network before it is quantized.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace rhizome::calibrate {
/// Folds gains and terms per output channel after a convolution or dense layer
/// (batch norms, constant factors and sums) into its weights and
/// bias.
void foldIntoWeights(mlir::func::FuncOp function);

/// Two layers with only operations between them that commute with scaling: the
/// channels of the tensor between may be scaled, and the second layer's weights
/// inversely.
struct Pair {
  mlir::Operation *first, *second;
  /// The channel of `first` that feeds input channel i of a weight row;
  /// for a dense layer, element i.
  std::vector<int64_t> channel;
};
std::vector<Pair> findPairs(mlir::func::FuncOp function);

/// Divides output channel c of the first layer by factor[c] and multiplies
/// where the second reads it. `largest` are the channels' largest magnitudes:
/// the factors balance the ranges of both layers.
void equalize(const Pair &pair, const std::vector<float> &largest);
} // namespace rhizome::calibrate
