// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// At least one case of each constraint in Flow.td, named after the type or
// operation and the constraint. A message begins with the constraint's number.

// expected-error@+1 {{C1: lanes = 0, row = 4, count = 8 must be positive, and row must divide count}}
func.func private @stream_c1_lanes(!flow.stream<!num.int<u8>, lanes = 0, row = 4, count = 8, order = pixels>)

// -----

// expected-error@+1 {{C1: lanes = 2, row = 3, count = 8 must be positive, and row must divide count}}
func.func private @stream_c1_row(!flow.stream<!num.int<u8>, lanes = 2, row = 3, count = 8, order = pixels>)

// -----

// expected-error@+1 {{C2: a beat of 3000000 elements of '!num.int<u8>' is wider than 16777215 bits}}
func.func private @stream_c2(!flow.stream<!num.int<u8>, lanes = 3000000, row = 4, count = 8, order = pixels>)

// -----

// expected-error@+2 {{expected one of [pixels, windows] for the order of a stream's elements, got: frames}}
// expected-error@+1 {{failed to parse Flow_Stream parameter 'order'}}
func.func private @stream_order(!flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = frames>)

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c1 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-note@+1 {{the first}}
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C1: a second actor is called 's_axis_0'}}
  flow.actor "axis_out" "s_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c2 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
  // expected-error@+1 {{'arith.constant' op C2: is no actor}}
  %c = arith.constant 0 : i32
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c3_unread attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: a stream has 0 readers; a fork makes more}}
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c3_twice attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: a stream has 2 readers; a fork makes more}}
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 1} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c10_none attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C10: stands at the border without the number of its port}}
  %in = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c10_negative attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C10: its port's number is negative}}
  %in = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = -1} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c4_twice attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  %b = flow.actor "axis_in" "s_axis_1"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 1} : () -> !s
  // expected-note@+1 {{the first}}
  flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
  // expected-error@+1 {{'flow.actor' op C4: a second actor is port 0}}
  flow.actor "axis_out" "b"(%b) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

// expected-error@+1 {{'flow.design' op C5: the clock must be positive and finite}}
flow.design @design_c5 attributes {clock_mhz = 0.0, device = "xc7z020"} {
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c1 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C1: needs one depth per result, all equal}}
  %a = flow.actor "fifo" "a"(%in) {config = {Width = 8, frameBeats = 4}, depths = array<i64>} : (!s) -> !s
  flow.actor "axis_out" "m_axis_0"(%a) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c7_clock attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C7: the gates don't take the clock and a beat of 'i8'}}
  %a = flow.actor "circuit" "a"(%in) {config = {module = "m", levels = 1, chain = 0, chainBit = 0, stages = 0, inBits = 8, outBits = 8, adders = 0, ffBits = 0, rowBits = 0, rowStageBits = 0, wideSumBits = 0, wideLuts = 0, wideTableLeaves = 0, wideTableChoices = 0, narrowSumBits = 0, narrowLuts = 0, narrowCompareBits = 0, narrowTableLeaves = 0, narrowTableChoices = 0, frameBeats = 4}, depths = array<i64: 2>} : (!s) -> !s {
  ^bb0(%clk: i1, %x: i4):
    %0 = rtl.concat %x, %x : (i4, i4) -> i8
    rtl.output %0 : i8
  }
  flow.actor "axis_out" "m_axis_0"(%a) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c7_beat attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C7: the gates don't give a beat of 'i8'}}
  %a = flow.actor "circuit" "a"(%in) {config = {module = "m", levels = 1, chain = 0, chainBit = 0, stages = 0, inBits = 8, outBits = 8, adders = 0, ffBits = 0, rowBits = 0, rowStageBits = 0, wideSumBits = 0, wideLuts = 0, wideTableLeaves = 0, wideTableChoices = 0, narrowSumBits = 0, narrowLuts = 0, narrowCompareBits = 0, narrowTableLeaves = 0, narrowTableChoices = 0, frameBeats = 4}, depths = array<i64: 2>} : (!s) -> !s {
  ^bb0(%clk: i1, %x: i8):
    rtl.output %clk : i1
  }
  flow.actor "axis_out" "m_axis_0"(%a) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c2_kind attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C2: there is no unit of the kind 'no_such_unit'}}
  %a = flow.actor "no_such_unit" "a"() {config = {}, depths = array<i64: 2>} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_unknown attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: 'axis_in' has no parameter or file 'Widht'}}
  %a = flow.actor "axis_in" "a"() {config = {Widht = 8}, depths = array<i64: 2>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_type attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Elem' is not an i64}}
  %a = flow.actor "axis_in" "a"() {config = {Elem = "8"}, depths = array<i64: 2>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_missing attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Row' (elements after which a new beat inside begins) is missing}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_bounds attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Lanes' (elements of a beat inside) is 0, not from 1 to 2147483647}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 0, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_depth attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: parameter 'Depth' (places of the output buffer) is -7, not from 2 to 1099511627776}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: -7>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_together attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C3: its parameters contradict each other: the last group that is kept lies within the period}}
  %b = flow.actor "select" "b"(%a) {config = {Elem = 8, Inner = 1, Period = 4, Start = 3, Stride = 1, Count = 2, frameBeats = 4}, depths = array<i64: 2>} : (!byte) -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c4_width attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C4: port 'out' of 'axis_in' has 16 bits (Lanes * Elem), not '!flow.stream<<u8>, lanes = 1, row = 4, count = 4, order = pixels>'}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 16, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c4_count attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C4: 'fork' has 3 output streams, not 2}}
  %b:2 = flow.actor "fork" "b"(%a) {config = {Width = 8, Outputs = 3, frameBeats = 4}, depths = array<i64: 2, 2>} : (!byte) -> (!byte, !byte)
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c5_gates attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C5: takes no gates, its kind is a module of a library}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte {
    ^bb0(%clock: i1, %beat: i8):
      rtl.output %beat : i8
  }
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c3_file attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C3: file 'AddressFile' is not a string}}
  %b = flow.actor "reorder" "b"(%a) {config = {Elem = 8, Elements = 4, OutElements = 4, frameBeats = 4, AddressFile = 1}, depths = array<i64: 2>} : (!byte) -> !byte
}

