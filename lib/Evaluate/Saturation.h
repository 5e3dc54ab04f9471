// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many values saturate on real data: those that a quantizer meets beyond
// its first or last code, and cuts off.
#pragma once

#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Model/Passage.h"
#include <mutex>

namespace rhizome::evaluate {
/// What the host's quantizers before the FPGA's tasks met; of tasks that
/// compute no more than conversions.
llvm::Expected<std::vector<Saturation>>
hostSaturation(const model::HostModel &model, const model::Passage &passage);

/// Counts over runs of some of a model's tasks: at the host's quantizers, which
/// round reals, and at the FPGA's requantizers that integerization has marked.
/// Thresholds and tables have no value beyond their ends.
class SaturationCounter {
public:
  explicit SaturationCounter(llvm::ArrayRef<mlir::func::FuncOp> functions);
  /// Of the tasks of one place.
  SaturationCounter(const model::HostModel &model, bool onFpga);

  /// Counts what a quantizer makes of a function's inputs, and gives the probe
  /// that a run on them needs. Safe from several threads.
  ProbeFn watch(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs);
  /// Stands in for the FPGA: the interpreter, watched.
  model::Passage::Run interpreted(const model::HostModel &model);
  /// What was counted, in the functions' order.
  const std::vector<Saturation> &counts() const { return list; }

private:
  void add(mlir::Operation &op);
  void count(mlir::Value value, const Tensor &tensor);

  std::vector<mlir::Operation *> quantizers; ///< of each entry of `list`
  std::vector<Saturation> list;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t>> readers;
  std::mutex mutex;
};
} // namespace rhizome::evaluate
