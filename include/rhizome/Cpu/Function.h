// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of networks and of the host as machine code, through linalg and
// LLVM: for this host and in this process, or as an object file. It is the
// fast golden model, independent of the interpreter.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"

namespace rhizome {
/// Loads all dialects that functions consist of on their way to machine code.
/// Whoever compiles in several threads does this before: a context takes no
/// dialect while another thread works in it.
void loadCpuDialects(mlir::MLIRContext &context);

/// One function, compiled. It keeps its own copies of the constants; the
/// function may go away.
class CompiledFunction {
public:
  /// Compiles `func`, whose arguments and results are `!num.int`, f32 or i64;
  /// the original stays as it is. It may be one that only calls others of its
  /// module, one after the other, real or integer each. Loads dialects into the
  /// function's context, hence not to be called from inside a pass. Fails with
  /// a diagnostic.
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

/// An object file in which each of `functions` is, under its own name, a
///   void NAME(void **buffers)
/// that takes its inputs, then its results: dense arrays, row-major, of float,
/// of int64_t, or of the integers that `Storage` chooses for a `!num.int`.
/// Constants are in the object; temporaries are allocated in each call, which
/// may come from several threads. `cpu` is "native" or one of LLVM's names.
/// Symbols other than C's are those of libm. Fails with a diagnostic.
llvm::FailureOr<std::string>
compileFunctions(llvm::ArrayRef<mlir::func::FuncOp> functions,
                 llvm::StringRef cpu);
} // namespace rhizome
