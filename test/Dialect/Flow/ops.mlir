// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

!pixels = !flow.stream<!num.int<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
!windows = !flow.stream<!num.int<u8>, lanes = 27, row = 27, count = 18252, order = windows>

// CHECK-LABEL: flow.design @node0 attributes {clock_mhz = 1.562500e+02 : f64, device = "xcku060-role"}
flow.design @node0 attributes {clock_mhz = 156.25, device = "xcku060-role"} {
  // CHECK: %[[IN:.*]] = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64 : i64, Elem = 8 : i64, FrameElements = 2352 : i64, Lanes = 6 : i64, Row = 84 : i64}, depths = array<i64: 4>, rhizome.port = 0 : i64} : () -> !flow.stream<<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 6, FrameElements = 2352, Row = 84}, depths = array<i64: 4>, rhizome.port = 0 : i64} : () -> !pixels
  // CHECK: flow.actor "window" "conv1_window"(%[[IN]]) {config = {Channels = 3 : i64
  %w = flow.actor "window" "conv1_window"(%in) {config = {Elem = 8, Channels = 3, Height = 28, Width = 28, KernelH = 3, KernelW = 3, StrideH = 1, StrideW = 1, DilationH = 1, DilationW = 1, PadTop = 0, PadLeft = 0, OutHeight = 26, OutWidth = 26, PadValue = 0, Lanes = 3, Groups = 1, Repeat = 1, KernelParallel = 1, PixelsIn = 2, PixelsOut = 1, Rows = 6}, depths = array<i64: 2>} : (!pixels) -> !windows
  // CHECK: flow.actor "axis_out" "m_axis_0"
  // CHECK-SAME: lanes = 27, row = 27, count = 18252, order = windows
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 27, FrameElements = 18252, Row = 27}, depths = array<i64>, rhizome.port = 0 : i64} : (!windows) -> ()
}

// Two readers at a bank.
// CHECK-LABEL: flow.design @memories
// CHECK-SAME: #flow.memory<"ddr4", banks = 2, bytes_per_s = 19200000000, latency_ns = 100, turnaround_ns = 14, refresh_every_ns = 7800, refresh_ns = 350>
!beats = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @memories attributes {clock_mhz = 200.0, device = "xczu7ev", memories = [#flow.memory<"ddr4", banks = 2, bytes_per_s = 19200000000, latency_ns = 100, turnaround_ns = 14, refresh_every_ns = 7800, refresh_ns = 350>]} {
  // CHECK: flow.actor "mem_reader"
  // CHECK-SAME: memories = [#flow.bank<"ddr4", 1, "v.bin">]
  %v = flow.actor "mem_reader" "v"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 1, "v.bin">]} : () -> !beats
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 2, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 1, "w.bin">]} : () -> !beats
  flow.actor "axis_out" "m_axis_0"(%v) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, rhizome.port = 0} : (!beats) -> ()
  flow.actor "axis_out" "m_axis_1"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, rhizome.port = 1} : (!beats) -> ()
}
