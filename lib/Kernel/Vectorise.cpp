// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linalg operations on buffers to loops of vector code. Loops whose strides fit
// are joined, so that 11 x 11 contiguous places are one loop of 121. The loop
// with stride 1 in the result is cut into vectors, a second one into rows: a
// block of rows x vectors of sums stays in registers while the summed loops
// run. Where a block does not fit the loop's end it is moved back and computes
// a few places twice, hence no masks and no scalar rest.
#include "Lowering.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace rhizome::kernel;

namespace {
/// One loop: its extent and how far a step moves in each operand.
struct Loop {
  int64_t extent;
  bool isReduction;
  SmallVector<int64_t> strides;
};

/// An operand as a flat array.
struct Operand {
  Value flat;
  int64_t offset = 0;
};

class Vectoriser {
public:
  Vectoriser(linalg::LinalgOp op, const VectorUnit &unit)
      : op(op), unit(unit), b(op), loc(op.getLoc()) {}
  /// True if `op` was replaced.
  bool run();

private:
  linalg::LinalgOp op;
  VectorUnit unit;
  OpBuilder b;
  Location loc;
  SmallVector<Loop> loops;
  SmallVector<Operand> operands; ///< the result last
  Type element;
  int64_t width = 0;              ///< elements of a vector
  std::optional<Attribute> start; ///< of the sums
  linalg::FillOp fill;

  size_t result() const { return operands.size() - 1; }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  bool analyse();
  bool findFill();
  void joinLoops();
  int chooseVectorLoop() const;
  void pack(size_t operand, int vectorLoop);
  bool canPack(size_t operand, int vectorLoop) const;
  scf::ForOp loop(int64_t count, int64_t step, ValueRange init = {});
  /// offset + sum of stride * index over the loops.
  Value address(size_t operand, ArrayRef<Value> indices);
  Value plus(Value index, int64_t offset);
  void emitSums(int vectorLoop);
  void emitElementwise(int vectorLoop);
  Value scalarBody(ArrayRef<Value> arguments, Type type);
  int chooseRowLoop(int vectorLoop) const;
  std::pair<int64_t, int64_t> block(int vectorLoop, int rowLoop) const;
  Value blockStart(Value block, int64_t step, int64_t extent);
};
} // namespace

/// Extents, strides and offset of each operand along the loops.
bool Vectoriser::analyse() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.hasDynamicShape() || op.hasIndexSemantics())
    return false;
  for (auto [extent, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    loops.push_back({extent, kind == utils::IteratorType::reduction,
                     SmallVector<int64_t>(op->getNumOperands(), 0)});
  element = getElementTypeOrSelf(op.getDpsInitOperand(0)->get());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || type.getElementType() != element ||
        !isa<Float32Type, Float64Type>(element) ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return false;
    int64_t span = offset + 1;
    for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
      span += (extent - 1) * stride;
    Operand flat;
    flat.offset = offset;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [result, stride] : llvm::zip(map.getResults(), strides)) {
      AffineExpr rest = result;
      if (auto sum = dyn_cast<AffineBinaryOpExpr>(rest);
          sum && sum.getKind() == AffineExprKind::Add)
        if (auto number = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
          flat.offset += number.getValue() * stride;
          rest = sum.getLHS();
        }
      if (auto dim = dyn_cast<AffineDimExpr>(rest))
        loops[dim.getPosition()].strides[operand.getOperandNumber()] += stride;
      else if (auto number = dyn_cast<AffineConstantExpr>(rest))
        flat.offset += number.getValue() * stride;
      else
        return false;
    }
    flat.flat = memref::ReinterpretCastOp::create(
        b, loc, MemRefType::get({span}, element), operand.get(),
        /*offset=*/0, ArrayRef<int64_t>{span}, ArrayRef<int64_t>{1});
    operands.push_back(flat);
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!OpTrait::hasElementwiseMappableTraits(&inner) &&
        !isa<arith::ConstantOp>(inner))
      return false;
  return true;
}

/// Sums start from what a fill before wrote, if nothing else reads that.
bool Vectoriser::findFill() {
  Value out = op.getDpsInitOperand(0)->get();
  for (Operation *user : out.getUsers())
    if (auto candidate = dyn_cast<linalg::FillOp>(user);
        candidate && candidate.getOutputs()[0] == out &&
        candidate->getBlock() == op->getBlock() &&
        candidate->isBeforeInBlock(op) &&
        (!fill || fill->isBeforeInBlock(candidate)))
      fill = candidate;
  Attribute value;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&value)))
    return false;
  start = value;
  SmallVector<Value> names{out};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<memref::ReinterpretCastOp>(user)) {
        names.append(user->result_begin(), user->result_end());
        continue;
      }
      Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
      if (at && at != op && fill->isBeforeInBlock(at) &&
          at->isBeforeInBlock(op))
        return false;
    }
  }
  return true;
}

