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
