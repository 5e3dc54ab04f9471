// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An unrolled kernel: its scalar operations in order, one node each. Used by
// analyses that look at every element, and for gradients.
#pragma once

#include "Loops.h"

namespace rhizome::interp {
struct Node {
  Code code = Code::Constant;
  int32_t a = -1, b = -1, c = -1; ///< operands, −1 for none
  int32_t site = -1;              ///< index of the operation in `Tape::sites`
  double constant = 0;
};

/// One operation of the IR.
struct Site {
  mlir::Operation *op = nullptr;
  numeric::Format format; ///< of its result
  bool isFormat = false;  ///< a `num` operation that rounds into `format`
  numeric::Rounding rounding = numeric::Rounding::NearestEven;
};

struct Tape {
  std::vector<Node> nodes;
  std::vector<Site> sites;
  std::vector<std::pair<int, int>> inputs; ///< first node, count; per argument
  std::vector<int> outputs;

  /// Unrolls `func`; fails with a diagnostic, also if it is too long.
  static llvm::FailureOr<Tape> of(mlir::func::FuncOp func);

  /// Every node's value in real arithmetic on doubles, without rounding into
  /// formats; for the first `end` nodes if given.
  void evaluate(const std::vector<double> &inputs, std::vector<double> &values,
                size_t end = SIZE_MAX) const;
  /// d values[target] / d values[n] for every n.
  void differentiate(const std::vector<double> &values, int target,
                     std::vector<double> &gradient) const;
  int inputCount() const {
    return inputs.empty() ? 0 : inputs.back().first + inputs.back().second;
  }
};
} // namespace rhizome::interp
