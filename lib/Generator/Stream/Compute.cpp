// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that reduce over a sliding window: convolution, dense, pooling. Each
// is a `window` (which stores rows and repeats its output), if necessary a
// converter to another number of lanes, and a `matvec` or `lane_reduce`.
#include "Units.h"
#include "rhizome/Generator/Shared.h"

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
enum class Kind { MatVec, Depthwise, Max, Sum };

/// One reduction over windows, with everything that offers depend on.
struct Reduction {
  Kind kind;
  osa::Window w;
  int64_t outChannels = 0; ///< of all groups
  int64_t groups = 1;      ///< of a convolution that is not depthwise
  BeatFormat x, y;         ///< elements of the input and of the output
  int64_t weightBits = 0, accBits = 0;
  bool bias = false;
  int64_t padValue = 0;
  osa::SumPoolOp scaled; ///< if it has a zero point or scales by position
  Type inputType, outputType;

  int64_t positions() const { return w.outHeight * w.outWidth; }
  int64_t taps() const { return w.kernelH * w.kernelW; }
  int64_t groupIn() const { return w.channels / groups; }
  int64_t groupOut() const { return outChannels / groups; }
};

Reduction reductionOf(Operation *op) {
  Reduction p;
  p.inputType = op->getOperand(0).getType();
  p.outputType = op->getResult(0).getType();
  p.x = formatOf(p.inputType, 1, 1);
  p.y = formatOf(p.outputType, 1, 1);
  p.accBits = num::elementInt(p.outputType).getWidth();
  if (auto window = osa::getWindow(op)) {
    p.w = *window;
  } else {
    // A dense layer: every vector is a frame row of one pixel.
    auto in = cast<RankedTensorType>(p.inputType);
    int64_t channels = in.getShape().back();
    int64_t rows = in.getNumElements() / channels;
    p.w = {rows, 1, channels, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, rows, 1};
  }
  p.outChannels = cast<RankedTensorType>(p.outputType).getShape().back();
  if (isa<osa::Conv2dOp, osa::DenseOp>(op)) {
    p.kind = Kind::MatVec;
    // Weights are signed in hardware.
    num::IntType weights = num::elementInt(op->getOperand(1).getType());
    p.weightBits = weights.getWidth() + (weights.getIsSigned() ? 0 : 1);
    p.bias = op->getNumOperands() > 2;
    if (auto conv = dyn_cast<osa::Conv2dOp>(op)) {
      p.groups = conv.getGroups();
      p.padValue = conv.getPadValue();
      if (p.groups > 1 && p.groups == p.w.channels &&
          p.outChannels == p.w.channels) {
        p.kind = Kind::Depthwise;
        p.groups = 1;
      }
    }
  } else if (auto sum = dyn_cast<osa::SumPoolOp>(op)) {
    p.kind = Kind::Sum;
    p.padValue = sum.getZero();
    if (sum.getZero() != 0 || !sum.getPositionScale().empty())
      p.scaled = sum;
  } else {
    p.kind = Kind::Max;
    p.padValue = num::elementInt(p.inputType).getIsSigned()
                     ? -(int64_t(1) << (p.x.width - 1))
                     : 0;
  }
  return p;
}

/// How a problem is folded.
struct Folding {
  int64_t pe = 1;        ///< output channels per cycle (MatVec)
  int64_t lanes = 1;     ///< channels per word of the window (G)
  int64_t simd = 0;      ///< lanes after a converter, 0 for none
  bool parallel = false; ///< all kernel positions at once
  int64_t pixelsIn = 1, pixelsOut = 1;
  int64_t style = 0;
  Residents home = Residents::None; ///< of the weights; none: in a ROM
  bool streamed = false;            ///< or they are read for every frame

  /// As an offer remembers it until it is complete.
  OfferSketch numbers() const {
    return {pe,        lanes, simd,          parallel, pixelsIn,
            pixelsOut, style, int64_t(home), streamed};
  }
  static Folding of(llvm::ArrayRef<int64_t> n) {
    return {n[0],     n[1], n[2], n[3] != 0, n[4], n[5], n[6], Residents(n[7]),
            n[8] != 0};
  }
};

