// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From operations to numbers. Of the many options that a generator offers those
// stay that are the cheapest for some interval under one of the fixed prices;
// elementwise units are asked for in the formats that come to them.
#include "Menu.h"
#include "Runs.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/Shared.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Parallel.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
Value rootOf(Value v) {
  while (auto reshape = v.getDefiningOp<osa::ReshapeOp>())
    v = reshape.getInput();
  return v;
}

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
  for (size_t k = 0; k < r.amount.size(); ++k)
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

int Menu::numberOf(const Format &format) {
  Format f = format.canonical();
  for (size_t i = 0; i < formats.size(); ++i)
    if (formats[i] == f)
      return int(i);
  formats.push_back(f);
  return int(formats.size()) - 1;
}

Menu::Menu(func::FuncOp network, std::vector<Operation *> order,
           const Cluster &cluster, const Steering &steering, OptionCache &cache)
    : order(std::move(order)), ids(idsOf(this->order)), cluster(cluster) {
  posed.glue = this;
  posed.hostWire = cluster.hostWire;
  posed.isChain = cluster.isChain;
  posed.mayReplicate = cluster.mayReplicate;
  addTensors(network);
  addPlaces();
  addChoices(steering, cache);
  checkPins(steering);
  for (int s = 0; s < int(this->order.size()); ++s) {
    const Steering::Pin *pin = pinOf(steering, s);
    if (!pin)
      continue;
    Stage &stage = posed.stages[s];
    stage.place = pin->place;
    stage.copies = pin->copies;
    stage.streamBits = pin->streamBits;
    // Several operations of one model node stay together behind a cut.
    bool isFirst = s == 0 || posed.stages[s - 1].name != stage.name;
    stage.mustCut = pin->cutBefore && isFirst && s > 0;
  }
  std::vector<int> asIs(this->order.size());
  std::iota(asIs.begin(), asIs.end(), 0);
  posed = reorder(posed, asIs);
}

bool Menu::pins(const Steering::Pin &pin, int stage) const {
  const OperationId &id = ids[stage], &of = pin.of;
  if (of.node == id.node)
    return (of.op.empty() || of.op == id.op) &&
           (of.nth < 0 || of.nth == id.nth);
  // "node:op", unless that is a node's name.
  if (!of.op.empty() || of.node != id.node + ":" + id.op)
    return false;
  return llvm::none_of(
      ids, [&](const OperationId &other) { return other.node == of.node; });
}

/// The pin that says most of the operation.
const Steering::Pin *Menu::pinOf(const Steering &steering, int stage) const {
  const Steering::Pin *best = nullptr;
  auto detail = [&](const Steering::Pin &pin) {
    return pin.of.nth >= 0                  ? 3
           : !pin.of.op.empty()             ? 2
           : pin.of.node != ids[stage].node ? 1
                                            : 0;
  };
  for (const Steering::Pin &pin : steering.pins)
    if (pins(pin, stage) && (!best || detail(pin) > detail(*best)))
      best = &pin;
  return best;
}

/// Is the option what a pin asks for?
static bool isAsked(const Steering::Pin &pin, const Option &option) {
  if (!pin.generator.empty() && pin.generator != option.generator)
    return false;
  if (pin.option.empty())
    return true;
  auto key = OptionKey::parse(pin.option);
  return key && key->matches(option.key);
}

/// What a user could write instead: of an option that is named by its words its
/// key, otherwise keys of options that have most in common with what is asked.
static std::string keysLike(const Steering::Pin &pin,
                            ArrayRef<const Option *> offered) {
  constexpr size_t kMost = 5;
  std::set<std::string> same;
  std::set<std::pair<int, std::string>> others; // the likest first
  auto wanted = OptionKey::parse(pin.option);
  for (const Option *o : offered) {
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
                         "explore' shows; offered are "
                       : "options are named by their keys; here ") +
         llvm::join(shown, ", ") +
         (all > kMost ? " and " + std::to_string(all - kMost) + " more" : "");
}

void Menu::checkPins(const Steering &steering) {
  for (const Steering::Pin &pin : steering.pins) {
    std::string where =
        pin.line ? "line " + std::to_string(pin.line) + ": " : "";
    std::vector<int> stages;
    std::set<std::string> generators;
    std::vector<const Option *> offered;
    for (int s = 0; s < int(order.size()); ++s)
      if (pins(pin, s))
        stages.push_back(s);
    for (int s : stages)
      for (size_t k = 0; k < options.size(); ++k)
        for (const Option *o :
             unmatched[k][s].empty() ? options[k][s] : unmatched[k][s]) {
          generators.insert(o->generator);
          if (pin.generator.empty() || o->generator == pin.generator)
            offered.push_back(o);
        }
    auto refuse = [&](std::string reason, std::string remedy) {
      unmet.push_back({pin.of.node, "", where + reason, std::move(remedy)});
    };
    if (stages.empty())
      refuse("the network has no such node",
             "'rhizome explore' lists the nodes");
    else if (!pin.generator.empty() && !generators.count(pin.generator))
      refuse("the generator '" + pin.generator + "' offers nothing for it",
             "these do: " + llvm::join(generators, ", "));
    else if (llvm::none_of(offered,
                           [&](const Option *o) { return isAsked(pin, *o); }))
      refuse("no generator offers the option '" + pin.option + "'",
             keysLike(pin, offered));
    else if (pin.place >= int(cluster.places.size()))
      refuse("there is no place " + std::to_string(pin.place),
             "places are 0 to " + std::to_string(cluster.places.size() - 1));
  }
}

