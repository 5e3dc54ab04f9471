// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/Targets.h"
#include "rhizome/Cost/Link.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Target/Cluster.h"
#include "rhizome/Target/CostModel.h"
#include "rhizome/Units/Shared.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::planbuild;

/// The narrowest and the widest streams of the link's endpoint.
static constexpr int64_t kLeastStreamBits = 8, kMostStreamBits = 64;

static explore::Wire wireOf(const Link &link) {
  explore::Wire wire{link};
  wire.slotWords = gen::linkSlotWords(link);
  return wire;
}

/// The best clock of a device, with a note of what limits it.
static llvm::Expected<double> bestClock(Targets &targets,
                                        const Device &device) {
  llvm::Expected<FamilyModel> family = loadFamilyModel(device.family);
  if (!family)
    return family.takeError();
  BestClock best = bestClockOf(*family);
  if (device.maxClockMhz > 0 && best.mhz > device.maxClockMhz)
    best = {device.maxClockMhz, "the most that its data sheet gives"};
  std::string note =
      llvm::formatv("{0} has a clock of {1} MHz: {2}", device.name,
                    llvm::format("%g", best.mhz), best.limit);
  if (!llvm::is_contained(targets.notes, note))
    targets.notes.push_back(std::move(note));
  return best.mhz;
}

/// The clock of a design on a device, if the device can have it.
static llvm::Expected<double> clockFor(Targets &targets, const Device &device,
                                       std::optional<double> wanted) {
  if (!wanted)
    return device.clockMhz;
  if (*wanted == TargetChoice::kBestClock)
    return bestClock(targets, device);
  if (device.maxClockMhz > 0 && *wanted > device.maxClockMhz)
    return llvm::createStringError(
        "--clock-mhz: %g MHz is beyond %g MHz, the most that the data sheet of "
        "%s gives for any design; --clock-mhz auto takes the best that its "
        "delays allow",
        *wanted, device.maxClockMhz, device.name.c_str());
  llvm::Expected<FamilyModel> family = loadFamilyModel(device.family);
  if (!family)
    return family.takeError();
  const FamilyModel::Delays &delays = family->delays;
  if (const double least = delays.reg + delays.level; *wanted * least > 1000)
    return llvm::createStringError(
        "--clock-mhz: %g MHz leaves %.2f ns, but a register and one level of "
        "logic of %s take %.2f ns; --clock-mhz auto takes the best that its "
        "delays allow",
        *wanted, 1000 / *wanted, family->family.c_str(), least);
  return *wanted;
}

/// The context of a device; what it costs is read once for equal ones.
static llvm::Expected<gen::DeviceContext>
contextFor(Targets &targets, const Device &device,
           std::optional<double> clockMhz) {
  for (auto [known, place] :
       llvm::zip_equal(targets.devices, targets.places.places))
    if (known == device)
      return place.context;
  llvm::Expected<double> clock = clockFor(targets, device, clockMhz);
  if (!clock)
    return clock.takeError();
  return contextOf(device, *clock);
}

static llvm::Error addPlace(Targets &targets, const Device &device,
                            const TargetChoice &request) {
  llvm::Expected<gen::DeviceContext> context =
      contextFor(targets, device, request.clockMhz);
  if (!context)
    return context.takeError();
  context->generators = request.generators;
  explore::ClusterPlace place;
  place.device = device.name;
  place.capacity = device.budget;
  place.streamBits = device.streamBits;
  place.routable = device.routable;
  for (const Die &die : device.dies.dies) {
    gen::Resources all;
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      all.amount[k] = gen::available(die.budget, k);
    place.dieCapacity.push_back(all);
  }
  place.dies = {place.dieCapacity, device.dies.wires, device.dies.registers,
                device.dies.border, device.dies.memory};
  place.context = std::move(*context);
  targets.places.places.push_back(std::move(place));
  targets.devices.push_back(device);
  return llvm::Error::success();
}

static void addLink(Targets &targets, const Link &link) {
  for (const PlannedLink &known : targets.links)
    if (known.name == link.name)
      return;
  targets.links.push_back({link, link.name});
}

llvm::Expected<Targets> planbuild::targetsOf(const TargetChoice &request) {
  Targets targets;
  if (!request.cluster.empty()) {
    llvm::Expected<Cluster> cluster = loadCluster(request.cluster);
    if (!cluster)
      return cluster.takeError();
    targets.cluster = cluster->name;
    targets.places.isChain = cluster->topology == Cluster::Topology::Chain;
    targets.places.mayReplicate = cluster->replicas;
    targets.places.hostWire = wireOf(cluster->hostLink);
    targets.hostLink = cluster->hostLink.name;
    addLink(targets, cluster->hostLink);
    for (const ClusterNode &node : cluster->nodes) {
      if (llvm::Error error = addPlace(targets, node.device, request))
        return std::move(error);
      explore::ClusterPlace &place = targets.places.places.back();
      place.wire = wireOf(node.link);
      place.link = node.link.name;
      // The endpoint takes a shell's streams unchanged up to 64 bits; wider
      // ones are narrowed before it.
      place.streamBits = std::min(place.streamBits, kMostStreamBits);
      // A shell's streams are fixed; on a wire, the endpoint is entirely ours.
      if (place.wire->isReliable())
        place.leastBits = kLeastStreamBits;
      addLink(targets, node.link);
    }
    return targets;
  }
  std::optional<Board> &board = targets.board;
  if (!request.board.empty()) {
    llvm::Expected<Board> loaded = loadBoard(request.board);
    if (!loaded)
      return loaded.takeError();
    board = std::move(*loaded);
  }
  llvm::Expected<Device> device =
      loadDevice(board ? board->device : request.device);
  if (!device)
    return device.takeError();
  // There is no PLL on a board: the oscillator is the design's clock.
  if (board) {
    device->clockMhz = board->clockMhz;
    if (request.clockMhz == TargetChoice::kBestClock)
      return llvm::createStringError(
          "--clock-mhz auto: the oscillator of %s gives the clock, %g MHz; "
          "leave the option out",
          board->name.c_str(), board->clockMhz);
  }
  if (request.border == "wide")
    device->streamBits = gen::kWideBorder;
  if (llvm::Error error = addPlace(targets, *device, request))
    return std::move(error);
  return targets;
}
