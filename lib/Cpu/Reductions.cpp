// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums (and products, maxima, ...) along the loop that walks memory in order,
// which the result does not have: each lane takes every n-th element, and the
// lanes are joined at the end. Floats are added so only where the operation
// says that their order is free.
#include "Vectorizer.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::cpu;

/// What joins the result so far with another value, if lanes may be joined in
/// any order.
static Operation *joinOf(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value soFar = body->getArguments().back();
  Operation *join = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!join || join->getBlock() != body || join->getNumOperands() != 2 ||
      !soFar.hasOneUse() || *soFar.getUsers().begin() != join ||
      !linalg::getCombinerOpKind(join))
    return nullptr;
  if (isa<arith::AddFOp, arith::MulFOp>(join) && isa<linalg::GenericOp>(op)) {
    auto flags = cast<arith::ArithFastMathInterface>(join)
                     .getFastMathFlagsAttr()
                     .getValue();
    if (!bitEnumContainsAll(flags, arith::FastMathFlags::reassoc))
      return nullptr;
  }
  return join;
}

int Vectorizer::reductionLoop() const {
  for (int i = 0, n = int(nest.loops.size()); i < n; ++i) {
    if (!nest.loops[i].isSummed || nest.loops[i].extent < 8)
      continue;
    bool walks = false;
    bool fits = llvm::all_of(nest.in, [&](const Access &a) {
      walks |= !a.isScalar() && a.steps[i] == 1;
      return a.isScalar() || a.steps[i] == 0 || a.steps[i] == 1;
    });
    if (fits && walks)
      return i;
  }
  return -1;
}

bool Vectorizer::canReduce() const {
  return isa<FloatType>(nest.out.element()) && nest.readsOut &&
         joinOf(nest.op) && reductionLoop() >= 0;
}

bool Vectorizer::planReduction(Nest given) {
  nest = std::move(given);
  beginning = end = std::nullopt;
  dotTerms = 1;
  excess = std::nullopt;
  join = nest.readsOut ? joinOf(nest.op) : nullptr;
  lanes = join ? reductionLoop() : -1;
  if (lanes < 0 || !arith::getNeutralElement(join))
    return false;
  chooseWidth();
  if (width > nest.loops[lanes].extent)
    return false;
  repeats = false;
  rest = Rest::Masked;
  // Rows share what they all read; a few hide the latency of sums.
  tile.clear();
  vectors = 4;
  for (int i = int(nest.loops.size()); i-- > 0;) {
    bool shares = llvm::any_of(nest.in, [&](const Access &a) {
      return !a.isScalar() && a.steps[lanes] && !a.steps[i];
    });
    if (nest.loops[i].isSummed || !shares || i == sliceLoop)
      continue;
    tile[i] = std::min<int64_t>(4, nest.loops[i].extent);
    vectors = tile[i] > 2 ? 1 : 2;
    break;
  }
  return true;
}

/// A vector of the operand along the lanes from `at` on, of which `valid` are
/// there.
Value Vectorizer::loadPart(Value flat, Type element, Value at, int64_t valid) {
  if (valid >= current)
    return loadVector(flat, element, at, current);
  Value none = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(VectorType::get({current}, element)));
  return vector::MaskedLoadOp::create(b, loc, none.getType(), flat, at,
                                      lanesMask(valid), none);
}

Value Vectorizer::lanesMask(int64_t valid) {
  SmallVector<bool> there(size_t(current), false);
  std::fill_n(there.begin(), valid, true);
  auto type = VectorType::get({current}, b.getI1Type());
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(there)));
}

Value Vectorizer::joined(Value x, Value y) {
  Operation *made = join->clone();
  made->setOperands({x, y});
  made->getResult(0).setType(x.getType());
  b.insert(made);
  return made->getResult(0);
}

