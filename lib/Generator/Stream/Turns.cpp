// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of one shape that take turns on one unit: which layers are alike, what
// each of them adds to the unit, and the body of those that share it. Each has
// its own window, and where its results have fewer bits than the unit's, a
// circuit that drops the others.
#include "Models.h"
#include "Reduction.h"
#include "rhizome/Generator/Circuit.h"
#include "rhizome/Generator/Shared.h"

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// The most results of a layer's frame: so many places the store has, and the
/// event simulator as many phases.
constexpr int64_t kMostResults = 4096;

/// The most products of a cycle. A wider unit saves little beside what it has
/// to have for its rate, and each offer takes time to explore.
constexpr int64_t kMostProducts = 16, kMostResultsAtOnce = 4;

/// What layers that share a unit have in common.
std::string shapeOf(const Reduction &p) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << p.x.width << (p.x.isSigned ? "s" : "u") << '*' << p.weightBits
     << (p.bias ? "+b " : " ") << p.taps() << '*' << p.w.channels << '>'
     << p.outChannels << 'x' << p.positions();
  return text;
}

/// A layer that may share a unit.
std::optional<Reduction> sharerOf(Operation *op) {
  if (!isa<osa::Conv2dOp, osa::DenseOp>(op) ||
      !num::elementInt(op->getOperand(0).getType()) ||
      !num::elementInt(op->getOperand(1).getType()) ||
      !num::elementInt(op->getResult(0).getType()))
    return std::nullopt;
  Reduction p = reductionOf(op);
  if (p.kind != Kind::MatVec || p.groups != 1)
    return std::nullopt;
  return p;
}

/// The layers of one shape in a network.
struct Family {
  int64_t layers = 0, accBits = 0; ///< how many; of the widest result

  explicit Family(Operation *op) {
    std::optional<Reduction> own = sharerOf(op);
    if (!own ||
        own->positions() * own->outChannels > kMostResults * kMostResultsAtOnce)
      return;
    const std::string shape = shapeOf(*own);
    for (Operation &other : *op->getBlock()) {
      // Quickly, for most of them.
      if (!isa<osa::Conv2dOp, osa::DenseOp>(other) ||
          cast<RankedTensorType>(other.getResult(0).getType()).getShape() !=
              cast<RankedTensorType>(own->outputType).getShape())
        continue;
      std::optional<Reduction> p = sharerOf(&other);
      if (!p || shapeOf(*p) != shape)
        continue;
      ++layers;
      accBits = std::max(accBits, p->accBits);
    }
  }
};

