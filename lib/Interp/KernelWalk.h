// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a kernel that every reading of it shares: what the elements are
// and what arithmetic on them does is the domain's.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace rhizome::interp {
enum class Code : uint8_t {
  Input,
  Constant,
  Cast,
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Fma,
  Sqrt,
  Exp,
  Log,
  Neg,
  Abs
};

/// What a scalar operation does; nothing if it is unknown.
std::optional<Code> codeOf(mlir::Operation *op);

/// The value of a scalar constant.
double constantOf(mlir::Operation *op);

/// The arithmetic of an operation on numbers: its own, or IEEE 754's.
numeric::Arithmetic arithmeticOfAny(mlir::Operation *op);

/// Offset in an operand of `shape` at the loops' origin, and per loop step;
/// nothing if the map is not affine in the loops.
struct Access {
  int64_t base = 0;
  llvm::SmallVector<int64_t> steps;
  static std::optional<Access> of(mlir::AffineMap map,
                                  llvm::ArrayRef<int64_t> shape);
};

inline llvm::SmallVector<int64_t> shapeOf(mlir::Type type) {
  if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type))
    return llvm::SmallVector<int64_t>(shaped.getShape());
  return {};
}
inline int64_t count(llvm::ArrayRef<int64_t> shape) {
  return mlir::ShapedType::getNumElements(shape);
}

