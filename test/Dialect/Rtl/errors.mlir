// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// At least one case of each constraint in Rtl.td, named after the operation
// and the constraint. A message begins with the constraint's number.

// expected-error@+1 {{'rtl.module' op C1: needs one name per input}}
rtl.module @module_c1 attributes {input_names = ["a_i", "b_i"], output_names = []} {
^bb0(%a: i1):
  rtl.output
}

// -----

// expected-error@+1 {{'rtl.module' op C1: an input is of 'f32', no signal}}
rtl.module @module_c1_type attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: f32):
  rtl.output
}

// -----

// expected-error@+1 {{'rtl.module' op C2: needs an rtl.output with one value per output name}}
rtl.module @module_c2 attributes {input_names = ["a_i"], output_names = ["x_o", "y_o"]} {
^bb0(%a: i1):
  rtl.output %a : i1
}

// -----

// expected-error@+1 {{'rtl.module' op C3: two ports are called 'a', or one has no name}}
rtl.module @module_c3 attributes {input_names = ["a"], output_names = ["a"]} {
^bb0(%a: i1):
  rtl.output %a : i1
}

// -----

rtl.module @instance_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C1: needs one port name per operand and per result}}
  rtl.instance "u" "cell"(%a) {input_names = [], output_names = [], parameters = {}} : (i8) -> ()
  rtl.output
}

// -----

rtl.module @instance_c2 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C2: the port 'x' is connected twice, or has no name}}
  rtl.instance "u" "cell"(%a, %a) {input_names = ["x", "x"], output_names = [], parameters = {}} : (i8, i8) -> ()
  rtl.output
}

// -----

rtl.module @instance_c3 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C3: the parameter "Width" is neither an i64 nor a string}}
  rtl.instance "u" "cell"(%a) {input_names = ["x"], output_names = [], parameters = {Width = 8 : i32}} : (i8) -> ()
  rtl.output
}

// -----

rtl.module @inner attributes {input_names = ["a_i"], output_names = ["x_o"]} {
^bb0(%a: i8):
  rtl.output %a : i8
}
rtl.module @instance_c4_parameters attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C4: gives parameters to a module that has none}}
  %x = rtl.instance "u" "inner"(%a) {input_names = ["a_i"], output_names = ["x_o"], parameters = {Width = 8}} : (i8) -> i8
  rtl.output
}

// -----

// expected-note@+1 {{module defined here}}
rtl.module @inner attributes {input_names = ["a_i"], output_names = ["x_o"]} {
^bb0(%a: i8):
  rtl.output %a : i8
}
rtl.module @instance_c4_unknown attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C4: the module has no input 'b_i'}}
  %x = rtl.instance "u" "inner"(%a) {input_names = ["b_i"], output_names = ["x_o"], parameters = {}} : (i8) -> i8
  rtl.output
}

// -----

// expected-note@+1 {{module defined here}}
rtl.module @inner attributes {input_names = ["a_i"], output_names = ["x_o"]} {
^bb0(%a: i8):
  rtl.output %a : i8
}
rtl.module @instance_c4_width attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C4: the output 'x_o' has 8 bits, its signal 4}}
  %x = rtl.instance "u" "inner"(%a) {input_names = ["a_i"], output_names = ["x_o"], parameters = {}} : (i8) -> i4
  rtl.output
}

// -----

// expected-note@+1 {{module defined here}}
rtl.module @inner attributes {input_names = ["a_i"], output_names = ["x_o"]} {
^bb0(%a: i8):
  rtl.output %a : i8
}
rtl.module @instance_c4_open attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.instance' op C4: the output 'x_o' is not connected}}
  rtl.instance "u" "inner"(%a) {input_names = ["a_i"], output_names = [], parameters = {}} : (i8) -> ()
  rtl.output
}

// -----

rtl.module @constant_range attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{integer constant out of range for attribute}}
  %0 = rtl.constant 8 : i3
  rtl.output
}

// -----

rtl.module @constant_type attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{'rtl.constant' op failed to verify that all of {value, result} have same type}}
  %0 = "rtl.constant"() {value = 3 : i4} : () -> i3
  rtl.output
}

// -----

rtl.module @constant_float attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{attribute 'value' failed to satisfy constraint: number of so many bits}}
  %0 = "rtl.constant"() {value = 3.0 : f32} : () -> i32
  rtl.output
}

// -----

rtl.module @concat_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.concat' op C1: joins 16 bits to 3}}
  %0 = rtl.concat %a, %a : (i8, i8) -> i3
  rtl.output
}

// -----

rtl.module @concat_c1_empty attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{'rtl.concat' op C1: joins 0 bits to 3}}
  %0 = "rtl.concat"() : () -> i3
  rtl.output
}

// -----

rtl.module @extract_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.extract' op C1: 4 bits from 20 on are not within 8}}
  %0 = rtl.extract %a from 20 : (i8) -> i4
  rtl.output
}

// -----

rtl.module @extract_c1_end attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.extract' op C1: 4 bits from 5 on are not within 8}}
  %0 = rtl.extract %a from 5 : (i8) -> i4
  rtl.output
}

