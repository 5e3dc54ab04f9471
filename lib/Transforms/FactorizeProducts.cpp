// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products, contracted two factors at a time. A product is a set of
// factors, each a tensor with the set of indices that subscripts it; the
// cheapest tree of pairs is found by dynamic programming over all subsets.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Transforms/Algebra.h"
#include "rhizome/Transforms/Passes.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

namespace rhizome {
#define GEN_PASS_DEF_LINALGFACTORIZEPRODUCTS
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

static constexpr unsigned kMostFactors = 10;

namespace {
/// A tensor and the index that subscripts each of its dimensions.
struct Factor {
  Value tensor;
  SmallVector<unsigned> indices;
  uint64_t set() const {
    uint64_t bits = 0;
    for (unsigned index : indices)
      bits |= uint64_t(1) << index;
    return bits;
  }
};

/// A sum over all indices that are not the result's.
struct Product {
  SmallVector<int64_t> extents; ///< of each index
  SmallVector<Factor> factors;
  SmallVector<unsigned> result;
};
} // namespace

static bool mayReorder(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags &&
         arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::reassoc);
}

/// The block arguments whose product `value` is; false for other values.
static bool collectFactors(Value value, SmallVectorImpl<BlockArgument> &out) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    out.push_back(argument);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtFOp>(op))
    return collectFactors(op->getOperand(0), out);
  return isa<arith::MulFOp>(op) && mayReorder(op) &&
         collectFactors(op->getOperand(0), out) &&
         collectFactors(op->getOperand(1), out);
}

/// The sum of products that an operation computes, if it may be
/// reordered.
static std::optional<Product> productOf(linalg::LinalgOp op) {
  if (!op || op.getNumDpsInits() != 1 || op->getNumResults() != 1 ||
      op.getNumReductionLoops() == 0 || op.getNumLoops() > 60 ||
      op.hasDynamicShape() || !isZeroFilled(op.getDpsInitOperand(0)->get()) ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return std::nullopt;
  Block *body = op.getBlock();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || (!isa<linalg::ContractOp>(op) && !mayReorder(sum)))
    return std::nullopt;
  Value accumulator = body->getArguments().back(), value;
  if (sum.getLhs() == accumulator)
    value = sum.getRhs();
  else if (sum.getRhs() == accumulator)
    value = sum.getLhs();
  else
    return std::nullopt;
  SmallVector<BlockArgument> arguments;
  if (isa<linalg::ContractOp>(op))
    arguments.assign({body->getArgument(0), body->getArgument(1)});
  else if (!collectFactors(value, arguments))
    return std::nullopt;
  Product out;
  out.extents = op.getStaticLoopRanges();
  auto indicesOf = [&](OpOperand &operand, SmallVector<unsigned> &indices) {
    for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim)
        return false;
      indices.push_back(dim.getPosition());
    }
    return true;
  };
  for (BlockArgument argument : arguments) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    Factor factor{operand.get(), {}};
    if (argument == accumulator ||
        !isa<RankedTensorType>(factor.tensor.getType()) ||
        !indicesOf(operand, factor.indices))
      return std::nullopt;
    out.factors.push_back(factor);
  }
  uint64_t used = 0;
  for (const Factor &factor : out.factors)
    used |= factor.set();
  // An index that subscripts nothing is only a multiplication.
  if (used + 1 != uint64_t(1) << out.extents.size())
    return std::nullopt;
  if (!indicesOf(*op.getDpsInitOperand(0), out.result))
    return std::nullopt;
  return out;
}

