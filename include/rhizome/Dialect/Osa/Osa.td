// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `osa` dialect, the Operation Set Architecture: what is computed? Named
// tensor operations at the level at which hardware building blocks exist, in
// two levels: real (f32 element types, exact real arithmetic between
// quantizers) and integer (`!num.int`, exact).
#ifndef RHIZOME_DIALECT_OSA_TD
#define RHIZOME_DIALECT_OSA_TD

include "mlir/IR/EnumAttr.td"
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
    and represent real numbers (the host evaluates them in float32);
    integer-level tensors have element type `!num.int`. Weights are operands,
    produced by `osa.constant` from a resource blob.

    Constraint on every operation, besides its own:
    - (D1) an attribute's resource exists and holds exactly the bytes that its
      type needs; its elements are f32 or integers of 8, 16, 32 or 64 bits.
  }];
  let dependentDialects = ["::rhizome::num::NumDialect"];
  let hasConstantMaterializer = 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Osa_UnaryKind : I32EnumAttr<"UnaryKind", "an elementwise real function", [
    I32EnumAttrCase<"Abs", 0, "abs">,               // |x|
    I32EnumAttrCase<"Erf", 1, "erf">,               // the error function
    I32EnumAttrCase<"Exp", 2, "exp">,               // e^x
    I32EnumAttrCase<"Gelu", 3, "gelu">,             // x · Φ(x), by erf
    I32EnumAttrCase<"HardSwish", 4, "hardswish">,   // x · min(max(x + 3, 0), 6) / 6
    I32EnumAttrCase<"Log", 5, "log">,               // the natural logarithm
    I32EnumAttrCase<"Mish", 6, "mish">,             // x · tanh(softplus(x))
    I32EnumAttrCase<"Neg", 7, "neg">,               // −x
    I32EnumAttrCase<"Reciprocal", 8, "reciprocal">, // 1 / x
    I32EnumAttrCase<"Sigmoid", 9, "sigmoid">,       // 1 / (1 + e^−x)
    I32EnumAttrCase<"Softplus", 10, "softplus">,    // log(1 + e^x)
    I32EnumAttrCase<"Softsign", 11, "softsign">,    // x / (1 + |x|)
    I32EnumAttrCase<"Sqrt", 12, "sqrt">,            // the square root
    I32EnumAttrCase<"Tanh", 13, "tanh">             // the hyperbolic tangent
  ]> {
  let cppNamespace = "::rhizome::osa";
}

