// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point mode: a float network gets the quantisers that `fixed:W,F` means.
// A layer is a convolution or dense layer with its bias, batch norm and
// activation; it is exact inside and rounds once at its end. What only leads to
// graph outputs keeps its exact accumulator.
#include "ExactConstant.h"
#include "Integeriser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Transforms/Integerise.h"
#include "rhizome/Transforms/Passes.h"

using namespace mlir;
using namespace rhizome;

namespace rhizome {
#define GEN_PASS_DEF_OSAAPPLYFIXEDPOINT
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

namespace {
class FixedPoint {
public:
  FixedPoint(func::FuncOp function, const IntegeriseOptions &options,
             IntegeriseStats &stats)
      : function(function), options(options), stats(stats),
        builder(function.getContext()) {}
  void run();

private:
  FixedFormat format(StringRef name) const {
    auto found = options.tensorFormats.find(name.str());
    return found == options.tensorFormats.end() ? *options.fixed
                                                : found->second;
  }
  bool isConstant(Value v) { return constants.get(v) != nullptr; }
  bool binaryWithConstant(Operation *op) {
    return isa<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(op) &&
           (isConstant(op->getOperand(0)) || isConstant(op->getOperand(1)));
  }
  Value quantised(Value v, FixedFormat format, Location loc);
  void quantiseUses(Value v, FixedFormat format, Location loc);
  void quantiseConstant(OpOperand &operand, StringRef role);
  void quantiseInput(BlockArgument arg);
  bool continues(Operation *op, Operation *next);
  bool feedsLayer(Value v);
  void endLayers();

  func::FuncOp function;
  const IntegeriseOptions &options;
  IntegeriseStats &stats;
  OpBuilder builder;
  ConstantEvaluator constants;
};
} // namespace

Value FixedPoint::quantised(Value v, FixedFormat format, Location loc) {
  MLIRContext *context = builder.getContext();
  builder.setInsertionPointAfterValue(v);
  auto shape = cast<RankedTensorType>(v.getType()).getShape();
  auto code = RankedTensorType::get(
      shape, num::IntType::getFull(context, true, format.width));
  auto scale =
      DenseElementsAttr::get(RankedTensorType::get({1}, builder.getF32Type()),
                             float(std::ldexp(1.0, -format.fraction)));
  auto zero = DenseElementsAttr::get(
      RankedTensorType::get({1}, builder.getI32Type()), int32_t(0));
  Value q = osa::QuantizeOp::create(builder, loc, code, v, scale, zero);
  return osa::DequantizeOp::create(builder, loc, v.getType(), q, scale, zero);
}

void FixedPoint::quantiseUses(Value v, FixedFormat format, Location loc) {
  Value d = quantised(v, format, loc);
  Operation *q = d.getDefiningOp()->getOperand(0).getDefiningOp();
  v.replaceUsesWithIf(d, [&](OpOperand &use) {
    return use.getOwner() != q && !isa<func::ReturnOp>(use.getOwner());
  });
}

void FixedPoint::quantiseConstant(OpOperand &operand, StringRef role) {
  Value v = operand.get();
  // A constant that the file quantises has its format already.
  if (v.getDefiningOp<osa::DequantizeOp>())
    return;
  auto constant = constants.get(v);
  if (!constant)
    return;
  std::string name = osa::nodeName(operand.getOwner());
  std::string own = osa::nodeName(v.getLoc());
  FixedFormat f = options.tensorFormats.count(own) ? format(own) : format(name);
  std::string tensor =
      own.empty() || own == name ? name + " " + role.str() : own;
  // Codes outside lo..hi after rounding are saturated.
  mpq_class unit = exact(std::ldexp(1.0, -f.fraction));
  mpq_class high = unit *
                   (exact(std::ldexp(1.0, int(f.width) - 1)) - mpq_class(1, 2)),
            low = -unit *
                  (exact(std::ldexp(1.0, int(f.width) - 1)) + mpq_class(1, 2));
  double highApprox = high.get_d(), lowApprox = low.get_d();
  std::vector<double> scales;
  for (const mpq_class &s : constant->scales)
    scales.push_back(s.get_d());
  int64_t saturated = 0;
  for (size_t i = 0; i < constant->size(); ++i) {
    double value = double(constant->codes[i]) * scales[constant->group(i)];
    if (value > highApprox * 0.999)
      saturated += constant->at(i) >= high;
    else if (value < lowApprox * 0.999)
      saturated += constant->at(i) < low;
  }
  stats.saturations.push_back({tensor, saturated, int64_t(constant->size())});
  operand.set(quantised(v, f, operand.getOwner()->getLoc()));
}

void FixedPoint::quantiseInput(BlockArgument arg) {
  if (!cast<RankedTensorType>(arg.getType()).getElementType().isF32())
    return;
  auto attr =
      function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "rhizome.name");
  std::string name = attr ? attr.str() : "";
  // The host may normalise before the network begins.
  Value v = arg;
  while (v.hasOneUse()) {
    Operation *user = *v.getUsers().begin();
    if (!isa<osa::ReshapeOp, osa::TransposeOp, osa::UnaryOp>(user) &&
        !binaryWithConstant(user))
      break;
    v = user->getResult(0);
  }
  // The file has a quantiser of its own here.
  if (v.hasOneUse() && isa<osa::QuantizeOp>(*v.getUsers().begin()))
    return;
  quantiseUses(v, format(name), NameLoc::get(builder.getStringAttr(name)));
}

