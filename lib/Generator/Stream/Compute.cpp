// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that reduce over a sliding window: convolution, dense, pooling. Each
// is a `window` (which stores rows and repeats its output), if necessary a
// converter to another number of lanes, and a `matvec` or `lane_reduce`.
#include "Foldings.h"
#include "KnownUnits.h"
#include "Models.h"
#include "Reduction.h"
#include "rhizome/Units/Shared.h"

using namespace mlir;

namespace rhizome::gen::stream {
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
  int64_t ahead = timing.latency * rhz::kTicks / timing.portTicks();
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

Body::Unit readerUnit(Actor reader, int64_t port, int64_t beats,
                      MLIRContext *context) {
  BeatFormat bytes;
  bytes.width = 8;
  bytes.lanes = port / 8;
  bytes.row = bytes.count = beats * bytes.lanes;
  return {std::move(reader),
          {},
          {bytes},
          {RankedTensorType::get({bytes.count},
                                 num::IntType::getFull(context, false, 8))}};
}

Body::Unit wordsUnit(Actor replay, Body::Source from, MLIRContext *context) {
  BeatFormat words;
  words.width = 1;
  words.lanes = words.row = replay.get("Width");
  words.count = replay.get("frameBeats") * words.lanes;
  return {std::move(replay),
          {from},
          {words},
          {RankedTensorType::get({words.count},
                                 num::IntType::getFull(context, false, 1))}};
}

namespace {
Actor windowInBlocks(const Reduction &p, const Folding &f) {
  bool lanewise = p.kind != Kind::MatVec;
  if (f.batch > 1)
    return makeWindowBatch(p.w, p.x.width, p.padValue, f.lanes,
                           ceilDiv(p.groupOut(), f.pe), f.batch);
  if (f.tileRows)
    return makeWindowTiled(p.w, p.x.width, p.padValue, f.lanes,
                           ceilDiv(p.groupOut(), f.pe), f.tileRows);
  WindowReading r;
  r.lanes = f.lanes;
  r.groups = lanewise ? ceilDiv(p.w.channels, f.lanes) : p.groups;
  r.repeat = lanewise ? 1 : ceilDiv(p.groupOut(), f.pe);
  r.parallel = f.parallel;
  r.pixelsIn = f.pixelsIn;
  r.pixelsOut = f.pixelsOut;
  return makeWindow(p.w, p.x.width, p.padValue, r);
}

Actor windowOf(const Reduction &p, const Folding &f,
               const DeviceContext &device) {
  Actor window = windowInBlocks(p, f);
  if (f.ultraRows)
    placeInUltra(window, device.cost);
  return window;
}

/// What follows from a folding: counts per frame, or per batch of frames, and
/// the formats of streams.
struct Folded {
  int64_t words = 0;    ///< of the window, for a pixel
  int64_t columns = 0;  ///< firings for a row of results
  int64_t folds = 0;    ///< firings of a result
  int64_t outFolds = 0; ///< results of a pixel
  int64_t simd = 0;     ///< lanes of the unit
  int64_t results = 0, firings = 0, readCycles = 0;
  int64_t positions = 1; ///< that use a weight one after another
  BeatFormat chunk;      ///< what leaves the window
  BeatFormat narrow;     ///< what leaves the converter, if there is one

