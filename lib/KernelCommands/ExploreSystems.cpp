// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one lane's cycles and resources to a device full of equal units of it,
// which compile builds; what stops one more is the bound.
#include "ExploreSystems.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>
#include <tuple>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

namespace {
/// How a lane is built.
struct Way {
  size_t stages = 0;
  int64_t copies = 1; ///< of the body of the largest nest
  bool isShared = true;
  /// Words of a beat, or at most so many bits of a beat with as many as serve.
  int64_t words = 1, beatBits = 0;
};

/// What a lane is with as many words in a beat.
struct Lane {
  int64_t words = 1, interval = 0;
  bool isPortBound = false; ///< the border takes a twentieth of it, or more
};

class Explorer {
public:
  Explorer(const HardwareRequest &request, NumberedKernel &kernel,
           const planbuild::Targets &targets)
      : request(request), kernel(kernel), device(targets.devices[0]),
        context(targets.places.places[0].context),
        room(roomOf(targets.places, device, nullptr)) {}
  rhizome::Result<SystemResult> run();

private:
  const HardwareRequest &request;
  NumberedKernel &kernel;
  const Device &device;
  const DeviceContext &context;
  const SystemRoom room;
  SystemResult result;

  std::optional<loops::NestChoice> choiceFor(linalg::GenericOp op,
                                             int64_t iterations);
  std::vector<int64_t> copyCounts();
  void addLanes(Way way, const loops::UnitOptions &plain);
  std::optional<Lane> addLane(const Way &way, const loops::UnitOptions &plain,
                              const Lane *before = nullptr);
  void addSystems(const SystemPoint &lane, const loops::KernelUnit &unit);
};

int64_t sizeOf(linalg::GenericOp op) {
  int64_t n = 1;
  for (int64_t size : op.getStaticLoopRanges())
    n *= size;
  return n;
}

/// Operations of an element: those of the nests' bodies in formats.
int64_t operationsOf(const NumberedKernel &kernel) {
  int64_t count = 0;
  auto matching = matchingFormats(kernel);
  for (linalg::GenericOp nest : loops::partsOf(kernel.integers).nests) {
    auto op = cast<linalg::GenericOp>(matching.at(nest));
    for (Operation &inner : op.getBody()->without_terminator())
      if (inner.getNumOperands() > 1)
        count += sizeOf(op) * (inner.getName().stripDialect() == "fma" ? 2 : 1);
  }
  return count;
}

/// The least divisor of `n` that is at least `least`, or `n`.
int64_t divisorFrom(int64_t n, int64_t least) {
  for (int64_t d = std::max<int64_t>(1, least); d < n; ++d)
    if (n % d == 0)
      return d;
  return n;
}

/// Copies that leave at most so many iterations, of the outer loops first.
std::optional<loops::NestChoice> Explorer::choiceFor(linalg::GenericOp op,
                                                     int64_t iterations) {
  loops::NestChoice choice;
  int64_t needed = llvm::divideCeil(sizeOf(op), iterations);
  auto kinds = op.getIteratorTypesArray();
  for (auto [size, kind] : llvm::zip_equal(op.getStaticLoopRanges(), kinds)) {
    int64_t copies = kind == utils::IteratorType::parallel
                         ? divisorFrom(size, std::min(size, needed))
                         : 1;
    choice.copies.push_back(copies);
    needed = llvm::divideCeil(needed, copies);
  }
  if (needed > 1)
    return std::nullopt;
  return choice;
}

/// Copies of the largest nest: the products of sizes of its outer loops.
std::vector<int64_t> Explorer::copyCounts() {
  constexpr int64_t kMostCopies = 128;
  linalg::GenericOp largest;
  for (linalg::GenericOp nest : loops::partsOf(kernel.integers).nests)
    if (!largest || sizeOf(nest) > sizeOf(largest))
      largest = nest;
  std::set<int64_t> counts = {1};
  int64_t before = 1;
  auto kinds = largest.getIteratorTypesArray();
  for (auto [size, kind] :
       llvm::zip_equal(largest.getStaticLoopRanges(), kinds)) {
    if (kind != utils::IteratorType::parallel)
      continue;
    for (int64_t d = 2; d <= size && before * d <= kMostCopies; ++d)
      if (size % d == 0)
        counts.insert(before * d);
    before *= size;
  }
  return std::vector<int64_t>(counts.begin(), counts.end());
}

void Explorer::addSystems(const SystemPoint &lane,
                          const loops::KernelUnit &unit) {
  const DeviceMemory &memory = *device.memory;
  // At the design's clock.
  const int64_t portBits = systemPortBits(context);
  // Words of an element by stream.
  int64_t bits = 8, mostWords = 1, total = 0, streams = 0, residents = 0;
  for (const auto *all : {&unit.inStreams, &unit.outStreams})
    for (const loops::UnitStream &stream : *all) {
      bits = std::max<int64_t>(bits, wordBits(stream.tensors));
      // What stays comes through a channel of its own, for all units.
      if (stream.isOnce) {
        ++residents;
        continue;
      }
      int64_t count = 0;
      for (Value v : stream.tensors)
        count += cast<RankedTensorType>(v.getType()).getNumElements();
      ++streams;
      mostWords = std::max(mostWords, count);
      total += count;
    }
  const double bankBytes = context.memories[0].bankBytesPerS(context.clockMhz);
  const double perLane = context.clockMhz * 1e6 / double(lane.interval);
  // What a channel transfers of each lane, while all of them compute. Groups
  // begin at bursts, so a memory turns between them.
  const double laneSeconds = double(mostWords * bits) / 8 / bankBytes;
  const double turnSeconds = double(memory.turnaroundNs) * 1e-9;
  auto loadOf = [&](int64_t lanes) {
    return (double(lanes) * laneSeconds + turnSeconds) * perLane;
  };
  const int64_t mostLanes = std::max<int64_t>(
      1, std::min(
             portBits / (bits * unit.words),
             int64_t(std::max(0.0, 1 / perLane - turnSeconds) / laneSeconds)));
  auto channelsOf = [&](int64_t units) { return residents + units * streams; };
  std::vector<SystemUnit> sizes; ///< by lanes, from 1
  for (int64_t lanes = 1; lanes <= mostLanes + 1; ++lanes) {
    const std::vector<Mover> movers = moversOf(unit, lanes, context);
    Resources all = priceOf(movers, context.cost);
    for (size_t k = 0; k < kResourceNames.size(); ++k)
      all.amount[k] += double(lanes) * lane.lane.amount[k];
    sizes.push_back(asSystemUnit(all, movers));
  }
  // Why there are no such systems; "": there are.
  auto obstacleTo = [&](int64_t units, int64_t lanes) -> std::string {
    if (lanes > mostLanes)
      return llvm::formatv("a unit has at most {0} lanes: {1}", mostLanes,
                           mostLanes == portBits / (bits * unit.words)
                               ? "more words than a beat of its ports has"
                               : "more would wait for their channel");
    if (const int64_t channels = channelsOf(units); channels > memory.banks)
      return llvm::formatv("{0} has {1} channels, and they need {2}",
                           memory.name, memory.banks, channels);
    return layOut(sizes[size_t(lanes - 1)], units, room).obstacle;
  };
  auto within = [](int64_t units, int64_t lanes) {
    return llvm::formatv("{0} unit{1} of {2} lane{3}: ", units,
                         units == 1 ? "" : "s", lanes, lanes == 1 ? "" : "s")
        .str();
  };
  auto rank = [](const SystemPoint &p) {
    return std::tuple(p.elementsPerS, -p.share, -p.units);
  };
  std::optional<size_t> fastest;
  for (int64_t lanes = 1; lanes <= mostLanes; ++lanes)
    for (int64_t units = 1; channelsOf(units) <= memory.banks; ++units) {
      const SystemLayout layout = layOut(sizes[size_t(lanes - 1)], units, room);
      if (!layout.obstacle.empty())
        break;
      SystemPoint p = lane;
      p.lanes = units * lanes;
      p.units = units;
      p.share = layout.share;
      for (auto [die, has] : llvm::zip_equal(room.dies, layout.dies))
        p.dies.push_back(
            {die.name, has.units, has.share, kResourceNames[has.kind]});
      p.channelLoad = loadOf(lanes);
      p.channels = channelsOf(units);
      p.elementsPerS = double(p.lanes) * perLane / std::max(1.0, p.channelLoad);
      p.operationsPerS = p.elementsPerS * double(result.operations);
      p.bytesPerS = p.elementsPerS * double(total * bits) / 8;
      if (!fastest || rank(p) > rank(result.points[*fastest]))
        fastest = result.points.size();
      result.points.push_back(std::move(p));
    }
  if (!fastest)
    return;
  SystemPoint &best = result.points[*fastest];
  const int64_t lanes = best.lanes / best.units;
  best.bound =
      within(best.units + 1, lanes) + obstacleTo(best.units + 1, lanes) + "; " +
      within(best.units, lanes + 1) + obstacleTo(best.units, lanes + 1);
}

/// A lane with one word in a beat; where its ports bind, with more, while that
/// makes it faster by a twentieth.
void Explorer::addLanes(Way way, const loops::UnitOptions &plain) {
  way.words = std::max<int64_t>(1, request.unit.words);
  std::optional<Lane> lane = addLane(way, plain);
  if (request.unit.words > 0)
    return;
  way.words = 0;
  for (way.beatBits = 16;
       lane && lane->isPortBound && way.beatBits <= systemPortBits(context);
       way.beatBits *= 2)
    if (std::optional<Lane> wider = addLane(way, plain, &*lane))
      lane = wider;
}

/// Adds the systems of a lane, if it can be built and is better than the one
/// before.
std::optional<Lane> Explorer::addLane(const Way &way,
                                      const loops::UnitOptions &plain,
                                      const Lane *before) {
  OwningOpRef<ModuleOp> module = kernel.integerModule->clone();
  func::FuncOp func;
  for (auto f : module->getOps<func::FuncOp>())
    if (f.getName() == kernel.integers.getName())
      func = f;
  SystemPoint point;
  loops::UnitOptions options = plain;
  options.stages = way.stages;
  options.isShared = way.isShared;
  options.words = way.words;
  if (way.words == 0)
    options.beatBits = way.beatBits;
  loops::KernelParts parts = loops::partsOf(func);
  int64_t most = 0;
  for (linalg::GenericOp nest : parts.nests)
    most = std::max(most, sizeOf(nest));
  std::set<std::string> named;
  for (linalg::GenericOp nest : parts.nests) {
    auto choice = choiceFor(nest, most / way.copies);
    if (!choice)
      return std::nullopt;
    int64_t copies = 1;
    std::string text = nameOf(*nest.getOperation()) + "=";
    for (auto [loop, n] : llvm::enumerate(choice->copies)) {
      text += (loop ? "x" : "") + std::to_string(n);
      copies *= n;
    }
    for (Operation &inner : *nest.getBody())
      if (isa<arith::MulIOp>(inner))
        point.products += copies;
    if (copies > 1 && named.insert(text).second)
      point.copies.push_back(text);
    options.choices.push_back(std::move(*choice));
  }
  OpBuilder b(func.getContext());
  OwningOpRef<ModuleOp> holder = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(holder->getBody());
  ScopedDiagnosticHandler quiet(func.getContext(),
                                [](Diagnostic &) { return success(); });
  std::optional<Lane> lane;
  options.isWanted = [&](const loops::KernelUnit &unit) {
    const int64_t border = unit.isDataflow
                               ? std::max(unit.readCycles, unit.writeCycles)
                               : unit.readCycles + unit.writeCycles;
    constexpr int64_t kWorth = 20;
    lane = {unit.words, unit.cycles(),
            unit.isDataflow ? border >= unit.cycles()
                            : border * kWorth >= unit.cycles()};
    return !before ||
           (lane->words > before->words &&
            lane->interval * kWorth <= before->interval * (kWorth - 1));
  };
  auto unit = loops::buildKernelUnit(func, "lane", gen::paceFor(context),
                                     context.cost, options, b);
  if (failed(unit))
    return std::nullopt;
  point.stages = int64_t(way.stages);
  point.sideBySide = way.copies;
  point.isShared = way.isShared;
  point.words = unit->words;
  point.interval = unit->cycles();
  point.slowest = !unit->isDataflow ? "read, compute and write in turn"
                  : unit->readCycles == point.interval    ? "read"
                  : unit->computeCycles == point.interval ? "compute"
                                                          : "write";
  point.lane =
      costOf(loops::structureOf(unit->module, context.cost), context.cost);
  addSystems(point, *unit);
  return lane;
}

rhizome::Result<SystemResult> Explorer::run() {
  if (!device.memory)
    return Failure(Failure::Kind::Input,
                   "'" + device.name + "' has no off-chip memory",
                   "choose a device with one: rhizome targets");
  auto plain = unitOptions(kernel, request.unit, context);
  if (!plain)
    return plain.failure();
  result.device = device.name;
  result.clockMhz = context.clockMhz;
  result.operations = operationsOf(kernel);
  const size_t nests = loops::partsOf(kernel.integers).nests.size();
  for (int64_t copies : copyCounts()) {
    for (size_t stages : std::set<size_t>{0, 1, 2, 3, nests})
      if (stages <= nests)
        addLanes({stages, copies, true}, *plain);
    addLanes({0, copies, false}, *plain);
  }
  if (result.points.empty())
    return Failure(Failure::Kind::Infeasible,
                   "not a single lane fits '" + device.name + "'",
                   "choose a larger device, or a narrower format");
  return std::move(result);
}
} // namespace

rhizome::Result<SystemResult>
kernelcommands::systemsOf(const HardwareRequest &request,
                          const planbuild::Targets &targets) {
  auto kernel = readNumbered(request.path, request.options);
  if (!kernel)
    return failureOf(kernel.takeError(), Failure::Kind::Input);
  if (Refusals refusals = whyNoHardware(*kernel); !refusals.empty())
    return Failure::refused(std::move(refusals));
  kernel->formats.inContext()->loadDialect<rtl::RtlDialect>();
  return Explorer(request, *kernel, targets).run();
}
