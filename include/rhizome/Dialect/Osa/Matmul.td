// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two tensors. In a file of its own because few sources name it:
// Osa.h is included nearly everywhere.
#ifndef RHIZOME_DIALECT_OSA_MATMUL_TD
#define RHIZOME_DIALECT_OSA_MATMUL_TD

include "rhizome/Dialect/Osa/Osa.td"

def Osa_MatmulOp : Osa_Op<"matmul"> {
  let summary = "products of matrices, both of which are tensors of the network";
  let description = [{
    out[o,b,m,n] = Σ over k of (lhs[o,b,m,k] − lhs_zero) · (rhs(b,k,n) − rhs_zero).
    A product with a constant matrix is an `osa.dense`.

    The left operand's rows may go through the batch with the batch outside (O is 1) or
    inside (M is 1, as the heads of an attention lie in a token). The right operand's
    axes are in the order of `rhs_axes`: the place of the batch, of k and of n. Both
    save transposes.

    - (C1) lhs is `[O,B,M,K]`, the output `[O,B,M,N]`.
    - (C2) rhs has the sizes B, K and N on the axes that `rhs_axes` names, each once.
    - (C3) operands and result are of one level.
    - (C4) lhs_zero and rhs_zero are 0 at the real level.

    ```mlir
    func.func @scores(%q: tensor<5x2x1x4x!num.int<s8>>, %k: tensor<5x2x4x!num.int<s8>>) {
      %s = osa.matmul %q, %k {rhs_axes = array<i64: 1, 2, 0>}
          : (tensor<5x2x1x4x!num.int<s8>>, tensor<5x2x4x!num.int<s8>>) -> tensor<5x2x1x5x!num.int<s18, -65536:65536>>
      return
    }
    ```
  }];
  let arguments = (ins Osa_Number:$lhs, Osa_Number:$rhs,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 1, 2}">:$rhs_axes,
      DefaultValuedAttr<I64Attr, "0">:$lhs_zero,
      DefaultValuedAttr<I64Attr, "0">:$rhs_zero);
  let results = (outs Osa_Number:$output);
}

#endif