  Folded(const Reduction &p, const Folding &f) {
    const osa::Window &w = p.w;
    const bool lanewise = p.kind != Kind::MatVec;
    words = ceilDiv(w.channels, f.lanes);
    columns = ceilDiv(w.outWidth, f.pixelsOut);
    positions = f.tileRows ? f.batch * f.tileRows * w.outWidth : 1;
    outFolds = lanewise ? words : p.groups * ceilDiv(p.groupOut(), f.pe);
    folds = words / (lanewise ? words : p.groups) * (f.parallel ? 1 : p.taps());
    chunk = p.x;
    int64_t lanes = f.pixelsOut * (f.parallel ? p.taps() : 1) * f.lanes;
    results = f.batch * w.outHeight * columns * outFolds;
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

/// The weights of a unit that reads them, in beats of the memory's port. Those
/// of a depthwise unit are read once and replayed for every position.
struct Streamed {
  const Memory &memory;
  int64_t port;
  WeightBeats weights;
  int64_t segment, rounds; ///< beats of all weights; times per batch
  int64_t batch;

  Streamed(const Reduction &p, const Folding &f, const Folded &folded,
           const DeviceContext &device)
      : memory(device.memories[0]), port(memory.portBitsAt(device.clockMhz)),
        weights(isReplayed(p)
                    ? WeightBeats(port, folded.simd * p.weightBits,
                                  folded.folds * folded.outFolds)
                    : WeightBeats(port, f.pe * folded.simd * p.weightBits,
                                  folded.folds)),
        segment((isReplayed(p) ? 1 : folded.outFolds) * weights.perResult()),
        rounds(isReplayed(p)
                   ? 1
                   : folded.results / folded.outFolds / folded.positions),
        batch(f.batch) {}
  static bool isReplayed(const Reduction &p) {
    return p.kind == Kind::Depthwise;
  }
  int64_t beats() const { return segment * rounds; }
  /// Per frame.
  double bytes() const { return double(beats() * port / 8) / double(batch); }
  int64_t cycles(const DeviceContext &device) const {
    return int64_t(bytes() / memory.bankBytesPerS(device.clockMhz) *
                   device.clockMhz * 1e6);
  }
  Actor reader(const DeviceContext &device) const {
    Actor reader = weightReader(memory, device.clockMhz, segment, rounds);
    if (batch > 1)
      reader.set("batch", batch);
    return reader;
  }
  /// For a depthwise unit: what is between it and the reader.
  Actor replay(const Folded &folded) const {
    return Actor(unit::Replay::kKind, "replay",
                 {{"Width", weights.bits},
                  {"Words", weights.folds},
                  {"Times", folded.results / folded.outFolds},
                  {"Beat", port},
                  {"PerBeat", weights.words},
                  {"frameBeats", folded.firings}});
  }
};

/// Results of a tile come for each group of output channels; what follows takes
/// all channels of a position.
std::optional<Actor> reorderOf(const Reduction &p, const Folding &f,
                               const Folded &folded,
                               const DeviceContext &device) {
  if (folded.positions == 1 || folded.outFolds == 1)
    return std::nullopt;
  Actor reorder(unit::Reorder::kKind, "reorder");
  reorder.params = {{"Elem", f.pe * p.accBits},
                    {"Elements", folded.positions * folded.outFolds},
                    {"OutElements", folded.positions * folded.outFolds},
                    {"frameBeats", folded.results}};
  if (f.ultraRows)
    placeInUltra(reorder, device.cost);
  return reorder;
}

/// The unit that computes.
Actor unitOf(const Reduction &p, const Folding &f, const Folded &folded,
             const Streamed *streamed) {
  const bool lanewise = p.kind != Kind::MatVec;
  const bool isLoaded = f.home != Residents::None;
  Actor unit(lanewise   ? isLoaded   ? unit::DepthwiseResident::kKind
                          : streamed ? unit::DepthwiseStreamed::kKind
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
    if (!isLoaded && !streamed)
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
  if (streamed && !lanewise) {
    unit.set("Beat", streamed->port);
    unit.set("Words", streamed->weights.words);
    if (folded.positions > 1)
      unit.set("Positions", folded.positions);
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

/// For each batch, the number of the last frame in it.
Body::Unit batchWindow(Actor window, const BeatFormat &chunk,
                       MLIRContext *context) {
  BeatFormat newest;
  newest.width = window.kind().ports.back().width(window.params.data());
  return {std::move(window),
          {{-1, 0}},
          {chunk, newest},
          {Type(), RankedTensorType::get(
                       {1}, num::IntType::getFull(context, false,
                                                  unsigned(newest.width)))}};
}

/// Everything of an offer but what finishing it adds.
Offer makeOffer(const Reduction &p, const Folding &f,
                const DeviceContext &device) {
  const bool lanewise = p.kind != Kind::MatVec;
  const Folded folded(p, f);
  std::optional<Streamed> streamed;
  if (f.streamed)
    streamed.emplace(p, f, folded, device);
  Offer offer;
  offer.inputs = {inputOf(p, f)};
  MLIRContext *context = p.inputType.getContext();
  offer.body.units.reserve(2 + (f.simd > 0) + f.streamed + (f.tileRows > 0) +
                           (f.batch > 1));
  if (f.batch > 1)
    offer.body.units.push_back(
        batchWindow(windowOf(p, f, device), folded.chunk.canonical(), context));
  else
    offer.body.chain(windowOf(p, f, device), folded.chunk.canonical());
  if (f.simd)
    offer.body.chain(folded.converter(), folded.narrow.canonical());
  const BeatFormat out = outputOf(p, f);
  Actor unit = unitOf(p, f, folded, streamed ? &*streamed : nullptr);
  if (!streamed) {
    offer.body.chain(std::move(unit), out);
  } else {
    const int values = int(offer.body.units.size()) - 1;
    offer.body.units.push_back(readerUnit(
        streamed->reader(device), streamed->port, streamed->beats(), context));
    if (lanewise)
      offer.body.units.push_back(
          wordsUnit(streamed->replay(folded), {values + 1, 0}, context));
    const int last = int(offer.body.units.size()) - 1;
    std::optional<Actor> reorder = reorderOf(p, f, folded, device);
    BeatFormat results = out;
    std::vector<Type> elements;
    if (reorder || f.batch > 1) {
      results.row = results.lanes;
      results.count = folded.results * results.lanes;
      elements = {RankedTensorType::get(
          {results.count},
          cast<RankedTensorType>(p.outputType).getElementType())};
    }
    offer.body.units.push_back(
        {std::move(unit), {{values, 0}, {last, 0}}, {results}, elements});
    if (reorder)
      offer.body.units.push_back(
          {std::move(*reorder),
           {{last + 1, 0}},
           {f.batch > 1 ? results : out},
           f.batch > 1 ? elements : std::vector<Type>()});
    if (f.batch > 1) {
      for (Body::Unit &unit : offer.body.units)
        unit.batch = f.batch;
      const int before = int(offer.body.units.size()) - 1;
      offer.body.units.push_back(
          {makeUnbatch(out, f.batch), {{before, 0}, {0, 1}}, {out}});
      offer.body.units.back().batch = f.batch;
    }
    offer.body.outputs = {{int(offer.body.units.size()) - 1, 0}};
  }
  const int64_t simd = folded.simd;
  offer.outputs = {out};
  offer.summary.reserve(64);
  offer.summary += lanewise ? counted(f.lanes, "lane") + " × " +
                                  counted(f.parallel ? p.taps() : 1, "tap")
                            : "PE " + std::to_string(f.pe) + " × SIMD " +
                                  std::to_string(simd);
  offer.key = OptionKey("stream", computing(offer.body).name);
  if (lanewise)
    offer.key.add("lanes", f.lanes);
  else
    offer.key.add("pe", f.pe).add("simd", simd);
  offer.key.add("read", f.simd       ? "regrouped"
                        : f.parallel ? "window"
                                     : "word")
      .add("pixels", f.pixelsOut);
  if (f.batch > 1) {
    offer.key.add("batch", f.batch);
    offer.summary += ", " + counted(f.batch, "frame") + " a weight";
  } else if (f.tileRows) {
    offer.key.add("tile", folded.positions);
    offer.summary += ", " + counted(folded.positions, "position") + " a weight";
  }
  if (f.ultraRows)
    offer.key.add("rows", "ultra");
  if (f.pixelsOut > 1)
    offer.summary += " × " + std::to_string(f.pixelsOut) + " pixels";
  if (f.simd)
    offer.summary += ", regrouped";
  else if (f.parallel && p.taps() == 1)
    offer.summary += ", whole pixels";
  else if (f.parallel && !lanewise)
    offer.summary += ", whole windows";
  if (f.ultraRows)
    offer.summary += ", rows in UltraRAM";
  return offer;
}

/// The ways of multiplying that the device supports for these widths, at most
/// so many.
constexpr size_t kStyles = 2;
llvm::SmallVector<int64_t, 2>
stylesFor(const Reduction &p, const DeviceContext &device, int64_t products) {
  if (p.kind == Kind::Max || p.kind == Kind::Sum)
    return {0};
  llvm::SmallVector<int64_t, 2> styles = {0};
  if (!device.hasDsp)
    return styles;
  bool pairs = p.kind == Kind::MatVec && products >= 2 &&
               p.x.width <= device.pairBits && p.weightBits <= device.pairBits;
  // No tool uses a DSP for a product by one bit.
  if (pairs)
    styles.push_back(pairedStyle(device.cost));
  else if (p.x.width > 1 && p.weightBits > 1)
    styles.push_back(1);
  return styles;
}
} // namespace

namespace {
/// The figures of one reduction's offers. Units that many of them share are
/// priced once.
class Sketcher {
public:
  Sketcher(const Reduction &p, const DeviceContext &device)
      : p(p), device(device), prices(device.cost) {}
  /// Of a folding; `known` is the price of its computing unit from an earlier
  /// exploration, or will be.
  Offer sketch(const Folding &f, KnownUnit *known);
  /// Whether a batch leaves a memory more than one of half as many frames: at
  /// the rate of the unit, a 16th of its time at least.
  bool relieves(Folding f) const;
  /// Whether the last one has weights in blocks of memory.
  bool usesBlocks = false;
  /// Whether its rows or pages may be worth an UltraRAM.
  bool mayUseUltra = false;

private:
  using Price = PriceList::Price;
  using Key = std::array<int64_t, 6>;
  const Reduction &p;
  const DeviceContext &device;
  PriceList prices;
  /// Prices of units of one kind. Offers one after another mostly have the same
  /// unit.
  struct Priced {
    Price price;
    bool mayUseUltra = false;
  };
  struct Known {
    std::map<Key, Priced> all;
    const std::pair<const Key, Priced> *last = nullptr;
  };
  Known windows, converters;

  const Priced &priceOf(Known &known, const Key &key,
                        llvm::function_ref<Actor()> make) {
    if (known.last && known.last->first == key)
      return known.last->second;
    auto [it, isNew] = known.all.try_emplace(key);
    if (isNew) {
      Actor actor = make();
      it->second.price = PriceList::finishAlone(actor, device.cost);
      it->second.mayUseUltra = placeInUltra(actor, device.cost);
    }
    known.last = &*it;
    return it->second;
  }
};

bool Sketcher::relieves(Folding f) const {
  constexpr int64_t kShare = 16;
  const Folded folded(p, f);
  return kShare * Streamed(p, f, folded, device).cycles(device) >=
         folded.firings / f.batch;
}

Offer Sketcher::sketch(const Folding &f, KnownUnit *known) {
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
  Key window{f.lanes, repeat, f.parallel, f.pixelsIn, f.pixelsOut, f.ultraRows};
  if (f.tileRows)
    window = {f.lanes, repeat, -1, f.tileRows, f.batch, f.ultraRows};
  const Priced &stored =
      priceOf(windows, window, [&] { return windowOf(p, f, device); });
  add(stored.price);
  mayUseUltra = stored.mayUseUltra;
  if (f.simd)
    add(priceOf(converters,
                {folded.chunk.lanes, folded.chunk.count, folded.narrow.row,
                 folded.narrow.lanes},
                [&] { return folded.converter(); })
            .price);
  int64_t firings = folded.firings, memoryCycles = 0;
  std::optional<Streamed> streamed;
  if (f.streamed) {
    streamed.emplace(p, f, folded, device);
    Actor reader = streamed->reader(device);
    add(prices.finish(reader));
    offer.weights = WeightHome::Streamed;
    offer.traffic = {{streamed->memory.name, streamed->bytes(), 0}};
    if (Streamed::isReplayed(p)) {
      Actor replay = streamed->replay(folded);
      add(prices.finish(replay));
    } else {
      firings = firings / folded.positions *
                std::max(folded.positions, streamed->weights.pieces);
    }
    memoryCycles = streamed->cycles(device);
  } else if (f.home != Residents::None) {
    offer.weights = WeightHome::Resident;
  }
  KnownUnit priced;
  if (!known || !known->holds(device.cost.lutsOfABlock)) {
    Actor unit = unitOf(p, f, folded, streamed ? &*streamed : nullptr);
    RomChoices roms;
    priced = KnownUnit(PriceList::finishAlone(unit, device.cost, &roms));
    priced.usesBlocks =
        !f.streamed && f.home == Residents::None && unit.get("Block");
    priced.keep(roms, device.cost.lutsOfABlock);
    if (known)
      *known = priced;
  } else {
    priced = *known;
  }
  add(priced.price());
  usesBlocks = priced.usesBlocks;
  if (std::optional<Actor> reorder = reorderOf(p, f, folded, device)) {
    add(prices.finish(*reorder));
    mayUseUltra |= placeInUltra(*reorder, device.cost);
  }
  if (f.batch > 1) {
    Actor unbatch = makeUnbatch(offer.outputs[0], f.batch);
    add(prices.finish(unbatch));
  }
  const osa::Window &w = p.w;
  int64_t writeCycles = f.pixelsIn > 1 ? w.height * ceilDiv(w.width, f.pixelsIn)
                                       : w.height * w.width * folded.words;
  offer.busyCycles =
      std::max({ceilDiv(firings, f.batch),
                ceilDiv(folded.readCycles + (f.batch > 1), f.batch),
                writeCycles, memoryCycles});
  return offer;
}
} // namespace

std::vector<Offer> computeSketches(Operation *op, const DeviceContext &device) {
  const Reduction p = reductionOf(op);
  const bool hasWeights = p.kind == Kind::MatVec || p.kind == Kind::Depthwise;
  Sketcher sketcher(p, device);
  const std::vector<Folding> foldings = foldingsOf(p);
  KnownUnits::Table known = KnownUnits::take(op, device);
  for (size_t home = 0; home <= size_t(device.residents); ++home)
    known.byHome[home].resize(kStyles * foldings.size());
  std::vector<Offer> offers;
  // Each by two styles, and from one home more.
  offers.reserve(foldings.size() *
                 (device.residents == Residents::None ? 2 : 4));
  size_t at = 0; // of the folding and the style
  auto offer = [&](const Folding &f) {
    KnownUnit *unit = f.streamed ? nullptr : &known.byHome[size_t(f.home)][at];
    offers.push_back(sketcher.sketch(f, unit));
    if (device.ultraRows == UltraRows::None || !sketcher.mayUseUltra)
      return;
    if (device.ultraRows == UltraRows::Instead)
      offers.pop_back();
    Folding inUltra = f;
    inUltra.ultraRows = true;
    offers.push_back(sketcher.sketch(inUltra, unit));
  };
  for (auto [i, folding] : llvm::enumerate(foldings))
    for (auto [k, style] : llvm::enumerate(
             stylesFor(p, device, folding.pe * folding.pixelsOut))) {
      at = kStyles * i + k;
      Folding f = folding;
      f.style = style;
      f.home = Residents::None;
      f.streamed = false;
      f.tileRows = 0;
      offer(f);
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
        offer(f);
      }
      // A depthwise layer's are so few that a chip that takes the others from a
      // memory keeps them.
      if (device.streaming == Streaming::None ||
          (device.streaming == Streaming::Once &&
           (p.kind == Kind::Depthwise || p.positions() > f.pixelsOut)))
        continue;
      f.home = Residents::None;
      f.streamed = true;
      offer(f);
      if (p.kind != Kind::MatVec || p.groups > 1 || f.parallel || f.simd)
        continue;
      if (device.streaming == Streaming::All)
        for (int64_t rows : tilesOf(p.w)) {
          f.tileRows = rows;
          offer(f);
        }
      // All positions of a frame, and those of several.
      f.tileRows = p.w.outHeight;
      for (f.batch = 2; f.batch <= device.batch && sketcher.relieves(f);
           f.batch *= 2)
        offer(f);
      f.batch = 1;
    }
  KnownUnits::put(op, device, std::move(known));
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

} // namespace rhizome::gen::stream
