// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves buffers to a memory: how words become bursts, the ring's size, and the
// bank.
#include "rhizome/Design/Spill.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Units/Shared.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace mlir;

namespace rhizome::gen {
/// Words that a FIFO must hold: fewer are in registers and LUTs anyway.
static constexpr int64_t kFewWords = 128;
/// The most beats of a burst, and bits of a beat.
static constexpr int64_t kMostBurst = 32, kMostBits = 512;

using cost::ceilDiv;

flow::ActorOp joinAfter(flow::ActorOp op) {
  if (op.getNumResults() != 1 || !op.getOutputs()[0].hasOneUse())
    return nullptr;
  auto join = dyn_cast<flow::ActorOp>(*op.getOutputs()[0].getUsers().begin());
  if (!join || join.getInputs().size() < 2)
    return nullptr;
  const Actor actor = actorOf(join);
  return actor.model().takesTurns(actor) ? nullptr : join;
}

static bool isFifo(flow::ActorOp op) { return op.getUnit().is<unit::Fifo>(); }

/// Whether its buffer is deep, and not because the unit itself needs it so.
static bool isMovable(flow::ActorOp op) {
  if (op.getNumResults() != 1 || op.getInputs().empty() ||
      op.getDepths()[0] < kFewWords || !op.getBanks().empty() ||
      op.getBatch() > 1 || !joinAfter(op))
    return false;
  const Actor actor = actorOf(op);
  return 2 * actor.model().leastDepth(actor) < op.getDepths()[0];
}

SmallVector<flow::ActorOp> movableBuffers(flow::DesignOp design) {
  SmallVector<flow::ActorOp> buffers;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (isMovable(op))
      buffers.push_back(op);
  return buffers;
}

static flow::StreamType streamOf(flow::ActorOp op) {
  return cast<flow::StreamType>(op.getOutputs()[0].getType());
}

/// What a bank does so far: the bytes of its ports per frame, and the bits of a
/// beat, 0 without a port.
struct BankUse {
  int64_t bytes = 0, bits = 0;
};
static std::map<int64_t, BankUse> banksOf(flow::DesignOp design,
                                          StringRef memory) {
  std::map<int64_t, BankUse> banks;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks()))
      if (bank.getMemory() == memory) {
        BankUse &use = banks[bank.getBank()];
        use.bytes += port->traffic.bytes(unit.params.data());
        use.bits = unit.bitsOf(*port);
      }
  }
  return banks;
}

MemoryLoad loadOf(flow::DesignOp design, StringRef memory) {
  MemoryLoad load;
  for (const auto &[bank, use] : banksOf(design, memory)) {
    load.bytes += double(use.bytes);
    load.busiest = std::max(load.busiest, double(use.bytes));
  }
  return load;
}

/// The words of a beat: as many as it has room for, such that a frame is whole
/// beats.
static int64_t wordsOfBeat(int64_t width, int64_t bits, int64_t words) {
  constexpr int64_t kMost = 32;
  int64_t per = std::clamp<int64_t>(bits / width, 1, kMost);
  while (words % per)
    --per;
  return per;
}

/// The parameters of a FIFO for so many words at this port.
static MemoryFifo shapeOf(int64_t width, int64_t words, int64_t depth,
                          int64_t bits, const rhz::MemoryTiming &timing,
                          double intervalCycles) {
  MemoryFifo fifo;
  fifo.bits = bits;
  fifo.per = wordsOfBeat(width, bits, words);
  const int64_t parts = ceilDiv(width, bits), beats = words / fifo.per * parts;
  // Several bursts' words are there before the first one is needed.
  fifo.burst = 1;
  while (fifo.burst < kMostBurst && fifo.burst < beats &&
         2 * fifo.burst * (bits / 8) <= unit::kPageBytes &&
         8 * fifo.burst * fifo.per <= depth * parts)
    fifo.burst *= 2;
  // Beats that go through the buffers while one is on its way, at twice the
  // mean rate: words come in rows.
  constexpr int64_t kAround = 16; // cycles of requests, answers and arbiters
  const double rate =
      std::min(1.0, 2 * double(beats) / std::max(1.0, intervalCycles));
  const int64_t way =
      timing.latency + timing.refresh + kAround + 2 * fifo.burst;
  const auto flying = int64_t(std::ceil(rate * double(way)));
  fifo.buffer = std::max<int64_t>(2, fifo.burst + std::max(fifo.burst, flying));
  fifo.inFlight = std::clamp<int64_t>(ceilDiv(flying, fifo.burst) + 1, 2, 16);
  // The ring, too, holds what is on its way; a frame's last burst may be short.
  fifo.slots = ceilDiv(depth * parts, fifo.per * fifo.burst) +
               ceilDiv(depth, words) + 1 + fifo.inFlight +
               ceilDiv(fifo.buffer, fifo.burst);
  return fifo;
}