/// A domain gives
///   using Value, Context;
///   Value constant(double, mlir::Type);
///   Context context(mlir::Operation *);
///   Value apply(Code, const Context &, const Value &a, b, c);
template <typename Domain> class KernelWalk {
public:
  using Value = typename Domain::Value;
  using Values = std::vector<Value>;

  explicit KernelWalk(Domain &domain) : domain(domain) {}

  /// Called with every tensor that an operation gives.
  std::function<void(mlir::Operation *, const Values &)> probe;

  /// Elements of the function's results, one after the other.
  llvm::FailureOr<std::vector<Values>> run(mlir::func::FuncOp func,
                                           std::vector<Values> inputs) {
    if (!llvm::hasSingleElement(func.getBody()))
      return func.emitError("a kernel is one block");
    for (auto [arg, values] : llvm::zip(func.getArguments(), inputs))
      bound[arg] = std::make_shared<Values>(std::move(values));
    for (mlir::Operation &op : func.getOps()) {
      if (auto ret = llvm::dyn_cast<mlir::func::ReturnOp>(op)) {
        std::vector<Values> results;
        for (mlir::Value v : ret.getOperands())
          results.push_back(*bound[v]);
        return results;
      }
      if (failed(evaluate(&op)))
        return llvm::failure();
      if (probe)
        for (mlir::Value v : op.getResults())
          if (bound.count(v))
            probe(&op, *bound[v]);
    }
    return func.emitError("the function does not return");
  }

private:
  using Shared = std::shared_ptr<Values>;
  struct Instruction {
    Code code;
    typename Domain::Context context;
    int a = 0, b = 0, c = 0;
  };

  Domain &domain;
  llvm::DenseMap<mlir::Value, Shared> bound;

  Value zero(mlir::Type type) { return domain.constant(0, type); }

  llvm::LogicalResult evaluate(mlir::Operation *op) {
    namespace tensor = mlir::tensor;
    if (auto linalg = llvm::dyn_cast<mlir::linalg::LinalgOp>(op))
      return evaluateLinalg(linalg);
    if (op->getNumResults() != 1)
      return op->emitOpError("is unknown to the interpreter of kernels");
    mlir::Value result = op->getResult(0);
    mlir::Type element = mlir::getElementTypeOrSelf(result.getType());
    auto shape = shapeOf(result.getType());
    if (mlir::ShapedType::isDynamicShape(shape))
      return op->emitOpError("has a shape that is not known");
    if (llvm::isa<tensor::EmptyOp>(op)) {
      bound[result] = std::make_shared<Values>(count(shape), zero(element));
      return llvm::success();
    }
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op);
        constant && llvm::isa<mlir::ShapedType>(result.getType())) {
      auto dense =
          llvm::dyn_cast<mlir::DenseFPElementsAttr>(constant.getValue());
      if (!dense)
        return op->emitOpError("is no constant of numbers");
      auto values = std::make_shared<Values>();
      for (const llvm::APFloat &v : dense.getValues<llvm::APFloat>()) {
        llvm::APFloat d = v;
        bool lost;
        d.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
        values->push_back(domain.constant(d.convertToDouble(), element));
      }
      bound[result] = values;
      return llvm::success();
    }
    if (llvm::isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                  tensor::CastOp>(op)) {
      bound[result] = bound[op->getOperand(0)];
      return llvm::success();
    }
    if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
      auto access =
          sliceAccess(shapeOf(slice.getSourceType()), slice.getStaticOffsets(),
                      slice.getStaticSizes(), slice.getStaticStrides());
      if (!access)
        return op->emitOpError("has offsets that are not constant");
      const Values &from = *bound[slice.getSource()];
      auto values = std::make_shared<Values>();
      overBox(slice.getStaticSizes(), [&](llvm::ArrayRef<int64_t> at) {
        values->push_back(from[offset(*access, at)]);
      });
      bound[result] = values;
      return llvm::success();
    }
    if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
      auto access =
          sliceAccess(shape, slice.getStaticOffsets(), slice.getStaticSizes(),
                      slice.getStaticStrides());
      if (!access)
        return op->emitOpError("has offsets that are not constant");
      auto values = std::make_shared<Values>(*bound[slice.getDest()]);
      const Values &from = *bound[slice.getSource()];
      size_t next = 0;
      overBox(slice.getStaticSizes(), [&](llvm::ArrayRef<int64_t> at) {
        (*values)[offset(*access, at)] = from[next++];
      });
      bound[result] = values;
      return llvm::success();
    }
    if (codeOf(op)) {
      std::vector<Value> slots;
      for (mlir::Value v : op->getOperands())
        slots.push_back((*bound[v])[0]);
      Instruction in = instruction(op);
      bound[result] = std::make_shared<Values>(
          1, *codeOf(op) == Code::Constant
                 ? domain.constant(constantOf(op), element)
                 : domain.apply(in.code, in.context, slots[0],
                                slots[slots.size() > 1 ? 1 : 0],
                                slots[slots.size() > 2 ? 2 : 0]));
      return llvm::success();
    }
    return op->emitOpError("is unknown to the interpreter of kernels");
  }

  Instruction instruction(mlir::Operation *op) {
    return {*codeOf(op), domain.context(op)};
  }

  static std::optional<Access> sliceAccess(llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> offsets,
                                           llvm::ArrayRef<int64_t> sizes,
                                           llvm::ArrayRef<int64_t> strides) {
    Access access;
    access.steps.resize(shape.size());
    int64_t stride = 1;
    for (int i = int(shape.size()) - 1; i >= 0; --i) {
      for (int64_t v : {offsets[i], sizes[i], strides[i]})
        if (mlir::ShapedType::isDynamic(v))
          return std::nullopt;
      access.base += stride * offsets[i];
      access.steps[i] = stride * strides[i];
      stride *= shape[i];
    }
    return access;
  }
  static int64_t offset(const Access &access, llvm::ArrayRef<int64_t> at) {
    int64_t o = access.base;
    for (size_t i = 0; i < at.size(); ++i)
      o += access.steps[i] * at[i];
    return o;
  }
  template <typename Fn>
  static void overBox(llvm::ArrayRef<int64_t> sizes, Fn fn) {
    if (count(sizes) == 0)
      return;
    llvm::SmallVector<int64_t> at(sizes.size());
    while (true) {
      fn(at);
      int i = int(sizes.size()) - 1;
      while (i >= 0 && ++at[i] == sizes[i])
        at[i--] = 0;
      if (i < 0)
        return;
    }
  }

  llvm::LogicalResult evaluateLinalg(mlir::linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
      return op->emitOpError("is not on tensors of known shapes");
    mlir::Block *body = op.getBlock();
    // Slots: block arguments, then what the instructions give.
    llvm::DenseMap<mlir::Value, int> slotOf;
    for (mlir::BlockArgument arg : body->getArguments())
      slotOf[arg] = int(slotOf.size());
    std::vector<Value> slots;
    for (mlir::BlockArgument arg : body->getArguments())
      slots.push_back(zero(arg.getType()));
    std::vector<Instruction> code;
    std::vector<int> targets;
    for (mlir::Operation &inner : body->without_terminator()) {
      auto what = codeOf(&inner);
      if (!what)
        return inner.emitOpError("is unknown to the interpreter of kernels");
      if (*what == Code::Constant) {
        slotOf[inner.getResult(0)] = int(slots.size());
        slots.push_back(
            domain.constant(constantOf(&inner), inner.getResult(0).getType()));
        continue;
      }
      Instruction in = instruction(&inner);
      int *places[] = {&in.a, &in.b, &in.c};
      for (auto [i, v] : llvm::enumerate(inner.getOperands())) {
        auto slot = slotOf.find(v);
        if (slot == slotOf.end()) { // from outside the body
          if (!bound.count(v))
            return inner.emitOpError("reads a value of unknown kind");
          slotOf[v] = int(slots.size());
          slots.push_back((*bound[v])[0]);
          slot = slotOf.find(v);
        }
        *places[i] = slot->second;
      }
      slotOf[inner.getResult(0)] = int(slots.size());
      slots.push_back(zero(inner.getResult(0).getType()));
      code.push_back(in);
      targets.push_back(slotOf[inner.getResult(0)]);
    }
    llvm::SmallVector<int> yields;
    for (mlir::Value v : body->getTerminator()->getOperands()) {
      if (!slotOf.count(v)) {
        if (!bound.count(v))
          return op->emitOpError("yields a value of unknown kind");
        slotOf[v] = int(slots.size());
        slots.push_back((*bound[v])[0]);
      }
      yields.push_back(slotOf[v]);
    }

    struct Port {
      Values *values;
      Access access;
      int slot;
    };
    std::vector<Port> reads, writes;
    std::vector<Shared> results;
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      auto access = Access::of(op.getMatchingIndexingMap(&operand),
                               shapeOf(operand.get().getType()));
      if (!access)
        return op->emitOpError("has an indexing map that is not affine");
      Shared values = bound[operand.get()];
      if (op.isDpsInit(&operand)) {
        values = std::make_shared<Values>(*values);
        results.push_back(values);
        writes.push_back({values.get(), *access, yields[writes.size()]});
      }
      reads.push_back({values.get(), *access, int(reads.size())});
    }
    overBox(op.getStaticLoopRanges(), [&](llvm::ArrayRef<int64_t> at) {
      for (Port &port : reads)
        slots[port.slot] = (*port.values)[offset(port.access, at)];
      for (size_t i = 0; i < code.size(); ++i)
        slots[targets[i]] =
            domain.apply(code[i].code, code[i].context, slots[code[i].a],
                         slots[code[i].b], slots[code[i].c]);
      for (Port &port : writes)
        (*port.values)[offset(port.access, at)] = slots[port.slot];
    });
    for (auto [value, shared] : llvm::zip(op->getResults(), results))
      bound[value] = shared;
    return llvm::success();
  }
};
} // namespace rhizome::interp
