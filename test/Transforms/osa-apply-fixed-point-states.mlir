// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt "--osa-apply-fixed-point=format=fixed<1,7>" %s | FileCheck %s
// The next value of a state is rounded once, like the state; other outputs as
// layers are.

// CHECK-LABEL: func.func @main
// CHECK: osa.quantize %arg1 {scale = dense<7.812500e-03>
// CHECK: %[[G:.*]] = osa.add
// CHECK-NEXT: %[[Q:.*]] = osa.quantize %[[G]] {scale = dense<7.812500e-03>{{.*}} -> tensor<1x2x!num.int<s8>>
// CHECK-NEXT: %[[D:.*]] = osa.dequantize %[[Q]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
module attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<0.5> : tensor<1x2xf32>>]} {
  func.func @main(%x: tensor<1x2xf32> {rhizome.name = "x"}, %h: tensor<1x2xf32> {rhizome.name = "h"}) -> (tensor<1x2xf32> {rhizome.name = "y"}, tensor<1x2xf32> {rhizome.name = "g"}) {
    %w = osa.constant {value = dense<[[0.5, 0.125], [0.25, -0.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
    %d = osa.dense %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %u = osa.dense %h, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %g = osa.add %d, %u : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    return %d, %g : tensor<1x2xf32>, tensor<1x2xf32>
  }
}
