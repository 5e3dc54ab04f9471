// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inserts a pipeline's registers: a value that is read in a later stage
// than its own passes through one for each stage between.
#include "rhizome/Units/Registers.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace rhizome::gen {
namespace {
class Pipeline {
public:
  Pipeline(Block &block, Value clock, ArrayRef<LogicGroup> groups,
           const schedule::Problem &problem, const schedule::Schedule &schedule)
      : builder(OpBuilder::atBlockEnd(&block)), clock(clock), groups(groups),
        problem(problem), schedule(schedule), delayed(groups.size()) {}

  Value run();

private:
  OpBuilder builder;
  Value clock;
  ArrayRef<LogicGroup> groups;
  const schedule::Problem &problem;
  const schedule::Schedule &schedule;
  /// For each group: its value, then the value in each later stage.
  std::vector<SmallVector<Value, 1>> delayed;

  Value at(int group, int64_t stage);
};

Value Pipeline::at(int group, int64_t stage) {
  auto &values = delayed[group];
  if (groups[group].isConstant)
    return values[0];
  while (int64_t(values.size()) <= stage - schedule.start[group])
    values.push_back(rtl::RegisterOp::create(builder, values.back().getLoc(),
                                             clock, values.back()));
  return values[stage - schedule.start[group]];
}

Value Pipeline::run() {
  size_t next = 0;
  for (int g = 0; g < int(groups.size()); ++g) {
    const LogicGroup &group = groups[g];
    if (group.first)
      builder.setInsertionPoint(group.first);
    DenseMap<Value, Value> later;
    for (;
         next < problem.dependences.size() && problem.dependences[next].to == g;
         ++next) {
      int from = problem.dependences[next].from;
      if (!group.value) // not built
        continue;
      Value value = at(from, schedule.start[g]);
      later.try_emplace(groups[from].value, value);
    }
    Value own = group.value;
    if (!own)
      continue;
    if (group.first) {
      // The operation of its value is the group's last one.
      Operation *end = own.getDefiningOp();
      assert(end && "a group with operations makes its value");
      for (Operation *op = group.first;; op = op->getNextNode()) {
        for (OpOperand &operand : op->getOpOperands())
          if (auto it = later.find(operand.get()); it != later.end())
            operand.set(it->second);
        if (op == end)
          break;
      }
      builder.setInsertionPointAfter(end);
    } else if (auto it = later.find(own); it != later.end()) {
      own = it->second;
    }
    delayed[g] = {own};
  }
  return delayed.back()[0];
}
} // namespace

Value insertRegisters(Block &block, Value clock, ArrayRef<LogicGroup> groups,
                      const schedule::Problem &problem,
                      const schedule::Schedule &schedule) {
  return Pipeline(block, clock, groups, problem, schedule).run();
}
} // namespace rhizome::gen
