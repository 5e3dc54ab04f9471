// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of fixed point that are more than a sum or a product.
#pragma once

#include "Datapath.h"
#include "rhizome/Units/Floats/Operators.h"

namespace rhizome::gen::floats {
class Fixed {
public:
  Fixed(Datapath &d, const Operator &op) : d(d), op(op), f(op.format) {}

  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value sqrt(mlir::Value a);
  /// These saturate, whatever the overflow is.
  mlir::Value exp(mlir::Value a, const CostContext &device);
  mlir::Value log(mlir::Value a, const CostContext &device);

private:
  Datapath &d;
  const Operator &op;
  const numeric::Format &f;

  mlir::Value magnitudeOf(mlir::Value a, mlir::Value &sign);
  mlir::Value pattern(numeric::Bits v);
  /// A magnitude, rounded, with its sign; saturated if `isOver` or it is
  /// beyond the format.
  mlir::Value finish(mlir::Value sign, mlir::Value whole, mlir::Value half,
                     mlir::Value rest, mlir::Value isOver, bool saturates);
};
} // namespace rhizome::gen::floats
