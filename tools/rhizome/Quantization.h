// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --calibration and related options: reading them, printing the report.
#pragma once

#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Evaluate/Trace.h"
#include "rhizome/Model/Request.h"
#include "llvm/Support/JSON.h"
#include <CLI/CLI.hpp>

namespace rhizome::cli {
/// Adds --calibration, --calibration-normalize, --calibration-frames,
/// --calibration-method, --bits, --max-loss and --min-snr.
void addCalibration(CLI::App &command, model::ModelRequest &request);

/// The report, if the model was quantized: into an object under
/// "quantization", or as a table.
void reportQuantization(const model::ModelRequest &request,
                        llvm::json::Object &into);
void printQuantization(const model::ModelRequest &request);

/// Adds the saturation of every quantizer under "saturation".
void reportSaturation(const std::vector<evaluate::Saturation> &saturation,
                      llvm::json::Object &into);
/// A table of the quantizers at which more than `evaluate::kToldShare` of the
/// values saturate; nothing if there are none.
void printSaturation(const std::vector<evaluate::Saturation> &saturation);
} // namespace rhizome::cli
