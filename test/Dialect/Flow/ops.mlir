// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s

!pixels = !flow.stream<!num.int<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
!windows = !flow.stream<!num.int<u8>, lanes = 27, row = 27, count = 18252, order = windows>

// CHECK-LABEL: flow.design @node0 attributes {clock_mhz = 1.562500e+02 : f64, device = "xcku060-role"}
flow.design @node0 attributes {clock_mhz = 156.25, device = "xcku060-role"} {
  // CHECK: %[[IN:.*]] = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64 : i64, Elem = 8 : i64, FrameElements = 2352 : i64, Lanes = 6 : i64, Row = 84 : i64}, depths = array<i64: 4>, port = 0 : i64} : () -> !flow.stream<<u8>, lanes = 6, row = 84, count = 2352, order = pixels>
  %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 6, FrameElements = 2352, Row = 84}, depths = array<i64: 4>, port = 0 : i64} : () -> !pixels
  // CHECK: flow.actor "window" "conv1_window"(%[[IN]]) {config = {Channels = 3 : i64
  %w = flow.actor "window" "conv1_window"(%in) {config = {Elem = 8, Channels = 3, Height = 28, Width = 28, KernelH = 3, KernelW = 3, StrideH = 1, StrideW = 1, DilationH = 1, DilationW = 1, PadTop = 0, PadLeft = 0, OutHeight = 26, OutWidth = 26, PadValue = 0, Lanes = 3, Groups = 1, Repeat = 1, KernelParallel = 1, PixelsIn = 2, PixelsOut = 1, Rows = 6}, depths = array<i64: 2>} : (!pixels) -> !windows
  // CHECK: flow.actor "axis_out" "m_axis_0"
  // CHECK-SAME: lanes = 27, row = 27, count = 18252, order = windows
  flow.actor "axis_out" "m_axis_0"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 27, FrameElements = 18252, Row = 27}, depths = array<i64>, port = 0 : i64} : (!windows) -> ()
}

// Two readers of one bank.
// CHECK-LABEL: flow.design @memories
// CHECK-SAME: #flow.memory<"ddr4", banks = 2, bytes_per_s = 19200000000, latency_ns = 100, turnaround_ns = 14, refresh_every_ns = 7800, refresh_ns = 350>
!beats = !flow.stream<!num.int<u8>, lanes = 8, row = 32, count = 32, order = pixels>
flow.design @memories attributes {clock_mhz = 200.0, device = "xczu7ev", memories = [#flow.memory<"ddr4", banks = 2, bytes_per_s = 19200000000, latency_ns = 100, turnaround_ns = 14, refresh_every_ns = 7800, refresh_ns = 350>]} {
  // CHECK: flow.actor "mem_reader"
  // CHECK-SAME: memories = [#flow.bank<"ddr4", 1, "v.bin">]
  %v = flow.actor "mem_reader" "v"() {config = {DataWidth = 64, Words = 4, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 1, "v.bin">]} : () -> !beats
  %w = flow.actor "mem_reader" "w"() {config = {DataWidth = 64, Words = 2, Burst = 4, frameBeats = 4}, depths = array<i64: 4>, memories = [#flow.bank<"ddr4", 1, "w.bin">]} : () -> !beats
  flow.actor "axis_out" "m_axis_0"(%v) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 0} : (!beats) -> ()
  flow.actor "axis_out" "m_axis_1"(%w) {config = {DataWidth = 64, Elem = 8, Lanes = 8, FrameElements = 32, Row = 32}, depths = array<i64>, port = 1} : (!beats) -> ()
}

// A plan before and after its designs are built.
// CHECK: flow.plan "throughput=1000/s" bottleneck operation "conv" attributes {avoids_dsp
// CHECK-NEXT: flow.split "conv" "conv2d" 0 in 2
// CHECK-NEXT: flow.repeat "act" "requantize" 1 length 2 trips 6
// CHECK-NEXT: flow.node at [0, 2] attributes {bottleneck = "conv.0", design = @node0_design
flow.plan "throughput=1000/s" bottleneck operation "conv" attributes {avoids_dsp, bound = 1.0e-5 : f64, exact, fits, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, meets_goal, no_faster = "lut: 3 needed, 2 available", seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
  flow.split "conv" "conv2d" 0 in 2
  flow.repeat "act" "requantize" 1 length 2 trips 6
  flow.node at [0, 2] attributes {bottleneck = "conv.0", design = @node0_design, endpoint = array<f64: 0.0>, errors = array<f64: 1.0>, function = @node0, interval_cycles = 100.0 : f64, latency_cycles = 120 : i64, link = @node0_link, resources = array<f64: 12.5>, rtl = @node0_rtl, stream_bits = 64 : i64, traffic = array<f64: 12.0>} {
    // CHECK-NEXT: flow.choice "conv.0" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64: 1.200000e+01>, summary = "1 lane", unit = 0 : i64}
    flow.choice "conv.0" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64: 12.0>, summary = "1 lane", unit = 0 : i64}
    // CHECK-NEXT: flow.image "weights.hex" of 2 words of 8 bits "0a\0Aff\0A"
    flow.image "weights.hex" of 2 words of 8 bits "0a\0Aff\0A"
  }
  // CHECK: flow.alternative "1 device" attributes {nodes = 1 : i64, per_second = 0.000000e+00 : f64, why = "does not fit"}
  flow.alternative "1 device" attributes {nodes = 1 : i64, per_second = 0.0 : f64, why = "does not fit"}
}

// A body that each frame passes three times.
// CHECK-LABEL: func.func @body
func.func @body(%x: tensor<1x4x!num.int<u8, 0:9>>) -> tensor<1x4x!num.int<u8>> {
  // CHECK: flow.enter %{{.*}} body "fc" trips 3
  %0 = flow.enter %x body "fc" trips 3 : (tensor<1x4x!num.int<u8, 0:9>>) -> tensor<1x4x!num.int<u8>>
  // CHECK: flow.leave %{{.*}} body "fc" trips 3
  %1 = flow.leave %0 body "fc" trips 3 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
  return %1 : tensor<1x4x!num.int<u8>>
}
