// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer's entry: any bytes are imported, or refused with reasons; anything
// else is a bug. Limits are small, so that memory and time show what runs away.
#include "mlir/IR/MLIRContext.h"
#include "rhizome/Import/OnnxImport.h"
#include <cstdint>

using namespace rhizome;

/// LLVM's libraries are not instrumented: they hand out memory of allocators
/// that our side has poisoned.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context is costly to make, and keeps every attribute that it ever saw.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned age = 0;
  if (!context || ++age % 500 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  importer::ImportOptions options;
  options.limits.bytes = 1 << 20;
  options.limits.foldedElements = 1 << 20;
  options.limits.nodes = 1 << 14;
  Refusals refusals;
  mlir::OwningOpRef<mlir::ModuleOp> module = importer::importOnnxBuffer(
      context.get(), {reinterpret_cast<const char *>(data), size},
      "/nonexistent", options, refusals);
  if (bool(module) != refusals.empty())
    __builtin_trap();
  for (const Refusal &refusal : refusals)
    if (refusal.reason.empty() ||
        refusal.remedy.find("bug of the importer") != std::string::npos)
      __builtin_trap();
  return 0;
}
