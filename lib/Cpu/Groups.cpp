// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations one after the other that work on the same slices of large buffers
// (the heads of an attention, the samples of a batch) run slice by slice, so
// that what one writes is still in the cache when the next one reads it.
#include "Vectorizer.h"
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

/// Buffers together larger than this leave the cache between operations.
static constexpr int64_t kLargeBytes = 1 << 20;
/// What the operations of one slice should take at most.
static constexpr int64_t kSliceBytes = 256 << 10;
static constexpr size_t kMostOperations = 32;

/// The loop that moves furthest in the result, -1 if there is none.
static int slowest(const Nest &nest) {
  int best = -1;
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i)
    if (!nest.loops[i].isSummed &&
        (best < 0 || nest.out.steps[i] > nest.out.steps[best]))
      best = i;
  return best;
}

/// Cuts the slowest loop into `slices` steps and a loop inside; the number of
/// the loop over slices.
static int cutSlices(Nest &nest, int64_t slices) {
  int at = slowest(nest);
  int64_t inner = nest.loops[at].extent / slices;
  if (inner == 1)
    return at;
  auto split = [&](Access &a) { a.steps.push_back(a.steps[at] * inner); };
  for (Access &a : nest.in)
    split(a);
  split(nest.out);
  nest.loops[at].extent = inner;
  nest.loops.push_back({slices, false});
  return int(nest.loops.size()) - 1;
}

/// All accesses of a nest that are memory.
static SmallVector<const Access *> memories(const Nest &nest) {
  SmallVector<const Access *> all{&nest.out};
  for (const Access &a : nest.in)
    if (!a.isScalar())
      all.push_back(&a);
  return all;
}

/// Whether operations that are cut so touch, of what one of them writes, only
/// the slice at hand.
static bool areApart(ArrayRef<Nest> given, int64_t slices) {
  llvm::DenseMap<Value, int64_t> sliceOf;
  std::vector<Nest> nests(given.begin(), given.end());
  SmallVector<int> loops;
  for (Nest &nest : nests) {
    loops.push_back(cutSlices(nest, slices));
    int64_t step = nest.out.steps[loops.back()];
    auto [at, isNew] = sliceOf.try_emplace(rootOf(nest.out.memory), step);
    if (step <= 0 || at->second != step)
      return false;
  }
  for (auto [nest, slice] : llvm::zip(nests, loops))
    for (const Access *a : memories(nest)) {
      auto found = sliceOf.find(rootOf(a->memory));
      if (found == sliceOf.end())
        continue;
      if (a->isMoved)
        return false;
      int64_t reach = a->offset;
      for (auto [i, loop, step] : llvm::enumerate(nest.loops, a->steps)) {
        if (step < 0)
          return false;
        if (int(i) != slice)
          reach += (loop.extent - 1) * step;
      }
      if (a->steps[slice] != found->second || reach >= found->second ||
          a->element() != nests.front().out.element())
        return false;
    }
  return true;
}

/// Bytes of the buffers that the operations walk slice by slice.
static int64_t bytesOf(ArrayRef<Nest> nests) {
  llvm::DenseMap<Value, int64_t> sizes;
  for (const Nest &nest : nests)
    for (const Access *a : memories(nest))
      sizes[rootOf(a->memory)] =
          cast<MemRefType>(rootOf(a->memory).getType()).getNumElements() *
          a->element().getIntOrFloatBitWidth() / 8;
  int64_t sum = 0;
  for (auto &[root, size] : sizes)
    sum += size;
  return sum;
}

static int64_t divisorOf(ArrayRef<Nest> nests) {
  int64_t all = 0;
  for (const Nest &nest : nests) {
    int at = slowest(nest);
    all = std::gcd(all, at < 0 ? 1 : nest.loops[at].extent);
  }
  return all;
}

/// Whether the operation can be written at any place, of floats alone.
bool Vectorizer::canGroup(const Nest &found) {
  return isa<FloatType>(found.out.element()) && slowest(found) >= 0 &&
         (plan(found) || planReduction(found));
}

