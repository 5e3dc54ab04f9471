// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on `osa`, and on kernels: functions of `linalg` on tensors.
#ifndef RHIZOME_TRANSFORMS_PASSES_TD
#define RHIZOME_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OsaApplyFixedPoint : Pass<"osa-apply-fixed-point", "::mlir::ModuleOp"> {
  let summary = "Give a float network the quantizers of a fixed-point format";
  let description = [{
    Weights, biases and graph inputs are quantized to the format, signed fixed
    point; each layer (conv2d or dense with bias, batch
    norm and activation), sum and average pool rounds once at its end, half to
    even, and saturates. Tensors that lead only to graph outputs are not rounded.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"fixed<1,7>\"",
           "The number format, e.g. fixed<6,10>">,
  ];
  let dependentDialects = ["::rhizome::osa::OsaDialect"];
}

def NumApplyFormats : Pass<"num-apply-formats", "::mlir::ModuleOp"> {
  let summary = "Apply chosen number formats to kernels in f64 or f32";
  let description = [{
    Formats are the attribute `rhizome.format` of arguments, results and operations,
    and `format` for values that no annotation reaches. Values that must agree
    (an operation's result and its initial value, moved values) form a
    class with one format; contradictions are errors. Where classes meet, and
    at arguments and results, which keep their types, `num.cast` is inserted.
  }];
  let options = [
    Option<"format", "format", "std::string", "", "For unannotated values">,
    Option<"rounding", "rounding", "std::string", "\"nearest_even\"",
           "Direction of every rounding">,
    Option<"saturate", "saturate", "bool", "false",
           "Saturate instead of wrapping or going to infinity">,
    Option<"fused", "fused", "bool", "false",
           "Round a product with the sum that it is added to">,
  ];
  let dependentDialects = ["::rhizome::num::NumDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OsaCanonicalize : Pass<"osa-canonicalize", "::mlir::ModuleOp"> {
  let summary = "Move quantizers and padding to where they cost least";
  let description = [{
    Activations and quantizers move before max pools, quantizers before
    concatenations, and zero padding into the convolution after it.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect"];
}

def OsaIntegerize : Pass<"osa-integerize", "::mlir::ModuleOp"> {
  let summary = "Real-level @main to a graph of tasks of host and FPGA";
  let description = [{
    The FPGA's tasks contain only exact integer operations, those of the host
    all real ones. They alternate: @host0, @network, @host1; or with several
    regions @host0, @region0, @host1, @region1 and so on.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect",
                           "::rhizome::flow::FlowDialect",
                           "::mlir::func::FuncDialect"];
}

def LinalgFactorizeProducts
    : Pass<"linalg-factorize-products", "::mlir::func::FuncOp"> {
  let summary = "Contract sums of products two factors at a time";
  let description = [{
    Common subexpressions are computed once, elementwise operations fused, and
    sums of products contracted two factors at a time in the cheapest order.
    Sums are reordered only if their arithmetic has `fastmath<reassoc>`.
  }];
  let options = [
    Option<"newFirst", "new-first", "bool", "false",
           "Put an intermediate's new indices first, so that contracting "
           "the last index each time restores their order">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def LinalgFormMatmuls : Pass<"linalg-form-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Turn contractions into matrix products";
  let description = [{
    Every `linalg.contract` whose indices fall into rows, columns and summed ones
    becomes a `linalg.matmul` on collapsed operands, with transposes only where
    a matmul's maps cannot express them.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def LinalgCountWork : Pass<"linalg-count-work", "::mlir::func::FuncOp"> {
  let summary = "Report the multiply-accumulates and operations of each loop";
  let description = [{
    A remark at each `linalg` operation that computes, and one at the function
    with their sums. The IR is not changed.
  }];
}

#endif
