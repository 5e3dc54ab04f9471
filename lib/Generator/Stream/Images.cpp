// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memories of units that reduce over a window: weights, in ROMs or in what
// is loaded or read from a memory, biases, scales, and the order of results.
#include "Reduction.h"
#include "llvm/Support/Parallel.h"

using namespace mlir;

namespace rhizome::gen::stream {
void setBits(MemoryImage &image, std::pair<int64_t, int64_t> begin, int64_t at,
             int64_t bits, int64_t value) {
  int64_t low = begin.second + at;
  if (low + bits <= image.width)
    return image.set(begin.first, low, bits, value);
  for (int64_t word = begin.first + low / image.width; bits > 0; ++word) {
    low %= image.width;
    int64_t here = std::min(bits, image.width - low);
    image.set(word, low, here, value);
    value >>= here;
    bits -= here;
    low += here;
  }
}

void setSegment(Body &body, MemoryImage image, MemoryImages &images) {
  for (Body::Unit &unit : body.units)
    if (unit.actor.is<unit::MemReader>()) {
      unit.actor.memories[0].segment = unit.actor.name;
      images[unit.actor.name] = std::move(image);
      return;
    }
}

/// What replays the weights of a body that reads them once.
static const Actor &replayOf(const Body &body) {
  return llvm::find_if(body.units,
                       [](const Body::Unit &unit) {
                         return unit.actor.is<unit::Replay>();
                       })
      ->actor;
}

/// Results come for each group of channels and position there, and leave for
/// each position.
static void setTileOrder(Actor &reorder, int64_t positions, int64_t groups,
                         MemoryImages &images) {
  const int64_t bits = llvm::Log2_64_Ceil(uint64_t(positions * groups));
  MemoryImage image(bits, positions * groups);
  for (int64_t position = 0; position < positions; ++position)
    for (int64_t group = 0; group < groups; ++group)
      image.set(position * groups + group, 0, bits,
                group * positions + position);
  const std::string name = reorder.name + "_addresses.hex";
  images[name] = std::move(image);
  reorder.files.push_back({"AddressFile", name});
}

void buildCompute(Operation *op, Offer &offer, MemoryImages &images) {
  Reduction p = reductionOf(op);
  Actor &unit = computing(offer.body);
  const Actor &window = offer.body.front();
  int64_t lanes = window.get("Lanes"), taps = p.taps();
  int64_t words = ceilDiv(p.w.channels, lanes);
  int64_t folds = unit.get("Folds"), outFolds = unit.get("OutFolds");
  bool parallel = window.is<unit::Window>() && window.get("KernelParallel");
  auto file = [&](const char *param, const char *suffix, MemoryImage image) {
    if (unit.kind().loadedPort() && StringRef(param) == "WeightFile") {
      images[loadImage(unit.name)] = std::move(image);
      return;
    }
    std::string name = unit.name + suffix;
    images[name] = std::move(image);
    unit.files.push_back({param, name});
  };

  if (auto sum = dyn_cast<osa::SumPoolOp>(op)) {
    int64_t positions = unit.get("Positions");
    if (positions == 0)
      return;
    int64_t pixels = unit.get("Pixels"), bits = unit.get("ScaleWidth");
    MemoryImage image(pixels * bits, positions);
    auto scale = sum.getPositionScale();
    int64_t columns = ceilDiv(p.w.outWidth, pixels);
    for (int64_t i = 0; i < positions; ++i)
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        int64_t x = i % columns * pixels + pixel;
        int64_t value = scale.empty() ? 1
                        : x < p.w.outWidth
                            ? scale[i / columns * p.w.outWidth + x]
                            : 1;
        image.set(i, pixel * bits, bits, value);
      }
    return file("ScaleFile", "_scale.hex", std::move(image));
  }
  if (p.kind == Kind::Max)
    return;

  std::vector<int64_t> bias;
  if (p.bias)
    bias = *osa::constantInts(op->getOperand(2));
  int64_t bits = unit.get("WWidth"), acc = unit.get("AccWidth");