/// Where the weights of a unit are in the beats that it reads of a memory.
struct WeightBeats {
  int64_t folds, pieces; ///< firings of a result; beats of a firing, or
  int64_t words;         ///< firings of a beat
  int64_t bits;          ///< of a firing

  WeightBeats(int64_t beat, int64_t bits, int64_t folds)
      : folds(folds), pieces(ceilDiv(bits, beat)),
        words(std::clamp<int64_t>(beat / bits, 1, folds)), bits(bits) {}
  /// A result begins with a new beat.
  int64_t perResult() const { return ceilDiv(folds * pieces, words); }
  /// The beat of a firing's first bit, and its place there.
  std::pair<int64_t, int64_t> of(int64_t result, int64_t fold) const {
    return {result * perResult() + fold * pieces / words, fold % words * bits};
  }
};

/// The reader of a segment of so many beats, `rounds` times per frame: bursts
/// of up to 64 beats and 4 KiB, fetched as far ahead as the memory's answer
/// takes.
Actor weightReader(const Memory &memory, double clockMhz, int64_t beats,
                   int64_t rounds) {
  MemoryReading reading;
  reading.bits = memory.portBitsAt(clockMhz);
  reading.words = beats;
  reading.rounds = rounds;
  reading.burst = std::min<int64_t>(64, unit::kPageBytes / (reading.bits / 8));
  while (reading.burst / 2 >= beats)
    reading.burst /= 2;
  auto timing = rhz::MemoryTiming::of(memory, reading.bits / 8, clockMhz);
  int64_t ahead = timing.latency * rhz::kTicks / timing.beatTicks;
  reading.depth = int64_t(llvm::PowerOf2Ceil(
      uint64_t(2 * reading.burst + std::min<int64_t>(ahead, 256) + 4)));
  // A block of memory has as many words at any depth.
  if (reading.depth > 64)
    reading.depth = std::max<int64_t>(reading.depth, 512);
  Actor reader = makeMemReader(
      reading, {memory.name, MemoryPlace::kAnyBank, /*segment=*/""});
  reader.name = "weights";
  return reader;
}

Actor windowOf(const Reduction &p, const Folding &f) {
  bool lanewise = p.kind != Kind::MatVec;
  WindowReading r;
  r.lanes = f.lanes;
  r.groups = lanewise ? ceilDiv(p.w.channels, f.lanes) : p.groups;
  r.repeat = lanewise ? 1 : ceilDiv(p.groupOut(), f.pe);
  r.parallel = f.parallel;
  r.pixelsIn = f.pixelsIn;
  r.pixelsOut = f.pixelsOut;
  return makeWindow(p.w, p.x.width, p.padValue, r);
}

/// What follows from a folding: counts per frame, and the formats of streams.
struct Folded {
  int64_t words = 0;    ///< of the window, for a pixel
  int64_t columns = 0;  ///< firings for a row of results
  int64_t folds = 0;    ///< firings of a result
  int64_t outFolds = 0; ///< results of a pixel
  int64_t simd = 0;     ///< lanes of the unit
  int64_t results = 0, firings = 0, readCycles = 0;
  BeatFormat chunk;  ///< what leaves the window
  BeatFormat narrow; ///< what leaves the converter, if there is one

  Folded(const Reduction &p, const Folding &f) {
    const osa::Window &w = p.w;
    const bool lanewise = p.kind != Kind::MatVec;
    words = ceilDiv(w.channels, f.lanes);
    columns = ceilDiv(w.outWidth, f.pixelsOut);
    outFolds = lanewise ? words : p.groups * ceilDiv(p.groupOut(), f.pe);
    folds = words / (lanewise ? words : p.groups) * (f.parallel ? 1 : p.taps());
    chunk = p.x;
    int64_t lanes = f.pixelsOut * (f.parallel ? p.taps() : 1) * f.lanes;
    results = w.outHeight * columns * outFolds;
    readCycles = results * folds;
    chunk.lanes = chunk.row = lanes;
    chunk.count = lanes * readCycles;
    simd = f.lanes * (f.parallel ? p.taps() : 1);
    if (f.simd) {
      int64_t length = p.taps() * w.channels; // of one window
      narrow = chunk;
      narrow.row = length;
      narrow.lanes = f.simd;
      simd = f.simd;
      folds = ceilDiv(length, simd);
    }
    firings = results * folds;
  }
  Actor converter() const {
    BeatFormat whole = chunk;
    whole.row = narrow.row;
    return makeConverter(whole.canonical(), narrow);
  }
};

