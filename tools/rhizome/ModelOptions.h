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

/// Adds --normalize, which must be one of the known forms.
void addNormalize(CLI::App &command, std::string &normalize);

/// Adds --input, --expect, --output, --normalize, --input-range, --frames and
/// --seed. The command's callback joins `inputs` and `normalize` to the
/// choice's inputs.
void addData(CLI::App &command, model::DataChoice &choice,
             std::vector<std::string> &inputs, std::string &normalize);

/// Adds --level: whether the CPU path or simulated hardware computes or, with
/// `boards`, a board.
void addLevel(CLI::App &command, evaluate::Level &level, bool boards);
} // namespace rhizome::cli
