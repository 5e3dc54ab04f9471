// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer's entry for networks as MLIR: any text is imported, or refused with
// reasons; anything else is a bug.
#include "FuzzTarget.h"
#include "rhizome/Import/Mlir/MlirImport.h"

using namespace rhizome;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Refusals refusals;
  mlir::OwningOpRef<mlir::ModuleOp> module = importer::importMlirBuffer(
      &fuzz::context(), {reinterpret_cast<const char *>(data), size}, "fuzzed",
      {}, refusals);
  fuzz::check(bool(module), refusals);
  return 0;
}
