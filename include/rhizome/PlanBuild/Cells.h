// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The modules of the library, copied into a node's folder, and units in the
// form of a plan.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Package/Package.h"
#include <set>

namespace rhizome::planbuild {
/// Verifies the built IR; any error is a bug of the compiler.
llvm::Error checkHardware(mlir::Operation *op);

/// Copies the files of `module`, callees first, except those in `seen`. Enters
/// the copied files in `seen`, `files` and, models of vendor primitives, in
/// `models`.
llvm::Error copyModule(PackageWriter &writer, const std::string &folder,
                       const std::string &library, llvm::StringRef module,
                       std::set<std::string> &seen,
                       std::vector<std::string> &files,
                       std::vector<std::string> &models);

/// Writes the files of `holder` to `folder`, after the library's modules that
/// they use, except `inner` and those in `seen`, and enters them in `node`.
llvm::Error writeFiles(PackageWriter &writer, const std::string &folder,
                       mlir::ModuleOp holder, llvm::StringRef inner,
                       std::set<std::string> &seen, PlannedNode &node);

/// An actor's unit in a plan: kind, module, parameters.
void describeUnit(const gen::Actor &actor, PlannedActor &planned);
/// The files of its module, callees first.
std::vector<std::string> sourcesOf(const gen::Actor &actor);
} // namespace rhizome::planbuild
