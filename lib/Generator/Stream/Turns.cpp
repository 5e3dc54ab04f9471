// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that take turns on one unit: which layers may, of one shape or of any,
// what each of them adds to the unit, and the body of those that share it. Each
// has its own window, and where its results have fewer bits than the unit's, a
// circuit that drops the others.
#include "Models.h"
#include "Reduction.h"
#include "rhizome/Units/Circuit.h"
#include "rhizome/Units/Shared.h"
#include <numeric>
#include <tuple>

using namespace mlir;

namespace rhizome::gen::stream {
namespace {
/// The most results of a layer's frame: so many places the store has, and the
/// event simulator as many phases.
constexpr int64_t kMostResults = 4096;

/// The most products of a cycle. A wider unit saves little beside what it has
/// to have for its rate, and each offer takes time to explore.
constexpr int64_t kMostProducts = 16, kMostResultsAtOnce = 4;

/// The most layers of different shapes: those of MobileNet-V2 tripled the time
/// to explore it, and no better plan took a unit.
constexpr size_t kMostMixed = 16;

/// What all layers on a unit have in common, and their sizes.
std::array<int64_t, 4> typesOf(const Reduction &p) {
  return {p.x.width, p.x.isSigned, p.weightBits, p.bias};
}
std::array<int64_t, 4> shapeOf(const Reduction &p) {
  return {p.taps(), p.w.channels, p.outChannels, p.positions()};
}
template <size_t N> std::string textOf(const std::array<int64_t, N> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += ' ' + std::to_string(number);
  return text;
}

/// A layer that may share a unit.
std::optional<Reduction> sharerOf(Operation *op) {
  if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
    return std::nullopt;
  auto out = cast<RankedTensorType>(op->getResult(0).getType());
  // Quickly, for the largest of them.
  if (out.getNumElements() > kMostResults * kMostResultsAtOnce ||
      !num::elementInt(op->getOperand(0).getType()) ||
      !num::elementInt(op->getOperand(1).getType()) || !num::elementInt(out))
    return std::nullopt;
  Reduction p = reductionOf(op);
  if (p.kind != Kind::MatVec || p.groups != 1)
    return std::nullopt;
  return p;
}

/// Layers of a network that may share a unit: of one shape, or of any.
struct Family {
  std::vector<Reduction> layers;
  std::vector<Operation *> ops;
  bool isMixed = false;
  int64_t accBits = 0; ///< of the widest result
  /// Common divisors of the channels.
  int64_t inChannels = 0, outChannels = 0;

  void add(Operation *op, const Reduction &p) {
    layers.push_back(p);
    ops.push_back(op);
    accBits = std::max(accBits, p.accBits);
    inChannels = std::gcd(inChannels, p.w.channels);
    outChannels = std::gcd(outChannels, p.outChannels);
  }
  /// What the offers for an operation depend on besides its own sizes.
  std::string text() const {
    int64_t folds = 0, results = 0;
    for (const Reduction &p : layers) {
      folds = std::max(folds, p.taps() * p.w.channels);
      results = std::max(results, p.positions() * p.outChannels);
    }
    return std::string(isMixed ? " mixed" : " alike") +
           textOf(std::array{accBits, inChannels, outChannels, folds, results,
                             int64_t(isOnce())}) +
           textOf(shapeOf(largest()));
  }
  /// Whether each weight is used once a frame.
  bool isOnce() const {
    return llvm::all_of(layers,
                        [](const Reduction &p) { return p.positions() == 1; });
  }
  /// The layer with most words of weights, whatever the folding.
  const Reduction &largest() const {
    auto weights = [](const Reduction &p) {
      return std::tuple(p.taps() * p.w.channels * p.outChannels, p.positions(),
                        p.outChannels);
    };
    return *llvm::max_element(layers,
                              [&](const Reduction &a, const Reduction &b) {
                                return weights(a) < weights(b);
                              });
  }
};

/// The families to which an operation belongs: the layers of its shape, and
/// those of all shapes if they are more.
std::vector<Family> familiesOf(Operation *op) {
  std::optional<Reduction> own = sharerOf(op);
  if (!own)
    return {};
  Family alike, mixed;
  mixed.isMixed = true;
  for (Operation &other : *op->getBlock()) {
    std::optional<Reduction> p = sharerOf(&other);
    if (!p || typesOf(*p) != typesOf(*own))
      continue;
    mixed.add(&other, *p);
    if (shapeOf(*p) == shapeOf(*own))
      alike.add(&other, *p);
  }
  std::vector<Family> families;
  if (mixed.layers.size() > alike.layers.size() &&
      mixed.layers.size() <= kMostMixed)
    families.push_back(mixed);
  if (alike.layers.size() > 1)
    families.push_back(alike);
  return families;
}

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

/// Where the weights of a unit are.
enum class Home : uint8_t { Rom, Ultra, Block, Streamed };
constexpr const char *kHomes[] = {"rom", "ultra", "block", "streamed"};

/// How a layer is folded on the unit.
struct Turn {
  Reduction p;
  int64_t accBits; ///< of the unit
  int64_t pe, lanes, style;
  Home home = Home::Rom;

