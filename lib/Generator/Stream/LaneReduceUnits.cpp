// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The units that reduce each lane by itself: sums of products by the lane's own
// weights, sums, and maxima.
#include "Folded.h"
#include "rhizome/Generator/Sampler.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
using namespace cost;
using namespace folded;

void laneReduce(Builder &b) {
  int64_t pixels = b.get("Pixels"), channels = b.get("Lanes"),
          taps = b.get("Taps"), x = b.get("XWidth"), w = b.get("WWidth"),
          acc = b.get("AccWidth"), folds = b.get("Folds"),
          outFolds = b.get("OutFolds");
  int64_t op = hasNoRom(b.instance()) ? 0 : b.get("Op");
  double lanes = double(pixels * channels);
  int64_t live = channels;
  const bool arrives = isStreamed(b.instance());
  int64_t stages =
      (arrives ? 1 : 3) + productStages(b.instance()) + clog2(taps);
  b.term(Term::Fixed, 1);
  resultControl(b, stages, 3);
  if (op == 0) {
    int64_t words = wordsOf(b, folds * outFolds), style = b.get("Style");
    if (!arrives) {
      b.counter(words, false);
      countTrips(b, folds * outFolds);
      b.ff(double(clog2(words)));
    }
    Product of = {.w = w,
                  .x = x,
                  .xSigned = b.get("XSigned") != 0,
                  .style = style,
                  .kept = acc,
                  .perW = double(pixels)};
    UsedProducts used(b, taps, channels, w);
    const double count = double(pixels * used.count);
    if (!hasNoRom(b.instance()) && used.count > 0)
      of.share = b.usedShare("WeightFile", words) * double(taps * channels) /
                 double(used.count);
    if (arrives)
      b.arriving(taps * channels, count, of);
    else
      b.factors(words, taps * channels, count, of);
    const int64_t product = productBits(of);
    b.ff(count * double(std::min(product, acc)));
    if (words == 1 && style == 0 && !hasNoRom(b.instance()))
      b.constantProducts(count, w, x, acc);
    else
      b.products(count, of);
    b.tree(double(pixels * used.lanes), taps, product, acc);
    if (b.get("Bias")) {
      b.counter(wordsOf(b, outFolds), false);
      countTrips(b, outFolds);
      b.rom("BiasFile", "BiasBlock", wordsOf(b, outFolds), channels * acc, 2, 1,
            0.7);
    } else { // Lanes with only zero weights are constant.
      live = used.lanes;
    }
  } else {
    // The terms' register follows the three stages.
    b.delay(lanes * double(taps * x), 4);
    if (op == 1) {
      for (int64_t n = taps; n > 1; n = ceilDiv(n, 2)) {
        b.ff(lanes * double(ceilDiv(n, 2) * x));
        // For single bits the maximum is either one.
        if (x > 1)
          b.compare(lanes * double(n / 2), x);
        b.term(Term::Select, lanes * double(n / 2 * x));
      }
    } else {
      b.tree(lanes, taps, x, acc);
    }
  }
  int64_t result = op == 1 ? std::min(x, acc) : acc;
  const double results = double(pixels * live);
  b.ff(results * double(result));
  // A single term is the result; a bias is added to it.
  if (op == 1) {
    b.compare(folds > 1 ? lanes : 0, result);
  } else if (folds > 1 || b.get("Bias")) {
    accumulators(b, double(pixels), live, acc);
    // Before AMD's carry chains, an adder's LUT also clears one operand, but
    // not the one connected to the chain itself; Yosys' operand order decides
    // which.
    if (folds > 1 && (op == 0 || b.get("XSigned") || !b.hasShiftRegisters()))
      b.term(Term::Select, results * double(acc));
  }
  // Plain and scaled result.
  b.ff(results * double(result) * 2);
  if (op == 2 && b.get("Positions") > 0) {
    int64_t scale = b.get("ScaleWidth");
    b.counter(outFolds);
    b.counter(b.get("Positions"), false);
    b.rom("ScaleFile", "Block", b.get("Positions"), pixels * scale, 2);
    if (b.get("Zero"))
      b.constantAdder(lanes, acc);
    b.products(lanes, {.w = scale + 1,
                       .x = acc,
                       .style = b.context().dspWide > 0,
                       .kept = acc,
                       .perW = double(channels)});
  }
  b.outbuf(b.get("Depth"), pixels * channels * acc);
}

