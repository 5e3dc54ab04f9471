// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An integer model in memory, executable on the host: prologue, network,
// epilogue.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Conversion/Jit.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>

namespace rhizome::pipeline {
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
  /// Takes over a module with @prologue, @network and @epilogue.
  static llvm::Expected<std::unique_ptr<HostModel>>
  create(std::unique_ptr<mlir::MLIRContext> context,
         mlir::OwningOpRef<mlir::ModuleOp> module);

  struct Value {
    std::string name; ///< rhizome.name
    std::vector<int64_t> shape;
    bool isFloat = true;
    bool isWhole = false; ///< whole numbers in the file, if also as reals
    bool isPlain = false; ///< 8-bit values of a file are no pixels
    int64_t lo = INT64_MIN, hi = INT64_MAX; ///< of integers
  };
  const std::vector<Value> &inputs() const { return graphInputs; }
  const std::vector<Value> &outputs() const { return graphOutputs; }
  mlir::func::FuncOp network() const { return theNetwork.function; }
  mlir::func::FuncOp prologuePart() const { return prologue.function; }
  /// False if the prologue computes more than the border's conversions.
  bool isPrologueLight() const { return !prologue.isHeavy; }
  /// The network's `hostPorts`.
  const std::vector<BorderPort> &networkInputs() const { return inputPorts; }
  const std::vector<BorderPort> &networkOutputs() const { return outputPorts; }
  /// A function of the model, e.g. a node's; null if there is none.
  mlir::func::FuncOp function(llvm::StringRef name) const;

  /// What a frame's prologue gives: the network's inputs, and what the
  /// epilogue takes behind the network's outputs.
  struct Prepared {
    std::vector<Tensor> inputs, carried;
  };
  size_t carriedCount() const { return carried; }

  // One frame each; safe from several threads. Prologue and epilogue run as
  // machine code where they compute more than the border's conversions, or
  // often.
  llvm::Expected<Prepared> runPrologue(llvm::ArrayRef<Tensor> in) const;
  llvm::Expected<std::vector<Tensor>>
  runNetwork(llvm::ArrayRef<Tensor> in, const ProbeFn &probe = nullptr) const;
  llvm::Expected<std::vector<Tensor>>
  runEpilogue(llvm::ArrayRef<Tensor> outputs,
              llvm::ArrayRef<Tensor> carried) const;

  /// The network on the CPU path.
  llvm::Expected<std::vector<Tensor>>
  runCompiledNetwork(llvm::ArrayRef<Tensor> in) const;

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
  llvm::Expected<std::vector<Tensor>> run(const Part &part,
                                          llvm::ArrayRef<Tensor> in) const;
  llvm::Expected<std::vector<Tensor>>
  runCompiled(const Part &part, llvm::ArrayRef<Tensor> in) const;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<DiagnosticText> diagnostics;
  std::vector<Value> graphInputs, graphOutputs;
  std::vector<BorderPort> inputPorts, outputPorts;
  Part prologue, theNetwork, epilogue;
  size_t carried = 0;
};

/// A function's arguments or results by their names.
std::vector<HostModel::Value> valuesOf(mlir::func::FuncOp func, bool results);
} // namespace rhizome::pipeline
