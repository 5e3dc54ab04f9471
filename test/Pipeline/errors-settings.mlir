// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-normalize --split-input-file --verify-diagnostics
// Settings of a module that are not valid.

// expected-error@+1 {{'goal' in rhizome.compile is not a string}}
module attributes {rhizome.compile = {goal = 3}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'clock_mhz' in rhizome.compile is not a float}}
module attributes {rhizome.compile = {clock_mhz = 3}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'max_nodes' in rhizome.compile is not an i64}}
module attributes {rhizome.compile = {max_nodes = "x"}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'number_format' in rhizome.compile is not a number format}}
module attributes {rhizome.compile = {number_format = "half"}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'method' in rhizome.compile is not min-max, percentile or mse}}
module attributes {rhizome.compile = {calibration = {method = "guess"}}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'bits' in rhizome.compile is not two widths of 2 to 16 bits}}
module attributes {rhizome.compile = {calibration = {bits = array<i64: 1, 8>}}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'calibration' in rhizome.compile is not a dictionary}}
module attributes {rhizome.compile = {calibration = 1}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'accept_nearest' in rhizome.compile is not a flag}}
module attributes {rhizome.compile = {accept_nearest = 1}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'color' in rhizome.compile is not a setting}}
module attributes {rhizome.compile = {color = "red"}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{'goal' in rhizome.compile is no goal: 'fast'}}
module attributes {rhizome.compile = {goal = "fast"}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}

// -----

// expected-error@+1 {{rhizome.compile is not a dictionary}}
module attributes {rhizome.compile = 1} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}