/// The weights of a unit that reads them, in beats of the memory's port.
struct Streamed {
  const Memory &memory;
  int64_t port;
  WeightBeats weights;
  int64_t segment, rounds; ///< beats of all weights; times per frame

  Streamed(const Reduction &p, const Folding &f, const Folded &folded,
           const DeviceContext &device)
      : memory(device.memories[0]), port(memory.portBitsAt(device.clockMhz)),
        weights(port, f.pe * folded.simd * p.weightBits, folded.folds),
        segment(folded.outFolds * weights.perResult()),
        rounds(folded.results / folded.outFolds) {}
  int64_t beats() const { return segment * rounds; }
  double bytes() const { return double(beats() * port / 8); }
  int64_t cycles(const DeviceContext &device) const {
    return int64_t(bytes() / memory.bankBytesPerS(device.clockMhz) *
                   device.clockMhz * 1e6);
  }
  Actor reader(const DeviceContext &device) const {
    return weightReader(memory, device.clockMhz, segment, rounds);
  }
};

/// The unit that computes.
Actor unitOf(const Reduction &p, const Folding &f, const Folded &folded,
             const Streamed *streamed) {
  const bool lanewise = p.kind != Kind::MatVec;
  const bool isLoaded = f.home != Residents::None;
  Actor unit(lanewise   ? isLoaded ? unit::DepthwiseResident::kKind
                                   : unit::LaneReduce::kKind
             : isLoaded ? unit::MatvecResident::kKind
             : streamed ? unit::MatvecStreamed::kKind
                        : unit::Matvec::kKind);
  if (!lanewise) {
    unit.name = "matvec";
    unit.params = {{"Pixels", f.pixelsOut},
                   {"Pe", f.pe},
                   {"Simd", folded.simd},
                   {"XWidth", p.x.width},
                   {"XSigned", p.x.isSigned},
                   {"WWidth", p.weightBits},
                   {"AccWidth", p.accBits},
                   {"Folds", folded.folds},
                   {"OutFolds", folded.outFolds},
                   {"Bias", p.bias},
                   {"Style", f.style}};
  } else {
    unit.name = p.kind == Kind::Depthwise ? "depthwise" : "pool";
    int64_t op = p.kind == Kind::Depthwise ? 0 : p.kind == Kind::Max ? 1 : 2;
    unit.params = {{"Pixels", f.pixelsOut},
                   {"Lanes", f.lanes},
                   {"Taps", f.parallel ? p.taps() : 1},
                   {"XWidth", p.x.width},
                   {"XSigned", p.x.isSigned},
                   {"WWidth", std::max<int64_t>(p.weightBits, 1)},
                   {"AccWidth", p.accBits},
                   {"Folds", folded.folds},
                   {"OutFolds", folded.outFolds},
                   {"Bias", p.bias},
                   {"Style", f.style}};
    if (!isLoaded)
      unit.params = {
          {"Op", op}, {"Zero", 0}, {"ScaleWidth", 1}, {"Positions", 0}};
  }
  if (osa::SumPoolOp sum = p.scaled) {
    int64_t most = 1;
    for (int64_t s : sum.getPositionScale())
      most = std::max(most, s);
    unit.set("Zero", sum.getZero());
    unit.set("Positions", sum.getPositionScale().empty()
                              ? 1
                              : folded.columns * p.w.outHeight);
    unit.set("ScaleWidth", num::bitsForRange(0, most));
  }
  if (isLoaded)
    unit.params = {{"Ultra", f.home == Residents::Ultra}, {"Load", kLoadBits}};
  unit.set("frameBeats", folded.results);
  if (streamed) {
    unit.set("Beat", streamed->port);
    unit.set("Words", streamed->weights.words);
  }
  return unit;
}

