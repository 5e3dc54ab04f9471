// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on constants only are computed once, by the interpreter, all of
// them together as a function without arguments.
#include "Raise.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "rhizome/Interp/Interpreter.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
/// Above this many loop iterations, constants are not folded.
constexpr int64_t kFoldingWork = int64_t(1) << 27;

class Folder {
public:
  explicit Folder(func::FuncOp function) : function(function) {}
  void run();

private:
  bool isConstant(Operation &op);
  void find();
  bool evaluate(std::vector<Tensor> &values);

  func::FuncOp function;
  llvm::DenseSet<Operation *> constant;
  SmallVector<Operation *> wanted; ///< read by non-constant operations
  int64_t work = 0;
};
} // namespace

/// Loops that only depend on sizes; their values cost more than they tell.
static bool isPattern(Operation *op) {
  return isa<tensor::EmptyOp, linalg::FillOp, linalg::BroadcastOp,
             arith::ConstantOp, osa::ConstantOp>(op);
}

bool Folder::isConstant(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumResults() != 1)
    return false;
  if (auto value = dyn_cast<arith::ConstantOp>(op))
    return !isa<ShapedType>(value.getType());
  if (!isa<osa::ConstantOp, tensor::EmptyOp, linalg::LinalgOp,
           tensor::CollapseShapeOp, tensor::ExpandShapeOp,
           tensor::InsertSliceOp>(op) &&
      !isa<osa::OsaDialect>(op.getDialect()))
    return false;
  if (!isMovable(op.getResult(0)))
    return false;
  SetVector<Value> reads(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), reads);
  for (Value v : reads)
    if (!v.getDefiningOp() || !constant.contains(v.getDefiningOp()))
      return false;
  if (auto loop = dyn_cast<linalg::LinalgOp>(op))
    work += ShapedType::getNumElements(loop.getStaticLoopRanges());
  return true;
}

void Folder::find() {
  for (Operation &op : function.getBody().front())
    if (isConstant(op))
      constant.insert(&op);
  for (Operation &op : function.getBody().front())
    if (constant.contains(&op) && !isPattern(&op) &&
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          Operation *at =
              function.getBody().front().findAncestorOpInBlock(*user);
          return at && (!constant.contains(at) || isPattern(at));
        }))
      wanted.push_back(&op);
}

bool Folder::evaluate(std::vector<Tensor> &values) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(function.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  SmallVector<Type> types;
  for (Operation *op : wanted)
    types.push_back(op->getResult(0).getType());
  auto fold = func::FuncOp::create(b, function.getLoc(), "fold",
                                   b.getFunctionType({}, types));
  b.setInsertionPointToEnd(fold.addEntryBlock());
  IRMapping map;
  for (Operation &op : function.getBody().front())
    if (constant.contains(&op))
      b.clone(op, map);
  SmallVector<Value> results;
  for (Operation *op : wanted)
    results.push_back(map.lookup(op->getResult(0)));
  func::ReturnOp::create(b, function.getLoc(), results);
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> named;
  fold.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return false;
  }
  // Operations that it cannot compute are kept.
  ScopedDiagnosticHandler silent(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  auto computed = interpret(fold, {});
  if (failed(computed))
    return false;
  values = std::move(*computed);
  return true;
}

void Folder::run() {
  find();
  std::vector<Tensor> values;
  if (wanted.empty() || work > kFoldingWork || !evaluate(values))
    return;
  for (auto [op, value] : llvm::zip_equal(wanted, values)) {
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    ElementsAttr attr;
    if (!type.getElementType().isF32())
      attr = DenseElementsAttr::get(type, ArrayRef<int64_t>(value.ints));
    else if (llvm::all_equal(value.floats) && !value.floats.empty())
      attr = DenseElementsAttr::get(type, value.floats.front());
    else
      attr = osa::makeFloatAttr(b.getContext(), "folded", type.getShape(),
                                value.floats);
    Value folded = osa::ConstantOp::create(b, op->getLoc(), type, attr);
    op->getResult(0).replaceAllUsesWith(folded);
  }
  Block &block = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void importer::foldConstants(func::FuncOp function) { Folder(function).run(); }
