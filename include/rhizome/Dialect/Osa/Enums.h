// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only the enumerations of the `osa` dialect, for code that
// needs no operations.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include "rhizome/Dialect/Osa/OsaEnums.h.inc"
