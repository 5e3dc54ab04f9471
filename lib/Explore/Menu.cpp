// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From operations to numbers. Of a generator's offers, those are kept that
// are the cheapest for some interval under one of the fixed prices; elementwise
// units are requested in the formats of their inputs.
#include "Menu.h"
#include "Constants.h"
#include "Pinned.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Explore/Solver/Runs.h"
#include "rhizome/Generator/Delay.h"
#include "rhizome/Generator/Trips.h"
#include "rhizome/Units/Shared.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Parallel.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
bool isHardware(Operation &op) {
  return !isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op);
}

std::vector<Operation *> hardwareOf(func::FuncOp network) {
  std::vector<Operation *> ops;
  for (Operation &op : network.getBody().front())
    if (isHardware(op))
      ops.push_back(&op);
  return ops;
}

std::vector<OperationId> idsOf(ArrayRef<Operation *> ops) {
  std::map<std::pair<std::string, std::string>, int> seen;
  std::vector<OperationId> ids;
  for (Operation *op : ops) {
    OperationId id{osa::nodeName(op), op->getName().stripDialect().str()};
    id.nth = seen[{id.node, id.op}]++;
    ids.push_back(std::move(id));
  }
  return ids;
}

static Resources vectorOf(const Budget &budget) {
  Resources r;
  for (size_t k = 0; k < kResourceNames.size(); ++k)
    r.amount[k] = available(budget, k);
  return r;
}

Cost Menu::costOf(int kind, const Actor &actor) const {
  const CostContext &context = devices[kind]->cost;
  Cost cost;
  cost.resources = gen::costOf(actor, context);
  Resources error = gen::errorOf(actor, cost.resources, context);
  cost.lutVariance = error.lut() * error.lut();
  cost.ffVariance = error.ff() * error.ff();
  return cost;
}

Resources Menu::withTraffic(int kind, const Offer &offer) const {
  Resources all = offer.resources;
  for (const Traffic &traffic : offer.traffic)
    for (auto [m, memory] : llvm::enumerate(devices[kind]->memories))
      if (memory.name == traffic.memory)
        all.amount[memoryKind(m)] += traffic.readBytes + traffic.writeBytes;
  return all;
}

Cost Menu::costOf(int kind, const Offer &offer) const {
  return {withTraffic(kind, offer), offer.lutVariance, offer.ffVariance};
}

int Menu::unitOf(int kind, const Offer &offer) {
  if (!offer.shared)
    return -1;
  auto [it, isNew] =
      sharedUnits.try_emplace({kind, offer.generator + "/" + offer.shared->key},
                              int(posed.kinds[kind].units.size()));
  if (isNew) {
    Cost cost;
    for (const Actor &actor : offer.shared->actors)
      cost += costOf(kind, actor);
    posed.kinds[kind].units.push_back(cost);
  }
  return it->second;
}

int Menu::numberOf(const BeatFormat &format) {
  BeatFormat f = format.canonical();
  auto [it, isNew] = formatNumbers.try_emplace(
      {f.isSigned, f.width, f.lanes, f.row, f.count}, int(formats.size()));
  if (isNew)
    formats.push_back(f);
  return it->second;
}

Menu::Menu(func::FuncOp network, std::vector<Operation *> order,
           const Cluster &cluster, const Steering &steering, OfferCache &cache)
    : order(std::move(order)), ids(idsOf(this->order)), cluster(cluster) {
  posed.glue = this;
  posed.hostWire = cluster.hostWire;
  posed.isChain = cluster.isChain;
  posed.mayReplicate = cluster.mayReplicate;
  addTensors(network);
  addPlaces();
  addChoices(steering, cache);
  addLoops(network);
  checkPins(steering);
  for (int s = 0; s < int(this->order.size()); ++s) {
    const Steering::Pin *pin = pinFor(steering, ids, s);
    if (!pin)
      continue;
    Stage &stage = posed.stages[s];
    stage.place = pin->place;
    stage.die = pin->die;
    stage.copies = pin->copies;
    stage.streamBits = pin->streamBits;
    // Several operations of one model node stay together after a cut.
    bool isFirst = s == 0 || posed.stages[s - 1].name != stage.name;
    stage.mustCut = pin->cutBefore && isFirst && s > 0;
  }
  std::vector<int> asIs(this->order.size());
  std::iota(asIs.begin(), asIs.end(), 0);
  posed = reorder(posed, asIs);
}

