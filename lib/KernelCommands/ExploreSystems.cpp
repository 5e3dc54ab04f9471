// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one lane's cycles and resources to a device full of them. Lanes go to
// the die that has the most left; what stops the next one is the bound.
#include "ExploreSystems.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Generator/Circuit.h"
#include "rhizome/Support/Failures.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

namespace {
/// What the lanes are placed on.
struct Place {
  std::string name;
  Resources routable;
  int64_t crossings = 0; ///< borders between it and the memory's die
  int64_t lanes = 0;
};

/// How a lane is built.
struct Way {
  size_t stages = 0;
  int64_t copies = 1; ///< of the body of the largest nest
  bool isShared = true;
};

class Explorer {
public:
  Explorer(const HardwareRequest &request, NumberedKernel &kernel,
           const planbuild::Targets &targets)
      : request(request), kernel(kernel), device(targets.devices[0]),
        context(targets.places.places[0].context) {}
  rhizome::Result<SystemResult> run();

private:
  const HardwareRequest &request;
  NumberedKernel &kernel;
  const Device &device;
  const DeviceContext &context;
  SystemResult result;

  std::optional<hls::NestChoice> choiceFor(linalg::GenericOp op,
                                           int64_t iterations);
  std::vector<int64_t> copyCounts();
  bool addLane(const Way &way, const hls::UnitOptions &plain);
  void addSystems(SystemPoint point, const hls::KernelUnit &unit);
  std::vector<Place> places() const;
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
  for (linalg::GenericOp nest : hls::partsOf(kernel.integers).nests) {
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
std::optional<hls::NestChoice> Explorer::choiceFor(linalg::GenericOp op,
                                                   int64_t iterations) {
  hls::NestChoice choice;
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
  for (linalg::GenericOp nest : hls::partsOf(kernel.integers).nests)
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

std::vector<Place> Explorer::places() const {
  std::vector<Place> out;
  auto add = [&](const std::string &name, const Budget &budget, int64_t at) {
    Place place{name, {}, std::abs(at - device.dies.memory), 0};
    for (size_t k = 0; k < kResourceNames.size(); ++k) {
      auto share = device.routable.find(kResourceNames[k]);
      place.routable.amount[k] =
          available(budget, k) *
          (share == device.routable.end() ? 1 : share->second);
    }
    out.push_back(std::move(place));
  };
  for (auto [i, die] : llvm::enumerate(device.dies.dies))
    add(die.name, die.budget, int64_t(i));
  if (out.empty())
    add(device.name, context.budget, device.dies.memory);
  return out;
}

void Explorer::addSystems(SystemPoint point, const hls::KernelUnit &unit) {
  if (!device.memory)
    return;
  const DeviceMemory &memory = *device.memory;
  // At the design's clock.
  const int64_t portBits = systemPortBits(context);
  auto bitsOf = [](Value v) {
    return int64_t(llvm::divideCeil(
               getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth(), 8)) *
           8;
  };
  // Words of an element by stream.
  std::vector<double> words;
  int64_t wordBits = 8, mostWords = 1, total = 0;
  for (const auto &streams : {unit.inStreams, unit.outStreams})
    for (const hls::UnitStream &stream : streams) {
      int64_t count = 0;
      for (Value v : stream.tensors) {
        count += cast<RankedTensorType>(v.getType()).getNumElements();
        wordBits = std::max(wordBits, bitsOf(v));
      }
      if (stream.isOnce)
        continue;
      words.push_back(double(count));
      mostWords = std::max(mostWords, count);
      total += count;
    }
  const auto streams = int64_t(words.size());
  const double bankBytes = context.memories[0].bankBytesPerS(context.clockMhz);
  const double perLane = context.clockMhz * 1e6 / double(point.interval);
  const double laneBytes = perLane * double(mostWords * wordBits) / 8;
  const int64_t mostLanes =
      std::max<int64_t>(1, std::min(portBits / (wordBits * unit.words),
                                    int64_t(bankBytes / laneBytes)));
  // The movers and registers of a unit, by its lanes.
  std::map<int64_t, Resources> prices;
  auto priceFor = [&](int64_t lanes) -> const Resources & {
    auto [found, isNew] = prices.try_emplace(lanes);
    if (!isNew)
      return found->second;
    std::vector<Mover> movers;
    for (const auto &streams : {unit.inStreams, unit.outStreams})
      for (const hls::UnitStream &stream : streams) {
        Mover m;
        m.isWrite = llvm::StringRef(stream.name).starts_with("m_");
        m.isOnce = stream.isOnce;
        m.lanes = stream.isOnce ? 1 : lanes;
        m.wide = m.lanes * unit.words;
        m.wordBits = 8;
        m.row = 0;
        for (Value v : stream.tensors) {
          m.wordBits = std::max(m.wordBits, bitsOf(v));
          m.row += llvm::divideCeil(
                       cast<RankedTensorType>(v.getType()).getNumElements(),
                       unit.words) *
                   unit.words;
        }
        m.row *= m.lanes;
        sizeMover(m, context);
        movers.push_back(std::move(m));
      }
    return found->second = priceOf(movers, context.cost);
  };
  // What stays comes through a channel of its own, for all units.
  const int64_t residents = llvm::count_if(
      unit.inStreams, [](const hls::UnitStream &s) { return s.isOnce; });

  std::vector<Place> on = places();
  auto unitsOf = [&](int64_t lanes) {
    return int64_t(llvm::divideCeil(lanes, mostLanes));
  };
  // Lanes are spread over as few units as possible.
  auto split = [&](int64_t lanes) {
    std::vector<int64_t> parts;
    for (int64_t units = unitsOf(lanes); units > 0; --units) {
      parts.push_back(int64_t(llvm::divideCeil(lanes, units)));
      lanes -= parts.back();
    }
    return parts;
  };
  auto amount = [&](int64_t lanes, size_t k) {
    double sum = double(lanes) * point.lane.amount[k];
    for (int64_t part : split(lanes))
      sum += priceFor(part).amount[k];
    return sum;
  };
  struct Use {
    double share = 0;
    size_t kind = 0;
  };
  auto useOf = [&](const Place &place, int64_t lanes) {
    Use most;
    for (size_t k = 0; k < kResourceNames.size(); ++k) {
      const double need = amount(lanes, k), of = place.routable.amount[k];
      const double share = need <= 0 ? 0 : of > 0 ? need / of : 1e9;
      if (share > most.share)
        most = {share, k};
    }
    return most;
  };
  auto channelsOf = [&] {
    int64_t n = residents;
    for (const Place &place : on)
      n += unitsOf(place.lanes) * streams;
    return n;
  };
  auto wiresOf = [&] {
    int64_t wires = 0;
    for (const Place &place : on)
      if (place.crossings > 0)
        wires += unitsOf(place.lanes) * streams * (portBits + 2);
    return wires;
  };
  std::vector<SystemPoint> all;
  for (;;) {
    // The die that is least full afterwards.
    Place *best = nullptr;
    Use least{INFINITY, 0};
    for (Place &place : on)
      if (Use use = useOf(place, place.lanes + 1); use.share < least.share) {
        least = use;
        best = &place;
      }
    if (least.share > 1) {
      const double share = 100 * useOf(*best, best->lanes).share;
      point.bound = llvm::formatv(
          "{0} of {1}: {2:f1} % of what routes is used, a lane more needs "
          "{3:f1} %",
          kResourceNames[least.kind], best->name, share, 100 * least.share);
      break;
    }
    ++best->lanes;
    if (const int64_t channels = channelsOf(); channels > memory.banks) {
      point.bound = llvm::formatv("the {0} channels of {1}: a lane more needs "
                                  "{2}",
                                  memory.banks, memory.name, channels);
      break;
    }
    if (device.dies.wires > 0 && wiresOf() > device.dies.wires) {
      point.bound =
          llvm::formatv("the {0} wires between dies: a lane more needs {1}",
                        device.dies.wires, wiresOf());
      break;
    }
    SystemPoint &p = all.emplace_back(point);
    p.share = 0;
    double rate = 0;
    for (const Place &place : on) {
      p.lanes += place.lanes;
      p.units += unitsOf(place.lanes);
      p.share = std::max(p.share, useOf(place, place.lanes).share);
      // Lanes of one unit take a channel's beats together.
      for (int64_t lanes : split(place.lanes)) {
        const double asked = double(lanes) * laneBytes;
        p.channelLoad = std::max(p.channelLoad, asked / bankBytes);
        rate += double(lanes) * perLane * std::min(1.0, bankBytes / asked);
      }
    }
    p.channels = channelsOf();
    p.elementsPerS = rate;
    p.operationsPerS = rate * double(result.operations);
    p.bytesPerS = rate * double(total * wordBits) / 8;
  }
  for (SystemPoint &p : all)
    p.bound = &p == &all.back() ? point.bound : "";
  result.points.insert(result.points.end(), all.begin(), all.end());
}

bool Explorer::addLane(const Way &way, const hls::UnitOptions &plain) {
  OwningOpRef<ModuleOp> module = kernel.integerModule->clone();
  func::FuncOp func;
  for (auto f : module->getOps<func::FuncOp>())
    if (f.getName() == kernel.integers.getName())
      func = f;
  SystemPoint point;
  hls::UnitOptions options = plain;
  options.stages = way.stages;
  options.isShared = way.isShared;
  hls::KernelParts parts = hls::partsOf(func);
  int64_t most = 0;
  for (linalg::GenericOp nest : parts.nests)
    most = std::max(most, sizeOf(nest));
  std::set<std::string> named;
  for (linalg::GenericOp nest : parts.nests) {
    auto choice = choiceFor(nest, most / way.copies);
    if (!choice)
      return false;
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
  auto unit = hls::buildKernelUnit(func, "lane", gen::paceFor(context),
                                   context.cost, options, b);
  if (failed(unit))
    return false;
  point.stages = int64_t(way.stages);
  point.sideBySide = way.copies;
  point.isShared = way.isShared;
  point.interval = unit->cycles();
  point.slowest = !unit->isDataflow ? "read, compute and write in turn"
                  : unit->readCycles == point.interval    ? "read"
                  : unit->computeCycles == point.interval ? "compute"
                                                          : "write";
  point.lane =
      costOf(hls::structureOf(unit->module, context.cost), context.cost);
  addSystems(std::move(point), *unit);
  return true;
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
  const size_t nests = hls::partsOf(kernel.integers).nests.size();
  for (int64_t copies : copyCounts()) {
    for (size_t stages : std::set<size_t>{0, 1, 2, 3, nests})
      if (stages <= nests)
        addLane({stages, copies, true}, *plain);
    addLane({0, copies, false}, *plain);
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
  kernel->formats.context->loadDialect<rtl::RtlDialect>();
  return Explorer(request, *kernel, targets).run();
}
