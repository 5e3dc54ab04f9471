// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For one device: given a bound T on every operation's interval, the cheapest
// option of each follows in one pass along the graph; goals are searches over
// T. Prices of resources rise where the budget is exceeded, so that what is
// scarce (DSPs, say) goes where it saves most.
#include "rhizome/Explore/Explore.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
namespace {
Value rootOf(Value v) {
  while (auto reshape = v.getDefiningOp<osa::ReshapeOp>())
    v = reshape.getInput();
  return v;
}

bool isHardware(Operation &op) {
  return !isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op);
}

/// One choice of options and what it costs, glue included.
struct Candidate {
  std::vector<Selection> selections;
  Resources resources;
  int64_t interval = 0; ///< the slowest operation's
  bool meets = true;    ///< every operation meets the bound
  std::string slowest;
};

class Explorer {
public:
  Explorer(func::FuncOp network, const DeviceContext &device,
           const Border &border)
      : network(network), device(device), border(border) {
    prices.fill(1);
  }

  FailureOr<Result> run(const Goal &goal);

private:
  func::FuncOp network;
  const DeviceContext &device;
  const Border &border;
  /// Options that do not depend on what comes from upstream.
  DenseMap<Operation *, std::vector<Option>> cache;
  std::array<double, kResourceNames.size()> prices;
  /// The part of the budget that select() may fill: forks, border and deep
  /// buffers come on top and are known only once the design is built.
  double share = 1;

  double price(const Resources &r) const {
    double sum = 0;
    for (size_t k = 0; k < r.amount.size(); ++k) {
      if (r.amount[k] <= 0)
        continue;
      double budget = available(device.budget, k);
      sum += budget > 0 ? prices[k] * r.amount[k] / budget : 1e3 * r.amount[k];
    }
    return sum;
  }

  /// The resource that is exceeded most, or -1.
  int exceeded(const Resources &r, double part) const {
    int worst = -1;
    double ratio = part;
    for (size_t k = 0; k < r.amount.size(); ++k) {
      double budget = available(device.budget, k);
      double share = budget > 0        ? r.amount[k] / budget
                     : r.amount[k] > 0 ? 1e9
                                       : 0;
      if (share > ratio) {
        ratio = share;
        worst = int(k);
      }
    }
    return worst;
  }

  const std::vector<Option> &windowOptions(Operation *op) {
    auto it = cache.find(op);
    if (it == cache.end())
      it = cache.try_emplace(op, optionsOf(op, {})).first;
    return it->second;
  }

  std::vector<Option> optionsOf(Operation *op,
                                llvm::ArrayRef<std::optional<Format>> up) {
    std::vector<Option> all;
    for (const auto &generator : allGenerators())
      if (!generator->coverage(op))
        for (Option &o : generator->options(op, up, device))
          all.push_back(std::move(o));
    return all;
  }

  Candidate select(int64_t bound);
  /// select() with prices adapted until the budget holds, or as near as it
  /// gets.
  Candidate selectWithin(int64_t bound, bool &fits);
  int64_t borderCycles();
  FailureOr<Result> realise(Candidate candidate);
};

/// Beats of the largest border frame.
int64_t Explorer::borderCycles() {
  int64_t most = 1;
  auto beats = [&](Type type) {
    Format f = formatOf(type, 1, 1);
    return (f.count * f.width + border.dataWidth - 1) / border.dataWidth;
  };
  for (Type t : network.getFunctionType().getInputs())
    most = std::max(most, beats(t));
  for (Type t : network.getFunctionType().getResults())
    most = std::max(most, beats(t));
  return most;
}