/// The home of a stage's weights: a setting for its node takes precedence
/// over a setting for all.
static const Steering::Home *homeOf(const Steering &steering,
                                    const OperationId &id) {
  const Steering::Home *asked = nullptr;
  for (const Steering::Home &home : steering.homes)
    if (home.node == id.node || (home.node.empty() && !asked))
      asked = &home;
  return asked;
}

/// What a user could write instead: for an option named by its summary, its
/// key, otherwise the keys of options that have most in common with the
/// request.
static std::string keysLike(const Steering::Pin &pin,
                            ArrayRef<Offer *> offered) {
  constexpr size_t kMost = 5;
  std::set<std::string> same;
  std::set<std::pair<int, std::string>> others; // the most similar first
  auto wanted = OptionKey::parse(pin.option);
  for (const Offer *o : offered) {
    StringRef rest = o->summary;
    if (rest.consume_front(pin.option) &&
        (rest.empty() || rest.starts_with(", ")))
      same.insert(o->key.text());
    others.insert({wanted ? -wanted->common(o->key) : 0, o->key.text()});
  }
  std::vector<std::string> shown(same.begin(), same.end());
  for (const auto &[rank, key] : others)
    if (same.empty())
      shown.push_back(key);
  size_t all = shown.size();
  shown.resize(std::min(all, kMost));
  return (same.empty() ? "options are named by their keys, which 'rhizome "
                         "explore --full' shows; offered are "
                       : "options are named by their keys; here ") +
         llvm::join(shown, ", ") +
         (all > kMost ? " and " + std::to_string(all - kMost) + " more" : "");
}

/// Whether only a device with an off-chip memory is offered a pinned option.
bool Menu::lacksMemory(const Steering::Pin &pin, ArrayRef<int> stages) const {
  auto mayLoad = [](const auto &device) { return device->mayLoad(); };
  return llvm::none_of(devices, mayLoad) && llvm::any_of(stages, [&](int s) {
           return needsMemory(pin, order[s], *devices[0]);
         });
}

static size_t mostDies(const Cluster &cluster) {
  size_t most = 1;
  for (const ClusterPlace &place : cluster.places)
    most = std::max(most, place.dies.count());
  return most;
}

