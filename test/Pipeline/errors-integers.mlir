// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --rhizome-explore --split-input-file --verify-diagnostics
// Modules that `integerize` must not leave; C4 and C5 in Phases.h.

// expected-error@+1 {{C4: has no @network}}
module @phase_c4 {
  func.func @prologue() {
    return
  }
}

// -----

module @phase_c4_main {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
  // expected-error@+1 {{'func.func' op C4: exists next to @network}}
  func.func @main() {
    return
  }
}

// -----

module @phase_c5 {
  func.func @network() -> tensor<2xf32> {
    // expected-error@+1 {{'osa.constant' op C5: gives 'tensor<2xf32>' in @network}}
    %c = osa.constant {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
    return %c : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{no operation of the model can be built: @network computes nothing}}
module @nothing {
  func.func @network(%x: tensor<1x4x!num.int<s8>>) -> tensor<1x4x!num.int<s8>> {
    return %x : tensor<1x4x!num.int<s8>>
  }
}
