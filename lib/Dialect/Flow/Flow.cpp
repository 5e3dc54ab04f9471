// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Dialect/Flow/Flow.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome::flow;

#include "rhizome/Dialect/Flow/FlowDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Flow/FlowTypes.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Flow/FlowOps.cpp.inc"

void FlowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "rhizome/Dialect/Flow/FlowTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Flow/FlowOps.cpp.inc"
      >();
}

LogicalResult StreamType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 rhizome::num::IntType, int64_t lanes,
                                 int64_t row, int64_t count, StringRef) {
  if (lanes < 1 || row < 1 || count < 1 || count % row)
    return emitError() << "C1: lanes = " << lanes << ", row = " << row
                       << ", count = " << count
                       << " must be positive, and row must divide count";
  return success();
}

LogicalResult ActorOp::verify() {
  if (getDepths().size() != getNumResults())
    return emitOpError("C1: needs one depth per result");
  return success();
}