void Menu::checkPins(const Steering &steering) {
  for (const Steering::Pin &pin : steering.pins) {
    std::vector<int> stages;
    std::set<std::string> generators;
    std::vector<Offer *> offered;
    for (int s = 0; s < int(order.size()); ++s)
      if (pins(pin, ids, s))
        stages.push_back(s);
    for (int s : stages)
      for (size_t k = 0; k < offers.size(); ++k)
        for (Offer *o :
             unmatched[k][s].empty() ? offers[k][s] : unmatched[k][s]) {
          generators.insert(o->generator);
          if (pin.generator.empty() || o->generator == pin.generator)
            offered.push_back(o);
        }
    auto refuse = [&](std::string reason, std::string remedy) {
      unmet.push_back({pin.of.node, "", std::move(reason), std::move(remedy),
                       Refusal::Fault::Model, unsigned(pin.line)});
    };
    if (stages.empty())
      refuse("the network has no such node",
             "'rhizome explore --full' lists the nodes");
    else if (!pin.generator.empty() && !generators.count(pin.generator))
      refuse("the generator '" + pin.generator + "' offers nothing for it",
             "these do: " + llvm::join(generators, ", "));
    else if (llvm::none_of(offered,
                           [&](const Offer *o) { return isAsked(pin, *o); }))
      refuse("no generator offers the option '" + pin.option + "'",
             lacksMemory(pin, stages) ? remedyFor(WeightHome::Streamed)
                                      : keysLike(pin, offered));
    else if (const size_t dies = mostDies(cluster); pin.die >= int(dies))
      refuse("there is no die " + std::to_string(pin.die),
             dies > 1 ? "dies are 0 to " + std::to_string(dies - 1)
                      : "the device has one, and 'die' can be left out");
    else if (pin.place >= int(cluster.places.size()))
      refuse("there is no place " + std::to_string(pin.place),
             "places are 0 to " + std::to_string(cluster.places.size() - 1));
  }
  for (const Steering::Home &home : steering.homes) {
    auto isMeant = [&](int s) {
      return home.node.empty() || ids[s].node == home.node;
    };
    auto isMet = [&](int s) {
      return llvm::any_of(offers, [&](const auto &ofKind) {
        return llvm::any_of(
            ofKind[s], [&](const Offer *o) { return o->weights == home.home; });
      });
    };
    auto stages = llvm::seq(0, int(order.size()));
    bool isMetSomewhere =
        llvm::any_of(stages, [&](int s) { return isMeant(s) && isMet(s); });
    if (llvm::none_of(stages, isMeant))
      unmet.push_back({home.node, "", "the network has no such node",
                       "'rhizome explore --full' lists the nodes"});
    else if (!isMetSomewhere)
      unmet.push_back({home.node, "", whyNot(home.home), remedyFor(home.home)});
    else if (home.node.empty() && home.home == WeightHome::Streamed)
      // Whoever wants no weights on the chip must know of each layer that
      // keeps them there.
      for (int s : stages)
        if (weightsOf(order[s]) && !isMet(s) &&
            homeOf(steering, ids[s]) == &home)
          unmet.push_back({ids[s].node, ids[s].op, whyNot(home.home),
                           "'--weights " + ids[s].node +
                               "=resident' loads them once, '--weights " +
                               ids[s].node +
                               "=rom' has them in the bitstream"});
  }
}

std::string Menu::whyNot(WeightHome home) {
  switch (home) {
  case WeightHome::Rom:
    return "no generator offers weights in the bitstream";
  case WeightHome::Resident:
    return "no generator offers weights that are loaded when the design starts";
  case WeightHome::Streamed:
    return "no generator offers weights that are read from a memory for every "
           "frame";
  }
  llvm_unreachable("all homes are covered");
}

std::string Menu::remedyFor(WeightHome home) const {
  if (llvm::none_of(devices, [](const auto &d) { return d->mayLoad(); }))
    return "a design reads them from a memory outside the chip, which a device "
           "must have: 'rhizome targets' lists them";
  return "convolutions and dense layers may have such weights";
}

void Menu::addTensors(func::FuncOp network) {
  DenseMap<Value, int> numbers;
  auto tensorOf = [&](Value v, int producer) {
    auto [it, isNew] = numbers.try_emplace(v, int(values.size()));
    if (isNew) {
      BeatFormat f = formatOf(v.getType(), 1, 1);
      Tensor tensor;
      tensor.producer = producer;
      tensor.bits = f.count * f.width;
      tensor.elementBits = unsigned(f.width);
      posed.tensors.push_back(tensor);
      values.push_back(v);
    }
    return it->second;
  };
  for (size_t s = 0; s < order.size(); ++s) {
    Operation *op = order[s];
    Stage stage;
    stage.name = osa::nodeName(op);
    for (Value v : op->getOperands()) {
      if (v.getDefiningOp<osa::ConstantOp>())
        continue;
      int t = tensorOf(rootOf(v), -1);
      stage.operands.push_back(t);
      std::vector<int> &readers = posed.tensors[t].readers;
      if (readers.empty() || readers.back() != int(s))
        readers.push_back(int(s));
    }
    stage.result = tensorOf(op->getResult(0), int(s));
    // An operation that narrows a tensor stays with its producer.
    stage.staysWith =
        isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp>(op);
    posed.stages.push_back(std::move(stage));
  }
  auto results = network.getBody().front().getTerminator()->getOperands();
  const unsigned ports = flow::portsOf(network, /*results=*/true);
  for (auto [i, v] : llvm::enumerate(results)) {
    Tensor &tensor = posed.tensors[tensorOf(rootOf(v), -1)];
    // What goes into a state has a unit there, and no beats on the border.
    if (i >= ports && !tensor.toHost)
      tensor.bits = 0;
    tensor.toHost = true;
  }
  for (const flow::Kept &one : flow::keptBy(network))
    posed.tensors[tensorOf(network.getArgument(one.argument), -1)].bits = 0;
}

