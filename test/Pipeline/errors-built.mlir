// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-lower --split-input-file --verify-diagnostics
// Modules that `build` must not leave; C7 in Phases.h.

module @phase_c7 {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C7: does not name a function and a design of the module}}
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @phase_c7_missing {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    // expected-error@+1 {{'flow.node' op C7: does not name a function and a design of the module}}
    flow.node at [0] attributes {bottleneck = "conv", design = @node0, endpoint = array<f64>, errors = array<f64>, function = @network, interval_cycles = 1.0 : f64, latency_cycles = 1 : i64, resources = array<f64>, stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}
