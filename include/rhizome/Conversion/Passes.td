// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between dialects.
#ifndef RHIZOME_CONVERSION_PASSES_TD
#define RHIZOME_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertOsaToLinalg : Pass<"convert-osa-to-linalg", "::mlir::ModuleOp"> {
  let summary = "integer-level osa to linalg on signless integers";
  let description = [{
    Converts every function whose tensors are all `!num.int`; functions with
    real tensors (prologue, epilogue) are not changed. A value's range selects
    its storage, the narrowest of i8, i16, i32 and i64 that holds it (zero
    extended if no value is negative). Sums run in i32 or i64: whichever holds
    the *result's* range is enough, since they wrap modulo its width.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertNumToArith : Pass<"convert-num-to-arith", "::mlir::ModuleOp"> {
  let summary = "kernels in number formats to integers and arith";
  let description = [{
    Every `!num.fixed` and `!num.float` becomes the narrowest of i8, i16, i32,
    i64 and i128 that holds it. Fixed point is computed inline, to the same
    bits as the interpreter's; custom floats, square roots, exp and log call
    the functions of `Numeric/Runtime.h`. Without `num` nothing changes.
  }];
  let options = [
    Option<"callsQuotients", "call-quotients", "bool", /*default=*/"false",
           "quotients of fixed point of at most 64 bits are calls, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

#endif
