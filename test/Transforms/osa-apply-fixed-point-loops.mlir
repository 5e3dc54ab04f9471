// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt "--osa-apply-fixed-point=format=fixed<1,7>" %s | FileCheck %s
// A loop's results get a quantizer where a layer reads them; tensors that only
// the loop reads, or that it alone gives, get none.

// CHECK-LABEL: func.func @main
// CHECK-NOT: osa.quantize %arg
// CHECK: %[[L:.*]]:2 = scf.for
// CHECK: %[[Q:.*]] = osa.quantize %[[L]]#0
// CHECK-NEXT: %[[X:.*]] = osa.dequantize %[[Q]]
// CHECK: %[[S:.*]] = osa.dense %[[X]],
// CHECK-NEXT: %[[YQ:.*]] = osa.quantize %[[S]]
// CHECK-NEXT: %[[Y:.*]] = osa.dequantize %[[YQ]]
// CHECK-NEXT: return %[[Y]], %[[L]]#1
func.func @main(%x: tensor<1x2xf32> {rhizome.name = "x"}, %k: tensor<1x2xf32> {rhizome.name = "k"}) -> (tensor<1x2xf32> {rhizome.name = "y"}, tensor<1x2xf32> {rhizome.name = "z"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %l:2 = scf.for %i = %zero to %three step %one iter_args(%a = %x, %b = %k) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
    %s = linalg.add ins(%a, %k : tensor<1x2xf32>, tensor<1x2xf32>) outs(%a : tensor<1x2xf32>) -> tensor<1x2xf32>
    scf.yield %s, %a : tensor<1x2xf32>, tensor<1x2xf32>
  }
  %w = osa.constant {value = dense<[[0.5, 0.125], [0.25, -0.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %y = osa.dense %l#0, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y, %l#1 : tensor<1x2xf32>, tensor<1x2xf32>
}