/// Replaces sums that only this product uses by their factors.
static void absorb(Product &product) {
  for (size_t i = 0; i < product.factors.size();) {
    Factor factor = product.factors[i];
    auto op = factor.tensor.getDefiningOp<linalg::LinalgOp>();
    std::optional<Product> inner;
    if (op && factor.tensor.hasOneUse() && !op->hasAttr(marks::kFormat))
      inner = productOf(op);
    if (!inner ||
        product.factors.size() + inner->factors.size() > kMostFactors + 1 ||
        product.extents.size() + inner->extents.size() > 60) {
      ++i;
      continue;
    }
    SmallVector<unsigned> renamed(inner->extents.size(), ~0u);
    for (auto [inside, outside] : llvm::zip(inner->result, factor.indices))
      renamed[inside] = outside;
    for (auto [index, extent] : llvm::enumerate(inner->extents))
      if (renamed[index] == ~0u) {
        renamed[index] = product.extents.size();
        product.extents.push_back(extent);
      }
    for (Factor &one : inner->factors)
      for (unsigned &index : one.indices)
        index = renamed[index];
    product.factors.erase(product.factors.begin() + i);
    product.factors.insert(product.factors.begin() + i, inner->factors.begin(),
                           inner->factors.end());
  }
}

namespace {
/// The cheapest tree of pairwise contractions.
class Contractor {
public:
  Contractor(const Product &product, IndexOrder indexOrder, FloatType element,
             OpBuilder &b, Location loc)
      : product(product), indexOrder(indexOrder), element(element), b(b),
        loc(loc) {
    for (unsigned index : product.result)
      output |= uint64_t(1) << index;
    plan();
  }
  Value emit() {
    unsigned all = best.size() - 1;
    return emit(all, &product.result).tensor;
  }

private:
  const Product &product;
  IndexOrder indexOrder;
  FloatType element;
  OpBuilder &b;
  Location loc;
  uint64_t output = 0;
  struct Best {
    double cost = 0, peak = 0;
    unsigned left = 0;
  };
  std::vector<Best> best; ///< by subset

  uint64_t indicesOf(unsigned subset) const {
    uint64_t bits = 0;
    for (size_t i = 0; i < product.factors.size(); ++i)
      if (subset >> i & 1)
        bits |= product.factors[i].set();
    return bits;
  }
  /// Indices of a subset that the result or the other factors need.
  uint64_t live(unsigned subset) const {
    unsigned others = ((1u << product.factors.size()) - 1) & ~subset;
    return indicesOf(subset) & (output | indicesOf(others));
  }
  double size(uint64_t indices) const {
    double out = 1;
    for (size_t i = 0; i < product.extents.size(); ++i)
      if (indices >> i & 1)
        out *= product.extents[i];
    return out;
  }
  void plan();
  Factor emit(unsigned subset, const SmallVector<unsigned> *order);
  SmallVector<unsigned> orderOf(const Factor &left, const Factor &right,
                                uint64_t kept) const;
};
} // namespace

void Contractor::plan() {
  unsigned count = 1u << product.factors.size();
  best.resize(count);
  for (unsigned subset = 1; subset < count; ++subset) {
    Best &entry = best[subset];
    uint64_t kept = live(subset);
    if ((subset & (subset - 1)) == 0) {
      // Indices that only this factor has are summed first.
      uint64_t all = indicesOf(subset);
      entry.cost = kept == all ? 0 : size(all);
      continue;
    }
    entry.cost = std::numeric_limits<double>::infinity();
    // Each pair of halves once: `left` contains the lowest factor.
    unsigned low = subset & -subset;
    for (unsigned part = 0;;
         part = (part - (subset & ~low)) & (subset & ~low)) {
      unsigned left = part | low, right = subset & ~left;
      if (right) {
        double cost =
            best[left].cost + best[right].cost + size(live(left) | live(right));
        double peak = std::max({best[left].peak, best[right].peak, size(kept)});
        if (std::pair(cost, peak) < std::pair(entry.cost, entry.peak))
          entry = {cost, peak, left};
      }
      if (part == (subset & ~low))
        break;
    }
  }
}

/// The larger side's order with the new indices where `indexOrder` puts them.
SmallVector<unsigned> Contractor::orderOf(const Factor &left,
                                          const Factor &right,
                                          uint64_t kept) const {
  bool swap = size(right.set()) >= size(left.set());
  const Factor &large = swap ? right : left, &small = swap ? left : right;
  SmallVector<unsigned> fresh, out;
  for (unsigned index : small.indices)
    if ((kept >> index & 1) && !(large.set() >> index & 1))
      fresh.push_back(index);
  if (indexOrder == IndexOrder::First)
    std::swap(out, fresh);
  for (unsigned index : large.indices) {
    if (kept >> index & 1) {
      out.push_back(index);
    } else {
      out.append(fresh.begin(), fresh.end());
      fresh.clear();
    }
  }
  out.append(fresh.begin(), fresh.end());
  return out;
}

