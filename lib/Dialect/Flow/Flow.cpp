// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flow` dialect's registration and verifiers. Each message begins with the
// number of the constraint in Flow.td that it reports.
#include "rhizome/Dialect/Flow/Flow.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::flow;

#include "rhizome/Dialect/Flow/FlowDialect.cpp.inc"

#include "rhizome/Dialect/Flow/FlowEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "rhizome/Dialect/Flow/FlowAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Flow/FlowTypes.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Flow/FlowOps.cpp.inc"

void FlowDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "rhizome/Dialect/Flow/FlowAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "rhizome/Dialect/Flow/FlowTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Flow/FlowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Flow/PlanOps.cpp.inc"
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

LogicalResult MemoryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, int64_t banks,
                                 int64_t bytesPerS, int64_t latencyNs,
                                 int64_t turnaroundNs, int64_t refreshEveryNs,
                                 int64_t refreshNs) {
  bool isNamed = !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
  if (!isNamed || banks < 1 || bytesPerS < 1 || latencyNs < 0 ||
      turnaroundNs < 0 || refreshEveryNs < 0 || refreshNs < 0)
    return emitError() << "C1: a memory needs a name of letters and digits, a "
                          "bank, a rate, and times that are not negative";
  if (refreshNs > 0 && refreshNs >= refreshEveryNs)
    return emitError() << "C2: a refresh of " << refreshNs
                       << " ns is not over when the next one begins, after "
                       << refreshEveryNs << " ns";
  return success();
}

LogicalResult BankAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef memory, int64_t bank,
                               StringRef segment) {
  if (memory.empty() || segment.empty() || bank < 0)
    return emitError() << "C1: needs the names of a memory and of a segment, "
                          "and a bank that is not negative";
  return success();
}

/// C6 … C8: the memories of a design, and their readers.
static LogicalResult verifyMemories(DesignOp design) {
  llvm::StringMap<int64_t> banks;
  if (auto memories = design.getMemories())
    for (auto memory : memories->getAsRange<MemoryAttr>())
      if (!banks.try_emplace(memory.getName(), memory.getBanks()).second)
        return design.emitOpError("C6: two memories are called '")
               << memory.getName() << "'";
  llvm::MapVector<std::pair<StringRef, int64_t>, std::pair<int64_t, ActorOp>>
      widths;
  for (auto actor : design.getBody().getOps<ActorOp>()) {
    unit::Instance unit = actor.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), actor.getBanks())) {
      auto known = banks.find(bank.getMemory());
      if (known == banks.end() || bank.getBank() >= known->second)
        return actor.emitOpError("C7: port '")
               << port->name << "' stands at bank " << bank.getBank() << " of '"
               << bank.getMemory() << "', which the design does not have";
      int64_t bits = unit.bitsOf(*port);
      if (bits < 8 || bits > 1024 || !llvm::isPowerOf2_64(uint64_t(bits)))
        return actor.emitOpError("C8: port '")
               << port->name << "' has " << bits
               << " bits, not a power of two of bytes up to 128";
      auto [other, isNew] = widths.try_emplace(
          {bank.getMemory(), bank.getBank()}, std::pair(bits, actor));
      if (!isNew && other->second.first != bits)
        return (actor.emitOpError("C8: port '")
                << port->name << "' has " << bits
                << " bits, another one at bank " << bank.getBank() << " of '"
                << bank.getMemory() << "' has " << other->second.first)
                   .attachNote(other->second.second.getLoc())
               << "the other one's actor";
    }
  }
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
    if (!actor.getPort())
      continue;
    bool enters = actor.getInputs().empty();
    const auto port = int64_t(*actor.getPort());
    if (auto [other, fresh] = ports[enters].try_emplace(port, actor); !fresh)
      return (actor.emitOpError("C4: a second actor is port ") << port)
                 .attachNote(other->second.getLoc())
             << "the first";
  }
  return verifyMemories(*this);
}

/// The unit that an actor describes; reports errors in its config.
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
      if (!value || !value.getType().isSignlessInteger(64))
        return op.emitOpError("C3: parameter '") << name << "' is not an i64";
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
  else if (kind->indexOf("Depth") && !instance.params.has("Depth"))
    instance.set("Depth", 4);
  return instance;
}

unit::Instance ActorOp::getUnit() {
  FailureOr<unit::Instance> instance = unitOf(*this);
  assert(succeeded(instance) && "the actor has been verified");
  return *instance;
}