Candidate Explorer::select(int64_t bound) {
  Candidate result;
  DenseMap<Value, Format> formats;
  for (Operation &op : network.getBody().front()) {
    if (!isHardware(op))
      continue;
    SmallVector<std::optional<Format>> upstream;
    for (Value v : op.getOperands()) {
      if (v.getDefiningOp<osa::ConstantOp>())
        continue;
      auto it = formats.find(rootOf(v));
      upstream.push_back(it == formats.end() ? std::nullopt
                                             : std::optional(it->second));
    }
    std::vector<Option> local;
    const std::vector<Option> *options;
    if (osa::getWindow(&op) || isa<osa::DenseOp>(op)) {
      options = &windowOptions(&op);
    } else {
      local = optionsOf(&op, upstream);
      options = &local;
    }
    assert(!options->empty() && "covered, but no option");

    const Option *best = nullptr;
    double bestPrice = 0;
    bool bestMeets = false;
    for (const Option &option : *options) {
      bool meets = option.intervalCycles <= bound;
      if (bestMeets && !meets)
        continue;
      // Among those that miss the bound the fastest counts.
      double p = price(option.resources);
      for (size_t i = 0; i < option.inputs.size(); ++i)
        if (i < upstream.size() && upstream[i] &&
            !(upstream[i]->canonical() == option.inputs[i].canonical()))
          p += price(gen::costOf(makeConverter(*upstream[i], option.inputs[i]),
                                 device.cost));
      bool better =
          !best || (meets && !bestMeets) ||
          (meets == bestMeets &&
           (meets ? p < bestPrice
                  : option.intervalCycles < best->intervalCycles ||
                        (option.intervalCycles == best->intervalCycles &&
                         p < bestPrice)));
      if (better) {
        best = &option;
        bestPrice = p;
        bestMeets = meets;
      }
    }
    result.selections.push_back({&op, *best});
    result.resources += best->resources;
    size_t slot = 0;
    for (Value v : op.getOperands()) {
      if (v.getDefiningOp<osa::ConstantOp>())
        continue;
      Value root = rootOf(v);
      if (!formats.count(root))
        formats[root] = best->inputs[slot];
      else if (!(formats[root].canonical() == best->inputs[slot].canonical()))
        result.resources += gen::costOf(
            makeConverter(formats[root], best->inputs[slot]), device.cost);
      ++slot;
    }
    formats[op.getResult(0)] = best->output;
    if (best->intervalCycles > result.interval) {
      result.interval = best->intervalCycles;
      result.slowest = osa::nodeName(&op);
    }
    result.meets &= bestMeets;
  }
  return result;
}

Candidate Explorer::selectWithin(int64_t bound, bool &fits) {
  prices.fill(1);
  Candidate best;
  for (int round = 0; round < 8; ++round) {
    Candidate candidate = select(bound);
    int over = exceeded(candidate.resources, share);
    if (round == 0 || over < 0)
      best = candidate;
    if (over < 0) {
      fits = candidate.meets;
      return best;
    }
    prices[over] *= 2;
  }
  fits = false;
  return best;
}

FailureOr<Result> Explorer::realise(Candidate candidate) {
  Result result;
  result.selections = std::move(candidate.selections);
  result.design =
      buildDesign(network, result.selections, border, result.images);
  if (failed(sizeBuffers(result.design)))
    return failure();
  auto timing = predictTiming(result.design);
  if (failed(timing))
    return failure();
  result.timing = *timing;
  result.resources = gen::costOf(result.design, device.cost, &result.images);
  result.errors = gen::errorOf(result.design, device.cost, &result.images);
  result.bottleneck =
      borderCycles() >= candidate.interval ? "the border" : candidate.slowest;
  return result;
}

