// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --canonicalize | FileCheck %s
// Operations that fold to another value. That folding of constants gives what the
// logic computes is tested with values (unittests/Emit).

// CHECK-LABEL: rtl.module @names
// CHECK-SAME: output_names
// CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i1):
// CHECK-NEXT:   rtl.output %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[B]], %[[A]] : i8, i8, i8, i8, i8, i8, i1, i8
rtl.module @names attributes {input_names = ["a_i", "b_i"], output_names = ["s", "t", "u", "v", "w", "x", "y", "z"]} {
^bb0(%a: i8, %b: i1):
  %zero = rtl.constant 0 : i8
  %one = rtl.constant 1 : i8
  %ones = rtl.constant -1 : i8
  %yes = rtl.constant true
  %no = rtl.constant false
  %add = rtl.add %zero, %a : i8
  %sub = rtl.sub %add, %zero : i8
  %mul = rtl.mul %sub, %one : i8
  %and = rtl.and %mul, %ones : i8
  %or = rtl.or %and, %zero : i8
  %xor = rtl.xor %or, %zero : i8
  %n = rtl.not %xor : i8
  %nn = rtl.not %n : i8
  %shift = rtl.shift_left %nn by %zero : i8, i8
  %joined = rtl.concat %shift : (i8) -> i8
  %whole = rtl.extract %joined from 0 : (i8) -> i8
  %wide = rtl.sign_extend %whole : (i8) -> i8
  %mux = rtl.mux %b, %wide, %wide : i8
  %chosen = rtl.mux %yes, %mux, %one : i8
  %flag = rtl.mux %b, %yes, %no : i1
  %both = rtl.concat %zero, %a, %one : (i8, i8, i8) -> i24
  %part = rtl.extract %both from 8 : (i24) -> i8
  rtl.output %add, %mul, %or, %nn, %shift, %chosen, %flag, %part : i8, i8, i8, i8, i8, i8, i1, i8
}

// CHECK-LABEL: rtl.module @slices
// CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8):
// CHECK-NEXT:   %[[X:.*]] = rtl.extract %[[A]] from 5 : (i8) -> i2
// CHECK-NEXT:   rtl.output %[[X]] : i2
rtl.module @slices attributes {input_names = ["a_i", "b_i"], output_names = ["x_o"]} {
^bb0(%a: i8, %b: i8):
  %joined = rtl.concat %b, %a : (i8, i8) -> i16
  %part = rtl.extract %joined from 12 : (i16) -> i4
  %less = rtl.extract %part from 1 : (i4) -> i2
  rtl.output %less : i2
}

// CHECK-LABEL: rtl.module @equals
// CHECK-DAG:   %[[ZERO:.*]] = rtl.constant 0 : i8
// CHECK-DAG:   %[[YES:.*]] = rtl.constant true
// CHECK-DAG:   %[[NO:.*]] = rtl.constant false
// CHECK:       rtl.output %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[YES]], %[[NO]] : i8, i8, i8, i1, i1
rtl.module @equals attributes {input_names = ["a_i"], output_names = ["v", "w", "x", "y", "z"]} {
^bb0(%a: i8):
  %zero = rtl.constant 0 : i8
  %v = rtl.sub %a, %a : i8
  %w = rtl.xor %a, %a : i8
  %x = rtl.mul %a, %zero : i8
  %y = rtl.compare unsigned_at_most %a, %a : i8
  %z = rtl.compare signed_less %a, %a : i8
  rtl.output %v, %w, %x, %y, %z : i8, i8, i8, i1, i1
}

// No value is below the least one, or above the greatest.
// CHECK-LABEL: rtl.module @ends
// CHECK-DAG: %[[YES:.*]] = rtl.constant true
// CHECK-DAG: %[[NO:.*]] = rtl.constant false
// CHECK: rtl.output %[[NO]], %[[NO]], %[[YES]], %[[YES]], %[[NO]], %[[NO]], %[[YES]], %[[YES]] :
rtl.module @ends attributes {input_names = ["a_i"], output_names = ["s", "t", "u", "v", "w", "x", "y", "z"]} {
^bb0(%a: i8):
  %zero = rtl.constant 0 : i8
  %ones = rtl.constant -1 : i8
  %least = rtl.constant -128 : i8
  %most = rtl.constant 127 : i8
  %s = rtl.compare unsigned_less %ones, %a : i8
  %t = rtl.compare unsigned_less %a, %zero : i8
  %u = rtl.compare unsigned_at_most %zero, %a : i8
  %v = rtl.compare unsigned_at_most %a, %ones : i8
  %w = rtl.compare signed_less %most, %a : i8
  %x = rtl.compare signed_less %a, %least : i8
  %y = rtl.compare signed_at_most %least, %a : i8
  %z = rtl.compare signed_at_most %a, %most : i8
  rtl.output %s, %t, %u, %v, %w, %x, %y, %z : i1, i1, i1, i1, i1, i1, i1, i1
}
