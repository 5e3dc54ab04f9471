// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --convert-num-to-arith | FileCheck %s

// Custom floats become calls, which depend only on their operands.
// CHECK-DAG: func.func private @rhizome_num_float(i64, i32, i64, i64, i64) -> i64 attributes {llvm.readnone}

// A 32-bit product has 64 bits; it is rounded at bit 24 and wraps.
// CHECK-LABEL: func.func @product(%arg0: i32, %arg1: i32) -> i32
// CHECK-DAG: %[[A:.*]] = arith.extsi %arg0 : i32 to i64
// CHECK-DAG: %[[B:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK: %[[P:.*]] = arith.muli %[[A]], %[[B]] : i64
// CHECK: arith.shrsi %[[P]]
// CHECK: arith.trunci %{{.*}} : i64 to i32
func.func @product(%a: !num.fixed<8, 24>, %b: !num.fixed<8, 24>) -> !num.fixed<8, 24> {
  %p = num.mul %a, %b rounding(nearest_even) overflow(wrap) : !num.fixed<8, 24>
  return %p : !num.fixed<8, 24>
}

// CHECK-LABEL: func.func @sum(%arg0: tensor<2xi8>, %arg1: i16)
// CHECK: arith.addi
// CHECK: arith.cmpi sgt
// CHECK: arith.cmpi slt
func.func @sum(%t: tensor<2x!num.fixed<4, 4>>, %a: !num.fixed<4, 8, unsigned>) -> !num.fixed<4, 8, unsigned> {
  %s = num.add %a, %a rounding(up) overflow(saturate) : !num.fixed<4, 8, unsigned>
  return %s : !num.fixed<4, 8, unsigned>
}

// CHECK-LABEL: func.func @half(%arg0: i16) -> i16
// CHECK: call @rhizome_num_float
func.func @half(%a: !num.float<5, 10>) -> !num.float<5, 10> {
  %s = num.div %a, %a rounding(up) overflow(infinity) : !num.float<5, 10>
  return %s : !num.float<5, 10>
}

// Fixed point is compared as integers; floats are where their order is that of
// integers.
// CHECK-LABEL: func.func @compare(%arg0: i16, %arg1: i8) -> (i1, i1)
// CHECK-NEXT: %[[F:.*]] = arith.cmpi ult, %arg0, %arg0 : i16
// CHECK-NOT: call
// CHECK: arith.cmpi slt, %{{.*}} : i6
// CHECK: return %[[F]]
func.func @compare(%a: !num.fixed<8, 2, unsigned>, %b: !num.float<3, 2>) -> (i1, i1) {
  %c = num.compare olt, %a, %a : !num.fixed<8, 2, unsigned>
  %d = num.compare ult, %b, %b : !num.float<3, 2>
  return %c, %d : i1, i1
}
