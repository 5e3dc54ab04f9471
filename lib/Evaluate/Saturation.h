// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts how many values saturate on real data: those that are beyond a
// quantizer's first or last code.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Model/Passage.h"
#include <mutex>

namespace rhizome::evaluate {
/// The counts of the host's quantizers before the FPGA's tasks; for tasks that
/// only compute conversions.
llvm::Expected<std::vector<Saturation>>
hostSaturation(const model::HostModel &model, const model::Passage &passage);

/// The codes that a requantizer would give if it had as many as there are
/// values; where an activation bends, they end there.
std::vector<double> codesBeforeSaturation(osa::RequantizeOp op,
                                          const Tensor &integers);

/// Counts over runs of some of a model's tasks: at the host's quantizers, which
/// round reals, and at the FPGA's requantizers marked by integerization.
/// Thresholds and tables have no values beyond their ends.
class SaturationCounter {
public:
  explicit SaturationCounter(llvm::ArrayRef<mlir::func::FuncOp> functions);
  /// The counts for the tasks of one place.
  SaturationCounter(const model::HostModel &model, bool onFpga);

  /// Counts the results of quantizers of a function's inputs, and returns the
  /// probe for a run on them. Safe from several threads.
  ProbeFn watch(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs);
  /// Replaces the FPGA: the interpreter, observed.
  model::Passage::Run interpreted(const model::HostModel &model);
  /// The counts, in the functions' order.
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
