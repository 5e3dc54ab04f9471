// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-integerize --split-input-file --verify-diagnostics
// Modules that `quantize` must not leave; C3 in Phases.h.

// expected-error@+1 {{C3: still has 'number_format' in rhizome.compile, which 'quantize' applies}}
module @phase_c3 attributes {rhizome.compile = {number_format = "fixed<6,10>"}} {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}