BeatFormat inputOf(const Reduction &p, const Folding &f) {
  BeatFormat in = p.x;
  in.lanes = f.pixelsIn > 1 ? f.pixelsIn * p.w.channels : f.lanes;
  in.row = f.pixelsIn > 1 ? p.w.width * p.w.channels : p.w.channels;
  return in.canonical();
}

BeatFormat outputOf(const Reduction &p, const Folding &f) {
  const bool lanewise = p.kind != Kind::MatVec;
  BeatFormat out = p.y;
  out.lanes = f.pixelsOut * (lanewise ? f.lanes : f.pe);
  out.row = f.pixelsOut > 1 ? p.w.outWidth * p.outChannels
            : lanewise      ? p.outChannels
                            : p.groupOut();
  return out.canonical();
}

/// Everything of an offer but what finishing it adds.
Offer makeOffer(const Reduction &p, const Folding &f,
                const DeviceContext &device) {
  const osa::Window &w = p.w;
  const bool lanewise = p.kind != Kind::MatVec;
  const Folded folded(p, f);
  std::optional<Streamed> streamed;
  if (f.streamed)
    streamed.emplace(p, f, folded, device);
  Offer offer;
  offer.inputs = {inputOf(p, f)};
  offer.body.units.reserve(2 + (f.simd > 0) + f.streamed);
  offer.body.chain(windowOf(p, f), folded.chunk.canonical());
  if (f.simd)
    offer.body.chain(folded.converter(), folded.narrow.canonical());
  const BeatFormat out = outputOf(p, f);
  Actor unit = unitOf(p, f, folded, streamed ? &*streamed : nullptr);
  if (!streamed) {
    offer.body.chain(std::move(unit), out);
  } else {
    BeatFormat bytes;
    bytes.width = 8;
    bytes.lanes = streamed->port / 8;
    bytes.row = bytes.count = streamed->beats() * bytes.lanes;
    const int last = int(offer.body.units.size()) - 1;
    offer.body.units.push_back(
        {streamed->reader(device),
         {},
         {bytes},
         {RankedTensorType::get(
             {bytes.count},
             num::IntType::getFull(p.inputType.getContext(), false, 8))}});
    offer.body.units.push_back(
        {std::move(unit), {{last, 0}, {last + 1, 0}}, {out}});
    offer.body.outputs = {{last + 2, 0}};
  }
  const int64_t simd = folded.simd;
  offer.outputs = {out};
  offer.summary.reserve(64);
  offer.summary += lanewise ? counted(f.lanes, "lane") + " × " +
                                  counted(f.parallel ? p.taps() : 1, "tap")
                            : "PE " + std::to_string(f.pe) + " × SIMD " +
                                  std::to_string(simd);
  offer.key = OptionKey("stream", offer.body.back().name);
  if (lanewise)
    offer.key.add("lanes", f.lanes);
  else
    offer.key.add("pe", f.pe).add("simd", simd);
  offer.key.add("read", f.simd       ? "regrouped"
                        : f.parallel ? "window"
                                     : "word")
      .add("pixels", f.pixelsOut);
  if (f.pixelsOut > 1)
    offer.summary += " × " + std::to_string(f.pixelsOut) + " pixels";
  if (f.simd)
    offer.summary += ", regrouped";
  else if (f.parallel && p.taps() == 1)
    offer.summary += ", whole pixels";
  else if (f.parallel && !lanewise)
    offer.summary += ", whole windows";
  return offer;
}

