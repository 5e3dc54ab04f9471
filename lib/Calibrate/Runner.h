// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network on reals, run frame by frame with a look at some of its values:
// as machine code where frames take the interpreter long, by the interpreter
// otherwise.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>

namespace rhizome::calibrate {
/// Receives a value of a frame: which of those asked for, and what it holds.
using Look = std::function<void(size_t which, const Tensor &value)>;

class Runner {
public:
  virtual ~Runner() = default;
  virtual bool isCompiled() const = 0;
  /// The function's results for one frame; `look` sees each value that the
  /// runner was made for once. Fails if the network cannot be evaluated on the
  /// frame. Safe from several threads at once.
  virtual llvm::FailureOr<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> frame,
                                                   const Look &look) const = 0;
};

/// Runs `function` for so many frames. Of `values`, those that are no results
/// of operations are left out. Machine code sums in another order than the
/// interpreter, so that reals differ in the least bits of float32; what is
/// exact, such as codes that are summed below 2^24, does not.
std::unique_ptr<Runner> makeRunner(mlir::func::FuncOp function,
                                   llvm::ArrayRef<mlir::Value> values,
                                   size_t frames);
} // namespace rhizome::calibrate
