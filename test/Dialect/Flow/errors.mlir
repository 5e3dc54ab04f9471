// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{C1: lanes = 0, row = 4, count = 8 must be positive, and row must divide count}}
func.func private @c1_lanes(!flow.stream<!num.int<u8>, lanes = 0, row = 4, count = 8, order = "pixels">)

// -----

// expected-error@+1 {{C1: lanes = 2, row = 3, count = 8 must be positive, and row must divide count}}
func.func private @c1_row(!flow.stream<!num.int<u8>, lanes = 2, row = 3, count = 8, order = "pixels">)

// -----

flow.design @d attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C1: needs one depth per result}}
  %a = flow.actor "axis_in" "a"() {config = {}, depths = array<i64>} : () -> !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
}