/// An actor on this stream, with the place of another one.
static flow::ActorOp create(OpBuilder &b, const Actor &actor, Value input,
                            int64_t depth, flow::ActorOp like,
                            ArrayAttr nodes) {
  SmallVector<NamedAttribute> config;
  for (auto [key, value] : actor.params.all())
    if (key != "Depth")
      config.push_back(b.getNamedAttr(key, b.getI64IntegerAttr(value)));
  auto made = flow::ActorOp::create(
      b, like.getLoc(), input.getType(), input,
      b.getStringAttr(actor.kind().name), b.getStringAttr(actor.name),
      b.getDictionaryAttr(config), b.getDenseI64ArrayAttr({depth}));
  SmallVector<Attribute> banks;
  for (const MemoryPlace &place : actor.memories)
    banks.push_back(flow::BankAttr::get(b.getContext(), place.memory,
                                        place.bank, place.segment));
  if (!banks.empty())
    made.setMemoriesAttr(b.getArrayAttr(banks));
  made.setNodesAttr(nodes);
  made.setDieAttr(like.getDieAttr());
  return made;
}

/// The depth of an output buffer in which nothing waits.
static int64_t shallowDepth(flow::ActorOp op) {
  Actor actor = actorOf(op);
  sizeOutput(actor);
  return actor.get("Depth");
}

std::optional<Actor> inMemory(flow::ActorOp op, const Memory &memory,
                              double intervalCycles) {
  auto design = op->getParentOfType<flow::DesignOp>();
  const int64_t depth = op.getDepths()[0], width = streamOf(op).bits(),
                words = streamOf(op).beatsPerFrame();
  const double clockMhz = design.getClockMhz().convertToDouble();
  // A bank without a port can have one that fits.
  const auto banks = banksOf(design, memory.name);
  std::pair<int64_t, int64_t> best(-1, -1); // bytes and whether it has a port
  BankUse use;
  int64_t bank = -1;
  for (int64_t k = 0; k < memory.banks; ++k) {
    auto found = banks.find(k);
    const BankUse here = found == banks.end() ? BankUse() : found->second;
    std::pair<int64_t, int64_t> price(here.bytes, here.bits > 0);
    if (here.bits <= kMostBits && (bank < 0 || price < best)) {
      best = price;
      use = here;
      bank = k;
    }
  }
  if (bank < 0)
    return std::nullopt;
  int64_t bits = use.bits;
  if (bits == 0) {
    // All that may come to stand here.
    int64_t needed = std::min(width, kMostBits);
    if (memory.banks == 1)
      for (auto other : design.getBody().getOps<flow::ActorOp>())
        if (isMovable(other))
          needed =
              std::max(needed, std::min(streamOf(other).bits(), kMostBits));
    bits = std::min<int64_t>(
        std::min(kMostBits, memory.portBitsAt(clockMhz)),
        std::max<int64_t>(64, int64_t(llvm::PowerOf2Ceil(uint64_t(needed)))));
  }
  const auto timing = rhz::MemoryTiming::of(memory, bits / 8, clockMhz);
  Actor there =
      makeMemFifo(shapeOf(width, words, depth, bits, timing, intervalCycles),
                  width, words, {memory.name, bank, ""});
  there.name = op.getName().str() + (isFifo(op) ? "" : "_fifo");
  there.memories[0].segment = there.name;
  return there;
}

Resources savedBy(flow::ActorOp op, const Actor &there,
                  const CostContext &context) {
  Actor actor = actorOf(op);
  Resources saved = costOf(actor, context);
  auto subtract = [&](const Resources &cost) {
    for (size_t k = 0; k < saved.amount.size(); ++k)
      saved.amount[k] -= cost.amount[k];
  };
  subtract(costOf(there, context));
  if (!isFifo(op)) {
    actor.set("Depth", shallowDepth(op));
    subtract(costOf(actor, context));
  }
  return saved;
}

/// Where a stream comes nearest to a die, upwards from here: words of a FIFO
/// may wait before the crossings that they pass.
static Value nearestTo(Value stream, int die) {
  Value nearest = stream;
  auto op = stream.getDefiningOp<flow::ActorOp>();
  int least = std::abs(dieOf(op) - die);
  while (least > 0 && op.getUnit().is<unit::Crossing>()) {
    stream = op.getInputs()[0];
    op = stream.getDefiningOp<flow::ActorOp>();
    if (const int apart = std::abs(dieOf(op) - die); apart < least) {
      least = apart;
      nearest = stream;
    }
  }
  return nearest;
}

/// Takes a stream to a die, over those between, each behind the one before.
static Value cross(OpBuilder &b, Value stream, int to, const DieRow &dies,
                   StringRef name, ArrayAttr nodes,
                   SmallVectorImpl<flow::ActorOp> &crossings) {
  auto like = stream.getDefiningOp<flow::ActorOp>();
  for (int die = dieOf(like); die != to;) {
    const int from = die;
    die += to > die ? 1 : -1;
    auto type = cast<flow::StreamType>(stream.getType());
    Actor crossing(unit::Crossing::kKind,
                   (name + "_" + std::to_string(crossings.size())).str(),
                   {{"Width", type.bits()},
                    {"Registers", dies.registers},
                    {"frameBeats", type.beatsPerFrame()}});
    sizeOutput(crossing);
    auto op = create(b, crossing, stream, crossing.get("Depth"), like, nodes);
    op.setDie(die);
    op.setFromDie(from);
    crossings.push_back(op);
    stream = op.getOutputs()[0];
  }
  return stream;
}

