// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `osa` dialect, the Operation Set Architecture: what is computed? Named
// tensor operations at the level at which hardware building blocks exist, in
// two levels: real (f32 element types, exact real arithmetic between
// quantisers) and integer (`!num.int`, exact).
#ifndef RHIZOME_DIALECT_OSA_TD
#define RHIZOME_DIALECT_OSA_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "rhizome/Dialect/Osa/OsaInterfaces.td"

def Osa_Dialect : Dialect {
  let name = "osa";
  let cppNamespace = "::rhizome::osa";
  let summary = "the Operation Set Architecture";
  let description = [{
    Activations are channels-last: `[N, H, W, C]` for images (a 1-D signal has
    H = 1), `[…, C]` elsewhere; N is 1. Real-level tensors have element type f32
    and stand for real numbers (the host evaluates them in float32);
    integer-level tensors have element type `!num.int`. Weights are operands,
    produced by `osa.constant` from a resource blob.
  }];
  let dependentDialects = ["::rhizome::num::NumDialect"];
  let hasConstantMaterializer = 0;
}

class Osa_Op<string mnemonic, list<Trait> traits = []>
    : Op<Osa_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<Osa_OpInterface>], traits)> {
  let hasVerifier = 1;
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

def Osa_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
                                "ranked tensor", "::mlir::RankedTensorType">;

//===----------------------------------------------------------------------===//
// Both levels
//===----------------------------------------------------------------------===//

def Osa_ConstantOp : Osa_Op<"constant", [ConstantLike]> {
  let summary = "a constant tensor";
  let description = [{
    Real level: `value` has f32 elements and the result's type. Integer level:
    `value` is stored in i8, i16, i32 or i64, whichever holds the result's
    range, interpreted by the signedness of the result's element type.

    - (C1) `value` and the result have the same shape.

    ```mlir
    %w = osa.constant {value = dense<[1, -2]> : tensor<2xi8>}
        : () -> tensor<2x!num.int<s8, -2:1>>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Osa_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
}

def Osa_Conv2dOp : Osa_Op<"conv2d"> {
  let summary = "2-D convolution (cross-correlation)";
  let description = [{
    out[n,y,x,o] = Σ in[n, y·s−p+kh·d, x·s−p+kw·d, c] · w[o,kh,kw,c] (+ bias[o]).
    Outside the input stands `pad_value` (0 at the real level).

    - (C1) input `[1,H,W,C]`, weights `[O,KH,KW,C/groups]`, bias `[O]`.
    - (C2) strides, dilations: two positive values; pads: top, left, bottom, right ≥ 0.
    - (C3) groups divides C and O.
    - (C4) the output's size is ⌊(H + pads − (KH−1)·d − 1) / s⌋ + 1, likewise for W.
  }];
  let arguments = (ins Osa_Tensor:$input, Osa_Tensor:$weights,
      Optional<Osa_Tensor>:$bias, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups,
      DefaultValuedAttr<I64Attr, "0">:$pad_value);
  let results = (outs Osa_Tensor:$output);
}

def Osa_DenseOp : Osa_Op<"dense"> {
  let summary = "fully connected layer";
  let description = [{
    out[…,o] = Σ in[…,c] · w[o,c] (+ bias[o]).

    - (C1) input `[…,C]`, weights `[O,C]`, bias `[O]`, output `[…,O]`.
  }];
  let arguments = (ins Osa_Tensor:$input, Osa_Tensor:$weights,
                       Optional<Osa_Tensor>:$bias);
  let results = (outs Osa_Tensor:$output);
}

def Osa_MaxPoolOp : Osa_Op<"max_pool"> {
  let summary = "maximum over a sliding window";
  let description = [{
    Positions outside the input do not take part.

    - (C1) input `[1,H,W,C]`, kernel, strides, dilations two positive values, pads top, left, bottom, right (bottom and right may exceed what the last window needs, or ceil mode be expressed by larger ones).
    - (C2) every window holds at least one position of the input.
  }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ConcatOp : Osa_Op<"concat"> {
  let summary = "concatenation along an axis";
  let arguments = (ins Variadic<Osa_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ReshapeOp : Osa_Op<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Osa_Tensor:$input);
  let results = (outs Osa_Tensor:$output);
}

def Osa_TransposeOp : Osa_Op<"transpose"> {
  let summary = "permutation of axes: output axis i is input axis permutation[i]";
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Osa_Tensor:$output);
}

def Osa_GatherOp : Osa_Op<"gather"> {
  let summary = "elements at constant places along an axis, in any order and number";
  let description = [{
    out[…, j, …] = in[…, indices[j], …]. Slices, splits, nearest-neighbour
    resizing and broadcasting are gathers.

    - (C1) the axis is one of the input's, its size in the output the number of indices.
    - (C2) 0 ≤ index < the input's size along the axis.
  }];
  let arguments = (ins Osa_Tensor:$input, I64Attr:$axis,
                       DenseI64ArrayAttr:$indices);
  let results = (outs Osa_Tensor:$output);
}

def Osa_PadOp : Osa_Op<"pad"> {
  let summary = "constant padding";
  let description = [{ `low` and `high` elements of `value` per axis (≥ 0). At the integer level `value` is a whole number. }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$low,
      DenseI64ArrayAttr:$high, DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs Osa_Tensor:$output);
}

//===----------------------------------------------------------------------===//
// Real level
//===----------------------------------------------------------------------===//

def Osa_QuantizeOp : Osa_Op<"quantize"> {
  let summary = "the one rounding: real to integer";
  let description = [{
    q = clamp(round(x / scale[c]) + zero_point[c], lo, hi), lo and hi being the
    result type's range; c runs along `axis`, or scale and zero_point hold one
    value and axis is −1. `rounding`: `half_even` (ONNX, QONNX ROUND),
    `toward_zero`, `up`, `down` (QONNX CEIL, FLOOR), `half_up`, `half_down`,
    `half_away` (`half_away_from_zero`), `half_toward_zero`, `away_from_zero`, or `sign` (BipolarQuant: x ≥ 0 gives 1, else −1).

    - (C1) scale is positive and finite; f32.
  }];
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$scale,
      ElementsAttr:$zero_point, DefaultValuedAttr<I64Attr, "-1">:$axis,
      DefaultValuedAttr<StrAttr, "\"half_even\"">:$rounding);
  let results = (outs Osa_Tensor:$output);
}

def Osa_DequantizeOp : Osa_Op<"dequantize"> {
  let summary = "integer to real: (q − zero_point[c]) · scale[c]";
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$scale,
      ElementsAttr:$zero_point, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Osa_Tensor:$output);
}

def Osa_MultiThresholdOp : Osa_Op<"multi_threshold"> {
  let summary = "real to integer: out = #{k : x ≥ thresholds[c][k]}";
  let description = [{
    The quantiser of FINN's MultiThreshold; c runs along the last axis.

    - (C1) thresholds: f32 `[C or 1, K]`, finite, ascending in k; the result's range holds 0 … K.
  }];
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$thresholds);
  let results = (outs Osa_Tensor:$output);
}

class Osa_Binary<string mnemonic, string sum> : Osa_Op<mnemonic> {
  let summary = sum # ", with NumPy broadcasting";
  let arguments = (ins Osa_Tensor:$lhs, Osa_Tensor:$rhs);
  let results = (outs Osa_Tensor:$output);
}
def Osa_AddOp : Osa_Binary<"add", "real sum">;
def Osa_SubOp : Osa_Binary<"sub", "real difference">;
def Osa_MulOp : Osa_Binary<"mul", "real product">;
def Osa_DivOp : Osa_Binary<"div", "real quotient">;
def Osa_MaxOp : Osa_Binary<"max", "the larger one">;
def Osa_MinOp : Osa_Binary<"min", "the smaller one">;

def Osa_BatchNormOp : Osa_Op<"batch_norm"> {
  let summary = "gamma · (x − mean) / √(variance + epsilon) + beta along the last axis";
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$gamma,
      ElementsAttr:$beta, ElementsAttr:$mean, ElementsAttr:$variance,
      F32Attr:$epsilon);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ReluOp : Osa_Op<"relu"> {
  let summary = "max(x, 0)";
  let arguments = (ins Osa_Tensor:$input);
  let results = (outs Osa_Tensor:$output);
}

def Osa_LeakyReluOp : Osa_Op<"leaky_relu"> {
  let summary = "x for x ≥ 0, else alpha · x";
  let arguments = (ins Osa_Tensor:$input, F32Attr:$alpha);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ClipOp : Osa_Op<"clip"> {
  let summary = "min(max(x, min), max)";
  let arguments = (ins Osa_Tensor:$input, F32Attr:$min, F32Attr:$max);
  let results = (outs Osa_Tensor:$output);
}

def Osa_AvgPoolOp : Osa_Op<"avg_pool"> {
  let summary = "mean over a sliding window";
  let description = [{
    The divisor is the window's size if `count_include_pad` (positions beyond
    the explicit padding, reached in ceil mode only, never count), else the number of
    positions inside the input. Constraints as for `osa.max_pool`.
  }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, BoolAttr:$count_include_pad);
  let results = (outs Osa_Tensor:$output);
}

def Osa_SoftmaxOp : Osa_Op<"softmax"> {
  let summary = "softmax along an axis (host only)";
  let description = [{ With `log`, its logarithm. }];
  let arguments = (ins Osa_Tensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$log);
  let results = (outs Osa_Tensor:$output);
}

def Osa_UnaryOp : Osa_Op<"unary"> {
  let summary = "an elementwise real function";
  let description = [{ `kind`: abs, erf, exp, gelu, hardswish, log, mish, neg,
    reciprocal, sigmoid, softplus, softsign, sqrt, tanh. }];
  let arguments = (ins Osa_Tensor:$input, StrAttr:$kind);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ArgMaxOp : Osa_Op<"arg_max"> {
  let summary = "index of the largest element along an axis (host only)";
  let description = [{ The first of equals, or the last with `select_last`. The result has element type i64; the axis stays with size 1 if `keepdims`. }];
  let arguments = (ins Osa_Tensor:$input, I64Attr:$axis,
      DefaultValuedAttr<BoolAttr, "true">:$keepdims,
      DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs Osa_Tensor:$output);
}

//===----------------------------------------------------------------------===//
// Integer level
//===----------------------------------------------------------------------===//

def Osa_RequantiseOp : Osa_Op<"requantise"> {
  let summary = "out = clamp((x · multiplier[c] + offset[c]) >> shift, lo, hi)";
  let description = [{
    `>>` is the arithmetic shift (floor); lo and hi are the result type's range;
    c runs along the last axis or the attributes hold one value. The producer
    has proved that this equals the model's quantiser for every value in the
    input's range. With `ties_even` a tie (the low `shift` bits of x · multiplier
    + offset all zero) whose result before clamping is odd gives one less, that
    is, its lowest bit is cleared: with 2^(shift−1) in the offset this rounds half to even, exactly.

    - (C1) multiplier and offset hold 1 or C i64 values each; 0 ≤ shift ≤ 62, and ≥ 1 with `ties_even`.
    - (C2) the product and sum fit 63 bits over the input's range.
  }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$multiplier,
      DenseI64ArrayAttr:$offset, I64Attr:$shift,
      DefaultValuedAttr<BoolAttr, "false">:$ties_even);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ThresholdOp : Osa_Op<"threshold"> {
  let summary = "out = base + step · #{k : x ≥ thresholds[c][k]}";
  let description = [{
    - (C1) thresholds: i64 `[C or 1, K]`, ascending in k; a threshold above the input's range never counts.
  }];
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$thresholds,
      I64Attr:$base, DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Osa_Tensor:$output);
}

def Osa_TableOp : Osa_Op<"table"> {
  let summary = "out = values[c][x − lo], lo being the lower bound of the input's range";
  let description = [{
    - (C1) values: i64 `[C or 1, hi − lo + 1]`.
  }];
  let arguments = (ins Osa_Tensor:$input, ElementsAttr:$values);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ScaledAddOp : Osa_Op<"scaled_add"> {
  let summary = "out = lhs · lhs_multiplier + rhs · rhs_multiplier, equal shapes";
  let arguments = (ins Osa_Tensor:$lhs, Osa_Tensor:$rhs,
      DefaultValuedAttr<I64Attr, "1">:$lhs_multiplier,
      DefaultValuedAttr<I64Attr, "1">:$rhs_multiplier);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ScaledMaxOp : Osa_Op<"scaled_max"> {
  let summary = "out = max(lhs · lhs_multiplier, rhs · rhs_multiplier + rhs_offset), equal shapes";
  let description = [{ A minimum is a maximum with negative multipliers. }];
  let arguments = (ins Osa_Tensor:$lhs, Osa_Tensor:$rhs,
      DefaultValuedAttr<I64Attr, "1">:$lhs_multiplier,
      DefaultValuedAttr<I64Attr, "1">:$rhs_multiplier,
      DefaultValuedAttr<I64Attr, "0">:$rhs_offset);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ProductOp : Osa_Op<"product"> {
  let summary = "out = (lhs − lhs_zero) · (rhs − rhs_zero), equal shapes";
  let arguments = (ins Osa_Tensor:$lhs, Osa_Tensor:$rhs,
      DefaultValuedAttr<I64Attr, "0">:$lhs_zero,
      DefaultValuedAttr<I64Attr, "0">:$rhs_zero);
  let results = (outs Osa_Tensor:$output);
}

def Osa_SumPoolOp : Osa_Op<"sum_pool"> {
  let summary = "sum over a sliding window, optionally scaled by position";
  let description = [{
    s[y,x,c] = Σ over the window of (x − zero), positions outside the input
    contributing 0; out = s · position_scale[y·OW + x], or s if that is empty.

    - (C1) as `osa.max_pool`; position_scale holds 0 or OH·OW positive values.
  }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "0">:$zero,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$position_scale);
  let results = (outs Osa_Tensor:$output);
}

#endif
