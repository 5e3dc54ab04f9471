// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel needs, and what loop nests in hardware could give it.
#pragma once

#include "rhizome/Analysis/Analysis.h"
#include "rhizome/Support/Result.h"
#include <memory>

namespace rhizome::kernelcommands {
struct NumberedKernel;

/// A kernel as an analysis sees it: an operation for each loop nest.
struct KernelAnalysis {
  KernelAnalysis();
  KernelAnalysis(KernelAnalysis &&);
  ~KernelAnalysis();
  analysis::Needs needs;
  /// Copies of each nest that a device could hold.
  analysis::Offers offersFor(const gen::DeviceContext &device) const;

  std::unique_ptr<NumberedKernel> kernel;
};

/// Of a module as `integerize` leaves it; refuses what no hardware is built
/// for.
Result<KernelAnalysis> analyzeKernel(mlir::ModuleOp module);
} // namespace rhizome::kernelcommands
