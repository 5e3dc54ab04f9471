// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An actor's timing and cost, from its unit's model, and helpers
// shared by models.
#include "rhizome/Generator/Actor.h"
#include "rhizome/Generator/UnitModel.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

namespace rhizome::gen {
static const UnitModel &knownUnit(llvm::StringRef kind) {
  const UnitModel *model = findUnit(kind);
  if (!model)
    llvm::reportFatalInternalError("no unit of the kind '" + kind + "'");
  return *model;
}

Actor::Actor(llvm::StringRef kind, std::string name,
             std::initializer_list<Param> given)
    : Actor(knownUnit(kind), std::move(name)) {
  params = given;
}

Actor::Actor(const UnitModel &model, std::string name)
    : Instance(model.kind()), name(std::move(name)), unitModel(&model) {}

UnitModel::UnitModel(llvm::StringRef kind)
    : UnitModel(*[&] {
        const unit::Kind *known = unit::find(kind);
        assert(known && "the kind is described");
        return known;
      }()) {}

void UnitModel::processes(const Actor &actor, ProcessNetwork &network,
                          const std::vector<int> &inputs,
                          const std::vector<int> &outputs) const {
  addProcess(actor, network,
             {Phase::of(actor.get("frameBeats"), Counts(inputs.size(), 1),
                        Counts(outputs.size(), 1))},
             1, inputs, outputs);
}

void UnitModel::emitDatapath(const Actor &, mlir::Region &,
                             mlir::Location) const {
  llvm_unreachable("the kind is a module of a library");
}

std::string loadImage(llvm::StringRef actor) {
  return (actor + "_weights.load").str();
}

int64_t latencyOf(const Actor &actor) { return actor.model().latency(actor); }

int64_t fullRateDepth(const Actor &actor) { return latencyOf(actor) + 1; }

void sizeOutput(Actor &actor, int64_t least) {
  least = std::max(least, actor.model().leastDepth(actor));
  // The latency depends on the depth of the buffer; a shallow one is visible
  // earlier.
  actor.set("Depth", 2);
  int64_t period = actor.model().firingsPerBeat(actor);
  int64_t depth = (fullRateDepth(actor) + period - 1) / period;
  actor.set("Depth", std::max(least, depth));
}

Products productsOf(const Actor &actor) {
  return actor.model().products(actor);
}

void addProcesses(const Actor &actor, ProcessNetwork &network,
                  const std::vector<int> &inputs,
                  const std::vector<int> &outputs) {
  actor.model().processes(actor, network, inputs, outputs);
}

int64_t serviceCycles(const Actor &actor) {
  ProcessNetwork network;
  std::vector<int> inputs, outputs;
  for (const unit::Port &port : actor.kind().ports)
    for (int64_t k = 0; port.protocol == unit::Protocol::Stream &&
                        k < port.count(actor.params.data());
         ++k)
      (port.isInput ? inputs : outputs).push_back(network.addChannel("", 0, 1));
  addProcesses(actor, network, inputs, outputs);
  int64_t most = 0;
  for (const Process &process : network.processes) {
    int64_t firings = 0;
    // A burst takes one cycle per beat.
    for (const Phase &phase : process.phases)
      firings += phase.repeat * (process.memory < 0 ? 1 : phase.produce[0]);
    most = std::max(most, firings * process.periods);
  }
  return most;
}

RomChoices placeRoms(Actor &actor, const CostContext &ctx) {
  const int64_t *values = actor.params.data();
  auto choiceOf = [&](int64_t words, int64_t width) -> RomChoice {
    if (words <= 16)
      return {};
    const double blocks = cost::romOf(words, width, ctx).blocks;
    // Four-input LUTs take six levels for more words, whatever their price.
    constexpr int64_t kMostWords = 512;
    if (ctx.lutInputs < 6 && words > kMostWords)
      return {1e9, blocks};
    auto c = RomContents::expected(words, double(width), ctx.lutInputs);
    return {c.leaves + c.muxes, blocks};
  };
  RomChoices choices;
  for (const unit::Rom *rom : actor.roms()) {
    choices.push_back(choiceOf(rom->words(values), rom->width(values)));
    actor.set(rom->placedBy, choices.back().isBlock(ctx.lutsOfABlock));
  }
  return choices;
}

bool placeInUltra(Actor &actor, const CostContext &context) {
  const std::optional<cost::Store> store = actor.model().store(actor);
  if (!store || !cost::isForUltra(*store, context))
    return false;
  actor.set("Ultra", 1);
  return true;
}

Structure structureOf(const Actor &actor, const CostContext &context,
                      const MemoryImages *images) {
  cost::Builder builder(actor, context, images);
  actor.model().structure(builder);
  builder.structure.unit = actor.model().characterizedAs(actor);
  return builder.structure;
}

Resources errorOf(const Actor &actor, const Resources &cost,
                  const CostContext &context) {
  const CostModel::Unit &unit =
      context.model->of(actor.model().characterizedAs(actor));
  Resources error;
  error.lut() = unit.lutError.of(cost.lut());
  error.ff() = unit.ffError.of(cost.ff());
  return error;
}

Resources costOf(const Actor &actor, const CostContext &context,
                 const MemoryImages *images) {
  return costOf(structureOf(actor, context, images), context);
}

Resources costOf(const Structure &s, const CostContext &context) {
  const CostModel::Unit &unit = context.model->of(s.unit);
  Resources r = s.exact;
  for (size_t t = 0; t < s.terms.size(); ++t)
    r.lut() += unit.lut[t] * s.terms[t];
  return r;
}

int64_t Memory::portBitsAt(double clockMhz) const {
  constexpr int64_t kWidest = 1024; // of AXI4
  int64_t bits = std::max(portBits, kLoadBits);
  while (bits < kWidest &&
         double(bits) * clockMhz < double(portBits) * portMhz * (1 - 1e-9))
    bits *= 2;
  return bits;
}

double Memory::bankBytesPerS(double clockMhz) const {
  double port = double(portBitsAt(clockMhz)) / 8 * clockMhz * 1e6;
  double rate = double(bytesPerS) / double(banks);
  if (refreshEveryNs > 0)
    rate *= 1 - double(refreshNs) / double(refreshEveryNs);
  return std::min(rate, port);
}

void addReader(const Actor &actor, ProcessNetwork &network, size_t port,
               int64_t words, int64_t burst, int64_t periods, int channel) {
  // The bank determines the timing; until it is chosen, assume a fast one.
  MemoryPlace place;
  if (port < actor.memories.size())
    place = actor.memories[port];
  Process reader{actor.name + ".read", {}, periods, {}, {channel}};
  if (words >= burst)
    reader.phases.push_back({words / burst, {}, {}, {burst}});
  if (words % burst)
    reader.phases.push_back({1, {}, {}, {words % burst}});
  reader.turn = actor.turnOf(*actor.kind().memoryPorts()[port]);
  const unit::Traffic &traffic = actor.kind().memoryPorts()[port]->traffic;
  reader.memory = network.memory(place.memory, place.bank);
  network.memories[size_t(reader.memory)].inFlight +=
      traffic.inFlight(actor.params.data());
  network.processes.push_back(std::move(reader));
}

void addProcess(const Actor &actor, ProcessNetwork &network,
                std::vector<Phase> phases, int64_t periods,
                const std::vector<int> &inputs,
                const std::vector<int> &outputs) {
  network.processes.push_back(
      {actor.name, std::move(phases), periods, inputs, outputs});
}
} // namespace rhizome::gen
