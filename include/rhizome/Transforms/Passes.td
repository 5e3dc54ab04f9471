// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on `osa`.
#ifndef RHIZOME_TRANSFORMS_PASSES_TD
#define RHIZOME_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OsaApplyFixedPoint : Pass<"osa-apply-fixed-point", "::mlir::ModuleOp"> {
  let summary = "Give a float network the quantisers of a fixed-point format";
  let description = [{
    Weights, biases and graph inputs are quantised to the format, signed fixed
    point; each layer (conv2d or dense with bias, batch
    norm and activation), sum and average pool rounds once at its end, half to
    even, and saturates. What leads to graph outputs only is not rounded.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"fixed<1,7>\"",
           "The number format, e.g. fixed<6,10>">,
  ];
  let dependentDialects = ["::rhizome::osa::OsaDialect"];
}

def NumApplyFormats : Pass<"num-apply-formats", "::mlir::ModuleOp"> {
  let summary = "Put chosen number formats into kernels in f64 or f32";
  let description = [{
    Formats are the attribute `rhizome.format` of arguments, results and operations,
    and `format` for values that no annotation reaches. Values that must agree
    (an operation's result and its initial value, what is only moved) form a
    class with one format; contradictions are errors. Where classes meet, and
    at arguments and results, which keep their types, `num.cast` is put in.
  }];
  let options = [
    Option<"format", "format", "std::string", "", "For unannotated values">,
    Option<"rounding", "rounding", "std::string", "\"nearest_even\"",
           "Direction of every rounding">,
    Option<"saturate", "saturate", "bool", "false",
           "Saturate instead of wrapping or going to infinity">,
    Option<"fused", "fused", "bool", "false",
           "Round a product with the sum that it enters">,
  ];
  let dependentDialects = ["::rhizome::num::NumDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OsaCanonicalise : Pass<"osa-canonicalise", "::mlir::ModuleOp"> {
  let summary = "Move quantisers and padding to where they cost least";
  let description = [{
    Activations and quantisers move before max pools, quantisers before
    concatenations, and zero padding into the convolution behind it.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect"];
}

def OsaIntegerise : Pass<"osa-integerise", "::mlir::ModuleOp"> {
  let summary = "Real-level @main to a graph of tasks of host and FPGA";
  let description = [{
    The FPGA's tasks hold exact integer operations only, those of the host
    whatever is real. They take turns: @host0, @network, @host1; or with several
    regions @host0, @region0, @host1, @region1 and so on.
  }];
  let dependentDialects = ["::rhizome::osa::OsaDialect",
                           "::rhizome::flow::FlowDialect",
                           "::mlir::func::FuncDialect"];
}

#endif
