// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic in affine and scf loops: operations times trips, where these are
// constants. What is in linalg operations is counted by Transforms.
#include "KernelFile.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace rhizome::kernelcommands;

static int64_t tripsOf(int64_t from, int64_t to, int64_t step) {
  return to > from
             ? int64_t(llvm::divideCeil(uint64_t(to - from), uint64_t(step)))
             : 0;
}

/// The trips of a loop; nothing if they are not constant.
static std::optional<int64_t> tripsOf(Operation *op) {
  if (auto loop = dyn_cast<affine::AffineForOp>(op))
    return loop.hasConstantBounds()
               ? std::optional(tripsOf(loop.getConstantLowerBound(),
                                       loop.getConstantUpperBound(),
                                       loop.getStepAsInt()))
               : std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return std::nullopt;
  auto from = getConstantIntValue(loop.getLowerBound()),
       to = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (!from || !to || !step || *step < 1)
    return std::nullopt;
  return tripsOf(*from, *to, *step);
}

/// Adds what a block computes in so many trips; false if that is not known.
static bool add(Block &block, int64_t trips, KernelWork &work) {
  for (Operation &op : block) {
    if (op.getNumRegions() == 0) {
      if (!isa<math::MathDialect>(op.getDialect()) &&
          !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
               arith::NegFOp, arith::MinNumFOp, arith::MaxNumFOp,
               arith::MinimumFOp, arith::MaximumFOp>(op))
        continue;
      work.operations += trips;
      if (isa<arith::AddFOp>(op) && llvm::any_of(op.getOperands(), [](Value v) {
            return v.getDefiningOp<arith::MulFOp>();
          }))
        work.macs += trips;
      continue;
    }
    auto inner = tripsOf(&op);
    int64_t all = 0;
    if (!inner || llvm::MulOverflow(trips, *inner, all) ||
        !add(op.getRegion(0).front(), all, work))
      return false;
  }
  return true;
}

std::optional<KernelWork>
rhizome::kernelcommands::workOfLoops(func::FuncOp kernel) {
  KernelWork work;
  // Alone, scalars of linalg operations are no work.
  for (Operation &op : kernel.getBody().front())
    if (op.getNumRegions() && !isa<linalg::LinalgOp>(op)) {
      auto trips = tripsOf(&op);
      if (!trips || !add(op.getRegion(0).front(), *trips, work))
        return std::nullopt;
    }
  return work;
}