SmallVector<BankAttr, 2> ActorOp::getBanks() {
  if (auto memories = getMemories())
    return llvm::to_vector_of<BankAttr, 2>(memories->getAsRange<BankAttr>());
  return {};
}

SmallVector<StringRef, 1> ActorOp::getNodeNames() {
  SmallVector<StringRef, 1> names;
  if (auto nodes = getNodes())
    llvm::append_range(names, nodes->getAsValueRange<StringAttr>());
  return names;
}

/// C10 to C12: where the actor stands.
static LogicalResult verifyPlace(ActorOp op, const unit::Instance &unit) {
  const bool isBorder = llvm::any_of(unit.kind().ports, [](const auto &port) {
    return port.protocol == unit::Protocol::Axis;
  });
  if (isBorder != op.getPort().has_value())
    return op.emitOpError("C10: ")
           << (isBorder ? "stands at the border without the number of its port"
                        : "has a port's number and doesn't stand at the border");
  if (op.getPort() && int64_t(*op.getPort()) < 0)
    return op.emitOpError("C10: its port's number is negative");
  for (std::optional<uint64_t> die : {op.getDie(), op.getFromDie()})
    if (die && int64_t(*die) < 0)
      return op.emitOpError("C11: a die's number is negative");
  if (auto from = op.getFromDie())
    if (!op.getDie() || std::abs(int64_t(*op.getDie()) - int64_t(*from)) != 1)
      return op.emitOpError("C11: from_die is not next to its die");
  if (int64_t(op.getBatch()) < 1)
    return op.emitOpError("C12: its batch has no frame");
  return success();
}

/// C4: streams and ports of one direction.
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
      const int64_t beats = port.beats(unit.valuesOf(port, k).data());
      if (stream.beatsPerFrame() != beats)
        return op.emitOpError("C8: port '")
               << port.name << "' of '" << unit.kind().name << "' takes "
               << beats << " beats a frame (" << port.beatsText << "), not "
               << stream.beatsPerFrame();
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
  if (getDepths().size() != getNumResults() || !llvm::all_equal(getDepths()))
    return emitOpError("C1: needs one depth per result, all equal");
  FailureOr<unit::Instance> unit = unitOf(*this);
  if (failed(unit))
    return failure();
  if (std::optional<std::string> problem = unit::check(*unit))
    return emitOpError("C3: ") << *problem;
  if (failed(verifyStreams(*this, *unit, true, getInputs().getTypes())) ||
      failed(verifyStreams(*this, *unit, false, getOutputs().getTypes())))
    return failure();
  if (failed(verifyPlace(*this, *unit)))
    return failure();
  size_t ports = unit->kind().memoryPorts().size();
  if (getBanks().size() != ports)
    return emitOpError("C9: '")
           << getKind() << "' has " << ports << " memory ports, memories are "
           << getBanks().size();
  if (unit->kind().isGenerated() && getGates().empty())
    return emitOpError(
        "C5: needs gates, the datapath of its kind is generated");
  if (!unit->kind().isGenerated() && !getGates().empty())
    return emitOpError("C5: takes no gates, its kind is a module of a library");
  const bool isOnePort =
      llvm::count_if(unit->kind().ports, [](const unit::Port &port) {
        return port.protocol == unit::Protocol::Stream && !port.isInput;
      }) == 1;
  if (isOnePort && getNumResults() > 1 && getInputs().size() == 1)
    for (Type type : getResultTypes())
      if (type != getInputs()[0].getType())
        return emitOpError(
            "C6: gives several streams that do not copy its only "
            "input");
  if (getGates().empty())
    return success();
  auto beat = [&](Value stream) {
    return IntegerType::get(
        getContext(), unsigned(cast<StreamType>(stream.getType()).bits()));
  };
  Block &gates = getGates().front();
  if (gates.getArgumentTypes() !=
      ArrayRef<Type>{IntegerType::get(getContext(), 1), beat(getInputs()[0])})
    return emitOpError("C7: the gates don't take the clock and a beat of ")
           << beat(getInputs()[0]);
  Operation *end = gates.empty() ? nullptr : &gates.back();
  if (!end || !end->hasTrait<OpTrait::IsTerminator>() ||
      end->getOperandTypes() != ArrayRef<Type>{beat(getOutputs()[0])})
    return emitOpError("C7: the gates don't give a beat of ")
           << beat(getOutputs()[0]);
  return success();
}
