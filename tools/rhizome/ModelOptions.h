// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that say how a model file is read, shared by every command that
// takes one.
#pragma once

#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Model/Request.h"
#include <CLI/CLI.hpp>

namespace rhizome::cli {
/// Adds --shape, --input-type, --number-format, --tensor-format,
/// --raw-integers and those of post-training quantization, which fill
/// `request`. Bad values are usage errors.
void addModelOptions(CLI::App &command, model::ModelRequest &request);

/// Adds --normalize and --images, which must be of the known forms.
void addPixels(CLI::App &command, model::DataRequest &how);

/// Adds --input, --expect, --output, --normalize, --images, --input-range,
/// --frames and --seed. The command's callback gives each of `inputs` the
/// properties of `how`: see `dataOf`.
void addData(CLI::App &command, model::DataChoice &choice,
             std::vector<std::string> &inputs, model::DataRequest &how);

/// A request for each file.
std::vector<model::DataRequest> dataOf(const std::vector<std::string> &paths,
                                       model::DataRequest how);

/// Adds --level: whether the CPU path or simulated hardware computes or, with
/// `boards`, a board.
void addLevel(CLI::App &command, evaluate::Level &level, bool boards);
/// For an option's check: what is wrong with the path of a file; "" if it is
/// there.
std::string faultOfFile(const std::string &path);
/// The same of a file or a folder.
std::string faultOfPath(const std::string &path);
} // namespace rhizome::cli