void Vectoriser::joinLoops() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t outer = 0; outer < loops.size() && !changed; ++outer)
      for (size_t inner = 0; inner < loops.size() && !changed; ++inner) {
        const Loop &a = loops[outer], &c = loops[inner];
        if (outer == inner || a.isReduction != c.isReduction ||
            !llvm::all_of(llvm::seq(operands.size()), [&](size_t i) {
              return a.strides[i] == c.strides[i] * c.extent;
            }))
          continue;
        loops[inner].extent *= a.extent;
        loops.erase(loops.begin() + outer);
        changed = true;
      }
  }
}

int Vectoriser::chooseVectorLoop() const {
  for (auto [i, one] : llvm::enumerate(loops))
    if (!one.isReduction && one.strides[result()] == 1 && one.extent > 1)
      return i;
  return -1;
}

/// Whether copying the operand with the vector loop innermost costs little
/// beside what it is used for.
bool Vectoriser::canPack(size_t operand, int vectorLoop) const {
  int64_t size = 1, iterations = 1;
  for (const Loop &one : loops) {
    iterations *= one.extent;
    if (one.strides[operand])
      size *= one.extent;
  }
  return size * 4 <= iterations;
}

scf::ForOp Vectoriser::loop(int64_t count, int64_t step, ValueRange init) {
  Value from = constant(0), to = constant(count), by = constant(step);
  return scf::ForOp::create(b, loc, from, to, by, init);
}

Value Vectoriser::plus(Value index, int64_t offset) {
  if (!offset)
    return index;
  return arith::AddIOp::create(b, loc, index, constant(offset));
}

Value Vectoriser::address(size_t operand, ArrayRef<Value> indices) {
  AffineExpr expr =
      getAffineConstantExpr(operands[operand].offset, b.getContext());
  SmallVector<Value> values;
  for (auto [i, one] : llvm::enumerate(loops))
    if (one.strides[operand] && indices[i]) {
      expr = expr + getAffineDimExpr(values.size(), b.getContext()) *
                        one.strides[operand];
      values.push_back(indices[i]);
    }
  return affine::AffineApplyOp::create(
      b, loc, AffineMap::get(values.size(), 0, expr), values);
}

void Vectoriser::pack(size_t operand, int vectorLoop) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < loops.size(); ++i)
    if (loops[i].strides[operand] && int(i) != vectorLoop)
      order.push_back(i);
  order.push_back(vectorLoop);
  SmallVector<int64_t> strides(loops.size(), 0);
  int64_t size = 1;
  for (size_t i : llvm::reverse(order)) {
    strides[i] = size;
    size *= loops[i].extent;
  }
  Value buffer =
      memref::AllocOp::create(b, loc, MemRefType::get({size}, element));
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> indices(loops.size());
  for (size_t i : order) {
    scf::ForOp one = loop(loops[i].extent, 1);
    b.setInsertionPointToStart(one.getBody());
    indices[i] = one.getInductionVar();
  }
  Value from = address(operand, indices);
  Value value = memref::LoadOp::create(b, loc, operands[operand].flat, from);
  operands[operand] = {buffer, 0};
  for (size_t i = 0; i < loops.size(); ++i)
    loops[i].strides[operand] = strides[i];
  Value to = address(operand, indices);
  memref::StoreOp::create(b, loc, value, buffer, to);
}

/// The body on these values, all of `type` (a vector or an element).
Value Vectoriser::scalarBody(ArrayRef<Value> arguments, Type type) {
  Block *body = op.getBlock();
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(body->getArguments(), arguments))
    mapping.map(from, to);
  auto vector = dyn_cast<VectorType>(type);
  for (Operation &inner : body->without_terminator()) {
    if (auto number = dyn_cast<arith::ConstantOp>(inner); number && vector) {
      auto attr = cast<TypedAttr>(number.getValue());
      mapping.map(
          number.getResult(),
          arith::ConstantOp::create(
              b, loc,
              DenseElementsAttr::get(
                  VectorType::get(vector.getShape(), attr.getType()), attr)));
      continue;
    }
    // What stands outside the body is a number for all places.
    for (Value operand : inner.getOperands())
      if (vector && operand.getParentBlock() != body &&
          !mapping.contains(operand))
        mapping.map(operand,
                    vector::BroadcastOp::create(
                        b, loc,
                        VectorType::get(vector.getShape(), operand.getType()),
                        operand));
    Operation *clone = b.clone(inner, mapping);
    if (vector)
      for (Value value : clone->getResults())
        value.setType(VectorType::get(vector.getShape(), value.getType()));
    // A contraction's products and sums have no order.
    if (!isa<linalg::GenericOp>(op))
      if (auto fast = dyn_cast<arith::ArithFastMathInterface>(clone))
        clone->setAttr(fast.getFastMathAttrName(),
                       arith::FastMathFlagsAttr::get(
                           b.getContext(), arith::FastMathFlags::reassoc |
                                               arith::FastMathFlags::contract));
  }
  return mapping.lookup(body->getTerminator()->getOperand(0));
}

