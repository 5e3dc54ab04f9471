// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// One case or more of each constraint in Flow.td, named after the type or
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
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C1: a second actor is called 's_axis_0'}}
  flow.actor "axis_out" "s_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c2 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
  // expected-error@+1 {{'arith.constant' op C2: is no actor}}
  %c = arith.constant 0 : i32
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c3_unread attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: a stream has 0 readers; a fork makes more}}
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c3_twice attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: a stream has 2 readers; a fork makes more}}
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%in) {config = {}, depths = array<i64>, rhizome.port = 1} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c4_none attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C4: stands at the border without the number of its port, rhizome.port}}
  %in = flow.actor "axis_in" "a"() {config = {}, depths = array<i64: 4>} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c4_negative attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C4: stands at the border without the number of its port}}
  %in = flow.actor "axis_in" "a"() {config = {}, depths = array<i64: 4>, rhizome.port = -1} : () -> !s
  flow.actor "axis_out" "m_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @design_c4_twice attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  %b = flow.actor "axis_in" "s_axis_1"() {config = {}, depths = array<i64: 4>, rhizome.port = 1} : () -> !s
  // expected-note@+1 {{the first}}
  flow.actor "axis_out" "m_axis_0"(%in) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
  // expected-error@+1 {{'flow.actor' op C4: a second actor is port 0}}
  flow.actor "axis_out" "b"(%b) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

// expected-error@+1 {{'flow.design' op C5: the clock must be positive and finite}}
flow.design @design_c5 attributes {clock_mhz = 0.0, device = "xc7z020"} {
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c1 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C1: needs one depth per result}}
  %a = flow.actor "fifo" "a"(%in) {config = {}, depths = array<i64>} : (!s) -> !s
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c2 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C2: the depth -7 is negative}}
  %a = flow.actor "fifo" "a"(%in) {config = {}, depths = array<i64: -7>} : (!s) -> !s
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c3 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C3: copies '!flow.stream<<u8>, lanes = 1, row = 4, count = 4, order = pixels>' to '!flow.stream<<u8>, lanes = 2, row = 4, count = 4, order = pixels>'}}
  %a:2 = flow.actor "fork" "a"(%in) {config = {}, depths = array<i64: 4, 4>} : (!s) -> (!s, !d)
  flow.actor "axis_out" "m_axis_0"(%a#0) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%a#1) {config = {}, depths = array<i64>, rhizome.port = 1} : (!d) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c3_inputs attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{'flow.actor' op C3: gives several streams of 0 inputs}}
  %a:2 = flow.actor "axis_in" "a"() {config = {}, depths = array<i64: 4, 4>, rhizome.port = 0} : () -> (!s, !s)
  flow.actor "axis_out" "m_axis_0"(%a#0) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
  flow.actor "axis_out" "m_axis_1"(%a#1) {config = {}, depths = array<i64>, rhizome.port = 1} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c4 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C4: the parameter "Width" is neither an i64 nor a string}}
  %a = flow.actor "fifo" "a"(%in) {config = {Width = 8 : i32}, depths = array<i64: 2>} : (!s) -> !s
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c5_clock attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C5: the gates don't take the clock and a beat of 'i8'}}
  %a = flow.actor "circuit" "a"(%in) {config = {module = "m", stages = 0}, depths = array<i64: 2>} : (!s) -> !s {
  ^bb0(%clk: i1, %x: i4):
    %0 = rtl.concat %x, %x : (i4, i4) -> i8
    rtl.output %0 : i8
  }
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c5_beat attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  // expected-error@+1 {{'flow.actor' op C5: the gates don't give a beat of 'i8'}}
  %a = flow.actor "circuit" "a"(%in) {config = {module = "m", stages = 0}, depths = array<i64: 2>} : (!s) -> !s {
  ^bb0(%clk: i1, %x: i8):
    rtl.output %clk : i1
  }
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
!d = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
flow.design @actor_c5_inputs attributes {clock_mhz = 100.0, device = "xc7z020"} {
  %in = flow.actor "axis_in" "s_axis_0"() {config = {}, depths = array<i64: 4>, rhizome.port = 0} : () -> !s
  %b = flow.actor "axis_in" "s_axis_1"() {config = {}, depths = array<i64: 4>, rhizome.port = 1} : () -> !s
  // expected-error@+1 {{'flow.actor' op C5: has gates, but not one input and one output}}
  %a = flow.actor "circuit" "a"(%in, %b) {config = {}, depths = array<i64: 2>} : (!s, !s) -> !s {
  ^bb0(%clk: i1, %x: i8):
    rtl.output %x : i8
  }
  flow.actor "axis_out" "m_axis_0"(%a) {config = {}, depths = array<i64>, rhizome.port = 0} : (!s) -> ()
}

// -----

!s = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
func.func @actor_parent() {
  // expected-error@+1 {{'flow.actor' op expects parent op 'flow.design'}}
  %a = flow.actor "axis_in" "a"() {config = {}, depths = array<i64: 4>} : () -> !s
  return
}

// -----

flow.design @actor_types attributes {clock_mhz = 100.0, device = "xc7z020"} {
  // expected-error@+1 {{result #0 must be variadic of a sequence of beats that carries one tensor per frame, but got 'i8'}}
  %a = flow.actor "axis_in" "a"() {config = {}, depths = array<i64: 4>} : () -> i8
}
