// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-normalize --split-input-file --verify-diagnostics
// Modules that `import` must not leave; C1 and C2 in Phases.h.

module @phase_c1 {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  // expected-error@+1 {{'flow.design' op C1: is in a module that has not been explored}}
  flow.design @node0 attributes {clock_mhz = 100.0, device = "xc7z020"} {
  }
}

// -----

// expected-error@+1 {{C2: has neither @main nor @network}}
module @phase_c2 {
}

// -----

// expected-error@+1 {{C2: the module holds several functions; mark one with the attribute rhizome.kernel}}
module @phase_c2_kernel attributes {rhizome.compile = {kernel = {source = ""}}} {
  func.func @one(%x: tensor<4xf64>) -> tensor<4xf64> {
    return %x : tensor<4xf64>
  }
  func.func @other(%x: tensor<4xf64>) -> tensor<4xf64> {
    return %x : tensor<4xf64>
  }
}
