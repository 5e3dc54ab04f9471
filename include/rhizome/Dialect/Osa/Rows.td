// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations along the rows of a tensor, its last axis, that a transformer has
// between its products: softmax and normalization in integers. In a file of
// their own because few sources name them.
#ifndef RHIZOME_DIALECT_OSA_ROWS_TD
#define RHIZOME_DIALECT_OSA_ROWS_TD

include "rhizome/Dialect/Osa/Osa.td"

def Osa_NormalizeOp : Osa_Op<"normalize"> {
  let summary = "each row, the last axis, with mean 0 and variance 1";
  let description = [{
    (x − mean) / √(variance + epsilon) over the elements of a row; without
    `centered` x / √(mean of squares + epsilon).

    - (C1) input and output have the same shape, with an axis.
    - (C2) epsilon is finite and not negative.

    ```mlir
    func.func @normalize(%x: tensor<1x4x8xf32>) {
      %y = osa.normalize %x {epsilon = 1.0e-05 : f32} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Real:$input, F32Attr:$epsilon,
                       DefaultValuedAttr<BoolAttr, "true">:$centered);
  let results = (outs Osa_Real:$output);
}

def Osa_RowSoftmaxOp : Osa_Op<"row_softmax"> {
  let summary = "softmax of each row by a table of exponentials and one quotient";
  let description = [{
    With m the largest x of a row and e the table `exponentials`:
    out = min((e[m − x] · ⌊numerator / Σ e[m − x]⌋ + 2^(shift − 1)) >> shift, hi),
    where hi is the upper bound of the result's range.

    - (C1) exponentials: one value for each difference of two inputs, 0 … the first one, which is 1 … 65535.
    - (C2) 1 ≤ shift ≤ 40, and numerator / exponentials[0] is 1 … 2^24 − 1.
    - (C3) input and output have the same shape; the output's range begins at 0.
    - (C4) a row has at most 2^20 elements.

    ```mlir
    func.func @shares(%x: tensor<1x4x!num.int<u2>>) {
      %y = osa.row_softmax %x {exponentials = array<i64: 65535, 24109, 8869, 3263>, numerator = 8589803520 : i64, shift = 25 : i64}
          : (tensor<1x4x!num.int<u2>>) -> tensor<1x4x!num.int<u8>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input, DenseI64ArrayAttr:$exponentials,
                       I64Attr:$numerator, I64Attr:$shift);
  let results = (outs Osa_Integer:$output);
}

def Osa_RowNormOp : Osa_Op<"row_norm"> {
  let summary = "each row with mean 0 and variance 1, in fixed point";
  let description = [{
    Of a row of C elements, with A = Σ (x − zero), or 0 without `centered`, and
    B = Σ (x − zero)²: W = C·B − A² + epsilon, which is C² times the variance; j
    is the number of digits of W to the base 4, T = ⌊√⌊W · 4^(16 − j)⌋⌋ its root
    in 16 bits, R = ⌊(2^32 − 1) / T⌋, and
    out = ((C·(x − zero) − A) · R · 2^fraction + 2^(15 + j)) >> (16 + j),
    the normalized value in units of 2^−fraction.

    - (C1) epsilon ≥ 1 and 0 ≤ fraction ≤ 16.
    - (C2) the largest W is below 2^60.
    - (C3) input and output have the same shape, with an axis.
    - (C4) a row has 1 … 2^20 elements, and the output's range is that of every normalized value: ±⌊√C · 2^fraction · (1 + 2^−14) + 1⌋.

    ```mlir
    func.func @normalized(%x: tensor<2x4x!num.int<s8>>) {
      %y = osa.row_norm %x {epsilon = 1 : i64, fraction = 12 : i64}
          : (tensor<2x4x!num.int<s8>>) -> tensor<2x4x!num.int<s15, -8193:8193>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Integer:$input,
      DefaultValuedAttr<BoolAttr, "true">:$centered,
      DefaultValuedAttr<I64Attr, "0">:$zero, I64Attr:$epsilon,
      I64Attr:$fraction);
  let results = (outs Osa_Integer:$output);
}

#endif
