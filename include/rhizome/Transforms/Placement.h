// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The positions of quantizers in a float network, whatever their formats: at
// its inputs, after every layer, on the weights, and where a layer reads values
// that the host computes. Tensors that lead only to graph outputs are rounded
// if the outputs are to be; otherwise they keep their exact accumulator.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <string>
#include <vector>

namespace rhizome {
struct Placement {
  /// A tensor of the network; its readers get the rounded one, graph
  /// outputs only if these are rounded.
  struct Point {
    mlir::Value value;
    mlir::Location loc; ///< of the layer that ends here, or of the input
    bool isInput = false;
    /// A layer of the network reads it; otherwise only graph outputs do.
    bool isRead = true;
  };
  /// A constant operand of a layer.
  struct Constant {
    mlir::OpOperand *operand;
    bool isBias;
  };
  std::vector<Point> activations; ///< in order; inputs come last
  std::vector<Constant> constants;
  /// True if a layer reads a tensor that is to be rounded, or has weights that
  /// are: the file does not quantize the whole network itself.
  bool hasFloatLayer() const;
};

/// Reads a real-level function without changing it. Tensors that the file
/// quantizes itself are omitted. With `outputs`, whatever the network computes
/// is rounded; otherwise only what its layers read.
Placement placeQuantizers(mlir::func::FuncOp function, bool outputs = false);

/// The model's name of the tensor that an operation at this location computes;
/// its node's where the model names no tensors.
std::string tensorName(mlir::Location loc);
/// `loc`, with the name of the tensor that is computed at `end`.
mlir::Location withTensorOf(mlir::Location loc, mlir::Location end);

/// For each element of `shape`, the element of a tensor of shape `from` that
/// NumPy broadcasting pairs with it.
std::vector<int64_t> broadcastMap(llvm::ArrayRef<int64_t> from,
                                  llvm::ArrayRef<int64_t> shape);

/// The values of one of its constants, even if the file computes it from
/// others, rounded to float32.
std::vector<float> constantFloats(mlir::Value constant);

/// The target of a quantizer: codes lo..hi, and one scale and zero point for
/// all or one for each position of `axis`.
struct AffineFormat {
  int64_t lo, hi;
  std::vector<float> scale;
  std::vector<int32_t> zero;
  int64_t axis = -1;
};

/// quantize and dequantize `v`; returns the resulting reals.
mlir::Value quantized(mlir::OpBuilder &builder, mlir::Value v,
                      const AffineFormat &format, mlir::Location loc);
/// Inserts that between a point and its readers, graph outputs among them if
/// `outputs`; returns what they read now.
mlir::Value quantizeUses(mlir::OpBuilder &builder,
                         const Placement::Point &point,
                         const AffineFormat &format, bool outputs = false);
} // namespace rhizome
