// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device can provide: roofs of operations in iterations per second.
#include "rhizome/Analysis/Analysis.h"
#include "rhizome/Generator/OfferCache.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::analysis;

namespace {
constexpr double kNone = std::numeric_limits<double>::infinity();
/// Bits of one UltraRAM block and the width of its port.
constexpr double kUramBits = 294912, kUramPort = 72;

double count(const Device &device, const char *resource) {
  auto found = device.budget.find(resource);
  return found == device.budget.end() ? 0 : double(found->second);
}

double ratio(double amount, double need) {
  return need > 0 ? amount / need : kNone;
}

/// Seconds that `bits` take on a link, in packets of its size.
double secondsOn(const Link &link, int64_t bits) {
  int64_t bytes = (bits + 7) / 8, pieces = bytes / link.mtuBytes;
  double seconds = double(pieces) * link.secondsFor(link.mtuBytes);
  if (int64_t rest = bytes % link.mtuBytes)
    seconds += link.secondsFor(rest);
  return seconds;
}

double networkRoof(const Traffic &traffic, const Capacity &capacity,
                   const Link *link) {
  auto seconds = [&](int64_t bits) {
    return link ? secondsOn(*link, bits)
                : double(bits) / capacity.networkBitsPerS;
  };
  return ratio(1, std::max(seconds(traffic.in), seconds(traffic.out)));
}

/// The lowest roof for each place of the weights, of the fastest generator.
/// Weights that the chip has no room for are read from DRAM.
std::vector<Attainable>
attainableOf(const Roofs &roofs, const Capacity &capacity, int64_t paramBits) {
  std::vector<Attainable> list;
  for (bool onChip : {true, false}) {
    Attainable a;
    a.weights = onChip ? "on_chip" : "dram";
    double rest = std::max(
        double(paramBits) - (onChip ? capacity.onChipBytes * 8 : 0), 0.0);
    a.possible = (onChip && rest == 0) || capacity.dramBytesPerS > 0;
    double compute = 0;
    for (auto &[generator, perS] : roofs.compute)
      if (perS > compute) {
        compute = perS;
        a.generator = generator;
      }
    a.perS = kNone;
    for (auto &[name, perS] :
         {std::pair("compute", compute), std::pair("network", roofs.network),
          std::pair("on_chip", onChip ? roofs.onChip : kNone),
          std::pair("dram", capacity.dramBytesPerS > 0
                                ? ratio(capacity.dramBytesPerS * 8, rest)
                                : kNone)})
      if (perS < a.perS) {
        a.perS = perS;
        a.bound = name;
      }
    list.push_back(std::move(a));
  }
  return list;
}

OperationRoofs roofsFor(const osa::Work &work, const Traffic &traffic,
                        int64_t memoryBits, const Capacity &capacity,
                        const Link *link) {
  OperationRoofs r;
  r.roofs.network = networkRoof(traffic, capacity, link);
  r.roofs.onChip = ratio(capacity.onChipBytesPerS * 8, double(memoryBits));
  // Weights are read once per iteration; data between operations stay on
  // the chip.
  r.roofs.dram = capacity.dramBytesPerS > 0
                     ? ratio(capacity.dramBytesPerS * 8, double(work.paramBits))
                     : 0;
  return r;
}

/// Iterations per second of a CPU, limited only by products.
double processorRoof(const Device &device, const osa::Work &work) {
  double perS = device.clockMhz * 1e6 * device.processor->cores *
                device.processor->macsPerCycle;
  return ratio(2 * perS, double(work.flops));
}
} // namespace

Capacity analysis::capacityOf(const Device &device, const Link *link) {
  Capacity c;
  double hz = device.clockMhz * 1e6;
  c.networkBitsPerS = link ? link->bitsPerS : device.streamBits * hz;
  if (device.memory)
    c.dramBytesPerS = device.memory->bytesPerS;
  if (device.processor) {
    // A cache line of 64 bytes per cycle and core.
    c.onChipBytesPerS = 64 * hz * device.processor->cores;
    c.onChipBytes = double(device.processor->cacheBytes);
    if (!link)
      c.networkBitsPerS = kNone;
    return c;
  }
  // A LUT used as a memory holds a bit for every value of its inputs.
  double lutramBits = std::pow(2.0, device.lutInputs);
  c.onChipBytes = (count(device, "bram") * double(device.bramBits) +
                   count(device, "uram") * kUramBits +
                   count(device, "lutram") * lutramBits) /
                  8;
  c.onChipBytesPerS =
      hz *
      (count(device, "bram") * device.bramMaxWidth +
       count(device, "uram") * kUramPort + count(device, "lutram")) /
      8;
  return c;
}

