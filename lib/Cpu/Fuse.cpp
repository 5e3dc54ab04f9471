// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elementwise operations become one, so that their values stay in
// registers. Nothing is computed twice, and what can become vectors is kept
// apart from what cannot, as are numbers of different width.
#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rhizome/Dialect/Osa/Osa.h"

using namespace mlir;
using namespace rhizome;

/// The widest numbers of a body; 0 if it reads by index.
static unsigned widthOf(linalg::GenericOp op) {
  unsigned bits = 8;
  for (BlockArgument argument : op.getBody()->getArguments())
    if (!argument.use_empty() && argument.getType().isIntOrFloat())
      bits = std::max(bits, argument.getType().getIntOrFloatBitWidth());
  for (Operation &inner : *op.getBody()) {
    if (isa<linalg::IndexOp, tensor::ExtractOp>(inner))
      return 0;
    for (Type type : inner.getResultTypes())
      if (type.isIntOrFloat())
        bits = std::max(bits, type.getIntOrFloatBitWidth());
  }
  return bits;
}

/// Whether an operation reads everything in the order of its loops; what
/// transposes is no vector code and takes nothing with it.
static bool isStraight(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    int last = -1;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      if (int(dim.getPosition()) <= last)
        return false;
      last = int(dim.getPosition());
    }
    return true;
  });
}

static bool mayFuse(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(use->getOwner());
  if (!producer || !consumer || !use->get().hasOneUse() ||
      producer->getBlock() != consumer->getBlock() ||
      producer.getNumResults() != 1 || producer.getNumReductionLoops() ||
      producer.getNumLoops() != consumer.getNumLoops() ||
      !consumer.getMatchingIndexingMap(use).isPermutation() ||
      !isStraight(producer) || !isStraight(consumer))
    return false;
  unsigned from = widthOf(producer), to = widthOf(consumer);
  return from != 0 && from == to;
}

/// Constants of which only the low bits are read are stored so, and can be
/// weights of dot products.
static void narrowConstants(func::FuncOp func) {
  for (auto op : llvm::make_early_inc_range(func.getOps<linalg::GenericOp>())) {
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    auto low = yield.getOperand(0).getDefiningOp<arith::TruncIOp>();
    if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || !low ||
        low.getIn() != op.getBody()->getArgument(0) ||
        !llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }))
      continue;
    auto wide = op.getDpsInputs()[0].getDefiningOp<arith::ConstantOp>();
    unsigned bits = low.getType().getIntOrFloatBitWidth();
    if (!wide || bits < 8 || !llvm::isPowerOf2_32(bits))
      continue;
    std::vector<int64_t> values =
        osa::intValues(cast<ElementsAttr>(wide.getValue()));
    for (int64_t &v : values)
      v = llvm::SignExtend64(uint64_t(v), bits);
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    OpBuilder b(op);
    ElementsAttr narrow = osa::makeIntAttr(
        op.getContext(), "cpu", type.getShape(),
        num::IntType::getFull(op.getContext(), true, bits), values);
    op.getResult(0).replaceAllUsesWith(
        arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(narrow)));
    op.erase();
    if (wide->use_empty())
      wide.erase();
  }
}

void cpu::fuseElementwise(func::FuncOp func) {
  narrowConstants(func);
  // The order of sums is free along a loop, not among operations.
  func.walk([](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      for (auto add : op.getBody()->getOps<arith::AddFOp>())
        add.setFastmath(arith::FastMathFlags::none);
  });
  RewritePatternSet patterns(func.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, mayFuse);
  GreedyRewriteConfig config;
  config.enableFolding(false);
  (void)applyPatternsGreedily(func, std::move(patterns), config);
}
