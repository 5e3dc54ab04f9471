// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX: any bytes are imported, or refused with reasons; anything else is a
// bug. Limits are small, so that memory and time show what runs away.
#include "MlirTarget.h"
#include "rhizome/Import/OnnxImport.h"

using namespace rhizome;

RHIZOME_FUZZ_TARGET(onnx, bytes) {
  importer::ImportOptions options;
  options.limits.bytes = 1 << 20;
  options.limits.foldedElements = 1 << 20;
  options.limits.nodes = 1 << 14;
  Refusals refusals;
  mlir::OwningOpRef<mlir::ModuleOp> module = importer::importOnnxBuffer(
      &fuzz::context(), bytes, "/nonexistent", options, refusals);
  fuzz::check(bool(module), refusals);
}
