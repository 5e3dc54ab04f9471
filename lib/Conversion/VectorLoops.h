// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops on buffers as vector code, a step of the CPU path (Jit.cpp).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome {
/// Registers of a processor's vector unit.
struct VectorUnit {
  unsigned bits = 128, registers = 16;
};

/// Every buffer of a vectorised function has so many bytes behind its end that
/// may be read: lanes beyond a row's end are computed and never stored.
constexpr int64_t kReadableBytes = 256;

/// Writes the linalg operations of `func`, which work on memrefs, as vector
/// loops where their subscripts allow it; the others stay. What starts a sum
/// and what reads nothing but a result is computed in registers with it.
/// `constants` are the bytes behind the arguments from `firstConstant` on;
/// weights are repacked there.
void vectoriseLoops(mlir::func::FuncOp func, const VectorUnit &unit,
                    unsigned firstConstant,
                    std::vector<std::vector<char>> &constants);
} // namespace rhizome
