// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s | FileCheck %s
// A graph of tasks: two regions of the FPGA, the host around them, and a tensor
// that skips the second one.

// CHECK: module attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.tasks = [@host0, @region0, @host1, @region1, @host2]}
module attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.tasks = [@host0, @region0, @host1, @region1, @host2]} {
  // CHECK: func.func @host0
  // CHECK-SAME: attributes {flow.place = #flow.place<host>}
  func.func @host0(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "a"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
  // CHECK: func.func @region0
  // CHECK-SAME: attributes {flow.place = #flow.place<fpga>}
  func.func @region0(%x: tensor<2xf32> {flow.tensor = "a"}) -> (tensor<2xf32> {flow.tensor = "b"}) attributes {flow.place = #flow.place<fpga>} {
    return %x : tensor<2xf32>
  }
  func.func @host1(%x: tensor<2xf32> {flow.tensor = "b"}) -> (tensor<2xf32> {flow.tensor = "c"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
  func.func @region1(%x: tensor<2xf32> {flow.tensor = "c"}) -> (tensor<2xf32> {flow.tensor = "d"}) attributes {flow.place = #flow.place<fpga>} {
    return %x : tensor<2xf32>
  }
  func.func @host2(%x: tensor<2xf32> {flow.tensor = "d"}, %past: tensor<2xf32> {flow.tensor = "b"}) -> (tensor<2xf32> {flow.tensor = "y"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
  // A function that is not a task has no place.
  func.func @node0(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