/// Another loop of the result, best one along which vectors are used again.
int Vectoriser::chooseRowLoop(int vectorLoop) const {
  int best = -1;
  bool bestReuses = false;
  for (int i = 0, n = loops.size(); i < n; ++i) {
    if (i == vectorLoop || loops[i].isReduction)
      continue;
    bool reuses = false;
    for (size_t o = 0; o < result(); ++o)
      reuses = reuses || (loops[vectorLoop].strides[o] && !loops[i].strides[o]);
    if (best < 0 || (reuses && !bestReuses) ||
        (reuses == bestReuses && loops[i].extent > loops[best].extent))
      best = i, bestReuses = reuses;
  }
  return best;
}

/// Rows and vectors of a block: what wastes least, loads counted half.
std::pair<int64_t, int64_t> Vectoriser::block(int vectorLoop,
                                              int rowLoop) const {
  int64_t rows = rowLoop < 0 ? 1 : loops[rowLoop].extent;
  int64_t vectors = llvm::divideCeil(loops[vectorLoop].extent, width);
  int64_t most = unit.registers - std::max<int64_t>(unit.registers / 4, 4);
  std::pair<int64_t, int64_t> best{1, 1};
  double bestCost = std::numeric_limits<double>::infinity();
  for (int64_t v = 1; v <= std::min<int64_t>(vectors, 4); ++v)
    for (int64_t r = 1; r <= std::min(rows, most / v); ++r) {
      double blocks =
          double(llvm::divideCeil(rows, r)) * llvm::divideCeil(vectors, v);
      double cost = blocks * (r * v + 0.5 * (r + v) + 1);
      if (cost < bestCost)
        bestCost = cost, best = {r, v};
    }
  return best;
}

/// min(block * step, extent - step)
Value Vectoriser::blockStart(Value index, int64_t step, int64_t extent) {
  MLIRContext *context = b.getContext();
  AffineExpr d = getAffineDimExpr(0, context);
  if (extent % step == 0)
    return affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, d * step),
                                         ValueRange{index});
  AffineMap map = AffineMap::get(
      1, 0, {d * step, getAffineConstantExpr(extent - step, context)}, context);
  return affine::AffineMinOp::create(b, loc, map, ValueRange{index});
}

void Vectoriser::emitSums(int vectorLoop) {
  int rowLoop = chooseRowLoop(vectorLoop);
  auto [rows, vectors] = block(vectorLoop, rowLoop);
  auto type = VectorType::get({width}, element);
  SmallVector<Value> indices(loops.size());
  for (int i = 0, n = loops.size(); i < n; ++i) {
    if (loops[i].isReduction || i == vectorLoop || i == rowLoop)
      continue;
    scf::ForOp one = loop(loops[i].extent, 1);
    b.setInsertionPointToStart(one.getBody());
    indices[i] = one.getInductionVar();
  }
  if (rowLoop >= 0 && rows < loops[rowLoop].extent) {
    scf::ForOp one = loop(llvm::divideCeil(loops[rowLoop].extent, rows), 1);
    b.setInsertionPointToStart(one.getBody());
    indices[rowLoop] =
        blockStart(one.getInductionVar(), rows, loops[rowLoop].extent);
  }
  int64_t extent = loops[vectorLoop].extent, span = vectors * width;
  if (span < extent) {
    scf::ForOp one = loop(llvm::divideCeil(extent, span), 1);
    b.setInsertionPointToStart(one.getBody());
    indices[vectorLoop] = blockStart(one.getInductionVar(), span, extent);
  }
  auto columnOf = [&](int64_t v) {
    return std::min(v * width, extent - width);
  };
  Value zero =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, *start));
  SmallVector<Value> sums(rows * vectors, zero);
  Value outAddress = address(result(), indices);

  // The summed loops, the sums carried through.
  SmallVector<scf::ForOp> summed;
  SmallVector<Value> carried = sums;
  for (int i = 0, n = loops.size(); i < n; ++i) {
    if (!loops[i].isReduction)
      continue;
    scf::ForOp one = loop(loops[i].extent, 1, carried);
    summed.push_back(one);
    b.setInsertionPointToStart(one.getBody());
    indices[i] = one.getInductionVar();
    carried.assign(one.getRegionIterArgs().begin(),
                   one.getRegionIterArgs().end());
  }
  SmallVector<Value> bases;
  for (size_t o = 0; o < result(); ++o)
    bases.push_back(address(o, indices));
  std::map<std::tuple<size_t, int64_t, int64_t>, Value> loaded;
  auto load = [&](size_t o, int64_t row, int64_t vector) {
    int64_t rowStep = rowLoop < 0 ? 0 : loops[rowLoop].strides[o];
    bool spread = loops[vectorLoop].strides[o] == 0;
    Value &value =
        loaded[{o, rowStep ? row : 0, spread ? 0 : columnOf(vector)}];
    if (value)
      return value;
    Value at = plus(bases[o], row * rowStep + (spread ? 0 : columnOf(vector)));
    if (spread) {
      Value one = memref::LoadOp::create(b, loc, operands[o].flat, at);
      value = vector::BroadcastOp::create(b, loc, type, one);
    } else {
      value = vector::LoadOp::create(b, loc, type, operands[o].flat, at);
    }
    return value;
  };
  SmallVector<Value> next;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Value> arguments;
      for (size_t o = 0; o < result(); ++o)
        arguments.push_back(load(o, row, v));
      arguments.push_back(carried[row * vectors + v]);
      next.push_back(scalarBody(arguments, type));
    }
  for (scf::ForOp one : llvm::reverse(summed)) {
    scf::YieldOp::create(b, loc, next);
    next.assign(one.getResults().begin(), one.getResults().end());
    b.setInsertionPointAfter(one);
  }
  int64_t rowStep = rowLoop < 0 ? 0 : loops[rowLoop].strides[result()];
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v)
      vector::StoreOp::create(b, loc, next[row * vectors + v],
                              operands[result()].flat,
                              plus(outAddress, row * rowStep + columnOf(v)));
}

