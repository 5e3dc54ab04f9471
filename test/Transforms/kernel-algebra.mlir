// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --linalg-factorize-products | FileCheck %s --check-prefix=PAIRS
// RUN: %opt %s --linalg-factorize-products="new-first" --linalg-form-matmuls | FileCheck %s --check-prefix=GEMM
// RUN: %opt %s --linalg-form-matmuls | FileCheck %s --check-prefix=KEPT
// RUN: %opt %s --linalg-count-work -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORK

// WORK: remark: 512 multiply-accumulates, 1536 operations
// WORK: remark: 512 multiply-accumulates, 1536 operations
// WORK: remark: 128 multiply-accumulates, 256 operations
// WORK: remark: 128 multiply-accumulates, 256 operations
// WORK: remark: 0 multiply-accumulates, 0 operations

// A sum over three factors becomes two contractions, and these two matrix products.
// PAIRS-LABEL: func.func @chain
// PAIRS-COUNT-2: linalg.contract
// PAIRS-NOT: linalg.generic
// GEMM-LABEL: func.func @chain
// GEMM-COUNT-2: linalg.matmul
// GEMM-NOT: linalg.contract
func.func @chain(%a: tensor<4x8xf64>, %b: tensor<8x2xf64>, %c: tensor<2x8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x8xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<4x8xf64>) -> tensor<4x8xf64>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (k, l)>,
                       affine_map<(i, j, k, l) -> (l, j)>, affine_map<(i, j, k, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b, %c : tensor<4x8xf64>, tensor<8x2xf64>, tensor<2x8xf64>) outs(%i : tensor<4x8xf64>) {
  ^bb0(%p: f64, %q: f64, %r: f64, %s: f64):
    %0 = arith.mulf %p, %q fastmath<reassoc,contract> : f64
    %1 = arith.mulf %0, %r fastmath<reassoc,contract> : f64
    %2 = arith.addf %s, %1 fastmath<reassoc,contract> : f64
    linalg.yield %2 : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// Sums that do not begin at zero are left alone.
// KEPT-LABEL: func.func @begun
// KEPT: linalg.contract
// GEMM-LABEL: func.func @begun
// GEMM: linalg.contract
func.func @begun(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = linalg.contract
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Loops on buffers have no results, but are not dead.
// PAIRS-LABEL: func.func @buffers
// PAIRS: linalg.fill
func.func @buffers(%a: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
  return
}
