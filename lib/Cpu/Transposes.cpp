// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What only moves elements, with memory read along another loop than it is
// written: square blocks in registers, whose rows are interleaved until they
// are columns. Blocks at the ends are moved back, so nothing else is touched.
#include "Vectorizer.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

/// The columns of a square block, a power of two of rows.
static SmallVector<Value> columnsOf(OpBuilder &b, Location loc,
                                    SmallVector<Value> rows) {
  size_t size = rows.size();
  auto half = [&](Value both, int64_t at) -> Value {
    return vector::ExtractStridedSliceOp::create(
        b, loc, both, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{int64_t(size)},
        ArrayRef<int64_t>{1});
  };
  for (size_t done = 1; done < size; done *= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < size / 2; ++i) {
      Value both =
          vector::InterleaveOp::create(b, loc, rows[i], rows[i + size / 2]);
      next.push_back(half(both, 0));
      next.push_back(half(both, int64_t(size)));
    }
    rows = std::move(next);
  }
  return rows;
}

bool Vectorizer::transpose(Nest given) {
  constexpr int64_t kLeast = 4, kMost = 16;
  int64_t fit = unit.integerBits / given.out.element().getIntOrFloatBitWidth();
  Operation *end = given.op.getBlock()->getTerminator();
  if (given.hasSums() || given.in.size() != 1 || given.in[0].isScalar() ||
      end->getOperand(0) != given.op.getBlock()->getArgument(0) ||
      rootOf(given.in[0].memory) == rootOf(given.out.memory))
    return false;
  nest = std::move(given);
  sliceLoop = -1;
  lanes = laneLoop(nest);
  const Access &from = nest.in[0], &to = nest.out;
  int along = -1; // the loop in whose order memory is read
  for (auto [i, step] : llvm::enumerate(from.steps))
    if (step == 1)
      along = int(i);
  if (lanes < 0 || along < 0 || from.steps[lanes] < 2)
    return false;
  int64_t least = std::min(nest.loops[lanes].extent, nest.loops[along].extent);
  if (least < kLeast)
    return false;
  int64_t size = int64_t(llvm::bit_floor(
      uint64_t(std::min({kMost, std::max(fit, kLeast), least}))));
  loc = nest.op.getLoc();
  b.setInsertionPoint(nest.op);
  Value flatFrom = flat(from), flatTo = flat(to);
  Value readAt = number(from.offset), writeAt = number(to.offset);
  order.clear();
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (i != lanes && i != along)
      order.push_back(i);
  order.append({lanes, along});
  for (int i : order) {
    bool isBlock = i == lanes || i == along;
    int64_t extent = nest.loops[i].extent, step = isBlock ? size : 1;
    Value zero = number(0), last = number(extent), by = number(step);
    auto loop = scf::ForOp::create(b, loc, zero, last, by);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (extent % step)
      at = arith::MinSIOp::create(b, loc, at, number(extent - step));
    auto moved = [&](Value base, int64_t each) -> Value {
      Value far = arith::MulIOp::create(b, loc, at, number(each));
      return arith::AddIOp::create(b, loc, base, far);
    };
    readAt = moved(readAt, from.steps[i]);
    writeAt = moved(writeAt, to.steps[i]);
  }
  SmallVector<Value> rows;
  for (int64_t k = 0; k < size; ++k)
    rows.push_back(loadVector(flatFrom, from.element(),
                              plus(readAt, k * from.steps[lanes]), size));
  for (auto [k, column] : llvm::enumerate(columnsOf(b, loc, rows)))
    vector::StoreOp::create(b, loc, column, flatTo,
                            plus(writeAt, int64_t(k) * to.steps[along]));
  return true;
}
