// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of the real-level network in the integer network: a
// physical integer tensor, the shape changes from it to the logical
// tensor, and per physical channel the exact function from integer to real.
#pragma once

#include "Curve.h"
#include "ExactConstant.h"
#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome {
/// One change of shape: a transpose if `permutation` is not empty, otherwise a
/// reshape to `shape`.
struct LayoutStep {
  llvm::SmallVector<int64_t> permutation;
  llvm::SmallVector<int64_t> shape; ///< after the step
};

/// x·p + y·q, not computed yet: later operations may allow smaller factors.
struct PendingSum {
  mlir::Value lhs, rhs;
  int64_t p, q;
};

struct LazyTensor {
  mlir::Value physical; ///< null while `sum` is pending
  std::optional<PendingSum> sum;
  std::vector<LayoutStep> layout;
  llvm::SmallVector<int64_t> physicalShape, shape; ///< shape is the logical one
  /// Integer to real, one for all channels (the physical tensor's last axis) or
  /// one each. The identity if the logical tensor is an integer one.
  std::vector<PiecewiseLinear> f;
  /// Replaces `f`, which then only holds the ranges, if the function is
  /// not piecewise linear. The physical tensor is final.
  std::shared_ptr<const Curve> curve;

  int64_t channels() const {
    return physicalShape.empty() ? 1 : physicalShape.back();
  }
  const PiecewiseLinear &function(size_t channel) const {
    return f[f.size() == 1 ? 0 : channel];
  }
  /// Lowest and highest integer over all channels.
  std::pair<int64_t, int64_t> range() const;
  /// True if every channel is affine.
  bool isAffine() const;
  /// Makes `f` hold one function per channel.
  void expand();

  /// Takes the physical tensor's last `axes` axes for its channels, which all
  /// have the functions of those that they were. Its physical value is then to
  /// be reshaped.
  void refine(size_t axes);

  void transpose(llvm::ArrayRef<int64_t> permutation);
  void reshape(llvm::ArrayRef<int64_t> shape);
  /// For each logical element, its physical one; nullopt if that is the
  /// identity.
  std::optional<std::vector<int64_t>> elementMap() const;
  /// `map` gives the index of some parameter for each logical element: returns
  /// the parameter of each physical channel; nullopt if they differ within one.
  std::optional<std::vector<int64_t>>
  perChannel(llvm::ArrayRef<int64_t> map) const;
};
} // namespace rhizome
