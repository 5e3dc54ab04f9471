// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts arithmetic: iterations of an operation times operations of its body.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Transforms/Algebra.h"
#include "rhizome/Transforms/Passes.h"

using namespace mlir;
using namespace rhizome::kernel;
namespace num = rhizome::num;

namespace rhizome {
#define GEN_PASS_DEF_LINALGCOUNTWORK
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

/// Also in number formats, where conversions and comparisons are none.
static bool isArithmetic(Operation &op) {
  if (isa<math::MathDialect>(op.getDialect()))
    return true;
  if (isa<num::NumDialect>(op.getDialect()))
    return !isa<num::CastOp, num::CompareOp>(op);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MinNumFOp, arith::MaxNumFOp,
             arith::MinimumFOp, arith::MaximumFOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp>(op);
}

std::vector<std::pair<Operation *, Work>>
rhizome::kernel::workByOperation(func::FuncOp kernel) {
  std::vector<std::pair<Operation *, Work>> out;
  kernel.walk([&](linalg::LinalgOp op) {
    if (op.hasDynamicShape())
      return;
    int64_t iterations = 1;
    for (int64_t extent : op.getStaticLoopRanges())
      iterations *= extent;
    int64_t arithmetic = 0;
    bool product = false, sum = false;
    for (Operation &inner : op.getBlock()->without_terminator()) {
      const bool isFused = isa<num::FmaOp>(inner);
      arithmetic += isFused ? 2 : isArithmetic(inner);
      product |=
          isFused || isa<arith::MulFOp, arith::MulIOp, num::MulOp>(inner);
      sum |= isFused || isa<arith::AddFOp, arith::AddIOp, num::AddOp>(inner);
    }
    Work work;
    work.operations = iterations * arithmetic;
    if (op.getNumReductionLoops() && product && sum)
      work.macs = iterations;
    if (arithmetic)
      out.emplace_back(op, work);
  });
  return out;
}

Work rhizome::kernel::workOf(func::FuncOp kernel) {
  Work total;
  for (auto &[op, work] : workByOperation(kernel)) {
    total.macs += work.macs;
    total.operations += work.operations;
  }
  return total;
}

static std::string textOf(const Work &work) {
  return std::to_string(work.macs) + " multiply-accumulates, " +
         std::to_string(work.operations) + " operations";
}

namespace {
struct LinalgCountWork : rhizome::impl::LinalgCountWorkBase<LinalgCountWork> {
  void runOnOperation() override {
    for (auto &[op, work] : workByOperation(getOperation()))
      op->emitRemark() << textOf(work);
    getOperation().emitRemark() << textOf(workOf(getOperation()));
    markAllAnalysesPreserved();
  }
};
} // namespace
