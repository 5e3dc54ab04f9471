// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --convert-osa-to-linalg --split-input-file --verify-diagnostics
// Valid IR without a form on the CPU is refused, at its place in the file.

// expected-error@+1 {{takes or gives 'tensor<?x2xf32>', which is no tensor of known size}}
func.func @dynamic(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}

// -----

// expected-error@+1 {{takes or gives 'f32', which is no tensor of known size}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error@+1 {{has several blocks}}
func.func @blocks(%x: tensor<2x!num.int<u4>>) -> tensor<2x!num.int<u4>> {
  cf.br ^bb1
^bb1:
  return %x : tensor<2x!num.int<u4>>
}

// -----

func.func @weights(%x: tensor<1x3x!num.int<u4>>, %w: tensor<2x3x!num.int<s4>>) -> tensor<1x2x!num.int<s10>> {
  // expected-error@+1 {{needs weights from an osa.constant}}
  %d = osa.dense %x, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<s4>>) -> tensor<1x2x!num.int<s10>>
  return %d : tensor<1x2x!num.int<s10>>
}

// -----

func.func @integer_among_reals(%x: tensor<2xf32>, %q: tensor<1x3x!num.int<u4>>) -> tensor<2xf32> {
  %w = osa.constant {value = dense<1> : tensor<2x3xi8>} : () -> tensor<2x3x!num.int<u1>>
  // expected-error@+1 {{takes integers; among reals it has no CPU form}}
  %d = osa.dense %q, %w : (tensor<1x3x!num.int<u4>>, tensor<2x3x!num.int<u1>>) -> tensor<1x2x!num.int<u8>>
  return %x : tensor<2xf32>
}

// -----

func.func @requantize_among_reals(%x: tensor<1xf32>, %q: tensor<1x!num.int<u4>>) -> tensor<1xf32> {
  // expected-error@+1 {{has no CPU form at the real level}}
  %r = osa.requantize %q {multiplier = array<i64: 1>, offset = array<i64: 0>, shift = 1 : i64} : (tensor<1x!num.int<u4>>) -> tensor<1x!num.int<u4>>
  return %x : tensor<1xf32>
}

// -----

func.func @wider_among_reals(%x: tensor<1xf32>, %q: tensor<1x2x!num.int<u4>>) -> tensor<1xf32> {
  // expected-error@+1 {{gives integers in 'i16' that lie in 'i8'; among reals it has no CPU form}}
  %r = osa.reshape %q : (tensor<1x2x!num.int<u4>>) -> tensor<2x!num.int<u12>>
  return %x : tensor<1xf32>
}

// -----

func.func @of_another_dialect(%x: tensor<1x!num.int<u4>>) -> tensor<1x!num.int<u4>> {
  // expected-error@+1 {{has no CPU form at the integer level}}
  %r = builtin.unrealized_conversion_cast %x : tensor<1x!num.int<u4>> to tensor<1x!num.int<u4>>
  return %r : tensor<1x!num.int<u4>>
}