class LaneReduceUnit : public FoldedUnit {
public:
  explicit LaneReduceUnit(const char *kind = unit::LaneReduce::kKind)
      : FoldedUnit(kind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 6 + productStages(a) + clog2(a.get("Taps")) + bufferLatency(a);
  }
  void structure(Builder &b) const override { laneReduce(b); }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[a.is<unit::LaneReduce>() && a.get("Op") == 0];
  }
  Products products(const unit::Instance &a) const override {
    if (a.is<unit::LaneReduce>() && a.get("Op") != 0)
      return {};
    return {a.get("Pixels") * a.get("Lanes") * a.get("Taps"),
            Multiplier(a.get("Style"))};
  }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

class DepthwiseResidentUnit final : public LaneReduceUnit {
public:
  DepthwiseResidentUnit() : LaneReduceUnit(unit::DepthwiseResident::kKind) {}
  bool sample(Sampler &, llvm::StringRef) const override { return false; }
};

/// Its second input are the weights of each firing.
class DepthwiseStreamedUnit final : public LaneReduceUnit {
public:
  DepthwiseStreamedUnit() : LaneReduceUnit(unit::DepthwiseStreamed::kKind) {}
  int64_t latency(const unit::Instance &a) const override {
    return LaneReduceUnit::latency(a) - 2;
  }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    std::vector<Phase> phases;
    if (int64_t collected = a.get("Folds") - 1; collected > 0)
      phases.push_back(Phase::of(collected, {1, 1}, {0}));
    phases.push_back(Phase::of(1, {1, 1}, {1}));
    addProcess(a, network, phases, a.get("frameBeats"), inputs, outputs);
  }
  bool sample(Sampler &, llvm::StringRef) const override { return false; }
};

bool LaneReduceUnit::sample(Sampler &s, llvm::StringRef name) const {
  bool depthwise = name == kind().characterized[1];
  s.begin(kind().name);
  int64_t x = s.any({4, 7, 8}), w = s.any({4, 7, 8}),
          lanes = s.any({1, 2, 4, 8});
  int64_t taps = s.any({1, 1, 4, 9}), folds = taps > 1 ? 1 : s.any({4, 9});
  int64_t out = s.any({1, 2, 4, 8}), op = depthwise ? 0 : s.any({1, 1, 2});
  if (depthwise && taps > 1)
    lanes = s.any({1, 2});
  int64_t acc = op == 0 ? x + w + 4 : op == 1 ? x : x + 4;
  bool bias = depthwise && s.draw(0, 1);
  s.actor.params = {{"Pixels", 1},
                    {"Lanes", lanes},
                    {"Taps", taps},
                    {"Op", op},
                    {"XWidth", x},
                    {"XSigned", s.draw(0, 1)},
                    {"WWidth", w},
                    {"AccWidth", acc},
                    {"Folds", folds},
                    {"OutFolds", out},
                    {"Bias", bias},
                    {"Style", depthwise && s.device.hasDsp ? s.draw(0, 1) : 0},
                    {"Zero", 0},
                    {"ScaleWidth", 1},
                    {"Positions", 0}};
  if (depthwise)
    s.image("WeightFile", folds * out, lanes * taps, w, w);
  if (bias)
    s.image("BiasFile", out, lanes, acc, acc * 7 / 10);
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeDepthwiseStreamedUnit() {
  return std::make_unique<DepthwiseStreamedUnit>();
}
std::unique_ptr<UnitModel> makeDepthwiseResidentUnit() {
  return std::make_unique<DepthwiseResidentUnit>();
}
std::unique_ptr<UnitModel> makeLaneReduceUnit() {
  return std::make_unique<LaneReduceUnit>();
}
} // namespace rhizome::gen