Factor Contractor::emit(unsigned subset, const SmallVector<unsigned> *order) {
  MLIRContext *context = b.getContext();
  SmallVector<Factor> inputs;
  uint64_t kept = live(subset);
  Factor out;
  if ((subset & (subset - 1)) == 0) {
    inputs.push_back(product.factors[llvm::Log2_32(subset)]);
    if (!order && kept == inputs[0].set())
      return inputs[0];
    for (unsigned index : inputs[0].indices)
      if (kept >> index & 1 && !llvm::is_contained(out.indices, index))
        out.indices.push_back(index);
  } else {
    unsigned left = best[subset].left;
    inputs.push_back(emit(left, nullptr));
    inputs.push_back(emit(subset & ~left, nullptr));
    out.indices = orderOf(inputs[0], inputs[1], kept);
  }
  if (order)
    out.indices = *order;

  // The loops: the result's indices, then the summed ones.
  SmallVector<unsigned> loops(out.indices);
  for (const Factor &input : inputs)
    for (unsigned index : input.indices)
      if (!llvm::is_contained(loops, index))
        loops.push_back(index);
  auto mapOf = [&](ArrayRef<unsigned> indices) {
    SmallVector<AffineExpr> results;
    for (unsigned index : indices)
      results.push_back(
          getAffineDimExpr(llvm::find(loops, index) - loops.begin(), context));
    return AffineMap::get(loops.size(), 0, results, context);
  };
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (const Factor &input : inputs) {
    maps.push_back(mapOf(input.indices));
    values.push_back(input.tensor);
  }
  maps.push_back(mapOf(out.indices));
  SmallVector<int64_t> shape;
  for (unsigned index : out.indices)
    shape.push_back(product.extents[index]);
  Value init = tensor::EmptyOp::create(b, loc, shape, element);
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0.0));
  init = linalg::FillOp::create(b, loc, zero, init).getResult(0);
  bool plain = inputs.size() == 2 && loops.size() > out.indices.size() &&
               llvm::all_of(maps, [](AffineMap map) {
                 return map.isProjectedPermutation();
               });
  for (unsigned index : ArrayRef(loops).drop_front(out.indices.size()))
    plain = plain && llvm::all_of(inputs, [&](const Factor &input) {
              return llvm::is_contained(input.indices, index);
            });
  if (plain) {
    out.tensor = linalg::ContractOp::create(b, loc, init.getType(), values,
                                            init, b.getAffineMapArrayAttr(maps))
                     .getResult(0);
    return out;
  }
  SmallVector<utils::IteratorType> iterators(out.indices.size(),
                                             utils::IteratorType::parallel);
  iterators.resize(loops.size(), utils::IteratorType::reduction);
  auto fast = arith::FastMathFlagsAttr::get(
      context, arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{init.getType()}, values, ValueRange{init}, maps,
      iterators, [&](OpBuilder &nested, Location at, ValueRange arguments) {
        SmallVector<Value> operands;
        for (Value argument : arguments.drop_back()) {
          if (argument.getType() != element)
            argument = arith::ExtFOp::create(nested, at, element, argument);
          operands.push_back(argument);
        }
        Value value = operands[0];
        if (operands.size() == 2)
          value = arith::MulFOp::create(nested, at, value, operands[1], fast);
        value =
            arith::AddFOp::create(nested, at, arguments.back(), value, fast);
        linalg::YieldOp::create(nested, at, value);
      });
  out.tensor = generic.getResult(0);
  return out;
}

