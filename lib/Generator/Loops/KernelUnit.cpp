// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a kernel: stages, each with phases that take turns. A phase
// ends when its last element is in its memory or accepted, so that no two
// phases of a stage touch a memory in the same cycle; a stage begins an element
// when those before it have finished theirs, and those after it have left a
// slot for it.
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "Unit.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace rhizome::gen::loops {
void PartRecorder::notifyOperationInserted(Operation *op,
                                           OpBuilder::InsertPoint) {
  if (current.empty())
    return;
  auto [it, isNew] = numbers.try_emplace(current, unit.parts.size());
  if (isNew)
    unit.parts.push_back(current);
  unit.partOf[op] = it->second;
}

std::vector<UnitWait> waitsOf(const KernelUnit &unit) {
  std::vector<UnitWait> waits;
  for (const UnitMemory &memory : unit.memories)
    for (size_t s = 0; s < unit.stages.size(); ++s) {
      if (s == memory.stage || !isReadBy(memory, unit, s))
        continue;
      auto known = llvm::find_if(waits, [&](const UnitWait &wait) {
        return wait.from == memory.stage && wait.to == s;
      });
      if (known != waits.end())
        known->slots = std::min(known->slots, memory.slots);
      else
        waits.push_back({memory.stage, s, memory.slots});
    }
  return waits;
}

void Unit::makeTokens() {
  for (const UnitWait &wait : waitsOf(unit))
    tokens.push_back({wait.from, wait.to, wait.slots,
                      state(addressBits(wait.slots + 1), Value())});
}

Value Unit::mayRun(size_t s) {
  Value may = constant(1, 1);
  for (const Tokens &t : tokens) {
    if (t.to == s)
      may = both(may, inverse(isEqual(t.count, 0)));
    if (t.from == s)
      may = both(may, inverse(isEqual(t.count, t.slots)));
  }
  return may;
}

void Unit::finishTokens(ArrayRef<Value> ends) {
  for (const Tokens &t : tokens) {
    const auto n = int64_t(t.count.getType().getIntOrFloatBitWidth());
    Value more = rtl::AddOp::create(b, loc, t.count, constant(n, 1));
    // What stays is never used up.
    if (unit.stages[t.from].isOnce) {
      setNext(t.count, choose(ends[t.from], more, t.count));
      continue;
    }
    Value fewer = rtl::SubOp::create(b, loc, t.count, constant(n, 1));
    Value next = choose(ends[t.to], choose(ends[t.from], t.count, fewer),
                        choose(ends[t.from], more, t.count));
    setNext(t.count, next);
  }
  for (auto [key, isLast] : lastSlots) {
    Value slot = isLast.getDefiningOp()->getOperand(0);
    const auto n = int64_t(slot.getType().getIntOrFloatBitWidth());
    Value next = choose(isLast, constant(n, 0),
                        rtl::AddOp::create(b, loc, slot, constant(n, 1)));
    setNext(slot, choose(ends[key.first], next, slot));
  }
}

