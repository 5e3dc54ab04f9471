// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that no step has raised run on the host: they become loops, with
// the reason. Operations that the host does not support either are refused, all
// at once.
#include "Raise.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// Why a loop is not an operation of `osa`.
static std::string whyLoop(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op))
    return formatv("the FPGA has no unit for {0}",
                   op->getName().getStringRef());
  if (op.getNumReductionLoops())
    return "the FPGA has no unit for this reduction";
  return "the FPGA has no unit for this loop";
}

void importer::leaveToHost(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> loops;
  function.walk([&](linalg::LinalgOp op) {
    if (isa<func::FuncOp, scf::ForOp, scf::WhileOp>(op->getParentOp()) &&
        !isa<linalg::FillOp>(op))
      loops.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (linalg::LinalgOp op : loops) {
    Attribute why = op->getAttr(marks::kWhyHost),
              remedy = op->getAttr(marks::kHostRemedy);
    if (!why)
      why = rewriter.getStringAttr(whyLoop(op));
    rewriter.setInsertionPoint(op);
    Operation *loop = op;
    if (!isa<linalg::GenericOp>(op)) {
      auto generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        continue;
      loop = *generic;
    }
    loop->setAttr(marks::kWhyHost, why);
    if (remedy)
      loop->setAttr(marks::kHostRemedy, remedy);
  }
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

static std::string text(Type type) {
  std::string out;
  llvm::raw_string_ostream(out) << type;
  return out;
}

namespace {
struct Checker {
  Refusals &refusals;

  /// A refusal at an operation of the file.
  void refuse(Operation *op, std::string reason, std::string remedy) {
    refusals.push_back({placeOf(op->getLoc()),
                        op->getName().getStringRef().str(), std::move(reason),
                        std::move(remedy)});
  }
  void check(Operation *op);
  void checkLoop(linalg::GenericOp op);
  void checkRepeated(scf::ForOp op);
  void checkRepeated(scf::WhileOp op);
  void checkConstant(osa::ConstantOp op);
};
} // namespace

void Checker::checkLoop(linalg::GenericOp op) {
  if (op.getNumResults() != 1)
    return refuse(op, formatv("this loop has {0} results", op.getNumResults()),
                  "export the network without indices of maxima, or split it "
                  "into loops of one result each");
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isHostScalar(&inner))
      refuse(&inner, "the host has no such operation on scalars",
             "leave this part out of the network");
}

/// A body with a trip count, which must be known.
void Checker::checkRepeated(scf::ForOp op) {
  constexpr int64_t kMostTrips = 1 << 20;
  auto trips = op.getStaticTripCount();
  if (!trips)
    return refuse(op, "its trip count is not known",
                  "export the network with loops of known length, or as "
                  "scf.while on tensors");
  if (trips->ugt(kMostTrips))
    return refuse(op, formatv("it has {0} trips", trips->getZExtValue()),
                  formatv("up to {0} are supported", kMostTrips));
  for (Operation &inner : op.getBody()->without_terminator())
    check(&inner);
}

/// A body that runs as long as a condition holds, which reads what the loop
/// carries and passes it on.
void Checker::checkRepeated(scf::WhileOp op) {
  if (!llvm::equal(op.getConditionOp().getArgs(), op.getBeforeArguments()))
    return refuse(op,
                  "its condition passes on something else than what the "
                  "loop carries",
                  "let scf.condition pass on the arguments of its region, in "
                  "order");
  for (Region *region : {&op.getBefore(), &op.getAfter()})
    for (Operation &inner : region->front().without_terminator())
      check(&inner);
}

/// The host's loops may read infinities, `osa` may not.
void Checker::checkConstant(osa::ConstantOp op) {
  if (isInfinite(op.getResult()) &&
      llvm::any_of(op->getUsers(), [](Operation *user) {
        return isa<osa::OsaDialect>(user->getDialect()) &&
               !isa<osa::ReshapeOp, osa::TransposeOp, osa::GatherOp>(user);
      }))
    refuse(op, "a constant that a layer reads is infinite or no number",
           "repair the network's parameters");
}

void Checker::check(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return;
  auto isScalar = [](Type type) { return type.isF32() || type.isIntOrIndex(); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isScalar(constant.getType()))
    return;
  // Between tasks there are tensors only, so that a loop reads its own.
  if (((isa<tensor::ExtractOp>(op) && !isa<func::FuncOp>(op->getParentOp())) ||
       !isa<osa::OsaDialect, tensor::TensorDialect>(op->getDialect())) &&
      isHostScalar(op) && llvm::all_of(op->getResultTypes(), isScalar))
    return; // such as the index of a step in a sequence
  if (!isHostOperation(op))
    return refuse(op, "the importer does not know this operation in a network",
                  "lower it to linalg on tensors");
  for (Value v : op->getResults())
    if (!isMovable(v) && !isa<osa::OsaDialect>(op->getDialect()))
      return refuse(op, "it gives " + text(v.getType()),
                    "export the network in float32 with tensors of known "
                    "size; indices are i64");
  if (auto loop = dyn_cast<linalg::GenericOp>(op))
    return checkLoop(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return checkRepeated(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return checkRepeated(loop);
  if (auto constant = dyn_cast<osa::ConstantOp>(op))
    return checkConstant(constant);
}

void importer::checkHost(func::FuncOp function, Refusals &refusals) {
  Checker checker{refusals};
  for (Operation &op : function.getBody().front())
    checker.check(&op);
}
