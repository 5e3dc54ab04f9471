// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a unit has twice: logic, registers and reads with the same inputs are
// built once. Nests that take turns on a memory's port read the same words, so
// they share operands' registers and products, too.
#include "Unit.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include <vector>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
/// Operations are equal if they do the same to the same values.
struct SameResult : llvm::DenseMapInfo<Operation *> {
  /// Two operands may be in either order.
  static bool isSwappable(Operation *op) {
    return isa<rtl::AddOp, rtl::MulOp, rtl::AndOp, rtl::OrOp, rtl::XorOp>(op);
  }
  static unsigned getHashValue(const Operation *known) {
    auto *op = const_cast<Operation *>(known);
    llvm::hash_code kind = llvm::hash_combine(op->getName());
    if (op->getPropertiesStorageSize() > 0)
      kind = llvm::hash_combine(kind, op->hashProperties());
    if (isSwappable(op)) {
      auto [low, high] = std::minmax(op->getOperand(0).getAsOpaquePointer(),
                                     op->getOperand(1).getAsOpaquePointer());
      return unsigned(llvm::hash_combine(kind, low, high));
    }
    llvm::hash_code all = kind;
    for (Value v : op->getOperands())
      all = llvm::hash_combine(all, v.getAsOpaquePointer());
    return unsigned(all);
  }
  static bool isEqual(const Operation *x, const Operation *y) {
    if (x == y)
      return true;
    for (const Operation *key : {x, y})
      if (key == getEmptyKey() || key == getTombstoneKey())
        return false;
    auto *a = const_cast<Operation *>(x), *b = const_cast<Operation *>(y);
    if (a->getName() != b->getName() ||
        a->getResultTypes() != b->getResultTypes() ||
        !a->getName().compareOpProperties(a->getPropertiesStorage(),
                                          b->getPropertiesStorage()))
      return false;
    return a->getOperands() == b->getOperands() ||
           (isSwappable(a) && a->getOperand(0) == b->getOperand(1) &&
            a->getOperand(1) == b->getOperand(0));
  }
};

bool isMerged(Operation *op) {
  return !isa<rtl::InstanceOp, rtl::MemoryOp, rtl::WriteOp, rtl::OutputOp>(op);
}
} // namespace

void mergeAlike(Block &body) {
  llvm::DenseSet<Operation *, SameResult> known;
  known.reserve(unsigned(body.getOperations().size()));
  std::vector<Operation *> open, merged;
  auto visit = [&](Operation *op) {
    auto [same, isNew] = known.insert(op);
    if (isNew || *same == op)
      return;
    // Its readers may now be equal to others, those of registers earlier ones.
    for (Operation *user : op->getUsers()) {
      if (!isMerged(user))
        continue;
      if (auto it = known.find(user); it != known.end() && *it == user)
        known.erase(it);
      open.push_back(user);
    }
    op->replaceAllUsesWith(*same);
    merged.push_back(op);
  };
  for (Operation &op : body) {
    if (isMerged(&op) && !op.use_empty())
      visit(&op);
  }
  // A user may be merged before its turn comes.
  while (!open.empty()) {
    Operation *op = open.back();
    open.pop_back();
    if (!op->use_empty())
      visit(op);
  }
  for (Operation *op : merged)
    op->erase();
}
} // namespace rhizome::gen::loops
