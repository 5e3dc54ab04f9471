// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user said to compile and later phases need, in the IR: one dictionary
// on the module, and at which phase each option acts for the last time.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Pipeline/Phases.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// The module's attribute that holds the settings.
constexpr llvm::StringLiteral kSettings = "rhizome.compile";

/// The model's name in its plan, from its file's.
std::string modelNameOf(const CompileRequest &request);

/// Writes what acts after `done`, in place of what stood there.
void recordSettings(mlir::ModuleOp module, const CompileRequest &request,
                    Phase done);

/// Enters in `request` what the module records, but for options that the user
/// gives. A setting that is not one, or not of its type, is refused.
Status readSettings(mlir::ModuleOp module, CompileRequest &request);

/// The name of the recorded setting that the phase `quantize` applies, if one
/// is left.
std::optional<std::string> waitingFormat(mlir::ModuleOp module);

/// Refuses options that come after the last phase at which they act, or that
/// need the package of a compile that stops before it.
Status checkGiven(const CompileRequest &request);
} // namespace rhizome::pipeline
