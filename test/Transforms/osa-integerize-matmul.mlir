// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --osa-integerize %s | FileCheck %s
// The scores of two heads that lie inside the tokens: both operands are read as
// they are, the zero point goes into the product, and only the host sees the
// heads in front of the tokens.

// CHECK-LABEL: func.func @network
// CHECK-NOT: osa.transpose
// CHECK: %[[Q:.*]] = osa.reshape %arg0 : (tensor<1x5x6x!num.int<u8>>) -> tensor<5x2x1x3x!num.int<u8>>
// CHECK: %[[K:.*]] = osa.reshape %arg0 : (tensor<1x5x6x!num.int<u8>>) -> tensor<5x2x3x!num.int<u8>>
// CHECK: osa.matmul %[[Q]], %[[K]] {lhs_zero = 3 : i64, rhs_axes = array<i64: 1, 2, 0>, rhs_zero = 3 : i64}
// CHECK-SAME: -> tensor<5x2x1x5x!num.int<s19, -2268:190512>>
// CHECK-NOT: osa.transpose
// CHECK: return
func.func @main(%x: tensor<1x5x6xf32> {rhizome.name = "x"}) -> (tensor<1x2x5x5xf32> {rhizome.name = "y"}) {
  %xq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<3> : tensor<i64>} : (tensor<1x5x6xf32>) -> tensor<1x5x6x!num.int<u8>>
  %xd = osa.dequantize %xq {scale = dense<0.5> : tensor<f32>, zero_point = dense<3> : tensor<i64>} : (tensor<1x5x6x!num.int<u8>>) -> tensor<1x5x6xf32>
  %h = osa.reshape %xd : (tensor<1x5x6xf32>) -> tensor<1x5x2x3xf32>
  %q = osa.transpose %h {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x3xf32>) -> tensor<1x2x5x3xf32>
  %k = osa.transpose %h {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x5x2x3xf32>) -> tensor<1x2x3x5xf32>
  %kb = osa.reshape %k : (tensor<1x2x3x5xf32>) -> tensor<2x3x5xf32>
  %m = osa.matmul %q, %kb : (tensor<1x2x5x3xf32>, tensor<2x3x5xf32>) -> tensor<1x2x5x5xf32>
  %yq = osa.quantize %m {scale = dense<16.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5x!num.int<s8>>
  %y = osa.dequantize %yq {scale = dense<16.0> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x5x5x!num.int<s8>>) -> tensor<1x2x5x5xf32>
  return %y : tensor<1x2x5x5xf32>
}
