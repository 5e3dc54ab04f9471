// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The semantics of `osa` and of loops (`linalg` on tensors, in any number
// format), executable: plain and simple, one operation after the
// other. Everything else that computes a model or a kernel (CPU path, RTL) is
// tested against it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace rhizome {
/// Called with every operation that was evaluated and its result.
using ProbeFn = std::function<void(mlir::Operation *op, const Tensor &result)>;

/// Results that did not fit their format, of operations of `num`.
struct OverflowEvent {
  std::vector<mlir::Operation *>
      ops;            ///< the operations, each once, in order of occurrence
  uint64_t count = 0; ///< of all such results
};

/// Evaluates one function repeatedly; its constants are decoded once.
/// The function must outlive the interpreter and must not change.
class Interpreter {
public:
  explicit Interpreter(mlir::func::FuncOp func);
  ~Interpreter();
  Interpreter(Interpreter &&) noexcept;
  Interpreter &operator=(Interpreter &&) noexcept;

  /// One frame. `inputs` are the function's arguments in order: ints for
  /// `!num.int` and integer elements, floats for f32, doubles for f64, patterns
  /// for other reals; a scalar is a tensor of rank 0. Real-level operations of
  /// `osa` are computed one by one with results in float32 (sums inside one
  /// operation in double), integer ones exactly, loops in program
  /// order, each scalar in its own format. `overflow`, if given, gets the
  /// operations of `num` whose results did not fit. Fails with a diagnostic at
  /// the operation's location if an operation is unknown, if a quantizer meets
  /// NaN, or if an integer result leaves its declared range (a bug of ours
  /// upstream). Safe to call from several threads.
  llvm::FailureOr<std::vector<Tensor>>
  run(llvm::ArrayRef<Tensor> inputs, const ProbeFn &probe = nullptr,
      OverflowEvent *overflow = nullptr) const;

private:
  struct Constants;
  mlir::func::FuncOp func;
  std::unique_ptr<Constants> constants;
};

/// True for operations that the interpreter supports and the host computes:
/// `osa` on reals, and loops of linalg with their auxiliary operations. Does
/// not check a loop's body.
bool isHostOperation(mlir::Operation *op);
/// True for operations on scalars that a loop's body may contain.
bool isHostScalar(mlir::Operation *op);

/// Evaluates `func` once. See `Interpreter::run`.
llvm::FailureOr<std::vector<Tensor>>
interpret(mlir::func::FuncOp func, llvm::ArrayRef<Tensor> inputs,
          const ProbeFn &probe = nullptr, OverflowEvent *overflow = nullptr);
} // namespace rhizome
