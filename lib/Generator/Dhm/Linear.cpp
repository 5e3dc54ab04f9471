// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution and dense: a window that delivers a whole kernel per beat (none
// if the kernel is one pixel), and the constant matrix as a circuit. All
// kinds of convolution (grouped, depthwise) are sparse matrices here. An offer
// is based on a quick search for shared sums; the built circuit comes from a
// longer search, and is that one or a smaller one.
#include "Units.h"
#include "rhizome/Units/Shared.h"

using namespace mlir;

namespace rhizome::gen::dhm {
namespace {
/// More non-zero digits than these are not tried.
constexpr int64_t kMostDigits = 60000;
/// Pairs of digits that are considered for each digit before the choice, and in
/// total once an offer is taken.
constexpr int64_t kQuickPairs = 1, kThoroughPairs = 400000;

struct LinearLayer {
  osa::Window w;
  bool window = false; ///< one is needed
  int64_t outChannels = 0;
  BeatFormat x;
  int64_t lo = 0, hi = 0; ///< of the input's elements
  int64_t padValue = 0;

  int64_t inputs() const { return w.kernelH * w.kernelW * w.channels; }
  int64_t pixels() const { return w.outHeight * w.outWidth; }
};

LinearLayer linearLayerOf(Operation *op) {
  LinearLayer p;
  auto in = cast<RankedTensorType>(op->getOperand(0).getType());
  num::IntType element = num::elementInt(in);
  p.x = formatOf(in, 1, 1);
  p.lo = element.getLo();
  p.hi = element.getHi();
  p.outChannels =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape().back();
  if (auto conv = dyn_cast<osa::Conv2dOp>(op)) {
    p.w = *osa::getWindow(op);
    p.padValue = conv.getPadValue();
    const osa::Window &w = p.w;
    bool padded = w.padTop || w.padLeft || w.padBottom || w.padRight;
    p.window =
        w.kernelH * w.kernelW > 1 || w.strideH > 1 || w.strideW > 1 || padded;
    if (padded) {
      p.lo = std::min(p.lo, p.padValue);
      p.hi = std::max(p.hi, p.padValue);
    }
  } else {
    int64_t channels = in.getShape().back();
    int64_t rows = in.getNumElements() / channels;
    p.w = {rows, 1, channels, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, rows, 1};
  }
  return p;
}

/// Everything that the circuit of one pixel depends on.
std::vector<int64_t> keyOf(Operation *op, const LinearLayer &p) {
  std::vector<int64_t> key = {0,    p.inputs(), p.outChannels,
                              p.lo, p.hi,       p.x.width};
  int64_t groups = 1;
  if (auto conv = dyn_cast<osa::Conv2dOp>(op))
    groups = conv.getGroups();
  key.push_back(groups);
  key.push_back(p.w.channels);
  key.push_back(num::elementInt(op->getResult(0).getType()).getWidth());
  for (unsigned i = 1; i < op->getNumOperands(); ++i) {
    std::vector<int64_t> values = *osa::constantInts(op->getOperand(i));
    key.push_back(int64_t(values.size()));
    key.insert(key.end(), values.begin(), values.end());
  }
  return key;
}

Circuit makeCircuit(Operation *op, const LinearLayer &p, const Effort &effort) {
  std::vector<int64_t> weights = *osa::constantInts(op->getOperand(1)), bias;
  if (op->getNumOperands() > 2)
    bias = *osa::constantInts(op->getOperand(2));
  int64_t groups = 1;
  if (auto conv = dyn_cast<osa::Conv2dOp>(op))
    groups = conv.getGroups();
  int64_t groupIn = p.w.channels / groups, groupOut = p.outChannels / groups;
  int64_t taps = p.w.kernelH * p.w.kernelW;

  Circuit c;
  c.inLanes = p.inputs();
  c.inWidth = p.x.width;
  c.outWidth = num::elementInt(op->getResult(0).getType()).getWidth();
  std::vector<int> inputs;
  for (int64_t i = 0; i < p.inputs(); ++i)
    inputs.push_back(c.input(i, p.lo, p.hi));
  std::vector<Row> rows(p.outChannels);
  for (int64_t o = 0; o < p.outChannels; ++o)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t i = 0; i < groupIn; ++i)
        if (int64_t weight = weights[(o * taps + tap) * groupIn + i])
          rows[o].push_back(
              {int(tap * p.w.channels + o / groupOut * groupIn + i), weight});
  c.outputs = addLinear(c, inputs, rows, bias, effort);
  return c;
}

int64_t digitsIn(Operation *op) {
  int64_t digits = 0;
  Value weights = op->getOperand(1);
  ElementsAttr attr = weights.getDefiningOp<osa::ConstantOp>().getValue();
  if (attr.getElementType().isInteger(8) && !attr.isSplat()) {
    // Most are bytes, of which there are few values.
    const bool isSigned = num::elementInt(weights.getType()).getIsSigned();
    std::array<int64_t, 256> counts{};
    for (char byte : osa::rawValues(attr))
      ++counts[uint8_t(byte)];
    for (int64_t code = 0; code < 256; ++code)
      digits += counts[code] * digitsOf(isSigned ? int8_t(code) : code);
    return digits;
  }
  osa::forConstantInts(weights,
                       [&](int64_t weight) { digits += digitsOf(weight); });
  return digits;
}

Kept quickCircuitOf(Operation *op, const LinearLayer &p,
                    const cost::LogicPace &pace) {
  std::vector<int64_t> key = keyOf(op, p);
  Effort effort;
  effort.pairs = std::max<int64_t>(kQuickPairs * digitsIn(op), 1000);
  key[0] = effort.pairs;
  return kept(std::move(key), pace, [&] { return makeCircuit(op, p, effort); });
}

Kept circuitOf(Operation *op, const LinearLayer &p,
               const cost::LogicPace &pace) {
  Kept quick = quickCircuitOf(op, p, pace);
  Effort effort;
  effort.pairs = kThoroughPairs;
  Kept thorough =
      kept(keyOf(op, p), pace, [&] { return makeCircuit(op, p, effort); });
  // Counted as on the families: all bits, or those that both operands have.
  auto isDearer = [&](const char *bits) {
    return thorough.described.get(bits) > quick.described.get(bits);
  };
  return isDearer("narrowSumBits") || isDearer("wideSumBits") ? quick
                                                              : thorough;
}
} // namespace

