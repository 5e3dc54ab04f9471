// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers in one walk. A result takes the buffer of the tensor that
// it begins as if nothing reads that later, else a new one; slices and reshapes
// are views. Every name of a buffer is known, so that the walk is linear where
// a general analysis of thousands of operations takes minutes. What a loop
// carries from trip to trip lies in one buffer, which the trips write in place
// where they can; all buffers are made outside of loops.
#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;

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

namespace {
class Bufferiser {
public:
  Bufferiser(func::FuncOp func, std::vector<std::vector<char>> &constants)
      : func(func), body(func.getBody().front()), constants(constants),
        b(func.getContext()) {}
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

  LogicalResult convert(Operation *op);
  LogicalResult convertAll(Block &block);
  LogicalResult loop(scf::ForOp op);
  void yield(scf::ForOp op, ArrayRef<Place> carried, ValueRange yielded);
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
  Value written(Operation *op, Value begins, bool isRead, Value result);
  LogicalResult dps(linalg::LinalgOp op);
  template <typename Op>
  Value viewOf(Op op, Value whole, RankedTensorType slice);
  LogicalResult insert(tensor::InsertSliceOp op);
  LogicalResult extract(tensor::ExtractSliceOp op);
  template <typename Op, typename To> LogicalResult reshape(Op op);

  func::FuncOp func;
  Block &body;
  std::vector<std::vector<char>> &constants;
  OpBuilder b;
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::DenseMap<Value, Place> places;
  std::vector<Buffer> buffers;
  Operation *within = nullptr; ///< the loop whose body is converted
};
} // namespace

