// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "rhizome/Support/LinalgLoops.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

Value cpu::rootOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

Value cpu::flatMemory(OpBuilder &b, Location loc, Value memref, int64_t size) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return memref;
  auto [strides, offset] = type.getStridesAndOffset();
  if (!ShapedType::isDynamic(offset))
    return memref::ReinterpretCastOp::create(
        b, loc, MemRefType::get({size}, type.getElementType()), memref,
        /*offset=*/0, ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  auto whole = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, {1});
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get({size}, type.getElementType(), layout),
      whole.getBaseBuffer(), OpFoldResult(whole.getOffset()),
      ArrayRef<OpFoldResult>{b.getIndexAttr(size)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

/// expr = constant + Σ steps · dimension; false if it is not so.
static bool addLinear(AffineExpr expr, int64_t factor, Access &to) {
  if (auto d = dyn_cast<AffineDimExpr>(expr)) {
    to.steps[d.getPosition()] += factor;
    return true;
  }
  if (auto c = dyn_cast<AffineConstantExpr>(expr)) {
    to.offset += factor * c.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, to) &&
           addLinear(binary.getRHS(), factor, to);
  auto c = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && c &&
         addLinear(binary.getLHS(), factor * c.getValue(), to);
}

static bool isPlain(Operation &inner) {
  for (Type type : inner.getResultTypes())
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return false;
  if (host::Check::of(&inner))
    return false;
  // A division could trap on a lane that is not there.
  return (OpTrait::hasElementwiseMappableTraits(&inner) &&
          !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
               arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
              inner)) ||
         isa<arith::ConstantOp>(inner);
}

static void simplify(Nest &nest);

std::optional<Nest> cpu::nestOf(Operation *operation) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.hasDynamicShape() || op.hasIndexSemantics())
    return std::nullopt;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isPlain(inner))
      return std::nullopt;
  Nest nest;
  nest.op = op;
  for (auto [extent, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    nest.loops.push_back({extent, kind == utils::IteratorType::reduction});
  for (OpOperand &operand : op->getOpOperands()) {
    Access access;
    access.steps.assign(nest.loops.size(), 0);
    if (!op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand)) {
      nest.in.push_back(access); // gives extents only
      continue;
    }
    access.memory = operand.get();
    Type element = access.element();
    // Vectors of narrower numbers lie otherwise in memory, of wider ones no
    // processor computes.
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
        element.getIntOrFloatBitWidth() > 64)
      return std::nullopt;
    if (auto type = dyn_cast<MemRefType>(operand.get().getType())) {
      SmallVector<int64_t> strides;
      if (failed(type.getStridesAndOffset(strides, access.offset)) ||
          llvm::any_of(strides, ShapedType::isDynamic))
        return std::nullopt;
      access.isMoved = ShapedType::isDynamic(access.offset);
      if (access.isMoved)
        access.offset = 0;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [result, stride] : llvm::zip(map.getResults(), strides))
        if (!addLinear(result, stride, access))
          return std::nullopt;
    }
    if (op.isDpsInit(&operand)) {
      nest.out = access;
      nest.readsOut = op.payloadUsesValueFromOperand(&operand);
    } else {
      nest.in.push_back(access);
    }
  }
  simplify(nest);
  return nest;
}

/// All accesses of a nest that are memory.
static SmallVector<Access *> accesses(Nest &nest) {
  SmallVector<Access *> all;
  for (Access &a : nest.in)
    if (!a.isScalar())
      all.push_back(&a);
  all.push_back(&nest.out);
  return all;
}

