// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves FIFOs whose depths are known: a plan is made without this choice, so
// that it costs nothing where everything fits on the chip.
#include "Spills.h"
#include "rhizome/Design/Spill.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
/// The user's setting for what an actor joins: one for a node of it takes
/// precedence.
static const Steering::Fifo *settingOf(const Steering &steering,
                                       flow::ActorOp join) {
  const Steering::Fifo *found = nullptr;
  for (const Steering::Fifo &fifo : steering.fifos)
    if (llvm::is_contained(join.getNodeNames(), fifo.node) ||
        (fifo.node.empty() && !found))
      found = &fifo;
  return found;
}

int64_t intervalOf(const NodeResult &node) {
  int64_t cycles = 1;
  for (const Selection &selection : node.selections)
    cycles = std::max(cycles, selection.offer.busyCycles);
  return cycles;
}

static bool move(const SpillSite &site, flow::ActorOp op,
                 SmallVectorImpl<MovedBuffer> &moved) {
  const Memory &memory = site.place.context.memories.front();
  auto there = inMemory(op, memory, double(intervalOf(site.node)));
  if (there)
    moved.push_back(moveToMemory(op, *there, memory, site.dies));
  return there.has_value();
}

bool spillAsAsked(const SpillSite &site) {
  if (site.steering.fifos.empty() || !site.place.context.mayLoad())
    return false;
  SmallVector<MovedBuffer> moved;
  for (flow::ActorOp op : movableBuffers(site.node.design))
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
  int die = 0;
  Resources saved;
};

/// Those that save blocks, most first.
static SmallVector<Movable> largestOf(const SpillSite &site) {
  SmallVector<Movable> fifos;
  const DeviceContext &context = site.place.context;
  if (!site.place.context.mayLoad())
    return fifos;
  for (flow::ActorOp op : movableBuffers(site.node.design)) {
    if (settingOf(site.steering, joinAfter(op)))
      continue;
    if (auto there = inMemory(op, context.memories.front(),
                              double(intervalOf(site.node))))
      if (const Resources saved = savedBy(op, *there, context.cost);
          saved.bram() > 0)
        fifos.push_back({op, dieOf(op), saved});
  }
  llvm::stable_sort(fifos, [](const Movable &a, const Movable &b) {
    return a.saved.bram() > b.saved.bram();
  });
  return fifos;
}

/// The blocks that the device lacks, or else one of its dies.
static double lackingBlocks(const SpillSite &site) {
  return site.node.resources.bram() - site.room.budget.bram();
}

static double lackingBlocks(const SpillSite &site, int die) {
  const auto d = size_t(die);
  return d < site.node.dies.size() ? site.node.dies[d].resources.bram() -
                                         site.room.dies.budgets[d].bram()
                                   : 0;
}

double memoryShareOf(const SpillSite &site) {
  if (!site.place.context.mayLoad())
    return 0;
  const Memory &memory = site.place.context.memories.front();
  const double clockMhz = site.place.context.clockMhz;
  return loadOf(site.node.design, memory.name).busiest * clockMhz * 1e6 /
         (memory.bankBytesPerS(clockMhz) * double(intervalOf(site.node)));
}

/// Whether FIFOs in a bank would make others wait.
static bool isBusy(const SpillSite &site) {
  constexpr double kBusy = 0.8;
  return memoryShareOf(site) > kBusy;
}

bool couldSpill(const SpillSite &site,
                llvm::function_ref<bool(const Resources &)> fits) {
  if (!site.place.context.mayLoad() || isBusy(site))
    return false;
  const SmallVector<Movable> fifos = largestOf(site);
  // What lies in a memory takes more LUTs: as few as are needed.
  Resources needs = site.node.resources;
  size_t count = 0;
  for (; !fits(needs); ++count) {
    if (count == fifos.size())
      return false;
    for (size_t k = 0; k < needs.amount.size(); ++k)
      needs.amount[k] -= fifos[count].saved.amount[k];
  }
  // Another layout may do for dies.
  if (count > 0)
    return true;
  bool lacks = false;
  for (int die = 0; die < site.dies.count; ++die) {
    double blocks = lackingBlocks(site, die);
    lacks |= blocks > 0;
    for (const Movable &each : fifos)
      if (each.die == die)
        blocks -= each.saved.bram();
    if (blocks > 0)
      return false;
  }
  return lacks;
}

/// Moves all of the buffers before joins of these nodes, in the order in which
/// a plan that is read moves them.
static SmallVector<MovedBuffer> moveBefore(const SpillSite &site,
                                           const llvm::StringSet<> &nodes) {
  SmallVector<MovedBuffer> moved;
  for (flow::ActorOp op : movableBuffers(site.node.design))
    if (llvm::any_of(joinAfter(op).getNodeNames(),
                     [&](StringRef node) { return nodes.contains(node); }))
      move(site, op, moved);
  return moved;
}

bool spillToFit(const SpillSite &site) {
  SmallVector<MovedBuffer> moved;
  llvm::StringSet<> nodes;
  SmallVector<Movable> fifos = largestOf(site);
  bool fits = false;
  while (!fits) {
    // Where blocks are short.
    const bool all = site.dies.count < 2 || lackingBlocks(site) > 0;
    auto next = llvm::find_if(fifos, [&](const Movable &each) {
      return all || lackingBlocks(site, each.die) > 0;
    });
    if (next == fifos.end())
      break;
    nodes.insert_range(joinAfter(next->op).getNodeNames());
    move(site, next->op, moved);
    fifos.erase(next);
    fits = site.fits();
  }
  if (moved.empty())
    return false;
  auto undo = [&] {
    for (const MovedBuffer &each : llvm::reverse(moved))
      moveToChip(each);
    moved.clear();
  };
  // Banks and ports follow from the order.
  if (fits && moved.size() > 1) {
    undo();
    moved = moveBefore(site, nodes);
    fits = site.fits();
  }
  const bool enough = fits || (site.dies.count > 1 && lackingBlocks(site) <= 0);
  if (enough && !isBusy(site) && passesFrames(site.node.design))
    return true;
  undo();
  return false;
}
} // namespace rhizome::explore
