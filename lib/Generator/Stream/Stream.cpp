// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of the `stream` generator: coverage, and which family builds
// what.
#include "Models.h"
#include "Units.h"
#include "rhizome/Generator/Trips.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace rhizome::gen {
/// How a unit computes, as far as its folding does not determine it.
struct Manner {
  const char *style = ""; ///< in the offer's key, "" for nothing
  const char *words = ""; ///< for people
};

static Manner mannerOf(const Actor &unit) {
  if (unit.is<unit::Threshold>())
    return {"", ", by comparison"};
  bool isRequant = unit.is<unit::Requant>();
  bool hasProducts =
      unit.is<unit::Matvec>() || unit.is<unit::MatvecStreamed>() ||
      unit.is<unit::DepthwiseStreamed>() || unit.is<unit::Matmul>() ||
      unit.kind().loadedPort() || unit.is<unit::Product>() ||
      unit.is<unit::RowSoftmax>() || unit.is<unit::RowNorm>() ||
      (unit.is<unit::LaneReduce>() && unit.get("Op") == 0) ||
      (isRequant && unit.get("MulWidth") > 0);
  if (!hasProducts)
    return {};
  if (isRequant && unit.get("Split") && !unit.get("SplitStyle"))
    return {"dsp_lut", ", in DSPs and LUTs"};
  static const Manner styles[] = {{"lut", ", in LUTs"},
                                  {"dsp", ", in DSPs"},
                                  {"paired", ", paired in DSPs"}};
  return styles[size_t(multiplierOf(unit.get("Style")))];
}

Actor &stream::computing(Body &body) {
  // What puts results of tiles in order, and takes batches apart, is after it.
  size_t at = body.units.size() - 1;
  while (at > 0 && (body.units[at].actor.is<unit::Unbatch>() ||
                    body.units[at].actor.is<unit::Reorder>()))
    --at;
  return body.units[at].actor;
}

/// The last words of an offer's key and of its summary.
static void nameOffer(Offer &offer) {
  offer.generator = "stream";
  const Actor &unit = stream::computing(offer.body);
  Manner manner = mannerOf(unit);
  offer.summary += manner.words;
  if (*manner.style)
    offer.key.add("style", manner.style);
  if (unit.is<unit::MatvecStreamed>() || unit.is<unit::DepthwiseStreamed>()) {
    offer.weights = WeightHome::Streamed;
    offer.key.add("weights", "streamed");
    offer.summary += ", weights from '" + offer.traffic[0].memory + "'";
  }
  if (unit.kind().loadedPort()) {
    bool isUltra = unit.get("Ultra");
    offer.weights = WeightHome::Resident;
    offer.key.add("weights", isUltra ? "ultra" : "block");
    offer.summary += isUltra ? ", weights in UltraRAM" : ", weights loaded";
  }
}

void stream::finish(Offer &offer, PriceList &prices) {
  nameOffer(offer);
  finishOffer(offer, prices);
}

void stream::finish(Offer &offer, const DeviceContext &device) {
  nameOffer(offer);
  finishOffer(offer, device);
}

namespace {
using namespace stream;

bool isCompute(Operation *op) {
  return isa<osa::Conv2dOp, osa::DenseOp, osa::MaxPoolOp, osa::SumPoolOp>(op);
}
bool isElementwise(Operation *op) {
  return isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp,
             osa::ScaledAddOp, osa::ScaledMaxOp, osa::ProductOp>(op);
}
bool isMovement(Operation *op) {
  return isa<osa::ConcatOp, osa::TransposeOp, osa::GatherOp, osa::PadOp>(op);
}

class StreamGenerator final : public Generator {
public:
  llvm::StringRef name() const override { return "stream"; }