/// The ways of multiplying that the device supports for these widths.
std::vector<int64_t> stylesFor(const Reduction &p, const DeviceContext &device,
                               int64_t products) {
  if (p.kind == Kind::Max || p.kind == Kind::Sum)
    return {0};
  std::vector<int64_t> styles = {0};
  if (!device.hasDsp)
    return styles;
  bool pairs = p.kind == Kind::MatVec && products >= 2 &&
               p.x.width <= device.pairBits && p.weightBits <= device.pairBits;
  // No tool uses a DSP for a product by one bit.
  if (pairs)
    styles.push_back(2);
  else if (p.x.width > 1 && p.weightBits > 1)
    styles.push_back(1);
  return styles;
}
} // namespace

/// Sets the bits of a firing's weights from `at` on, which begin at a place in
/// an image and may go on in its next words.
static void setBits(MemoryImage &image, std::pair<int64_t, int64_t> begin,
                    int64_t at, int64_t bits, int64_t value) {
  int64_t low = begin.second + at;
  for (int64_t word = begin.first + low / image.width; bits > 0; ++word) {
    low %= image.width;
    int64_t here = std::min(bits, image.width - low);
    image.set(word, low, here, value);
    value >>= here;
    bits -= here;
    low += here;
  }
}

namespace {
/// The figures of one reduction's offers. Units that many of them share are
/// priced once.
class Sketcher {
public:
  Sketcher(const Reduction &p, const DeviceContext &device)
      : p(p), device(device), prices(device.cost) {}
  Offer sketch(const Folding &f);
  /// Whether the last one has weights in blocks of memory.
  bool usesBlocks = false;

private:
  using Price = PriceList::Price;
  using Key = std::array<int64_t, 5>;
  const Reduction &p;
  const DeviceContext &device;
  PriceList prices;
  std::map<Key, Price> windows, converters;

  const Price &priceOf(std::map<Key, Price> &known, const Key &key,
                       llvm::function_ref<Actor()> make) {
    auto [it, isNew] = known.try_emplace(key);
    if (isNew) {
      Actor actor = make();
      it->second = PriceList::finishAlone(actor, device.cost);
    }
    return it->second;
  }
};

Offer Sketcher::sketch(const Folding &f) {
  const Folded folded(p, f);
  Offer offer;
  offer.generator = "stream";
  offer.sketch = f.numbers();
  offer.inputs = {inputOf(p, f)};
  offer.outputs = {outputOf(p, f)};
  auto add = [&](const Price &price) {
    offer.resources += price.cost;
    offer.lutVariance += price.error.lut() * price.error.lut();
    offer.ffVariance += price.error.ff() * price.error.ff();
  };
  const int64_t repeat =
      p.kind == Kind::MatVec ? ceilDiv(p.groupOut(), f.pe) : 1;
  add(priceOf(windows, {f.lanes, repeat, f.parallel, f.pixelsIn, f.pixelsOut},
              [&] { return windowOf(p, f); }));
  if (f.simd)
    add(priceOf(converters,
                {folded.chunk.lanes, folded.chunk.count, folded.narrow.row,
                 folded.narrow.lanes},
                [&] { return folded.converter(); }));
  int64_t firings = folded.firings, memoryCycles = 0;
  std::optional<Streamed> streamed;
  if (f.streamed) {
    streamed.emplace(p, f, folded, device);
    Actor reader = streamed->reader(device);
    add(prices.finish(reader));
    offer.weights = WeightHome::Streamed;
    offer.traffic = {{streamed->memory.name, streamed->bytes(), 0}};
    firings *= streamed->weights.pieces;
    memoryCycles = streamed->cycles(device);
  } else if (f.home != Residents::None) {
    offer.weights = WeightHome::Resident;
  }
  Actor unit = unitOf(p, f, folded, streamed ? &*streamed : nullptr);
  add(PriceList::finishAlone(unit, device.cost));
  usesBlocks = !f.streamed && f.home == Residents::None && unit.get("Block");
  const osa::Window &w = p.w;
  int64_t writeCycles = f.pixelsIn > 1 ? w.height * ceilDiv(w.width, f.pixelsIn)
                                       : w.height * w.width * folded.words;
  offer.busyCycles =
      std::max({firings, folded.readCycles, writeCycles, memoryCycles});
  return offer;
}
} // namespace

