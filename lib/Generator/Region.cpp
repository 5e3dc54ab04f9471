// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The input and output streams of a region.
#include "rhizome/Generator/Region.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace rhizome::gen {
Value rootOf(Value v) {
  while (auto reshape = v.getDefiningOp<osa::ReshapeOp>())
    v = reshape.getInput();
  return v;
}

Region::Region(Operation *op) : Region(llvm::ArrayRef<Operation *>(op)) {}

/// Whether the value is read by an operation that is not one of these.
static bool isReadOutside(Value v,
                          const llvm::SmallPtrSetImpl<Operation *> &in) {
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    if (isa<osa::ReshapeOp>(user))
      return isReadOutside(user->getResult(0), in);
    return !in.contains(user);
  });
}

Region::Region(llvm::ArrayRef<Operation *> ops)
    : operations(ops.begin(), ops.end()) {
  llvm::SmallPtrSet<Operation *, 4> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    for (Value v : op->getOperands()) {
      Operation *producer = rootOf(v).getDefiningOp();
      if (!isa_and_nonnull<osa::ConstantOp>(producer) &&
          !inside.contains(producer))
        inputs.push_back(v);
    }
    for (Value v : op->getResults())
      if (isSingle() || isReadOutside(v, inside))
        results.push_back(v);
    // What comes back from the end of its body.
    if (auto enter = dyn_cast<flow::EnterOp>(op))
      for (auto leave : op->getBlock()->getOps<flow::LeaveOp>())
        if (leave.getBody() == enter.getBody())
          inputs.push_back(leave.getInput());
  }
}

Region Region::joined(llvm::ArrayRef<Region> members) {
  Region all;
  for (const Region &member : members) {
    llvm::append_range(all.operations, member.operations);
    llvm::append_range(all.inputs, member.inputs);
    llvm::append_range(all.results, member.results);
  }
  return all;
}

Region Region::with(llvm::ArrayRef<Operation *> others) const {
  if (isa<flow::EnterOp>(front()))
    return Region(others);
  Region same = *this;
  same.operations.assign(others.begin(), others.end());
  auto counterpart = [&](Value v, auto &&list) -> Value {
    for (auto [mine, other] : llvm::zip_equal(operations, others))
      for (auto [from, to] : llvm::zip_equal(list(mine), list(other)))
        if (from == v)
          return to;
    return v;
  };
  for (Value &v : same.inputs)
    v = counterpart(v, [](Operation *op) { return op->getOperands(); });
  for (Value &v : same.results)
    v = counterpart(v, [](Operation *op) { return op->getResults(); });
  return same;
}
} // namespace rhizome::gen