FailureOr<Result> Explorer::run(const Goal &goal) {
  double clockHz = device.clockMhz * 1e6;
  int64_t slowest = 1;
  for (Operation &op : network.getBody().front())
    if (isHardware(op)) {
      auto out = cast<RankedTensorType>(op.getResult(0).getType());
      osa::Work work = osa::computeWork(&op);
      slowest = std::max(
          {slowest, work.macs + work.ops + 1, 4 * out.getNumElements()});
    }
  slowest *= 2;
  auto nameLimit = [&](const Candidate &c) -> std::string {
    int over = exceeded(c.resources, share);
    if (over >= 0)
      return llvm::formatv("{0}: {1:F0} needed, {2:F0} available",
                           kResourceNames[over], c.resources.amount[over],
                           available(device.budget, over));
    return "the fastest option of node '" + c.slowest + "' takes " +
           std::to_string(c.interval) + " cycles";
  };
  // The smallest bound that the budget allows.
  auto fastest = [&](std::string &limit) {
    int64_t low = borderCycles(), high = slowest;
    bool fits;
    Candidate best = selectWithin(low, fits);
    if (fits) {
      limit = "the border: " + std::to_string(low) + " beats of " +
              std::to_string(border.dataWidth) + " bits a frame";
      return best;
    }
    limit = nameLimit(best);
    best = selectWithin(high, fits);
    while (low + 1 < high) {
      int64_t mid = low + (high - low) / 2;
      Candidate candidate = selectWithin(mid, fits);
      if (fits) {
        high = std::min(mid, std::max(candidate.interval, low + 1));
        best = std::move(candidate);
      } else {
        limit = nameLimit(candidate);
        low = mid;
      }
    }
    return best;
  };
  auto realiseFastest = [&]() -> FailureOr<Result> {
    for (share = 1;; share -= 0.03) {
      std::string limit;
      auto result = realise(fastest(limit));
      if (failed(result))
        return failure();
      result->limit = limit;
      // The budget must hold if the prediction is as far off as it may be.
      Resources most = result->resources;
      most += result->errors;
      result->meetsGoal = exceeded(most, 1) < 0;
      if (result->meetsGoal || share < 0.7)
        return result;
      result->design.erase();
    }
  };

  switch (goal.kind) {
  case Goal::Kind::MinResources: {
    bool fits;
    Candidate candidate = selectWithin(INT64_MAX, fits);
    auto result = realise(candidate);
    if (succeeded(result) && (!fits || exceeded(result->resources, 1) >= 0)) {
      result->meetsGoal = false;
      candidate.resources = result->resources;
      result->limit = nameLimit(candidate);
    }
    return result;
  }
  case Goal::Kind::MaxThroughput:
    return realiseFastest();
  case Goal::Kind::Throughput: {
    double target = clockHz / goal.value;
    int64_t bound = int64_t(std::floor(target));
    // Rows that wait for each other cost a few cycles at times, and the border
    // comes on top of what select() fills: aim lower.
    for (int attempt = 0; attempt < 12 && bound >= borderCycles(); ++attempt) {
      bool fits;
      Candidate candidate = selectWithin(bound, fits);
      if (!fits)
        break;
      auto result = realise(candidate);
      if (failed(result))
        return failure();
      bool isFast = result->timing.intervalCycles <= target;
      if (isFast && exceeded(result->resources, 1) < 0)
        return result;
      if (isFast)
        share -= 0.03;
      else
        bound = int64_t(double(bound) * target / result->timing.intervalCycles *
                        0.995);
      result->design.erase();
    }
    auto result = realiseFastest();
    if (succeeded(result))
      result->meetsGoal &= result->timing.intervalCycles <= target;
    return result;
  }
  case Goal::Kind::Latency: {
    double target = goal.value * clockHz;
    auto quickest = realiseFastest();
    if (failed(quickest))
      return failure();
    if (double(quickest->timing.latencyCycles) > target) {
      quickest->meetsGoal = false;
      return quickest;
    }
    // Bisect the bound geometrically between the fastest and one frame's time.
    double low = std::max(1.0, quickest->timing.intervalCycles), high = target;
    std::optional<Result> best = std::move(*quickest);
    for (int step = 0; step < 10 && high / low > 1.02; ++step) {
      int64_t bound = int64_t(std::sqrt(low * high));
      bool fits;
      Candidate candidate = selectWithin(bound, fits);
      auto result = fits ? realise(candidate) : FailureOr<Result>(failure());
      if (succeeded(result) && double(result->timing.latencyCycles) <= target) {
        best->design.erase();
        best = std::move(*result);
        low = double(bound);
      } else {
        if (succeeded(result))
          result->design.erase();
        high = double(bound);
      }
    }
    return std::move(*best);
  }
  }
  llvm_unreachable("every goal is handled");
}
} // namespace

Refusals coverage(func::FuncOp network) {
  Refusals refusals;
  for (Operation &op : network.getBody().front()) {
    if (!isHardware(op))
      continue;
    std::string reasons;
    bool covered = false;
    for (const auto &generator : allGenerators()) {
      auto reason = generator->coverage(&op);
      covered |= !reason;
      if (reason)
        reasons += (reasons.empty() ? "" : "; ") + generator->name().str() +
                   " " + *reason;
    }
    if (!covered)
      refusals.push_back(
          {osa::nodeName(&op), op.getName().getStringRef().str(), reasons, ""});
  }
  return refusals;
}

FailureOr<Result> explore(func::FuncOp network, const Goal &goal,
                          const DeviceContext &device, const Border &border) {
  return Explorer(network, device, border).run(goal);
}
} // namespace rhizome::explore
