// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a kernel: phases that take turns. Each input tensor is read
// into its memory, each nest computes from memories into its own, each output
// tensor is written. A phase ends when its last element is in its memory or
// accepted, so that no two phases touch a memory in the same cycle.
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "rhizome/Conversion/ScalarsToRtl.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace mlir;

namespace rhizome::gen::hls {
namespace {
using P = rtl::Predicate;

/// A tensor's elements: which memory, and the addresses of its readers, one
/// per phase and port.
struct Store {
  Value memory;
  struct Port {
    std::vector<std::pair<Value, Value>> addresses; ///< phase's turn, address
    Value enable;                                   ///< null: always
    rtl::ReadOp read;
  };
  std::vector<Port> ports;
};

/// The loops of a phase as counters, and addresses that follow them.
struct Walk {
  Value isLast;  ///< the last iteration of all loops
  Value isFirst; ///< the first one of the loops from `inner` on
  Value isFinal; ///< their last one
  std::vector<Value> addresses;
};

/// When a phase starts its last element, and when it has finished it.
struct Turn {
  Value lastIssue, done;
};

class Unit {
public:
  Unit(KernelUnit &unit, OpBuilder &b, Location loc)
      : unit(unit), b(b), loc(loc) {}
  void build(StringRef name);

private:
  KernelUnit &unit;
  OpBuilder &b;
  Location loc;
  Value clock, reset, inValid, inData, outReady;
  Value phase, isIssued;
  Value outValid, isAdvancing; ///< of the output register
  std::vector<Value> issued;   ///< what it takes, by output
  Value isLast;                ///< it holds the last word of a run
  DenseMap<Value, Store> stores;
  DenseMap<Value, Value> factors; ///< in their registers

  Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }
  Value constant(int64_t n, int64_t value) {
    return rtl::ConstantOp::create(b, loc, bits(n), value);
  }
  Value both(Value x, Value y) { return rtl::AndOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return rtl::OrOp::create(b, loc, x, y); }
  Value inverse(Value x) { return rtl::NotOp::create(b, loc, x); }
  Value choose(Value condition, Value x, Value y) {
    return rtl::MuxOp::create(b, loc, condition, x, y);
  }
  Value isEqual(Value x, int64_t value) {
    return rtl::CompareOp::create(
        b, loc, P::Equal, x,
        constant(x.getType().getIntOrFloatBitWidth(), value));
  }
  /// A register with an initial value, whose input is given later.
  Value state(int64_t n, Value enable, int64_t initial = 0) {
    return rtl::RegisterOp::create(b, loc, bits(n), clock, constant(n, 0),
                                   enable, reset,
                                   b.getIntegerAttr(bits(n), initial));
  }
  static void setNext(Value state, Value next) {
    state.getDefiningOp<rtl::RegisterOp>().getInputMutable().assign(next);
  }
  /// A control signal some cycles later; 0 after reset.
  Value later(Value v, int64_t cycles) {
    for (; cycles > 0; --cycles) {
      Value q = state(1, Value());
      setNext(q, v);
      v = q;
    }
    return v;
  }
  /// Data some cycles later.
  Value delayed(Value v, int64_t cycles) {
    for (; cycles > 0; --cycles)
      v = rtl::RegisterOp::create(b, loc, clock, v);
    return v;
  }
  /// A factor in its register, before its sign is extended. Products share it.
  Value factor(Value v) {
    if (auto wide = v.getDefiningOp<rtl::SignExtendOp>())
      return rtl::SignExtendOp::create(b, loc, v.getType(),
                                       factor(wide.getInput()));
    if (v.getDefiningOp<rtl::ConstantOp>())
      return v;
    Value &registered = factors[v];
    if (!registered)
      registered = delayed(v, 1);
    return registered;
  }
  static int64_t widthOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
  }
  static int64_t wordsOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getNumElements();
  }
  static int64_t addressBits(int64_t words) {
    return std::max<int64_t>(1, llvm::Log2_64_Ceil(uint64_t(words)));
  }

  Walk walk(ArrayRef<int64_t> trips, size_t inner, Value issue,
            ArrayRef<std::vector<int64_t>> strides, ArrayRef<int64_t> words);
  Value read(Value tensor, size_t port, Value turn, Value address);
  /// The datapath and the loops of a nest.
  Turn compute(const Nest &nest, Value turn);
  Turn write(Value tensor, Value turn);
};

