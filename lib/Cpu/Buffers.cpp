// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers in one walk. A result takes the buffer of the tensor that
// it begins as if nothing reads that later, else a new one; slices and reshapes
// are views; what the function returns is computed where the caller wants it.
// Every name of a buffer is known, so that the walk is linear where a general
// analysis of thousands of operations takes minutes. What a loop carries from
// trip to trip lies in one buffer, which the trips write in place where they
// can; all buffers are made outside of loops.
#include "Buffers.h"
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

/// The bytes of a constant tensor, splats written out.
static std::vector<char> bytesOf(ElementsAttr attr) {
  if (isa<DenseResourceElementsAttr>(attr)) {
    ArrayRef<char> data = osa::rawValues(attr);
    return {data.begin(), data.end()};
  }
  auto dense = cast<DenseElementsAttr>(attr);
  ArrayRef<char> data = dense.getRawData();
  std::vector<char> out;
  for (int64_t i = 0, n = dense.isSplat() ? attr.getNumElements() : 1; i < n;
       ++i)
    out.insert(out.end(), data.begin(), data.end());
  return out;
}

static MemRefType memrefOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

Memory Memory::dense(func::FuncOp func) {
  Memory memory;
  for (Type type : func.getArgumentTypes())
    memory.inputs.push_back(memrefOf(type));
  for (Type type : func.getResultTypes())
    memory.results.push_back(memrefOf(type));
  memory.takes.assign(memory.results.size(), -1);
  return memory;
}

namespace {
class Bufferizer {
public:
  Bufferizer(func::FuncOp func, const Memory &memory, Constants &constants)
      : func(func), memory(memory), body(func.getBody().front()),
        constants(constants), b(func.getContext()) {}
  LogicalResult run();

private:
  struct Buffer {
    bool isWritable = false;
    /// The loop whose trips may write it as they like; null outside of loops.
    Operation *loop = nullptr;
    SmallVector<Value> names; ///< tensors that lie in it now
  };
  struct Place {
    Value memref; ///< null of a tensor without content
    size_t buffer = 0;
  };

  void unshareFills();
  LogicalResult convert(Operation *op);
  LogicalResult convertAll(Block &block);
  SmallVector<Place> begin(Operation *op, ValueRange inits);
  void carry(ValueRange args, ArrayRef<Place> carried, Operation *loop);
  LogicalResult loop(scf::ForOp op);
  LogicalResult loop(scf::WhileOp op);
  void yield(Location loc, ArrayRef<Place> carried, ValueRange yielded);
  void give(Value tensor, Value memref, size_t buffer) {
    places[tensor] = {memref, buffer};
    buffers[buffer].names.push_back(tensor);
  }
  size_t addBuffer(bool isWritable) {
    buffers.push_back({isWritable, within, {}});
    return buffers.size() - 1;
  }
  /// A new buffer, made before the outermost loop around what is written now.
  Value allocate(Location loc, Type tensor) {
    OpBuilder::InsertionGuard guard(b);
    if (within)
      b.setInsertionPoint(body.findAncestorOpInBlock(*within));
    return memref::AllocOp::create(b, loc, memrefOf(tensor));
  }
  /// What holds a tensor that is read.
  Value read(Value tensor) {
    Place &place = places.find(tensor)->second;
    if (!place.memref) // only its extents matter
      place.memref = allocate(tensor.getLoc(), tensor.getType());
    return place.memref;
  }
  void copy(Location loc, Value from, Value to) {
    linalg::makeMemRefCopyOp(b, loc, from, to);
  }
  bool isFree(Operation *op, Value tensor);
  Value written(Operation *op, Value begins, bool isRead, Value result,
                bool mayTake = true);
  LogicalResult dps(linalg::LinalgOp op);
  template <typename Op>
  Value viewOf(Op op, Value whole, RankedTensorType slice);
  LogicalResult insert(tensor::InsertSliceOp op);
  LogicalResult insert(tensor::InsertOp op);
  LogicalResult extract(tensor::ExtractSliceOp op);
  template <typename Op, typename To> LogicalResult reshape(Op op);

  bool insertDirectly(tensor::InsertSliceOp op, Value part, Value whole);
  bool giveDirectly(Value from, Value to);

  func::FuncOp func;
  const Memory &memory;
  Block &body;
  Constants &constants;
  OpBuilder b;
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::DenseMap<Value, Place> places;
  std::vector<Buffer> buffers;
  Operation *within = nullptr; ///< the loop whose body is converted
};
} // namespace

