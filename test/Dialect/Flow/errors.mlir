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

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c2_kind attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C2: there is no unit of the kind 'no_such_unit'}}
  %a = flow.actor "no_such_unit" "a"() {config = {}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_unknown attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: 'axis_in' has no parameter or file 'Widht'}}
  %a = flow.actor "axis_in" "a"() {config = {Widht = 8}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_type attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Elem' is not an integer}}
  %a = flow.actor "axis_in" "a"() {config = {Elem = "8"}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_missing attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Row' (elements after which a beat inside begins anew) is missing}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_bounds attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Lanes' (elements of a beat inside) is 0, not from 1 to 2147483647}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 0, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_depth attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Depth' (places of the output buffer) is -7, not from 2 to 1099511627776}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: -7>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_together attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C3: its parameters contradict each other: the last group that is kept lies within the period}}
  %b = flow.actor "select" "b"(%a) {config = {Elem = 8, Inner = 1, Period = 4, Start = 3, Stride = 1, Count = 2, frameBeats = 4}, depths = array<i64: 2>} : (!byte) -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c4_width attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C4: port 'out' of 'axis_in' has 16 bits (Lanes * Elem), not '!flow.stream<<u8>, lanes = 1, row = 4, count = 4, order = "pixels">'}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 16, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c4_count attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C4: 'fork' has 3 output streams, not 2}}
  %b:2 = flow.actor "fork" "b"(%a) {config = {Width = 8, Outputs = 3, frameBeats = 4}, depths = array<i64: 2, 2>} : (!byte) -> (!byte, !byte)
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c5_gates attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C5: takes no gates, its kind is a module of a library}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte {
    ^bb0(%clock: i1, %beat: i8):
      rtl.output %beat : i8
  }
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c3_file attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C3: file 'AddressFile' is not a string}}
  %b = flow.actor "reorder" "b"(%a) {config = {Elem = 8, Elements = 4, OutElements = 4, frameBeats = 4, AddressFile = 1}, depths = array<i64: 2>} : (!byte) -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = "pixels">
flow.design @c5_no_gates attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C5: needs gates, the datapath of its kind is generated}}
  %b = flow.actor "circuit" "b"(%a) {config = {levels = 1, stages = 1, inBits = 8, outBits = 8, adders = 0, ffBits = 0, rowBits = 0, rowStageBits = 0, wideSumBits = 0, wideLuts = 0, wideTableLeaves = 0, wideTableChoices = 0, narrowSumBits = 0, narrowLuts = 0, narrowCompareBits = 0, narrowTableLeaves = 0, narrowTableChoices = 0, frameBeats = 4}, depths = array<i64: 2>} : (!byte) -> !byte
}
