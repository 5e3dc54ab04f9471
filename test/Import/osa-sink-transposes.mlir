// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --osa-sink-transposes %s | FileCheck %s
// The transpose sinks below a sum with a constant, a relu, a concatenation and
// a padding; after these it cancels with its inverse.

// CHECK-LABEL: func.func @sink
// CHECK-DAG: %[[K:.*]] = osa.reshape %{{.*}} -> tensor<2xf32>
// CHECK: %[[A:.*]] = osa.add %arg0, %[[K]] : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
// CHECK: %[[R:.*]] = osa.relu %[[A]]
// CHECK: %[[C:.*]] = osa.concat %arg0, %[[R]] {axis = 3 : i64}
// CHECK: %[[P:.*]] = osa.pad %[[C]] {high = array<i64: 0, 1, 2, 0>, low = array<i64: 0, 0, 0, 0>}
// CHECK: return %[[P]] : tensor<1x5x6x4xf32>
func.func @sink(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x6x4xf32> {
  %k = osa.constant {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %t = osa.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %a = osa.add %t, %k : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = osa.relu %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = osa.concat %t, %r {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %p = osa.pad %c {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x5x6xf32>
  %back = osa.transpose %p {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x5x6xf32>) -> tensor<1x5x6x4xf32>
  return %back : tensor<1x5x6x4xf32>
}

// It stays where the other operand is a tensor of the network in that order.
// CHECK-LABEL: func.func @stay
// CHECK: osa.transpose
// CHECK-NEXT: osa.add
func.func @stay(%x: tensor<1x4x4x2xf32>, %y: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %t = osa.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %a = osa.add %t, %y : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %a : tensor<1x2x4x4xf32>
}
