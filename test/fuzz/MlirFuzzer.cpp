// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks as MLIR: any text is imported, or refused with reasons; anything
// else is a bug.
#include "MlirTarget.h"
#include "rhizome/Import/Mlir/MlirImport.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(mlir, bytes) {
  Refusals refusals;
  mlir::OwningOpRef<mlir::ModuleOp> module = importer::importMlirBuffer(
      &fuzz::context(), bytes, "fuzzed", {}, refusals);
  fuzz::check(bool(module), refusals);
}
