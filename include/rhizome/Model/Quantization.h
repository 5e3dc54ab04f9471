// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What quantization after training did, for machines: --json's "quantization",
// a package's model/quantization.json.
#pragma once

#include "rhizome/Calibrate/Options.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace rhizome::model {
/// Widths, ranges, scales and signal-to-noise ratios by layer.
llvm::json::Object toJson(const calibrate::Report &report);
} // namespace rhizome::model
