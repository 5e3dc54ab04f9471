// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two tensors for networks that a NetworkBuilder makes.
#pragma once

#include "NetworkBuilder.h"
#include "rhizome/Dialect/Osa/Matmul.h"

namespace rhizome::test {
inline mlir::Value reshaped(NetworkBuilder &n, mlir::Value v,
                            llvm::ArrayRef<int64_t> shape) {
  return osa::ReshapeOp::create(
      n.b, n.loc("reshape"), n.tensor(shape, num::elementInt(v.getType())), v);
}

/// `lhs` by `rhs` with these sizes; the result is the builder's value.
inline void matmul(NetworkBuilder &n, llvm::StringRef name, mlir::Value lhs,
                   mlir::Value rhs, osa::MatmulShape s, int64_t zx,
                   int64_t zy) {
  num::IntType x = num::elementInt(lhs.getType()),
               y = num::elementInt(rhs.getType());
  auto [lo, hi] = std::minmax({(x.getLo() - zx) * (y.getLo() - zy),
                               (x.getLo() - zx) * (y.getHi() - zy),
                               (x.getHi() - zx) * (y.getLo() - zy),
                               (x.getHi() - zx) * (y.getHi() - zy)});
  llvm::SmallVector<int64_t> right(3);
  right[s.axes[0]] = s.batch;
  right[s.axes[1]] = s.inner;
  right[s.axes[2]] = s.columns;
  n.value = osa::MatmulOp::create(
      n.b, n.loc(name),
      n.tensor({s.outer, s.batch, s.rows, s.columns},
               num::IntType::getForRange(n.b.getContext(), lo * s.inner,
                                         hi * s.inner)),
      reshaped(n, lhs, {s.outer, s.batch, s.rows, s.inner}),
      reshaped(n, rhs, right), s.axes, zx, zy);
}

/// Every order of the right operand that is built.
inline std::array<int64_t, 3> drawAxes(NetworkBuilder &n) {
  static const std::array<int64_t, 3> orders[] = {
      {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}};
  return orders[n.draw(0, 3)];
}
} // namespace rhizome::test
