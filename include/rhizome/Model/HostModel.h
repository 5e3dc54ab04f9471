// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An integer model in memory: its graph of tasks, each executable on the host.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>

namespace rhizome::model {
/// Loads the dialects that an integer model uses.
void loadDialects(mlir::MLIRContext &context);

/// Collects diagnostics as text for as long as it lives.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context);
  /// What was said so far, each message once and "; " between them, and
  /// forgets it.
  std::string take();

private:
  std::mutex mutex;
  std::vector<std::string> lines; ///< each once
  mlir::ScopedDiagnosticHandler handler;
};

/// A function's arguments or results as the host packs them: whole bytes.
std::vector<BorderPort> hostPorts(mlir::func::FuncOp func, bool results);

class HostModel {
public:
  /// Reads a package's model file.
  static llvm::Expected<std::unique_ptr<HostModel>> read(llvm::StringRef path);
  /// Takes over a module with flow.tasks.
  static llvm::Expected<std::unique_ptr<HostModel>>
  create(std::unique_ptr<mlir::MLIRContext> context,
         mlir::OwningOpRef<mlir::ModuleOp> module);

  struct Value {
    std::string name; ///< rhizome.name
    std::vector<int64_t> shape;
    bool isFloat = true;
    bool isWhole = false; ///< whole numbers in the file, if also as reals
    bool isPlain = false; ///< 8-bit values of a file are no pixels
    /// In which files hold it: of an output of integers the model's.
    StoredType type = StoredType::Own;
    int64_t lo = INT64_MIN, hi = INT64_MAX; ///< of integers
  };
  const std::vector<Value> &inputs() const { return graphInputs; }
  const std::vector<Value> &outputs() const { return graphOutputs; }
  /// What the FPGA computes, merged: fpgaNetwork(); null if nothing.
  mlir::func::FuncOp network() const { return theNetwork; }
  /// The network's `hostPorts`.
  const std::vector<BorderPort> &networkInputs() const { return inputPorts; }
  const std::vector<BorderPort> &networkOutputs() const { return outputPorts; }
  /// A function of the model, e.g. a node's; null if there is none.
  mlir::func::FuncOp function(llvm::StringRef name) const;

  /// A task, with the tensors that it takes and gives: numbers below
  /// tensorCount().
  struct Task {
    std::string name;
    mlir::func::FuncOp function;
    bool onFpga = false;
    std::vector<unsigned> takes{}, gives{};
    /// Of the FPGA's: where its ports begin among the network's.
    size_t firstInput = 0, firstOutput = 0;
    /// How many it has there: of what it takes and gives, the first ones. The
    /// others it keeps from frame to frame.
    size_t inputPorts = 0, outputPorts = 0;
    size_t part = 0;
    /// False if it computes more than the border's conversions.
    bool isLight = true;
  };
  const std::vector<Task> &tasks() const { return allTasks; }
  /// Tasks of the FPGA.
  size_t regionCount() const { return regions; }
  size_t tensorCount() const { return tensors; }
  const std::vector<unsigned> &inputTensors() const { return inputNumbers; }
  const std::vector<unsigned> &outputTensors() const { return outputNumbers; }
  /// What the model keeps from frame to frame; it is read before it is written.
  struct State {
    std::string name;
    unsigned tensor = 0, next = 0; ///< numbers of tensors
    Tensor initial;
    bool onFpga = false; ///< that keeps it, after a reset from `initial`
  };
  const std::vector<State> &states() const { return kept; }
  /// Whether the host keeps any of them, so that a frame begins when the one
  /// before has ended.
  bool isKeptByHost() const {
    for (const State &state : kept)
      if (!state.onFpga)
        return true;
    return false;
  }
  /// The states' values after a reset, in order.
  std::vector<Tensor> initialStates() const;
  /// True if the FPGA runs once, and what follows reads nothing but its
  /// results: then any codes are a frame.
  bool isNetworkFree() const;

  // One frame each; safe from several threads.
  /// A task of the host: machine code where it computes more than the border's
  /// conversions, or often.
  llvm::Expected<std::vector<Tensor>> runHost(const Task &task,
                                              llvm::ArrayRef<Tensor> in) const;
  /// A task of the FPGA in the interpreter.
  llvm::Expected<std::vector<Tensor>>
  interpret(const Task &task, llvm::ArrayRef<Tensor> in,
            const ProbeFn &probe = nullptr) const;
  /// A task of the FPGA on the CPU path.
  llvm::Expected<std::vector<Tensor>>
  runCompiled(const Task &task, llvm::ArrayRef<Tensor> in) const;
  /// All tasks on the CPU path as one function, from the graph's inputs to its
  /// outputs. `states` are the states' values of this frame, and then of the
  /// next one.
  llvm::Expected<std::vector<Tensor>> runAll(llvm::ArrayRef<Tensor> in,
                                             std::vector<Tensor> &states) const;

private:
  /// A function and the ways to run it.
  struct Part {
    mlir::func::FuncOp function;
    std::unique_ptr<Interpreter> interpreter;
    bool isHeavy = false;
    mutable std::atomic<int64_t> elements{0}; ///< interpreted so far
    mutable std::once_flag once;
    mutable std::unique_ptr<CompiledFunction> compiled;
  };
  void joinTasks();
  void addTask(mlir::func::FuncOp function, llvm::StringMap<unsigned> &numbers);
  llvm::Expected<std::vector<Tensor>> runPart(const Part &part,
                                              llvm::ArrayRef<Tensor> in) const;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<DiagnosticText> diagnostics;
  std::vector<Value> graphInputs, graphOutputs;
  std::vector<BorderPort> inputPorts, outputPorts;
  mlir::func::FuncOp theNetwork;
  std::vector<std::unique_ptr<Part>> parts;
  /// A function that calls all tasks: nothing is packed between them.
  mlir::OwningOpRef<mlir::ModuleOp> joined;
  Part whole;
  std::vector<Task> allTasks;
  std::vector<unsigned> inputNumbers, outputNumbers;
  std::vector<State> kept;
  size_t tensors = 0, regions = 0;
};

/// A function's arguments or results by their names. What @main of a network on
/// reals keeps from frame to frame is left out of its arguments.
std::vector<HostModel::Value> valuesOf(mlir::func::FuncOp func, bool results);
} // namespace rhizome::model
