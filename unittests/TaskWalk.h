// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a model's graph of tasks in tests: all in the interpreter, or those of
// the FPGA by a replacement from the test.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Interp/Interpreter.h"
#include <functional>
#include <map>

namespace rhizome {
class TaskWalk {
public:
  using Run = std::function<llvm::FailureOr<std::vector<Tensor>>(
      llvm::ArrayRef<Tensor>)>;

  explicit TaskWalk(mlir::ModuleOp module, Run fpga = {})
      : inputs(flow::inputsOf(module)), outputs(flow::outputsOf(module)) {
    for (mlir::FunctionOpInterface task : flow::tasksOf(module)) {
      auto interpreter = std::make_shared<Interpreter>(
          llvm::cast<mlir::func::FuncOp>(task.getOperation()));
      bool onFpga = flow::placeOf(task) == flow::Place::Fpga;
      Run run = [interpreter](llvm::ArrayRef<Tensor> in) {
        return interpreter->run(in);
      };
      tasks.push_back({flow::takenBy(task), flow::givenBy(task),
                       onFpga && fpga ? fpga : run});
    }
  }

  llvm::FailureOr<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> frame) const {
    std::map<std::string, Tensor> tensors;
    for (auto [name, tensor] : llvm::zip_equal(inputs, frame))
      tensors[name] = tensor;
    for (const Task &task : tasks) {
      std::vector<Tensor> in;
      for (const std::string &name : task.takes)
        in.push_back(tensors.at(name));
      auto out = task.run(in);
      if (llvm::failed(out))
        return llvm::failure();
      for (auto [name, tensor] : llvm::zip_equal(task.gives, *out))
        tensors[name] = tensor;
    }
    std::vector<Tensor> results;
    for (const std::string &name : outputs)
      results.push_back(tensors.at(name));
    return results;
  }

private:
  struct Task {
    std::vector<std::string> takes, gives;
    Run run;
  };
  std::vector<std::string> inputs, outputs;
  std::vector<Task> tasks;
};
} // namespace rhizome