MovedBuffer moveToMemory(flow::ActorOp op, const Actor &there,
                         const Memory &memory, const DieRow &dies) {
  auto design = op->getParentOfType<flow::DesignOp>();
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  MovedBuffer moved;
  moved.depth = op.getDepths()[0];
  const ArrayAttr nodes = joinAfter(op).getNodesAttr();
  Value stream = op.getOutputs()[0];
  moved.source = isFifo(op) ? op.getInputs()[0] : stream;
  Value at = isFifo(op) && dies.count > 1 ? nearestTo(moved.source, dies.memory)
                                          : moved.source;
  if (at != moved.source)
    b.setInsertionPointAfter(at.getDefiningOp());
  const Location loc = op.getLoc();
  if (isFifo(op)) {
    stream.replaceAllUsesWith(moved.source);
    op.erase();
  } else {
    moved.before = op;
    op.setDepths({shallowDepth(op)});
  }
  // Whoever reads the stream there reads what comes back.
  OpOperand &reader = *at.getUses().begin();
  const int home = dieOf(at.getDefiningOp<flow::ActorOp>()),
            away = dies.count > 1 ? dies.memory : home;
  Value here = cross(b, at, away, dies, there.name + "_to", nodes, moved.way);
  moved.there = create(b, there, here, there.get("Depth"),
                       here.getDefiningOp<flow::ActorOp>(), nodes);
  moved.there->setLoc(loc);
  reader.set(cross(b, moved.there.getOutputs()[0], home, dies,
                   there.name + "_back", nodes, moved.back));
  // The design names the memories that it uses.
  SmallVector<Attribute> known;
  if (auto all = design.getMemories())
    llvm::append_range(known, *all);
  if (llvm::none_of(known, [&](Attribute attr) {
        return cast<flow::MemoryAttr>(attr).getName() == memory.name;
      })) {
    known.push_back(flow::MemoryAttr::get(
        design.getContext(), memory.name, memory.banks, memory.bytesPerS,
        memory.latencyNs, memory.turnaroundNs, memory.refreshEveryNs,
        memory.refreshNs));
    design.setMemoriesAttr(ArrayAttr::get(design.getContext(), known));
  }
  return moved;
}

void moveToChip(const MovedBuffer &moved) {
  flow::ActorOp there = moved.there;
  auto design = there->getParentOfType<flow::DesignOp>();
  const auto memFifo = there.getUnit().as<unit::MemFifo>();
  Actor fifo(unit::Fifo::kKind, there.getName().str(),
             {{"Width", memFifo.Width}, {"frameBeats", memFifo.frameBeats}});
  const ArrayAttr nodes = there.getNodesAttr();
  const Location loc = there.getLoc();
  flow::ActorOp first = moved.way.empty() ? there : moved.way.front(),
                last = moved.back.empty() ? there : moved.back.back();
  Value at = first.getInputs()[0];
  OpBuilder b(there);
  b.setInsertionPointAfter(last);
  last.getOutputs()[0].replaceAllUsesWith(at);
  for (flow::ActorOp crossing : llvm::reverse(moved.back))
    crossing.erase();
  there.erase();
  for (flow::ActorOp crossing : llvm::reverse(moved.way))
    crossing.erase();
  if (flow::ActorOp before = moved.before) {
    before.setDepths({moved.depth});
  } else {
    OpOperand &reader = *moved.source.getUses().begin();
    if (at != moved.source)
      b.setInsertionPoint(reader.getOwner());
    auto back = create(b, fifo, moved.source, moved.depth,
                       moved.source.getDefiningOp<flow::ActorOp>(), nodes);
    back->setLoc(loc);
    reader.set(back.getOutputs()[0]);
  }
  if (auto all = design.getMemories()) {
    SmallVector<Attribute> used;
    for (Attribute attr : *all)
      if (!banksOf(design, cast<flow::MemoryAttr>(attr).getName()).empty())
        used.push_back(attr);
    if (used.empty())
      design.removeMemoriesAttr();
    else
      design.setMemoriesAttr(ArrayAttr::get(design.getContext(), used));
  }
}

bool passesFrames(flow::DesignOp design) {
  // Later frames find at most what these leave.
  constexpr int kFrames = 2;
  const ProcessNetwork network = networkOf(design);
  Simulation simulation(network, {}, Simulation::Memories::Always,
                        Simulation::Spans::Omitted);
  return !simulation.upTo(kFrames, /*ahead=*/0).deadlock;
}
} // namespace rhizome::gen
