// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pinned.h"
#include "Menu.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "llvm/Support/Parallel.h"
#include <map>
#include <set>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
bool pins(const Steering::Pin &pin, ArrayRef<OperationId> ids, size_t at) {
  const OperationId &id = ids[at], &of = pin.of;
  if (of.node == id.node)
    return (of.op.empty() || of.op == id.op) &&
           (of.nth < 0 || of.nth == id.nth);
  // "node:op", unless that is a node's name.
  if (!of.op.empty() || of.node != id.node + ":" + id.op)
    return false;
  return llvm::none_of(
      ids, [&](const OperationId &other) { return other.node == of.node; });
}

const Steering::Pin *pinFor(const Steering &steering, ArrayRef<OperationId> ids,
                            size_t at) {
  const Steering::Pin *best = nullptr;
  auto detail = [&](const Steering::Pin &pin) {
    return pin.of.nth >= 0               ? 3
           : !pin.of.op.empty()          ? 2
           : pin.of.node != ids[at].node ? 1
                                         : 0;
  };
  for (const Steering::Pin &pin : steering.pins)
    if (pins(pin, ids, at) && (!best || detail(pin) > detail(*best)))
      best = &pin;
  return best;
}

bool isAsked(const Steering::Pin &pin, const Offer &offer) {
  if (!pin.generator.empty() && pin.generator != offer.generator)
    return false;
  if (pin.option.empty())
    return true;
  auto key = OptionKey::parse(pin.option);
  return key && key->matches(offer.key);
}

/// The offers for a region that a pin names: if its key is whole, the one that
/// has this key.
static std::vector<Offer> askedOf(const Steering::Pin &pin,
                                  const gen::Region &region,
                                  const DeviceContext &device) {
  std::vector<Offer> asked;
  for (const auto &generator : allGenerators()) {
    if ((!pin.generator.empty() && pin.generator != generator->name()) ||
        !mayOffer(*generator, device) || generator->coverage(region))
      continue;
    for (Offer &offer : generator->offers(region, {}, device)) {
      if (offer.key.text() == pin.option)
        return {std::move(offer)};
      if (isAsked(pin, offer))
        asked.push_back(std::move(offer));
    }
  }
  return asked;
}

/// The frames that read an offer's weights together.
static int64_t framesOf(const Offer &offer) {
  int64_t frames = 1;
  for (const Body::Unit &unit : offer.body.units)
    frames = std::max(frames, unit.batch);
  return frames;
}

/// Opens what offers with such homes need. Of several that are named, the
/// least number of frames is enough.
static void open(MemoryPrices &prices, ArrayRef<Offer> offers) {
  int64_t frames = INT64_MAX;
  for (const Offer &offer : offers) {
    if (offer.weights == WeightHome::Resident)
      prices.residents = Residents::All;
    if (offer.weights == WeightHome::Streamed)
      prices.streaming = Streaming::All;
    frames = std::min(frames, framesOf(offer));
  }
  prices.batch = std::max(prices.batch, frames);
}

bool needsMemory(const Steering::Pin &pin, Operation *op,
                 DeviceContext device) {
  if (device.memories.empty()) {
    Memory &memory = device.memories.emplace_back();
    memory.name = "memory";
    memory.portBits = 64;
    memory.bytesPerS = 1'000'000'000;
  }
  device.residents = Residents::All;
  device.streaming = Streaming::All;
  return llvm::any_of(askedOf(pin, op, device), [](const Offer &offer) {
    return offer.weights != WeightHome::Rom;
  });
}

namespace {
/// A pinned option, and what it may be an option for.
struct Question {
  const Steering::Pin *pin;
  std::vector<gen::Region> regions;
};

/// The pinned options. Regions for which they are the same question, since
/// generators say that their offers are the same, are in it once.
std::vector<Question> questionsOf(func::FuncOp network,
                                  const Steering &steering) {
  const std::vector<Operation *> ops = hardwareOf(network);
  const std::vector<OperationId> ids = idsOf(ops);
  std::vector<gen::Region> regions;
  for (const auto &generator : allGenerators())
    llvm::append_range(regions, generator->regions(ops));
  std::map<std::pair<std::string, std::string>, size_t> known;
  std::map<const Steering::Pin *, size_t> numbers;
  std::vector<Question> questions;
  for (auto [i, op] : llvm::enumerate(ops)) {
    const Steering::Pin *pin = pinFor(steering, ids, i);
    if (!pin || pin->option.empty())
      continue;
    gen::Region own(op);
    std::string on;
    for (const auto &generator : allGenerators())
      if (!generator->coverage(own)) {
        std::string each = generator->dependence(own);
        on += ' ' + (each.empty() ? std::to_string(uintptr_t(op)) : each);
      }
    const bool isKnown =
        !known
             .try_emplace({pin->generator + ' ' + pin->option, std::move(on)},
                          i)
             .second;
    auto [at, isNew] = numbers.try_emplace(pin, questions.size());
    if (isNew)
      questions.push_back({pin, {}});
    Question &question = questions[at->second];
    if (!isKnown)
      question.regions.push_back(std::move(own));
    for (const gen::Region &region : regions)
      if (region.front() == op)
        question.regions.push_back(region);
  }
  llvm::erase_if(questions, [](const Question &question) {
    return question.regions.empty();
  });
  return questions;
}
} // namespace

MemoryPrices pricesFor(func::FuncOp network, const Cluster &cluster,
                       const Steering &steering) {
  constexpr int64_t kMostFrames = 1024;
  MemoryPrices prices;
  if (steering.lutsOfABlock > 0)
    prices.lutsOfABlock = steering.lutsOfABlock;
  for (const Steering::Home &home : steering.homes) {
    if (home.home == WeightHome::Resident)
      prices.residents = Residents::All;
    if (home.home == WeightHome::Streamed)
      prices.streaming = Streaming::All;
  }
  if (steering.pins.empty())
    return prices;
  // From what is offered anyway to every home; each question is asked until an
  // answer is found.
  MemoryPrices homes = prices;
  homes.residents = Residents::All;
  homes.streaming = Streaming::All;
  // What is kept from one frame to the next holds up those that would wait.
  homes.batch = flow::keptBy(network).empty() ? kMostFrames : 1;
  MemoryPrices rows = homes;
  rows.ultraRows = UltraRows::Also;
  std::vector<Question> questions = questionsOf(network, steering);
  for (const MemoryPrices &tried : {prices, homes, rows}) {
    if (questions.empty())
      break;
    const Cluster asked = priced(cluster, tried);
    std::vector<std::vector<Offer>> answers(questions.size());
    llvm::parallelFor(0, questions.size(), [&](size_t q) {
      std::set<std::string> devices;
      for (const ClusterPlace &place : asked.places)
        if (devices.insert(place.device).second)
          for (const gen::Region &region : questions[q].regions)
            llvm::move(askedOf(*questions[q].pin, region, place.context),
                       std::back_inserter(answers[q]));
    });
    std::vector<Question> rest;
    for (auto [question, answer] : llvm::zip_equal(questions, answers)) {
      if (answer.empty()) {
        rest.push_back(std::move(question));
        continue;
      }
      open(prices, answer);
      prices.ultraRows = std::max(prices.ultraRows, tried.ultraRows);
    }
    questions = std::move(rest);
  }
  return prices;
}
} // namespace rhizome::explore
