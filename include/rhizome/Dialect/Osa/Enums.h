// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `osa` dialect's enumerations alone, for those who compute with them and
// need no operations.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include "rhizome/Dialect/Osa/OsaEnums.h.inc"