void Menu::addPlaces() {
  std::vector<std::string> names;
  for (const ClusterPlace &place : cluster.places) {
    size_t kind = llvm::find(names, place.device) - names.begin();
    if (kind == names.size()) {
      names.push_back(place.device);
      devices.push_back(&place.context);
      Kind k;
      k.name = place.device;
      k.capacity = vectorOf(place.capacity);
      for (const Memory &memory : place.context.memories)
        k.memories.push_back(memory.name);
      assert(k.memories.size() <= kMemories && "checked when it was read");
      crossingRegisters.push_back(place.dies.registers);
      posed.kinds.push_back(std::move(k));
    }
    Place here;
    here.kind = int(kind);
    here.budget = vectorOf(place.context.budget);
    for (auto [m, memory] : llvm::enumerate(place.context.memories))
      here.bandwidth[m] = memory.sustainedBytesPerS(place.context.clockMhz);
    here.clockHz = place.context.clockMhz * 1e6;
    here.streamBits = place.streamBits;
    here.leastBits = place.leastBits;
    here.wire = place.wire;
    here.dies = place.dies;
    posed.places.push_back(here);
  }
}

/// Indices of offers that are the cheapest within some interval under one of
/// the prices, among those that have their own unit and among those on each
/// shared one; with `byFormat` for each input format.
std::vector<int> Menu::frontOf(int kind, const std::vector<Offer> &all,
                               bool byFormat) const {
  const DeviceContext &device = *devices[kind];
  std::vector<std::array<double, kPrices>> prices;
  std::vector<int> order;
  for (size_t i = 0; i < all.size(); ++i) {
    Resources capacity = posed.kinds[kind].capacity;
    double seconds = double(all[i].busyCycles) / (device.clockMhz * 1e6);
    for (auto [m, memory] : llvm::enumerate(device.memories))
      capacity.amount[memoryKind(m)] =
          memory.sustainedBytesPerS(device.clockMhz) * seconds;
    prices.push_back(pricesOf(withTraffic(kind, all[i]), capacity));
    order.push_back(int(i));
  }
  // Which of the memories for weights is scarce depends on the
  // whole plan.
  std::map<std::pair<StringRef, int>, int> numbers;
  std::vector<int> units;
  for (const Offer &offer : all) {
    int home = offer.weights == WeightHome::Rom        ? 0
               : offer.weights == WeightHome::Streamed ? 3
               : offer.resources.uram() > 0            ? 1
                                                       : 2;
    units.push_back(
        numbers
            .try_emplace(
                {offer.shared ? StringRef(offer.shared->key) : StringRef(),
                 home},
                int(numbers.size()))
            .first->second);
  }
  auto keyOf = [&](int i) { return std::pair(units[i], all[i].busyCycles); };
  llvm::sort(order, [&](int a, int b) {
    return std::pair(keyOf(a), a) < std::pair(keyOf(b), b);
  });
  std::vector<size_t> ends; // of those with the same unit and interval
  for (size_t i = 1; i <= order.size(); ++i)
    if (i == order.size() || keyOf(order[i]) != keyOf(order[i - 1]))
      ends.push_back(i);
  std::vector<bool> kept(all.size());
  for (size_t p = 0; p < kPrices; ++p) {
    std::vector<std::pair<BeatFormat, double>> least;
    auto bestOf = [&](const Offer &offer) -> double & {
      BeatFormat key;
      if (byFormat)
        key = offer.inputs[0].canonical();
      for (auto &[format, price] : least)
        if (format == key)
          return price;
      least.push_back({key, INFINITY});
      return least.back().second;
    };
    size_t i = 0;
    for (size_t end : ends) {
      if (i > 0 && units[order[i]] != units[order[i - 1]])
        least.clear();
      // The cheapest of those with the same interval.
      auto isCheaper = [&](int a, int b) {
        return std::pair(prices[a][p], a) < std::pair(prices[b][p], b);
      };
      if (byFormat)
        llvm::sort(order.begin() + i, order.begin() + end, isCheaper);
      const int cheapest =
          *std::min_element(order.begin() + i, order.begin() + end, isCheaper);
      for (size_t at = i, last = byFormat ? end : i + 1; at < last; ++at) {
        int o = byFormat ? order[at] : cheapest;
        double &best = bestOf(all[o]);
        if (prices[o][p] < best) {
          best = prices[o][p];
          kept[o] = true;
        }
      }
      i = end;
    }
  }
  std::vector<int> front;
  for (size_t i = 0; i < all.size(); ++i)
    if (kept[i])
      front.push_back(int(i));
  return front;
}

