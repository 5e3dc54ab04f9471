// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the operations that describe a plan. Each message begins with
// the number of the constraint in Plan.td that it reports.
#include "rhizome/Dialect/Flow/Plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::flow;

#include "rhizome/Dialect/Flow/PlanEnums.cpp.inc"

/// A number of 64 bits without its type.
static ParseResult parseCount(OpAsmParser &parser, IntegerAttr &count) {
  int64_t value = 0;
  if (parser.parseInteger(value))
    return failure();
  count = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}
static void printCount(OpAsmPrinter &printer, Operation *, IntegerAttr count) {
  printer << count.getInt();
}

#define GET_OP_CLASSES
#include "rhizome/Dialect/Flow/PlanOps.cpp.inc"

LogicalResult PlanOp::verifyRegions() {
  llvm::DenseMap<int64_t, NodeOp> holders;
  std::vector<int64_t> positions;
  for (Operation &op : getBody().front()) {
    auto node = dyn_cast<NodeOp>(op);
    if (!node && !isa<SplitOp, RepeatOp, AlternativeOp>(op))
      return op.emitOpError("C1: is no part of a plan");
    if (!node)
      continue;
    for (int64_t place : node.getPlaces())
      if (auto [other, isNew] = holders.try_emplace(place, node); !isNew)
        return (node.emitOpError("C2: place ")
                << place << " belongs to another node too")
                   .attachNote(other->second.getLoc())
               << "the other node";
    for (auto choice : node.getBody().getOps<ChoiceOp>())
      positions.push_back(choice.getPosition());
  }
  if (holders.empty())
    return emitOpError("C1: has no node");
  llvm::sort(positions);
  for (auto [i, position] : llvm::enumerate(positions))
    if (position != int64_t(i))
      return emitOpError("C3: the choices' positions are not the numbers from "
                         "0 to ")
             << positions.size() - 1;
  for (APFloat time :
       {getSeconds(), getSolvedSeconds(), getLatency(), getBound()})
    if (!(time.convertToDouble() > 0))
      return emitOpError("C4: a time is not positive");
  return success();
}

LogicalResult SplitOp::verify() {
  if (getPartsAttr().getInt() < 2 || getNthAttr().getInt() < 0)
    return emitOpError("C1: the ")
           << getNthAttr().getInt() << "th operation in "
           << getPartsAttr().getInt() << " parts is none that is shared out";
  return success();
}

LogicalResult RepeatOp::verify() {
  if (getTripsAttr().getInt() < 2 || getLengthAttr().getInt() < 1 ||
      getNthAttr().getInt() < 0)
    return emitOpError("C1: ")
           << getTripsAttr().getInt() << " trips of "
           << getLengthAttr().getInt() << " operations from the "
           << getNthAttr().getInt() << "th on are no repeated block";
  return success();
}

template <typename OpTy> static LogicalResult verifyBorder(OpTy op) {
  if (op.getTripsAttr().getInt() < 2)
    return op.emitOpError("C1: has ")
           << op.getTripsAttr().getInt() << " trips, fewer than two";
  auto from = op.getInput().getType(), to = op.getOutput().getType();
  num::IntType in = num::elementInt(from), out = num::elementInt(to);
  if (!in || !out || from.getShape() != to.getShape() ||
      in.getWidth() != out.getWidth() || in.getIsSigned() != out.getIsSigned())
    return op.emitOpError("C2: takes ") << from << " and gives " << to;
  return success();
}

LogicalResult EnterOp::verify() { return verifyBorder(*this); }
LogicalResult LeaveOp::verify() { return verifyBorder(*this); }

LogicalResult NodeOp::verify() {
  if (getPlaces().empty() ||
      llvm::any_of(getPlaces(), [](int64_t p) { return p < 0; }) ||
      getStreamBitsAttr().getInt() < 1)
    return emitOpError("C1: needs places, none negative, and streams of one "
                       "bit or more");
  const bool built[] = {
      bool(getFunctionAttr()),       bool(getDesignAttr()),
      bool(getIntervalCyclesAttr()), bool(getLatencyCyclesAttr()),
      bool(getResourcesAttr()),      bool(getEndpointAttr()),
      bool(getErrorsAttr()),         bool(getBottleneckAttr())};
  if (!llvm::all_equal(built))
    return emitOpError("C3: says a part only of what was built");
  if ((getRtl() && !getDesign()) || (getLink() && !getRtl()))
    return emitOpError("C4: has RTL of a design that is not there");
  return success();
}

LogicalResult NodeOp::verifyRegions() {
  bool hasChoice = false;
  for (Operation &op : getBody().front()) {
    hasChoice |= isa<ChoiceOp>(op);
    if (!isa<ChoiceOp, ImageOp>(op))
      return op.emitOpError("C2: is neither a choice nor an image");
  }
  if (!hasChoice)
    return emitOpError("C2: has no choice");
  return success();
}

LogicalResult ChoiceOp::verify() {
  if (llvm::any_of(ArrayRef<IntegerAttr>{getNthAttr(), getBusyCyclesAttr(),
                                         getPositionAttr(), getUnitAttr(),
                                         getDieAttr()},
                   [](IntegerAttr n) { return n.getInt() < 0; }))
    return emitOpError("C1: a number is negative");
  if (getOp().empty() || getGenerator().empty() || getKey().empty())
    return emitOpError("C2: needs an operation, a generator and a key");
  return success();
}

/// Of a word, more than any memory has.
static constexpr int64_t kMostImageBits = 1 << 24;

LogicalResult ImageOp::verify() {
  const int64_t width = std::clamp<int64_t>(getWidthAttr().getInt(), 0,
                                            kMostImageBits + 1),
                depth = getDepthAttr().getInt();
  const int64_t digits = (width + 3) / 4 + 1; // and the line's end
  StringRef hex = getHex();
  auto isLine = [&](StringRef line) {
    return line.back() == '\n' && line.drop_back().find_first_not_of(
                                      "0123456789abcdef") == StringRef::npos;
  };
  bool isGood = width >= 1 && width <= kMostImageBits && depth >= 1 &&
                int64_t(hex.size()) / digits == depth &&
                int64_t(hex.size()) % digits == 0;
  for (int64_t word = 0; isGood && word < depth; ++word)
    isGood = isLine(hex.substr(size_t(word * digits), size_t(digits)));
  if (!isGood)
    return emitOpError("C1: needs ")
           << depth << " lines of " << digits - 1 << " digits";
  return success();
}