std::vector<Offer> computeSketches(Operation *op, const DeviceContext &device) {
  const Reduction p = reductionOf(op);
  const osa::Window &w = p.w;
  std::vector<Offer> offers;
  Sketcher sketcher(p, device);
  auto offer = [&](Folding f) {
    for (int64_t style : stylesFor(p, device, f.pe * f.pixelsOut)) {
      f.style = style;
      f.home = Residents::None;
      f.streamed = false;
      offers.push_back(sketcher.sketch(f));
      bool hasWeights = p.kind == Kind::MatVec || p.kind == Kind::Depthwise;
      if (!hasWeights || !device.mayLoad())
        continue;
      // What fits a few LUTs needs no memory.
      const bool isInBlocks = sketcher.usesBlocks;
      for (Residents home : {Residents::Ultra, Residents::All}) {
        bool isUltra = home == Residents::Ultra;
        if (device.residents < home || (isUltra && !device.hasUltra()) ||
            (device.residents != Residents::All && !isInBlocks))
          continue;
        f.home = home;
        offers.push_back(sketcher.sketch(f));
      }
      if (p.kind != Kind::MatVec || device.streaming == Streaming::None ||
          (device.streaming == Streaming::Once && p.positions() > f.pixelsOut))
        continue;
      f.home = Residents::None;
      f.streamed = true;
      offers.push_back(sketcher.sketch(f));
    }
  };
  int64_t taps = p.taps(), channels = w.channels;
  // Several output pixels per cycle need every kernel position at once.
  auto offerPixels = [&](Folding f) {
    for (int64_t pixels = 1; pixels <= 2 * w.outWidth && pixels <= 16;
         pixels *= 2) {
      f.parallel = true;
      f.lanes = channels;
      f.pixelsOut = std::min(pixels, w.outWidth);
      int64_t repeat =
          p.kind == Kind::MatVec ? ceilDiv(p.outChannels, f.pe) : 1;
      if (f.pixelsOut > 1 && repeat > 1)
        break;
      f.pixelsIn = pixelsInFor(
          w, w.outHeight * ceilDiv(w.outWidth, f.pixelsOut) * repeat);
      offer(f);
      if (f.pixelsOut == w.outWidth)
        break;
    }
  };

  if (p.kind != Kind::MatVec) {
    for (int64_t lanes : foldings(channels)) {
      Folding f;
      f.lanes = lanes;
      offer(f);
      if (taps > 1 && lanes < channels) {
        f.parallel = true;
        offer(f);
      }
    }
    offerPixels({});
    return offers;
  }

  for (int64_t pe : foldings(p.groupOut())) {
    Folding f;
    f.pe = pe;
    if (p.groups > 1) {
      for (int64_t lanes : foldings(p.groupIn()))
        if (p.groupIn() % lanes == 0) {
          f.lanes = lanes;
          offer(f);
        }
      continue;
    }
    for (int64_t lanes : foldings(channels)) {
      f = {};
      f.pe = pe;
      f.lanes = lanes;
      offer(f);
      if (taps > 1 && lanes < channels) {
        f.parallel = true;
        offer(f);
      }
    }
    if (taps > 1) {
      for (int64_t simd : foldings(taps * channels)) {
        int64_t folds = ceilDiv(taps * channels, simd);
        // Only if words of whole channels take longer.
        if (folds == 1 ||
            (simd <= channels && folds >= taps * ceilDiv(channels, simd)))
          continue;
        f = {};
        f.pe = pe;
        f.lanes = channels;
        f.simd = simd;
        f.parallel = simd > channels;
        f.pixelsIn = f.parallel ? pixelsInFor(w, p.positions() * folds *
                                                     ceilDiv(p.outChannels, pe))
                                : 1;
        offer(f);
      }
    }
    f = {};
    f.pe = pe;
    offerPixels(f);
  }
  return offers;
}

