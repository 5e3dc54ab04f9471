// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The datapath of a nest: every operation in its cycle, registers between
// them, and the sum that goes from iteration to iteration.
#include "Unit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rhizome/Conversion/ScalarsToRtl.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

using namespace mlir;

namespace rhizome::gen::hls {
Turn Unit::compute(const Nest &nest, Value turn) {
  linalg::GenericOp op = nest.op;
  const std::vector<int64_t> &start = nest.schedule.start;
  const int64_t depth = nest.depth(), interval = nest.schedule.interval;
  Value issue = both(turn, inverse(isIssued));
  if (interval > 1) {
    int64_t n = addressBits(interval);
    Value wait = state(n, Value());
    Value isDue = isEqual(wait, 0);
    issue = both(issue, isDue);
    setNext(wait,
            choose(issue, constant(n, interval - 1),
                   choose(isDue, wait,
                          rtl::SubOp::create(b, loc, wait, constant(n, 1)))));
  }
  std::vector<Reach> reaches;
  std::vector<int64_t> words;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    reaches.push_back({0, std::vector<int64_t>(nest.trips.size())});
    words.push_back(1);
    if (!type)
      continue;
    reaches.back() = reachOf(nest, operand);
    words.back() = wordsOf(
        viewOf(op.isDpsInit(&operand) ? op->getResult(0) : operand.get()).base);
  }
  Walk w = walk(nest.trips, nest.outer, issue, reaches, words);
  Value isLastIssue = both(issue, w.isLast);

  // A value of the body and the cycle of its iteration from which it is there.
  struct Signal {
    Value value;
    int64_t cycle = 0;
    bool isConstant = false;
  };
  DenseMap<Value, Signal> signals;
  DenseMap<std::pair<Value, int64_t>, Value> kept;
  // Signs are extended where they are read, so that registers are narrow.
  DenseSet<Value> extended;
  std::function<Value(Value, int64_t)> at = [&](Value v, int64_t cycle) {
    const Signal &s = signals.at(v);
    if (s.isConstant)
      return s.value;
    if (extended.contains(v) && cycle > s.cycle) {
      Operation *op = v.getDefiningOp();
      Value narrow = at(op->getOperand(0), cycle);
      Value &wide = kept[{v, cycle}];
      if (!wide)
        wide = *scalarToRtl(*op, narrow, b);
      return wide;
    }
    Value now = s.value;
    for (int64_t c = s.cycle; c < cycle; ++c) {
      Value &next = kept[{v, c + 1}];
      if (!next)
        next = delayed(now, 1);
      now = next;
    }
    return now;
  };
  Block *body = op.getBody();
  const unsigned inputs = op.getNumDpsInputs();
  DenseMap<Value, size_t> ports;
  for (unsigned i = 0; i < inputs; ++i) {
    Value operand = op->getOperand(i), argument = body->getArgument(i);
    if (auto value = uniformValue(operand)) {
      signals[argument] = {
          rtl::ConstantOp::create(b, loc, argument.getType(), *value), 0, true};
      continue;
    }
    if (!argument.use_empty())
      signals[argument] = {
          read(operand, ports[viewOf(operand).base]++, turn, w.addresses[i]), 1,
          false};
  }

  // What the iteration before left; the initial value in the first one.
  Value before = body->getArgument(inputs);
  Value valid = later(issue, depth);
  Value sum = rtl::RegisterOp::create(b, loc, before.getType(), clock,
                                      constant(widthOf(op->getResult(0)), 0),
                                      valid, Value(), IntegerAttr());
  DenseMap<int64_t, Value> carried;
  std::optional<APInt> initial = uniformValue(op.getDpsInits()[0]);
  auto operandAt = [&](Value v, int64_t cycle) {
    if (v != before)
      return at(v, cycle);
    Value &value = carried[cycle];
    if (!value)
      value = choose(
          delayed(w.isFirst, cycle),
          rtl::ConstantOp::create(b, loc, before.getType(), *initial), sum);
    return value;
  };
  size_t next = inputs;
  for (Operation &inner : body->without_terminator()) {
    const int64_t from = start[next++];
    SmallVector<Value> operands;
    for (Value v : inner.getOperands())
      operands.push_back(operandAt(v, from));
    const bool isProduct = isa<arith::MulIOp>(inner);
    if (isProduct)
      for (Value &v : operands)
        v = factor(v);
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(inner) &&
        inner.getOperand(0) != before)
      extended.insert(inner.getResult(0));
    Value logic = *scalarToRtl(inner, operands, b);
    Value value = isProduct ? delayed(logic, kProductLatency - 1) : logic;
    signals[inner.getResult(0)] = {value,
                                   from + (isProduct ? kProductLatency : 0),
                                   inner.getNumOperands() == 0};
  }
  Value result = operandAt(body->getTerminator()->getOperand(0), depth);
  setNext(sum, result);
  Value address = delayed(w.addresses.back(), depth);
  put(op->getResult(0), address, result,
      both(valid, delayed(w.isFinal, depth)));
  return Turn{isLastIssue, later(isLastIssue, depth)};
}
} // namespace rhizome::gen::hls
