// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-emit --split-input-file --verify-diagnostics
// Modules that `lower` must not leave; C8 in Phases.h.

module @phase_c8 {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.design @node0 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C8: does not name its RTL, with a top module}}
    flow.node at [0] attributes {bottleneck = "conv", design = @node0, endpoint = array<f64>, errors = array<f64>, function = @network, interval_cycles = 1.0 : f64, latency_cycles = 1 : i64, resources = array<f64>, stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @phase_c8_top {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.design @node0 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  }
  // expected-error@+1 {{C8: does not name its top module}}
  module @node0_rtl attributes {rhizome.top = "rhz_top"} {
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {bottleneck = "conv", design = @node0, endpoint = array<f64>, errors = array<f64>, function = @network, interval_cycles = 1.0 : f64, latency_cycles = 1 : i64, resources = array<f64>, rtl = @node0_rtl, stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

// expected-error@+1 {{C8: has no RTL of the kernel's unit}}
module @phase_c8_kernel attributes {rhizome.compile = {kernel = {source = ""}}} {
  func.func @scale(%x: tensor<4xf64>) -> tensor<4xf64> attributes {rhizome.kernel} {
    return %x : tensor<4xf64>
  }
  flow.plan "" bottleneck operation "y" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 0.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "scale" "unit" 0 takes "loops" "loops/unit?stages=0&lanes=1&words=1&system=0&units=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}
