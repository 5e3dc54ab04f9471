// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

// CHECK-LABEL: rtl.module @top attributes {comment = "A comment.", input_names = ["clk_i", "a_i"], output_names = ["x_o", "y_o"]}
rtl.module @top attributes {comment = "A comment.", input_names = ["clk_i", "a_i"], output_names = ["x_o", "y_o"]} {
^bb0(%clk: i1, %a: i8):
  // A graph region: %q is used above its definition.
  // CHECK: %[[C:.*]] = rtl.constant 5 : i3
  %c = rtl.constant 5 : i3
  // CHECK: rtl.concat %[[C]], %[[Q:.*]] : (i3, i8) -> i11
  %cat = rtl.concat %c, %q : (i3, i8) -> i11
  // CHECK: rtl.extract %{{.*}} from 3 : (i11) -> i4
  %low = rtl.extract %cat from 3 : (i11) -> i4
  // CHECK: %[[Q]] = rtl.instance "u" "rhz_delay"(%{{.*}}, %{{.*}}) {input_names = ["clk_i", "d_i"], output_names = ["q_o"], parameters = {Stages = 2 : i64}} : (i1, i8) -> i8
  %q = rtl.instance "u" "rhz_delay"(%clk, %a) {input_names = ["clk_i", "d_i"], output_names = ["q_o"], parameters = {Stages = 2}} : (i1, i8) -> i8
  // CHECK: rtl.output %[[Q]], %{{.*}} : i8, i4
  rtl.output %q, %low : i8, i4
}

// CHECK-LABEL: rtl.module @empty
rtl.module @empty attributes {input_names = [], output_names = []} {
  // CHECK: rtl.output
  rtl.output
}

// CHECK-LABEL: rtl.module @arithmetic
rtl.module @arithmetic attributes {input_names = ["clk_i", "a_i", "b_i"], output_names = ["x_o"]} {
^bb0(%clk: i1, %a: i4, %b: i4):
  // CHECK: rtl.add %{{.*}}, %{{.*}} : i4
  %sum = rtl.add %a, %b : i4
  // CHECK: rtl.sub %{{.*}}, %{{.*}} : i4
  %difference = rtl.sub %sum, %b : i4
  // CHECK: rtl.and %{{.*}}, %{{.*}} : i4
  %both = rtl.and %difference, %b : i4
  // CHECK: rtl.register %{{.*}} at %{{.*}} : i4
  %q = rtl.register %both at %clk : i4
  // CHECK: rtl.at_least %{{.*}}, 3 {is_signed = true} : i4
  %many = rtl.at_least %q, 3 {is_signed = true} : i4
  // CHECK: rtl.mux %{{.*}}, %{{.*}}, %{{.*}} : i4
  %one = rtl.mux %many, %q, %a : i4
  // CHECK: rtl.lookup %{{.*}} in [0, 3] : (i1) -> i2
  %two = rtl.lookup %many in [0, 3] : (i1) -> i2
  // CHECK: rtl.sign_extend %{{.*}} : (i2) -> i4
  %wide = rtl.sign_extend %two : (i2) -> i4
  %out = rtl.add %wide, %one : i4
  rtl.output %out : i4
}

// CHECK: rtl.file "top.sv" "module top; endmodule"
rtl.file "top.sv" "module top; endmodule"
