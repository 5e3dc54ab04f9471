// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --num-apply-formats="format=fixed<8,24> fused" | FileCheck %s

// Arguments are converted at entry, the result at the end. Annotated values have
// their own format; products are converted to the format of their sum.
// CHECK-LABEL: func.func @k(%arg0: tensor<4x4xf64>{{.*}}, %arg1: tensor<4xf64>) -> tensor<4xf64>
// CHECK-DAG: num.cast {{.*}} : f64 to !num.fixed<2, 14>
// CHECK-DAG: num.cast {{.*}} : f64 to !num.fixed<8, 24>
// CHECK: linalg.generic
// CHECK: ^bb0(%[[A:.*]]: !num.fixed<2, 14>, %[[X:.*]]: !num.fixed<8, 24>, %[[Y:.*]]: !num.fixed<8, 24>):
// CHECK: %[[C:.*]] = num.cast %[[A]] rounding(nearest_even) overflow(wrap) : !num.fixed<2, 14> to !num.fixed<8, 24>
// CHECK: %[[F:.*]] = num.fma %[[C]], %[[X]], %[[Y]] rounding(nearest_even) overflow(wrap)
// CHECK: linalg.yield %[[F]]
// CHECK: num.cast {{.*}} rounding(nearest_even) overflow(infinity) : !num.fixed<8, 24> to f64
func.func @k(%a: tensor<4x4xf64> {rhizome.format = "fixed<2,14>"}, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %y = linalg.matvec ins(%a, %x : tensor<4x4xf64>, tensor<4xf64>) outs(%i : tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// Numbers are compared in the statement's format.
// CHECK-LABEL: func.func @relu
// CHECK: ^bb0(%[[X:.*]]: !num.fixed<8, 24>, %{{.*}}: !num.fixed<8, 24>):
// CHECK: %[[Z:.*]] = num.cast %{{.*}} : f64 to !num.fixed<8, 24>
// CHECK: %[[C:.*]] = num.compare ogt, %[[X]], %[[Z]] : !num.fixed<8, 24>
// CHECK: arith.select %[[C]], %[[X]], %{{.*}} : !num.fixed<8, 24>
func.func @relu(%x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %c = arith.cmpf ogt, %a, %zero : f64
    %s = arith.select %c, %a, %zero : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// Statements that begin with the same zeros have formats of their own.
// CHECK-LABEL: func.func @zeros
// CHECK: num.fma {{.*}} : !num.fixed<6, 10>
// CHECK: num.fma {{.*}} : !num.fixed<2, 20>
func.func @zeros(%a: tensor<4x4xf64>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %y = linalg.matvec {rhizome.format = "fixed<6,10>"} ins(%a, %x : tensor<4x4xf64>, tensor<4xf64>) outs(%i : tensor<4xf64>) -> tensor<4xf64>
  %z = linalg.matvec {rhizome.format = "fixed<2,20>"} ins(%a, %y : tensor<4x4xf64>, tensor<4xf64>) outs(%i : tensor<4xf64>) -> tensor<4xf64>
  return %z : tensor<4xf64>
}

// What is moved is converted if it is annotated otherwise: into a part, and
// where a value is returned.
// CHECK-LABEL: func.func @moves
// CHECK: num.cast {{.*}} : !num.fixed<6, 10> to !num.fixed<2, 4>
// CHECK: tensor.insert_slice {{.*}} : tensor<1x4x!num.fixed<2, 4>> into tensor<2x4x!num.fixed<2, 4>>
// CHECK: num.cast {{.*}} : !num.fixed<2, 4> to f64
// CHECK: num.cast {{.*}} : !num.fixed<6, 10> to !num.float<5, 10>
// CHECK: num.cast {{.*}} : !num.float<5, 10> to f64
func.func @moves(%x: tensor<1x4xf64> {rhizome.format = "fixed<6,10>"}) ->
    (tensor<2x4xf64>, tensor<1x4xf64> {rhizome.format = "half"}) {
  %e = tensor.empty() : tensor<2x4xf64>
  %y = tensor.insert_slice %x into %e[0, 0] [1, 4] [1, 1] {rhizome.format = "fixed<2,4>"} : tensor<1x4xf64> into tensor<2x4xf64>
  return %y, %x : tensor<2x4xf64>, tensor<1x4xf64>
}