// -----

!byte = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
flow.design @actor_c5_no_gates attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 2>, port = 0} : () -> !byte
  // expected-error@+1 {{'flow.actor' op C5: needs gates, the datapath of its kind is generated}}
  %b = flow.actor "circuit" "b"(%a) {config = {levels = 1, chain = 0, chainBit = 0, stages = 1, inBits = 8, outBits = 8, adders = 0, ffBits = 0, rowBits = 0, rowStageBits = 0, wideSumBits = 0, wideLuts = 0, wideTableLeaves = 0, wideTableChoices = 0, narrowSumBits = 0, narrowLuts = 0, narrowCompareBits = 0, narrowTableLeaves = 0, narrowTableChoices = 0, frameBeats = 4}, depths = array<i64: 2>} : (!byte) -> !byte
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 1, row = 2, count = 4, order = pixels>
flow.design @actor_c6 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C6: gives several streams that do not copy its only input}}
  %a:2 = flow.actor "fork" "a"(%in) {config = {Width = 8, Outputs = 2, frameBeats = 4}, depths = array<i64: 4, 4>} : (!s) -> (!s, !d)
  flow.actor "axis_out" "m_axis_0"(%a#0) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%a#1) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 1} : (!d) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 8, count = 8, order = pixels>
flow.design @actor_c8 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C8: port 'out' of 'gearbox' takes 2 beats a frame (frameElements / RowOut * ceilDiv(RowOut, LanesOut)), not 4}}
  %a = flow.actor "gearbox" "a"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 4>} : (!s) -> !d
  flow.actor "axis_out" "m_axis_0"(%a) {config = {DataWidth = 64, Elem = 8, Lanes = 2, FrameElements = 8, Row = 8}, depths = array<i64>, port = 0} : (!d) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
func.func @actor_parent() {
  // expected-error@+1 {{'flow.actor' op expects parent op 'flow.design'}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  return
}

// -----

flow.design @actor_types attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{result #0 must be variadic of a sequence of beats that carries one tensor per frame, but got 'i8'}}
  %a = flow.actor "axis_in" "a"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> i8
}

// -----