void Vectorizer::groupOperations(ArrayRef<Operation *> work,
                                 llvm::DenseSet<Operation *> &done) {
  int64_t bytes = 0;
  for (auto alloc : func.getBody().front().getOps<memref::AllocOp>())
    bytes += alloc.getType().getNumElements() *
             llvm::divideCeil(alloc.getType().getElementTypeBitWidth(), 8);
  if (bytes < kLargeBytes)
    return;
  std::vector<Nest> nests;
  auto close = [&] {
    if (nests.size() > 1)
      emitGroup(nests, done);
    nests.clear();
  };
  Operation *last = nullptr;
  for (Operation *op : work) {
    // In a trip of a loop, what one writes is in the cache anyway.
    if (op->getParentOp() != func) {
      close();
      last = nullptr;
      continue;
    }
    bool follows = last != nullptr;
    for (Operation *between = last ? last->getNextNode() : nullptr;
         follows && between != op; between = between->getNextNode())
      follows = isMemoryEffectFree(between) || isa<memref::AllocOp>(between);
    if (!follows || nests.size() == kMostOperations)
      close();
    last = op;
    std::optional<Nest> found = nestOf(op);
    if (!found || !canGroup(*found)) {
      close();
      continue;
    }
    nests.push_back(*found);
    if (nests.size() > 1 &&
        (divisorOf(nests) < 2 || !areApart(nests, divisorOf(nests)))) {
      nests.pop_back();
      close();
      nests.push_back(*found);
    }
  }
  close();
}

void Vectorizer::emitGroup(MutableArrayRef<Nest> nests,
                           llvm::DenseSet<Operation *> &done) {
  int64_t bytes = bytesOf(nests), all = divisorOf(nests), slices = all;
  if (bytes < kLargeBytes)
    return;
  // The fewest slices that are small enough.
  for (int64_t n = 1; n <= all; ++n)
    if (all % n == 0 && bytes / n <= kSliceBytes) {
      slices = n;
      break;
    }
  if (slices < 2 || !areApart(nests, slices))
    return;
  SmallVector<int> loops;
  llvm::DenseSet<Operation *> members;
  for (Nest &nest : nests) {
    loops.push_back(cutSlices(nest, slices));
    members.insert(nest.op);
  }
  // What sums take with them, while everything stands where it was.
  llvm::DenseSet<Operation *> absorbed;
  std::vector<std::pair<std::optional<Following>, std::optional<Following>>>
      around(nests.size());
  for (auto [nest, slice, with] : llvm::zip(nests, loops, around)) {
    sliceLoop = slice;
    bool isPlanned = plan(nest) || planReduction(nest);
    sliceLoop = -1;
    if (!isPlanned)
      return;
    if (end && !members.contains(end->nest.op))
      end = std::nullopt;
    with = {beginning, end};
    for (auto *other : {&beginning, &end})
      if (*other)
        absorbed.insert((*other)->nest.op);
  }
  Operation *lastOp = nests.back().op;
  b.setInsertionPoint(lastOp);
  loc = lastOp->getLoc();
  Value from = number(0), to = number(slices), by = number(1);
  group = scf::ForOp::create(b, loc, from, to, by);
  SmallVector<Operation *> erased;
  for (auto [nest, slice, with] : llvm::zip(nests, loops, around)) {
    erased.push_back(nest.op);
    if (absorbed.contains(nest.op))
      continue;
    sliceLoop = slice;
    loc = nest.op.getLoc();
    b.setInsertionPoint(group.getBody()->getTerminator());
    if (!plan(nest))
      (void)planReduction(nest);
    std::tie(beginning, end) = with;
    emit();
  }
  sliceLoop = -1;
  group = nullptr;
  for (Operation *op : absorbed)
    if (!llvm::is_contained(erased, op))
      erased.push_back(op);
  for (Operation *op : erased) {
    done.insert(op);
    op->erase();
  }
}
