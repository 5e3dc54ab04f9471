// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common walk over loops: linalg on tensors, and the operations that move
// tensors for it. The type of elements and the meaning of operations are given
// by the domain: numbers (Loops.cpp), or nodes of an unrolled kernel
// (Tape.cpp).
#pragma once

#include "Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Support/LinalgLoops.h"
#include "llvm/ADT/DenseMap.h"

namespace rhizome::interp {
/// Offset in an operand of `shape` at the loops' origin, and per loop step;
/// nothing if the map is not affine in the loops.
struct Access {
  int64_t base = 0;
  llvm::SmallVector<int64_t> steps;
  static std::optional<Access> of(mlir::AffineMap map,
                                  llvm::ArrayRef<int64_t> shape);
  /// A box with constant offsets and strides in a tensor of `shape`.
  static std::optional<Access> ofSlice(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> offsets,
                                       llvm::ArrayRef<int64_t> sizes,
                                       llvm::ArrayRef<int64_t> strides);
};

inline llvm::SmallVector<int64_t> shapeOf(mlir::Type type) {
  if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type))
    return llvm::SmallVector<int64_t>(shaped.getShape());
  return {};
}
inline int64_t count(llvm::ArrayRef<int64_t> shape) {
  return mlir::ShapedType::getNumElements(shape);
}

/// Calls fn for every index of a box, the last dimension fastest; `accesses`
/// are offsets that are updated.
template <typename Fn>
void overBox(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<Access> accesses,
             llvm::MutableArrayRef<int64_t> offsets,
             llvm::MutableArrayRef<int64_t> at, Fn fn) {
  if (count(sizes) == 0)
    return;
  const size_t n = accesses.size();
  // The change of an offset when dimension d steps and those after it return to
  // 0.
  llvm::SmallVector<int64_t> gains(sizes.size() * n);
  for (size_t i = 0; i < n; ++i) {
    offsets[i] = accesses[i].base;
    int64_t back = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      gains[d * n + i] = accesses[i].steps[d] - back;
      back += accesses[i].steps[d] * (sizes[d] - 1);
    }
  }
  while (fn()) {
    size_t d = sizes.size();
    while (d-- > 0 && ++at[d] == sizes[d])
      at[d] = 0;
    if (d == size_t(-1))
      return;
    for (size_t i = 0; i < n; ++i)
      offsets[i] += gains[d * n + i];
  }
}

/// A domain gives
///   using Value, Context;   a scalar, an operation on scalars
///   using Store, Port;      a tensor's elements, a way to them
///   static constexpr bool hasIndices;        loops may compute indices
///   Store make(Type);                        of a tensor or scalar type
///   bool constant(Attribute element, Type, Value &);
///   bool context(Operation *, Context &);    false: unknown
///   void apply(const Context &, Value &to, const Value &x, y, z);
///   static Port port(Store &);
///   static Value load(const Port &, int64_t);
///   static void store(const Port &, int64_t, const Value &);
///   static Value ofIndex(int64_t); static int64_t toIndex(const Value &);
template <typename Domain> class LoopWalk {
public:
  using Value = typename Domain::Value;
  using Store = typename Domain::Store;
  /// The elements of a value of the enclosing function; null if it has none.
  using Lookup = llvm::function_ref<const Store *(mlir::Value)>;

  explicit LoopWalk(Domain &domain) : domain(domain) {}

  /// True for the operations that `evaluate` supports.
  static bool knows(mlir::Operation *op) {
    namespace tensor = mlir::tensor;
    return llvm::isa<mlir::linalg::LinalgOp, tensor::EmptyOp,
                     mlir::arith::ConstantOp, tensor::CollapseShapeOp,
                     tensor::ExpandShapeOp, tensor::CastOp,
                     tensor::ExtractSliceOp, tensor::InsertSliceOp,
                     tensor::ExtractOp, tensor::InsertOp>(op) ||
           op->getName().getDialectNamespace() == "arith" ||
           op->getName().getDialectNamespace() == "math" ||
           op->getName().getDialectNamespace() == "num";
  }

  /// One operation; its results go to `results`. Fails with a diagnostic.
  llvm::LogicalResult evaluate(mlir::Operation *op, Lookup of,
                               llvm::SmallVectorImpl<Store> &results) {
    namespace tensor = mlir::tensor;
    if (auto linalg = llvm::dyn_cast<mlir::linalg::LinalgOp>(op))
      return evaluateLinalg(linalg, of, results);
    if (op->getNumResults() != 1)
      return unknown(op);
    mlir::Type type = op->getResult(0).getType();
    if (mlir::ShapedType::isDynamicShape(shapeOf(type)))
      return op->emitOpError("has a shape that is not known");
    if (!kindOf(type))
      return unknown(op);
    if (llvm::isa<tensor::EmptyOp>(op)) {
      results.push_back(domain.make(type));
      return llvm::success();
    }
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op))
      return evaluateConstant(constant, results);
    for (mlir::Value operand : op->getOperands())
      if (!of(operand))
        return op->emitOpError("reads a value of unknown kind");
    if (llvm::isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                  tensor::CastOp>(op)) {
      results.push_back(domain.make(type));
      copyAll(*of(op->getOperand(0)), results.back(), count(shapeOf(type)));
      return llvm::success();
    }
    if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
      results.push_back(domain.make(type));
      return move(op, of, *of(slice.getSource()),
                  shapeOf(slice.getSourceType()), results.back(), slice, false);
    }
    if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
      results.push_back(*of(slice.getDest()));
      return move(op, of, *of(slice.getSource()), shapeOf(type), results.back(),
                  slice, true);
    }
    if constexpr (Domain::hasIndices) {
      if (auto element = llvm::dyn_cast<tensor::ExtractOp>(op))
        return extract(element, of, results);
      if (auto element = llvm::dyn_cast<tensor::InsertOp>(op))
        return insert(element, of, results);
    }
    typename Domain::Context context;
    if (op->getNumOperands() > 3 || !domain.context(op, context))
      return unknown(op);
    Value in[3] = {}, out = {};
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      in[i] = first(*of(operand));
    domain.apply(context, out, in[0], in[1], in[2]);
    results.push_back(domain.make(type));
    Domain::store(Domain::port(results.back()), 0, out);
    return llvm::success();
  }

