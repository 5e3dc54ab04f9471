// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fuzz targets of both importers share.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "rhizome/Support/Refusal.h"
#include <cstdint>
#include <memory>

/// LLVM's libraries are not instrumented: they hand out memory of allocators
/// that our side has poisoned.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}

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
  if (imported != refusals.empty())
    __builtin_trap();
  for (const Refusal &refusal : refusals)
    if (refusal.reason.empty() ||
        refusal.remedy.find("bug of the importer") != std::string::npos)
      __builtin_trap();
}
} // namespace rhizome::fuzz
