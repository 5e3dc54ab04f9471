// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The datapath of a nest: every operation in its cycle, registers between
// them, and the sum that goes from iteration to iteration.
#include "Unit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rhizome/Rtl/ScalarsToRtl.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
/// A value of the body: one for each copy that differs, from a cycle of the
/// iteration on.
struct Signal {
  std::vector<Value> lanes;
  unsigned mask = 0;
  int64_t cycle = 0;
  bool isConstant = false;
};
} // namespace

Value Unit::operate(const floats::Operator &op, ValueRange operands,
                    int64_t size, Value turn) {
  const unsigned width = unsigned(op.operandFormat().width());
  SmallVector<Value, 3> patterns;
  for (Value v : operands)
    patterns.push_back(
        b.createOrFold<rtl::ExtractOp>(loc, bits(width), v, uint64_t(0)));
  auto instance = [&] {
    Value made = operators.instance(op, clock, patterns, b, loc);
    return made.getDefiningOp<rtl::InstanceOp>();
  };
  rtl::InstanceOp made;
  // Logic without registers could be in a loop with itself.
  if (!turn || operators.of(op).latency == 0) {
    made = instance();
  } else {
    // Other stages work at the same time.
    const std::string name = op.name() + "@" + std::to_string(stage);
    std::vector<Shared> &instances = shared[name];
    const size_t number = taken[name]++;
    if (number == instances.size())
      instances.push_back({instance(), {}});
    instances[number].uses.push_back({turn, patterns});
    made = instances[number].instance;
  }
  Value result = made.getResult(0);
  const int64_t unused = size - op.format.width();
  if (unused == 0)
    return result;
  return rtl::ConcatOp::create(b, loc, bits(size),
                               ValueRange{result, constant(unused, 0)});
}

void Unit::connectShared() {
  for (auto &[name, instances] : shared)
    for (Shared &one : instances) {
      if (one.uses.size() == 1)
        continue;
      // The clock is the first input.
      for (size_t i = 0; i < one.uses[0].second.size(); ++i) {
        Value input;
        for (auto &[turn, operands] : one.uses) {
          Value v = operands[i];
          Value mask = rtl::SignExtendOp::create(b, loc, v.getType(), turn);
          v = both(v, mask);
          input = input ? either(input, v) : v;
        }
        one.instance->setOperand(unsigned(i) + 1, input);
      }
    }
}

