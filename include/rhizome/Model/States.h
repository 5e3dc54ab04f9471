// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a network on reals keeps from frame to frame (flow.states of a module
// with @main): put there at import, and carried along where @main is computed
// frame by frame. Of a graph of tasks HostModel and Passage do the same.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Support/Tensor.h"

namespace rhizome::model {
/// Writes the pairs that the user names as flow.states. A pair that names no
/// input or output, or tensors of two types, is refused.
void nameStates(mlir::ModuleOp module, const ModelRequest &request,
                Refusals &refusals);

/// Keeps the states of a graph of tasks on the FPGA where that changes nothing:
/// where one task of the FPGA takes a state and gives its next value, as equal
/// codes in equal order, and the host only hands them back. Of the others it
/// writes down why the host keeps them; `hostOnly` is a reason to keep all of
/// them there. With `hides`, the next values of states on the FPGA are no
/// outputs of the model any more, unless nothing else would be.
void settleStates(mlir::ModuleOp module, llvm::StringRef hostOnly = "",
                  bool hides = false);

/// True if a function is the @main of a network on reals that keeps the
/// argument of this name.
bool isStateOfMain(mlir::func::FuncOp func, llvm::StringRef name);

/// A state's value after a reset.
Tensor initialOf(flow::StateAttr state);

/// The states of a @main, frame after frame.
class MainStates {
public:
  /// Of a function that may be null, which keeps nothing.
  explicit MainStates(mlir::func::FuncOp main);
  bool empty() const { return all.empty(); }
  /// The arguments of @main for a frame: its inputs, and the states where they
  /// stand among them.
  std::vector<Tensor> arguments(llvm::ArrayRef<Tensor> inputs) const;
  /// Takes the next states out of what @main gave.
  void keep(llvm::ArrayRef<Tensor> results);

private:
  struct One {
    unsigned argument, result;
    Tensor value;
  };
  std::vector<One> all; ///< by argument
};
} // namespace rhizome::model
