// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the steps from `linalg` to `osa`, and the steps as passes.
#include "rhizome/Import/Mlir/Passes.h"
#include "Raise.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace rhizome {
#define GEN_PASS_DEF_CONVERTLINALGTOOSA
#define GEN_PASS_DEF_OSASINKTRANSPOSES
#include "rhizome/Import/Mlir/Passes.h.inc"
} // namespace rhizome

static void apply(func::FuncOp function,
                  llvm::function_ref<void(RewritePatternSet &)> add) {
  RewritePatternSet patterns(function.getContext());
  add(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
}

void importer::raise(func::FuncOp function) {
  tidy(function);
  apply(function, addMoves);
  foldConstants(function);
  markNormalizations(function);
  apply(function, [](RewritePatternSet &patterns) {
    addMoves(patterns);
    addWindows(patterns);
    addContractions(patterns);
    addElementwise(patterns);
  });
  sinkTransposes(function);
  // A reduction reads a tensor in the order that it has at this point.
  apply(function, [](RewritePatternSet &patterns) {
    addMoves(patterns);
    addReductions(patterns);
    addElementwise(patterns);
  });
  sinkTransposes(function);
  leaveToHost(function);
  foldConstants(function);
  DominanceInfo dominance(function);
  IRRewriter rewriter(function.getContext());
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

/// Whether the steps can read a function: one block, with a return.
static bool isReadable(func::FuncOp function) {
  return !function.isExternal() && function.getBody().hasOneBlock() &&
         isa<func::ReturnOp>(function.getBody().front().getTerminator());
}

namespace {
struct ConvertLinalgToOsa
    : rhizome::impl::ConvertLinalgToOsaBase<ConvertLinalgToOsa> {
  void runOnOperation() override {
    if (!isReadable(getOperation())) {
      getOperation().emitError("@")
          << getOperation().getSymName()
          << " is not one block with a return at its end";
      return signalPassFailure();
    }
    raise(getOperation());
  }
};

struct OsaSinkTransposes
    : rhizome::impl::OsaSinkTransposesBase<OsaSinkTransposes> {
  void runOnOperation() override { sinkTransposes(getOperation()); }
};
} // namespace