// expected-error@+1 {{C1: a memory needs a name of letters and digits, a bank, a rate, and times that are not negative}}
func.func private @memory_c1_name() attributes {test.m = #flow.memory<"ddr 4", banks = 1, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>}

// -----

// expected-error@+1 {{C1: a memory needs a name of letters and digits, a bank, a rate, and times that are not negative}}
func.func private @memory_c1_rate() attributes {test.m = #flow.memory<"ddr4", banks = 1, bytes_per_s = 0, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>}

// -----

// expected-error@+1 {{C2: a refresh of 350 ns is not over when the next one begins, after 300 ns}}
func.func private @memory_c2() attributes {test.m = #flow.memory<"ddr4", banks = 1, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 300, refresh_ns = 350>}

// -----

// expected-error@+1 {{C1: needs the names of a memory and of a segment, and a bank that is not negative}}
func.func private @bank_c1() attributes {test.b = #flow.bank<"ddr4", -1, "w.bin">}

// -----

// expected-error@+1 {{'flow.design' op C6: two memories are called 'ddr4'}}
flow.design @design_c6 attributes {clock_mhz = 100.0, device = "xc7z020", memories = [#flow.memory<"ddr4", banks = 1, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>, #flow.memory<"ddr4", banks = 2, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>]} {
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @design_c7_memory attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C7: port 'm_axi' stands at bank 0 of 'ddr4', which the design does not have}}
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 0, "w.bin">]} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @design_c7_bank attributes {clock_mhz = 100.0, device = "xc7z020", memories = [#flow.memory<"ddr4", banks = 2, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>]} {
  // expected-error@+1 {{'flow.actor' op C7: port 'm_axi' stands at bank 2 of 'ddr4', which the design does not have}}
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 2, "w.bin">]} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 256, row = 1024, count = 1024, order = pixels>
flow.design @design_c8_width attributes {clock_mhz = 100.0, device = "xc7z020", memories = [#flow.memory<"ddr4", banks = 1, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>]} {
  // expected-error@+1 {{'flow.actor' op C8: port 'm_axi' has 2048 bits, not a power of two of bytes up to 128}}
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 2048, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 0, "w.bin">]} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 256, FrameElements = 1024, Row = 1024}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
!t = !flow.stream<!num.int<u8>, lanes = 4, row = 32, count = 32, order = pixels>
flow.design @design_c8_equal attributes {clock_mhz = 100.0, device = "xc7z020", memories = [#flow.memory<"ddr4", banks = 1, bytes_per_s = 1000, latency_ns = 1, turnaround_ns = 0, refresh_every_ns = 0, refresh_ns = 0>]} {
  // expected-note@+1 {{the other one's actor}}
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 0, "w.bin">]} : () -> !s
  // expected-error@+1 {{'flow.actor' op C8: port 'm_axi' has 32 bits, another one at bank 0 of 'ddr4' has 64}}
  %v = flow.actor "mem_reader" "v"() {config = {DataWidth = 32, Words = 8, Burst = 4, frameBeats = 8}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 0, "w.bin">]} : () -> !t
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%v) {config = {DataWidth = 64, Elem = 8, Lanes = 4, FrameElements = 32, Row = 32}, depths = array<i64>, port = 1} : (!t) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @actor_c9_none attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C9: 'mem_reader' has 1 memory ports, memories are 0}}
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @actor_c9_many attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C9: 'axis_in' has 0 memory ports, memories are 1}}
  %x = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 0, "w.bin">], port = 0} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%x) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!s) -> ()
}

// -----

module @plan_c1 {
  // expected-error@+1 {{'flow.plan' op C1: has no node}}
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
  }
}

// -----

module @plan_c1_other {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
    // expected-error@+1 {{'arith.constant' op C1: is no part of a plan}}
    %c = arith.constant 0 : i32
  }
}

// -----

module @plan_c2 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-note@+1 {{the other node}}
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
    // expected-error@+1 {{'flow.node' op C2: place 0 belongs to another node too}}
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 1 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @plan_c3 {
  // expected-error@+1 {{'flow.plan' op C3: the choices' positions are not the numbers from 0 to 0}}
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 1 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @plan_c4 {
  // expected-error@+1 {{'flow.plan' op C4: a time is not positive}}
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 0.0 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @split_c1 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.split' op C1: the 0th operation in 1 parts is none that is shared out}}
    flow.split "conv" "conv2d" 0 in 1
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @node_c1 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C1: needs places, none negative, and streams of one bit or more}}
    flow.node at [] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @node_c2 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C2: has no choice}}
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
    }
  }
}

// -----

