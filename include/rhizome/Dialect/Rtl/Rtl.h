// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ interface of the `rtl` dialect.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "rhizome/Dialect/Rtl/RtlDialect.h.inc"

#include "rhizome/Dialect/Rtl/RtlEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "rhizome/Dialect/Rtl/RtlAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Rtl/RtlTypes.h.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Rtl/RtlOps.h.inc"