Value Unit::buildStage(const UnitStage &plan, InStream *in, OutRegister *out) {
  const auto phases = int64_t(plan.phases());
  const int64_t n = addressBits(phases);
  Value isDone = constant(1, 0), isIssuing = constant(1, 0);
  Value may = mayRun(stage);
  phase = state(n, Value());
  isIssued = state(1, Value());
  int64_t number = 0;
  // Only the first phase waits for other stages.
  auto turnOf = [&](int64_t p) {
    if (phases == 1)
      return may;
    Value turn = isEqual(phase, p);
    return p == 0 ? both(turn, may) : turn;
  };
  Value last;
  auto end = [&](const Turn &turn) {
    isDone = either(isDone, turn.done);
    isIssuing = either(isIssuing, turn.lastIssue);
    last = turn.done;
  };
  for (Value tensor : plan.reads) {
    Value turn = turnOf(number++);
    InPart border(*this, "input");
    end(take(tensor, turn, *in));
  }
  DenseMap<size_t, Phase> turns;
  for (const std::vector<size_t> &step : plan.steps) {
    Value turn = turnOf(number++);
    // Those that work at the same time end on their own.
    for (size_t n : step)
      turns[n] = {turn, step.size() == 1 ? isIssued : state(1, Value())};
  }
  DenseMap<size_t, Turn> ends;
  for (const std::vector<size_t> &group : unit.groups) {
    if (!turns.count(group.front()))
      continue;
    std::vector<const Nest *> nests;
    std::vector<Phase> theirs;
    for (size_t n : group) {
      nests.push_back(&unit.nests[n]);
      theirs.push_back(turns.at(n));
    }
    InPart datapath(*this, "nest" + std::to_string(group.front()));
    for (auto [n, turn] : llvm::zip_equal(group, compute(nests, theirs)))
      ends[n] = turn;
  }
  for (const std::vector<size_t> &step : plan.steps) {
    if (step.size() == 1) {
      end(ends.at(step[0]));
      continue;
    }
    Value areDone = constant(1, 1);
    std::vector<Value> done;
    for (size_t n : step) {
      done.push_back(state(1, Value()));
      areDone = both(areDone, either(done.back(), ends.at(n).done));
    }
    for (auto [n, isOver] : llvm::zip_equal(step, done)) {
      const Turn &turn = ends.at(n);
      Value issued = turns.at(n).isIssued;
      setNext(isOver, both(inverse(areDone), either(isOver, turn.done)));
      setNext(issued, both(inverse(areDone), either(issued, turn.lastIssue)));
    }
    end({constant(1, 0), both(turns.at(step[0]).turn, areDone)});
  }
  for (Value tensor : plan.writes) {
    Value turn = turnOf(number++);
    InPart border(*this, "output");
    end(put(tensor, turn, *out));
  }
  setNext(isIssued, both(inverse(isDone), either(isIssued, isIssuing)));
  Value following = choose(isEqual(phase, phases - 1), constant(n, 0),
                           rtl::AddOp::create(b, loc, phase, constant(n, 1)));
  setNext(phase, choose(isDone, following, phase));
  return last;
}

