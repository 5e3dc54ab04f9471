// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point mode: a float network gets the quantisers that `fixed:W,F` means.
// Where they stand is Placement's business.
#include "ExactConstant.h"
#include "Integeriser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Transforms/Integerise.h"
#include "rhizome/Transforms/Passes.h"
#include "rhizome/Transforms/Placement.h"

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
  void quantiseConstant(const Placement::Constant &constant);

  func::FuncOp function;
  const IntegeriseOptions &options;
  IntegeriseStats &stats;
  OpBuilder builder;
  ConstantEvaluator constants;
};
} // namespace

static AffineFormat affine(FixedFormat format) {
  int64_t end = int64_t(1) << (format.width - 1);
  return {-end, end - 1, {float(std::ldexp(1.0, -format.fraction))}, {0}, -1};
}

void FixedPoint::quantiseConstant(const Placement::Constant &place) {
  OpOperand &operand = *place.operand;
  Value v = operand.get();
  auto constant = constants.get(v);
  std::string name = osa::nodeName(operand.getOwner());
  std::string own = osa::nodeName(v.getLoc());
  FixedFormat f = options.tensorFormats.count(own) ? format(own) : format(name);
  std::string tensor = own.empty() || own == name
                           ? name + (place.isBias ? " bias" : " weights")
                           : own;
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
  operand.set(quantised(builder, v, affine(f), operand.getOwner()->getLoc()));
}

void FixedPoint::run() {
  Placement placement = placeQuantisers(function);
  for (const Placement::Constant &constant : placement.constants)
    quantiseConstant(constant);
  for (const Placement::Point &point : placement.activations)
    quantiseUses(builder, point, affine(format(osa::nodeName(point.loc))));
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
  func::FuncOp function = findNetwork(module, refusals);
  if (!refusals.empty())
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