double
analysis::computeRoof(const std::vector<std::vector<gen::Offer>> &options,
                      const gen::Budget &budget, double clockHz) {
  // Shares of the device for one iteration per cycle, by operation and
  // option; a resource that the device lacks makes an option impossible.
  using Shares = std::array<double, gen::kResourceNames.size()>;
  Shares available;
  for (size_t k = 0; k < available.size(); ++k)
    available[k] = gen::available(budget, k);
  std::vector<std::vector<Shares>> all;
  for (const auto &some : options) {
    std::vector<Shares> possible;
    for (const gen::Offer &option : some) {
      Shares shares{};
      bool fits = true;
      for (size_t k = 0; k < shares.size(); ++k) {
        double amount = option.resources.amount[k];
        double there = available[k];
        fits &= amount <= 0 || there > 0;
        if (amount > 0 && there > 0)
          shares[k] = amount / there * double(option.busyCycles);
      }
      if (fits)
        possible.push_back(shares);
    }
    if (possible.empty())
      return 0;
    all.push_back(std::move(possible));
  }
  // Multiplicative weights: the price of what the cheapest mix uses most rises.
  // The prices of each round give a bound; the lowest is kept.
  Shares prices;
  prices.fill(1.0 / double(prices.size()));
  double best = kNone;
  for (int round = 0; round < 200; ++round) {
    Shares use{};
    double cost = 0;
    for (const auto &some : all) {
      const Shares *cheapest = nullptr;
      double least = kNone;
      for (const Shares &shares : some) {
        double price = 0;
        for (size_t k = 0; k < shares.size(); ++k)
          price += prices[k] * shares[k];
        if (price < least) {
          least = price;
          cheapest = &shares;
        }
      }
      cost += least;
      for (size_t k = 0; k < use.size(); ++k)
        use[k] += (*cheapest)[k];
    }
    if (cost <= 0)
      return kNone;
    best = std::min(best, clockHz / cost);
    double most = *llvm::max_element(use), sum = 0;
    double step = 1 / std::sqrt(1.0 + round);
    for (size_t k = 0; k < prices.size(); ++k)
      sum += prices[k] *= std::exp(step * use[k] / most);
    for (double &price : prices)
      price /= sum;
  }
  return best;
}

/// Whether a device with this budget can hold it.
static bool fits(const gen::Offer &offer, const gen::Budget &budget) {
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
    if (offer.resources.amount[k] > gen::available(budget, k))
      return false;
  return true;
}

// The fastest offer that fits, and those that no other one beats in every
// resource for one iteration per cycle.
void analysis::takeFigures(std::vector<gen::Offer> &offers,
                           const gen::Budget &budget) {
  constexpr size_t kinds = gen::kResourceNames.size();
  struct Figure {
    std::array<double, kinds> cost; ///< of one iteration per cycle
    double sum = 0;
    size_t offer;
  };
  std::array<double, kinds> room;
  for (size_t k = 0; k < kinds; ++k)
    room[k] = gen::available(budget, k);
  std::vector<Figure> all(offers.size());
  size_t quickest = offers.size();
  for (auto [i, offer] : llvm::enumerate(offers)) {
    Figure &figure = all[i];
    figure.offer = i;
    bool fits = true;
    for (size_t k = 0; k < kinds; ++k) {
      const double amount = offer.resources.amount[k];
      fits &= amount <= room[k];
      figure.sum += figure.cost[k] = amount * double(offer.busyCycles);
    }
    if (fits && (quickest == offers.size() ||
                 offer.busyCycles < offers[quickest].busyCycles))
      quickest = i;
  }
  llvm::sort(all, [](const Figure &a, const Figure &b) {
    return std::pair(a.sum, a.offer) < std::pair(b.sum, b.offer);
  });
  std::vector<Figure> front;
  for (const Figure &one : all)
    if (one.offer == quickest || llvm::none_of(front, [&](const Figure &other) {
          for (size_t k = 0; k < kinds; ++k)
            if (other.cost[k] > one.cost[k])
              return false;
          return true;
        }))
      front.push_back(one);
  std::vector<gen::Offer> figures(front.size());
  for (auto [figure, one] : llvm::zip_equal(figures, front)) {
    figure.busyCycles = offers[one.offer].busyCycles;
    figure.resources = offers[one.offer].resources;
  }
  offers = std::move(figures);
}