void Unit::build(StringRef name) {
  auto bitsOf = [&](ArrayRef<Value> tensors) {
    int64_t most = 1;
    for (Value v : tensors)
      most = std::max(most, widthOf(v));
    return most;
  };
  SmallVector<Attribute> ins, outs;
  auto port = [&](SmallVector<Attribute> &to, const std::string &stream,
                  const char *signal) {
    to.push_back(b.getStringAttr(stream + signal));
  };
  ins.push_back(b.getStringAttr("clk_i"));
  ins.push_back(b.getStringAttr("rst_ni"));
  for (const UnitStream &s : unit.inStreams) {
    for (const char *signal : {"_tvalid", "_tdata", "_tlast"})
      port(ins, s.name, signal);
    port(outs, s.name, "_tready");
  }
  for (const UnitStream &s : unit.outStreams) {
    port(ins, s.name, "_tready");
    for (const char *signal : {"_tvalid", "_tdata", "_tlast"})
      port(outs, s.name, signal);
  }
  unit.module = rtl::ModuleOp::create(b, loc, name, b.getArrayAttr(ins),
                                      b.getArrayAttr(outs), StringAttr());
  OpBuilder::InsertionGuard guard(b);
  OpBuilder::Listener *listener = b.getListener();
  b.setListener(&recorder);
  auto restore = llvm::scope_exit([&] { b.setListener(listener); });
  Block *body = b.createBlock(&unit.module.getBody());
  Type bit = b.getI1Type();
  clock = body->addArgument(bit, loc);
  reset = body->addArgument(bit, loc);
  std::vector<InStream> given;
  for (const UnitStream &s : unit.inStreams) {
    InStream in;
    in.valid = body->addArgument(bit, loc);
    in.data = body->addArgument(bits(unit.words * bitsOf(s.tensors)), loc);
    body->addArgument(bit, loc); // Words are counted.
    in.ready = constant(1, 0);
    given.push_back(in);
  }
  std::vector<OutRegister> results;
  for (const UnitStream &s : unit.outStreams) {
    OutRegister out;
    out.ready = body->addArgument(bit, loc);
    out.valid = state(1, Value());
    out.isAdvancing = either(inverse(out.valid), out.ready);
    out.isTaking = out.isLast = constant(1, 0);
    out.data = constant(unit.words * bitsOf(s.tensors), 0);
    results.push_back(out);
  }
  makeMemories();
  makeTokens();
  std::vector<Value> ends;
  for (stage = 0; stage < unit.stages.size(); ++stage) {
    const UnitStage &plan = unit.stages[stage];
    auto streamOf = [](auto &streams, auto &signals, ArrayRef<Value> tensors) {
      for (size_t i = 0; i < streams.size(); ++i)
        if (!tensors.empty() && streams[i].tensors.front() == tensors.front())
          return &signals[i];
      return decltype(&signals[0])(nullptr);
    };
    ends.push_back(buildStage(plan, streamOf(unit.inStreams, given, plan.reads),
                              streamOf(unit.outStreams, results, plan.writes)));
  }
  finishTokens(ends);
  finishWrites();
  connectShared();
  SmallVector<Value> outputs;
  for (const InStream &in : given)
    outputs.push_back(in.ready);
  for (const OutRegister &out : results) {
    setNext(out.valid, choose(out.isAdvancing, out.isTaking, out.valid));
    outputs.append({out.valid, out.data, out.isLast});
  }
  rtl::OutputOp::create(b, loc, outputs);
}

namespace {
/// Removes what no output depends on: loops of signals, too.
void removeUnused(Block &body) {
  DenseSet<Operation *> used;
  used.reserve(unsigned(body.getOperations().size()));
  std::vector<Operation *> open;
  auto use = [&](Operation *op) {
    if (used.insert(op).second)
      open.push_back(op);
  };
  use(body.getTerminator());
  while (!open.empty()) {
    Operation *op = open.back();
    open.pop_back();
    for (Value v : op->getOperands())
      if (Operation *from = v.getDefiningOp())
        use(from);
    if (isa<rtl::MemoryOp>(op))
      for (Operation *port : op->getUsers())
        if (isa<rtl::WriteOp>(port))
          use(port);
  }
  for (Operation &op : llvm::make_early_inc_range(body))
    if (!used.contains(&op)) {
      op.dropAllUses();
      op.erase();
    }
}

/// Those of a stage's nests that each one waits for, itself or by others.
using Waits = DenseMap<size_t, DenseSet<size_t>>;

Waits waitsOf(KernelUnit &unit, const UnitStage &stage) {
  Waits waits;
  DenseMap<size_t, Value> writes;
  DenseMap<size_t, SmallVector<Value>> reads;
  for (size_t n : stage.nests) {
    linalg::GenericOp op = unit.nests[n].op;
    writes[n] = baseOf(op->getResult(0));
    for (Value v : op.getInputs())
      if (isa<RankedTensorType>(v.getType()))
        reads[n].push_back(baseOf(v));
    DenseSet<size_t> all;
    for (size_t before : stage.nests)
      if (before < n && (writes[before] == writes[n] ||
                         llvm::is_contained(reads[n], writes[before]) ||
                         llvm::is_contained(reads[before], writes[n]))) {
        all.insert(before);
        all.insert_range(waits[before]);
      }
    waits[n] = std::move(all);
  }
  return waits;
}

/// Nests of a stage take turns, and may have one datapath. One copy of a nest
/// that may overlap with others does not wait for these.
void planGroups(KernelUnit &unit, const UnitStage &stage, const Waits &waits,
                bool mayOverlap) {
  const auto first = ptrdiff_t(unit.groups.size());
  for (size_t n : stage.nests) {
    Nest &nest = unit.nests[n];
    auto takesTurns = [&](size_t other) {
      return !mayOverlap || nest.lanes() > 1 || waits.at(n).contains(other);
    };
    auto group = std::find_if(unit.groups.begin() + first, unit.groups.end(),
                              [&](const std::vector<size_t> &members) {
                                return areAlike(unit.nests[members[0]], nest) &&
                                       llvm::all_of(members, takesTurns);
                              });
    if (group != unit.groups.end())
      group->push_back(n);
    else
      unit.groups.push_back({n});
  }
}

/// A stage's nests in order; if they may work at the same time, those that do
/// not wait for each other and have datapaths of their own.
void planSteps(const KernelUnit &unit, UnitStage &stage, const Waits &waits,
               bool mayOverlap) {
  DenseMap<size_t, size_t> level, group;
  for (auto [g, members] : llvm::enumerate(unit.groups))
    for (size_t n : members)
      group[n] = g;
  for (size_t n : stage.nests) {
    size_t least = mayOverlap ? 0 : stage.steps.size();
    for (size_t before : waits.at(n))
      least = std::max(least, level[before] + 1);
    auto isFree = [&](size_t at) {
      return llvm::none_of(stage.steps[at], [&](size_t other) {
        return group[other] == group[n];
      });
    };
    while (least < stage.steps.size() && !isFree(least))
      ++least;
    stage.steps.resize(std::max(stage.steps.size(), least + 1));
    stage.steps[least].push_back(n);
    level[n] = least;
  }
}
} // namespace

