// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point mode: gives a float network the quantizers of a format.
// Placement decides where they are.
#include "ExactConstant.h"
#include "Integerizer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Spelling.h"
#include "rhizome/Transforms/Integerize.h"
#include "rhizome/Transforms/OutputFormat.h"
#include "rhizome/Transforms/Passes.h"
#include "rhizome/Transforms/Placement.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rhizome;

namespace rhizome {
#define GEN_PASS_DEF_OSAAPPLYFIXEDPOINT
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

namespace {
class FixedPoint {
public:
  FixedPoint(func::FuncOp function, const IntegerizeOptions &options,
             IntegerizeStats &stats)
      : function(function), options(options), stats(stats),
        builder(function.getContext()) {}
  void run();
  /// Refuses formats of --tensor-format for what is not rounded. After run.
  void checkNames(Refusals &refusals) const;
  /// True if the file quantizes its layers itself: then there is nothing to do.
  bool isQuantized();

private:
  numeric::Format format(StringRef name) const {
    auto found = options.tensorFormats.find(name.str());
    return found == options.tensorFormats.end() ? *options.fixed
                                                : found->second;
  }
  void quantizeConstant(const Placement::Constant &constant);
  void quantizePoint(const Placement::Point &point);
  /// The names of the model's outputs that have only `v`'s elements.
  std::vector<std::string> outputsOf(Value v) const;
  /// The names of the states that some of these outputs are.
  std::vector<std::string> keptAs(ArrayRef<std::string> outputs) const;

  func::FuncOp function;
  const IntegerizeOptions &options;
  IntegerizeStats &stats;
  OpBuilder builder;
  ConstantEvaluator constants;
  std::vector<std::string> names; ///< what is rounded, in order
  /// Of them, those of weights and of tensors that layers read, and others.
  std::vector<std::string> inner, outer;
};
} // namespace

/// Only moves, chooses or repeats elements.
static bool keepsElements(Operation *op) {
  return isa<osa::ReshapeOp, osa::TransposeOp, osa::GatherOp, osa::MaxPoolOp>(
      op);
}

std::vector<std::string> FixedPoint::outputsOf(Value v) const {
  std::vector<std::string> found;
  func::FuncOp model = function;
  SmallVector<Value> work{v};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      auto name = isa<func::ReturnOp>(use.getOwner())
                      ? model.getResultAttrOfType<StringAttr>(
                            use.getOperandNumber(), marks::kName)
                      : StringAttr();
      if (name)
        found.push_back(name.str());
      else if (keepsElements(use.getOwner()))
        work.push_back(use.getOwner()->getResult(0));
    }
  }
  return found;
}

static AffineFormat affine(numeric::Format format) {
  int64_t end = int64_t(1) << (format.width() - 1);
  float unit = float(std::ldexp(1.0, -format.fractionBits));
  return {-end, end - 1, {unit}, {0}, -1};
}

void FixedPoint::quantizeConstant(const Placement::Constant &place) {
  OpOperand &operand = *place.operand;
  Value v = operand.get();
  auto constant = constants.get(v);
  std::string name = osa::nodeName(operand.getOwner());
  std::string own = osa::nodeName(v.getLoc());
  names.insert(names.end(), {name, own});
  inner.push_back(own != name ? own : "");
  // A format that only outputs can have is not for the layer's weights.
  bool isOwn = own != name && options.tensorFormats.count(own);
  numeric::Format f = format(isOwn ? own : name);
  if (!isOwn && !whyNotForNetworks(f).empty())
    f = format("");
  std::string tensor = own.empty() || own == name
                           ? name + (place.isBias ? " bias" : " weights")
                           : own;
  // Codes outside lo..hi after rounding are saturated.
  mpq_class unit = exact(std::ldexp(1.0, -f.fractionBits));
  mpq_class end = exact(std::ldexp(1.0, f.width() - 1));
  mpq_class high = unit * (end - mpq_class(1, 2)),
            low = -unit * (end + mpq_class(1, 2));
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
  operand.set(quantized(builder, v, affine(f), operand.getOwner()->getLoc()));
}

bool FixedPoint::isQuantized() {
  bool hasOwn = llvm::any_of(
      function.getBody().getOps<osa::QuantizeOp>(), [](osa::QuantizeOp q) {
        return !q.getInput().getDefiningOp<osa::ConstantOp>();
      });
  return hasOwn && !placeQuantizers(function).hasFloatLayer();
}

std::vector<std::string>
FixedPoint::keptAs(ArrayRef<std::string> outputs) const {
  std::vector<std::string> states;
  func::FuncOp model = function;
  for (flow::StateAttr state :
       flow::statesOf(model->getParentOfType<ModuleOp>()))
    if (llvm::is_contained(outputs, state.getNext()))
      states.push_back(state.getName().str());
  return states;
}

