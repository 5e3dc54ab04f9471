// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loops require of the integers that they compute: a function that
// requires anything gets a record for the first value that is none of them,
// and goes on with one that does no harm.
#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace rhizome;

/// The number of the loop's element, in row-major order; −1 outside of loops.
static Value elementOf(OpBuilder &b, Location loc, Operation *op) {
  auto loop = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
  Type i64 = b.getI64Type();
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  };
  if (!loop)
    return number(-1);
  Value element = number(0);
  for (auto [d, size] : llvm::enumerate(loop.getStaticLoopRanges())) {
    Value index = arith::IndexCastOp::create(
        b, loc, i64, linalg::IndexOp::create(b, loc, unsigned(d)));
    element = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, element, number(size)), index);
  }
  return element;
}

std::vector<host::Check> cpu::recordChecks(func::FuncOp func,
                                           unsigned argument) {
  std::vector<std::pair<arith::SelectOp, host::Check>> found;
  func.walk([&](arith::SelectOp op) {
    if (auto check = host::Check::of(op))
      found.emplace_back(op, *check);
  });
  std::vector<host::Check> checks;
  if (found.empty())
    return checks;
  OpBuilder b(func.getContext());
  auto type = MemRefType::get({3}, b.getI64Type());
  Block &entry = func.getBody().front();
  Value record = entry.insertArgument(argument, type, func.getLoc());
  func.setType(b.getFunctionType(entry.getArgumentTypes(), {}));
  for (auto &[op, check] : found) {
    checks.push_back(check);
    Location loc = op.getLoc();
    b.setInsertionPoint(op);
    auto place = [&](int64_t i) -> Value {
      return arith::ConstantIndexOp::create(b, loc, i);
    };
    Value none = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value before = memref::LoadOp::create(b, loc, record, place(0));
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, none);
    Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Value fails = arith::XOrIOp::create(b, loc, op.getCondition(), no);
    Value element = elementOf(b, loc, op);
    Value isNew = arith::AndIOp::create(b, loc, fails, isFirst);
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value number = arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(int64_t(checks.size())));
    for (auto [i, v] : llvm::enumerate(
             SmallVector<Value>{number, op.getTrueValue(), element}))
      memref::StoreOp::create(b, loc, v, record, place(int64_t(i)));
  }
  return checks;
}