FailureOr<KernelUnit> buildKernelUnit(func::FuncOp kernel, StringRef name,
                                      const cost::LogicPace &pace,
                                      const CostContext &context,
                                      const UnitOptions &options,
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
  for (size_t i = 0; i < options.areUnsigned.size(); ++i)
    if (options.areUnsigned[i])
      unit.unsignedOutputs.insert(unit.outputs[i]);
  floats::Operators operators(b.getContext(), pace, context);
  for (auto [n, op] : llvm::enumerate(parts.nests)) {
    cutProducts(op, context);
    auto nest = layOut(op, n < options.choices.size() ? options.choices[n]
                                                      : NestChoice());
    if (!nest)
      return op.emitError("this nest cannot be built with this order and these "
                          "copies of its loops");
    unit.nests.push_back(std::move(*nest));
  }
  auto banks = placeInBanks(unit.nests, unit.outputs);
  if (!banks)
    return kernel.emitError("the copies of these nests need banks that do not "
                            "go together");
  unit.banks = std::move(*banks);
  widenBorder(unit, options, context);
  planStages(unit, options);
  const bool mayOverlap = !options.choices.empty();
  std::vector<Waits> waits;
  for (const UnitStage &stage : unit.stages) {
    waits.push_back(waitsOf(unit, stage));
    planGroups(unit, stage, waits.back(), mayOverlap);
  }
  for (const std::vector<size_t> &group : unit.groups) {
    std::vector<Nest *> nests;
    for (size_t n : group)
      nests.push_back(&unit.nests[n]);
    if (failed(schedule(nests, unit.banks, pace, operators)))
      return failure();
  }
  for (auto [stage, theirs] : llvm::zip_equal(unit.stages, waits))
    planSteps(unit, stage, theirs, mayOverlap);
  countCycles(unit);
  if (options.isWanted && !options.isWanted(unit))
    return failure();
  planMemories(unit, options, context);
  Unit(unit, operators, b, kernel.getLoc()).build(name);
  removeUnused(unit.module.getBody().front());
  mergeAlike(unit.module.getBody().front());
  return unit;
}
} // namespace rhizome::gen::loops
