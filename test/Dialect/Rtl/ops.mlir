// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

// CHECK-LABEL: rtl.module @top attributes {comment = "A comment.", input_names = ["clk_i", "a_i"], output_names = ["x_o", "y_o"]}
rtl.module @top attributes {comment = "A comment.", input_names = ["clk_i", "a_i"], output_names = ["x_o", "y_o"]} {
^bb0(%clk: i1, %a: i8):
  // A graph region: %q is used above its definition.
  // CHECK: %[[C:.*]] = rtl.constant -3 : i3
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

// CHECK-LABEL: rtl.module @logic
rtl.module @logic attributes {input_names = ["a_i", "b_i"], output_names = ["x_o", "y_o"]} {
^bb0(%a: i8, %b: i8):
  // CHECK: rtl.constant 85968058283706962416272 : i80
  %c = rtl.constant 0x123456789abcdef01290 : i80
  // CHECK: rtl.mul %{{.*}}, %{{.*}} : i8
  %m = rtl.mul %a, %b : i8
  // CHECK: rtl.or %{{.*}}, %{{.*}} : i8
  %o = rtl.or %m, %b : i8
  // CHECK: rtl.xor %{{.*}}, %{{.*}} : i8
  %x = rtl.xor %o, %a : i8
  // CHECK: rtl.not %{{.*}} : i8
  %n = rtl.not %x : i8
  // CHECK: rtl.shift_left %{{.*}} by %{{.*}} : i8, i8
  %l = rtl.shift_left %n by %b : i8, i8
  // CHECK: rtl.shift_right %{{.*}} by %{{.*}} : i8, i8
  %r = rtl.shift_right %l by %b : i8, i8
  // CHECK: rtl.shift_right_signed %{{.*}} by %{{.*}} : i80, i8
  %s = rtl.shift_right_signed %c by %b : i80, i8
  // CHECK: rtl.compare signed_at_most %{{.*}}, %{{.*}} : i8
  %t = rtl.compare signed_at_most %r, %a : i8
  rtl.output %t, %s : i1, i80
}

// CHECK-LABEL: rtl.module @state
rtl.module @state attributes {input_names = ["clk_i", "rst_ni", "en_i", "a_i", "d_i"], output_names = ["x_o", "y_o"]} {
^bb0(%clk: i1, %rst: i1, %en: i1, %a: i3, %d: i12):
  // CHECK: rtl.register %{{.*}} at %{{.*}} enable %{{.*}} reset %{{.*}} to -7 : i12 : i12
  %q = rtl.register %d at %clk enable %en reset %rst to -7 : i12 : i12
  // CHECK: rtl.register %{{.*}} at %{{.*}} enable %{{.*}} : i12
  %r = rtl.register %q at %clk enable %en : i12
  // CHECK: rtl.memory "words" initial dense<[1, 2, 3, 4, 5]> : tensor<5xi12> : !rtl.memory<5 x i12>
  %m = rtl.memory "words" initial dense<[1, 2, 3, 4, 5]> : tensor<5xi12> : !rtl.memory<5 x i12>
  // CHECK: rtl.write %{{.*}} to %{{.*}}[%{{.*}}] at %{{.*}} enable %{{.*}} : !rtl.memory<5 x i12>
  rtl.write %r to %m[%a] at %clk enable %en : !rtl.memory<5 x i12>
  // CHECK: rtl.read %{{.*}}[%{{.*}}] at %{{.*}} : !rtl.memory<5 x i12>
  %x = rtl.read %m[%a] at %clk : !rtl.memory<5 x i12>
  // CHECK: rtl.memory "scratch" : !rtl.memory<1 x i1>
  %n = rtl.memory "scratch" : !rtl.memory<1 x i1>
  %y = rtl.read %n[%en] at %clk : !rtl.memory<1 x i1>
  rtl.output %x, %y : i12, i1
}

// CHECK: rtl.file "top.sv" "module top; endmodule"
rtl.file "top.sv" "module top; endmodule"
