// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a simulation saw of engines, by the layers of their programs.
#pragma once

#include "rhizome/Evaluate/Evaluate.h"
#include "rhizome/Simulate/Simulate.h"

namespace rhizome::evaluate {
/// Whether the package's first node has a program with layers.
bool hasEngines(const Package &package);

/// Fills in `result.engines`, and writes a trace of the units to the file
/// `trace`, unless that is "".
llvm::Error addEngines(const Package &package,
                       const std::vector<EngineFrame> &frames,
                       const std::string &trace, SimulateResult &result);
} // namespace rhizome::evaluate