void Vectoriser::emitElementwise(int vectorLoop) {
  SmallVector<Value> indices(loops.size());
  for (int i = 0, n = loops.size(); i < n; ++i) {
    if (i == vectorLoop)
      continue;
    scf::ForOp one = loop(loops[i].extent, 1);
    b.setInsertionPointToStart(one.getBody());
    indices[i] = one.getInductionVar();
  }
  auto emit = [&](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    SmallVector<Value> arguments;
    for (size_t o = 0; o < operands.size(); ++o) {
      // What the result held before only matters if the body reads it.
      Value at = address(o, indices), value;
      if (vector && loops[vectorLoop].strides[o]) {
        value = vector::LoadOp::create(b, loc, vector, operands[o].flat, at);
      } else {
        value = memref::LoadOp::create(b, loc, operands[o].flat, at);
        if (vector)
          value = vector::BroadcastOp::create(b, loc, vector, value);
      }
      arguments.push_back(value);
    }
    Value value = scalarBody(arguments, type);
    Value to = address(result(), indices);
    if (vector)
      vector::StoreOp::create(b, loc, value, operands[result()].flat, to);
    else
      memref::StoreOp::create(b, loc, value, operands[result()].flat, to);
  };
  int64_t extent = loops[vectorLoop].extent, whole = extent / width * width;
  scf::ForOp main = loop(whole, width);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(main.getBody());
    indices[vectorLoop] = main.getInductionVar();
    emit(VectorType::get({width}, element));
  }
  if (whole == extent)
    return;
  Value from = constant(whole), to = constant(extent), one = constant(1);
  scf::ForOp rest = scf::ForOp::create(b, loc, from, to, one);
  b.setInsertionPointToStart(rest.getBody());
  indices[vectorLoop] = rest.getInductionVar();
  emit(element);
}

bool Vectoriser::run() {
  if (!analyse())
    return false;
  bool sums = op.getNumReductionLoops() > 0;
  if (sums && !findFill())
    return false;
  joinLoops();
  int vectorLoop = chooseVectorLoop();
  if (vectorLoop < 0)
    return false;
  width = unit.bits / element.getIntOrFloatBitWidth();
  while (width > loops[vectorLoop].extent)
    width /= 2;
  if (width < 2)
    return false;
  SmallVector<size_t> packed;
  for (size_t o = 0; o < result(); ++o) {
    int64_t stride = loops[vectorLoop].strides[o];
    if (stride == 0 || stride == 1)
      continue;
    if (!sums || !canPack(o, vectorLoop))
      return false;
    packed.push_back(o);
  }
  for (size_t o : packed)
    pack(o, vectorLoop);
  if (sums) {
    emitSums(vectorLoop);
    fill->erase();
  } else {
    emitElementwise(vectorLoop);
  }
  op->erase();
  return true;
}

void rhizome::kernel::vectorise(func::FuncOp body, const VectorUnit &unit) {
  SmallVector<linalg::LinalgOp> ops;
  body.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (!isa<linalg::FillOp>(op))
      Vectoriser(op, unit).run();
}
