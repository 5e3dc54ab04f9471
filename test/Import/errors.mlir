// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt --convert-linalg-to-osa --split-input-file --verify-diagnostics %s

// expected-error @+1 {{@branches is not one block with a return at its end}}
func.func @branches(%x: tensor<1xf32>) -> tensor<1xf32> {
  cf.br ^next
^next:
  return %x : tensor<1xf32>
}
