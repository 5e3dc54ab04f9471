// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's graph of tasks, as attributes of a module and its functions; see
// Flow_PlaceAttr in Flow.td for what they mean.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "rhizome/Dialect/Flow/Flow.h"

namespace rhizome::flow {
constexpr const char *kPlace = "flow.place";     ///< of a function
constexpr const char *kTensor = "flow.tensor";   ///< of arguments and results
constexpr const char *kTasks = "flow.tasks";     ///< of a module, in order
constexpr const char *kInputs = "flow.inputs";   ///< names of tensors
constexpr const char *kOutputs = "flow.outputs"; ///< names of tensors
constexpr const char *kStates = "flow.states";   ///< of a module

/// True if the module is a graph of tasks.
bool hasTasks(mlir::ModuleOp module);
/// The tasks of a verified module, in their order; all of them, or those that
/// run in one place.
llvm::SmallVector<mlir::FunctionOpInterface> tasksOf(mlir::ModuleOp module);
llvm::SmallVector<mlir::FunctionOpInterface> tasksOf(mlir::ModuleOp module,
                                                     Place place);
/// Where a function runs; host if it is no task.
Place placeOf(mlir::FunctionOpInterface task);

/// The tensors that a task takes and gives, by name.
std::vector<std::string> takenBy(mlir::FunctionOpInterface task);
std::vector<std::string> givenBy(mlir::FunctionOpInterface task);
/// What the model keeps from frame to frame; also of a module without tasks.
llvm::SmallVector<StateAttr> statesOf(mlir::ModuleOp module);
/// A state that a task of the FPGA keeps.
struct Kept {
  unsigned argument = 0, result = 0;
  StateAttr state;
};
/// What a task keeps, in the order of its arguments; nothing of a function that
/// is no task.
llvm::SmallVector<Kept> keptBy(mlir::FunctionOpInterface task);
/// How many of its arguments, or results, are ports of the hardware: the first
/// ones.
unsigned portsOf(mlir::FunctionOpInterface task, bool results);
/// What the model takes and gives.
std::vector<std::string> inputsOf(mlir::ModuleOp module);
std::vector<std::string> outputsOf(mlir::ModuleOp module);
} // namespace rhizome::flow