private:
  struct Step {
    typename Domain::Context context;
    int to = 0, x = 0, y = 0, z = 0;
    /// If the step is not an operation: the loop whose index it returns, or the
    /// tensor that it reads at the indices in these slots.
    int loop = -1, read = -1;
    llvm::SmallVector<int, 4> indices;
    /// What must hold of the step's second operand.
    mlir::Operation *check = nullptr;
  };
  /// A tensor that is read by index.
  struct Table {
    typename Domain::Port port;
    llvm::SmallVector<int64_t> shape;
  };

  Domain &domain;

  static llvm::LogicalResult unknown(mlir::Operation *op) {
    return op->emitOpError("is unknown to the interpreter");
  }
  static typename Domain::Port port(const Store &store) {
    return Domain::port(const_cast<Store &>(store));
  }
  static Value first(const Store &store) {
    return Domain::load(port(store), 0);
  }
  static void copyAll(const Store &from, Store &to, int64_t n) {
    auto read = port(from), write = port(to);
    for (int64_t i = 0; i < n; ++i)
      Domain::store(write, i, Domain::load(read, i));
  }

  llvm::LogicalResult evaluateConstant(mlir::arith::ConstantOp op,
                                       llvm::SmallVectorImpl<Store> &results) {
    mlir::Type element = mlir::getElementTypeOrSelf(op.getType());
    results.push_back(domain.make(op.getType()));
    auto to = port(results.back());
    Value value = {};
    auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
    if (!elements) {
      if (!domain.constant(op.getValue(), element, value))
        return op.emitOpError("is not a constant of numbers");
      Domain::store(to, 0, value);
      return llvm::success();
    }
    int64_t i = 0;
    for (mlir::Attribute one : elements.template getValues<mlir::Attribute>()) {
      // All values of a splat are equal.
      if ((i == 0 || !elements.isSplat()) &&
          !domain.constant(one, element, value))
        return op.emitOpError("is not a constant of numbers");
      Domain::store(to, i++, value);
    }
    return llvm::success();
  }

  /// The place of one element of a tensor; nothing, with a diagnostic, if it is
  /// outside.
  std::optional<int64_t> placeOf(mlir::Operation *op, mlir::Type tensor,
                                 mlir::ValueRange indices, Lookup of) {
    int64_t place = 0;
    for (auto [index, size] : llvm::zip_equal(indices, shapeOf(tensor))) {
      const int64_t i = Domain::toIndex(first(*of(index)));
      if (i < 0 || i >= size) {
        op->emitOpError(llvm::isa<mlir::tensor::InsertOp>(op) ? "writes"
                                                              : "reads")
            << " outside a tensor: an index that the model computes is out of "
               "range";
        return std::nullopt;
      }
      place = place * size + i;
    }
    return place;
  }

  /// One element of a tensor, outside of linalg.
  llvm::LogicalResult extract(mlir::tensor::ExtractOp op, Lookup of,
                              llvm::SmallVectorImpl<Store> &results) {
    auto place = placeOf(op, op.getTensor().getType(), op.getIndices(), of);
    if (!place)
      return llvm::failure();
    results.push_back(domain.make(op.getType()));
    Domain::store(port(results.back()), 0,
                  Domain::load(port(*of(op.getTensor())), *place));
    return llvm::success();
  }
  llvm::LogicalResult insert(mlir::tensor::InsertOp op, Lookup of,
                             llvm::SmallVectorImpl<Store> &results) {
    auto place = placeOf(op, op.getType(), op.getIndices(), of);
    if (!place)
      return llvm::failure();
    results.push_back(*of(op.getDest()));
    Domain::store(port(results.back()), *place, first(*of(op.getScalar())));
    return llvm::success();
  }

  /// Whether so many places from `begin` on, each `stride` after the one
  /// before, are on an axis of `extent`.
  static bool isInside(int64_t begin, int64_t size, int64_t stride,
                       int64_t extent) {
    int64_t last = 0;
    return begin >= 0 && begin < extent &&
           !llvm::MulOverflow(size - 1, stride, last) &&
           !llvm::AddOverflow(begin, last, last) && last >= 0 && last < extent;
  }

  /// Between a dense tensor and a box of one of shape `shape`.
  template <typename Slice>
  llvm::LogicalResult move(mlir::Operation *op, Lookup of, const Store &from,
                           llvm::ArrayRef<int64_t> shape, Store &to,
                           Slice slice, bool isInsert) {
    llvm::SmallVector<int64_t> begin(slice.getStaticOffsets());
    llvm::ArrayRef<int64_t> sizes = slice.getStaticSizes(),
                            strides = slice.getStaticStrides();
    if constexpr (Domain::hasIndices) {
      auto computed = slice.getOffsets().begin();
      for (int64_t &place : begin)
        if (mlir::ShapedType::isDynamic(place))
          place = Domain::toIndex(first(*of(*computed++)));
    }
    auto box = Access::ofSlice(shape, begin, sizes, strides);
    if (!box)
      return op->emitOpError("has offsets that are not constant");
    for (size_t d = 0; d < shape.size(); ++d)
      if (sizes[d] && !isInside(begin[d], sizes[d], strides[d], shape[d]))
        return op->emitOpError("reads or writes outside a tensor: a place "
                               "that the model computes is out of range");
    llvm::SmallVector<int64_t> at(shape.size()), offset(1);
    auto read = port(from), write = port(to);
    int64_t dense = 0;
    overBox(slice.getStaticSizes(), *box, offset, at, [&] {
      if (isInsert)
        Domain::store(write, offset[0], Domain::load(read, dense++));
      else
        Domain::store(write, dense++, Domain::load(read, offset[0]));
      return true;
    });
    return llvm::success();
  }

  llvm::LogicalResult evaluateLinalg(mlir::linalg::LinalgOp op, Lookup of,
                                     llvm::SmallVectorImpl<Store> &results) {
    if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
      return op->emitOpError("is not on tensors of known shapes");
    if (llvm::failed(host::checkAccesses(op)))
      return llvm::failure();
    mlir::Block *body = op.getBlock();
    // Slots: block arguments, then results of steps, and constants.
    llvm::DenseMap<mlir::Value, int> slotOf;
    std::vector<Value> slots;
    auto fresh = [&](mlir::Value v) {
      slots.push_back(Value());
      return slotOf[v] = int(slots.size()) - 1;
    };
    for (mlir::BlockArgument arg : body->getArguments())
      fresh(arg);
    /// −1 for unknown values.
    auto slot = [&](mlir::Value v) {
      auto found = slotOf.find(v);
      if (found != slotOf.end())
        return found->second;
      const Store *outside = of(v);
      if (!outside || llvm::isa<mlir::ShapedType>(v.getType()))
        return -1;
      int place = fresh(v);
      slots[place] = first(*outside);
      return place;
    };
    std::vector<Step> steps;
    std::vector<Table> tables;
    for (mlir::Operation &inner : body->without_terminator()) {
      if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(inner)) {
        int place = fresh(constant.getResult());
        if (!domain.constant(constant.getValue(), constant.getType(),
                             slots[place]))
          return inner.emitOpError("is not a constant scalar");
        continue;
      }
      Step step;
      int *places[] = {&step.x, &step.y, &step.z};
      auto index = llvm::dyn_cast<mlir::linalg::IndexOp>(inner);
      auto extract = llvm::dyn_cast<mlir::tensor::ExtractOp>(inner);
      if (Domain::hasIndices && index) {
        step.loop = int(index.getDim());
      } else if (Domain::hasIndices && extract) {
        const Store *from = of(extract.getTensor());
        if (!from)
          return inner.emitOpError("reads a tensor of unknown origin");
        step.read = int(tables.size());
        tables.push_back({port(*from), shapeOf(extract.getTensor().getType())});
        for (mlir::Value v : extract.getIndices()) {
          step.indices.push_back(slot(v));
          if (step.indices.back() < 0)
            return inner.emitOpError("reads a value of unknown kind");
        }
      } else {
        if (inner.getNumOperands() > 3 || inner.getNumRegions() ||
            !domain.context(&inner, step.context))
          return unknown(&inner);
        for (auto [i, v] : llvm::enumerate(inner.getOperands()))
          if ((*places[i] = slot(v)) < 0)
            return inner.emitOpError("reads a value of unknown kind");
        if (Domain::hasIndices && host::Check::of(&inner))
          step.check = &inner;
      }
      step.to = fresh(inner.getResult(0));
      steps.push_back(std::move(step));
    }

    struct Way {
      typename Domain::Port port;
      int slot;
    };
    std::vector<Access> accesses;
    std::vector<Way> reads, writes;
    std::vector<unsigned> written; ///< which access a write uses
    const size_t already = results.size();
    results.reserve(already + op->getNumResults());
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      const Store *store = of(operand.get());
      if (!store)
        return op->emitOpError("reads a value of unknown kind");
      auto access = Access::of(op.getMatchingIndexingMap(&operand),
                               shapeOf(operand.get().getType()));
      if (!access)
        return op->emitOpError("has an indexing map that is not affine");
      mlir::BlockArgument arg = body->getArgument(operand.getOperandNumber());
      const bool isInit = op.isDpsInit(&operand);
      if (!isInit && arg.use_empty())
        continue;
      if (isInit) {
        results.push_back(*store);
        int yielded = slot(body->getTerminator()->getOperand(writes.size()));
        if (yielded < 0)
          return op->emitOpError("yields a value of unknown kind");
        written.push_back(unsigned(accesses.size()));
        writes.push_back({port(results.back()), yielded});
      }
      reads.push_back({isInit ? writes.back().port : port(*store), slot(arg)});
      accesses.push_back(*access);
    }
    llvm::SmallVector<int64_t> at(op.getNumLoops()), offsets(accesses.size());
    bool isOutside = false;
    mlir::Operation *broken = nullptr; ///< a check that does not hold
    int64_t wrong = 0, element = 0;
    overBox(op.getStaticLoopRanges(), accesses, offsets, at, [&] {
      for (size_t i = 0; i < reads.size(); ++i)
        slots[reads[i].slot] = Domain::load(reads[i].port, offsets[i]);
      for (const Step &step : steps) {
        if constexpr (Domain::hasIndices) {
          if (step.loop >= 0) {
            slots[step.to] = Domain::ofIndex(at[step.loop]);
            continue;
          }
          if (step.read >= 0) {
            const Table &table = tables[step.read];
            int64_t place = 0;
            for (size_t d = 0; d < step.indices.size(); ++d) {
              int64_t i = Domain::toIndex(slots[step.indices[d]]);
              isOutside |= i < 0 || i >= table.shape[d];
              place = place * table.shape[d] + i;
            }
            if (isOutside)
              return false;
            slots[step.to] = Domain::load(table.port, place);
            continue;
          }
          if (step.check && Domain::toIndex(slots[step.x]) == 0) {
            broken = step.check;
            wrong = Domain::toIndex(slots[step.y]);
            for (auto [i, size] : llvm::zip_equal(at, op.getStaticLoopRanges()))
              element = element * size + i;
            return false;
          }
        }
        domain.apply(step.context, slots[step.to], slots[step.x], slots[step.y],
                     slots[step.z]);
      }
      for (size_t i = 0; i < writes.size(); ++i)
        Domain::store(writes[i].port, offsets[written[i]],
                      slots[writes[i].slot]);
      return true;
    });
    if (broken)
      return broken->emitError(
          host::Check::of(broken)->message(wrong, element));
    if (isOutside)
      return op->emitOpError("reads outside a tensor: an index that the model "
                             "computes is out of range");
    return llvm::success();
  }
};
} // namespace rhizome::interp
