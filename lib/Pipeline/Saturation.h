// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many values saturate on real data: those that a quantizer meets beyond
// its first or last code, and cuts off.
#pragma once

#include "HostModel.h"
#include "rhizome/Pipeline/Pipeline.h"
#include <mutex>

namespace rhizome::pipeline {
/// Counts over runs of one function: at the quantizers of a prologue, which
/// round reals, or at the requantizers of a network that integerization has
/// marked. Thresholds and tables have no value beyond their ends.
class SaturationCounter {
public:
  explicit SaturationCounter(mlir::func::FuncOp function);

  /// Counts what a quantizer makes of these inputs, and gives the probe that a
  /// run on them needs. Safe from several threads.
  ProbeFn watch(llvm::ArrayRef<Tensor> inputs);
  /// What was counted, in the function's order.
  const std::vector<Saturation> &counts() const { return list; }

private:
  void count(mlir::Value value, const Tensor &tensor);

  mlir::func::FuncOp function;
  std::vector<mlir::Operation *> quantizers; ///< of each entry of `list`
  std::vector<Saturation> list;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t>> readers;
  std::mutex mutex;
};
} // namespace rhizome::pipeline