/// Joins loops that walk memory like one, drops those of one step; summed
/// loops keep their order.
static void simplify(Nest &nest) {
  auto drop = [&](size_t i) {
    nest.loops.erase(nest.loops.begin() + i);
    for (Access &a : nest.in)
      a.steps.erase(a.steps.begin() + i);
    nest.out.steps.erase(nest.out.steps.begin() + i);
  };
  for (size_t i = nest.loops.size(); i-- > 0;)
    if (nest.loops[i].extent == 1)
      drop(i);
  auto fit = [&](size_t outer, size_t inner) {
    if (nest.loops[outer].isSummed != nest.loops[inner].isSummed)
      return false;
    if (nest.loops[outer].isSummed) {
      if (outer > inner)
        return false;
      for (size_t between = outer + 1; between < inner; ++between)
        if (nest.loops[between].isSummed)
          return false;
    }
    return llvm::all_of(accesses(nest), [&](Access *a) {
      return a->steps[outer] == a->steps[inner] * nest.loops[inner].extent;
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < nest.loops.size() && !changed; ++i)
      for (size_t j = 0; j < nest.loops.size() && !changed; ++j)
        if (i != j && fit(i, j)) {
          nest.loops[j].extent *= nest.loops[i].extent;
          drop(i);
          changed = true;
        }
  }
}

/// The loops over `size` elements that lie side by side by rising step; empty
/// if the access is no walk over just these.
static SmallVector<size_t> denseOrder(const Nest &nest, const Access &access,
                                      int64_t size) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < nest.loops.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](size_t i, size_t j) {
    return access.steps[i] < access.steps[j];
  });
  int64_t next = 1;
  for (size_t i : order) {
    if (nest.loops[i].isSummed || access.steps[i] != next)
      return {};
    next *= nest.loops[i].extent;
  }
  if (access.isMoved || next != size)
    return {};
  return order;
}

/// `nest` as an elementwise operation on the `size` elements that the sums
/// walk, as `access` does, seen from the loops of the sums.
static std::optional<Following> followingOf(Nest nest, const Access &access,
                                            int64_t size, const Nest &sums) {
  SmallVector<size_t> order = denseOrder(nest, access, size);
  if (order.empty() || access.offset != sums.out.offset)
    return std::nullopt;
  // Whether a loop of the sums runs over the end of a loop of the operation.
  auto isCrossed = [&](int64_t end) {
    for (auto [loop, step] : llvm::zip(sums.loops, sums.out.steps))
      if (!loop.isSummed && step < end && step * loop.extent > end)
        return true;
    return false;
  };
  auto seenFromSums =
      [&](const Access &a) -> std::optional<SmallVector<int64_t>> {
    SmallVector<int64_t> steps(sums.loops.size(), 0);
    if (a.isScalar())
      return steps;
    // Loops that the operand walks like one may be crossed.
    auto isOne = [&](size_t k) {
      return a.steps[order[k]] ==
             a.steps[order[k - 1]] * nest.loops[order[k - 1]].extent;
    };
    for (size_t k = 1; k < order.size(); ++k)
      if (!isOne(k) && isCrossed(access.steps[order[k]]))
        return std::nullopt;
    for (auto [to, loop, step] : llvm::zip(steps, sums.loops, sums.out.steps)) {
      if (loop.isSummed)
        continue;
      size_t k = order.size() - 1;
      while (k > 0 && access.steps[order[k]] > step)
        --k;
      while (k > 0 && step % access.steps[order[k]] != 0 && isOne(k))
        --k;
      if (step % access.steps[order[k]] != 0)
        return std::nullopt;
      to = step / access.steps[order[k]] * a.steps[order[k]];
    }
    return steps;
  };
  Following following;
  for (const Access &a : nest.in) {
    auto steps = seenFromSums(a);
    if (!steps)
      return std::nullopt;
    following.steps.push_back(std::move(*steps));
  }
  following.out = nest.out;
  auto steps = seenFromSums(nest.out);
  if (!steps)
    return std::nullopt;
  following.out.steps = std::move(*steps);
  following.nest = std::move(nest);
  return following;
}

/// Whether what the nests read is not written between two operations.
static bool isUntouched(const Nest &nest, Operation *from, Operation *to,
                        ArrayRef<const Nest *> read) {
  llvm::DenseSet<Value> roots;
  for (const Nest *n : read)
    for (const Access &a : n->in)
      if (!a.isScalar())
        roots.insert(rootOf(a.memory));
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode()) {
    if (op == nest.op || isMemoryEffectFree(op) ||
        isa<memref::AllocOp, ViewLikeOpInterface>(op))
      continue;
    auto other = dyn_cast<linalg::LinalgOp>(op);
    if (!other) {
      // Loops that took the place of an operation write what they store to.
      bool writes = false;
      op->walk([&](Operation *inner) {
        if (auto l = dyn_cast<linalg::LinalgOp>(inner))
          for (Value out : l.getDpsInits())
            writes |= roots.contains(rootOf(out));
        else if (auto s = dyn_cast<vector::StoreOp>(inner))
          writes |= roots.contains(rootOf(s.getBase()));
        else if (auto s = dyn_cast<memref::StoreOp>(inner))
          writes |= roots.contains(rootOf(s.getMemRef()));
        else if (inner->getNumRegions() == 0 && !isMemoryEffectFree(inner) &&
                 !isa<vector::LoadOp, vector::MaskedLoadOp, memref::LoadOp,
                      memref::PrefetchOp, memref::AllocOp,
                      LLVM::CallIntrinsicOp>(inner))
          writes = true;
      });
      if (writes)
        return false;
      continue;
    }
    for (Value out : other.getDpsInits())
      if (roots.contains(rootOf(out)))
        return false;
  }
  return true;
}