/// True if `next` belongs to the layer that has come to `op`.
bool FixedPoint::continues(Operation *op, Operation *next) {
  bool activation = isa<osa::ReluOp, osa::LeakyReluOp, osa::ClipOp>(next);
  if (isa<osa::Conv2dOp, osa::DenseOp, osa::BatchNormOp>(op) ||
      binaryWithConstant(op))
    return activation || isa<osa::BatchNormOp>(next) ||
           binaryWithConstant(next);
  // A sum's rounding and Relu commute.
  if (isa<osa::AddOp, osa::SubOp>(op))
    return isa<osa::ReluOp>(next);
  // What only moves elements may lie between a dense layer and its bias.
  if (isa<osa::TransposeOp, osa::ReshapeOp>(op))
    return activation || isa<osa::BatchNormOp>(next) ||
           binaryWithConstant(next);
  return false;
}

/// True if a layer of the network reads `v`, however indirectly.
bool FixedPoint::feedsLayer(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      bool sum = isa<osa::AddOp, osa::SubOp>(user) && !binaryWithConstant(user);
      if (isa<osa::Conv2dOp, osa::DenseOp, osa::AvgPoolOp>(user) || sum)
        return true;
      llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

void FixedPoint::endLayers() {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    ops.push_back(&op);
  DenseSet<Value> open; // inside a layer, not yet rounded
  for (Operation *op : ops) {
    if (op->getNumResults() != 1 || isa<osa::ConstantOp>(op) ||
        isConstant(op->getResult(0)))
      continue;
    bool starts = isa<osa::Conv2dOp, osa::DenseOp, osa::AvgPoolOp>(op) ||
                  (isa<osa::AddOp, osa::SubOp>(op) && !binaryWithConstant(op));
    bool arithmetic =
        isa<osa::BatchNormOp, osa::ReluOp, osa::LeakyReluOp, osa::ClipOp>(op) ||
        binaryWithConstant(op);
    bool moves = isa<osa::TransposeOp, osa::ReshapeOp>(op);
    bool inside = llvm::any_of(op->getOperands(),
                               [&](Value v) { return open.contains(v); });
    if (!starts && !arithmetic && !(moves && inside))
      continue;
    // Follow transposes to the operation that reads the value.
    Value v = op->getResult(0);
    Operation *next = nullptr;
    bool chain = v.hasOneUse();
    Value at = v;
    while (at.hasOneUse()) {
      next = *at.getUsers().begin();
      if (!isa<osa::TransposeOp, osa::ReshapeOp>(next))
        break;
      at = next->getResult(0);
      next = nullptr;
    }
    if (chain && next && continues(op, next)) {
      open.insert(v);
      continue;
    }
    if (next && isa<osa::QuantizeOp>(next))
      continue; // the file rounds here
    if (moves || !feedsLayer(v))
      continue;
    quantiseUses(v, format(osa::nodeName(op)), op->getLoc());
  }
}

void FixedPoint::run() {
  for (Operation &op : function.getBody().front()) {
    if (isa<osa::Conv2dOp, osa::DenseOp>(op)) {
      quantiseConstant(op.getOpOperand(1), "weights");
      if (op.getNumOperands() > 2)
        quantiseConstant(op.getOpOperand(2), "bias");
      // A bias that the file adds in its own node.
      Operation *at = &op;
      while (at->getResult(0).hasOneUse()) {
        Operation *next = *at->getResult(0).getUsers().begin();
        if (isa<osa::TransposeOp, osa::ReshapeOp>(next)) {
          at = next;
          continue;
        }
        if (isa<osa::AddOp>(next) && binaryWithConstant(next))
          quantiseConstant(
              next->getOpOperand(isConstant(next->getOperand(0)) ? 0 : 1),
              "bias");
        break;
      }
    }
  }
  endLayers();
  for (BlockArgument arg : function.getArguments())
    quantiseInput(arg);
}

LogicalResult rhizome::applyFixedPoint(ModuleOp module,
                                       const IntegeriseOptions &options,
                                       Refusals &refusals,
                                       IntegeriseStats &stats) {
  auto check = [&](const std::string &name, FixedFormat f) {
    if (f.width < 2 || f.width > 16 || std::abs(f.fraction) > 32)
      refusals.push_back({name, "",
                          "the number format fixed:" + std::to_string(f.width) +
                              "," + std::to_string(f.fraction) +
                              " is not supported",
                          "use 2 to 16 bits and a fraction of −32 to 32 bits"});
  };
  check("", *options.fixed);
  for (auto &[name, f] : options.tensorFormats)
    check(name, f);
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!refusals.empty() || !function)
    return failure();
  FixedPoint(function, options, stats).run();
  return success();
}

namespace {
struct OsaApplyFixedPoint
    : rhizome::impl::OsaApplyFixedPointBase<OsaApplyFixedPoint> {
  using OsaApplyFixedPointBase::OsaApplyFixedPointBase;
  void runOnOperation() override {
    IntegeriseOptions options;
    options.fixed = FixedFormat{width, fraction};
    Refusals refusals;
    IntegeriseStats stats;
    if (failed(applyFixedPoint(getOperation(), options, refusals, stats))) {
      emitRefusals(getOperation(), refusals);
      signalPassFailure();
    }
  }
};
} // namespace
