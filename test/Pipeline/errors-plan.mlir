// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-build --split-input-file --verify-diagnostics
// Modules that `explore` must not leave, and plans that do not match them; C6 in Phases.h.

// expected-error@+1 {{C6: has 0 operations flow.plan, not one}}
module @phase_c6 {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{C6: has 2 operations flow.plan, not one}}
module @phase_c6_twice {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}

// -----

module @phase_c6_built {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
  // expected-error@+1 {{'flow.design' op C6: exists although the plan is not built yet}}
  flow.design @node0 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  }
}

// -----

// expected-error@+1 {{'conv': the network has no such node}}
module @other_network {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
    flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
      flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
    }
  }
}