const Offer &Menu::offer(int kind, int stage, int choice) const {
  Offer &offer = *offers[kind][stage][choice];
  complete(offer, kind, stage);
  return offer;
}

void Menu::complete(Offer &offer, int kind, int stage) const {
  if (!offer.sketch.empty())
    findGenerator(offer.generator)
        ->complete(order[stage], offer, *devices[kind]);
}

/// Whether it takes its input unchanged; others choose their own formats.
static bool followsUpstream(Operation *op) {
  return !osa::getWindow(op) && !multiplies(op);
}

Choice Menu::choiceOf(int kind, const Offer &offer, Cost cost) {
  assert((!offer.key.isEmpty() || !offer.sketch.empty()) &&
         "a generator gave an offer no key");
  Choice choice;
  choice.interval = offer.busyCycles;
  choice.cost = cost;
  choice.unit = unitOf(kind, offer);
  return choice;
}

void Menu::addChoices(const Steering &steering, OfferCache &cache) {
  size_t kinds = devices.size(), stages = order.size();
  offers.assign(kinds, std::vector<std::vector<Offer *>>(stages));
  unmatched = offers;
  regionMeets.assign(kinds, std::vector<bool>(stages));
  free.assign(kinds, std::vector<std::vector<BeatFormat>>(stages));
  for (int kind = 0; kind < int(kinds); ++kind) {
    posed.kinds[kind].choices.resize(stages);
    std::vector<Operation *> independent, others;
    for (Operation *op : order)
      (followsUpstream(op) ? others : independent).push_back(op);
    cache.prepare(others, *devices[kind]);
    // An offer on no front of one generator is on no common front either.
    cache.prepare(independent, *devices[kind],
                  [&](const std::vector<Offer> &all) {
                    if (steering.pins.empty())
                      return frontOf(kind, all, /*byFormat=*/false);
                    std::vector<int> asIs(all.size());
                    std::iota(asIs.begin(), asIs.end(), 0);
                    return asIs;
                  });
    addRegions(kind, steering, cache);
    for (int s = 0; s < int(stages); ++s)
      addStage(kind, s, steering, cache);
  }
}