void completeCompute(Operation *op, llvm::MutableArrayRef<Offer> offers,
                     const DeviceContext &device) {
  const Reduction p = reductionOf(op);
  PriceList prices(device.cost);
  for (Offer &offer : offers) {
    if (offer.sketch.empty())
      continue;
    Offer whole = makeOffer(p, Folding::of(offer.sketch), device);
    whole.busyCycles = offer.busyCycles;
    whole.traffic = std::move(offer.traffic);
    finish(whole, prices);
    assert(whole.resources == offer.resources && "as it was sketched");
    offer = std::move(whole);
  }
}

std::string computeDependence(Operation *op) {
  if (isa<osa::SumPoolOp>(op))
    return ""; // its scale by position
  Reduction p = reductionOf(op);
  const osa::Window &w = p.w;
  std::string text = op->getName().getStringRef().str();
  llvm::raw_string_ostream os(text);
  for (int64_t n :
       {int64_t(p.kind), p.outChannels, p.groups,  p.weightBits, p.accBits,
        int64_t(p.bias), p.padValue,    w.height,  w.width,      w.channels,
        w.kernelH,       w.kernelW,     w.strideH, w.strideW,    w.dilationH,
        w.dilationW,     w.padTop,      w.padLeft, w.padBottom,  w.padRight,
        w.outHeight,     w.outWidth})
    os << ' ' << n;
  os << ' ' << p.inputType << ' ' << p.outputType;
  return text;
}

void buildCompute(Operation *op, Offer &offer, MemoryImages &images) {
  Reduction p = reductionOf(op);
  Actor &unit = offer.body.back();
  const Actor &window = offer.body.front();
  int64_t lanes = window.get("Lanes"), taps = p.taps();
  int64_t words = ceilDiv(p.w.channels, lanes);
  int64_t folds = unit.get("Folds"), outFolds = unit.get("OutFolds");
  bool parallel = window.get("KernelParallel");
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
    MemoryImage image(unitTaps * lanes * bits, outFolds * folds);
    MemoryImage biases(lanes * acc, outFolds);
    std::vector<int64_t> weights = *osa::constantInts(op->getOperand(1));
    for (int64_t group = 0; group < words; ++group)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t channel = group * lanes + lane;
        if (channel >= p.w.channels)
          continue;
        for (int64_t tap = 0; tap < taps; ++tap) {
          int64_t word = group * folds + (parallel ? 0 : tap);
          int64_t slot = (parallel ? tap : 0) * lanes + lane;
          image.set(word, slot * bits, bits, weights[channel * taps + tap]);
        }
        if (p.bias)
          biases.set(group, lane * acc, acc, bias[channel]);
      }
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
  struct Place {
    int64_t fold, slot;
  };
  std::vector<Place> places(size_t(taps * groupIn));
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < groupIn; ++c) {
      Place &here = places[size_t(tap * groupIn + c)];
      place(tap, c, here.fold, here.slot);
    }
  // Output channel by output channel, as the constant has them: a large layer's
  // are not copied.
  int64_t o = 0, outFold = 0, lane = 0;
  size_t at = places.size();
  auto begin = [&] {
    int64_t group = o / groupOut, inGroup = o % groupOut;
    outFold = group * peFolds + inGroup / pe;
    lane = inGroup % pe;
    if (p.bias)
      biases.set(outFold, lane * acc, acc, bias[size_t(o)]);
    ++o;
    at = 0;
  };
  osa::forConstantInts(op->getOperand(1), [&](int64_t weight) {
    if (at == places.size())
      begin();
    auto [fold, slot] = places[at++];
    setBits(image, beats.of(outFold, fold), (lane * simd + slot) * bits, bits,
            weight);
  });
  if (isStreamed) {
    Actor &reader = offer.body.units[offer.body.units.size() - 2].actor;
    reader.memories[0].segment = reader.name;
    images[reader.name] = std::move(image);
  } else {
    file("WeightFile", "_weights.hex", std::move(image));
  }
  if (p.bias)
    file("BiasFile", "_bias.hex", std::move(biases));
}
} // namespace rhizome::gen::stream
