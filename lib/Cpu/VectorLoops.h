// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops on buffers as vector code, a step from linalg to machine code.
#pragma once

#include "Buffers.h"
#include "Machine.h"

namespace rhizome::cpu {
/// Every temporary and every constant of a vectorized function has so many
/// bytes after its end that may be read: lanes beyond a row's end are computed
/// and never stored. Arguments have none.
constexpr int64_t kReadableBytes = 256;

struct VectorOptions {
  VectorUnit unit;
  /// The first of the arguments that are constants.
  unsigned firstConstant = 0;
  /// Products go into sums unrounded, whatever the operations' flags say.
  bool contracts = false;
};

/// Writes the linalg operations of `func`, which work on memrefs, as vector
/// loops where their subscripts allow it; the others stay. What starts a sum
/// and what reads nothing but a result is computed in registers with it.
/// `constants` are the bytes behind the last arguments; weights are repacked
/// there.
void vectorizeLoops(mlir::func::FuncOp func, const VectorOptions &options,
                    Constants &constants);
} // namespace rhizome::cpu
