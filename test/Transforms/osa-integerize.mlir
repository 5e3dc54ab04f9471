// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --osa-integerize %s | FileCheck %s
// Scales 0.5 · 0.25 / 0.5 leave a quarter: one shift by two, ties to even. Relu
// is the unsigned result's lower bound. The accumulator's range follows from
// the weights: 128 · (1 + 2 + 3 + 4).

// CHECK: module attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.tasks = [@host0, @network, @host1]}
// CHECK-LABEL: func.func @host0(%arg0: tensor<1x4xf32> {flow.tensor = "x", rhizome.name = "x"}) -> (tensor<1x4x!num.int<s8>> {flow.tensor = "host0.0"}) attributes {flow.place = #flow.place<host>}
// CHECK: osa.quantize %arg0
// CHECK-LABEL: func.func @network(%arg0: tensor<1x4x!num.int<s8>> {flow.tensor = "host0.0", rhizome.name = "x"}) -> (tensor<1x2x!num.int<u8>> {flow.tensor = "network.0", rhizome.name = "y"}) attributes {flow.place = #flow.place<fpga>}
// CHECK: %[[W:.*]] = osa.constant {{.*}} : () -> tensor<2x4x!num.int<s4, -4:4>>
// CHECK: %[[A:.*]] = osa.dense %arg0, %[[W]] : {{.*}} -> tensor<1x2x!num.int<s12, -1280:1280>>
// CHECK: %[[Q:.*]] = osa.requantize %[[A]] {multiplier = array<i64: 1>, offset = array<i64: 2>, shift = 2 : i64, ties_even = true}
// CHECK-SAME: -> tensor<1x2x!num.int<u8>>
// CHECK: return %[[Q]]
// CHECK-LABEL: func.func @host1(%arg0: tensor<1x2x!num.int<u8>> {flow.tensor = "network.0"}) -> (tensor<1x2xf32> {flow.tensor = "y", rhizome.name = "y"})
// CHECK: osa.dequantize %arg0 {scale = dense<5.000000e-01>
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %xq = osa.quantize %x {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4xf32>) -> tensor<1x4x!num.int<s8>>
  %xd = osa.dequantize %xq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x4x!num.int<s8>>) -> tensor<1x4xf32>
  %wq = osa.constant {value = dense<[[1, 2, 3, 4], [-1, -2, -3, -4]]> : tensor<2x4xi8>} : () -> tensor<2x4x!num.int<s8>>
  %w = osa.dequantize %wq {scale = dense<0.25> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<2x4x!num.int<s8>>) -> tensor<2x4xf32>
  %d = osa.dense %xd, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %r = osa.relu %d : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %yq = osa.quantize %r {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2xf32>) -> tensor<1x2x!num.int<u8>>
  %y = osa.dequantize %yq {scale = dense<0.5> : tensor<f32>, zero_point = dense<0> : tensor<i64>} : (tensor<1x2x!num.int<u8>>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
