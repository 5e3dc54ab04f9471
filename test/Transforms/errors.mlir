// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --osa-integerize --split-input-file --verify-diagnostics
// RUN: %opt %s --osa-apply-fixed-point --split-input-file --verify-diagnostics
// Functions that are not networks are refused.

// expected-error@+1 {{the module has no function @main}}
module {
  func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{@main is not one block with a return at its end}}
module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    cf.br ^bb1
  ^bb1:
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{@main takes or gives other than tensors of known size}}
module {
  func.func @main(%x: f64) -> f64 {
    return %x : f64
  }
}

// -----

// expected-error@+1 {{@main takes or gives other than tensors of known size}}
module {
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}
