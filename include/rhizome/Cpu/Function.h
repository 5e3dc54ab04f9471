// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of networks and of the host as machine code, through linalg and
// LLVM: in this process for this host, or as an object file. This is the
// fast golden model, independent of the interpreter.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"

namespace rhizome::host {
struct Check;
} // namespace rhizome::host

namespace rhizome {
/// Loads all dialects that functions consist of on their way to machine code.
/// Whoever compiles in several threads does this before: a context takes no
/// dialect while another thread works in it.
void loadCpuDialects(mlir::MLIRContext &context);

/// What LLVM's optimizations may cost. Loops are vectorized before them: code
/// that runs a few times is there sooner without, and hardly slower.
enum class Effort { Thorough, Quick };

/// One function, compiled. It keeps its own copies of the constants; the
/// function may be deleted.
class CompiledFunction {
public:
  /// Compiles `func`, whose arguments and results are `!num.int`, f32 or i64;
  /// the original is not changed. It may call other functions of its module,
  /// each on reals or on integers, if that is all it does. Loads dialects into
  /// the function's context, so it must not be called from inside a pass. Fails
  /// with a diagnostic.
  static llvm::FailureOr<std::unique_ptr<CompiledFunction>>
  compile(mlir::func::FuncOp func, Effort effort = Effort::Thorough);
  ~CompiledFunction();

  /// Computes one frame. Fails if the number, shapes or ranges of the inputs
  /// are not those of the function. Safe to call from several threads at once.
  llvm::Expected<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> inputs) const;

private:
  CompiledFunction();
  struct State;
  std::unique_ptr<State> state;
};

/// An object file that contains each of `functions` under its own name, as
///   void NAME(void **buffers)
/// that takes its inputs, then its results: dense arrays, row-major, of float,
/// or int64_t, or of the integers that `Storage` chooses for a `!num.int`.
/// Constants are in the object; temporaries are allocated in each call, which
/// may come from several threads. `cpu` is "native" or one of LLVM's names.
/// The only external symbols are those of C and libm. Fails with a diagnostic.
/// `checks` gets what each requires of the integers that it computes; if it is
/// anything, an int64_t[3] follows the results, which the caller clears: the
/// number of the first check that did not hold, from 1, the value and the
/// element.
llvm::FailureOr<std::string>
compileFunctions(llvm::ArrayRef<mlir::func::FuncOp> functions,
                 llvm::StringRef cpu,
                 std::vector<std::vector<host::Check>> *checks = nullptr);
} // namespace rhizome
