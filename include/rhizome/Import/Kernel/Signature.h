// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel is called: its arrays with their layouts, in the order in which
// the caller passes them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Import/Kernel/Program.h"
#include "llvm/Support/Error.h"

namespace rhizome::kernel {
/// One array that the caller passes.
struct Argument {
  std::string name;
  std::vector<int64_t> shape;   ///< with halo, without element dimension
  std::vector<int64_t> strides; ///< of the declared layout, in elements
  unsigned bits = 64;
  bool isInput = false, isOutput = false, columnMajor = false;
  ElementDim element = ElementDim::None;

  int64_t size() const;
};

/// How a kernel is called.
struct Signature {
  std::string name;
  std::vector<Argument> arguments; ///< inputs, then outputs that are not inputs
  int64_t elements = 0;            ///< of its elem loop, 0 without one
};

/// The signature of a kernel; fails if it has arguments or results other than
/// tensors of f32 or f64 with fixed extents, at most eight dimensions each.
llvm::Expected<Signature> signatureOf(mlir::func::FuncOp kernel);
} // namespace rhizome::kernel
