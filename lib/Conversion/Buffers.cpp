// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers in one walk. A result takes the buffer of the tensor that
// it begins as if nothing reads that later, else a new one; slices and reshapes
// are views. Every name of a buffer is known, so that the walk is linear where
// a general analysis of thousands of unrolled steps takes minutes.
#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
    SmallVector<Value> names; ///< tensors that lie in it now
  };
  struct Place {
    Value memref; ///< null of a tensor without content
    size_t buffer = 0;
  };

  LogicalResult convert(Operation *op);
  void give(Value tensor, Value memref, size_t buffer) {
    places[tensor] = {memref, buffer};
    buffers[buffer].names.push_back(tensor);
  }
  size_t addBuffer(bool isWritable) {
    buffers.push_back({isWritable, {}});
    return buffers.size() - 1;
  }
  /// What holds a tensor that is read.
  Value read(Value tensor) {
    Place &place = places.find(tensor)->second;
    if (!place.memref) // only its extents matter
      place.memref = memref::AllocOp::create(b, tensor.getLoc(),
                                             memrefOf(tensor.getType()));
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
};
} // namespace

/// Whether nothing but the result of `op` will read the tensor's buffer.
bool Bufferiser::isFree(Operation *op, Value tensor) {
  const Buffer &buffer = buffers[places.find(tensor)->second.buffer];
  if (!buffer.isWritable)
    return false;
  int64_t now = position.lookup(op);
  for (Value name : buffer.names)
    for (OpOperand &use : name.getUses()) {
      Operation *user = body.findAncestorOpInBlock(*use.getOwner());
      int64_t then = position.lookup(user);
      bool begins = use.getOwner() == op && use.get() == tensor &&
                    cast<DestinationStyleOpInterface>(op).isDpsInit(&use);
      if (then > now || (then == now && !begins))
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
  Value fresh =
      memref::AllocOp::create(b, op->getLoc(), memrefOf(result.getType()));
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
    Value dense = memref::AllocOp::create(b, op.getLoc(),
                                          memrefOf(op.getSrc().getType()));
    copy(op.getLoc(), from, dense);
    from = dense;
    buffer = addBuffer(/*isWritable=*/true);
  }
  Value view = To::create(b, op.getLoc(), memrefOf(op.getType()), from,
                          op.getReassociationIndices());
  give(op.getResult(), view, buffer);
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
      .Default([](Operation *other) {
        return other->emitOpError("has no buffers on the CPU path");
      });
}

LogicalResult Bufferiser::run() {
  SmallVector<Operation *> work;
  for (Operation &op : body) {
    position[&op] = int64_t(work.size());
    work.push_back(&op);
  }
  // The tensors' own arguments stand behind those of memrefs until the end.
  unsigned inputs = body.getNumArguments();
  for (unsigned i = 0; i < inputs; ++i) {
    Value tensor = body.getArgument(2 * i);
    give(tensor,
         body.insertArgument(i, memrefOf(tensor.getType()), tensor.getLoc()),
         addBuffer(false));
  }
  for (Operation *op : ArrayRef(work).drop_back())
    if (failed(convert(op)))
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
