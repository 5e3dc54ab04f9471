// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt "--osa-apply-fixed-point=format=fixed<1,7>" %s | FileCheck %s
// Inputs and weights get quantizers, a layer rounds once after its activation,
// the last one, whose result leaves the network, too.

// CHECK-LABEL: func.func @main
// CHECK: %[[XQ:.*]] = osa.quantize %arg0 {scale = dense<7.812500e-03>{{.*}} -> tensor<1x4x!num.int<s8>>
// CHECK: %[[X:.*]] = osa.dequantize %[[XQ]]
// CHECK: %[[WQ:.*]] = osa.quantize {{.*}} -> tensor<2x4x!num.int<s8>>
// CHECK: %[[W:.*]] = osa.dequantize %[[WQ]]
// CHECK: %[[D:.*]] = osa.dense %[[X]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = osa.relu %[[D]]
// CHECK-NEXT: %[[HQ:.*]] = osa.quantize %[[R]]
// CHECK-NEXT: %[[H:.*]] = osa.dequantize %[[HQ]]
// CHECK: %[[S:.*]] = osa.dense %[[H]],
// CHECK-NEXT: %[[YQ:.*]] = osa.quantize %[[S]] {scale = dense<7.812500e-03>{{.*}} -> tensor<1x2x!num.int<s8>>
// CHECK-NEXT: %[[Y:.*]] = osa.dequantize %[[YQ]]
// CHECK-NEXT: return %[[Y]]
func.func @main(%x: tensor<1x4xf32> {rhizome.name = "x"}) -> (tensor<1x2xf32> {rhizome.name = "y"}) {
  %w = osa.constant {value = dense<[[0.5, 1.0, -0.25, 3.0], [0.1, -0.25, -0.375, -0.5]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %d = osa.dense %x, %w : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  %r = osa.relu %d : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %w2 = osa.constant {value = dense<[[0.5, 0.125], [0.25, -0.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %d2 = osa.dense %r, %w2 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %d2 : tensor<1x2xf32>
}