/// Roofs of computation: of each generator's offers, then of all together.
static void addOfferRoofs(const Offers &offers,
                          const gen::DeviceContext &context, double clockHz,
                          DeviceAnalysis &result) {
  const size_t count = result.operations.size();
  std::vector<std::vector<gen::Offer>> any(count);
  for (const auto &[name, every] : offers) {
    llvm::parallelFor(0, count, [&, &name = name, &every = every](size_t i) {
      OperationRoofs &roofs = result.operations[i];
      if (every[i].empty())
        return;
      double &fastest = roofs.fastest[name];
      for (const gen::Offer &offer : every[i])
        if (fits(offer, context.budget))
          fastest = std::max(fastest, ratio(clockHz, double(offer.busyCycles)));
      roofs.roofs.compute[name] =
          computeRoof({every[i]}, context.budget, clockHz);
    });
    bool all = !every.empty() && llvm::none_of(every, [](const auto &some) {
      return some.empty();
    });
    for (size_t i = 0; i < count; ++i)
      llvm::append_range(any[i], every[i]);
    if (all)
      result.whole.roofs.compute[name] =
          computeRoof(every, context.budget, clockHz);
  }
  if (offers.size() > 1)
    result.whole.roofs.compute["any"] =
        computeRoof(any, context.budget, clockHz);
}

static void addAttainable(const Needs &needs, DeviceAnalysis &result) {
  const Capacity &capacity = result.capacity;
  for (auto [roofs, o] : llvm::zip_equal(result.operations, needs.operations))
    roofs.attainable = attainableOf(roofs.roofs, capacity, o.work.paramBits);
  result.whole.attainable =
      attainableOf(result.whole.roofs, capacity, needs.total.paramBits);
}

static std::vector<mlir::Operation *> hardwareOf(func::FuncOp network) {
  std::vector<mlir::Operation *> ops;
  for (mlir::Operation &op : network.getBody().front())
    if (!isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      ops.push_back(&op);
  return ops;
}

/// Roofs of what is built for regions only, such as a whole network.
static void addRegionRoofs(func::FuncOp network,
                           const gen::DeviceContext &context,
                           DeviceAnalysis &result) {
  const std::vector<mlir::Operation *> ops = hardwareOf(network);
  const double clockHz = result.clockMhz * 1e6;
  auto add = [&](const gen::Generator &generator,
                 llvm::ArrayRef<mlir::Operation *> some, Roofs &roofs) {
    if (auto cycles = generator.leastCycles(some, context))
      roofs.compute[generator.name().str()] = ratio(clockHz, *cycles);
  };
  for (const auto &generator : gen::allGenerators()) {
    for (auto [op, roofs] : llvm::zip_equal(ops, result.operations))
      add(*generator, op, roofs.roofs);
    add(*generator, ops, result.whole.roofs);
  }
}

/// What all generators offer for a network's operations.
static Offers offersOf(func::FuncOp network,
                       const gen::DeviceContext &context) {
  auto all = gen::offersFor(hardwareOf(network), context,
                            [&](std::vector<gen::Offer> &some) {
                              takeFigures(some, context.budget);
                            });
  Offers offers;
  for (auto [g, generator] : llvm::enumerate(gen::allGenerators())) {
    auto &every = offers[generator->name().str()];
    for (auto &of : all)
      every.push_back(std::move(of[g]));
  }
  return offers;
}

DeviceAnalysis analysis::roofsOf(func::FuncOp network, const Needs &needs,
                                 const Device &device,
                                 const gen::DeviceContext *context,
                                 const Link *link) {
  if (!context)
    return roofsOf(needs, device, nullptr, link, nullptr);
  const Offers offers = offersOf(network, *context);
  DeviceAnalysis result = roofsOf(needs, device, context, link, &offers);
  addRegionRoofs(network, *context, result);
  addAttainable(needs, result);
  return result;
}

DeviceAnalysis analysis::roofsOf(const Needs &needs, const Device &device,
                                 const gen::DeviceContext *context,
                                 const Link *link, const Offers *offers) {
  DeviceAnalysis result;
  result.device = device.name;
  result.link = link ? link->name : "";
  result.clockMhz = context ? context->clockMhz : device.clockMhz;
  Device clocked = device;
  clocked.clockMhz = result.clockMhz;
  result.capacity = capacityOf(clocked, link);
  const Capacity &capacity = result.capacity;
  double clockHz = result.clockMhz * 1e6;

  int64_t memoryBits = needs.total.paramBits;
  for (const Operation &o : needs.operations) {
    int64_t bits = o.work.paramBits + o.work.inputBits;
    memoryBits += o.work.inputBits;
    result.operations.push_back(roofsFor(
        o.work, {o.work.inputBits, o.work.outputBits}, bits, capacity, link));
  }
  result.whole =
      roofsFor(needs.total, needs.border, memoryBits, capacity, link);

  if (device.processor) {
    for (auto [roofs, o] : llvm::zip_equal(result.operations, needs.operations))
      roofs.roofs.compute["host"] = processorRoof(device, o.work);
    result.whole.roofs.compute["host"] = processorRoof(device, needs.total);
  }
  if (offers)
    addOfferRoofs(*offers, *context, clockHz, result);
  addAttainable(needs, result);
  return result;
}
