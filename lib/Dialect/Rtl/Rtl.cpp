// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rtl` dialect's registration and verifiers. Each message begins with the
// number of the constraint in Rtl.td that it reports.
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome::rtl;

#include "rhizome/Dialect/Rtl/RtlDialect.cpp.inc"

#include "rhizome/Dialect/Rtl/RtlEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "rhizome/Dialect/Rtl/RtlAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Rtl/RtlTypes.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Rtl/RtlOps.cpp.inc"

void RtlDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Rtl/RtlOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "rhizome/Dialect/Rtl/RtlTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "rhizome/Dialect/Rtl/RtlAttributes.cpp.inc"
      >();
}

Operation *RtlDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || number.getType() != type || !type.isSignlessInteger())
    return nullptr;
  return ConstantOp::create(builder, loc, type, number.getValue());
}

LogicalResult rhizome::rtl::MemoryType::verify(
    llvm::function_ref<InFlightDiagnostic()> emitError, int64_t depth,
    IntegerType word) {
  if (depth < 1 || !word.isSignless() || word.getWidth() == 0)
    return emitError() << "C1: a memory of " << depth << " words of " << word
                       << " holds nothing";
  return success();
}

unsigned rhizome::rtl::MemoryType::addressBits() {
  return std::max(1u, llvm::Log2_64_Ceil(uint64_t(getDepth())));
}

static unsigned widthOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

/// True if `width` bits can hold the value, signed or unsigned.
static bool fits(int64_t value, unsigned width) {
  return width >= 64 || llvm::isIntN(width, value) ||
         (value >= 0 && llvm::isUIntN(width, uint64_t(value)));
}

/// A name that occurs twice in the lists, or is empty; none if there is none.
static std::optional<StringRef> badName(ArrayAttr inputs, ArrayAttr outputs) {
  llvm::StringSet<> names;
  for (ArrayAttr list : {inputs, outputs})
    for (StringAttr name : list.getAsRange<StringAttr>())
      if (name.empty() || !names.insert(name).second)
        return name.getValue();
  return std::nullopt;
}

LogicalResult rhizome::rtl::ModuleOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputNames().size())
    return emitOpError("C1: needs one name per input");
  for (Type type : body.getArgumentTypes())
    if (!type.isSignlessInteger() || type.isSignlessInteger(0))
      return emitOpError("C1: an input is of ") << type << ", no signal";
  auto output = body.empty() ? OutputOp() : dyn_cast<OutputOp>(body.back());
  if (!output || output.getNumOperands() != getOutputNames().size())
    return emitOpError(
        "C2: needs an rtl.output with one value per output name");
  if (auto name = badName(getInputNames(), getOutputNames()))
    return emitOpError("C3: two ports are called '")
           << *name << "', or one has no name";
  return success();
}

LogicalResult FileOp::verify() {
  StringRef name = getName();
  if (name.empty() || name.contains('/') || name == "." || name == ".." ||
      getText().empty())
    return emitOpError("C1: needs the name of a file, without folders, and a "
                       "text");
  return success();
}

LogicalResult InstanceOp::verify() {
  if (getInputs().size() != getInputNames().size() ||
      getOutputs().size() != getOutputNames().size())
    return emitOpError("C1: needs one port name per operand and per result");
  if (auto name = badName(getInputNames(), getOutputNames()))
    return emitOpError("C2: the port '") << *name << "' is connected twice, or "
                                         << "has no name";
  for (NamedAttribute parameter : getParameters())
    if (auto number = dyn_cast<IntegerAttr>(parameter.getValue());
        !isa<StringAttr>(parameter.getValue()) &&
        !(number && number.getType().isSignlessInteger(64)))
      return emitOpError("C3: the parameter ")
             << parameter.getName() << " is neither an i64 nor a string";
  return success();
}

/// The ports of one direction, each with its signal's type.
static LogicalResult checkPorts(InstanceOp op, rhizome::rtl::ModuleOp callee,
                                StringRef direction, ArrayAttr names,
                                TypeRange types, ArrayAttr ports,
                                TypeRange portTypes) {
  auto refuse = [&](const Twine &what) {
    InFlightDiagnostic diag = op.emitOpError("C4: ") << what;
    diag.attachNote(callee.getLoc()) << "module defined here";
    return diag;
  };
  llvm::StringMap<Type> known;
  for (auto [port, type] :
       llvm::zip_equal(ports.getAsRange<StringAttr>(), portTypes))
    known[port] = type;
  for (auto [name, type] :
       llvm::zip_equal(names.getAsRange<StringAttr>(), types)) {
    auto port = known.find(name);
    if (port == known.end())
      return refuse("the module has no " + direction + " '" + name.getValue() +
                    "'");
    if (port->second != type)
      return refuse("the " + direction + " '" + name.getValue() + "' has " +
                    Twine(port->second.getIntOrFloatBitWidth()) +
                    " bits, its signal " + Twine(type.getIntOrFloatBitWidth()));
    known.erase(port);
  }
  if (known.empty())
    return success();
  for (StringAttr port : ports.getAsRange<StringAttr>())
    if (known.count(port))
      return refuse("the " + direction + " '" + port.getValue() +
                    "' is not connected");
  return success();
}

