// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ interface of the `flow` dialect.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Unit/Unit.h"

#include "rhizome/Dialect/Flow/FlowDialect.h.inc"

#include "rhizome/Dialect/Flow/FlowEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "rhizome/Dialect/Flow/FlowAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Flow/FlowTypes.h.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Flow/FlowOps.h.inc"