Walk Unit::walk(ArrayRef<int64_t> trips, size_t inner, Value issue,
                ArrayRef<std::vector<int64_t>> strides,
                ArrayRef<int64_t> words) {
  Walk out;
  out.isLast = out.isFirst = out.isFinal = constant(1, 1);
  std::vector<Value> moves(trips.size()); ///< the loop steps or starts again
  std::vector<Value> ends(trips.size());
  for (size_t l = trips.size(); l-- > 0;) {
    int64_t n = addressBits(trips[l]);
    moves[l] = both(issue, out.isLast);
    Value count = state(n, moves[l]);
    ends[l] = isEqual(count, trips[l] - 1);
    setNext(count, choose(ends[l], constant(n, 0),
                          rtl::AddOp::create(b, loc, count, constant(n, 1))));
    if (l >= inner) {
      out.isFirst = both(out.isFirst, isEqual(count, 0));
      out.isFinal = both(out.isFinal, ends[l]);
    }
    out.isLast = both(out.isLast, ends[l]);
  }
  for (auto [steps, size] : llvm::zip_equal(strides, words)) {
    int64_t n = addressBits(size);
    Value address = state(n, issue);
    // The innermost loop that does not end steps; after all, the start again.
    int64_t back = 0; ///< of the loops further in
    std::vector<int64_t> by(trips.size());
    for (size_t l = trips.size(); l-- > 0;) {
      by[l] = steps[l] - back;
      back += steps[l] * (trips[l] - 1);
    }
    Value step = constant(n, -back);
    for (size_t l = 0; l < trips.size(); ++l)
      step = choose(ends[l], step, constant(n, by[l]));
    setNext(address, rtl::AddOp::create(b, loc, address, step));
    out.addresses.push_back(address);
  }
  return out;
}

/// The element at `address`, a cycle later, in a phase's turn.
Value Unit::read(Value tensor, size_t port, Value turn, Value address) {
  Store &store = stores[tensor];
  if (store.ports.size() <= port)
    store.ports.resize(port + 1);
  Store::Port &p = store.ports[port];
  p.addresses.push_back({turn, address});
  if (!p.read) {
    p.read = rtl::ReadOp::create(b, loc, bits(widthOf(tensor)), store.memory,
                                 address, clock, Value());
  } else {
    Value before = p.read.getAddress();
    p.read.getAddressMutable().assign(choose(turn, address, before));
  }
  return p.read.getResult();
}

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
  std::vector<std::vector<int64_t>> strides;
  std::vector<int64_t> words;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    strides.emplace_back(nest.trips.size());
    words.push_back(1);
    if (!type)
      continue;
    strides.back() = stridesOf(nest, operand);
    words.back() = type.getNumElements();
  }
  Walk w = walk(nest.trips, nest.outer, issue, strides, words);
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
          read(operand, ports[operand]++, turn, w.addresses[i]), 1, false};
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
  rtl::WriteOp::create(b, loc, stores[op->getResult(0)].memory,
                       delayed(w.addresses.back(), depth), result, clock,
                       both(valid, delayed(w.isFinal, depth)));
  return Turn{isLastIssue, later(isLastIssue, depth)};
}

Turn Unit::write(Value tensor, Value turn) {
  Value issue = both(both(turn, inverse(isIssued)), isAdvancing);
  Walk w = walk({wordsOf(tensor)}, 0, issue, {std::vector<int64_t>{1}},
                {wordsOf(tensor)});
  read(tensor, 0, turn, w.addresses[0]);
  stores[tensor].ports[0].read.getEnableMutable().assign(
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
    Walk w = walk({wordsOf(tensor)}, 0, take, {std::vector<int64_t>{1}},
                  {wordsOf(tensor)});
    Value data = inData;
    if (widthOf(tensor) < inBits)
      data = rtl::ExtractOp::create(b, loc, bits(widthOf(tensor)), inData, 0);
    rtl::WriteOp::create(b, loc, stores[tensor].memory, w.addresses[0], data,
                         clock, take);
    isReady = either(isReady, turn);
    Value last = both(take, w.isLast);
    end({last, last});
    unit.readCycles += wordsOf(tensor);
  }
  for (const Nest &nest : unit.nests) {
    store(nest.op->getResult(0));
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
    Value word = stores[tensor].ports[0].read.getResult();
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
