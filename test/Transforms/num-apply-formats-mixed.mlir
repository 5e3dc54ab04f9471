// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rhizome-opt %s --num-apply-formats | FileCheck %s

// Between formats and reals stand conversions that do nothing else, once for
// all readers.
// CHECK-LABEL: func.func @reals
// CHECK: num.cast {{.*}} : f64 to !num.fixed<6, 10>
// CHECK-NEXT: linalg.yield
// CHECK: num.mul {{.*}} : !num.fixed<6, 10>
// CHECK-NEXT: linalg.yield
// CHECK: num.cast {{.*}} : !num.fixed<6, 10> to f64
// CHECK-NEXT: linalg.yield
// CHECK: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK: arith.addf
// CHECK-NOT: num.cast
func.func @reals(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %e = tensor.empty() : tensor<4xf64>
  %f = tensor.empty() : tensor<4xf64>
  %y = linalg.mul {rhizome.format = "fixed<6,10>"} ins(%x, %x : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %z = linalg.add ins(%y, %y : tensor<4xf64>, tensor<4xf64>) outs(%f : tensor<4xf64>) -> tensor<4xf64>
  %w = linalg.add ins(%y, %z : tensor<4xf64>, tensor<4xf64>) outs(%f : tensor<4xf64>) -> tensor<4xf64>
  return %z, %w : tensor<4xf64>, tensor<4xf64>
}