/// Gives every operation that begins with one number a fill of its own: to
/// write it again costs less than to copy it, and sums that begin with it then
/// begin in registers.
void Bufferizer::unshareFills() {
  SmallVector<OpOperand *> inits;
  func.walk([&](linalg::LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable())
      if (init.get().getDefiningOp<linalg::FillOp>())
        inits.push_back(&init);
  });
  for (OpOperand *init : inits) {
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    if (fill->hasOneUse())
      continue;
    b.setInsertionPoint(init->getOwner());
    auto empty = tensor::EmptyOp::create(b, fill.getLoc(),
                                         init->get().getType(), ValueRange());
    init->set(linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(),
                                     empty.getResult())
                  .getResult(0));
  }
}

/// First and last operation of the block that uses a buffer under any name.
static std::pair<Operation *, Operation *> usesOf(Value buffer, Block &block) {
  std::pair<Operation *, Operation *> uses{nullptr, nullptr};
  SmallVector<Value> names{buffer};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        names.append(user->result_begin(), user->result_end());
        continue;
      }
      Operation *at = block.findAncestorOpInBlock(*user);
      if (!uses.first || at->isBeforeInBlock(uses.first))
        uses.first = at;
      if (!uses.second || uses.second->isBeforeInBlock(at))
        uses.second = at;
    }
  return uses;
}

/// Whether nothing but the result of `op` will read the tensor's buffer.
bool Bufferizer::isFree(Operation *op, Value tensor) {
  const Buffer &buffer = buffers[places.find(tensor)->second.buffer];
  if (!buffer.isWritable || buffer.loop != within)
    return false;
  // A loop may begin with one tensor several times, in place only once.
  unsigned beginnings = 0;
  auto isBeginning = [&](OpOperand &use) {
    if (use.getOwner() != op || use.get() != tensor)
      return false;
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return ++beginnings == 1;
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&use);
  };
  int64_t now = position.lookup(op);
  for (Value name : buffer.names)
    for (OpOperand &use : name.getUses()) {
      Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      int64_t then = position.lookup(user);
      if (then > now || (then == now && !isBeginning(use)))
        return false;
    }
  return true;
}

/// The memref that `op` writes its result to, which begins as a tensor.
Value Bufferizer::written(Operation *op, Value begins, bool isRead,
                          Value result, bool mayTake) {
  Place from = places.find(begins)->second;
  if (from.memref && mayTake && isFree(op, begins)) {
    buffers[from.buffer].names.clear();
    give(result, from.memref, from.buffer);
    return from.memref;
  }
  Value fresh = allocate(op->getLoc(), result.getType());
  if (from.memref && isRead)
    copy(op->getLoc(), from.memref, fresh);
  give(result, fresh, addBuffer(/*isWritable=*/true));
  return fresh;
}

LogicalResult Bufferizer::dps(linalg::LinalgOp op) {
  if (failed(host::checkAccesses(op)))
    return failure();
  SmallVector<Value> operands;
  for (Value v : op.getDpsInputs())
    operands.push_back(isa<RankedTensorType>(v.getType()) ? read(v) : v);
  // Tensors that the body reads by index.
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp e) { extracts.push_back(e); });
  SmallVector<Value> indexed;
  for (tensor::ExtractOp e : extracts)
    indexed.push_back(read(e.getTensor()));
  // Results that begin with one tensor lie apart.
  llvm::SmallDenseSet<Value> begun;
  for (auto [init, result] :
       llvm::zip_equal(op.getDpsInitsMutable(), op->getResults()))
    operands.push_back(written(op, init.get(),
                               op.payloadUsesValueFromOperand(&init), result,
                               begun.insert(init.get()).second));
  Operation *made = mlir::clone(b, op, TypeRange(), operands);
  SmallVector<tensor::ExtractOp> copies;
  made->walk([&](tensor::ExtractOp e) { copies.push_back(e); });
  for (auto [e, memref] : llvm::zip_equal(copies, indexed)) {
    OpBuilder inner(e);
    Value v = memref::LoadOp::create(inner, e.getLoc(), memref, e.getIndices());
    e.replaceAllUsesWith(v);
    e.erase();
  }
  return success();
}

/// The part of `whole` that a slice of type `slice` reads or writes.
template <typename Op>
Value Bufferizer::viewOf(Op op, Value whole, RankedTensorType slice) {
  auto offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
       strides = op.getMixedStrides();
  auto type = memref::SubViewOp::inferRankReducedResultType(
      slice.getShape(), cast<MemRefType>(whole.getType()), offsets, sizes,
      strides);
  return memref::SubViewOp::create(b, op.getLoc(), cast<MemRefType>(type),
                                   whole, offsets, sizes, strides);
}

