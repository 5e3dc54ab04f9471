// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX files whose tensors get formats in place of the file's.
#pragma once

#include "rhizome/Import/OnnxImport.h"

namespace rhizome::importer {
/// As importOnnx, for a model that --calibration or --number-format quantizes:
/// what the file quantizes anew in each frame is imported as reals, and stored
/// weights keep their codes also where the file computes in float16.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxAnew(mlir::MLIRContext *context,
                                                 llvm::StringRef path,
                                                 const ImportOptions &options,
                                                 Refusals &refusals);
} // namespace rhizome::importer
