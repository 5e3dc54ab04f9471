// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flow` dialect's registration and verifiers. Each message begins with the
// number of the constraint in Flow.td that it reports.
#include "rhizome/Dialect/Flow/Flow.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::flow;

#include "rhizome/Dialect/Flow/FlowDialect.cpp.inc"

#include "rhizome/Dialect/Flow/FlowEnums.cpp.inc"

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
                                 rhizome::num::IntType element, int64_t lanes,
                                 int64_t row, int64_t count, Order) {
  if (lanes < 1 || row < 1 || count < 1 || count % row)
    return emitError() << "C1: lanes = " << lanes << ", row = " << row
                       << ", count = " << count
                       << " must be positive, and row must divide count";
  if (lanes > IntegerType::kMaxWidth / element.getWidth())
    return emitError() << "C2: a beat of " << lanes << " elements of "
                       << element << " is wider than " << IntegerType::kMaxWidth
                       << " bits";
  return success();
}

LogicalResult DesignOp::verifyRegions() {
  if (!(getClockMhz().convertToDouble() > 0) || !getClockMhz().isFinite())
    return emitOpError("C5: the clock must be positive and finite");
  llvm::StringMap<ActorOp> names;
  llvm::DenseMap<int64_t, ActorOp> ports[2];
  for (Operation &op : getBody().front()) {
    auto actor = dyn_cast<ActorOp>(op);
    if (!actor)
      return op.emitOpError("C2: is no actor");
    if (auto [other, fresh] = names.try_emplace(actor.getName(), actor); !fresh)
      return (actor.emitOpError("C1: a second actor is called '")
              << actor.getName() << "'")
                 .attachNote(other->second.getLoc())
             << "the first";
    for (Value stream : actor.getOutputs())
      if (!stream.hasOneUse())
        return actor.emitOpError("C3: a stream has ")
               << llvm::range_size(stream.getUses())
               << " readers; a fork makes more";
    bool enters = actor.getInputs().empty();
    if (!enters && !actor.getOutputs().empty())
      continue;
    auto port = actor->getAttrOfType<IntegerAttr>("rhizome.port");
    if (!port || port.getInt() < 0)
      return actor.emitOpError("C4: stands at the border without the number of "
                               "its port, rhizome.port");
    if (auto [other, fresh] = ports[enters].try_emplace(port.getInt(), actor);
        !fresh)
      return (actor.emitOpError("C4: a second actor is port ") << port.getInt())
                 .attachNote(other->second.getLoc())
             << "the first";
  }
  return success();
}

LogicalResult ActorOp::verify() {
  if (getDepths().size() != getNumResults())
    return emitOpError("C1: needs one depth per result");
  for (int64_t depth : getDepths())
    if (depth < 0)
      return emitOpError("C2: the depth ") << depth << " is negative";
  if (getNumResults() > 1) {
    if (getInputs().size() != 1)
      return emitOpError("C3: gives several streams of ")
             << getInputs().size() << " inputs";
    for (Type type : getResultTypes())
      if (type != getInputs()[0].getType())
        return emitOpError("C3: copies ")
               << getInputs()[0].getType() << " to " << type;
  }
  for (NamedAttribute parameter : getConfig())
    if (auto number = dyn_cast<IntegerAttr>(parameter.getValue());
        !isa<StringAttr>(parameter.getValue()) &&
        !(number && number.getType().isSignlessInteger(64)))
      return emitOpError("C4: the parameter ")
             << parameter.getName() << " is neither an i64 nor a string";
  if (getGates().empty())
    return success();
  if (getInputs().size() != 1 || getNumResults() != 1)
    return emitOpError("C5: has gates, but not one input and one output");
  auto beat = [&](Value stream) {
    return IntegerType::get(
        getContext(), unsigned(cast<StreamType>(stream.getType()).bits()));
  };
  Block &gates = getGates().front();
  if (gates.getArgumentTypes() !=
      ArrayRef<Type>{IntegerType::get(getContext(), 1), beat(getInputs()[0])})
    return emitOpError("C5: the gates don't take the clock and a beat of ")
           << beat(getInputs()[0]);
  Operation *end = gates.empty() ? nullptr : &gates.back();
  if (!end || !end->hasTrait<OpTrait::IsTerminator>() ||
      end->getOperandTypes() != ArrayRef<Type>{beat(getOutputs()[0])})
    return emitOpError("C5: the gates don't give a beat of ")
           << beat(getOutputs()[0]);
  return success();
}