/// Regions of several consecutive stages.
void Menu::addRegions(int kind, const Steering &steering, OfferCache &cache) {
  for (const auto &generator : allGenerators()) {
    if (!mayOffer(*generator, *devices[kind]))
      continue;
    for (const gen::Region &region : generator->regions(order)) {
      int first = int(llvm::find(order, region.front()) - order.begin());
      int parts = int(region.ops().size());
      if (first + parts > int(order.size()) ||
          !llvm::equal(region.ops(), ArrayRef(order).slice(first, parts)))
        continue;
      std::vector<Offer> &all = cache.of(region, {}, *devices[kind]);
      // A pin may name one that others are better than.
      std::vector<int> which(all.size());
      std::iota(which.begin(), which.end(), 0);
      if (steering.pins.empty())
        which = frontOf(kind, all, /*byFormat=*/false);
      for (int o : which) {
        Offer &offer = all[o];
        auto mayTake = [&](int stage) {
          const Steering::Pin *pin = pinFor(steering, ids, stage);
          const Steering::Home *home = homeOf(steering, ids[stage]);
          return (!pin || isAsked(*pin, offer)) &&
                 (!home || home->home == offer.weights ||
                  !weightsOf(order[stage]));
        };
        if (!llvm::all_of(llvm::seq(first, first + parts), mayTake))
          continue;
        Choice choice = choiceOf(kind, offer, costOf(kind, offer));
        choice.region = regionCount++;
        choice.parts = parts;
        size_t input = 0;
        for (int i = 0; i < parts; ++i) {
          Operation *op = order[first + i];
          choice.part = i;
          choice.in.clear();
          for (Value v : op->getOperands()) {
            if (v.getDefiningOp<osa::ConstantOp>())
              continue;
            bool isInput =
                input < region.ins().size() && region.ins()[input] == v &&
                !llvm::is_contained(region.ops(), rootOf(v).getDefiningOp());
            choice.in.push_back(isInput ? numberOf(offer.inputs[input++])
                                        : kInside);
          }
          auto out = llvm::find(region.outs(), op->getResult(0));
          choice.out =
              out == region.outs().end()
                  ? kInside
                  : numberOf(offer.outputs[out - region.outs().begin()]);
          posed.kinds[kind].choices[first + i].push_back(choice);
          offers[kind][first + i].push_back(&offer);
          if (pinFor(steering, ids, first + i))
            regionMeets[kind][first + i] = true;
          choice.cost = {};
        }
      }
    }
  }
}

/// Of an operation in a body, the offers for all trips.
std::vector<Offer> &Menu::tripsOffers(int kind, int s, std::vector<Offer> &all,
                                      bool byFormat) {
  const int64_t trips = tripsOf(order[s]);
  const bool alike = areAlike(eachTrip(order[s]));
  // Of one that is not complete, its units tell later.
  std::vector<Offer> once;
  llvm::copy_if(all, std::back_inserter(once), [&](const Offer &offer) {
    return !offer.sketch.empty() || gen::onTrips(offer, trips, alike);
  });
  std::vector<Offer> &made = onTrips.emplace_back();
  auto add = [&](Offer &offer) {
    complete(offer, kind, s);
    if (auto repeated = gen::onTrips(offer, trips, alike)) {
      finishOffer(*repeated, *devices[kind]);
      made.push_back(std::move(*repeated));
    }
  };
  for (int o : frontOf(kind, once, byFormat))
    add(once[size_t(o)]);
  if (made.empty())
    llvm::for_each(once, add);
  return made;
}