def Osa_Rounding : I32EnumAttr<"Rounding", "a quantizer's rounding", [
    // To the nearest integer; a tie goes to …
    I32EnumAttrCase<"HalfEven", 0, "half_even">,              // … the even one
    I32EnumAttrCase<"HalfUp", 1, "half_up">,                  // … the larger one
    I32EnumAttrCase<"HalfDown", 2, "half_down">,              // … the smaller one
    I32EnumAttrCase<"HalfAway", 3, "half_away">,              // … the one away from 0
    I32EnumAttrCase<"HalfTowardZero", 4, "half_toward_zero">, // … the one toward 0
    // To the next integer …
    I32EnumAttrCase<"TowardZero", 5, "toward_zero">,          // … toward 0
    I32EnumAttrCase<"AwayFromZero", 6, "away_from_zero">,     // … away from 0
    I32EnumAttrCase<"Up", 7, "up">,                           // … above
    I32EnumAttrCase<"Down", 8, "down">,                       // … below
    // No rounding: 1 for x ≥ 0, else −1.
    I32EnumAttrCase<"Sign", 9, "sign">
  ]> {
  let cppNamespace = "::rhizome::osa";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Osa_TensorOf<code elementCheck, string what>
    : Type<CPred<[{::rhizome::osa::isTensorOf($_self, [](::mlir::Type element) {
        return }] # elementCheck # [{; })}]>,
           "tensor of static shape of " # what, "::mlir::RankedTensorType">;

def Osa_Real : Osa_TensorOf<[{ element.isF32() }], "f32">;
def Osa_Integer : Osa_TensorOf<
    [{ ::llvm::isa<::rhizome::num::IntType>(element) }], "!num.int">;
/// The type of host indices is i64.
def Osa_Index : Osa_TensorOf<[{ element.isSignlessInteger(64) }], "i64">;
/// Of either level.
def Osa_Number : Osa_TensorOf<
    [{ element.isF32() || ::llvm::isa<::rhizome::num::IntType>(element) }],
    "f32 or !num.int">;
def Osa_Tensor : Osa_TensorOf<
    [{ element.isF32() || element.isSignlessInteger(64) ||
       ::llvm::isa<::rhizome::num::IntType>(element) }],
    "f32, !num.int or i64">;

class Osa_Op<string mnemonic, list<Trait> traits = []>
    : Op<Osa_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<Osa_OpInterface>], traits)> {
  let hasVerifier = 1;
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

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
    - (C2) the elements of `value` are f32 for f32, i64 for i64, and integers for `!num.int`.
    - (C3) every value is in the range of the result's `!num.int`.
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
    Outside the input, elements are `pad_value` (0 at the real level).

    - (C1) input `[1,H,W,C]`, weights `[O,KH,KW,C/groups]`, bias `[O]`.
    - (C2) strides, dilations: two positive values; pads: top, left, bottom, right ≥ 0; all below 2^31, as the kernel's size.
    - (C3) groups divides C and O.
    - (C4) the output's size is ⌊(H + pads − (KH−1)·d − 1) / s⌋ + 1 ≥ 1, likewise for W.
    - (C5) operands and result are of one level.
    - (C6) pad_value fits the input's width, and is 0 at the real level.

    ```mlir
    func.func @conv(%x: tensor<1x5x5x2x!num.int<u4>>, %w: tensor<4x3x3x2x!num.int<s4>>) {
      %c = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
          : (tensor<1x5x5x2x!num.int<u4>>, tensor<4x3x3x2x!num.int<s4>>) -> tensor<1x3x3x4x!num.int<s12>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Number:$input, Osa_Number:$weights,
      Optional<Osa_Number>:$bias, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups,
      DefaultValuedAttr<I64Attr, "0">:$pad_value);
  let results = (outs Osa_Number:$output);
}

def Osa_DenseOp : Osa_Op<"dense"> {
  let summary = "fully connected layer";
  let description = [{
    out[…,o] = Σ in[…,c] · w[o,c] (+ bias[o]).

    - (C1) input `[…,C]`, weights `[O,C]`, bias `[O]`, output `[…,O]`.
    - (C2) operands and result are of one level.

    ```mlir
    func.func @dense(%x: tensor<1x3xf32>, %w: tensor<5x3xf32>, %b: tensor<5xf32>) {
      %d = osa.dense %x, %w, %b : (tensor<1x3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> tensor<1x5xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Number:$input, Osa_Number:$weights,
                       Optional<Osa_Number>:$bias);
  let results = (outs Osa_Number:$output);
}

def Osa_MaxPoolOp : Osa_Op<"max_pool"> {
  let summary = "maximum over a sliding window";
  let description = [{
    Positions outside the input are ignored.

    - (C1) input `[1,H,W,C]`, kernel two positive values below 2^31; strides, dilations, pads as `osa.conv2d`'s C2 (bottom and right may exceed what the last window needs; larger ones express ceil mode).
    - (C2) every window contains at least one position of the input.
    - (C3) the output's size follows from the window as `osa.conv2d`'s C4.
    - (C4) input and output have the same element type, or the output's range holds the input's.

    ```mlir
    func.func @pool(%x: tensor<1x4x4x2x!num.int<u8>>) {
      %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
          : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u8>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Number:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations);
  let results = (outs Osa_Number:$output);
}

def Osa_ConcatOp : Osa_Op<"concat"> {
  let summary = "concatenation along an axis";
  let description = [{
    - (C1) there is an input, and the axis is one of the output's.
    - (C2) inputs and output have one rank and agree outside the axis; the output's size along it is the inputs' sum.
    - (C3) inputs and output have the same element type, or the output's range holds the inputs'.

    ```mlir
    func.func @concat(%x: tensor<1x3xf32>, %y: tensor<1x2xf32>) {
      %c = osa.concat %x, %y {axis = 1 : i64} : (tensor<1x3xf32>, tensor<1x2xf32>) -> tensor<1x5xf32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Osa_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Osa_Tensor:$output);
}

def Osa_ReshapeOp : Osa_Op<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    - (C1) input and output have the same number of elements.
    - (C2) input and output have the same element type, or the output's range holds the input's.

    ```mlir
    func.func @reshape(%x: tensor<1x2x3xf32>) {
      %r = osa.reshape %x : (tensor<1x2x3xf32>) -> tensor<1x6xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Tensor:$input);
  let results = (outs Osa_Tensor:$output);
}

def Osa_TransposeOp : Osa_Op<"transpose"> {
  let summary = "permutation of axes: output axis i is input axis permutation[i]";
  let description = [{
    - (C1) the permutation names each axis of the input once.
    - (C2) the output has the permuted shape.
    - (C3) input and output have the same element type, or the output's range holds the input's.

    ```mlir
    func.func @transpose(%x: tensor<1x2x3xf32>) {
      %t = osa.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Osa_Tensor:$output);
}

def Osa_GatherOp : Osa_Op<"gather"> {
  let summary = "elements at constant indices along an axis, in any order and number";
  let description = [{
    out[…, j, …] = in[…, indices[j], …]. Slices, splits, nearest-neighbor
    resizing and broadcasting are gathers.

    - (C1) the axis is one of the input's, its size in the output the number of indices.
    - (C2) 0 ≤ index < the input's size along the axis.
    - (C3) input and output have the same element type, or the output's range holds the input's.

    ```mlir
    func.func @every_other(%x: tensor<1x6xf32>) {
      %g = osa.gather %x {axis = 1 : i64, indices = array<i64: 0, 2, 4>} : (tensor<1x6xf32>) -> tensor<1x3xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Tensor:$input, I64Attr:$axis,
                       DenseI64ArrayAttr:$indices);
  let results = (outs Osa_Tensor:$output);
}

def Osa_PadOp : Osa_Op<"pad"> {
  let summary = "constant padding";
  let description = [{
    `low` and `high` elements of `value` per axis.

    - (C1) low and high have one value per axis, each in 0 … 2^31−1.
    - (C2) the output has the padded shape.
    - (C3) input and output have the same element type, or the output's range holds the input's.
    - (C4) if elements are not f32, value is a whole number in the output's range.

    ```mlir
    func.func @pad(%x: tensor<1x3x!num.int<u2>>) {
      %p = osa.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 0>, value = 3.0} : (tensor<1x3x!num.int<u2>>) -> tensor<1x4x!num.int<u2>>
      return
    }
    ```
  }];
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
    q = clamp(round(x / scale[c]) + zero_point[c], lo, hi), where lo and hi are the
    result type's range; c runs along `axis`, or scale and zero_point hold one
    value and axis is −1. `rounding`: `half_even` (ONNX, QONNX ROUND),
    `toward_zero`, `up`, `down` (QONNX CEIL, FLOOR), `half_up`, `half_down`,
    `half_away` (QONNX HALF_UP), `half_toward_zero`, `away_from_zero`, or `sign`
    (BipolarQuant: x ≥ 0 gives 1, else −1). `half_even` is not printed.

    - (C1) scale is positive and finite; f32.
    - (C2) scale and zero_point have rank 0 or 1 and one value each, or as many as the input's axis is long; axis is −1 or one of the input's.
    - (C3) the zero points are whole numbers.
    - (C4) input and output have the same shape.

    ```mlir
    func.func @quantize(%x: tensor<1x3xf32>) {
      %q = osa.quantize %x rounding(down) {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>}
          : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u8>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, ElementsAttr:$scale,
      ElementsAttr:$zero_point, DefaultValuedAttr<I64Attr, "-1">:$axis,
      DefaultValuedAttr<Osa_Rounding,
                        "::rhizome::osa::Rounding::HalfEven">:$rounding);
  let results = (outs Osa_Integer:$output);
  let assemblyFormat = [{
    $input (`rounding` `(` $rounding^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Osa_DequantizeOp : Osa_Op<"dequantize"> {
  let summary = "integer to real: (q − zero_point[c]) · scale[c]";
  let description = [{
    - (C1) … (C4) as for `osa.quantize`.

    ```mlir
    func.func @dequantize(%q: tensor<1x3x!num.int<u8>>) {
      %x = osa.dequantize %q {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>}
          : (tensor<1x3x!num.int<u8>>) -> tensor<1x3xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, ElementsAttr:$scale,
      ElementsAttr:$zero_point, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs Osa_Real:$output);
}

def Osa_MultiThresholdOp : Osa_Op<"multi_threshold"> {
  let summary = "real to integer: out = #{k : x ≥ thresholds[c][k]}";
  let description = [{
    The quantizer of FINN's MultiThreshold; c runs along the last axis.

    - (C1) thresholds: f32 `[C or 1, K]`, finite, ascending in k; the result's range holds 0 … K.
    - (C2) input and output have the same shape.

    ```mlir
    func.func @count(%x: tensor<1x3xf32>) {
      %t = osa.multi_threshold %x {thresholds = dense<[[-0.5, 0.5, 1.5]]> : tensor<1x3xf32>} : (tensor<1x3xf32>) -> tensor<1x3x!num.int<u2>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, ElementsAttr:$thresholds);
  let results = (outs Osa_Integer:$output);
}

class Osa_Binary<string mnemonic, string sum> : Osa_Op<mnemonic> {
  let summary = sum # ", with NumPy broadcasting";
  let description = [{
    `osa.add`; likewise `sub`, `mul`, `div`, `max` and `min`:

    - (C1) the operands' shapes broadcast to the output's.

    ```mlir
    func.func @binary(%x: tensor<1x4x3xf32>, %y: tensor<3xf32>) {
      %z = osa.add %x, %y : (tensor<1x4x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$lhs, Osa_Real:$rhs);
  let results = (outs Osa_Real:$output);
}
def Osa_AddOp : Osa_Binary<"add", "real sum">;
def Osa_SubOp : Osa_Binary<"sub", "real difference">;
def Osa_MulOp : Osa_Binary<"mul", "real product">;
def Osa_DivOp : Osa_Binary<"div", "real quotient">;
def Osa_MaxOp : Osa_Binary<"max", "the larger one">;
def Osa_MinOp : Osa_Binary<"min", "the smaller one">;

def Osa_BatchNormOp : Osa_Op<"batch_norm"> {
  let summary = "gamma · (x − mean) / √(variance + epsilon) + beta along the last axis";
  let description = [{
    - (C1) gamma, beta, mean and variance: f32, one value each or one per channel.
    - (C2) input and output have the same shape.

    ```mlir
    func.func @norm(%x: tensor<1x4x2xf32>) {
      %y = osa.batch_norm %x {gamma = dense<1.0> : tensor<2xf32>, beta = dense<0.0> : tensor<2xf32>, mean = dense<0.5> : tensor<2xf32>, variance = dense<2.0> : tensor<2xf32>, epsilon = 1.0e-05 : f32}
          : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, ElementsAttr:$gamma,
      ElementsAttr:$beta, ElementsAttr:$mean, ElementsAttr:$variance,
      F32Attr:$epsilon);
  let results = (outs Osa_Real:$output);
}

def Osa_ReluOp : Osa_Op<"relu"> {
  let summary = "max(x, 0)";
  let description = [{
    - (C1) input and output have the same shape.

    ```mlir
    func.func @relu(%x: tensor<1x4xf32>) {
      %y = osa.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input);
  let results = (outs Osa_Real:$output);
}

def Osa_LeakyReluOp : Osa_Op<"leaky_relu"> {
  let summary = "x for x ≥ 0, else alpha · x";
  let description = [{
    - (C1) input and output have the same shape.

    ```mlir
    func.func @leaky(%x: tensor<1x4xf32>) {
      %y = osa.leaky_relu %x {alpha = 0.1 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, F32Attr:$alpha);
  let results = (outs Osa_Real:$output);
}

def Osa_ClipOp : Osa_Op<"clip"> {
  let summary = "min(max(x, min), max)";
  let description = [{
    - (C1) input and output have the same shape.

    ```mlir
    func.func @relu6(%x: tensor<1x4xf32>) {
      %y = osa.clip %x {min = 0.0 : f32, max = 6.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, F32Attr:$min, F32Attr:$max);
  let results = (outs Osa_Real:$output);
}

def Osa_AvgPoolOp : Osa_Op<"avg_pool"> {
  let summary = "mean over a sliding window";
  let description = [{
    The divisor is the window's size if `count_include_pad` (positions beyond
    the explicit padding, reached in ceil mode only, never count), else the number of
    positions inside the input.

    - (C1) … (C3) as for `osa.max_pool`.

    ```mlir
    func.func @mean(%x: tensor<1x4x4x2xf32>) {
      %m = osa.avg_pool %x {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = false}
          : (tensor<1x4x4x2xf32>) -> tensor<1x1x1x2xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, BoolAttr:$count_include_pad);
  let results = (outs Osa_Real:$output);
}

def Osa_SoftmaxOp : Osa_Op<"softmax"> {
  let summary = "softmax along an axis (host only)";
  let description = [{
    With `log`, its logarithm.

    - (C1) the axis is one of the input's; a negative one counts from the last.
    - (C2) input and output have the same shape.

    ```mlir
    func.func @probabilities(%x: tensor<1x10xf32>) {
      %p = osa.softmax %x {axis = 1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$log);
  let results = (outs Osa_Real:$output);
}

def Osa_UnaryOp : Osa_Op<"unary"> {
  let summary = "an elementwise real function";
  let description = [{
    `kind`: abs, erf, exp, gelu, hardswish, log, mish, neg, reciprocal, sigmoid,
    softplus, softsign, sqrt, tanh.

    - (C1) input and output have the same shape.

    ```mlir
    func.func @sigmoid(%x: tensor<1x10xf32>) {
      %y = osa.unary sigmoid %x : (tensor<1x10xf32>) -> tensor<1x10xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, Osa_UnaryKind:$kind);
  let results = (outs Osa_Real:$output);
  let assemblyFormat =
      "$kind $input attr-dict `:` functional-type(operands, results)";
}

def Osa_ArgMaxOp : Osa_Op<"arg_max"> {
  let summary = "index of the largest element along an axis (host only)";
  let description = [{
    The first of equal elements, or the last with `select_last`. With `keepdims`
    the axis is kept with size 1.

    - (C1) the axis is one of the input's, a negative one counting from the last, and not empty.
    - (C2) the output has the input's shape without the axis, or with 1 for it.

    ```mlir
    func.func @class(%x: tensor<1x10xf32>) {
      %i = osa.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<1x10xf32>) -> tensor<1xi64>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Number:$input, I64Attr:$axis,
      DefaultValuedAttr<BoolAttr, "true">:$keepdims,
      DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs Osa_Index:$output);
}

//===----------------------------------------------------------------------===//
// Integer level
//===----------------------------------------------------------------------===//

def Osa_RequantizeOp : Osa_Op<"requantize"> {
  let summary = "out = clamp((x · multiplier[c] + offset[c]) >> shift, lo, hi)";
  let description = [{
    `>>` is the arithmetic shift (floor); lo and hi are the result type's range;
    c runs along the last axis or the attributes hold one value. The producer
    has proved that this equals the model's quantizer for every value in the
    input's range. With `ties_even` a tie (the low `shift` bits of x · multiplier
    + offset all zero) whose result before clamping is odd gives one less, that
    is, its lowest bit is cleared: with 2^(shift−1) in the offset this rounds half to even, exactly.

    - (C1) multiplier and offset hold 1 or C i64 values each; 0 ≤ shift ≤ 62, and ≥ 1 with `ties_even`.
    - (C2) the product and sum fit 112 bits over the input's range.
    - (C3) input and output have the same shape.

    ```mlir
    func.func @requantize(%x: tensor<1x3x!num.int<s12>>) {
      %q = osa.requantize %x {multiplier = array<i64: 3, 5, 7>, offset = array<i64: 8>, shift = 4 : i64}
          : (tensor<1x3x!num.int<s12>>) -> tensor<1x3x!num.int<u8>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, DenseI64ArrayAttr:$multiplier,
      DenseI64ArrayAttr:$offset, I64Attr:$shift,
      DefaultValuedAttr<BoolAttr, "false">:$ties_even);
  let results = (outs Osa_Integer:$output);
}

def Osa_ThresholdOp : Osa_Op<"threshold"> {
  let summary = "out = base + step · #{k : x ≥ thresholds[c][k]}";
  let description = [{
    - (C1) thresholds: i64 `[C or 1, K]`, ascending in k; a threshold above the input's range has no effect.
    - (C2) every result for an input in its range is in the output's range.
    - (C3) input and output have the same shape.

    ```mlir
    func.func @threshold(%x: tensor<1x3x!num.int<s12>>) {
      %t = osa.threshold %x {thresholds = dense<[[-7, 0, 7]]> : tensor<1x3xi64>, base = -2 : i64}
          : (tensor<1x3x!num.int<s12>>) -> tensor<1x3x!num.int<s2>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, ElementsAttr:$thresholds,
      I64Attr:$base, DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Osa_Integer:$output);
}

def Osa_TableOp : Osa_Op<"table"> {
  let summary = "out = values[c][x − lo], where lo is the lower bound of the input's range";
  let description = [{
    - (C1) values: i64 `[C or 1, hi − lo + 1]`.
    - (C2) every entry is in the output's range.
    - (C3) input and output have the same shape.

    ```mlir
    func.func @table(%x: tensor<1x3x!num.int<u2>>) {
      %t = osa.table %x {values = dense<[[0, 1, 4, 9]]> : tensor<1x4xi64>}
          : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u4, 0:9>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, ElementsAttr:$values);
  let results = (outs Osa_Integer:$output);
}

def Osa_ScaledAddOp : Osa_Op<"scaled_add"> {
  let summary = "out = lhs · lhs_multiplier + rhs · rhs_multiplier";
  let description = [{
    - (C1) operands and output have the same shape.

    ```mlir
    func.func @sum(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
      %s = osa.scaled_add %x, %y {rhs_multiplier = -3 : i64}
          : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<s5, -9:3>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$lhs, Osa_Integer:$rhs,
      DefaultValuedAttr<I64Attr, "1">:$lhs_multiplier,
      DefaultValuedAttr<I64Attr, "1">:$rhs_multiplier);
  let results = (outs Osa_Integer:$output);
}

def Osa_ScaledMaxOp : Osa_Op<"scaled_max"> {
  let summary = "out = max(lhs · lhs_multiplier, rhs · rhs_multiplier + rhs_offset)";
  let description = [{
    A minimum is a maximum with negative multipliers.

    - (C1) operands and output have the same shape.

    ```mlir
    func.func @max(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
      %m = osa.scaled_max %x, %y {rhs_offset = 1 : i64}
          : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u3, 1:4>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$lhs, Osa_Integer:$rhs,
      DefaultValuedAttr<I64Attr, "1">:$lhs_multiplier,
      DefaultValuedAttr<I64Attr, "1">:$rhs_multiplier,
      DefaultValuedAttr<I64Attr, "0">:$rhs_offset);
  let results = (outs Osa_Integer:$output);
}

def Osa_ProductOp : Osa_Op<"product"> {
  let summary = "out = (lhs − lhs_zero) · (rhs − rhs_zero)";
  let description = [{
    - (C1) operands and output have the same shape.

    ```mlir
    func.func @product(%x: tensor<1x3x!num.int<u2>>, %y: tensor<1x3x!num.int<u2>>) {
      %p = osa.product %x, %y {lhs_zero = 1 : i64}
          : (tensor<1x3x!num.int<u2>>, tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<s4, -3:6>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$lhs, Osa_Integer:$rhs,
      DefaultValuedAttr<I64Attr, "0">:$lhs_zero,
      DefaultValuedAttr<I64Attr, "0">:$rhs_zero);
  let results = (outs Osa_Integer:$output);
}

def Osa_SumPoolOp : Osa_Op<"sum_pool"> {
  let summary = "sum over a sliding window, optionally scaled by position";
  let description = [{
    s[y,x,c] = Σ over the window of (x − zero), where positions outside the input
    contribute 0; out = s · position_scale[y·OW + x], or s if that is empty.

    - (C1), (C3) as for `osa.max_pool`.
    - (C2) position_scale holds 0 or OH·OW positive values.

    ```mlir
    func.func @sum(%x: tensor<1x4x4x2x!num.int<u8>>) {
      %s = osa.sum_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
          : (tensor<1x4x4x2x!num.int<u8>>) -> tensor<1x2x2x2x!num.int<u10, 0:1020>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "0">:$zero,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$position_scale);
  let results = (outs Osa_Integer:$output);
}

#endif