std::vector<Turn> Unit::compute(ArrayRef<const Nest *> nests,
                                ArrayRef<Phase> phases) {
  const Nest &nest = *nests[0];
  linalg::GenericOp op = nest.op;
  const std::vector<int64_t> &start = nest.schedule.start;
  const int64_t depth = nest.depth(), interval = nest.schedule.interval;
  const Lanes lanes = Lanes::of(nest);
  Block *body = op.getBody();
  const unsigned inputs = op.getNumDpsInputs();

  // One copy of a nest that works alone shares operators with others.
  const UnitStage &own = unit.stages[stage];
  const bool isAlone = own.steps.size() == own.nests.size() &&
                       nests.size() == 1 && lanes.count(lanes.all()) == 1;
  // From an iteration's second cycle on.
  Value settled = isAlone ? later(phases[0].turn, 1) : Value();
  taken.clear();
  std::vector<Walk> walks;
  Value issues, isFirst;
  std::vector<Turn> out;
  std::vector<Value> turns;
  for (auto [each, when] : llvm::zip_equal(nests, phases)) {
    Value turn = turns.emplace_back(when.turn);
    Value issue = both(turn, inverse(when.isIssued));
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
    llvm::BitVector isSum(unsigned(each->loops.trips.size()));
    for (auto [c, loop] : llvm::enumerate(each->loops.loop))
      if (each->isReduction(loop))
        isSum.set(unsigned(c));
    const Walk &w = walks.emplace_back(walk(each->loops, isSum, issue));
    isFirst = isFirst ? choose(turn, w.isFirst, isFirst) : w.isFirst;
    issues = issues ? either(issues, issue) : issue;
    Value isLastIssue = both(issue, w.isLast);
    out.push_back({isLastIssue, later(isLastIssue, depth)});
  }
  // An operand of the nests, whose turn chooses among them.
  auto readLanes = [&](unsigned i, bool isSum, int64_t cycle) {
    Signal s;
    s.cycle = cycle + 1;
    for (auto [n, each] : llvm::enumerate(nests)) {
      OpOperand &operand = each->op->getOpOperand(i);
      Value tensor =
          baseOf(isSum ? Value(each->op->getResult(0)) : operand.get());
      Access access = *accessOf(*each, operand, banksOf(tensor));
      s.mask = access.mask;
      s.lanes.resize(access.lanes.size());
      for (size_t lane = 0; lane < s.lanes.size(); ++lane) {
        Value word = read(tensor, access, lane, walks[n], turns[n], cycle);
        Value &to = s.lanes[lane];
        to = to ? choose(turns[n], word, to) : word;
      }
    }
    return s;
  };

  DenseMap<Value, Signal> signals;
  // Signs are extended where they are read, so that registers are narrow.
  DenseSet<Value> extended;
  DenseMap<std::pair<Value, Value>, Value> widened;
  std::function<Value(Value, int64_t, ArrayRef<int64_t>)> at =
      [&](Value v, int64_t cycle, ArrayRef<int64_t> copy) {
        const Signal &s = signals.at(v);
        if (s.isConstant)
          return s.lanes[0];
        if (extended.contains(v) && cycle > s.cycle) {
          Operation *from = v.getDefiningOp();
          Value narrow = at(from->getOperand(0), cycle, copy);
          Value &wide = widened[{v, narrow}];
          if (!wide)
            wide = *scalarToRtl(*from, narrow, b);
          return wide;
        }
        return after(s.lanes[lanes.index(s.mask, copy)], cycle - s.cycle);
      };
  for (unsigned i = 0; i < inputs; ++i) {
    Value argument = body->getArgument(i);
    if (auto value = uniformValue(op->getOperand(i)))
      signals[argument] = {
          {rtl::ConstantOp::create(b, loc, argument.getType(), *value)},
          0,
          0,
          true};
    else if (!argument.use_empty())
      signals[argument] = readLanes(i, false, 0);
  }

  // What the iteration before left; the initial value in the first one.
  Value before = body->getArgument(inputs);
  Value valid = later(issues, depth);
  const bool isStored = nest.isStored;
  Signal left;
  if (!before.use_empty() && isStored) {
    left = readLanes(inputs, true, start[inputs]);
  } else {
    left.mask = lanes.all();
    for (size_t lane = 0; lane < lanes.count(left.mask); ++lane)
      left.lanes.push_back(
          rtl::RegisterOp::create(b, loc, before.getType(), clock,
                                  constant(widthOf(op->getResult(0)), 0), valid,
                                  Value(), IntegerAttr()));
  }
  DenseMap<std::pair<Value, int64_t>, Value> carried;
  std::optional<APInt> initial = uniformValue(op.getDpsInits()[0]);
  auto operandAt = [&](Value v, int64_t cycle, ArrayRef<int64_t> copy) {
    if (v != before)
      return at(v, cycle, copy);
    Value sum = left.lanes[lanes.index(left.mask, copy)];
    if (isStored)
      sum = after(sum, cycle - left.cycle);
    Value &value = carried[{sum, cycle}];
    if (!value)
      value = choose(
          after(isFirst, cycle),
          rtl::ConstantOp::create(b, loc, before.getType(), *initial), sum);
    return value;
  };
  auto maskOf = [&](Value v) {
    return v == before ? left.mask : signals.at(v).mask;
  };
  size_t next = inputs + 1;
  for (Operation &inner : body->without_terminator()) {
    const int64_t from = start[next++];
    const bool isProduct = isa<arith::MulIOp>(inner);
    auto named = operatorOf(inner);
    Signal result;
    result.cycle = from + (named       ? operators.of(*named).latency
                           : isProduct ? kProductLatency
                                       : 0);
    result.isConstant = inner.getNumOperands() == 0;
    for (Value v : inner.getOperands())
      result.mask |= maskOf(v);
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(inner) &&
        inner.getOperand(0) != before)
      extended.insert(inner.getResult(0));
    for (size_t lane = 0; lane < lanes.count(result.mask); ++lane) {
      std::vector<int64_t> copy = lanes.coordinates(result.mask, lane);
      SmallVector<Value> operands;
      for (Value v : inner.getOperands())
        operands.push_back(operandAt(v, from, copy));
      if (named) {
        // A call's first operands name the function.
        result.lanes.push_back(operate(
            *named,
            ArrayRef(operands).slice(firstPatternOf(inner), named->operands()),
            inner.getResult(0).getType().getIntOrFloatBitWidth(),
            isAlone && from > 0 ? settled
            : isAlone           ? turns[0]
                                : Value()));
        continue;
      }
      if (isProduct)
        for (Value &v : operands)
          v = factor(v);
      Value logic = *scalarToRtl(inner, operands, b);
      result.lanes.push_back(isProduct ? delayed(logic, kProductLatency - 1)
                                       : logic);
    }
    signals[inner.getResult(0)] = std::move(result);
  }

  std::vector<Value> results;
  for (size_t lane = 0; lane < lanes.count(lanes.all()); ++lane)
    results.push_back(operandAt(body->getTerminator()->getOperand(0), depth,
                                lanes.coordinates(lanes.all(), lane)));
  if (!isStored)
    for (auto [sum, value] : llvm::zip_equal(left.lanes, results))
      setNext(sum, value);
  for (auto [n, each] : llvm::enumerate(nests)) {
    OpOperand &operand = each->op->getOpOperand(inputs);
    Value tensor = baseOf(each->op->getResult(0));
    Value enable = nests.size() == 1 ? valid : both(valid, turns[n]);
    if (!isStored)
      enable = both(enable, after(walks[n].isFinal, depth));
    fill(tensor, *accessOf(*each, operand, banksOf(tensor)), walks[n], results,
         depth, enable);
  }
  return out;
}
} // namespace rhizome::gen::loops