/// A stage by itself.
void Menu::addStage(int kind, int s, const Steering &steering,
                    OfferCache &cache) {
  Operation *op = order[s];
  bool follows = followsUpstream(op);
  const Steering::Pin *pin = pinFor(steering, ids, s);
  // Formats in which the operands may arrive. A pinned option may have been
  // found with what its producers were offered as, not with their final
  // formats.
  bool isNamed = pin && !pin->option.empty();
  std::vector<std::optional<BeatFormat>> upstream;
  const int64_t trips = tripsOf(op);
  auto mayCome = [&](const BeatFormat &format) {
    const std::optional<BeatFormat> once = overTrips(format, trips);
    if (!llvm::is_contained(upstream, once))
      upstream.push_back(once);
  };
  for (int t : posed.stages[s].operands) {
    int producer = posed.tensors[t].producer;
    if (!follows || producer < 0)
      continue;
    const std::vector<Choice> &comes = posed.kinds[kind].choices[producer];
    for (size_t c = 0; c < comes.size(); ++c)
      if (comes[c].region < 0)
        mayCome(offers[kind][producer][c]->outputs[0]);
      else if (comes[c].out != kInside)
        mayCome(formats[comes[c].out]);
    for (const BeatFormat &format : free[kind][producer])
      if (isNamed)
        mayCome(format);
  }
  std::vector<Offer> *all = &cache.of(op, upstream, *devices[kind]);
  if (pin) // which names options
    for (Offer &offer : *all)
      complete(offer, kind, s);
  // A complete key is not a part of others.
  bool isWhole = isNamed && llvm::any_of(*all, [&](const Offer &o) {
                   return o.key.text() == pin->option;
                 });
  auto isPinned = [&](const Offer &o) {
    return !pin || (isWhole ? o.key.text() == pin->option : isAsked(*pin, o));
  };
  // A model node's pin refers to the one of its operations that offers the
  // option.
  bool isOwn = pin && llvm::any_of(*all, isPinned);
  if (pin && !isOwn && regionMeets[kind][s])
    return;
  if (pin && !isOwn)
    for (Offer &o : *all)
      unmatched[kind][s].push_back(&o);
  if (const Steering::Home *home = homeOf(steering, ids[s])) {
    pinned.emplace_back();
    llvm::copy_if(*all, std::back_inserter(pinned.back()), [&](const Offer &o) {
      return o.weights == home->home && isPinned(o);
    });
    if (!pinned.back().empty())
      all = &pinned.back();
  } else if (isOwn) {
    for (int o : frontOf(kind, *all, follows))
      free[kind][s].push_back(timesTrips((*all)[o].outputs[0], trips));
    pinned.emplace_back();
    llvm::copy_if(*all, std::back_inserter(pinned.back()), isPinned);
    all = &pinned.back();
  }
  if (trips > 1)
    all = &tripsOffers(kind, s, *all, follows);
  for (int o : frontOf(kind, *all, follows)) {
    Offer &offer = (*all)[o];
    Choice choice = choiceOf(kind, offer, costOf(kind, offer));
    // What comes back to an entry is no operand.
    for (const BeatFormat &f :
         ArrayRef(offer.inputs).take_front(posed.stages[s].operands.size()))
      choice.in.push_back(numberOf(f));
    choice.out = numberOf(offer.outputs[0]);
    posed.kinds[kind].choices[s].push_back(std::move(choice));
    offers[kind][s].push_back(&offer);
  }

  assert((!posed.kinds[kind].choices[s].empty() ||
          !devices[kind]->generators.empty()) &&
         "covered, but no offer");
}

/// What a design keeps goes around a loop once a frame.
void Menu::addLoops(func::FuncOp network) {
  auto tensorOf = [&](Value v) {
    return int(llvm::find(values, rootOf(v)) - values.begin());
  };
  auto results = network.getBody().front().getTerminator()->getOperands();
  for (const flow::Kept &one : flow::keptBy(network))
    for (int kind = 0; kind < int(devices.size()); ++kind)
      addLoop(kind, tensorOf(network.getArgument(one.argument)),
              tensorOf(results[one.result]),
              one.state.getOf().empty() ? one.state.getName()
                                        : one.state.getOf());
}