// -----

rtl.module @extract_c1_negative attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.extract' op C1: 4 bits from -1 on are not within 8}}
  %0 = rtl.extract %a from -1 : (i8) -> i4
  rtl.output
}

// -----

rtl.module @sign_extend_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.sign_extend' op C1: gives fewer bits than it takes}}
  %0 = rtl.sign_extend %a : (i8) -> i3
  rtl.output
}

// -----

rtl.module @at_least_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.at_least' op C1: the input can't have the value 128}}
  %0 = rtl.at_least %a, 128 {is_signed = true} : i8
  rtl.output
}

// -----

rtl.module @at_least_c1_unsigned attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+1 {{'rtl.at_least' op C1: the input can't have the value -1}}
  %0 = rtl.at_least %a, -1 {is_signed = false} : i8
  rtl.output
}

// -----

rtl.module @lookup_c1 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i2):
  // expected-error@+1 {{'rtl.lookup' op C1: needs 2^N values for an index of N bits, N <= 12}}
  %0 = rtl.lookup %a in [1, 2, 3] : (i2) -> i3
  rtl.output
}

// -----

rtl.module @lookup_c2 attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i2):
  // expected-error@+1 {{'rtl.lookup' op C2: the entry 9 does not fit 3 bits, or these are more than 64}}
  %0 = rtl.lookup %a in [1, 2, 3, 9] : (i2) -> i3
  rtl.output
}

// -----

rtl.module @mux_types attributes {input_names = ["a_i", "b_i", "c_i"], output_names = []} {
^bb0(%a: i8, %b: i4, %c: i1):
  // expected-note@-1 {{prior use here}}
  // expected-error@+1 {{use of value '%b' expects different type than prior uses: 'i8' vs 'i4'}}
  %0 = rtl.mux %c, %a, %b : i8
  rtl.output
}

// -----

rtl.module @no_bits attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{'rtl.constant' op result #0 must be signal of one bit or more, but got 'i0'}}
  %0 = rtl.constant 0 : i0
  rtl.output
}

// -----

rtl.module @compare_predicate attributes {input_names = ["a_i"], output_names = []} {
^bb0(%a: i8):
  // expected-error@+2 {{expected ::rhizome::rtl::Predicate to be one of}}
  // expected-error@+1 {{failed to parse}}
  %0 = rtl.compare greater %a, %a : i8
  rtl.output
}

// -----

rtl.module @register_c1 attributes {input_names = ["clk_i", "a_i"], output_names = []} {
^bb0(%clk: i1, %a: i8):
  // expected-error@+1 {{'rtl.register' op C1: a reset needs a value of 'i8', and a value a reset}}
  %q = rtl.register %a at %clk reset %clk : i8
  rtl.output
}

// -----

rtl.module @register_c1_width attributes {input_names = ["clk_i", "a_i"], output_names = []} {
^bb0(%clk: i1, %a: i8):
  // expected-error@+1 {{'rtl.register' op C1: a reset needs a value of 'i8', and a value a reset}}
  %q = rtl.register %a at %clk reset %clk to 0 : i4 : i8
  rtl.output
}

// -----

rtl.module @memory_c1 attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{C1: a memory of 0 words of 'i8' holds nothing}}
  %m = rtl.memory "m" : !rtl.memory<0 x i8>
  rtl.output
}

// -----

rtl.module @memory_c1_contents attributes {input_names = [], output_names = []} {
  // expected-error@+1 {{'rtl.memory' op C1: its contents are not 4 words of 'i8'}}
  %m = rtl.memory "m" initial dense<[1, 2, 3]> : tensor<3xi8> : !rtl.memory<4 x i8>
  rtl.output
}

// -----

rtl.module @memory_c2 attributes {input_names = ["a_i", "b_i", "at_i"], output_names = ["x_o", "y_o"]} {
^bb0(%a: i1, %b: i1, %at: i2):
  // expected-error@+1 {{'rtl.memory' op C2: its ports have different clocks}}
  %m = rtl.memory "m" : !rtl.memory<4 x i8>
  %x = rtl.read %m[%at] at %a : !rtl.memory<4 x i8>
  %y = rtl.read %m[%at] at %b : !rtl.memory<4 x i8>
  rtl.output %x, %y : i8, i8
}

// -----

rtl.module @read_address attributes {input_names = ["clk_i", "at_i"], output_names = ["x_o"]} {
^bb0(%clk: i1, %at: i2):
  // expected-note@-1 {{prior use here}}
  %m = rtl.memory "m" : !rtl.memory<5 x i8>
  // expected-error@+1 {{use of value '%at' expects different type than prior uses: 'i3' vs 'i2'}}
  %x = rtl.read %m[%at] at %clk : !rtl.memory<5 x i8>
  rtl.output %x : i8
}

// -----

module @file_c1 {
  // expected-error@+1 {{'rtl.file' op C1: needs the name of a file, without folders, and a text}}
  rtl.file "a/b.sv" "module b; endmodule"
}
