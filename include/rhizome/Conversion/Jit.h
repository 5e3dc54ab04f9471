// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU path: a function of the network or of the host becomes machine code
// for this host, through linalg and LLVM. It is the fast golden model,
// independent of the interpreter.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"

namespace rhizome {
/// One function, compiled. It keeps its own copies of the
/// constants; the function may go away.
class CompiledFunction {
public:
  /// Compiles `func`, whose arguments and results are `!num.int`, f32 or i64;
  /// the original stays as it is. Loads dialects into the function's context, hence not to be called
  /// from inside a pass. Fails with a diagnostic.
  static llvm::FailureOr<std::unique_ptr<CompiledFunction>>
  compile(mlir::func::FuncOp func);
  ~CompiledFunction();

  /// One frame. Fails if the inputs' number, shapes or ranges are not those of
  /// the function. Safe to call from several threads at once.
  llvm::Expected<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> inputs) const;

private:
  CompiledFunction();
  struct State;
  std::unique_ptr<State> state;
};
} // namespace rhizome
