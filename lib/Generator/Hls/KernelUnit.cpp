// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a kernel: phases that take turns. Each input tensor is read
// into its memory, each nest computes from memories into its own, each output
// tensor is written. A phase ends when its last element is in its memory or
// accepted, so that no two phases touch a memory in the same cycle.
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "Unit.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace rhizome::gen::hls {
Turn Unit::write(Value tensor, Value turn) {
  Value issue = both(both(turn, inverse(isIssued)), isAdvancing);
  Walk w = walkOver(tensor, issue);
  read(tensor, 0, turn, w.addresses[0]);
  stores[viewOf(tensor).base].ports[0].read.getEnableMutable().assign(
      either(inverse(turn), isAdvancing));
  isLast = state(1, isAdvancing);
  Value lastIssue = both(issue, w.isLast);
  setNext(isLast, lastIssue);
  issued.push_back(issue);
  return {lastIssue, both(both(outValid, outReady), isLast)};
}

void Unit::build(StringRef name) {
  int64_t inBits = 1, outBits = 1;
  for (Value v : unit.inputs)
    inBits = std::max(inBits, widthOf(v));
  for (Value v : unit.outputs)
    outBits = std::max(outBits, widthOf(v));
  unit.module = rtl::ModuleOp::create(
      b, loc, name,
      b.getStrArrayAttr({"clk_i", "rst_ni", "s_axis_0_tvalid", "s_axis_0_tdata",
                         "s_axis_0_tlast", "m_axis_0_tready"}),
      b.getStrArrayAttr({"s_axis_0_tready", "m_axis_0_tvalid", "m_axis_0_tdata",
                         "m_axis_0_tlast"}),
      StringAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&unit.module.getBody());
  Type bit = b.getI1Type();
  clock = body->addArgument(bit, loc);
  reset = body->addArgument(bit, loc);
  inValid = body->addArgument(bit, loc);
  inData = body->addArgument(bits(inBits), loc);
  body->addArgument(bit, loc); // Words are counted.
  outReady = body->addArgument(bit, loc);

  const int64_t phases =
      int64_t(unit.inputs.size() + unit.nests.size() + unit.outputs.size());
  const int64_t n = addressBits(phases);
  Value isDone = constant(1, 0), isIssuing = constant(1, 0);
  phase = state(n, Value());
  isIssued = state(1, Value());
  int64_t number = 0;
  auto store = [&](Value tensor) {
    if (stores.count(tensor))
      return;
    std::string memory = "m" + std::to_string(number);
    stores[tensor].memory = rtl::MemoryOp::create(
        b, loc,
        rtl::MemoryType::get(b.getContext(), wordsOf(tensor),
                             cast<IntegerType>(bits(widthOf(tensor)))),
        b.getStringAttr(memory), ElementsAttr());
  };
  auto end = [&](const Turn &turn) {
    isDone = either(isDone, turn.done);
    isIssuing = either(isIssuing, turn.lastIssue);
  };

  Value isReady = constant(1, 0);
  for (Value tensor : unit.inputs) {
    store(tensor);
    Value turn = isEqual(phase, number++);
    Value take = both(turn, inValid);
    Walk w = walkOver(tensor, take);
    Value data = inData;
    if (widthOf(tensor) < inBits)
      data = rtl::ExtractOp::create(b, loc, bits(widthOf(tensor)), inData, 0);
    put(tensor, w.addresses[0], data, take);
    isReady = either(isReady, turn);
    Value last = both(take, w.isLast);
    end({last, last});
    unit.readCycles += wordsOf(tensor);
  }
  for (const Nest &nest : unit.nests) {
    store(viewOf(nest.op->getResult(0)).base);
    end(compute(nest, isEqual(phase, number++)));
    unit.computeCycles += nest.cycles();
  }
  // The output register takes a word if it is empty or being read.
  outValid = state(1, Value());
  isAdvancing = either(inverse(outValid), outReady);
  Value outData = constant(outBits, 0), isTaking = constant(1, 0);
  for (Value tensor : unit.outputs) {
    Value turn = isEqual(phase, number++);
    end(write(tensor, turn));
    Value word = stores[viewOf(tensor).base].ports[0].read.getResult();
    if (widthOf(tensor) < outBits)
      word = rtl::SignExtendOp::create(b, loc, bits(outBits), word);
    outData = choose(turn, word, outData);
    isTaking = either(isTaking, issued.back());
    unit.writeCycles += wordsOf(tensor) + 1;
  }
  setNext(outValid, choose(isAdvancing, isTaking, outValid));
  setNext(isIssued, both(inverse(isDone), either(isIssued, isIssuing)));
  Value following = choose(isEqual(phase, phases - 1), constant(n, 0),
                           rtl::AddOp::create(b, loc, phase, constant(n, 1)));
  setNext(phase, choose(isDone, following, phase));
  rtl::OutputOp::create(b, loc, ValueRange{isReady, outValid, outData, isLast});
}

namespace {
/// Removes what no output depends on: loops of signals, too.
void removeUnused(Block &body) {
  llvm::SetVector<Operation *> used;
  used.insert(body.getTerminator());
  for (size_t i = 0; i < used.size(); ++i) {
    for (Value v : used[i]->getOperands())
      if (Operation *from = v.getDefiningOp())
        used.insert(from);
    if (isa<rtl::MemoryOp>(used[i]))
      for (Operation *port : used[i]->getUsers())
        if (isa<rtl::WriteOp>(port))
          used.insert(port);
  }
  for (Operation &op : llvm::make_early_inc_range(body))
    if (!used.contains(&op)) {
      op.dropAllUses();
      op.erase();
    }
}

} // namespace

FailureOr<KernelUnit> buildKernelUnit(func::FuncOp kernel, StringRef name,
                                      const cost::LogicPace &pace,
                                      const CostContext &context,
                                      OpBuilder &b) {
  KernelParts parts = partsOf(kernel);
  for (const Obstacle &obstacle : parts.obstacles)
    mlir::emitError(obstacle.where)
        << obstacle.reason << "; remedy: " << obstacle.remedy;
  if (!parts.obstacles.empty())
    return failure();
  KernelUnit unit;
  unit.inputs = std::move(parts.inputs);
  unit.outputs = std::move(parts.outputs);
  for (linalg::GenericOp op : parts.nests) {
    cutProducts(op, context);
    auto nest = scheduleNest(op, pace);
    if (failed(nest))
      return failure();
    unit.nests.push_back(std::move(*nest));
  }
  Unit(unit, b, kernel.getLoc()).build(name);
  removeUnused(unit.module.getBody().front());
  return unit;
}
} // namespace rhizome::gen::hls
