// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bound from below of what plans of a network take: the least that is offered
// for each of its operations, at any price of memories. What lies between these
// is left out. Offers are estimates, too: so it is only plain that plans take
// more than a share if the offers take twice as much.
#include "Least.h"
#include "Constants.h"
#include "Menu.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/Support/Parallel.h"
#include <map>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
double shareOf(const Result &plan, const Cluster &cluster) {
  double share = 0;
  for (const NodeResult &node : plan.nodes)
    for (size_t k = 0; k < kResourceNames.size(); ++k)
      if (double all =
              available(cluster.places[size_t(node.place)].capacity, k))
        share += node.resources.amount[k] / all * node.copies;
  return share;
}

/// The device at each of the prices at which it may be explored, with as many
/// homes for weights as any exploration has.
static std::vector<DeviceContext> devicesFor(const Goal &goal,
                                             const Cluster &cluster) {
  std::vector<Goal> goals = {goal};
  if (goal.parts.count("dsp"))
    goals.push_back(goal.withoutDsp());
  std::vector<DeviceContext> devices;
  for (const Goal &one : goals)
    for (double price : {30.0, CostContext::kUsualLutsOfABlock, 300.0, 900.0}) {
      Cluster allowed = withinParts(cluster, one);
      DeviceContext &device =
          devices.emplace_back(std::move(allowed.places[0].context));
      device.cost.lutsOfABlock = price;
      if (device.hasUltra())
        device.ultraRows = UltraRows::Also;
      if (!device.mayLoad())
        continue;
      device.residents = device.hasUltra() ? Residents::All : Residents::None;
      device.streaming = Streaming::All;
    }
  return devices;
}

namespace {
/// The least shares of a device that operations take.
class Least {
public:
  Least(std::vector<DeviceContext> devices, const Budget &capacity)
      : devices(std::move(devices)), capacity(capacity) {}
  /// Of all these together. Threads ask generators; equal questions are asked
  /// once.
  double of(ArrayRef<Operation *> ops);

private:
  const std::vector<DeviceContext> devices;
  const Budget &capacity;
  /// By generator and what its offers depend on.
  std::map<std::string, double> known;

  double leastOf(Operation *op, const Generator &generator) const {
    double least = INFINITY;
    for (const DeviceContext &device : devices) {
      if (!mayOffer(generator, device))
        continue;
      for (const Offer &offer : generator.sketches(op, {}, device)) {
        double share = 0;
        for (size_t k = 0; k < kResourceNames.size(); ++k)
          if (double all = available(capacity, k))
            share += offer.resources.amount[k] / all;
        least = std::min(least, share);
      }
    }
    return least;
  }
};

double Least::of(ArrayRef<Operation *> ops) {
  struct Question {
    Operation *op;
    const Generator *generator;
    double *answer;
  };
  std::vector<Question> questions;
  std::vector<std::vector<const double *>> answers(ops.size());
  for (auto [i, op] : llvm::enumerate(ops))
    for (const auto &generator : allGenerators()) {
      if (generator->coverage(op))
        continue;
      std::string on = generator->dependence(op);
      if (on.empty())
        on = std::to_string(uintptr_t(op));
      auto [at, isNew] =
          known.try_emplace(generator->name().str() + ' ' + on, INFINITY);
      if (isNew)
        questions.push_back({op, generator.get(), &at->second});
      answers[i].push_back(&at->second);
    }
  llvm::parallelFor(0, questions.size(), [&](size_t q) {
    *questions[q].answer = leastOf(questions[q].op, *questions[q].generator);
  });
  double sum = 0;
  for (const std::vector<const double *> &ofOne : answers) {
    double least = INFINITY;
    for (const double *one : ofOne)
      least = std::min(least, *one);
    sum += least;
  }
  return sum;
}
} // namespace

bool takesMore(func::FuncOp network, const Goal &goal, const Cluster &cluster,
               double share) {
  constexpr double kTimes = 2;
  constexpr size_t kAtOnce = 4;
  const std::vector<DeviceContext> devices = devicesFor(goal, cluster);
  Least least(devices, cluster.places[0].capacity);
  std::vector<Operation *> all = hardwareOf(network);
  llvm::SmallPtrSet<Operation *, 8> inRegions;
  for (const auto &generator : allGenerators())
    if (llvm::any_of(devices, [&](const DeviceContext &device) {
          return mayOffer(*generator, device);
        }))
      for (const gen::Region &region : generator->regions(all))
        inRegions.insert(region.ops().begin(), region.ops().end());
  // The others are offered in the formats of their operands.
  std::vector<Operation *> ops;
  llvm::copy_if(all, std::back_inserter(ops), [&](Operation *op) {
    return multiplies(op) && !inRegions.contains(op);
  });
  double sum = 0;
  for (size_t i = 0; i < ops.size() && sum <= kTimes * share; i += kAtOnce)
    sum += least.of(ArrayRef(ops).slice(i, std::min(kAtOnce, ops.size() - i)));
  return sum > kTimes * share;
}
} // namespace rhizome::explore
