// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fuzz targets that make MLIR share.
#pragma once

#include "FuzzTarget.h"
#include "mlir/IR/MLIRContext.h"
#include "rhizome/Support/Refusal.h"
#include <memory>

namespace rhizome::fuzz {
/// A context for the next input. It is costly to make, and keeps every
/// attribute that it ever saw: a new one for every 500.
inline mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned age = 0;
  if (!context || ++age % 500 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

/// Imported, or refused with reasons that are the file's fault.
inline void check(bool imported, const Refusals &refusals) {
  require(imported == refusals.empty());
  for (const Refusal &refusal : refusals)
    require(!refusal.reason.empty() &&
            refusal.remedy.find("bug of the importer") == std::string::npos);
}
} // namespace rhizome::fuzz
