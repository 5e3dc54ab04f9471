// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a unit has twice: logic, registers and reads with the same inputs are
// built once. Nests that take turns on a memory's port read the same words, so
// they share operands' registers and products, too.
#include "Unit.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace rhizome::gen::hls {
namespace {
/// Operations are equal if they do the same to the same values.
struct SameResult : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return unsigned(OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations));
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    auto isKey = [](const Operation *op) {
      return op == getEmptyKey() || op == getTombstoneKey();
    };
    return !isKey(a) && !isKey(b) &&
           OperationEquivalence::isEquivalentTo(
               const_cast<Operation *>(a), const_cast<Operation *>(b),
               OperationEquivalence::IgnoreLocations);
  }
};
} // namespace

void mergeAlike(Block &body) {
  llvm::DenseSet<Operation *, SameResult> known;
  llvm::SetVector<Operation *> open;
  for (Operation &op : llvm::reverse(body))
    if (isMemoryEffectFree(&op) || isa<rtl::RegisterOp, rtl::ReadOp>(op))
      open.insert(&op);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    auto [same, isNew] = known.insert(op);
    if (isNew || *same == op)
      continue;
    // Its readers may now be equal to others, those of registers earlier ones.
    for (Operation *user : op->getUsers()) {
      if (auto it = known.find(user); it != known.end() && *it == user)
        known.erase(it);
      if (isMemoryEffectFree(user) || isa<rtl::RegisterOp, rtl::ReadOp>(user))
        open.insert(user);
    }
    op->replaceAllUsesWith(*same);
  }
}
} // namespace rhizome::gen::hls