void Vectorizer::emitReductionTile() {
  places = placesOfTile();
  auto offsetOf = [&](const Access &a, ArrayRef<int64_t> place) {
    int64_t offset = a.offset;
    for (auto [step, steps] : llvm::zip(a.steps, place))
      offset += step * steps;
    return offset;
  };
  Type element = nest.out.element();
  auto type = VectorType::get({width}, element);
  Value outBase = address(nest.out, false), outFlat = flat(nest.out);
  TypedAttr neutralAttr = *arith::getNeutralElement(join);
  Value neutral = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, Attribute(neutralAttr)));
  SmallVector<Value> carried(places.size() * size_t(vectors), neutral);
  SmallVector<Value> flats, bases;
  for (const Access &a : nest.in) {
    flats.push_back(a.isScalar() ? Value() : flat(a));
    bases.push_back(a.isScalar() ? Value() : address(a, false));
  }
  auto enter = [&](int64_t extent, int64_t step) {
    Value from = number(0), to = number(extent), by = number(step);
    auto loop = scf::ForOp::create(b, loc, from, to, by, carried);
    b.setInsertionPointToStart(loop.getBody());
    carried.assign(loop.getRegionIterArgs().begin(),
                   loop.getRegionIterArgs().end());
    return loop;
  };
  auto leave = [&](scf::ForOp loop) {
    scf::YieldOp::create(b, loc, carried);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    b.setInsertionPointAfter(loop);
  };
  SmallVector<scf::ForOp> outer;
  for (auto [i, loop] : llvm::enumerate(nest.loops))
    if (loop.isSummed && int(i) != lanes) {
      outer.push_back(enter(loop.extent, 1));
      summedIndex[i] = outer.back().getInductionVar();
    }
  /// Adds `count` vectors from lane `first` on, the last with `valid` lanes.
  auto addVectors = [&](Value index, int64_t first, int64_t count,
                        int64_t valid) {
    summedIndex[lanes] = index;
    SmallVector<Value> begins;
    for (auto [base, a] : llvm::zip(bases, nest.in))
      begins.push_back(
          base ? Value(arith::AddIOp::create(b, loc, base, address(a, true)))
               : base);
    // A part of a vector is not what another row reads there whole.
    std::map<std::tuple<size_t, int64_t, int64_t>, Value> loaded;
    for (auto [p, place] : llvm::enumerate(places))
      for (int64_t v = 0; v < count; ++v) {
        int64_t there = v + 1 == count ? valid : width;
        SmallVector<Value> arguments;
        for (size_t k = 0; k < nest.in.size(); ++k) {
          const Access &a = nest.in[k];
          if (a.isScalar()) {
            arguments.push_back(a.memory);
            continue;
          }
          int64_t offset =
              offsetOf(a, place) + a.steps[lanes] * (first + v * width);
          Value &value = loaded[{k, offset, there}];
          if (!value) {
            Value at = plus(begins[k], offset);
            value = a.steps[lanes]
                        ? loadPart(flats[k], a.element(), at, there)
                        : Value(memref::LoadOp::create(b, loc, flats[k], at));
          }
          arguments.push_back(value);
        }
        Value &sum = carried[p * size_t(vectors) + size_t(v % vectors)];
        if (there == width) {
          sum = body(nest.op, arguments, sum);
          continue;
        }
        Value part = body(nest.op, arguments, neutral);
        part = arith::SelectOp::create(b, loc, lanesMask(there), part, neutral);
        sum = joined(sum, part);
      }
  };
  int64_t extent = nest.loops[lanes].extent, span = width * vectors;
  int64_t whole = extent / span * span;
  if (whole > span) {
    scf::ForOp loop = enter(whole, span);
    addVectors(loop.getInductionVar(), 0, vectors, width);
    leave(loop);
  } else {
    whole = 0;
  }
  if (whole < extent) {
    int64_t count = llvm::divideCeil(extent - whole, width);
    addVectors(number(0), whole, count, extent - whole - (count - 1) * width);
  }
  for (scf::ForOp loop : llvm::reverse(outer))
    leave(loop);
  auto kind = *linalg::getCombinerOpKind(join);
  for (auto [p, place] : llvm::enumerate(places)) {
    Value sum = carried[p * size_t(vectors)];
    for (int64_t v = 1; v < vectors; ++v)
      sum = joined(sum, carried[p * size_t(vectors) + size_t(v)]);
    Value at = plus(outBase, offsetOf(nest.out, place));
    Value before = memref::LoadOp::create(b, loc, outFlat, at);
    auto flags = isa<FloatType>(element) ? arith::FastMathFlags::reassoc
                                         : arith::FastMathFlags::none;
    Value scalar = vector::ReductionOp::create(b, loc, kind, sum, flags);
    memref::StoreOp::create(b, loc, joined(before, scalar), outFlat, at);
  }
}
