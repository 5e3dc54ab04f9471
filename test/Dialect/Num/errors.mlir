// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{C1: width 64 is not in 1..63}}
func.func private @c1(!num.int<u64, 0:1>)

// -----

// expected-error@+1 {{C2: the range 3:2 does not fit s8}}
func.func private @c2_empty(!num.int<s8, 3:2>)

// -----

// expected-error@+1 {{C2: the range -129:0 does not fit s8}}
func.func private @c2_low(!num.int<s8, -129:0>)

// -----

// expected-error@+1 {{C2: the range 0:16 does not fit u4}}
func.func private @c2_high(!num.int<u4, 0:16>)

// -----

// expected-error@+1 {{expected s<width> or u<width> with a width in 1..64}}
func.func private @width(!num.int<s65>)

// -----

// expected-error@+1 {{expected s<width> or u<width> with a width in 1..64}}
func.func private @sign(!num.int<i8>)