  if (p.kind == Kind::Depthwise) {
    int64_t unitTaps = unit.get("Taps");
    const int64_t word = unitTaps * lanes * bits, all = outFolds * folds;
    const bool isStreamed = unit.is<unit::DepthwiseStreamed>();
    const WeightBeats beats(isStreamed ? replayOf(offer.body).get("Beat")
                                       : word,
                            word, isStreamed ? all : 1);
    MemoryImage image(isStreamed ? replayOf(offer.body).get("Beat") : word,
                      isStreamed ? beats.perResult() : all);
    MemoryImage biases(lanes * acc, outFolds);
    std::vector<int64_t> weights = *osa::constantInts(op->getOperand(1));
    for (int64_t group = 0; group < words; ++group)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t channel = group * lanes + lane;
        if (channel >= p.w.channels)
          continue;
        for (int64_t tap = 0; tap < taps; ++tap) {
          int64_t at = group * folds + (parallel ? 0 : tap);
          int64_t slot = (parallel ? tap : 0) * lanes + lane;
          setBits(image,
                  isStreamed ? beats.of(0, at) : std::pair(at, int64_t(0)),
                  slot * bits, bits, weights[channel * taps + tap]);
        }
        if (p.bias)
          biases.set(group, lane * acc, acc, bias[channel]);
      }
    if (isStreamed)
      setSegment(offer.body, std::move(image), images);
    else
      file("WeightFile", "_weights.hex", std::move(image));
    if (p.bias)
      file("BiasFile", "_bias.hex", std::move(biases));
    return;
  }

  // The source of element (kernel position, channel of the group) of a window.
  int64_t pe = unit.get("Pe"), simd = unit.get("Simd");
  int64_t groupIn = p.groupIn(), groupOut = p.groupOut();
  int64_t groupWords = words / p.groups;
  bool converted = offer.body.units[1].actor.is<unit::Gearbox>();
  auto place = [&](int64_t tap, int64_t channel, int64_t &fold, int64_t &slot) {
    if (converted) {
      int64_t at = tap * groupIn + channel;
      fold = at / simd;
      slot = at % simd;
    } else if (parallel) {
      fold = channel / lanes;
      slot = tap * lanes + channel % lanes;
    } else {
      fold = tap * groupWords + channel / lanes;
      slot = channel % lanes;
    }
  };
  int64_t peFolds = outFolds / p.groups;
  const bool isStreamed = unit.is<unit::MatvecStreamed>();
  // A firing's weights are a word, or of a streamed unit a place in a beat.
  const int64_t word = pe * simd * bits,
                beat = isStreamed ? unit.get("Beat") : word;
  const WeightBeats beats(beat, word, folds);
  MemoryImage image(beat, outFolds * beats.perResult());
  MemoryImage biases(pe * acc, outFolds);
  // Of each weight of a channel: where its firing's begin, for the first
  // result, and its bits there.
  struct Place {
    std::pair<int64_t, int64_t> begin;
    int64_t slot;
  };
  const size_t perChannel = size_t(taps * groupIn);
  std::vector<Place> places(perChannel);
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < groupIn; ++c) {
      Place &here = places[size_t(tap * groupIn + c)];
      int64_t fold = 0;
      place(tap, c, fold, here.slot);
      here.begin = beats.of(0, fold);
    }
  // Each result of a pixel has words of its own.
  llvm::parallelFor(0, size_t(outFolds), [&](size_t result) {
    const int64_t outFold = int64_t(result), group = outFold / peFolds,
                  first = outFold % peFolds * pe;
    for (int64_t lane = 0; lane < std::min(pe, groupOut - first); ++lane) {
      const int64_t o = group * groupOut + first + lane;
      if (p.bias)
        biases.set(outFold, lane * acc, acc, bias[size_t(o)]);
      const std::vector<int64_t> own = osa::constantInts(
          op->getOperand(1), size_t(o) * perChannel, perChannel);
      for (auto [here, weight] : llvm::zip_equal(places, own))
        setBits(
            image,
            {outFold * beats.perResult() + here.begin.first, here.begin.second},
            (lane * simd + here.slot) * bits, bits, weight);
    }
  });
  if (isStreamed) {
    setSegment(offer.body, std::move(image), images);
    for (Body::Unit &reorder : offer.body.units)
      if (reorder.actor.is<unit::Reorder>())
        setTileOrder(reorder.actor, unit.get("Positions"), outFolds, images);
  } else {
    file("WeightFile", "_weights.hex", std::move(image));
  }
  if (p.bias)
    file("BiasFile", "_bias.hex", std::move(biases));
}
} // namespace rhizome::gen::stream
