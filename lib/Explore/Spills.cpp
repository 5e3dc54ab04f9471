// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves FIFOs whose depths are known: a plan is made without this choice, so
// that it costs nothing where everything fits on the chip.
#include "Spills.h"
#include "rhizome/Generator/Spill.h"

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
/// The user's setting for a node: one for the node itself takes precedence.
static const Steering::Fifo *settingOf(const Steering &steering,
                                       StringRef node) {
  const Steering::Fifo *found = nullptr;
  for (const Steering::Fifo &fifo : steering.fifos)
    // Circuits that were merged have the names of all their nodes.
    if (llvm::is_contained(llvm::split(node, ", "), fifo.node) ||
        (fifo.node.empty() && !found))
      found = &fifo;
  return found;
}

/// The interval that the plan is made for.
static double cyclesOf(const NodeResult &node) {
  int64_t cycles = 1;
  for (const Selection &selection : node.selections)
    cycles = std::max(cycles, selection.offer.busyCycles);
  return double(cycles);
}

static bool move(const SpillSite &site, flow::ActorOp op,
                 SmallVectorImpl<MovedBuffer> &moved) {
  const Memory &memory = site.place.context.memories.front();
  auto there = inMemory(op, memory, cyclesOf(site.node));
  if (there)
    moved.push_back(moveToMemory(op, *there, memory));
  return there.has_value();
}

bool spillAsAsked(const SpillSite &site) {
  if (site.steering.fifos.empty() || !site.place.context.mayLoad())
    return false;
  SmallVector<MovedBuffer> moved;
  for (flow::ActorOp op : movableBuffers(site.node.design, site.dies))
    if (const Steering::Fifo *fifo = settingOf(site.steering, joinAfter(op));
        fifo && fifo->inMemory)
      move(site, op, moved);
  // Shallow ones may have too few words for a burst.
  llvm::stable_sort(moved, [](const MovedBuffer &a, const MovedBuffer &b) {
    return a.depth > b.depth;
  });
  while (!moved.empty() && !passesFrames(site.node.design)) {
    moveToChip(moved.back());
    moved.pop_back();
  }
  return !moved.empty();
}

/// A FIFO that may be moved to make room, and what that saves.
struct Movable {
  flow::ActorOp op;
  Resources saved;
};

/// Those that save blocks, most first. A design on several dies has its FIFOs
/// wherever its layers are.
static SmallVector<Movable> largestOf(const SpillSite &site) {
  SmallVector<Movable> fifos;
  const DeviceContext &context = site.place.context;
  if (!context.mayLoad() || site.dies.count > 1)
    return fifos;
  for (flow::ActorOp op : movableBuffers(site.node.design, site.dies)) {
    if (settingOf(site.steering, joinAfter(op)))
      continue;
    if (auto there =
            inMemory(op, context.memories.front(), cyclesOf(site.node)))
      if (const Resources saved = savedBy(op, *there, context.cost);
          saved.bram() > 0)
        fifos.push_back({op, saved});
  }
  llvm::stable_sort(fifos, [](const Movable &a, const Movable &b) {
    return a.saved.bram() > b.saved.bram();
  });
  return fifos;
}

bool couldSpill(const SpillSite &site,
                llvm::function_ref<bool(const Resources &)> fits) {
  // What lies in a memory takes more LUTs: as few as are needed.
  Resources needs = site.node.resources;
  for (const Movable &each : largestOf(site)) {
    for (size_t k = 0; k < needs.amount.size(); ++k)
      needs.amount[k] -= each.saved.amount[k];
    if (fits(needs))
      return true;
  }
  return false;
}

bool spillToFit(const SpillSite &site) {
  // Beyond this part of its best rate a bank makes others wait.
  constexpr double kBusy = 0.8;
  SmallVector<MovedBuffer> moved;
  bool fits = false;
  for (const Movable &each : largestOf(site))
    if (move(site, each.op, moved) && (fits = site.fits()))
      break;
  if (fits) {
    const Memory &memory = site.place.context.memories.front();
    const double clockMhz = site.place.context.clockMhz;
    fits = loadOf(site.node.design, memory.name).busiest <=
               kBusy * memory.bankBytesPerS(clockMhz) * cyclesOf(site.node) /
                   (clockMhz * 1e6) &&
           passesFrames(site.node.design);
  }
  if (fits)
    return true;
  for (const MovedBuffer &each : moved)
    moveToChip(each);
  return false;
}
} // namespace rhizome::explore
