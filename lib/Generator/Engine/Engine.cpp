// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cores a device could hold for a run of operations, and how long each
// takes for a frame.
#include "rhizome/Generator/Engine/Engine.h"
#include "Programs.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Engine/Core.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/LayersFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Parallel.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen {
namespace {
/// Between a frame's first beat and the first instruction, and from `end` to
/// the next frame: what the program's cycles leave out.
constexpr int64_t kAround = 4;
constexpr int64_t kMiB = 1 << 20;
/// Levels of logic on the longest path of a core: Yosys maps 16 × 16 with four
/// (docs/rationale/engine.md), and larger ones may need one more.
constexpr int64_t kLevels = 5;
/// MiB of memory that are a core's: few sizes, so that cores of different
/// networks are the same hardware.
constexpr int64_t kRooms[] = {1, 4, 16, 64, 256, 1024};

/// The cores of the data folder, those for tests apart, the smallest first.
const std::vector<engine::Core> &cores() {
  static const std::vector<engine::Core> cores = [] {
    std::vector<engine::Core> all;
    if (auto listed = engine::listCores())
      all = std::move(*listed);
    else
      llvm::consumeError(listed.takeError());
    llvm::erase_if(all, [](const engine::Core &core) {
      return core.in < 16; // for tests
    });
    llvm::stable_sort(all, [](const engine::Core &a, const engine::Core &b) {
      return a.in * a.out < b.in * b.out;
    });
    return all;
  }();
  return cores;
}

/// The best clock that these levels allow, in whole MHz.
double bestClock(const DeviceContext &device) {
  const CostContext::Delays &delays = device.cost.delays;
  return std::floor(1000 /
                    (delays.registerNs + double(kLevels) * delays.levelNs));
}

/// A core with one port of this memory's width; none if a beat is wider than a
/// word, unless the port may be narrower than the memory's.
std::optional<engine::Core> coreFor(engine::Core core, int64_t bits,
                                    bool mayNarrow) {
  core.ports = 1;
  core.port_bits = mayNarrow ? std::min(bits, 8 * core.in) : bits;
  if (llvm::Error error = engine::check(core)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  return core;
}

/// Sets what a unit knows of its memory: how a bank answers, as simulated ones
/// do.
void setMemory(Actor &unit, const Memory &memory, double clockMhz) {
  const auto bank =
      rhz::MemoryTiming::of(memory, unit.get("DataWidth") / 8, clockMhz);
  double ticks = double(bank.beatTicks);
  if (bank.refreshEvery > 0)
    ticks /= 1 - double(bank.refresh) / double(bank.refreshEvery);
  unit.set("latency", bank.latency);
  unit.set("beatTicks", std::llround(ticks));
  unit.set("turn", bank.turnTicks / rhz::kTicks);
}

engine::MemoryTiming memoryOf(const Actor &unit) {
  engine::MemoryTiming timing;
  timing.latency = timing.answer = unit.get("latency");
  timing.perBeat = double(unit.get("beatTicks")) / double(rhz::kTicks);
  timing.turn = unit.get("turn");
  timing.isShared = true;
  return timing;
}

/// The unit without what its program decides.
Actor unitOf(const engine::Core &core, const DeviceContext &device,
             bool isUltra) {
  Actor unit(unit::Engine::kKind, "engine",
             {{"In", core.in},
              {"Out", core.out},
              {"Words", core.words},
              {"Banks", core.banks},
              {"Entries", core.entries},
              {"SumBits", core.sum_bits},
              {"Queue", core.queue},
              {"Waiting", core.depth},
              {"Tokens", core.tokens},
              {"DataWidth", core.port_bits},
              {"Hash", int64_t(core.hash())},
              {"Ultra", isUltra},
              {"Wide", device.cost.dspWide >= 27},
              {"Depth", 2}});
  return unit;
}

/// What a device has too little of for a unit, "160 dsp, 100 are there"; "" if
/// it fits.
std::string lackingFor(const Actor &unit, const DeviceContext &device) {
  const Resources need = costOf(unit, device.cost);
  for (size_t kind = 0; kind < kResourceNames.size(); ++kind)
    if (const double there = available(device.budget, kind);
        need.amount[kind] > there)
      return std::to_string(int64_t(std::ceil(need.amount[kind]))) + " " +
             kResourceNames[kind] + ", " + std::to_string(int64_t(there)) +
             " are there";
  return "";
}

/// How a tensor's elements come or go: a row of a packed one, or a pixel, from
/// a new word on.
BeatFormat formatOf(const engine::TensorPlace &place, Type type, int64_t in) {
  return gen::formatOf(
      type, in, place.isPacked ? place.width * place.channels : place.channels);
}

/// What its instructions do, within limits.
bool isCarriedOut(Operation *op) {
  return isa<osa::Conv2dOp, osa::DenseOp, osa::SumPoolOp, osa::MaxPoolOp,
             osa::RequantizeOp, osa::ScaledAddOp, osa::TableOp,
             osa::ThresholdOp, osa::MatmulOp, osa::ConcatOp, osa::GatherOp,
             osa::TransposeOp, osa::PadOp>(op);
}

/// Whether a word of either stream is a beat of the tensor.
bool isInBeats(const Region &region, const engine::CompiledNetwork &network,
               const engine::Core &core) {
  auto beats = [&](const engine::TensorPlace &place, Value value) {
    return formatOf(place, value.getType(), core.in).beats();
  };
  return network.received ==
             beats(network.inputs.front(), region.ins().front()) &&
         network.sent == beats(network.outputs.front(), region.outs().front());
}

/// Whether nothing else of its function needs hardware.
bool isAllOfIts(const Region &region) {
  const llvm::SmallPtrSet<Operation *, 32> ops(region.ops().begin(),
                                               region.ops().end());
  return llvm::all_of(*region.front()->getBlock(), [&](Operation &op) {
    return ops.contains(&op) || op.hasTrait<OpTrait::IsTerminator>() ||
           isa<osa::ConstantOp, osa::ReshapeOp>(op);
  });
}

class EngineGenerator final : public Generator {
public:
  llvm::StringRef name() const override { return "engine"; }

  bool offersOn(const DeviceContext &device) const override {
    return !device.memories.empty() && device.hasDsp &&
           device.cost.shiftRegisters && device.cost.dspWide >= 25;
  }

  std::vector<Region> regions(ArrayRef<Operation *> ops) const override {
    if (cores().empty() || llvm::none_of(ops, isCarriedOut))
      return {};
    return engineRuns(ops, cores().front());
  }

  std::optional<std::string> coverage(const Region &region) const override {
    if (region.isSingle() && !isCarriedOut(region.front()))
      return "has no instruction for " +
             region.front()->getName().getStringRef().str();
    if (region.isSingle())
      return "carries out runs of several operations";
    if (region.ins().size() != 1 || region.outs().size() != 1)
      return "has one stream on either side";
    return std::nullopt;
  }

  std::vector<std::pair<Operation *, std::string>>
  refusals(ArrayRef<Operation *> ops) const override {
    std::vector<std::pair<Operation *, std::string>> refused;
    if (!cores().empty())
      return engineRefusals(ops, cores().front());
    for (Operation *op : ops)
      refused.emplace_back(op, "has no core in the data folder");
    return refused;
  }

  std::string whyNone(const Region &,
                      const DeviceContext &device) const override {
    if (const double best = bestClock(device); device.clockMhz > best)
      return llvm::formatv("needs a clock of at most {0} MHz: {1} levels of "
                           "logic of {2:F2} ns and a register of {3:F2} ns",
                           int64_t(best), kLevels, device.cost.delays.levelNs,
                           device.cost.delays.registerNs);
    if (device.memories.empty() || cores().empty())
      return "has no core or no memory";
    auto core = coreFor(cores().front(),
                        device.memories.front().portBitsAt(device.clockMhz),
                        /*mayNarrow=*/true);
    const std::string lacking =
        core ? lackingFor(unitOf(*core, device, device.hasUltra()), device)
             : "";
    return lacking.empty() ? "has no program for it on a core that fits"
                           : "needs " + lacking;
  }

  /// The largest core that fits, with every product of the array and every
  /// lane at work.
  std::optional<double>
  leastCycles(ArrayRef<Operation *> ops,
              const DeviceContext &device) const override {
    double products = 0, lanes = 0, array = 0, vector = 0;
    if (offersOn(device) && device.clockMhz <= bestClock(device))
      for (const engine::Core &core : cores())
        if (lackingFor(unitOf(core, device, device.hasUltra()), device)
                .empty()) {
          products = std::max(products, double(core.in * core.out));
          lanes = std::max(lanes, double(core.in));
        }
    if (products == 0 || !llvm::all_of(ops, isCarriedOut))
      return std::nullopt;
    for (Operation *op : ops) {
      const osa::Work work = osa::computeWork(op);
      if (work.macs > 0)
        array += double(work.macs) / products;
      else
        vector +=
            double(
                cast<ShapedType>(op->getResult(0).getType()).getNumElements()) /
            lanes;
    }
    return std::max(array, vector);
  }

  std::vector<Offer> offers(const Region &region,
                            ArrayRef<std::optional<BeatFormat>>,
                            const DeviceContext &device) const override {
    std::vector<Offer> made;
    if (!offersOn(device) || device.clockMhz > bestClock(device))
      return made;
    std::vector<Question> questions = questionsFor(device, /*mayNarrow=*/false);
    // Others at the memory's port have its width.
    if (questions.empty() && isAllOfIts(region))
      questions = questionsFor(device, /*mayNarrow=*/true);
    llvm::parallelFor(0, questions.size(), [&](size_t i) {
      Question &q = questions[i];
      q.network = engineProgram(region, q.core, memoryOf(q.units.front()));
    });
    for (Question &q : questions)
      for (Actor &unit : q.units)
        if (q.network && isInBeats(region, *q.network, q.core))
          for (int64_t room : kRooms) {
            unit.set("Room", room * kMiB / q.core.in);
            if (q.network->memoryWords[0] <= unit.get("Room"))
              made.push_back(offerOf(region, unit, *q.network, *q.memory,
                                     q.named->name, device));
          }
    return made;
  }

  void build(const Region &region, Offer &offer,
             MemoryImages &images) const override {
    Actor &unit = offer.body.back();
    const engine::Core core = engine::coreOf(unit.as<unit::Engine>());
    auto network = engineProgram(region, core, memoryOf(unit));
    assert(network && "it was offered");
    std::vector<int8_t> bytes(size_t(unit.get("segment")));
    for (const engine::Segment &segment : network->segments)
      llvm::copy(segment.bytes, bytes.begin() + segment.address * core.in);
    images[unit.name] = MemoryImage::ofBytes(core.port_bits, bytes);
    unit.memories[0].segment = unit.name;
    engine::Listing listing = network->listing;
    listing.unit = unit.name;
    listing.memory = unit.memories[0].memory;
    const std::string text =
        llvm::formatv("{0}\n", llvm::json::Value(toJson(listing)));
    images[unit.name + kLayersFile.str()] =
        MemoryImage::ofBytes(8, {text.begin(), text.end()});
  }

private:
  /// A core that fits, with its scratchpad in one kind of blocks or the other,
  /// and what it makes of a region.
  struct Question {
    const Memory *memory;
    const engine::Core *named;
    engine::Core core;
    std::vector<Actor> units;
    std::shared_ptr<const engine::CompiledNetwork> network;
  };
  std::vector<Question> questionsFor(const DeviceContext &device,
                                     bool mayNarrow) const {
    std::vector<Question> questions;
    for (const Memory &memory : device.memories)
      for (const engine::Core &named : cores()) {
        auto core =
            coreFor(named, memory.portBitsAt(device.clockMhz), mayNarrow);
        if (!core)
          continue;
        Question question{&memory, &named, *core, {}, nullptr};
        for (int isUltra = 0; isUltra <= int(device.hasUltra()); ++isUltra)
          if (Actor unit = unitOf(*core, device, isUltra);
              lackingFor(unit, device).empty()) {
            setMemory(unit, memory, device.clockMhz);
            question.units.push_back(std::move(unit));
          }
        if (!question.units.empty())
          questions.push_back(std::move(question));
      }
    return questions;
  }

  Offer offerOf(const Region &region, Actor unit,
                const engine::CompiledNetwork &network, const Memory &memory,
                llvm::StringRef coreName, const DeviceContext &device) const {
    const int64_t in = unit.get("In");
    const engine::TensorPlace &from = network.inputs.front(),
                              &to = network.outputs.front();
    const Type inType = region.ins().front().getType(),
               outType = region.outs().front().getType();
    Offer offer;
    offer.generator = "engine";
    offer.inputs = {formatOf(from, inType, in)};
    offer.outputs = {formatOf(to, outType, in)};
    int64_t segment = 0, reads = 0, writes = 0;
    for (const engine::Segment &s : network.segments)
      segment = std::max(segment, s.address * in + int64_t(s.bytes.size()));
    for (int64_t words : network.predicted.readWords)
      reads += words * in;
    for (int64_t words : network.predicted.writtenWords)
      writes += words * in;
    // Working space begins on a page.
    segment = int64_t(llvm::alignTo(uint64_t(segment), unit::kPageBytes));
    unit.set("segment", segment);
    unit.set("Program", 0);
    unit.set("InWidth", offer.inputs[0].width);
    unit.set("InSigned", offer.inputs[0].isSigned);
    unit.set("InBias", from.bias);
    unit.set("OutWidth", offer.outputs[0].width);
    unit.set("OutBias", to.bias);
    unit.set("InBeats", offer.inputs[0].beats());
    unit.set("OutBeats", offer.outputs[0].beats());
    unit.set("cycles", network.predicted.cycles + kAround);
    unit.set("traffic", reads + writes);
    unit.memories = {{memory.name, MemoryPlace::kAnyBank, ""}};
    offer.busyCycles = unit.get("cycles");
    offer.traffic = {{memory.name, double(reads), double(writes)}};
    offer.weights = WeightHome::Streamed;
    offer.isProgrammed = true;
    offer.key = OptionKey("engine", "engine")
                    .add("core", coreName)
                    .add("room", unit.get("Room") * in / kMiB);
    if (device.memories.size() > 1)
      offer.key.add("memory", memory.name);
    if (device.hasUltra())
      offer.key.add("scratchpad", unit.get("Ultra") ? "uram" : "bram");
    offer.summary = std::to_string(unit.get("In")) + " × " +
                    std::to_string(unit.get("Out")) +
                    " products a cycle, programs and weights in '" +
                    memory.name + "'";
    offer.body.chain(std::move(unit), offer.outputs[0]);
    finishOffer(offer, device);
    return offer;
  }
};
} // namespace

std::unique_ptr<Generator> makeEngineGenerator() {
  return std::make_unique<EngineGenerator>();
}
} // namespace rhizome::gen
