// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --convert-osa-to-linalg %s | FileCheck %s
// The range selects the storage: u4 and s4 in i8. Unsigned values extend with
// zeros, signed ones by sign. Functions on real tensors become loops on f32.

// CHECK-LABEL: func.func @network(%arg0: tensor<1x3xi8>) -> tensor<1x2xi8>
// CHECK-NOT: osa.
// CHECK: linalg.generic
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
// CHECK: arith.addi
// The requantizer: multiply, add, shift, clamp.
// CHECK: linalg.generic
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: arith.shrsi
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK-LABEL: func.func @epilogue(%arg0: tensor<1x2xi8>) -> tensor<1x2xf32>
// CHECK-NOT: osa.
// CHECK: arith.extsi %{{.*}} : i8 to i64
// CHECK: arith.sitofp
// CHECK: arith.mulf
func.func @network(%x: tensor<1x3x!num.int<u4>>) -> tensor<1x2x!num.int<s4>> {
  %w = osa.constant {value = dense<[[1, -2, 3], [0, 1, 2]]> : tensor<2x3xi8>} : () -> tensor<2x3x!num.int<s3, -2:3>>
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<s3, -2:3>>) -> tensor<1x2x!num.int<s7, -30:60>>
  %q = osa.requantize %d {multiplier = array<i64: 3>, offset = array<i64: 8>, shift = 4 : i64} : (tensor<1x2x!num.int<s7, -30:60>>) -> tensor<1x2x!num.int<s4>>
  return %q : tensor<1x2x!num.int<s4>>
}
func.func @epilogue(%x: tensor<1x2x!num.int<s4>>) -> tensor<1x2xf32> {
  %d = osa.dequantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<s4>>) -> tensor<1x2xf32>
  return %d : tensor<1x2xf32>
}

// Calls go to the converted functions.
// CHECK-LABEL: func.func @calls(%{{.*}}: tensor<1x2xf32>) -> tensor<1x2xi8>
// CHECK: call @called(%{{.*}}) : (tensor<1x2xf32>) -> tensor<1x2xi8>
func.func @calls(%x: tensor<1x2xf32>) -> tensor<1x2x!num.int<s8>> {
  %q = call @called(%x) : (tensor<1x2xf32>) -> tensor<1x2x!num.int<s8>>
  return %q : tensor<1x2x!num.int<s8>>
}
// CHECK-LABEL: func.func @called(%{{.*}}: tensor<1x2xf32>) -> tensor<1x2xi8>
func.func @called(%x: tensor<1x2xf32>) -> tensor<1x2x!num.int<s8>> {
  %q = osa.quantize %x {scale = dense<0.5> : tensor<1xf32>, zero_point = dense<0> : tensor<1xi64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<s8>>
  return %q : tensor<1x2x!num.int<s8>>
}
