// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s
// RUN: %opt %s --osa-integerize | FileCheck %s --check-prefix=TASKS
// A model's state: first an argument and a result of @main, then tensors of its
// tasks; it is not listed among the inputs.

// CHECK: module attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<5.000000e-01> : tensor<1x2xf32>>]}
// TASKS: flow.inputs = ["x"], flow.outputs = ["g"], flow.states = [#flow.state<"h", next = "g", initial = dense<5.000000e-01> : tensor<1x2xf32>>], flow.tasks = [@host0]
module attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<0.5> : tensor<1x2xf32>>]} {
  // TASKS: func.func @host0(%{{.*}}: tensor<1x2xf32> {flow.tensor = "x", {{.*}}}, %{{.*}}: tensor<1x2xf32> {flow.tensor = "h", {{.*}}}) -> (tensor<1x2xf32> {flow.tensor = "g"
  func.func @main(%x: tensor<1x2xf32> {rhizome.name = "x"}, %h: tensor<1x2xf32> {rhizome.name = "h"}) -> (tensor<1x2xf32> {rhizome.name = "g"}) {
    %s = osa.add %x, %h : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %g = osa.softmax %s {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    return %g : tensor<1x2xf32>
  }
}