/// Lets what `op` inserts be computed where it is inserted, if nothing else
/// reads it and nothing uses the whole meanwhile.
bool Bufferizer::insertDirectly(tensor::InsertSliceOp op, Value part,
                                Value whole) {
  if (within || !op.getOffsets().empty())
    return false;
  auto alloc = part.getDefiningOp<memref::AllocOp>();
  auto wholeAlloc = whole.getDefiningOp<memref::AllocOp>();
  if (!alloc || (!wholeAlloc && !isa<BlockArgument>(whole)))
    return false;
  const Buffer &buffer = buffers[places.find(op.getSource())->second.buffer];
  for (Value name : buffer.names)
    for (Operation *user : name.getUsers())
      if (position.lookup(body.findAncestorOpInBlock(*user)) >
          position.lookup(op))
        return false;
  if (llvm::any_of(part.getUsers(), [](Operation *user) {
        return !isa<linalg::LinalgOp>(user);
      }))
    return false;
  Operation *first = usesOf(part, body).first;
  Operation *last = usesOf(whole, body).second;
  if (!first || (last && !last->isBeforeInBlock(first)))
    return false;
  if (wholeAlloc)
    wholeAlloc->moveBefore(&body.front());
  b.setInsertionPoint(alloc);
  Value view = viewOf(op, whole, op.getSourceType());
  part.replaceAllUsesWith(view);
  for (Value name : buffer.names)
    if (Place &place = places.find(name)->second; place.memref == part)
      place.memref = view;
  alloc.erase();
  return true;
}

LogicalResult Bufferizer::insert(tensor::InsertSliceOp op) {
  Value part = read(op.getSource());
  Value whole = written(op, op.getDest(), /*isRead=*/true, op.getResult());
  if (insertDirectly(op, part, whole))
    return success();
  Value view = viewOf(op, whole, op.getSourceType());
  copy(op.getLoc(), part, view);
  return success();
}

/// One element.
LogicalResult Bufferizer::insert(tensor::InsertOp op) {
  Value whole = written(op, op.getDest(), /*isRead=*/true, op.getResult());
  memref::StoreOp::create(b, op.getLoc(), op.getScalar(), whole,
                          op.getIndices());
  return success();
}

LogicalResult Bufferizer::extract(tensor::ExtractSliceOp op) {
  Value whole = read(op.getSource());
  Value view = viewOf(op, whole, op.getType());
  give(op.getResult(), view, places.find(op.getSource())->second.buffer);
  return success();
}

template <typename Op, typename To> LogicalResult Bufferizer::reshape(Op op) {
  Value from = read(op.getSrc());
  size_t buffer = places.find(op.getSrc())->second.buffer;
  if (!cast<MemRefType>(from.getType()).getLayout().isIdentity()) {
    Value dense = allocate(op.getLoc(), op.getSrc().getType());
    copy(op.getLoc(), from, dense);
    from = dense;
    buffer = addBuffer(/*isWritable=*/true);
  }
  Value view = To::create(b, op.getLoc(), memrefOf(op.getType()), from,
                          op.getReassociationIndices());
  give(op.getResult(), view, buffer);
  return success();
}

static bool isTensor(Type type) { return isa<TensorType>(type); }

