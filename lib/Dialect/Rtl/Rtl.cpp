// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace rhizome::rtl;

#include "rhizome/Dialect/Rtl/RtlDialect.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Rtl/RtlOps.cpp.inc"

void RtlDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Rtl/RtlOps.cpp.inc"
      >();
}

LogicalResult rhizome::rtl::ModuleOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputNames().size())
    return emitOpError("needs one name per input");
  auto output = dyn_cast<OutputOp>(body.back());
  if (!output || output.getNumOperands() != getOutputNames().size())
    return emitOpError("needs an rtl.output with one value per output name");
  return success();
}

LogicalResult InstanceOp::verify() {
  if (getInputs().size() != getInputNames().size() ||
      getOutputs().size() != getOutputNames().size())
    return emitOpError("needs one port name per operand and per result");
  return success();
}

LogicalResult SignExtendOp::verify() {
  if (getResult().getType().getIntOrFloatBitWidth() <
      getInput().getType().getIntOrFloatBitWidth())
    return emitOpError("gives fewer bits than it takes");
  return success();
}

LogicalResult LookupOp::verify() {
  unsigned bits = getIndex().getType().getIntOrFloatBitWidth();
  if (bits > 12 || getValues().size() != size_t(1) << bits)
    return emitOpError("C1: needs 2^N values for an index of N bits, N <= 12");
  return success();
}
