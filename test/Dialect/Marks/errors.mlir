// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{C1: there is no attribute 'rhizome.nmae'; 'rhizome.name' is the nearest}}
func.func private @mark_c1(tensor<2xf32> {rhizome.nmae = "x"})

// -----

// expected-error@+1 {{C2: 'rhizome.compile' may not stand on a function, only on a module}}
func.func private @mark_c2_function() attributes {rhizome.compile = {}}

// -----

// expected-error@+1 {{C2: 'rhizome.kernel' may not stand on a module, only on a function}}
module @mark_c2_module attributes {rhizome.kernel} {
}

// -----

// expected-error@+1 {{C2: 'rhizome.type' may not stand on an argument, only on a result}}
func.func private @mark_c2_argument(tensor<2xf32> {rhizome.type = "int8"})

// -----

// expected-error@+1 {{C2: 'rhizome.range' may not stand on a result, only on an argument}}
func.func private @mark_c2_result() -> (tensor<2xf32> {rhizome.range = array<i64: 0, 255>})

// -----

func.func @mark_c2_operation() {
  // expected-error@+1 {{C2: 'rhizome.kernel' may not stand on an operation, only on a function}}
  return {rhizome.kernel}
}

// -----

// expected-error@+1 {{C3: 'rhizome.name' holds a string, not 1 : i64}}
func.func private @mark_c3_string(tensor<2xf32> {rhizome.name = 1})

// -----

// expected-error@+1 {{C3: 'rhizome.whole' holds nothing, not true}}
func.func private @mark_c3_unit(tensor<2xf32> {rhizome.whole = true})

// -----

// expected-error@+1 {{C3: 'rhizome.range' holds two i64, the least and the greatest, not array<i64: 3, 2>}}
func.func private @mark_c3_range(tensor<2xf32> {rhizome.range = array<i64: 3, 2>})

// -----

// expected-error@+1 {{C3: 'rhizome.initial' holds the values of a tensor, not "0"}}
func.func private @mark_c3_elements(tensor<2xf32> {rhizome.initial = "0"})

// -----

// expected-error@+1 {{C3: 'rhizome.elements' holds an i64, not 4 : i32}}
func.func private @mark_c3_integer() attributes {rhizome.elements = 4 : i32}

// -----

// expected-error@+1 {{C3: 'rhizome.accuracy' holds a float, not 1 : i64}}
func.func private @mark_c3_float(tensor<2xf32> {rhizome.accuracy = 1})

// -----

// expected-error@+1 {{C3: 'rhizome.halo' holds an array of i64, not [1, 1]}}
func.func private @mark_c3_integers(tensor<2xf32> {rhizome.halo = [1, 1]})

// -----

// expected-error@+1 {{C3: 'rhizome.value' holds an i64 that is not negative, not -1 : i64}}
func.func private @mark_c3_index(tensor<2xf32> {rhizome.value = -1})

// -----

func.func @mark_c3_type() {
  // expected-error@+1 {{C3: 'rhizome.rounds' holds a type, not "f16"}}
  return {rhizome.rounds = "f16"}
}

// -----

func.func @mark_c3_booleans() {
  // expected-error@+1 {{C3: 'rhizome.saturates' holds two booleans, not array<i1: true>}}
  return {rhizome.saturates = array<i1: true>}
}

// -----

func.func @mark_c3_two() {
  // expected-error@+1 {{C3: 'rhizome.check_range' holds two i64, not array<i64: 0>}}
  return {rhizome.check_range = array<i64: 0>}
}

// -----

// expected-error@+1 {{C3: 'rhizome.quantizers' holds an array of dictionaries, not ["q"]}}
module @mark_c3_dictionaries attributes {rhizome.quantizers = ["q"]} {
}

// -----

func.func @mark_c3_trips() {
  // expected-error@+1 {{C3: 'rhizome.trips' holds in, first, stride and two or more trips}}
  return {rhizome.trips = {first = 0, in = "blocks", stride = 1, trips = 1}}
}
