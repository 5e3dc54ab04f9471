// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{C1: width 64 is not in 1..63}}
func.func private @int_c1(!num.int<u64, 0:1>)

// -----

// expected-error@+1 {{C2: the range 3:2 does not fit s8}}
func.func private @int_c2_empty(!num.int<s8, 3:2>)

// -----

// expected-error@+1 {{C2: the range -129:0 does not fit s8}}
func.func private @int_c2_low(!num.int<s8, -129:0>)

// -----

// expected-error@+1 {{C2: the range 0:16 does not fit u4}}
func.func private @int_c2_high(!num.int<u4, 0:16>)

// -----

// expected-error@+1 {{expected s<width> or u<width> with a width in 1..64}}
func.func private @width(!num.int<s65>)

// -----

// expected-error@+1 {{expected s<width> or u<width> with a width in 1..64}}
func.func private @sign(!num.int<i8>)

// -----

// expected-error@+1 {{C1: the width 129 is not in 1..128}}
func.func private @fixed_c1_width(!num.fixed<64, 65>)

// -----

// expected-error@+1 {{C1: the number of fraction bits 257 is not in -128..256}}
func.func private @fixed_c1_fraction(!num.fixed<-200, 257>)

// -----

// expected-error@+1 {{C1: the number of exponent bits 1 is not in 2..15}}
func.func private @float_c1_exponent(!num.float<1, 3>)

// -----

// expected-error@+1 {{C1: the number of mantissa bits 0 is not in 1..59}}
func.func private @float_c1_mantissa(!num.float<4, 0>)

// -----

// expected-error@+1 {{C1: the bias 70000 is not in -65536..65536}}
func.func private @float_c1_bias(!num.float<4, 3, bias = 70000>)

// -----

// expected-error@+1 {{expected bias, flush or finite}}
func.func private @float_flag(!num.float<4, 3, wrap>)

// -----

func.func @add_c1_no_infinity(%a: !num.fixed<8, 8>) {
  // expected-error@+1 {{C1: '!num.fixed<8, 8>' has no infinity; overflow is wrap or saturate}}
  %b = num.add %a, %a rounding(up) overflow(infinity) : !num.fixed<8, 8>
  return
}

// -----

func.func @mul_c1_no_wrap(%a: !num.float<5, 10>) {
  // expected-error@+1 {{C1: '!num.float<5, 10>' does not wrap; overflow is infinity or saturate}}
  %b = num.mul %a, %a rounding(up) overflow(wrap) : !num.float<5, 10>
  return
}

// -----

func.func @neg_c1_finite(%a: !num.float<4, 3, finite>) {
  // expected-error@+1 {{is finite: it saturates}}
  %b = num.neg %a rounding(up) overflow(infinity) : !num.float<4, 3, finite>
  return
}

// -----

func.func @cast_c1_native(%a: !num.fixed<8, 8>) {
  // expected-error@+1 {{C1: 'f64' goes to infinity}}
  %b = num.cast %a rounding(up) overflow(saturate) : !num.fixed<8, 8> to f64
  return
}