  int64_t folds() const { return p.taps() * p.w.channels / lanes; }
  int64_t outFolds() const { return p.outChannels / pe; }
  int64_t results() const { return outFolds() * p.positions(); }
  int64_t words() const { return folds() * outFolds(); }
  int64_t firings() const { return folds() * results(); }
  int64_t wordBits() const { return pe * lanes * p.weightBits; }

  Actor window() const {
    WindowReading reading;
    reading.lanes = lanes;
    reading.repeat = outFolds();
    return makeWindow(p.w, p.x.width, p.padValue, reading);
  }
  /// The products alone, for one layer.
  Actor products() const {
    Actor actor = computing(unit::Matvec::kKind, "layer");
    actor.params = {{"Pixels", 1},
                    {"Folds", folds()},
                    {"OutFolds", outFolds()},
                    {"frameBeats", results()}};
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
    f.count = lanes * firings();
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

/// The weights of layers that are read from a memory: of one shape, those of a
/// layer are replayed for each of its vectors; otherwise, all go through a
/// small memory, vector by vector.
struct TurnWeights {
  const Memory &memory;
  int64_t port, block, times, blocks;
  WeightBeats beats;

  TurnWeights(llvm::ArrayRef<Turn> turns, const DeviceContext &device)
      : memory(device.memories[0]), port(memory.portBitsAt(device.clockMhz)),
        block(blockOf(turns)), times(turns[0].p.positions()),
        blocks(wordsOf(turns) / block),
        beats(port, turns[0].wordBits(), block) {}

  static int64_t wordsOf(llvm::ArrayRef<Turn> turns) {
    int64_t words = 0;
    for (const Turn &turn : turns)
      words += turn.words();
    return words;
  }
  /// Where each word is used once, a block is as long as a block of memory has
  /// places, if that divides them.
  static int64_t blockOf(llvm::ArrayRef<Turn> turns) {
    constexpr int64_t kPlaces = 512;
    if (turns[0].p.positions() > 1)
      return turns[0].words();
    const int64_t words = wordsOf(turns);
    for (int64_t block = std::min(words, kPlaces);; --block)
      if (words % block == 0)
        return block;
  }
  int64_t segment() const { return blocks * beats.perResult(); }
  double bytes() const { return double(segment() * port / 8); }
  Actor reader(const DeviceContext &device) const {
    return weightReader(memory, device.clockMhz, segment(), 1);
  }
  Actor replay() const {
    return Actor(unit::Replay::kKind, "replay",
                 {{"Width", beats.bits},
                  {"Words", block},
                  {"Times", times},
                  {"Beat", port},
                  {"PerBeat", beats.words},
                  {"frameBeats", blocks * block * times}});
  }
};

/// The unit for these layers, with as many places for results.
Actor unitOf(llvm::ArrayRef<Turn> turns, int64_t places) {
  const Turn &one = turns[0];
  Actor actor =
      one.computing(one.home == Home::Rom        ? unit::MatvecTurns::kKind
                    : one.home == Home::Streamed ? unit::TurnsStreamed::kKind
                                                 : unit::TurnsResident::kKind,
                    "turns");
  int64_t biases = 0, firings = 0;
  llvm::SmallVector<int64_t, 3> most = {1, 1, 1};
  std::vector<llvm::SmallVector<int64_t, 3>> rows;
  for (const Turn &turn : turns) {
    rows.push_back({turn.folds(), turn.outFolds(), turn.p.positions()});
    for (size_t k = 0; k < most.size(); ++k)
      most[k] = std::max(most[k], rows.back()[k]);
    biases += turn.outFolds();
    firings += turn.firings();
  }
  actor.params = {{"Layers", int64_t(turns.size())},
                  {"Folds", most[0]},
                  {"OutFolds", most[1]},
                  {"Vectors", most[2]},
                  {"Words", TurnWeights::wordsOf(turns)},
                  {"Biases", biases},
                  {"Places", places}};
  if (!llvm::all_equal(rows))
    actor.setRows(rows);
  if (one.home == Home::Streamed)
    actor.set("firings", firings);
  else if (one.home != Home::Rom)
    actor.params = {{"Ultra", one.home == Home::Ultra}, {"Load", kLoadBits}};
  return actor;
}

/// The places that the store needs so that no turn of `after` waits for one
/// that only its own results could free: for each of its results, those of
/// `before` that have not left when it comes. None if some of them need not
/// leave before its last one.
std::optional<int64_t> placesBetween(const Turn &before, const Turn &after) {
  const osa::Window &w = after.p.w;
  const int64_t pixels = w.height * w.width, results = before.results();
  int64_t most = 0, left = 0;
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t x = 0; x < w.outWidth; ++x) {
      auto last = [](int64_t at, int64_t stride, int64_t pad, int64_t kernel,
                     int64_t dilation, int64_t size) {
        return std::clamp<int64_t>(at * stride - pad + (kernel - 1) * dilation,
                                   0, size - 1);
      };
      const int64_t row =
          last(y, w.strideH, w.padTop, w.kernelH, w.dilationH, w.height);
      const int64_t column =
          last(x, w.strideW, w.padLeft, w.kernelW, w.dilationW, w.width);
      left = std::max(left, (row * w.width + column + 1) * results / pixels);
      most = std::max(most, results - left +
                                (y * w.outWidth + x + 1) * after.outFolds());
    }
  return left == results ? std::optional(most) : std::nullopt;
}

/// The places of the store of these layers.
int64_t placesOf(llvm::ArrayRef<Turn> turns, llvm::ArrayRef<Operation *> ops) {
  int64_t most = 0, all = 0;
  bool isChain = true;
  for (auto [l, turn] : llvm::enumerate(turns)) {
    most = std::max(most, turn.results());
    all += turn.results();
    const osa::Window &w = turn.p.w;
    isChain &= w.padTop < w.spanH() && w.padLeft < w.spanW();
    if (l == 0 || !isChain)
      continue;
    std::optional<int64_t> between;
    if (isNext(ops[l - 1], ops[l]))
      between = placesBetween(turns[l - 1], turn);
    isChain = between.has_value();
    most = std::max(most, between.value_or(0));
  }
  // Where a layer takes what the one before gives, its results take the places
  // that the other's leave. Otherwise all may have to wait.
  return turns[0].places(isChain ? most : all);
}

/// All layers of a family, folded like one of them.
std::vector<Turn> turnsOfAll(const Family &family, Turn like) {
  std::vector<Turn> turns;
  for (const Reduction &p : family.layers) {
    like.p = p;
    turns.push_back(like);
  }
  return turns;
}

/// The foldings that are offered: as many or twice as many lanes as results,
/// without rest for any layer of the family.
std::vector<Turn> turnsOf(const Reduction &p, const Family &family,
                          const DeviceContext &device) {
  constexpr int64_t kMostSize = 65535; // in a table of sizes
  std::vector<Turn> all;
  auto fits = [&](const Turn &turn) {
    return turn.results() <= kMostResults && turn.folds() <= kMostSize;
  };
  const bool pairs =
      p.x.width <= device.pairBits && p.weightBits <= device.pairBits;
  const bool isOnce = family.isOnce();
  auto addHomes = [&](Turn turn) {
    all.push_back(turn);
    if (!device.mayLoad())
      return;
    for (Home home : {Home::Ultra, Home::Block}) {
      const Residents as =
          home == Home::Ultra ? Residents::Ultra : Residents::All;
      if (device.residents < as || (home == Home::Ultra && !device.hasUltra()))
        continue;
      turn.home = home;
      all.push_back(turn);
    }
    if (device.streaming == Streaming::None ||
        (device.streaming == Streaming::Once && !isOnce) ||
        (family.isMixed && !isOnce))
      return;
    turn.home = Home::Streamed;
    all.push_back(turn);
  };
  for (int64_t pe = 1; pe <= family.outChannels; ++pe) {
    if (family.outChannels % pe)
      continue;
    for (int64_t lanes : {pe, 2 * pe}) {
      Turn turn{p, family.accBits, pe, lanes, 0};
      if (family.inChannels % lanes || pe * lanes > kMostProducts ||
          !llvm::all_of(family.layers, [&](const Reduction &q) {
            return fits({q, family.accBits, pe, lanes, 0});
          }))
        continue;
      addHomes(turn);
      if (!device.hasDsp || p.x.width == 1 || p.weightBits == 1)
        continue;
      turn.style = pairs && pe > 1 ? pairedStyle(device.cost) : 1;
      addHomes(turn);
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

void nameOffer(Offer &offer, const Turn &turn, bool isMixed,
               const DeviceContext &device) {
  offer.generator = "stream";
  offer.key =
      OptionKey("stream", "turns").add("pe", turn.pe).add("simd", turn.lanes);
  if (isMixed)
    offer.key.add("sizes", "any");
  offer.key.add("style", kStyles[size_t(multiplierOf(turn.style))]);
  offer.summary = "PE " + std::to_string(turn.pe) + " × SIMD " +
                  std::to_string(turn.lanes) +
                  kStyleWords[size_t(multiplierOf(turn.style))] + ", in turn";
  if (turn.home == Home::Rom)
    return;
  offer.key.add("weights", kHomes[size_t(turn.home)]);
  if (turn.home == Home::Streamed) {
    offer.weights = WeightHome::Streamed;
    offer.summary += ", weights from '" + device.memories[0].name + "'";
  } else {
    offer.weights = WeightHome::Resident;
    offer.summary +=
        turn.home == Home::Ultra ? ", weights in UltraRAM" : ", weights loaded";
  }
}

/// An offer for one layer: its window, and what it adds to the unit.
Offer offerOf(const Turn &turn, const Family &family,
              const DeviceContext &device) {
  const Reduction &p = turn.p;
  Offer offer;
  nameOffer(offer, turn, family.isMixed, device);
  offer.inputs = {turn.in()};
  offer.outputs = {turn.out()};
  offer.body.chain(turn.window(), turn.read());
  if (turn.narrows())
    offer.body.chain(turn.narrow(device), turn.out());
  finishOffer(offer, device);
  // The unit for its largest layer less what another one adds is the unit
  // without any: it has the words of one result.
  Turn largest = turn, word = turn;
  int64_t results = 0;
  for (const Reduction &q : family.layers)
    results = std::max(results, q.positions() * (q.outChannels / turn.pe));
  largest.p = family.isMixed ? family.largest() : p;
  word.p = largest.p;
  word.p.outChannels = turn.pe;
  word.p.w.outHeight = word.p.w.outWidth = 1;
  const int64_t places = turn.places(results);
  Actor one = unitOf(largest, places), none = unitOf(word, places), two;
  const Resources ofOne = finished(one, device),
                  ofNone = finished(none, device);
  auto addedBy = [&](const Turn &layer) {
    two = unitOf({largest, layer}, places);
    Resources added = excess(finished(two, device), ofOne);
    // The largest one is no second one.
    const Resources first = excess(ofOne, ofNone);
    if (shapeOf(layer.p) == shapeOf(largest.p))
      for (size_t k = 0; k < added.amount.size(); ++k)
        added.amount[k] = std::max(added.amount[k], first.amount[k]);
    return added;
  };
  Resources missing;
  if (family.isMixed) {
    // What all together take in addition, such as their store: a part for each.
    const std::vector<Turn> turns = turnsOfAll(family, turn);
    Actor all = unitOf(turns, placesOf(turns, family.ops));
    Resources parts = ofNone;
    for (const Turn &layer : turns)
      parts += addedBy(layer);
    missing = excess(finished(all, device), parts);
    for (double &amount : missing.amount)
      amount /= double(turns.size());
  }
  Resources added = addedBy(turn);
  added += missing;
  offer.resources += added;
  const Resources error = errorOf(two, added, device.cost);
  offer.lutVariance += error.lut() * error.lut();
  offer.ffVariance += error.ff() * error.ff();
  // Until the last result of a turn has come to the next layer's window, that
  // layer cannot begin.
  Actor products = turn.products();
  products.set("Depth", one.get("Places"));
  int64_t cycles = turn.firings();
  offer.shared = {offer.key.text() + textOf(typesOf(p)) +
                      (family.isMixed ? " of any" : textOf(shapeOf(p))) + '=' +
                      std::to_string(turn.accBits),
                  {}};
  if (turn.home == Home::Streamed) {
    const TurnWeights weights(turn, device);
    offer.traffic = {{weights.memory.name, weights.bytes(), 0}};
    cycles =
        std::max(cycles, int64_t(weights.bytes() /
                                 weights.memory.bankBytesPerS(device.clockMhz) *
                                 device.clockMhz * 1e6));
    const TurnWeights ofLargest(largest, device);
    offer.shared->actors = {ofLargest.reader(device), ofLargest.replay()};
    for (Actor &actor : offer.shared->actors)
      finished(actor, device);
  }
  offer.shared->actors.push_back(std::move(none));
  offer.busyCycles = cycles + latencyOf(products) + latencyOf(one) +
                     latencyOf(offer.body.front());
  return offer;
}

/// The home of a unit's weights.
Home homeOf(const Actor &unit) {
  return unit.is<unit::TurnsStreamed>() ? Home::Streamed
         : !unit.kind().loadedPort()    ? Home::Rom
         : unit.get("Ultra")            ? Home::Ultra
                                        : Home::Block;
}

/// The turn of a unit's layer.
Turn turnOf(const Reduction &p, const Actor &unit) {
  return {p,
          unit.get("AccWidth"),
          unit.get("Pe"),
          unit.get("Simd"),
          unit.get("Style"),
          homeOf(unit)};
}

bool takesTurns(const Actor &actor) { return actor.model().takesTurns(actor); }
} // namespace

Actor *sharedUnit(Body &body) {
  auto it = llvm::find_if(body.units, [](const Body::Unit &unit) {
    return takesTurns(unit.actor);
  });
  return it == body.units.end() ? nullptr : &it->actor;
}

std::vector<Offer> turnsOffers(Operation *op, const DeviceContext &device) {
  std::vector<Offer> offers;
  for (const Family &family : familiesOf(op))
    for (const Turn &turn : turnsOf(reductionOf(op), family, device)) {
      // iCE40's cost model of products in DSPs knows no memories in LUTs.
      if (turn.style != 0 && turn.home == Home::Rom &&
          device.cost.lutramBits == 0) {
        Actor unit = unitOf({turn, turn}, turn.places(turn.results()));
        placeRoms(unit, device.cost);
        if (!unit.get("Block"))
          continue;
      }
      offers.push_back(offerOf(turn, family, device));
    }
  return offers;
}

std::string turnsDependence(Operation *op) {
  std::string text;
  for (const Family &family : familiesOf(op)) {
    text += family.text();
    if (!family.isMixed)
      continue;
    const std::vector<Turn> turns =
        turnsOfAll(family, {family.layers[0], family.accBits, 1, 1, 0});
    for (const Turn &turn : turns)
      text += textOf(shapeOf(turn.p));
    text += ' ' + std::to_string(placesOf(turns, family.ops));
  }
  return text;
}

Offer joinTurns(llvm::ArrayRef<Region> regions,
                llvm::ArrayRef<const Offer *> offers,
                const DeviceContext &device) {
  const auto layers = int(regions.size());
  const Actor &alone = offers[0]->shared->actors.back();
  MLIRContext *context = regions[0].front()->getContext();
  Offer all;
  all.generator = "stream";
  all.key = offers[0]->key;
  all.summary = offers[0]->summary;
  all.weights = offers[0]->weights;
  std::vector<Turn> turns;
  std::vector<Operation *> ops;
  for (const Region &region : regions) {
    ops.push_back(region.front());
    turns.push_back(turnOf(reductionOf(region.front()), alone));
  }
  // After the windows: the reader of weights and what replays them.
  const bool isStreamed = turns[0].home == Home::Streamed;
  const int at = layers + (isStreamed ? 2 : 0);
  Body::Unit shared;
  shared.actor = unitOf(turns, placesOf(turns, ops));
  std::vector<Body::Unit> narrow;
  for (auto [l, turn] : llvm::enumerate(turns)) {
    const Reduction &p = turn.p;
    all.inputs.push_back(turn.in());
    all.outputs.push_back(turn.out());
    all.busyCycles += offers[l]->busyCycles;
    all.body.units.push_back(
        {turn.window(), {{-1, int(l)}}, {turn.read()}, {p.inputType}});
    shared.inputs.push_back({int(l), 0});
    shared.outputs.push_back(turn.result());
    shared.elements.push_back(RankedTensorType::get(
        cast<RankedTensorType>(p.outputType).getShape(),
        num::IntType::getFull(context, true, unsigned(turn.accBits))));
    if (!turn.narrows()) {
      shared.elements.back() = p.outputType;
      all.body.outputs.push_back({at, int(l)});
      continue;
    }
    all.body.outputs.push_back({at + int(narrow.size()) + 1, 0});
    narrow.push_back(
        {turn.narrow(device), {{at, int(l)}}, {turn.out()}, {p.outputType}});
  }
  if (isStreamed) {
    const TurnWeights weights(turns, device);
    all.traffic = {{weights.memory.name, weights.bytes(), 0}};
    all.body.units.push_back(readerUnit(weights.reader(device), weights.port,
                                        weights.segment(), context));
    all.body.units.push_back(wordsUnit(weights.replay(), {layers, 0}, context));
    shared.inputs.push_back({layers + 1, 0});
  }
  all.body.units.push_back(std::move(shared));
  for (Body::Unit &unit : narrow)
    all.body.units.push_back(std::move(unit));
  finishOffer(all, device);
  return all;
}

void buildTurns(const Region &region, Offer &offer, MemoryImages &images) {
  Actor &unit = *sharedUnit(offer.body);
  const int64_t layers = unit.get("Layers"), words = unit.get("Words");
  std::vector<Turn> turns;
  for (int64_t l = 0; l < layers; ++l)
    turns.push_back(turnOf(reductionOf(region.ops()[l]), unit));
  MemoryImage weights(turns[0].wordBits(), words);
  MemoryImage biases(unit.get("Pe") * unit.get("AccWidth"), unit.get("Biases"));
  int64_t word = 0, bias = 0; // of the layer
  auto copy = [](const MemoryImage &from, MemoryImage &to, int64_t at) {
    for (int64_t w = 0; w < from.depth; ++w)
      for (int64_t low = 0; low < from.width; low += 64)
        to.set(at + w, low, std::min<int64_t>(64, from.width - low),
               int64_t(from.get(w, low, 64)));
  };
  for (auto [l, turn] : llvm::enumerate(turns)) {
    // As a matvec of its own has them.
    Offer own;
    own.body.chain(turn.window(), turn.read());
    own.body.chain(turn.products(), turn.out());
    MemoryImages ownImages;
    buildCompute(region.ops()[l], own, ownImages);
    for (const auto &[param, name] : own.body.back().files) {
      const bool isBias = param == "BiasFile";
      copy(ownImages.at(name), isBias ? biases : weights, isBias ? bias : word);
    }
    word += turn.words();
    bias += turn.outFolds();
  }
  for (Body::Unit &narrow : offer.body.units)
    if (narrow.actor.is<unit::Circuit>())
      narrow.actor.datapath = std::make_shared<const Circuit>(
          turns[size_t(narrow.inputs[0].port)].narrowing());
  auto addFile = [&](const char *param, const char *suffix, MemoryImage image) {
    const std::string name = unit.name + suffix;
    images[name] = std::move(image);
    unit.files.push_back({param, name});
  };
  if (unit.get("Bias"))
    addFile("BiasFile", "_bias.hex", std::move(biases));
  if (unit.is<unit::MatvecTurns>())
    return addFile("WeightFile", "_weights.hex", std::move(weights));
  if (unit.kind().loadedPort()) {
    images[loadImage(unit.name)] = std::move(weights);
    return;
  }
  // In beats, as what replays them takes them.
  const Actor &replay =
      llvm::find_if(offer.body.units, [](const Body::Unit &other) {
        return other.actor.is<unit::Replay>();
      })->actor;
  const int64_t block = replay.get("Words");
  const WeightBeats beats(replay.get("Beat"), weights.width, block);
  MemoryImage segment(replay.get("Beat"), words / block * beats.perResult());
  for (int64_t w = 0; w < words; ++w)
    for (int64_t low = 0; low < weights.width; low += 32)
      setBits(segment, beats.of(w / block, w % block), low,
              std::min<int64_t>(32, weights.width - low),
              int64_t(weights.get(w, low, 32)));
  setSegment(offer.body, std::move(segment), images);
}
} // namespace rhizome::gen::stream
