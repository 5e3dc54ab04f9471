// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "rhizome/Interp/Numbers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// The value of an expression; nothing for a division by zero.
static std::optional<int64_t> valueOf(AffineExpr expr, ArrayRef<int64_t> dims,
                                      ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto left = valueOf(binary.getLHS(), dims, symbols),
       right = valueOf(binary.getRHS(), dims, symbols);
  if (!left || !right)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * *right;
  default:
    break;
  }
  if (*right <= 0)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return floorDiv(*left, *right);
  case AffineExprKind::CeilDiv:
    return -floorDiv(-*left, *right);
  default:
    return *left - *right * floorDiv(*left, *right);
  }
}

static std::optional<int64_t> indexOf(Value v, const Values &values) {
  const Tensor *tensor = values.of(v);
  if (!tensor || tensor->ints.empty())
    return std::nullopt;
  return tensor->ints.front();
}

/// The values of a map's results; nothing if one is unknown.
static std::optional<SmallVector<int64_t>>
valuesOf(AffineMap map, ValueRange operands, const Values &values) {
  SmallVector<int64_t> given, out;
  for (Value v : operands) {
    auto index = indexOf(v, values);
    if (!index)
      return std::nullopt;
    given.push_back(*index);
  }
  const auto dims = ArrayRef(given).take_front(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    auto value =
        valueOf(expr, dims, ArrayRef(given).drop_front(map.getNumDims()));
    if (!value)
      return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<std::pair<int64_t, int64_t>>
interp::boundsOf(affine::AffineForOp op, const Values &values) {
  auto lower =
      valuesOf(op.getLowerBoundMap(), op.getLowerBoundOperands(), values);
  auto upper =
      valuesOf(op.getUpperBoundMap(), op.getUpperBoundOperands(), values);
  if (!lower || !upper)
    return std::nullopt;
  return std::pair(*llvm::max_element(*lower), *llvm::min_element(*upper));
}

/// Copies an element between tensors of one kind.
static void copyElement(const Tensor &from, int64_t i, Tensor &to, int64_t k) {
  auto copy = [&](const auto &source, auto &target) {
    if (!source.empty())
      target[size_t(k)] = source[size_t(i)];
  };
  copy(from.ints, to.ints);
  copy(from.floats, to.floats);
  copy(from.doubles, to.doubles);
  copy(from.patterns, to.patterns);
}

/// The place of an element; a diagnostic if there is none.
static FailureOr<int64_t> placeOf(Operation *op, Value memref, AffineMap map,
                                  ValueRange operands, const Values &values) {
  std::optional<SmallVector<int64_t>> at;
  if (map) {
    at = valuesOf(map, operands, values);
  } else {
    at.emplace();
    for (Value v : operands)
      if (auto index = indexOf(v, values); index && at)
        at->push_back(*index);
      else
        at.reset();
  }
  if (!at)
    return op->emitOpError("has an index of unknown kind");
  int64_t place = 0;
  for (auto [index, size] :
       llvm::zip_equal(*at, cast<MemRefType>(memref.getType()).getShape())) {
    if (index < 0 || index >= size)
      return op->emitOpError(
                 "reads or writes outside of a buffer: an index is ")
             << index << ", the extent " << size;
    place = place * size + index;
  }
  return place;
}

static LogicalResult load(Operation *op, Value memref, AffineMap map,
                          ValueRange operands, const Values &values,
                          std::optional<Tensor> &result) {
  Tensor *buffer = values.buffer(memref);
  if (!buffer)
    return op->emitOpError("reads a buffer of unknown origin");
  auto place = placeOf(op, memref, map, operands, values);
  if (failed(place))
    return failure();
  result = zeros(op->getResult(0).getType());
  copyElement(*buffer, *place, *result, 0);
  return success();
}

static LogicalResult store(Operation *op, Value stored, Value memref,
                           AffineMap map, ValueRange operands,
                           const Values &values) {
  Tensor *buffer = values.buffer(memref);
  const Tensor *value = values.of(stored);
  if (!buffer || !value)
    return op->emitOpError("writes a value or a buffer of unknown origin");
  auto place = placeOf(op, memref, map, operands, values);
  if (failed(place))
    return failure();
  copyElement(*value, 0, *buffer, *place);
  return success();
}

bool interp::isOnMemory(Operation *op) {
  return isa<affine::AffineLoadOp, affine::AffineStoreOp, affine::AffineApplyOp,
             affine::AffineMinOp, affine::AffineMaxOp, memref::LoadOp,
             memref::StoreOp, memref::CopyOp>(op);
}

LogicalResult interp::evaluateOnMemory(Operation *op, const Values &values,
                                       std::optional<Tensor> &result) {
  auto compute = [&](AffineMap map, auto choose) -> LogicalResult {
    auto all = valuesOf(map, op->getOperands(), values);
    if (!all)
      return op->emitOpError("has an operand of unknown kind");
    result = zeros(op->getResult(0).getType());
    result->ints.front() = choose(*all);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<affine::AffineLoadOp>([&](auto o) {
        return load(op, o.getMemRef(), o.getAffineMap(), o.getMapOperands(),
                    values, result);
      })
      .Case<memref::LoadOp>([&](auto o) {
        return load(op, o.getMemRef(), AffineMap(), o.getIndices(), values,
                    result);
      })
      .Case<affine::AffineStoreOp>([&](auto o) {
        return store(op, o.getValueToStore(), o.getMemRef(), o.getAffineMap(),
                     o.getMapOperands(), values);
      })
      .Case<memref::StoreOp>([&](auto o) {
        return store(op, o.getValueToStore(), o.getMemRef(), AffineMap(),
                     o.getIndices(), values);
      })
      .Case<memref::CopyOp>([&](auto o) -> LogicalResult {
        Tensor *from = values.buffer(o.getSource()),
               *to = values.buffer(o.getTarget());
        if (!from || !to)
          return op->emitOpError("copies a buffer of unknown origin");
        *to = *from;
        return success();
      })
      .Case<affine::AffineApplyOp>([&](auto o) {
        return compute(o.getAffineMap(),
                       [](const auto &all) { return all.front(); });
      })
      .Case<affine::AffineMinOp>([&](auto o) {
        return compute(o.getAffineMap(),
                       [](const auto &all) { return *llvm::min_element(all); });
      })
      .Case<affine::AffineMaxOp>([&](auto o) {
        return compute(o.getAffineMap(),
                       [](const auto &all) { return *llvm::max_element(all); });
      })
      .Default([](Operation *other) {
        return other->emitOpError("is unknown to the interpreter");
      });
}