/// All operations that use a buffer or a view of it, in order; views apart.
static SmallVector<Operation *> usersOf(Value buffer) {
  SmallVector<Operation *> users;
  SmallVector<Value> names{buffer};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        names.append(user->result_begin(), user->result_end());
      else
        users.push_back(user);
    }
  return users;
}

/// The number of elements of the sums, if they lie side by side; else 0.
static int64_t denseSize(const Nest &nest) {
  Nest walked = nest;
  int64_t size = 1;
  for (size_t i = walked.loops.size(); i-- > 0;) {
    if (!walked.loops[i].isSummed) {
      size *= walked.loops[i].extent;
      continue;
    }
    walked.loops.erase(walked.loops.begin() + i);
    walked.out.steps.erase(walked.out.steps.begin() + i);
  }
  return denseOrder(walked, walked.out, size).empty() ? 0 : size;
}

std::optional<Following> cpu::beginningOf(const Nest &nest) {
  int64_t size = denseSize(nest);
  if (!nest.readsOut || !size)
    return std::nullopt;
  // The last of the buffer's users before the sums must write their elements,
  // which lie side by side as theirs do, and no others.
  Operation *last = nullptr;
  for (Operation *user : usersOf(rootOf(nest.out.memory))) {
    user = nest.op->getBlock()->findAncestorOpInBlock(*user);
    if (!user)
      return std::nullopt;
    if (user != nest.op && user->isBeforeInBlock(nest.op) &&
        (!last || last->isBeforeInBlock(user)))
      last = user;
  }
  std::optional<Nest> found = last ? nestOf(last) : std::nullopt;
  if (!found || found->hasSums() || found->readsOut ||
      rootOf(found->out.memory) != rootOf(nest.out.memory))
    return std::nullopt;
  Access out = found->out;
  std::optional<Following> f = followingOf(std::move(*found), out, size, nest);
  if (!f || !isUntouched(nest, last, nest.op, {&f->nest}))
    return std::nullopt;
  return f;
}

std::optional<Following> cpu::endOf(const Nest &nest,
                                    const std::optional<Following> &beginning) {
  int64_t size = denseSize(nest);
  Value root = rootOf(nest.out.memory);
  // What the caller sees must be written.
  if (!size || (nest.readsOut && !beginning) ||
      !root.getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  Operation *reader = nullptr;
  for (Operation *user : usersOf(root)) {
    if (user == nest.op || isa<memref::DeallocOp>(user) ||
        (beginning && user == beginning->nest.op))
      continue;
    if (reader || user->getBlock() != nest.op->getBlock() ||
        !nest.op->isBeforeInBlock(user))
      return std::nullopt;
    reader = user;
  }
  std::optional<Nest> found = reader ? nestOf(reader) : std::nullopt;
  if (!found || found->hasSums() || found->readsOut ||
      rootOf(found->out.memory) == root)
    return std::nullopt;
  const Access *sums = nullptr;
  for (const Access &a : found->in)
    if (!a.isScalar() && rootOf(a.memory) == root) {
      if (sums)
        return std::nullopt;
      sums = &a;
    }
  if (!sums) // named, and not read
    return std::nullopt;
  Access walk = *sums;
  std::optional<Following> f = followingOf(std::move(*found), walk, size, nest);
  if (!f)
    return std::nullopt;
  SmallVector<const Nest *> read{&nest};
  if (beginning)
    read.push_back(&beginning->nest);
  Operation *first = beginning ? beginning->nest.op : nest.op;
  if (!isUntouched(nest, first, reader, read))
    return std::nullopt;
  return f;
}