/// Whether what a layer gives before its last result may be all that another
/// one needs for as many results: only operations by element are between.
bool isNext(Operation *before, Operation *after) {
  llvm::SmallVector<Value> open = {after->getOperand(0)};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = rootOf(open.pop_back_val()).getDefiningOp();
    if (op == before)
      return true;
    if (op &&
        isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp, osa::ScaledAddOp,
            osa::ScaledMaxOp>(op) &&
        seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// How a layer is folded on the unit.
struct Turn {
  const Reduction &p;
  int64_t accBits; ///< of the unit
  int64_t pe, lanes, style;

  int64_t folds() const { return p.taps() * p.w.channels / lanes; }
  int64_t outFolds() const { return p.outChannels / pe; }
  int64_t results() const { return outFolds() * p.positions(); }

  Actor window() const {
    WindowReading reading;
    reading.lanes = lanes;
    reading.repeat = outFolds();
    return makeWindow(p.w, p.x.width, p.padValue, reading);
  }
  Actor unit(int64_t layers) const {
    Actor actor = computing(unit::MatvecTurns::kKind, "turns");
    actor.set("Layers", layers);
    actor.set("Vectors", p.positions());
    actor.set("Places", places(results()));
    return actor;
  }
  /// The products alone, for one layer.
  Actor products() const {
    Actor actor = computing(unit::Matvec::kKind, "layer");
    actor.set("Pixels", 1);
    actor.set("frameBeats", results());
    return actor;
  }
  /// A unit with what both have.
  Actor computing(StringRef kind, const char *name) const {
    return Actor(kind, name,
                 {{"Pe", pe},
                  {"Simd", lanes},
                  {"XWidth", p.x.width},
                  {"XSigned", p.x.isSigned},
                  {"WWidth", p.weightBits},
                  {"AccWidth", accBits},
                  {"Folds", folds()},
                  {"OutFolds", outFolds()},
                  {"Bias", p.bias},
                  {"Style", style}});
  }
  /// Whether the layer needs fewer bits of the unit's results.
  bool narrows() const { return accBits > p.accBits; }
  Circuit narrowing() const {
    num::IntType type = num::elementInt(p.outputType);
    Circuit c;
    c.inLanes = pe;
    c.inWidth = accBits;
    c.outWidth = p.accBits;
    for (int64_t lane = 0; lane < pe; ++lane)
      c.outputs.push_back(c.input(lane, type.getLo(), type.getHi()));
    return c;
  }
  Actor narrow(const DeviceContext &device) const {
    Actor actor = describe(narrowing(), paceFor(device));
    actor.set("frameBeats", results());
    return actor;
  }
  /// Of the store, so many or more: for a firing in every cycle.
  int64_t places(int64_t least) const {
    Actor actor = products();
    sizeOutput(actor, least);
    return actor.get("Depth");
  }
  BeatFormat in() const {
    BeatFormat f = p.x;
    f.lanes = lanes;
    f.row = p.w.channels;
    return f.canonical();
  }
  BeatFormat read() const {
    BeatFormat f = p.x;
    f.lanes = f.row = lanes;
    f.count = lanes * folds() * results();
    return f.canonical();
  }
  /// Of the unit's results; the layer's may have fewer bits.
  BeatFormat result() const {
    BeatFormat f = out();
    f.width = accBits;
    f.isSigned = true;
    return f;
  }
  BeatFormat out() const {
    BeatFormat f = p.y;
    f.lanes = pe;
    f.row = p.outChannels;
    return f.canonical();
  }
};

/// The foldings that are offered: as many or twice as many lanes as results,
/// without rest.
std::vector<Turn> turnsOf(const Reduction &p, int64_t accBits,
                          const DeviceContext &device) {
  std::vector<Turn> all;
  const bool pairs =
      p.x.width <= device.pairBits && p.weightBits <= device.pairBits;
  for (int64_t pe = 1; pe <= p.outChannels; ++pe) {
    if (p.outChannels % pe)
      continue;
    for (int64_t lanes : {pe, 2 * pe}) {
      Turn turn{p, accBits, pe, lanes, 0};
      if (p.w.channels % lanes || pe * lanes > kMostProducts ||
          turn.results() > kMostResults)
        continue;
      all.push_back(turn);
      if (!device.hasDsp || p.x.width == 1 || p.weightBits == 1)
        continue;
      turn.style = pairs && pe > 1 ? pairedStyle(device.cost) : 1;
      all.push_back(turn);
    }
  }
  return all;
}

/// By how much some resources exceed others, and no less than the others.
Resources excess(const Resources &all, const Resources &less) {
  Resources more;
  for (size_t k = 0; k < more.amount.size(); ++k)
    more.amount[k] = std::max(0.0, all.amount[k] - less.amount[k]);
  return more;
}

Resources finished(Actor &actor, const DeviceContext &device) {
  return PriceList::finishAlone(actor, device.cost).cost;
}

constexpr const char *kStyles[] = {"lut", "dsp", "paired"};
constexpr const char *kStyleWords[] = {", in LUTs", ", in DSPs",
                                       ", paired in DSPs"};

/// An offer for one layer: its window, and what it adds to the unit.
Offer offerOf(const Turn &turn, const DeviceContext &device) {
  const Reduction &p = turn.p;
  Offer offer;
  offer.generator = "stream";
  offer.key = OptionKey("stream", "turns")
                  .add("pe", turn.pe)
                  .add("simd", turn.lanes)
                  .add("style", kStyles[size_t(multiplierOf(turn.style))]);
  offer.summary = "PE " + std::to_string(turn.pe) + " × SIMD " +
                  std::to_string(turn.lanes) +
                  kStyleWords[size_t(multiplierOf(turn.style))] + ", in turn";
  offer.inputs = {turn.in()};
  offer.outputs = {turn.out()};
  offer.body.chain(turn.window(), turn.read());
  if (turn.narrows())
    offer.body.chain(turn.narrow(device), turn.out());
  finishOffer(offer, device);
  // The unit for one layer less what a second one adds is the unit without
  // any: it has a single word of weights.
  Actor one = turn.unit(1), two = turn.unit(2), none = turn.unit(1);
  none.set("OutFolds", 1);
  none.set("Vectors", 1);
  const Resources ofOne = finished(one, device), ofTwo = finished(two, device),
                  ofNone = finished(none, device);
  const Resources second = excess(ofTwo, ofOne), first = excess(ofOne, ofNone);
  Resources added;
  for (size_t k = 0; k < added.amount.size(); ++k)
    added.amount[k] = std::max(second.amount[k], first.amount[k]);
  offer.resources += added;
  const Resources error = errorOf(two, added, device.cost);
  offer.lutVariance += error.lut() * error.lut();
  offer.ffVariance += error.ff() * error.ff();
  // Until the last result of a turn has come to the next layer's window, that
  // layer cannot begin.
  Actor products = turn.products();
  products.set("Depth", one.get("Places"));
  offer.busyCycles = turn.results() * turn.folds() + latencyOf(products) +
                     latencyOf(one) + latencyOf(offer.body.front());
  offer.shared = {offer.key.text() + ' ' + shapeOf(p) + '=' +
                      std::to_string(turn.accBits),
                  {std::move(none)}};
  return offer;
}

/// The turn of a unit's layer.
Turn turnOf(const Reduction &p, const Actor &unit) {
  return {p, unit.get("AccWidth"), unit.get("Pe"), unit.get("Simd"),
          unit.get("Style")};
}
} // namespace

Actor *sharedUnit(Body &body) {
  auto it = llvm::find_if(body.units, [](const Body::Unit &unit) {
    return unit.actor.is<unit::MatvecTurns>();
  });
  return it == body.units.end() ? nullptr : &it->actor;
}

std::vector<Offer> turnsOffers(Operation *op, const DeviceContext &device) {
  std::vector<Offer> offers;
  const Family family(op);
  if (family.layers < 2)
    return offers;
  const Reduction p = reductionOf(op);
  for (const Turn &turn : turnsOf(p, family.accBits, device)) {
    // iCE40's cost model of products in DSPs knows no memories in LUTs.
    Actor unit = turn.unit(2);
    placeRoms(unit, device.cost);
    if (turn.style == 0 || unit.get("Block") || device.cost.lutramBits > 0)
      offers.push_back(offerOf(turn, device));
  }
  return offers;
}

std::string turnsDependence(Operation *op) {
  const Family family(op);
  return family.layers < 2 ? ""
                           : " of several=" + std::to_string(family.accBits);
}

Offer joinTurns(llvm::ArrayRef<Region> regions,
                llvm::ArrayRef<const Offer *> offers,
                const DeviceContext &device) {
  const auto layers = int64_t(regions.size());
  const Actor &alone = offers[0]->shared->actors[0];
  Offer all;
  all.generator = "stream";
  all.key = offers[0]->key;
  all.summary = offers[0]->summary;
  Body::Unit shared;
  std::vector<Body::Unit> narrow;
  bool isChain = true;
  for (int l = 0; l < int(layers); ++l) {
    Operation *op = regions[l].front();
    const Reduction p = reductionOf(op);
    const Turn turn = turnOf(p, alone);
    if (l == 0)
      shared.actor = turn.unit(layers);
    else
      isChain &= isNext(regions[l - 1].front(), op);
    isChain &= p.w.padTop < p.w.spanH() && p.w.padLeft < p.w.spanW();
    all.inputs.push_back(turn.in());
    all.outputs.push_back(turn.out());
    all.busyCycles += offers[l]->busyCycles;
    all.body.units.push_back(
        {turn.window(), {{-1, l}}, {turn.read()}, {p.inputType}});
    shared.inputs.push_back({l, 0});
    shared.outputs.push_back(turn.result());
    shared.elements.push_back(RankedTensorType::get(
        cast<RankedTensorType>(p.outputType).getShape(),
        num::IntType::getFull(op->getContext(), true, unsigned(turn.accBits))));
    if (!turn.narrows()) {
      shared.elements.back() = p.outputType;
      all.body.outputs.push_back({int(layers), l});
      continue;
    }
    all.body.outputs.push_back({int(layers + narrow.size()) + 1, 0});
    narrow.push_back({turn.narrow(device),
                      {{int(layers), l}},
                      {turn.out()},
                      {p.outputType}});
  }
  // Where a layer takes what the one before gives, its results take the places
  // that the other's leave. Otherwise all may have to wait.
  if (!isChain) {
    const Reduction p = reductionOf(regions[0].front());
    const Turn turn = turnOf(p, alone);
    shared.actor.set("Places", turn.places(layers * turn.results()));
  }
  all.body.units.push_back(std::move(shared));
  for (Body::Unit &unit : narrow)
    all.body.units.push_back(std::move(unit));
  finishOffer(all, device);
  return all;
}

void buildTurns(const Region &region, Offer &offer, MemoryImages &images) {
  Actor &unit = *sharedUnit(offer.body);
  const int64_t layers = unit.get("Layers");
  struct File {
    const char *param, *suffix;
    MemoryImage image;
  };
  std::vector<File> files;
  for (int64_t l = 0; l < layers; ++l) {
    // As a matvec of its own has them.
    const Reduction p = reductionOf(region.ops()[l]);
    const Turn turn = turnOf(p, unit);
    Offer own;
    own.body.chain(turn.window(), turn.read());
    own.body.chain(turn.products(), turn.out());
    MemoryImages ownImages;
    buildCompute(region.ops()[l], own, ownImages);
    for (auto [f, file] : llvm::enumerate(own.body.back().files)) {
      const MemoryImage &image = ownImages.at(file.second);
      if (l == 0)
        files.push_back(
            {file.first == "BiasFile" ? "BiasFile" : "WeightFile",
             file.first == "BiasFile" ? "_bias.hex" : "_weights.hex",
             MemoryImage(image.width, layers * image.depth)});
      for (int64_t word = 0; word < image.depth; ++word)
        for (int64_t at = 0; at < image.width; at += 64)
          files[f].image.set(l * image.depth + word, at,
                             std::min<int64_t>(64, image.width - at),
                             int64_t(image.get(word, at, 64)));
    }
  }
  for (Body::Unit &narrow : offer.body.units)
    if (narrow.actor.is<unit::Circuit>()) {
      const Reduction p = reductionOf(region.ops()[narrow.inputs[0].port]);
      narrow.actor.datapath =
          std::make_shared<const Circuit>(turnOf(p, unit).narrowing());
    }
  for (File &file : files) {
    const std::string name = unit.name + file.suffix;
    images[name] = std::move(file.image);
    unit.files.push_back({file.param, name});
  }
}
} // namespace rhizome::gen::stream
