// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'rtl.module' op needs one name per input}}
rtl.module @inputs attributes {input_names = ["a_i", "b_i"], output_names = []} {
^bb0(%a: i1):
  rtl.output
}

// -----

// expected-error@+1 {{'rtl.module' op needs an rtl.output with one value per output name}}
rtl.module @outputs attributes {input_names = ["a_i"], output_names = ["x_o", "y_o"]} {
^bb0(%a: i1):
  rtl.output %a : i1
}

// -----

rtl.module @instance attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i1):
  // expected-error@+1 {{'rtl.instance' op needs one port name per operand and per result}}
  rtl.instance "u" "cell"(%a) {input_names = [], output_names = [], parameters = {}} : (i1) -> ()
  rtl.output
}

// -----

rtl.module @extend attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i4):
  // expected-error@+1 {{'rtl.sign_extend' op gives fewer bits than it takes}}
  %0 = rtl.sign_extend %a : (i4) -> i3
  rtl.output
}

// -----

rtl.module @lookup attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i2):
  // expected-error@+1 {{'rtl.lookup' op C1: needs 2^N values for an index of N bits, N <= 12}}
  %0 = rtl.lookup %a in [1, 2, 3] : (i2) -> i3
  rtl.output
}
