// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %opt %s --split-input-file --verify-diagnostics
// At least one case of each constraint of flow.place in Flow.td.

// expected-error@+1 {{C1: flow.tasks lists @place_c1, which is no function with a body and a flow.place}}
module attributes {flow.inputs = [], flow.outputs = [], flow.tasks = [@place_c1]} {
}

// -----

// expected-error@+1 {{C1: flow.tasks lists @place_c1_unplaced, which is no function with a body and a flow.place}}
module attributes {flow.inputs = [], flow.outputs = [], flow.tasks = [@place_c1_unplaced]} {
  func.func @place_c1_unplaced() {
    return
  }
}

// -----

// expected-error@+1 {{C1: flow.tasks is no list of functions}}
module @place_c1_list attributes {flow.inputs = [], flow.outputs = [], flow.tasks = 1 : i64} {
}

// -----

// expected-error@+1 {{C1: flow.tasks needs flow.outputs, a list of names, beside it}}
module @place_c1_outputs attributes {flow.inputs = [], flow.tasks = []} {
}

// -----

module attributes {flow.inputs = [], flow.outputs = [], flow.tasks = [@place_c1_tensor]} {
  // expected-error@+1 {{C1: argument 0 of this task has no flow.tensor}}
  func.func @place_c1_tensor(%x: tensor<2xf32>) attributes {flow.place = #flow.place<host>} {
    return
  }
}

// -----

// expected-error@+1 {{C1: flow.tasks stands at a module}}
func.func @place_c1_function() attributes {flow.tasks = []} {
  return
}

// -----

// expected-error@+1 {{C1: flow.place is a #flow.place and stands at a function}}
func.func @place_c1_value() attributes {flow.place = "host"} {
  return
}

// -----

module attributes {flow.inputs = ["x"], flow.outputs = [], flow.tasks = [@place_c2, @later]} {
  // expected-error@+1 {{C2: it takes 'a', which is no input or state of the model and is given by no earlier task}}
  func.func @place_c2(%x: tensor<2xf32> {flow.tensor = "a"}) attributes {flow.place = #flow.place<host>} {
    return
  }
  func.func @later(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "a"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
}

// -----

module attributes {flow.inputs = ["x"], flow.outputs = [], flow.tasks = [@first, @place_c3]} {
  // expected-note@+1 {{the other place}}
  func.func @first(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "a"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
  // expected-error@+1 {{C3: the tensor 'a' is 'tensor<3xf32>' here and 'tensor<2xf32>' elsewhere}}
  func.func @place_c3(%x: tensor<3xf32> {flow.tensor = "a"}) attributes {flow.place = #flow.place<host>} {
    return
  }
}

// -----

module attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.tasks = [@first, @place_c4]} {
  func.func @first(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "y"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
  // expected-error@+1 {{C4: it gives 'y', which another task or the model's input gives as well}}
  func.func @place_c4(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "y"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{C4: no task gives the model's output 'y'}}
module @place_c4_output attributes {flow.inputs = [], flow.outputs = ["y"], flow.tasks = []} {
}

// -----

// expected-error@+1 {{C4: the model has two inputs 'x'}}
module @place_c4_inputs attributes {flow.inputs = ["x", "x"], flow.outputs = [], flow.tasks = []} {
}

// -----

// expected-error@+1 {{C4: the model has two outputs 'y'}}
module @place_c4_outputs attributes {flow.inputs = ["x"], flow.outputs = ["y", "y"], flow.tasks = [@first]} {
  func.func @first(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "y"}) attributes {flow.place = #flow.place<host>} {
    return %x : tensor<2xf32>
  }
}

// -----

module attributes {flow.inputs = [], flow.outputs = [], flow.tasks = []} {
  // expected-error@+1 {{C5: it has a flow.place, but flow.tasks does not list it}}
  func.func @place_c5() attributes {flow.place = #flow.place<host>} {
    return
  }
}

// -----

module attributes {flow.inputs = [], flow.outputs = [], flow.tasks = [@place_c5_twice, @place_c5_twice]} {
  // expected-error@+1 {{C5: flow.tasks lists this task twice}}
  func.func @place_c5_twice() attributes {flow.place = #flow.place<host>} {
    return
  }
}
