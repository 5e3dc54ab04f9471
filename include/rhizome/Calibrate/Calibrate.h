// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Post-training quantization: a float network gets quantizers whose ranges are
// observed on sample data. The result is real-level `osa`, as from a file with
// its own quantizers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Calibrate/Options.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace rhizome::calibrate {
using Frames = std::vector<std::vector<Tensor>>; ///< [frame][graph input]

/// Receives the current step, e.g. "observe"; may be empty.
using Progress = std::function<void(llvm::StringRef)>;

/// Quantizes `@main` in place. Fails if there is nothing to quantize, if a
/// bound can't be kept at the widths given, or if a name of `layers` is
/// unknown. Deterministic.
llvm::Expected<Report> quantize(mlir::ModuleOp module, const Frames &frames,
                                const Options &options,
                                const Progress &progress);

/// 10·log10 of signal power over error power; 200 for no error.
double decibels(double signal, double noise);
} // namespace rhizome::calibrate
