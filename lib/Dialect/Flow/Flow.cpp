// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Dialect/Flow/Flow.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
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

/// The unit that an actor describes; reports what its config has wrong.
static FailureOr<unit::Instance> unitOf(ActorOp op) {
  const unit::Kind *kind = unit::find(op.getKind());
  if (!kind)
    return op.emitOpError("C2: there is no unit of the kind '")
           << op.getKind() << "'";
  unit::Instance instance(*kind);
  for (NamedAttribute attr : op.getConfig()) {
    StringRef name = attr.getName();
    auto isNamed = [&](const auto &known) { return name == known.name; };
    if (kind->indexOf(name)) {
      auto value = dyn_cast<IntegerAttr>(attr.getValue());
      if (!value)
        return op.emitOpError("C3: parameter '")
               << name << "' is not an integer";
      instance.set(name, value.getInt());
    } else if (llvm::any_of(kind->files, isNamed) ||
               (kind->isGenerated() && name == "module")) {
      auto value = dyn_cast<StringAttr>(attr.getValue());
      if (!value)
        return op.emitOpError("C3: file '") << name << "' is not a string";
      if (name != "module")
        instance.files.push_back({name.str(), value.str()});
    } else {
      return op.emitOpError("C3: '")
             << op.getKind() << "' has no parameter or file '" << name << "'";
    }
  }
  if (!op.getDepths().empty())
    instance.set("Depth", op.getDepths()[0]);
  else if (!instance.params.has("Depth"))
    instance.set("Depth", 4);
  return instance;
}

unit::Instance ActorOp::getUnit() {
  FailureOr<unit::Instance> instance = unitOf(*this);
  assert(succeeded(instance) && "the actor has been verified");
  return *instance;
}

/// C4: streams against ports of one direction.
static LogicalResult verifyStreams(ActorOp op, const unit::Instance &unit,
                                   bool isInput, TypeRange types) {
  const int64_t *values = unit.params.data();
  size_t next = 0;
  for (const unit::Port &port : unit.kind().ports) {
    if (port.protocol != unit::Protocol::Stream || port.isInput != isInput)
      continue;
    for (int64_t k = 0; k < port.count(values); ++k, ++next) {
      if (next == types.size())
        break;
      auto stream = dyn_cast<StreamType>(types[next]);
      if (!stream || stream.bits() != port.width(values))
        return op.emitOpError("C4: port '")
               << port.name << "' of '" << unit.kind().name << "' has "
               << port.width(values) << " bits (" << port.widthText << "), not "
               << types[next];
    }
  }
  int64_t ports = 0;
  for (const unit::Port &port : unit.kind().ports)
    if (port.protocol == unit::Protocol::Stream && port.isInput == isInput)
      ports += port.count(values);
  if (ports != int64_t(types.size()))
    return op.emitOpError("C4: '") << unit.kind().name << "' has " << ports
                                   << (isInput ? " input" : " output")
                                   << " streams, not " << types.size();
  return success();
}

LogicalResult ActorOp::verify() {
  if (getDepths().size() != getNumResults())
    return emitOpError("C1: needs one depth per result");
  FailureOr<unit::Instance> unit = unitOf(*this);
  if (failed(unit))
    return failure();
  if (std::optional<std::string> problem = unit::check(*unit))
    return emitOpError("C3: ") << *problem;
  if (failed(verifyStreams(*this, *unit, true, getInputs().getTypes())) ||
      failed(verifyStreams(*this, *unit, false, getOutputs().getTypes())))
    return failure();
  if (unit->kind().isGenerated() && getGates().empty())
    return emitOpError(
        "C5: needs gates, the datapath of its kind is generated");
  if (!unit->kind().isGenerated() && !getGates().empty())
    return emitOpError("C5: takes no gates, its kind is a module of a library");
  return success();
}
