// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings of a compile that later phases need, in the IR: one dictionary
// on the module, and the last phase at which each option has an effect.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// The model's name in its plan, from its file's.
std::string modelNameOf(const CompileRequest &request);

/// Writes the settings that still have an effect after `done`, replacing the
/// old ones.
void recordSettings(mlir::ModuleOp module, const CompileRequest &request,
                    Phase done);

/// Enters in `request` the settings recorded in the module, except options that
/// the user gives. An unknown setting, or one of the wrong type, is refused.
Status readSettings(mlir::ModuleOp module, CompileRequest &request);

/// The name of the recorded setting that the phase `quantize` applies, if one
/// remains.
std::optional<std::string> waitingFormat(mlir::ModuleOp module);

/// Refuses phases that do not follow each other, and options that come after
/// the last phase at which they have an effect.
Status checkPhases(const CompileRequest &request);
/// Refuses options that are not for what a module holds.
Status checkGiven(const CompileRequest &request, bool isKernel);
} // namespace rhizome::pipeline