module @node_c2_other {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      // expected-error@+1 {{'arith.constant' op C2: is neither a choice nor an image}}
      %c = arith.constant 0 : i32
    }
  }
}

// -----

module @node_c3 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C3: says a part only of what was built}}
    flow.node at [0] attributes {design = @d, stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @node_c4 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C4: has RTL of a design that is not there}}
    flow.node at [0] attributes {rtl = @d, stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @choice_c1 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      // expected-error@+1 {{'flow.choice' op C1: a number is negative}}
      flow.choice "conv" "conv2d" -1 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @choice_c2 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      // expected-error@+1 {{'flow.choice' op C2: needs an operation, a generator and a key}}
      flow.choice "conv" "conv2d" 0 takes "stream" "" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @image_c1 {
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      // expected-error@+1 {{'flow.image' op C1: needs 2 lines of 2 digits}}
      flow.image "w.hex" of 2 words of 8 bits "0a\0A"
    }
  }
}

// -----

// expected-error@+1 {{C1: flow.states is no list of #flow.state}}
module @state_c1_list attributes {flow.states = ["h"]} {
}

// -----

// expected-error@+1 {{C1: flow.states stands at a module}}
func.func @state_c1_function() attributes {flow.states = []} {
  return
}

// -----

// expected-error@+1 {{C1: there is another state 'h', or it has no name}}
module @state_c1_twice attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<0.0> : tensor<2xf32>>, #flow.state<"h", next = "g", initial = dense<1.0> : tensor<2xf32>>]} {
  func.func @main(%h: tensor<2xf32> {rhizome.name = "h"}) -> (tensor<2xf32> {rhizome.name = "g"}) {
    return %h : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{C2: @main takes no 'k', which is to be a state}}
