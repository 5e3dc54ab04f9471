// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units side by side. All have the same control and see the same handshakes, so
// that they are always in step and the first one's signals are everyone's.
#include "rhizome/Generator/Loops/KernelUnit.h"

using namespace mlir;

namespace rhizome::gen::loops {
rtl::ModuleOp addLanes(KernelUnit &unit, int64_t lanes, StringRef name,
                       OpBuilder &b) {
  rtl::ModuleOp inner = unit.module;
  Location loc = inner.getLoc();
  ArrayAttr ins = inner.getInputNames(), outs = inner.getOutputNames();
  auto top = rtl::ModuleOp::create(b, loc, name, ins, outs, StringAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&top.getBody());
  auto isEach = [&](StringRef port) {
    if (!port.ends_with("_tdata"))
      return false;
    for (const UnitStream &stream : unit.inStreams)
      if (stream.isOnce && port == stream.name + "_tdata")
        return false;
    return true;
  };
  auto bits = [](Value v) {
    return int64_t(v.getType().getIntOrFloatBitWidth());
  };
  Block &lane = inner.getBody().front();
  for (auto [argument, attribute] : llvm::zip_equal(lane.getArguments(), ins)) {
    const int64_t n =
        isEach(cast<StringAttr>(attribute).getValue()) ? lanes : 1;
    body->addArgument(b.getIntegerType(unsigned(n * bits(argument))), loc);
  }
  Operation *results = lane.getTerminator();
  std::vector<SmallVector<Value>> parts(results->getNumOperands());
  for (int64_t l = 0; l < lanes; ++l) {
    SmallVector<Value> operands;
    for (Value given : body->getArguments())
      operands.push_back(given);
    for (auto [operand, argument] :
         llvm::zip_equal(operands, lane.getArguments()))
      if (operand.getType() != argument.getType())
        operand = rtl::ExtractOp::create(b, loc, argument.getType(), operand,
                                         l * bits(argument));
    auto instance =
        rtl::InstanceOp::create(b, loc, results->getOperandTypes(), operands,
                                b.getStringAttr("lane" + std::to_string(l)),
                                b.getStringAttr(inner.getSymName()),
                                b.getDictionaryAttr({}), ins, outs);
    for (auto [to, v] : llvm::zip_equal(parts, instance.getOutputs()))
      to.push_back(v);
  }
  SmallVector<Value> outputs;
  for (auto [part, attribute] : llvm::zip_equal(parts, outs)) {
    const bool isWide = isEach(cast<StringAttr>(attribute).getValue());
    if (!isWide || lanes == 1) {
      outputs.push_back(part.front());
      continue;
    }
    outputs.push_back(rtl::ConcatOp::create(
        b, loc, b.getIntegerType(unsigned(lanes * bits(part.front()))), part));
  }
  rtl::OutputOp::create(b, loc, outputs);
  return top;
}
} // namespace rhizome::gen::loops
