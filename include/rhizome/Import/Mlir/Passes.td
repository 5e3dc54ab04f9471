// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps from `linalg` on tensors to `osa`.
#ifndef RHIZOME_IMPORT_MLIR_PASSES_TD
#define RHIZOME_IMPORT_MLIR_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLinalgToOsa : Pass<"convert-linalg-to-osa", "::mlir::func::FuncOp"> {
  let summary = "linalg on tensors of f32 to real-level osa";
  let description = [{
    Convolutions and products with constant weights, pools, reductions,
    elementwise loops and data movement become `osa` operations,
    images channels-last with a transpose on each side. Operations on constants
    only are computed. A normalization by values computed from the data (layer
    norm, softmax) stays a loop, as does everything else that `osa` has no
    operation for; `rhizome.why_host` gives the reason. Double precision inside a
    network becomes single precision, and assertions in loop bodies are dropped.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OsaSinkTransposes : Pass<"osa-sink-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transposes from channels-last after operations that commute";
  let description = [{
    A transpose of rows, columns and channels to channels, rows and columns
    moves after elementwise operations, paddings and concatenations, until it
    meets its inverse and both are removed.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect"];
}

#endif