std::optional<std::string> linearCoverage(Operation *op) {
  if (!osa::isConstantInts(op->getOperand(1)))
    return "needs constant weights";
  if (op->getNumOperands() > 2 && !osa::isConstantInts(op->getOperand(2)))
    return "needs a constant bias";
  if (int64_t digits = digitsIn(op); digits > kMostDigits)
    return "makes every weight a circuit, and these have " +
           std::to_string(digits) + " non-zero digits; up to " +
           std::to_string(kMostDigits) + " are tried";
  return std::nullopt;
}

std::vector<Offer> linearOffers(Operation *op, const DeviceContext &device) {
  LinearLayer p = linearLayerOf(op);
  // With maximum sharing, an adder for every sixth digit is left.
  double least = double(digitsIn(op)) / 6 * double(p.x.width);
  if (least > available(device.budget, 0))
    return {};
  Kept one = quickCircuitOf(op, p, paceFor(device));
  const osa::Window &w = p.w;
  int64_t n = p.outChannels, k = p.inputs();
  std::vector<Offer> offers;
  for (int64_t pixels = 1; pixels <= 16 && pixels <= p.pixels(); pixels *= 2) {
    Offer offer;
    BeatFormat in = p.x, chunk = p.x,
               out = formatOf(op->getResult(0).getType(), 1, 1);
    int64_t columns = ceilDiv(w.outWidth, pixels);
    int64_t beats = w.outHeight * columns;
    out.lanes = pixels * n;
    out.row = pixels > 1 ? w.outWidth * n : n;
    if (p.window) {
      if (pixels > w.outWidth)
        break;
      WindowReading r;
      r.lanes = w.channels;
      r.parallel = true;
      r.pixelsOut = pixels;
      r.pixelsIn = pixels > 1 ? pixelsInFor(w, beats) : 1;
      in.lanes = r.pixelsIn * w.channels;
      in.row = r.pixelsIn > 1 ? w.width * w.channels : w.channels;
      chunk.lanes = chunk.row = pixels * k;
      chunk.count = chunk.lanes * beats;
      offer.body.chain(makeWindow(w, p.x.width, p.padValue, r),
                       chunk.canonical());
      int64_t write = r.pixelsIn > 1 ? w.height * ceilDiv(w.width, r.pixelsIn)
                                     : w.height * w.width;
      offer.busyCycles = std::max(beats, write);
    } else {
      if (p.pixels() % pixels)
        break;
      beats = p.pixels() / pixels;
      in.lanes = pixels * k;
      in.row = in.count;
      out.row = out.count;
      offer.busyCycles = beats;
    }
    offer.inputs = {in.canonical()};
    offer.outputs = {out.canonical()};
    offer.body.chain(circuitActor(one, pixels, beats), offer.outputs[0]);
    offer.key = OptionKey("dhm", "circuit").add("pixels", pixels);
    offer.summary = counted(pixels * n, "result") + " a cycle, " +
                    counted(offer.body.back().get("adders"), "adder");
    offers.push_back(std::move(offer));
  }
  return offers;
}

void buildLinear(Operation *op, Offer &offer) {
  LinearLayer p = linearLayerOf(op);
  Actor &unit = offer.body.back();
  Kept one = circuitOf(op, p, paceOf(unit));
  int64_t copies = unit.get("inBits") / (one.circuit->inLanes * p.x.width);
  Actor built = circuitActor(one, copies, unit.get("frameBeats"));
  built.name = unit.name;
  built.ownModule = unit.ownModule;
  sizeOutput(built);
  built.datapath =
      copies == 1
          ? one.circuit
          : std::make_shared<const Circuit>(one.circuit->repeated(copies));
  unit = std::move(built);
}
} // namespace rhizome::gen::dhm
