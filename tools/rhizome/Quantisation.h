// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --calibration and its companions: reading the options, printing the report.
#pragma once

#include "rhizome/Pipeline/Pipeline.h"
#include "llvm/Support/JSON.h"
#include <CLI/CLI.hpp>

namespace rhizome::cli {
/// Adds --calibration, --calibration-normalise, --calibration-frames,
/// --calibration-method, --bits, --max-loss and --min-snr.
void addCalibration(CLI::App &command, pipeline::ModelRequest &request);

/// The report, if the model was quantised: into an object under
/// "quantisation", or as a table.
void reportQuantisation(const pipeline::ModelRequest &request,
                        llvm::json::Object &into);
void printQuantisation(const pipeline::ModelRequest &request);
} // namespace rhizome::cli