void FixedPoint::quantizePoint(const Placement::Point &point) {
  std::vector<std::string> known = outputsOf(point.value);
  known.push_back(osa::nodeName(point.loc));
  auto isNamed = [&](const std::string &name) {
    return options.tensorFormats.count(name);
  };
  // What the model keeps has the format in which the next frame reads it.
  llvm::append_range(known, keptAs(known));
  auto named = llvm::find_if(known, isNamed);
  quantizeUses(builder, point,
               affine(format(named == known.end() ? "" : *named)),
               /*outputs=*/true);
  llvm::append_range(names, known);
  llvm::append_range(point.isRead || point.isInput ? inner : outer, known);
}

void FixedPoint::run() {
  Placement placement = placeQuantizers(function, /*outputs=*/true);
  for (const Placement::Constant &constant : placement.constants)
    quantizeConstant(constant);
  for (const Placement::Point &point : placement.activations)
    quantizePoint(point);
}

void FixedPoint::checkNames(Refusals &refusals) const {
  constexpr size_t kShown = 8;
  std::vector<std::string> known;
  for (const std::string &name : names)
    if (!name.empty() && !llvm::is_contained(known, name))
      known.push_back(name);
  std::string remedy =
      "name one of these: " +
      llvm::join(llvm::ArrayRef(known).take_front(kShown), ", ") +
      (known.size() > kShown
           ? " and " + std::to_string(known.size() - kShown) + " more"
           : "");
  if (known.empty())
    remedy = "nothing of this model is rounded: leave the option out";
  for (const auto &[name, f] : options.tensorFormats) {
    if (llvm::is_contained(inner, name) ||
        (llvm::is_contained(known, name) && !llvm::is_contained(outer, name)))
      if (std::string why = whyNotForNetworks(f); !why.empty())
        refusals.push_back({name, "",
                            "the number format " + f.str() +
                                " is for the model's outputs alone",
                            why});
    if (!llvm::is_contained(known, name))
      refusals.push_back({"", "",
                          "--tensor-format names '" + name +
                              "', but no tensor or node of this name is "
                              "rounded" +
                              meant(name, known),
                          remedy});
  }
}

/// Why a format of at most `kMost` bits is none, in these words.
static std::string whyNotIn(const numeric::Format &format, int kMost,
                            const std::string &limits) {
  constexpr int kLeast = 2, kMostFraction = 32;
  auto network = [&](const std::string &why) {
    return limits + " signed fixed point of " + std::to_string(kLeast) +
           " to " + std::to_string(kMost) + " bits, -" +
           std::to_string(kMostFraction) + " to " +
           std::to_string(kMostFraction) + " of them fraction; " + why;
  };
  if (!format.isFixed())
    return network("this is a float");
  if (!format.isSigned)
    return network("this one has no sign");
  if (format.width() < kLeast || format.width() > kMost)
    return network(format.width() == 1
                       ? "this one has a single bit"
                       : "this one has " + std::to_string(format.width()) +
                             " bits");
  if (std::abs(format.fractionBits) > kMostFraction)
    return network("this one has " + std::to_string(format.fractionBits) +
                   " bits of fraction");
  return "";
}

std::string rhizome::whyNotForNetworks(const numeric::Format &format) {
  return whyNotIn(format, 16, "networks are built in");
}

std::string rhizome::whyNotForOutputs(const numeric::Format &format) {
  return whyNotIn(format, 32, "outputs of networks are");
}

LogicalResult rhizome::applyFixedPoint(ModuleOp module,
                                       const IntegerizeOptions &options,
                                       Refusals &refusals,
                                       IntegerizeStats &stats) {
  auto check = [&](const std::string &name, numeric::Format f) {
    if (std::string why =
            name.empty() ? whyNotForNetworks(f) : whyNotForOutputs(f);
        !why.empty())
      refusals.push_back({name, "",
                          "the number format " + f.str() + " is not supported",
                          why});
  };
  check("", *options.fixed);
  for (auto &[name, f] : options.tensorFormats)
    check(name, f);
  func::FuncOp function = findNetwork(module, refusals);
  if (!refusals.empty())
    return failure();
  FixedPoint fixedPoint(function, options, stats);
  if (fixedPoint.isQuantized()) {
    refusals.push_back({"", "",
                        "no layer of this model has float weights: its own "
                        "quantizers say how numbers are rounded",
                        "drop --number-format"});
    return failure();
  }
  fixedPoint.run();
  fixedPoint.checkNames(refusals);
  if (!refusals.empty())
    return failure();
  tieStates(module);
  return success();
}

namespace {
struct OsaApplyFixedPoint
    : rhizome::impl::OsaApplyFixedPointBase<OsaApplyFixedPoint> {
  using OsaApplyFixedPointBase::OsaApplyFixedPointBase;
  void runOnOperation() override {
    IntegerizeOptions options;
    std::string error;
    options.fixed = numeric::Format::parse(format, error);
    if (!options.fixed) {
      getOperation()->emitError(error);
      return signalPassFailure();
    }
    Refusals refusals;
    IntegerizeStats stats;
    if (failed(applyFixedPoint(getOperation(), options, refusals, stats))) {
      emitRefusals(getOperation(), refusals);
      signalPassFailure();
    }
  }
};
} // namespace