module @state_c2_argument attributes {flow.states = [#flow.state<"k", next = "g", initial = dense<0.0> : tensor<2xf32>>]} {
  func.func @main(%h: tensor<2xf32> {rhizome.name = "h"}) -> (tensor<2xf32> {rhizome.name = "g"}) {
    return %h : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{C2: nothing gives 'h', the state 'h' of the next frame}}
module @state_c2_next attributes {flow.states = [#flow.state<"h", next = "h", initial = dense<0.0> : tensor<2xf32>>]} {
  func.func @main(%h: tensor<2xf32> {rhizome.name = "h"}) -> (tensor<2xf32> {rhizome.name = "g"}) {
    return %h : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{C2: the state 'x' is an input of the model, or a task gives it}}
module @state_c2_input attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.states = [#flow.state<"x", next = "y", initial = dense<0.0> : tensor<2xf32>>], flow.tasks = [@host0]} {
  func.func @host0(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "y"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{C4: the state 'h' of the FPGA is none of the last arguments of its task}}
module @state_c4_last attributes {flow.inputs = ["x"], flow.outputs = ["g"], flow.states = [#flow.state<"h", next = "g", initial = dense<0> : tensor<2xi64> of "state">], flow.tasks = [@network]} {
  func.func @network(%h: tensor<2x!num.int<s8>> {flow.tensor = "h"}, %x: tensor<2x!num.int<s8>> {flow.tensor = "x"}) -> (tensor<2x!num.int<s8>> {flow.tensor = "g"}) attributes {flow.place = #flow.place<fpga>} {
    return %h : tensor<2x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{C4: the state 'h' of the FPGA is 'tensor<2x!num.int<s8>>', its next value 'tensor<2x!num.int<s9>>' and its first one 'tensor<2xi64>'}}
module @state_c4_type attributes {flow.inputs = ["x"], flow.outputs = ["g"], flow.states = [#flow.state<"h", next = "g", initial = dense<0> : tensor<2xi64> of "state">], flow.tasks = [@network]} {
  func.func @network(%x: tensor<2x!num.int<s9>> {flow.tensor = "x"}, %h: tensor<2x!num.int<s8>> {flow.tensor = "h"}) -> (tensor<2x!num.int<s9>> {flow.tensor = "g"}) attributes {flow.place = #flow.place<fpga>} {
    return %x : tensor<2x!num.int<s9>>
  }
}

// -----

// expected-error@+1 {{C4: the state 'h' of the FPGA is also taken by 'host0'}}
module @state_c4_taken attributes {flow.inputs = ["x"], flow.outputs = ["g"], flow.states = [#flow.state<"h", next = "g", initial = dense<0> : tensor<2xi64> of "state">], flow.tasks = [@network, @host0]} {
  func.func @network(%x: tensor<2x!num.int<s8>> {flow.tensor = "x"}, %h: tensor<2x!num.int<s8>> {flow.tensor = "h"}) -> (tensor<2x!num.int<s8>> {flow.tensor = "g"}) attributes {flow.place = #flow.place<fpga>} {
    return %h : tensor<2x!num.int<s8>>
  }
  func.func @host0(%h: tensor<2x!num.int<s8>> {flow.tensor = "h"}) -> (tensor<2x!num.int<s8>> {flow.tensor = "k"}) attributes {flow.place = #flow.place<host>} {
    return %h : tensor<2x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{C4: the state 'h' of the FPGA needs one task of the FPGA, not 2}}
module @state_c4_regions attributes {flow.inputs = ["x"], flow.outputs = ["g"], flow.states = [#flow.state<"h", next = "g", initial = dense<0> : tensor<2xi64> of "state">], flow.tasks = [@network, @region1]} {
  func.func @network(%x: tensor<2x!num.int<s8>> {flow.tensor = "x"}, %h: tensor<2x!num.int<s8>> {flow.tensor = "h"}) -> (tensor<2x!num.int<s8>> {flow.tensor = "g"}) attributes {flow.place = #flow.place<fpga>} {
    return %h : tensor<2x!num.int<s8>>
  }
  func.func @region1(%g: tensor<2x!num.int<s8>> {flow.tensor = "g"}) -> (tensor<2x!num.int<s8>> {flow.tensor = "k"}) attributes {flow.place = #flow.place<fpga>} {
    return %g : tensor<2x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{C3: the state 'h' begins as 'tensor<3xf32>', but 'h' is 'tensor<2xf32>'}}
module @state_c3 attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<0.0> : tensor<3xf32>>]} {
  func.func @main(%h: tensor<2xf32> {rhizome.name = "h"}) -> (tensor<2xf32> {rhizome.name = "g"}) {
    return %h : tensor<2xf32>
  }
}

// -----

module @repeat_c1 {
  flow.plan "min-resources" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.repeat' op C1: 1 trips of 2 operations from the 0th on are no repeated block}}
    flow.repeat "conv" "conv2d" 0 length 2 trips 1
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

func.func @enter_c1(%x: tensor<1x4x!num.int<u8>>) {
  // expected-error@+1 {{'flow.enter' op C1: has 1 trips, fewer than two}}
  %0 = flow.enter %x body "fc" trips 1 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
  return
}

// -----

func.func @enter_c2(%x: tensor<1x4x!num.int<u8>>) {
  // expected-error@+1 {{'flow.enter' op C2: takes 'tensor<1x4x!num.int<u8>>' and gives 'tensor<1x4x!num.int<s8>>'}}
  %0 = flow.enter %x body "fc" trips 2 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<s8>>
  return
}

// -----

func.func @leave_c1(%x: tensor<1x4x!num.int<u8>>) {
  // expected-error@+1 {{'flow.leave' op C1: has 0 trips, fewer than two}}
  %0 = flow.leave %x body "fc" trips 0 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
  return
}

// -----

func.func @leave_c2(%x: tensor<1x4x!num.int<u8>>) {
  // expected-error@+1 {{'flow.leave' op C2: takes 'tensor<1x4x!num.int<u8>>' and gives 'tensor<4x!num.int<u8>>'}}
  %0 = flow.leave %x body "fc" trips 2 : (tensor<1x4x!num.int<u8>>) -> tensor<4x!num.int<u8>>
  return
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c10_inside attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C10: has a port's number and doesn't stand at the border}}
  %g = flow.actor "gearbox" "convert"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>, port = 0} : (!s) -> !d
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c11_negative attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C11: a die's number is negative}}
  %g = flow.actor "gearbox" "convert"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>, die = -1} : (!s) -> !d
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c11_far attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C11: from_die is not next to its die}}
  %g = flow.actor "gearbox" "convert"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>, die = 2, from_die = 0} : (!s) -> !d
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c11_alone attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C11: from_die is not next to its die}}
  %g = flow.actor "gearbox" "convert"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>, from_die = 0} : (!s) -> !d
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c12 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C12: its batch has no frame}}
  %g = flow.actor "gearbox" "convert"(%in) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>, batch = 0} : (!s) -> !d
}