  std::optional<std::string> coverage(const Region &region) const override {
    if (!region.isSingle())
      return "builds one operation at a time";
    Operation *op = region.front();
    if (!isCompute(op) && !isMatmul(op) && !isElementwise(op) &&
        !isRowwise(op) && !isMovement(op) && !isBodyBorder(op))
      return "has no streaming unit for " + op->getName().getStringRef().str();
    for (Value v : op->getOperands())
      if (!num::elementInt(v.getType()))
        return "computes on integers only; the operand is not quantized";
    if (isa<osa::Conv2dOp, osa::DenseOp>(op)) {
      if (!osa::isConstantInts(op->getOperand(1)))
        return "needs constant weights";
      if (op->getNumOperands() > 2 && !osa::isConstantInts(op->getOperand(2)))
        return "needs a constant bias";
    } else {
      for (Value v : op->getOperands())
        if (v.getDefiningOp<osa::ConstantOp>())
          return "needs streams as operands, not constants";
    }
    if (isMatmul(op))
      return matmulCoverage(op);
    if (auto concat = dyn_cast<osa::ConcatOp>(op)) {
      num::IntType out = num::elementInt(concat.getOutput().getType());
      for (Value v : concat.getInputs())
        if (auto in = num::elementInt(v.getType());
            in.getWidth() != out.getWidth() ||
            in.getIsSigned() != out.getIsSigned())
          return "joins streams of one element width only";
    }
    if (auto pad = dyn_cast<osa::PadOp>(op)) {
      auto in = cast<RankedTensorType>(pad.getInput().getType());
      if (in.getRank() != 4 || pad.getLow()[0] || pad.getHigh()[0] ||
          pad.getLow()[3] || pad.getHigh()[3])
        return "pads rows and columns of [1,H,W,C] only";
    }
    return std::nullopt;
  }

  std::vector<Offer> offers(const Region &region, Upstream upstream,
                            const DeviceContext &device) const override {
    std::vector<Offer> all = sketches(region, upstream, device);
    complete(region, all, device);
    return all;
  }

  std::vector<Offer> sketches(const Region &region, Upstream upstream,
                              const DeviceContext &device) const override {
    Operation *op = region.front();
    if (isCompute(op)) {
      std::vector<Offer> all = computeSketches(op, device);
      llvm::append_range(all, turnsOffers(op, device));
      return all;
    }
    if (isMatmul(op))
      return matmulOffers(op, device);
    if (isElementwise(op))
      return elementwiseOffers(op, upstream, device);
    if (isRowwise(op))
      return rowOffers(op, upstream, device);
    if (isBodyBorder(op))
      return borderOffers(op, upstream, device);
    return movementOffers(op, upstream, device);
  }

  void complete(const Region &region, llvm::MutableArrayRef<Offer> offers,
                const DeviceContext &device) const override {
    if (isCompute(region.front()))
      completeCompute(region.front(), offers, device);
  }

  std::string dependence(const Region &region) const override {
    Operation *op = region.front();
    return isCompute(op)  ? computeDependence(op) + turnsDependence(op)
           : isMatmul(op) ? matmulDependence(op)
                          : "";
  }

  Offer join(llvm::ArrayRef<Region> regions,
             llvm::ArrayRef<const Offer *> offers,
             const DeviceContext &device) const override {
    return joinTurns(regions, offers, device);
  }

  void build(const Region &region, Offer &offer,
             MemoryImages &images) const override {
    Operation *op = region.front();
    if (isBodyBorder(op))
      return; // without memories
    if (sharedUnit(offer.body))
      buildTurns(region, offer, images);
    else if (isCompute(op))
      buildCompute(op, offer, images);
    else if (isElementwise(op))
      buildElementwise(op, offer, images);
    else if (isRowwise(op))
      buildRows(op, offer, images);
    else if (!isMatmul(op))
      buildMovement(op, offer, images);
  }
};
} // namespace

std::vector<std::unique_ptr<UnitModel>> makeStreamUnits() {
  std::vector<std::unique_ptr<UnitModel>> units;
  for (auto make :
       {makeMatvecUnit,      makeMatvecResidentUnit, makeMatvecStreamedUnit,
        makeMatvecTurnsUnit, makeTurnsResidentUnit,  makeTurnsStreamedUnit,
        makeMatmulUnit,      makeLaneReduceUnit,     makeDepthwiseResidentUnit,
        makeRequantUnit,     makeThresholdUnit,      makeTableUnit,
        makeScaledAddUnit,   makeProductUnit,        makeRowSoftmaxUnit,
        makeRowNormUnit,     makeConcatUnit,         makeSelectUnit,
        makeReorderUnit,     makeReplayUnit,         makeDepthwiseStreamedUnit})
    units.push_back(make());
  return units;
}

std::unique_ptr<Generator> makeStreamGenerator() {
  return std::make_unique<StreamGenerator>();
}
} // namespace rhizome::gen
