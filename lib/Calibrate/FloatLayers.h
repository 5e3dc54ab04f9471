// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of a float network before it is quantized.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace rhizome::calibrate {
/// Gains and terms per output channel behind a convolution or dense layer
/// (batch norms, constant factors and sums) become part of its weights and
/// bias.
void foldIntoWeights(mlir::func::FuncOp function);

/// Two layers with nothing between them but what scales along: the channels of
/// the tensor between may be scaled, the second's weights against it.
struct Pair {
  mlir::Operation *first, *second;
  /// The channel of `first` that input channel i of a weight row stands for;
  /// for a dense layer, element i.
  std::vector<int64_t> channel;
};
std::vector<Pair> findPairs(mlir::func::FuncOp function);

/// Divides output channel c of the first layer by factor[c] and multiplies
/// where the second reads it. `largest` are the channels' largest magnitudes:
/// the factors make both layers' ranges alike.
void equalize(const Pair &pair, const std::vector<float> &largest);
} // namespace rhizome::calibrate