/// The way from tensor `from` to tensor `to`, which is the next frame's.
void Menu::addLoop(int kind, int from, int to, StringRef state) {
  // Units that are shared, and regions of several stages, count for nothing.
  auto delayOf = [&](int stage, size_t choice, size_t operand) -> int64_t {
    const Choice &c = posed.kinds[kind].choices[stage][choice];
    const Offer &offer = this->offer(kind, stage, int(choice));
    return c.unit >= 0 || c.region >= 0 || operand >= offer.inputs.size()
               ? 0
               : leastDelay(offer.body, offer.inputs.size(), operand);
  };
  const int stages = int(order.size());
  std::vector<std::vector<int64_t>> least(stages);
  // The longest ways from `from`, and to `to`; −1 if there is none.
  std::vector<int64_t> before(values.size(), -1), after(values.size(), -1);
  before[from] = after[to] = 0;
  auto isOn = [&](int stage, size_t operand) {
    return before[posed.stages[stage].operands[operand]] >= 0;
  };
  for (int s = 0; s < stages; ++s) {
    const Stage &stage = posed.stages[s];
    least[s].assign(stage.operands.size(), 0);
    for (size_t o = 0; o < stage.operands.size(); ++o) {
      if (!isOn(s, o))
        continue;
      int64_t &fewest = least[s][o] = INT64_MAX;
      for (size_t c = 0; c < posed.kinds[kind].choices[s].size(); ++c)
        fewest = std::min(fewest, delayOf(s, c, o));
      before[stage.result] =
          std::max(before[stage.result], before[stage.operands[o]] + fewest);
    }
  }
  for (int s = stages; s-- > 0;)
    for (size_t o = 0; o < posed.stages[s].operands.size(); ++o)
      if (int64_t rest = after[posed.stages[s].result];
          rest >= 0 && isOn(s, o)) {
        int64_t &way = after[posed.stages[s].operands[o]];
        way = std::max(way, least[s][o] + rest);
      }
  if (before[to] > posed.loop.cycles)
    posed.loop = {state.str(), before[to]};
  for (int s = 0; s < stages; ++s) {
    const Stage &stage = posed.stages[s];
    for (auto [c, choice] : llvm::enumerate(posed.kinds[kind].choices[s]))
      for (size_t o = 0; o < stage.operands.size(); ++o)
        if (choice.unit < 0 && choice.region < 0 && isOn(s, o) &&
            after[stage.result] >= 0)
          choice.around = std::max(choice.around, before[stage.operands[o]] +
                                                      delayOf(s, c, o) +
                                                      after[stage.result]);
  }
}

/// The cost of one of three kinds of glue, which depends on two numbers.
template <typename Make>
Cost Menu::kept(int what, int kind, int64_t first, int64_t second, Make make) {
  assert(kind < 1 << 14 && first < 1 << 24 && second < 1 << 24);
  auto [it, isNew] = known.try_emplace(
      uint64_t(what) << 62 | uint64_t(kind) << 48 | first << 24 | second);
  if (isNew)
    it->second = costOf(kind, make());
  return it->second;
}

Cost Menu::convert(int kind, int, int from, int to) {
  return kept(0, kind, from, to,
              [&] { return makeConverter(formats[from], formats[to]); });
}

Cost Menu::fork(int kind, int, int format, int readers) {
  return kept(1, kind, format, readers,
              [&] { return makeFork(formats[format], readers); });
}

Cost Menu::border(int kind, int64_t streamBits, int tensor, int format,
                  bool enters) {
  if (format < 0)
    format = numberOf(formatOf(values[tensor].getType(), 1, 1));
  return kept(2, kind, streamBits, 2 * format + enters,
              [&] { return makeBorder(formats[format], streamBits, enters); });
}

Cost Menu::crossing(int kind, int, int format) {
  const int registers = std::max(2, crossingRegisters[kind]);
  return kept(3, kind, format, registers,
              [&] { return makeCrossing(formats[format], registers); });
}

int64_t Menu::wires(int, int format) { return crossingWires(formats[format]); }

Cost Menu::endpoint(const Place &place, const Ends &ends) {
  LinkEndpoint endpoint;
  endpoint.streamBits = place.streamBits;
  endpoint.clockMhz = place.clockHz * 1e-6;
  auto add = [&](int t, bool transmit) {
    LinkChannel channel;
    channel.transmit = transmit;
    channel.frameBits = posed.tensors[t].bits;
    channel.medium =
        linkMediumFor(*place.wire, ends.framesPerS, channel.frameBits);
    channel.link = *place.wire;
    endpoint.channels.push_back(channel);
  };
  for (int t : ends.in)
    add(t, false);
  for (int t : ends.out)
    add(t, true);
  Cost cost;
  cost.resources = endpointCost(endpoint, devices[place.kind]->cost);
  return cost;
}
} // namespace rhizome::explore
