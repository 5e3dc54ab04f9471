// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a float network gets quantizers, whatever their formats: at its inputs,
// after every layer, on the weights, and where a layer reads what the host
// computes. What only leads to graph outputs keeps
// its exact accumulator.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <string>
#include <vector>

namespace rhizome {
struct Placement {
  /// A tensor of the network; its readers are to see the rounded one, graph
  /// outputs are not.
  struct Point {
    mlir::Value value;
    mlir::Location loc; ///< of the layer that ends here, or of the input
    bool isInput = false;
  };
  /// A constant operand of a layer.
  struct Constant {
    mlir::OpOperand *operand;
    bool isBias;
  };
  std::vector<Point> activations; ///< in order; inputs come last
  std::vector<Constant> constants;
};

/// Reads a real-level function; changes nothing. Tensors that the file
/// quantizes itself are left out.
Placement placeQuantizers(mlir::func::FuncOp function);

/// The values of one of its constants, also where the file computes it from
/// others, rounded to float32.
std::vector<float> constantFloats(mlir::Value constant);

/// What a quantizer rounds to: codes lo..hi, one scale and zero point for all
/// or one for each position of `axis`.
struct AffineFormat {
  int64_t lo, hi;
  std::vector<float> scale;
  std::vector<int32_t> zero;
  int64_t axis = -1;
};

/// quantize and dequantize `v`; returns the reals behind.
mlir::Value quantized(mlir::OpBuilder &builder, mlir::Value v,
                      const AffineFormat &format, mlir::Location loc);
/// Puts that between a point and its readers; returns what they read now.
mlir::Value quantizeUses(mlir::OpBuilder &builder,
                         const Placement::Point &point,
                         const AffineFormat &format);
} // namespace rhizome