/// Whether nothing but the result of `op` will read the tensor's buffer.
bool Bufferiser::isFree(Operation *op, Value tensor) {
  const Buffer &buffer = buffers[places.find(tensor)->second.buffer];
  if (!buffer.isWritable || buffer.loop != within)
    return false;
  // A loop may begin with one tensor several times, in place only once.
  unsigned beginnings = 0;
  auto isBeginning = [&](OpOperand &use) {
    if (use.getOwner() != op || use.get() != tensor)
      return false;
    if (isa<scf::ForOp>(op))
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
Value Bufferiser::written(Operation *op, Value begins, bool isRead,
                          Value result) {
  Place from = places.find(begins)->second;
  if (from.memref && isFree(op, begins)) {
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

LogicalResult Bufferiser::dps(linalg::LinalgOp op) {
  SmallVector<Value> operands;
  for (Value v : op.getDpsInputs())
    operands.push_back(isa<RankedTensorType>(v.getType()) ? read(v) : v);
  // Tensors that the body reads by index.
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp e) { extracts.push_back(e); });
  SmallVector<Value> indexed;
  for (tensor::ExtractOp e : extracts)
    indexed.push_back(read(e.getTensor()));
  OpOperand *init = op.getDpsInitOperand(0);
  operands.push_back(written(
      op, init->get(), op.payloadUsesValueFromOperand(init), op->getResult(0)));
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
Value Bufferiser::viewOf(Op op, Value whole, RankedTensorType slice) {
  auto offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
       strides = op.getMixedStrides();
  auto type = memref::SubViewOp::inferRankReducedResultType(
      slice.getShape(), cast<MemRefType>(whole.getType()), offsets, sizes,
      strides);
  return memref::SubViewOp::create(b, op.getLoc(), cast<MemRefType>(type),
                                   whole, offsets, sizes, strides);
}

LogicalResult Bufferiser::insert(tensor::InsertSliceOp op) {
  Value part = read(op.getSource());
  Value whole = written(op, op.getDest(), /*isRead=*/true, op.getResult());
  Value view = viewOf(op, whole, op.getSourceType());
  copy(op.getLoc(), part, view);
  return success();
}

LogicalResult Bufferiser::extract(tensor::ExtractSliceOp op) {
  Value whole = read(op.getSource());
  Value view = viewOf(op, whole, op.getType());
  give(op.getResult(), view, places.find(op.getSource())->second.buffer);
  return success();
}

template <typename Op, typename To> LogicalResult Bufferiser::reshape(Op op) {
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

/// What the trips of a loop yield, for the next trip: each where the trips find
/// it. A value that lies where another one is to go is saved first.
void Bufferiser::yield(scf::ForOp op, ArrayRef<Place> carried,
                       ValueRange yielded) {
  SmallVector<Value> sources;
  for (Value v : yielded)
    sources.push_back(read(v));
  auto isMoved = [&](size_t i) { return sources[i] != carried[i].memref; };
  for (size_t i = 0; i < sources.size(); ++i) {
    const size_t buffer = places.find(yielded[i])->second.buffer;
    for (size_t k = 0; k < carried.size(); ++k)
      if (k != i && isMoved(i) && isMoved(k) && carried[k].buffer == buffer) {
        Value saved = allocate(op.getLoc(), yielded[i].getType());
        copy(op.getLoc(), sources[i], saved);
        sources[i] = saved;
        break;
      }
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (isMoved(i))
      copy(op.getLoc(), sources[i], carried[i].memref);
}

LogicalResult Bufferiser::loop(scf::ForOp op) {
  SmallVector<Place> carried;
  for (auto [begins, result] :
       llvm::zip_equal(op.getInitArgs(), op.getResults())) {
    written(op, begins, /*isRead=*/true, result);
    Place place = places.find(result)->second;
    if (!place.memref)
      return op.emitOpError("carries a tensor without content");
    carried.push_back(place);
  }
  auto made = scf::ForOp::create(b, op.getLoc(), op.getLowerBound(),
                                 op.getUpperBound(), op.getStep());
  Operation *around = std::exchange(within, made);
  Block &trip = *made.getBody();
  Operation *end = trip.getTerminator();
  op.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (auto [arg, place] : llvm::zip_equal(op.getRegionIterArgs(), carried)) {
    Buffer &buffer = buffers[place.buffer];
    buffer.loop = made;
    buffer.names.clear();
    give(arg, place.memref, place.buffer);
  }
  auto old = cast<scf::YieldOp>(op.getBody()->getTerminator());
  trip.getOperations().splice(Block::iterator(end),
                              op.getBody()->getOperations(),
                              op.getBody()->begin(), Block::iterator(old));
  // The tensors' yield stands at the end while the walk asks for later uses.
  old->moveBefore(end);
  position[old] = int64_t(trip.getOperations().size());
  if (failed(convertAll(trip)))
    return failure();
  b.setInsertionPoint(old);
  yield(op, carried, old.getOperands());
  old.erase();
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(trip)))
    if (llvm::any_of(inner.getResultTypes(),
                     [](Type t) { return isa<RankedTensorType>(t); }))
      inner.erase();
  within = around;
  for (auto [result, place] : llvm::zip_equal(op.getResults(), carried)) {
    buffers[place.buffer].loop = within;
    buffers[place.buffer].names.clear();
    give(result, place.memref, place.buffer);
  }
  return success();
}

/// The operations of a block, its terminator left out.
LogicalResult Bufferiser::convertAll(Block &block) {
  SmallVector<Operation *> work;
  for (Operation &op : block) {
    position[&op] = int64_t(work.size());
    work.push_back(&op);
  }
  for (Operation *op : work)
    if (!op->hasTrait<OpTrait::IsTerminator>() && failed(convert(op)))
      return failure();
  return success();
}

LogicalResult Bufferiser::convert(Operation *op) {
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
      .Case<scf::ForOp>([&](auto repeated) { return loop(repeated); })
      .Case<tensor::EmptyOp>([&](auto empty) {
        give(empty.getResult(), Value(), addBuffer(true));
        return success();
      })
      .Case<linalg::LinalgOp>([&](auto linalg) { return dps(linalg); })
      .Case<tensor::InsertSliceOp>([&](auto slice) { return insert(slice); })
      .Case<tensor::ExtractSliceOp>([&](auto slice) { return extract(slice); })
      .Case<tensor::CollapseShapeOp>([&](auto shape) {
        return reshape<tensor::CollapseShapeOp, memref::CollapseShapeOp>(shape);
      })
      .Case<tensor::ExpandShapeOp>([&](auto shape) {
        return reshape<tensor::ExpandShapeOp, memref::ExpandShapeOp>(shape);
      })
      .Default([](Operation *other) -> LogicalResult {
        auto isTensor = [](Type type) { return isa<ShapedType>(type); };
        if (isMemoryEffectFree(other) &&
            llvm::none_of(other->getOperandTypes(), isTensor) &&
            llvm::none_of(other->getResultTypes(), isTensor))
          return success(); // on scalars, it stays as it is
        return other->emitOpError("has no buffers on the CPU path");
      });
}

LogicalResult Bufferiser::run() {
  SmallVector<Operation *> work;
  for (Operation &op : body)
    work.push_back(&op);
  // The tensors' own arguments stand behind those of memrefs until the end.
  unsigned inputs = body.getNumArguments();
  for (unsigned i = 0; i < inputs; ++i) {
    Value tensor = body.getArgument(2 * i);
    give(tensor,
         body.insertArgument(i, memrefOf(tensor.getType()), tensor.getLoc()),
         addBuffer(false));
  }
  if (failed(convertAll(body)))
    return failure();
  Operation *ret = work.back();
  b.setInsertionPoint(ret);
  for (Value v : ret->getOperands()) {
    Value to = body.addArgument(memrefOf(v.getType()), ret->getLoc());
    copy(ret->getLoc(), read(v), to);
  }
  ret->setOperands({});
  for (Operation *op : llvm::reverse(ArrayRef(work).drop_back()))
    if (llvm::any_of(op->getResultTypes(),
                     [](Type t) { return isa<RankedTensorType>(t); }))
      op->erase();
  body.eraseArguments(inputs, inputs);
  func.setType(b.getFunctionType(body.getArgumentTypes(), {}));
  return success();
}

LogicalResult rhizome::toBuffers(func::FuncOp func,
                                 std::vector<std::vector<char>> &constants) {
  return Bufferiser(func, constants).run();
}