static void factorize(func::FuncOp kernel, IndexOrder order) {
  // Users first, so that a product absorbs sums before these are split.
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics())
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (op->use_empty()) {
      op->erase(); // absorbed
      continue;
    }
    std::optional<Product> product = productOf(op);
    if (!product)
      continue;
    absorb(*product);
    if (product->factors.size() > kMostFactors)
      continue;
    auto element = cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
    OpBuilder b(op);
    Contractor contractor(*product, order, element, b, op.getLoc());
    Value value = contractor.emit();
    for (StringRef name : {marks::kFormat, marks::kAccuracy})
      if (Attribute attr = op->getAttr(name))
        value.getDefiningOp()->setAttr(name, attr);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

/// Replaces an operation with several results, which fusion leaves where a
/// producer began with values, by one for each result that is used. Without
/// reductions, what the others begin with is only read.
static void splitResults(linalg::GenericOp op) {
  Block *body = op.getBody();
  const unsigned inputs = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  OpBuilder b(op);
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    if (op->getResult(r).use_empty())
      continue;
    SmallVector<Value> read(op.getInputs());
    SmallVector<AffineMap> own(maps.begin(), maps.begin() + inputs);
    for (unsigned other = 0; other < op->getNumResults(); ++other)
      if (other != r) {
        read.push_back(op.getDpsInits()[other]);
        own.push_back(maps[inputs + other]);
      }
    own.push_back(maps[inputs + r]);
    Value init = op.getDpsInits()[r];
    auto single = linalg::GenericOp::create(
        b, op.getLoc(), init.getType(), read, init, own,
        op.getIteratorTypesArray(),
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          IRMapping mapping;
          unsigned next = 0;
          for (unsigned i = 0; i < body->getNumArguments(); ++i)
            mapping.map(body->getArgument(i),
                        i == inputs + r ? arguments.back() : arguments[next++]);
          for (Operation &inner : body->without_terminator())
            nested.clone(inner, mapping);
          linalg::YieldOp::create(
              nested, loc,
              mapping.lookupOrDefault(body->getTerminator()->getOperand(r)));
        });
    op->getResult(r).replaceAllUsesWith(single.getResult(0));
  }
  op.erase();
}

LogicalResult rhizome::kernel::factorizeProducts(func::FuncOp kernel,
                                                 IndexOrder order) {
  MLIRContext *context = kernel.getContext();
  // Names would keep equal computations distinct.
  kernel.walk([](Operation *op) {
    if (!isa<func::FuncOp>(op))
      op->removeAttr(marks::kName);
  });
  auto clean = [&] {
    PassManager pm(context, kernel.getOperationName());
    pm.addPass(createCSEPass());
    pm.addPass(createCanonicalizerPass());
    return pm.run(kernel);
  };
  if (failed(clean()))
    return failure();
  factorize(kernel, order);
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *use) {
    auto producer = use->get().getDefiningOp<linalg::LinalgOp>();
    auto consumer = dyn_cast<linalg::LinalgOp>(use->getOwner());
    return producer && consumer && producer->hasOneUse() &&
           !producer->hasAttr(marks::kFormat) &&
           producer.getNumReductionLoops() == 0 &&
           consumer.getNumReductionLoops() == 0;
  });
  if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
    return failure();
  bool isSplit = false;
  kernel.walk([&](linalg::GenericOp op) {
    if (op->getNumResults() < 2 || op.getNumReductionLoops() > 0 ||
        !op.hasPureTensorSemantics())
      return;
    splitResults(op);
    isSplit = true;
  });
  RewritePatternSet unused(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(unused);
  if (isSplit && failed(applyPatternsGreedily(kernel, std::move(unused))))
    return failure();
  return clean();
}

namespace {
struct LinalgFactorizeProducts
    : rhizome::impl::LinalgFactorizeProductsBase<LinalgFactorizeProducts> {
  using LinalgFactorizeProductsBase::LinalgFactorizeProductsBase;
  void runOnOperation() override {
    if (failed(factorizeProducts(getOperation(), newFirst
                                                     ? IndexOrder::First
                                                     : IndexOrder::InPlace)))
      signalPassFailure();
  }
};
} // namespace
