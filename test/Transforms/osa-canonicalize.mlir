// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --osa-canonicalize %s | FileCheck %s
// The activation and the quantizer move before the pool, which then compares codes.

// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = osa.relu %arg0
// CHECK-NEXT: %[[Q:.*]] = osa.quantize %[[R]]
// CHECK-NEXT: %[[M:.*]] = osa.max_pool %[[Q]]
// CHECK-SAME: -> tensor<1x2x2x1x!num.int<u8>>
// CHECK-NEXT: osa.dequantize %[[M]]
func.func @main(%x: tensor<1x4x4x1xf32> {rhizome.name = "x"}) -> (tensor<1x2x2x1xf32> {rhizome.name = "y"}) {
  %m = osa.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  %r = osa.relu %m : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %q = osa.quantize %r {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1x!num.int<u8>>
  %d = osa.dequantize %q {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x2x1x!num.int<u8>>) -> tensor<1x2x2x1xf32>
  return %d : tensor<1x2x2x1xf32>
}