void Menu::addTensors(func::FuncOp network) {
  DenseMap<Value, int> numbers;
  auto tensorOf = [&](Value v, int producer) {
    auto [it, isNew] = numbers.try_emplace(v, int(values.size()));
    if (isNew) {
      Format f = formatOf(v.getType(), 1, 1);
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
    // What narrows a tensor stays with what produced it.
    stage.staysWith =
        isa<osa::RequantiseOp, osa::ThresholdOp, osa::TableOp>(op);
    posed.stages.push_back(std::move(stage));
  }
  for (Value v : network.getBody().front().getTerminator()->getOperands())
    posed.tensors[tensorOf(rootOf(v), -1)].toHost = true;
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
      posed.kinds.push_back(std::move(k));
    }
    posed.places.push_back({int(kind), vectorOf(place.context.budget),
                            place.context.clockMhz * 1e6, place.streamBits,
                            place.leastBits, place.wire});
  }
}

/// Indices of options that are the cheapest within some interval under one of
/// the prices; with `byFormat` of each input format.
static std::vector<int> frontOf(const std::vector<Option> &all,
                                const Resources &capacity, bool byFormat) {
  std::vector<std::array<double, kPrices>> prices;
  std::vector<int> order;
  for (size_t i = 0; i < all.size(); ++i) {
    prices.push_back(pricesOf(all[i].resources, capacity));
    order.push_back(int(i));
  }
  llvm::sort(order, [&](int a, int b) {
    return std::pair(all[a].intervalCycles, a) <
           std::pair(all[b].intervalCycles, b);
  });
  std::vector<bool> kept(all.size());
  for (size_t p = 0; p < kPrices; ++p) {
    std::vector<std::pair<Format, double>> least;
    auto bestOf = [&](const Option &option) -> double & {
      Format key;
      if (byFormat)
        key = option.inputs[0].canonical();
      for (auto &[format, price] : least)
        if (format == key)
          return price;
      least.push_back({key, INFINITY});
      return least.back().second;
    };
    for (size_t i = 0; i < order.size();) {
      // The cheapest of those with one interval.
      size_t end = i;
      while (end < order.size() &&
             all[order[end]].intervalCycles == all[order[i]].intervalCycles)
        ++end;
      std::vector<int> same(order.begin() + i, order.begin() + end);
      llvm::sort(same, [&](int a, int b) {
        return std::pair(prices[a][p], a) < std::pair(prices[b][p], b);
      });
      for (int o : same) {
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

/// All that options depend on beside what comes from upstream.
static OptionCache::Key keyOf(Operation *op, const DeviceContext &device) {
  OptionCache::Key key{&device, op->getName().getAsOpaquePointer(),
                       op->getAttrDictionary().getAsOpaquePointer(),
                       op->getResult(0).getType().getAsOpaquePointer()};
  for (Value v : op->getOperands()) {
    key.push_back(v.getType().getAsOpaquePointer());
    auto constant = v.getDefiningOp<osa::ConstantOp>();
    key.push_back(constant ? constant->getAttrDictionary().getAsOpaquePointer()
                           : nullptr);
  }
  return key;
}

/// What one generator offers.
static std::vector<Option> offered(const Generator &generator, Operation *op,
                                   const OptionCache::Upstream &upstream,
                                   const DeviceContext &device) {
  if (generator.coverage(op))
    return {};
  return generator.options(op, upstream, device);
}

const std::vector<Option> &OptionCache::of(Operation *op,
                                           const Upstream &upstream,
                                           const DeviceContext &device) {
  std::vector<Entry> &entries = known[keyOf(op, device)];
  for (const Entry &entry : entries)
    if (entry.upstream == upstream)
      return entry.options;
  std::vector<Option> all;
  for (const auto &generator : allGenerators())
    llvm::move(offered(*generator, op, upstream, device),
               std::back_inserter(all));
  entries.push_back({upstream, std::move(all)});
  return entries.back().options;
}

void OptionCache::prepare(ArrayRef<Operation *> ops,
                          const DeviceContext &device, Choose choose) {
  std::set<Key> seen;
  std::vector<std::pair<Key, Operation *>> missing;
  for (Operation *op : ops) {
    Key key = keyOf(op, device);
    if (!known.count(key) && seen.insert(key).second)
      missing.push_back({std::move(key), op});
  }
  ArrayRef<std::unique_ptr<Generator>> generators = allGenerators();
  std::vector<std::vector<Option>> parts(missing.size() * generators.size());
  llvm::parallelFor(0, parts.size(), [&](size_t i) {
    std::vector<Option> all =
        offered(*generators[i % generators.size()],
                missing[i / generators.size()].second, {}, device);
    for (int o : choose(all))
      parts[i].push_back(std::move(all[o]));
  });
  for (size_t i = 0; i < missing.size(); ++i) {
    std::vector<Option> all;
    for (size_t g = 0; g < generators.size(); ++g)
      llvm::move(parts[i * generators.size() + g], std::back_inserter(all));
    known[std::move(missing[i].first)].push_back({{}, std::move(all)});
  }
}

/// Does it take its input as it comes? Others choose their own formats.
static bool followsUpstream(Operation *op) {
  return !osa::getWindow(op) && !isa<osa::DenseOp>(op);
}

void Menu::addChoices(const Steering &steering, OptionCache &cache) {
  options.resize(devices.size());
  unmatched.resize(devices.size());
  for (size_t kind = 0; kind < devices.size(); ++kind) {
    const DeviceContext &device = *devices[kind];
    Kind &target = posed.kinds[kind];
    // Of each stage: in which formats its result may come, pinned or not.
    std::vector<std::vector<Format>> free(order.size());
    options[kind].resize(order.size());
    unmatched[kind].resize(order.size());
    target.choices.resize(order.size());
    std::vector<Operation *> independent;
    llvm::copy_if(order, std::back_inserter(independent),
                  [](Operation *op) { return !followsUpstream(op); });
    // What no front of one generator's options holds is on that of all neither.
    cache.prepare(independent, device, [&](const std::vector<Option> &all) {
      if (steering.pins.empty())
        return frontOf(all, target.capacity, /*byFormat=*/false);
      std::vector<int> asIs(all.size());
      std::iota(asIs.begin(), asIs.end(), 0);
      return asIs;
    });
    for (size_t s = 0; s < order.size(); ++s) {
      Operation *op = order[s];
      bool follows = followsUpstream(op);
      const Steering::Pin *pin = pinOf(steering, int(s));
      // Formats in which the operands may come. What is pinned may have been
      // found next to what its producers were offered as, not what they became.
      bool isNamed = pin && !pin->option.empty();
      std::vector<std::optional<Format>> upstream;
      auto mayCome = [&](const Format &format) {
        if (!llvm::is_contained(upstream, std::optional(format)))
          upstream.push_back(format);
      };
      for (int t : posed.stages[s].operands) {
        int producer = posed.tensors[t].producer;
        if (!follows || producer < 0)
          continue;
        for (const Option *o : options[kind][producer])
          mayCome(o->output);
        for (const Format &format : free[producer])
          if (isNamed)
            mayCome(format);
      }
      const std::vector<Option> *all = &cache.of(op, upstream, device);
      // A key that is given whole is not a part of others.
      bool isWhole = pin && !pin->option.empty() &&
                     llvm::any_of(*all, [&](const Option &o) {
                       return o.key.text() == pin->option;
                     });
      auto isPinned = [&](const Option &o) {
        return !pin ||
               (isWhole ? o.key.text() == pin->option : isAsked(*pin, o));
      };
      // A model node's pin speaks of that of its operations that offers it.
      bool isOwn = pin && llvm::any_of(*all, isPinned);
      if (pin && !isOwn)
        for (const Option &o : *all)
          unmatched[kind][s].push_back(&o);
      if (isOwn) {
        for (int o : frontOf(*all, target.capacity, follows))
          free[s].push_back((*all)[o].output);
        pinned.emplace_back();
        llvm::copy_if(*all, std::back_inserter(pinned.back()), isPinned);
        all = &pinned.back();
      }
      for (int o : frontOf(*all, target.capacity, follows)) {
        const Option &option = (*all)[o];
        assert(!option.key.isEmpty() && "a generator gave an option no key");
        Choice choice;
        choice.interval = option.intervalCycles;
        auto cost = [&] {
          Cost sum;
          for (const Actor &actor : option.actors)
            sum += costOf(int(kind), actor);
          return sum;
        };
        choice.cost = isOwn ? cost() : cache.costOf(option, cost);
        for (const Format &f : option.inputs)
          choice.in.push_back(numberOf(f));
        choice.out = numberOf(option.output);
        target.choices[s].push_back(std::move(choice));
        options[kind][s].push_back(&option);
      }
      assert(!target.choices[s].empty() && "covered, but no option");
    }
  }
}

/// The cost of one of three sorts of glue, which depends on two numbers.
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
