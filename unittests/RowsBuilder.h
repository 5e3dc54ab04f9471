// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalization of rows for networks that a NetworkBuilder makes.
#pragma once

#include "NetworkBuilder.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include <cmath>

namespace rhizome::test {
/// The exponentials of an input of `range` + 1 values with this scale.
inline std::vector<int64_t> exponentials(int64_t range, double slope) {
  std::vector<int64_t> table;
  for (int64_t d = 0; d <= range; ++d)
    table.push_back(std::llround(65535 * std::exp(-slope * double(d))));
  return table;
}

/// A random softmax of `v`, whose element has few bits.
inline mlir::Value rowSoftmax(NetworkBuilder &n, llvm::StringRef name,
                              mlir::Value v) {
  num::IntType x = num::elementInt(v.getType());
  static const double slopes[] = {0.002, 0.03, 0.25, 2};
  const auto bits = unsigned(n.draw(1, 8));
  const int64_t one = int64_t(1) << bits, shift = 17 + 16 - bits - 1;
  return osa::RowSoftmaxOp::create(
      n.b, n.loc(name),
      n.tensor(llvm::cast<mlir::RankedTensorType>(v.getType()).getShape(),
               num::IntType::getForRange(n.b.getContext(), 0,
                                         n.draw(one / 2, one - 1))),
      v, exponentials(x.getHi() - x.getLo(), slopes[n.draw(0, 3)]),
      (one << shift) - n.draw(0, 1000), shift);
}

/// A random normalization.
inline mlir::Value rowNorm(NetworkBuilder &n, llvm::StringRef name,
                           mlir::Value v) {
  auto shape = llvm::cast<mlir::RankedTensorType>(v.getType()).getShape();
  static const int64_t epsilons[] = {1, 50, 100000, int64_t(3) << 32};
  const bool isCentered = n.coin();
  const int64_t fraction = n.draw(0, 14),
                most = osa::mostNormalized(shape.back(), fraction);
  num::IntType x = num::elementInt(v.getType());
  return osa::RowNormOp::create(
      n.b, n.loc(name),
      n.tensor(shape, num::IntType::getForRange(n.b.getContext(), -most, most)),
      v, isCentered, isCentered || n.coin() ? 0 : n.draw(x.getLo(), x.getHi()),
      epsilons[n.draw(0, 3)], fraction);
}
} // namespace rhizome::test
