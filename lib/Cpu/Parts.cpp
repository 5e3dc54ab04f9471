// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a function on buffers is cut into parts, and where its temporaries lie.
#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace rhizome;

/// Whether code for a value can stand anywhere, as often as needed.
static bool isCheap(Operation *op) {
  return op && isa<ViewLikeOpInterface, arith::ConstantOp>(op);
}

/// Moves operations of one block into a function that is called in their place.
static void outline(func::FuncOp func, ArrayRef<Operation *> part,
                    const llvm::Twine &name) {
  OpBuilder b(func);
  auto inner = func::FuncOp::create(b, func.getLoc(), name.str(),
                                    b.getFunctionType({}, {}));
  inner.setPrivate();
  Block *body = inner.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  SmallVector<Value> outer;
  std::function<void(Value)> need = [&](Value v) {
    if (mapping.contains(v))
      return;
    if (Operation *op = v.getDefiningOp(); isCheap(op)) {
      for (Value operand : op->getOperands())
        need(operand);
      b.clone(*op, mapping);
      return;
    }
    outer.push_back(v);
    mapping.map(v, body->addArgument(v.getType(), v.getLoc()));
  };
  for (Operation *op : part) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value v : used)
      need(v);
    b.clone(*op, mapping);
  }
  func::ReturnOp::create(b, func.getLoc());
  inner.setType(b.getFunctionType(body->getArgumentTypes(), {}));
  for (unsigned i = 0; i < inner.getNumArguments(); ++i)
    if (isa<MemRefType>(inner.getArgument(i).getType()))
      inner.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                       b.getUnitAttr());
  b.setInsertionPoint(part.back());
  func::CallOp::create(b, func.getLoc(), inner, outer);
  for (Operation *op : llvm::reverse(part))
    op->erase();
}

void cpu::cutIntoParts(func::FuncOp func) {
  constexpr size_t kOps = 64;
  Block &whole = func.getBody().front();
  SmallVector<Operation *> work;
  llvm::DenseMap<Operation *, size_t> position;
  for (Operation &op : whole.without_terminator())
    if (!isCheap(&op) && !isa<memref::AllocOp>(op)) {
      position[&op] = work.size();
      work.push_back(&op);
    }
  SmallVector<size_t> ends;
  size_t lastUse = 0;
  for (auto [i, op] : llvm::enumerate(work)) {
    for (Operation *user : op->getUsers())
      lastUse = std::max(lastUse,
                         position.lookup(whole.findAncestorOpInBlock(*user)));
    size_t first = ends.empty() ? 0 : ends.back();
    if (i + 1 == work.size() ||
        (lastUse <= i && i + 1 - first >= kOps && work.size() - i > kOps))
      ends.push_back(i + 1);
  }
  size_t first = 0;
  for (size_t last : ends) {
    outline(func, ArrayRef(work).slice(first, last - first),
            func.getSymName() + "_" + llvm::Twine(last));
    first = last;
  }
}

/// Positions in the entry block at which a buffer, under any of its views, is
/// used.
static std::pair<int64_t, int64_t>
lifetime(Value buffer, const DenseMap<Operation *, int64_t> &positions,
         Block *entry) {
  int64_t first = INT64_MAX, last = -1;
  SmallVector<Value> names{buffer};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        names.append(user->result_begin(), user->result_end());
        continue;
      }
      int64_t at = positions.lookup(entry->findAncestorOpInBlock(*user));
      first = std::min(first, at), last = std::max(last, at);
    }
  }
  return {first, last};
}

int64_t cpu::shareScratch(func::FuncOp func, int64_t margin) {
  constexpr int64_t kAlignment = 64;
  Block *entry = &func.getBody().front();
  DenseMap<Operation *, int64_t> positions;
  int64_t next = 0;
  for (Operation &op : *entry)
    positions[&op] = next++;
  struct Buffer {
    memref::AllocOp alloc;
    int64_t first, last, bytes, offset = 0;
  };
  std::vector<Buffer> buffers;
  SmallVector<memref::AllocOp> allocs;
  func.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : allocs) {
    if (alloc->use_empty()) {
      alloc.erase();
      continue;
    }
    auto [first, last] = lifetime(alloc, positions, entry);
    MemRefType type = alloc.getType();
    int64_t bytes = type.getNumElements() *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    buffers.push_back({alloc, first, last,
                       int64_t(llvm::alignTo(bytes + margin, kAlignment))});
  }
  llvm::stable_sort(buffers, [](const Buffer &a, const Buffer &b) {
    return a.first < b.first;
  });
  int64_t total = 0;
  SmallVector<size_t> alive;
  for (size_t i = 0; i < buffers.size(); ++i) {
    // The lowest place that is free while this one lives.
    llvm::erase_if(
        alive, [&](size_t j) { return buffers[j].last < buffers[i].first; });
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (size_t j : alive)
      taken.emplace_back(buffers[j].offset,
                         buffers[j].offset + buffers[j].bytes);
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [from, to] : taken) {
      if (from >= offset + buffers[i].bytes)
        break;
      offset = std::max(offset, to);
    }
    buffers[i].offset = offset;
    total = std::max(total, offset + buffers[i].bytes);
    alive.push_back(i);
  }
  OpBuilder b = OpBuilder::atBlockBegin(entry);
  total = std::max<int64_t>(total, kAlignment);
  Value scratch = entry->addArgument(MemRefType::get({total}, b.getI8Type()),
                                     func.getLoc());
  for (Buffer &buffer : buffers) {
    b.setInsertionPoint(buffer.alloc);
    Value offset =
        arith::ConstantIndexOp::create(b, buffer.alloc.getLoc(), buffer.offset);
    Value view =
        memref::ViewOp::create(b, buffer.alloc.getLoc(), buffer.alloc.getType(),
                               scratch, offset, ValueRange{});
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
  func.setType(b.getFunctionType(entry->getArgumentTypes(), {}));
  return total;
}