LogicalResult InstanceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<rhizome::rtl::ModuleOp>(
      *this, getCalleeAttr());
  if (!callee)
    return success();
  // The callee may not be verified yet.
  Block &body = callee.getBody().front();
  auto output = body.empty() ? OutputOp() : dyn_cast<OutputOp>(body.back());
  if (!output || body.getNumArguments() != callee.getInputNames().size() ||
      output.getNumOperands() != callee.getOutputNames().size())
    return success();
  if (!getParameters().empty())
    return emitOpError("C4: gives parameters to a module that has none");
  if (failed(checkPorts(*this, callee, "input", getInputNames(),
                        getInputs().getTypes(), callee.getInputNames(),
                        body.getArgumentTypes())))
    return failure();
  return checkPorts(*this, callee, "output", getOutputNames(),
                    getOutputs().getTypes(), callee.getOutputNames(),
                    output.getOperandTypes());
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, Type type,
                       const llvm::APInt &value) {
  build(builder, state, type, IntegerAttr::get(type, value));
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, Type type,
                       int64_t value) {
  build(builder, state, type,
        llvm::APInt(type.getIntOrFloatBitWidth(), uint64_t(value),
                    /*isSigned=*/true, /*implicitTrunc=*/true));
}

void RegisterOp::build(OpBuilder &builder, OperationState &state, Value clock,
                       Value input) {
  build(builder, state, input.getType(), clock, input, Value(), Value(),
        IntegerAttr());
}

LogicalResult RegisterOp::verify() {
  IntegerAttr value = getResetValueAttr();
  if (bool(getReset()) != bool(value) ||
      (value && value.getType() != getResult().getType()))
    return emitOpError("C1: a reset needs a value of ")
           << getResult().getType() << ", and a value a reset";
  return success();
}

LogicalResult MemoryOp::verify() {
  rhizome::rtl::MemoryType type = getMemory().getType();
  if (auto initial = getInitial()) {
    auto values = dyn_cast<DenseIntElementsAttr>(*initial);
    if (!values || values.getType().getShape() != ArrayRef(type.getDepth()) ||
        values.getElementType() != type.getWord())
      return emitOpError("C1: its contents are not ")
             << type.getDepth() << " words of " << type.getWord();
  }
  Value clock;
  for (Operation *port : getMemory().getUsers()) {
    auto read = dyn_cast<ReadOp>(port);
    auto write = dyn_cast<WriteOp>(port);
    Value own = read ? read.getClock() : write ? write.getClock() : clock;
    if (clock && own != clock)
      return emitOpError("C2: its ports have different clocks");
    clock = own;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  uint64_t sum = 0;
  for (Value in : getInputs())
    sum += widthOf(in);
  if (getInputs().empty() || sum != widthOf(getResult()))
    return emitOpError("C1: joins ")
           << sum << " bits to " << widthOf(getResult());
  return success();
}

LogicalResult ExtractOp::verify() {
  uint64_t low = getLow(), have = widthOf(getInput());
  if (low >= have || widthOf(getResult()) > have - low)
    return emitOpError("C1: ") << widthOf(getResult()) << " bits from "
                               << int64_t(low) << " on are not within " << have;
  return success();
}

LogicalResult SignExtendOp::verify() {
  if (widthOf(getResult()) < widthOf(getInput()))
    return emitOpError("C1: gives fewer bits than it takes");
  return success();
}

LogicalResult AtLeastOp::verify() {
  auto bound = int64_t(getBound());
  unsigned width = widthOf(getInput());
  if (getIsSigned()
          ? width < 64 && !llvm::isIntN(width, bound)
          : bound < 0 || (width < 64 && !llvm::isUIntN(width, uint64_t(bound))))
    return emitOpError("C1: the input can't have the value ") << bound;
  return success();
}

LogicalResult LookupOp::verify() {
  unsigned bits = widthOf(getIndex());
  if (bits > 12 || getValues().size() != size_t(1) << bits)
    return emitOpError("C1: needs 2^N values for an index of N bits, N <= 12");
  unsigned width = widthOf(getResult());
  for (int64_t value : getValues())
    if (width > 64 || !fits(value, width))
      return emitOpError("C2: the entry ")
             << value << " does not fit " << width << " bits, or these are "
             << "more than 64";
  return success();
}