/// Whether an operation and all inside it work without tensors.
static bool hasNoTensors(Operation *op) {
  return !op->walk([](Operation *inner) {
              return llvm::any_of(inner->getOperandTypes(), isTensor) ||
                             llvm::any_of(inner->getResultTypes(), isTensor)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

/// What the trips of a loop yield, for the next trip: each where the trips find
/// it. A value that lies where another one is to go is saved first.
void Bufferizer::yield(Location loc, ArrayRef<Place> carried,
                       ValueRange yielded) {
  SmallVector<Value> sources;
  for (Value v : yielded)
    sources.push_back(read(v));
  auto isMoved = [&](size_t i) { return sources[i] != carried[i].memref; };
  for (size_t i = 0; i < sources.size(); ++i) {
    const size_t buffer = places.find(yielded[i])->second.buffer;
    for (size_t k = 0; k < carried.size(); ++k)
      if (k != i && isMoved(i) && isMoved(k) && carried[k].buffer == buffer) {
        Value saved = allocate(loc, yielded[i].getType());
        copy(loc, sources[i], saved);
        sources[i] = saved;
        break;
      }
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (isMoved(i))
      copy(loc, sources[i], carried[i].memref);
}

static LogicalResult carriesOther(Operation *op) {
  return op->emitOpError("carries something else than tensors, for which "
                         "there is no code on the CPU path");
}

/// Where a loop carries its tensors, which are there before its first trip.
SmallVector<Bufferizer::Place> Bufferizer::begin(Operation *op,
                                                 ValueRange inits) {
  SmallVector<Place> carried;
  for (auto [begins, result] : llvm::zip_equal(inits, op->getResults())) {
    written(op, begins, /*isRead=*/true, result);
    carried.push_back(places.find(result)->second);
  }
  return carried;
}

/// Lets tensors, such as the arguments of a loop's body, lie where the loop
/// carries them.
void Bufferizer::carry(ValueRange args, ArrayRef<Place> carried,
                       Operation *loop) {
  for (auto [arg, place] : llvm::zip_equal(args, carried)) {
    Buffer &buffer = buffers[place.buffer];
    buffer.loop = loop;
    buffer.names.clear();
    give(arg, place.memref, place.buffer);
  }
}

static void eraseTensors(Block &block) {
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(block)))
    if (llvm::any_of(inner.getResultTypes(), isTensor))
      inner.erase();
}

LogicalResult Bufferizer::loop(scf::ForOp op) {
  if (!llvm::all_of(op.getResultTypes(), isTensor) || !op.getNumResults())
    return carriesOther(op);
  SmallVector<Place> carried = begin(op, op.getInitArgs());
  auto made = scf::ForOp::create(b, op.getLoc(), op.getLowerBound(),
                                 op.getUpperBound(), op.getStep());
  position[made] = position.lookup(op);
  Operation *around = std::exchange(within, made);
  Block &trip = *made.getBody();
  Operation *end = trip.getTerminator();
  op.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  carry(op.getRegionIterArgs(), carried, made);
  auto old = cast<scf::YieldOp>(op.getBody()->getTerminator());
  trip.getOperations().splice(Block::iterator(end),
                              op.getBody()->getOperations(),
                              op.getBody()->begin(), Block::iterator(old));
  // The tensors' yield stands at the end while the walk asks for later uses.
  old->moveBefore(end);
  if (failed(convertAll(trip)))
    return failure();
  b.setInsertionPoint(old);
  yield(op.getLoc(), carried, old.getOperands());
  old.erase();
  eraseTensors(trip);
  within = around;
  carry(op.getResults(), carried, within);
  return success();
}

/// A loop whose condition passes on what it is given, all of it tensors.
LogicalResult Bufferizer::loop(scf::WhileOp op) {
  if (!llvm::all_of(op.getResultTypes(), isTensor) || !op.getNumResults() ||
      !llvm::equal(op.getConditionOp().getArgs(), op.getBeforeArguments()))
    return carriesOther(op);
  SmallVector<Place> carried = begin(op, op.getInits());
  auto made = scf::WhileOp::create(b, op.getLoc(), TypeRange(), ValueRange());
  position[made] = position.lookup(op);
  Operation *around = std::exchange(within, made);
  made.getBefore().takeBody(op.getBefore());
  made.getAfter().takeBody(op.getAfter());
  Block &before = *made.getBeforeBody(), &trip = *made.getAfterBody();
  carry(before.getArguments(), carried, made);
  if (failed(convertAll(before)))
    return failure();
  made.getConditionOp().getArgsMutable().clear();
  carry(trip.getArguments(), carried, made);
  if (failed(convertAll(trip)))
    return failure();
  Operation *end = trip.getTerminator();
  b.setInsertionPoint(end);
  yield(op.getLoc(), carried, end->getOperands());
  end->setOperands({});
  for (Block *block : {&before, &trip}) {
    eraseTensors(*block);
    block->eraseArguments(0, block->getNumArguments());
  }
  within = around;
  carry(op.getResults(), carried, within);
  return success();
}

/// The operations of a block, its terminator and what has no tensors left out.
LogicalResult Bufferizer::convertAll(Block &block) {
  SmallVector<Operation *> work;
  for (Operation &op : block) {
    position[&op] = int64_t(work.size());
    work.push_back(&op);
  }
  for (Operation *op : work)
    if (!op->hasTrait<OpTrait::IsTerminator>() && !hasNoTensors(op) &&
        failed(convert(op)))
      return failure();
  return success();
}

LogicalResult Bufferizer::convert(Operation *op) {
  b.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ConstantOp>([&](auto constant) {
        if (!isa<RankedTensorType>(constant.getType())) {
          return success();
        }
        auto values = cast<ElementsAttr>(constant.getValue());
        if (isa<DenseResourceElementsAttr>(values) &&
            failed(osa::verifyValues(values, "value",
                                     [&] { return op->emitOpError(); })))
          return failure();
        constants.push_back(bytesOf(values));
        Value argument =
            body.addArgument(memrefOf(constant.getType()), op->getLoc());
        give(constant.getResult(), argument, addBuffer(false));
        return success();
      })
      .Case<scf::ForOp, scf::WhileOp>(
          [&](auto repeated) { return loop(repeated); })
      .Case<tensor::ExtractOp>([&](auto element) {
        Value v = memref::LoadOp::create(b, element.getLoc(),
                                         read(element.getTensor()),
                                         element.getIndices());
        element.replaceAllUsesWith(v);
        element.erase();
        return success();
      })
      .Case<tensor::EmptyOp>([&](auto empty) {
        give(empty.getResult(), Value(), addBuffer(true));
        return success();
      })
      .Case<linalg::LinalgOp>([&](auto linalg) { return dps(linalg); })
      .Case<tensor::InsertSliceOp, tensor::InsertOp>(
          [&](auto part) { return insert(part); })
      .Case<tensor::ExtractSliceOp>([&](auto slice) { return extract(slice); })
      .Case<tensor::CollapseShapeOp>([&](auto shape) {
        return reshape<tensor::CollapseShapeOp, memref::CollapseShapeOp>(shape);
      })
      .Case<tensor::ExpandShapeOp>([&](auto shape) {
        return reshape<tensor::ExpandShapeOp, memref::ExpandShapeOp>(shape);
      })
      .Default([](Operation *other) {
        return other->emitOpError("is not computed on the CPU");
      });
}

/// Lets a buffer of the function's own lie in the memory that the caller gives
/// for its content, if nothing else lies there at that time.
bool Bufferizer::giveDirectly(Value from, Value to) {
  auto alloc = from.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return false;
  // Views have types that depend on the layout.
  if (from.getType() != to.getType() &&
      llvm::any_of(from.getUsers(), [](Operation *user) {
        return !isa<linalg::LinalgOp>(user);
      }))
    return false;
  auto [first, last] = usesOf(from, body);
  auto [otherFirst, otherLast] = usesOf(to, body);
  if (otherLast && (!first || !otherLast->isBeforeInBlock(first)))
    return false;
  from.replaceAllUsesWith(to);
  alloc.erase();
  return true;
}

LogicalResult Bufferizer::run() {
  unshareFills();
  // The tensors' own arguments stand after those of memrefs until the end.
  unsigned inputs = body.getNumArguments();
  for (unsigned i = 0; i < inputs; ++i) {
    Value old = body.getArgument(2 * i);
    Value given = body.insertArgument(i, memory.inputs[i], old.getLoc());
    if (isTensor(old.getType()))
      give(old, given, addBuffer(llvm::is_contained(memory.takes, int(i))));
    else
      old.replaceAllUsesWith(given);
  }
  Operation *ret = body.getTerminator();
  SmallVector<Value> results;
  unsigned next = inputs;
  for (auto [type, takes] : llvm::zip(memory.results, memory.takes))
    results.push_back(
        takes >= 0 ? Value(body.getArgument(unsigned(takes)))
                   : Value(body.insertArgument(next++, type, ret->getLoc())));
  if (failed(convertAll(body)))
    return failure();
  b.setInsertionPoint(ret);
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [v, to] : llvm::zip(ret->getOperands(), results)) {
    Value from = isTensor(v.getType()) ? read(v) : v;
    if (from != to)
      copies.emplace_back(from, to);
  }
  ret->setOperands({});
  eraseTensors(body);
  // A buffer may be several results: only one of them can lie in it.
  auto isReturned = [&](Value memref) {
    return llvm::count_if(
        copies, [&](const auto &copy) { return rootOf(copy.first) == memref; });
  };
  for (auto &[from, to] : copies)
    if (isReturned(from) == 1 && !isReturned(to) && giveDirectly(from, to))
      from = to;
  // What another result overwrites is saved first.
  for (auto &[from, to] : copies) {
    Value root = rootOf(from);
    if (from == to || root == to || !llvm::is_contained(results, root))
      continue;
    Value saved = memref::AllocOp::create(
        b, ret->getLoc(),
        MemRefType::get(cast<MemRefType>(from.getType()).getShape(),
                        cast<MemRefType>(from.getType()).getElementType()));
    copy(ret->getLoc(), from, saved);
    from = saved;
  }
  for (auto [from, to] : copies)
    if (from != to)
      copy(ret->getLoc(), from, to);
  body.eraseArguments(next, inputs);
  func.setType(b.getFunctionType(body.getArgumentTypes(), {}));
  return success();
}

LogicalResult cpu::bufferize(func::FuncOp func, const Memory &memory,
                             Constants &constants) {
  return Bufferizer(func, memory, constants).run();
}
