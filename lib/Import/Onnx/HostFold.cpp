// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host would compute from constants alone is computed at once, by the
// interpreter. And what its loops say of where they come from.
#include "Host.h"
#include "Placement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Interp/Interpreter.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

/// The most loop iterations that folding may take, roughly.
static constexpr int64_t kFoldingWork = int64_t(1) << 26;

void importer::foldResults(NodeContext &node) {
  for (const TensorRef &t : node.inputs)
    if (t && !t->isPlainConstant())
      return;
  std::vector<TensorRef> results;
  for (const TensorRef &t : node.results)
    if (t && t->plain && !t->constant)
      results.push_back(t);
  // The blocks around the node, from the function's inwards: more than one in a
  // body.
  SmallVector<Block *> blocks;
  for (Block *block = node.builder.getInsertionBlock();;
       block = block->getParentOp()->getBlock()) {
    blocks.insert(blocks.begin(), block);
    if (block->getParentOp() == node.state.function)
      break;
  }
  // What the results need, as a function of nothing.
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> work;
  for (const TensorRef &t : results)
    work.push_back(t->plain);
  int64_t cost = 0;
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op)
      return;
    if (!seen.insert(op).second)
      continue;
    if (isa<scf::WhileOp>(op)) // nobody knows how long it takes
      return;
    llvm::append_range(work, op->getOperands());
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (llvm::is_contained(blocks, v.getParentBlock()))
          work.push_back(v);
    });
    op->walk([&](linalg::LinalgOp loop) {
      int64_t trips = 1;
      if (auto around = dyn_cast<scf::ForOp>(op))
        if (auto count = around.getStaticTripCount())
          trips = count->getSExtValue();
      // Of each scalar in the body, and what it takes to begin.
      const int64_t each =
          1 + int64_t(loop.getBlock()->getOperations().size()) / 4;
      cost +=
          trips *
          (ShapedType::getNumElements(loop.getStaticLoopRanges()) * each + 256);
    });
  }
  if (results.empty() || cost > kFoldingWork)
    return;
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(node.loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  SmallVector<Type> types;
  for (const TensorRef &t : results)
    types.push_back(t->plain.getType());
  auto func =
      func::FuncOp::create(b, node.loc, "fold", b.getFunctionType({}, types));
  b.setInsertionPointToEnd(func.addEntryBlock());
  IRMapping map;
  for (Block *block : blocks)
    for (Operation &op : *block)
      if (seen.contains(&op))
        b.clone(op, map);
  SmallVector<Value> values;
  for (const TensorRef &t : results)
    values.push_back(map.lookup(t->plain));
  func::ReturnOp::create(b, node.loc, values);
  ScopedDiagnosticHandler quiet(node.context,
                                [](Diagnostic &) { return success(); });
  auto out = interpret(func, {});
  if (failed(out))
    return; // it is computed while the network runs, and fails there
  for (auto [t, tensor] : llvm::zip_equal(results, *out)) {
    auto host = std::make_shared<HostTensor>();
    host->type = typeOf(t);
    host->shape = t->shape;
    host->reals.assign(tensor.floats.begin(), tensor.floats.end());
    host->ints = tensor.ints;
    *t = *constantTensor(node.context, host);
  }
}

LoopsSince::LoopsSince(ImportState &state)
    : block(state.builder.getInsertionBlock()),
      last(block->empty() ? nullptr : &block->back()) {}

void LoopsSince::note(const Refusal &why) {
  Operation *op = last             ? last->getNextNode()
                  : block->empty() ? nullptr
                                   : &block->front();
  for (; op; op = op->getNextNode()) {
    if (!isa<linalg::GenericOp, scf::ForOp, scf::WhileOp>(op))
      continue;
    auto text = [&](StringRef s) {
      return StringAttr::get(op->getContext(), s);
    };
    op->setAttr(marks::kWhyHost, text(why.reason));
    if (!why.remedy.empty())
      op->setAttr(marks::kHostRemedy, text(why.remedy));
  }
}
