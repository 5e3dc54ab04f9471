// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an exploration covers, and at which prices of memories: ROMs in LUTs or
// blocks, and homes of weights. Building a plan takes longer than solving for
// it, so plans are built in the order of the solver's promises.
#include "rhizome/Explore/Explore.h"
#include "Constants.h"
#include "Least.h"
#include "Pinned.h"
#include "Repeat.h"
#include "Sharing.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Design/Sizing.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/ScopeExit.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
Cluster priced(Cluster cluster, const MemoryPrices &prices) {
  for (ClusterPlace &place : cluster.places) {
    place.context.cost.lutsOfABlock = prices.lutsOfABlock;
    place.context.residents = prices.residents;
    place.context.streaming = prices.streaming;
    place.context.batch = prices.batch;
    place.context.ultraRows =
        place.context.hasUltra() ? prices.ultraRows : UltraRows::None;
  }
  return cluster;
}

/// Whether frames may wait for each other: none that is kept from one to the
/// next one holds them up.
static bool mayBatch(func::FuncOp network) {
  return flow::keptBy(network).empty();
}

/// Whether weights can be read from an off-chip memory somewhere.
static bool mayStream(const Cluster &cluster) {
  return llvm::any_of(cluster.places, [](const ClusterPlace &place) {
    return place.context.mayLoad();
  });
}

/// The banks of the first memory that has the most.
static int64_t mostBanks(const Cluster &cluster) {
  int64_t most = 0;
  for (const ClusterPlace &place : cluster.places)
    if (place.context.mayLoad())
      most = std::max(most, place.context.memories[0].banks);
  return most;
}

/// Whether a device has UltraRAM.
static bool hasUltra(const Cluster &cluster) {
  return llvm::any_of(cluster.places, [](const ClusterPlace &place) {
    return place.context.hasUltra();
  });
}

/// Whether there is UltraRAM, and a way to fill it.
static bool mayUseUltra(const Cluster &cluster) {
  return llvm::any_of(cluster.places, [](const ClusterPlace &place) {
    return place.context.mayLoad() && place.context.hasUltra();
  });
}

/// The bits of the constants of a network's operations.
static double constantBitsOf(func::FuncOp network) {
  double bits = 0;
  for (Operation *op : hardwareOf(network))
    bits += constantBitsOf(op);
  return bits;
}

/// Whether it relieves the chip to read the weights that are used once a frame
/// from a memory: those of operations with a single output position.
/// Where blocks bind a plan, those hold weights, whatever the rate; what leaves
/// them makes room for others in proportion, and the rate cannot rise by more
/// than that share. To try it takes one more menu and solution: next to those
/// for UltraRAM and for three prices of blocks, and to two plans that are
/// built, about a tenth of the time. So it is tried where it may bring as much.
static bool relievesToStreamOnce(func::FuncOp network) {
  constexpr double kLeastShare = 0.1;
  double once = 0;
  for (Operation *op : hardwareOf(network)) {
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    if (weightsOf(op) && result.getNumElements() == result.getShape().back())
      once += constantBitsOf(op);
  }
  return once >= kLeastShare * constantBitsOf(network);
}

/// What a place has.
static Resources availableOn(const ClusterPlace &place) {
  Resources there;
  for (size_t k = 0; k < kResourceNames.size(); ++k)
    there.amount[k] = available(place.context.budget, k);
  return there;
}

/// The bits of memories on chip.
static double memoryBitsOf(const Cluster &cluster, bool withUltra) {
  constexpr double kUltraBits = double(cost::kUltraWords * cost::kUltraPort);
  double bits = 0;
  for (const ClusterPlace &place : cluster.places) {
    const Resources there = availableOn(place);
    bits += there.bram() * double(place.context.cost.bramBits) +
            (withUltra ? there.uram() * kUltraBits : 0);
  }
  return bits;
}

/// The bits that all memories and LUTs together hold.
static double bitsOf(const Cluster &cluster, bool withUltra) {
  constexpr double kLutBits = 64; // of a table with six inputs
  double bits = memoryBitsOf(cluster, withUltra);
  for (const ClusterPlace &place : cluster.places)
    bits += availableOn(place).lut() * kLutBits;
  return bits;
}

/// Whether these could hold a network's weights.
static bool couldHold(func::FuncOp network, const Cluster &cluster,
                      bool withUltra) {
  return constantBitsOf(network) <= bitsOf(cluster, withUltra);
}

Limit weightsExceed(func::FuncOp network, const Goal &goal,
                    const Cluster &cluster) {
  const Cluster allowed = withinParts(cluster, goal);
  Limit limit;
  if (mayStream(allowed))
    return limit;
  for (Operation *op : hardwareOf(network))
    limit.needed += usedWeightBitsOf(op);
  limit.available = bitsOf(allowed, /*withUltra=*/true);
  if (limit.needed > limit.available)
    limit.kind = Limit::Kind::Weights;
  return limit;
}

/// Whether weights take so much of a chip's memories that each layer should
/// choose among all homes at once: what is on chip binds while bandwidth is
/// idle. ResNet-50 on xcu55c, where they take three quarters, gained a fifth.
/// ResNet-18, where they take a third, is as fast with its weights on chip.
static bool fillsMemories(func::FuncOp network, const Cluster &cluster) {
  constexpr double kShare = 0.5;
  return constantBitsOf(network) >= kShare * memoryBitsOf(cluster, true);
}

/// Which memories limit a plan, so that other prices may help.
struct Lacking {
  bool blocks = false, luts = false;
};
static Lacking lackingBy(const Limit &limit) {
  // Any of them may be what a die or a device has too little of.
  if (limit.kind == Limit::Kind::Dies ||
      (limit.kind == Limit::Kind::Cuts && limit.resource.empty()))
    return {true, true};
  if (limit.kind != Limit::Kind::Resource && limit.kind != Limit::Kind::Cuts)
    return {};
  const std::string &kind = limit.resource;
  return {kind == "bram" || kind == "uram", kind == "lut" || kind == "lutram"};
}

namespace {
/// The network explored at some prices of memories.
class Attempt {
public:
  Attempt(func::FuncOp network, const Goal &goal, const Cluster &cluster,
          const Steering &steering, const MemoryPrices &prices, Spent &spent)
      : prices(prices), goal(goal), places(priced(cluster, prices)),
        sharing(network, goal, places, steering, spent) {}

  const MemoryPrices prices;

  /// Seconds per frame that no plan at these prices falls below: infinite if
  /// none is faster than `least`, 0 if only building one tells.
  double promise(double least) {
    if (sharing.whole().isRefused())
      return 0;
    if (places.places.size() > 1)
      return goal.kind == Goal::Kind::MaxThroughput &&
                     isLarge(sharing.whole().problem())
                 ? sharing.promise().seconds
                 : 0;
    if (goal.kind == Goal::Kind::MaxThroughput)
      return sharing.whole().mayFallBelow(least)
                 ? sharing.whole().prospect(goal).seconds
                 : INFINITY;
    return sharing.whole().prospect({}).nodes > 0 ? 0 : INFINITY;
  }
  /// Seconds per frame that no plan at these prices takes less than.
  double bound() { return lowerBound(sharing.whole().problem()); }
  /// What keeps the solver from less than that.
  Lacking lackingAt(double promise) {
    return lackingBy(sharing.limitBelow(promise));
  }
  FailureOr<Result> run(double below = INFINITY) {
    auto result = sharing.run(below);
    if (succeeded(result)) {
      result->lutsOfABlock = prices.lutsOfABlock;
      result->residents = prices.residents;
      result->streaming = prices.streaming;
      result->batch = prices.batch;
      result->ultraRows = prices.ultraRows;
    }
    return result;
  }

private:
  const Goal &goal;
  const Cluster places;
  Sharing sharing;
};

/// The settings with which a plan was found.
MemoryPrices pricesOf(const Result &result) {
  return {result.lutsOfABlock, result.residents, result.streaming, result.batch,
          result.ultraRows};
}

/// Explores at the usual prices of memories, and at others if memories are the
/// limit. Building a plan takes longer than solving for it, and none is faster
/// than the solver promised: plans are built in the order of the promises,
/// until none promises more than what stands.
class Pricing {
public:
  Pricing(func::FuncOp network, const Goal &goal, const Cluster &cluster,
          const Steering &steering)
      : network(network), goal(goal), cluster(cluster), steering(steering) {}

  /// The best plan. With `below` only one that takes fewer seconds is of use: a
  /// result without nodes says that there is none.
  FailureOr<Result> run(double below = INFINITY);

private:
  func::FuncOp network;
  const Goal &goal;
  const Cluster &cluster;
  const Steering &steering;
  std::optional<Result> best; ///< of what was built
  /// What promises more, and how much.
  std::vector<std::pair<double, MemoryPrices>> promising;
  std::unique_ptr<Attempt> most; ///< the one that promises most
  double least = INFINITY;       ///< its seconds, or those of the best
  bool hasBound = false;         ///< only less than this is of use:
  double below = INFINITY;
  double fewest = INFINITY; ///< then: seconds that no plan falls below
  Lacking lacking;          ///< of the same

  Spent spent;

  std::unique_ptr<Attempt> attempt(const MemoryPrices &prices) {
    return std::make_unique<Attempt>(network, goal, cluster, steering, prices,
                                     spent);
  }
  /// Whether there is always something better to want.
  bool isOpen() const {
    return goal.kind == Goal::Kind::MaxThroughput ||
           goal.kind == Goal::Kind::MinLatency;
  }
  /// What is short as long as nothing fits: blocks and LUTs, either of which
  /// other prices may spare; neither if all of them together are too few.
  Lacking lackingWhereNothingFits() const {
    bool could = couldHold(network, cluster, mayUseUltra(cluster));
    return {could, could};
  }
  LogicalResult build(Attempt &attempt);
  FailureOr<bool> consider(const MemoryPrices &prices);
  LogicalResult relieve(MemoryPrices &prices);
  LogicalResult buildPromising();
  FailureOr<Result> plan(double below);
  LogicalResult batch(Result &result);
  /// With these prices, each layer's weights and rows in any home that the
  /// device has.
  MemoryPrices withEveryHome(MemoryPrices prices) const;
  /// Whether nothing so far fits, and nothing promises to.
  bool fitsNothing() const {
    return promising.empty() &&
           !(best && (best->fits || !best->refused.empty()));
  }
  FailureOr<Result> search(MemoryPrices prices);
  FailureOr<std::optional<Result>> withAnyHome(const MemoryPrices &usual,
                                               double &promise);
};

/// Takes a plan if it is better.
LogicalResult Pricing::build(Attempt &attempt) {
  const double most = best && best->fits ? best->seconds : below;
  auto other = attempt.run(most * (1 - 1e-6));
  if (failed(other))
    return failure();
  if (other->nodes.empty() && other->refused.empty()) {
    fewest = std::min(fewest, attempt.bound());
    return success();
  }
  if (best && !(other->fits && isBetter(*other, *best, goal))) {
    erase(*other);
    return success();
  }
  if (best)
    erase(*best);
  best = std::move(*other);
  if (best->fits && best->seconds < least)
    least = best->seconds;
  return success();
}

/// Whether these prices are better than all before, or promise to be.
FailureOr<bool> Pricing::consider(const MemoryPrices &prices) {
  if (best && !best->refused.empty())
    return false;
  auto tried = attempt(prices);
  double promise = tried->promise(least);
  if (hasBound && promise > 0)
    fewest = std::min(fewest, tried->bound());
  if (promise >= least * (1 - 1e-6))
    return false;
  if (promise > 0) {
    promising.push_back({promise, prices});
    least = promise;
    most = std::move(tried);
    lacking = most->lackingAt(promise);
    return true;
  }
  if (failed(build(*tried)))
    return failure();
  if (!best || !best->fits || pricesOf(*best) != prices)
    return false;
  lacking = best->meetsGoal && !isOpen() ? Lacking{} : lackingBy(best->limit);
  return true;
}

/// Other homes for weights: UltraRAM, which is idle otherwise, and memories
/// outside the chip. Changes the prices to those that help.
LogicalResult Pricing::relieve(MemoryPrices &prices) {
  const bool mayLoad =
      prices.residents == Residents::None && mayUseUltra(cluster);
  auto consider = [&](const MemoryPrices &tried) {
    auto helps = this->consider(tried);
    if (succeeded(helps) && *helps)
      prices = tried;
    return helps;
  };
  if ((lacking.blocks || lacking.luts) && mayLoad) {
    MemoryPrices tried = prices;
    tried.residents = Residents::Ultra;
    if (failed(consider(tried)))
      return failure();
  }
  // Readers that take turns at few banks wait longer than the solver counts:
  // there only what is used once a frame is streamed, if that is enough.
  constexpr int64_t kBanks = 4;
  if (fitsNothing() && mayStream(cluster) && mostBanks(cluster) >= kBanks)
    return success();
  // What the chip cannot hold, and what is used once a frame anyway.
  if ((!fitsNothing() && !lacking.blocks) || !mayStream(cluster) ||
      prices.streaming != Streaming::None ||
      (!fitsNothing() && !relievesToStreamOnce(network)))
    return success();
  MemoryPrices tried = prices;
  tried.streaming = Streaming::Once;
  // What is not streamed may also be too much for block RAM.
  if (fitsNothing() && mayLoad)
    tried.residents = Residents::Ultra;
  return consider(tried);
}

LogicalResult Pricing::buildPromising() {
  // Runs of a cluster fit less often than promised, and take long to build.
  const double worth = cluster.places.size() > 1 ? 0.9 : 1 - 1e-6;
  llvm::stable_sort(promising, [](const auto &a, const auto &b) {
    return a.first < b.first;
  });
  for (auto &[promise, prices] : promising) {
    if (best && best->fits && promise >= best->seconds * worth)
      break;
    auto built = most ? std::move(most) : attempt(prices);
    if (failed(build(*built)))
      return failure();
  }
  return success();
}

/// The plan that chooses among all homes for each layer, where weights fill the
/// chip and several banks are idle; none if there is none. Readers that take
/// turns at one bank wait longer than the solver counts: measured were one bank
/// (too few) and 32 (enough).
FailureOr<std::optional<Result>> Pricing::withAnyHome(const MemoryPrices &usual,
                                                      double &promise) {
  constexpr int64_t kBanks = 8;
  if (goal.kind != Goal::Kind::MaxThroughput || !mayStream(cluster) ||
      !mayUseUltra(cluster) || mostBanks(cluster) < kBanks ||
      !fillsMemories(network, cluster))
    return std::optional<Result>();
  MemoryPrices prices = usual;
  prices.residents = std::max(usual.residents, Residents::Ultra);
  prices.streaming = Streaming::All;
  auto tried = attempt(prices);
  promise = tried->promise(least);
  if (promise >= least)
    return std::optional<Result>();
  auto result = tried->run(least);
  if (failed(result))
    return failure();
  return std::optional(std::move(*result));
}

MemoryPrices Pricing::withEveryHome(MemoryPrices prices) const {
  if (mayUseUltra(cluster))
    prices.residents = std::max(prices.residents, Residents::Ultra);
  if (mayStream(cluster))
    prices.streaming = Streaming::All;
  if (hasUltra(cluster))
    prices.ultraRows = UltraRows::Also;
  return prices;
}

FailureOr<Result> Pricing::search(MemoryPrices prices) {
  const MemoryPrices usual = prices;
  lacking = lackingWhereNothingFits();
  // Where it is plain that nothing fits, nothing is tried.
  if (couldHold(network, cluster, /*withUltra=*/false) &&
      failed(consider(usual)))
    return failure();
  const MemoryPrices widest = withEveryHome(prices);
  if (failed(relieve(prices)))
    return failure();
  if (fitsNothing() && widest != usual) {
    // What fits in none of its homes fits in no choice of them: one question
    // tells, and its plan is the nearest.
    auto helps = consider(widest);
    if (failed(helps))
      return failure();
    if (fitsNothing() && !hasBound && !best)
      return attempt(widest)->run();
    if (*helps)
      prices = widest;
  }
  // With every home, these choices are made for each layer.
  const bool hasEvery = prices == widest && widest != usual;
  // Where blocks are still scarce, rows may leave them.
  if (!hasEvery && lacking.blocks && hasUltra(cluster)) {
    MemoryPrices tried = prices;
    tried.ultraRows = UltraRows::Instead;
    auto helps = consider(tried);
    if (failed(helps))
      return failure();
    if (*helps)
      prices = tried;
  }
  const Lacking before = hasEvery ? Lacking{} : lacking;
  for (double price : {300, 900, 30}) {
    if (price < CostContext::kUsualLutsOfABlock ? !before.luts : !before.blocks)
      continue;
    MemoryPrices other = prices;
    other.lutsOfABlock = price;
    if (failed(consider(other)))
      return failure();
  }
  if (failed(buildPromising()))
    return failure();
  if (!best && hasBound)
    return noResult(fewest);
  if (!best)
    return attempt(usual)->run();
  return std::move(*best);
}

/// Where a memory binds, frames that follow each other may share the weights
/// that are read from it. Such a plan is taken if it is better.
LogicalResult Pricing::batch(Result &result) {
  constexpr int64_t kMost = 16; // frames
  const bool isRate = goal.kind == Goal::Kind::MaxThroughput ||
                      (goal.throughput > 0 && !result.meetsGoal);
  if (!isRate || result.streaming == Streaming::None || !result.fits ||
      result.limit.kind != Limit::Kind::Bandwidth || !mayBatch(network) ||
      cluster.places.size() != 1 || cluster.places[0].wire ||
      result.batch >= kMost)
    return success();
  // Batched plans are slow to simulate and have a higher latency: one is tried
  // where frames are not too long, and its promise is more than a tenth better
  // than both the standing plan's promise and what that plan reached.
  constexpr double kWorth = 0.9;
  constexpr int64_t kLong = 60'000'000; // firings
  if (gen::firingsOf(result.nodes[0].design) > kLong)
    return success();
  const double bound = kWorth * std::min(result.seconds, result.solvedSeconds);
  MemoryPrices prices = pricesOf(result);
  prices.batch = kMost;
  most.reset(); // they are large: one at a time
  auto tried = attempt(prices);
  const double promise = tried->promise(bound);
  if (promise >= bound)
    return success();
  // Whole frames are stored, and may leave block RAM.
  if (hasUltra(cluster)) {
    tried.reset();
    prices.ultraRows = UltraRows::Instead;
    tried = attempt(prices);
    if (tried->promise(promise) >= promise) {
      tried.reset();
      prices.ultraRows = result.ultraRows;
      tried = attempt(prices);
    }
  }
  auto other = tried->run(result.seconds * (1 - 1e-6));
  if (failed(other))
    return failure();
  keepBetter(result, std::move(*other), goal);
  return success();
}

FailureOr<Result> Pricing::run(double below) {
  auto result = plan(below);
  if (succeeded(result) && failed(batch(*result)))
    return failure();
  if (failed(result) || goal.kind != Goal::Kind::MinLatency ||
      !result->meetsGoal || !result->fits)
    return result;
  // Once, since it takes longer: at the prices of what was best without.
  Goal rest = goal;
  rest.usesRest = true;
  auto quicker =
      Attempt(network, rest, cluster, steering, pricesOf(*result), spent).run();
  if (failed(quicker))
    return failure();
  keepBetter(*result, std::move(*quicker), goal);
  return result;
}

FailureOr<Result> Pricing::plan(double below) {
  least = this->below = below;
  hasBound = !std::isinf(below);
  const MemoryPrices prices = pricesFor(network, cluster, steering);
  if (steering.lutsOfABlock > 0)
    return attempt(prices)->run();
  double promise = INFINITY;
  auto any = withAnyHome(prices, promise);
  if (failed(any))
    return failure();
  // If it is as fast as promised, nothing else is worth a try.
  constexpr double kNear = 1.05;
  if (*any && (*any)->fits && (*any)->seconds <= kNear * promise)
    return std::move(**any);
  auto result = search(prices);
  if (failed(result) || !*any)
    return result;
  keepBetter(*result, std::move(**any), goal);
  return result;
}
} // namespace

/// The best plan of a network as it is. With `below` only one that takes fewer
/// seconds is of use: a result without nodes says that there is none.
static FailureOr<Result> exploreAll(func::FuncOp base, const Goal &goal,
                                    const Cluster &cluster,
                                    const Steering &steering, double below) {
  Cluster allowed = withinParts(cluster, goal);
  FailureOr<Result> result = Pricing(base, goal, allowed, steering).run(below);
  // If there are DSP blocks, some operations are only offered with them, so
  // a few may be worse than none; a plan may also use none.
  auto dsp = goal.parts.find("dsp");
  if (succeeded(result) && dsp != goal.parts.end() && dsp->second.amount > 0 &&
      (!result->meetsGoal || goal.kind == Goal::Kind::MaxThroughput)) {
    Goal without = goal.withoutDsp();
    Cluster none = withinParts(cluster, without);
    const bool isRate = goal.kind == Goal::Kind::MaxThroughput;
    auto other = Pricing(base, without, none, steering)
                     .run(isRate && result->fits ? result->seconds : below);
    if (succeeded(other)) {
      other->avoidsDsp = true;
      keepBetter(*result, std::move(*other), goal);
    }
  }
  return result;
}

/// Whether `a` serves a goal better than `b`: of equal ones, with less of the
/// devices.
static bool servesBetter(const Result &a, const Result &b, const Goal &goal,
                         const Cluster &cluster) {
  auto rank = [&](const Result &one) {
    return std::tuple(!one.refused.empty(), !one.fits, !one.meetsGoal,
                      goal.kind == Goal::Kind::MaxThroughput || !one.meetsGoal
                          ? one.seconds
                          : 0,
                      shareOf(one, cluster));
  };
  return rank(a) < rank(b);
}

/// The better one of two ways to build a network, and the bound of both.
static void keepBetterOf(Result &plan, Result other, const Goal &goal,
                         const Cluster &cluster) {
  const double bound = std::min(plan.bound, other.bound);
  const bool isLatency = goal.kind == Goal::Kind::MinLatency;
  if (plan.nodes.empty() ||
      (!other.nodes.empty() &&
       (isLatency ? isBetter(other, plan, goal)
                  : servesBetter(other, plan, goal, cluster))))
    std::swap(plan, other);
  erase(other);
  plan.bound = bound;
}

/// The generators that build a whole network as one region on some device,
/// those that build its operations, and whether others build parts of it.
struct Builders {
  std::vector<std::string> whole, single;
  bool hasParts = false;
};
static Builders buildersOf(func::FuncOp network, const Goal &goal,
                           const Cluster &cluster) {
  Builders builders;
  const Cluster allowed = withinParts(cluster, goal);
  const std::vector<Operation *> ops = hardwareOf(network);
  auto onSome = [&](auto may) {
    return llvm::any_of(allowed.places, [&](const ClusterPlace &place) {
      return may(place.context);
    });
  };
  for (const auto &generator : allGenerators()) {
    if (!onSome([&](const DeviceContext &device) {
          return mayOffer(*generator, device);
        }))
      continue;
    if (generator->offersAnywhere()) {
      builders.single.push_back(generator->name().str());
      continue;
    }
    for (const gen::Region &region : generator->regions(ops))
      if (onSome([&](const DeviceContext &device) {
            return mayOffer(*generator, device) &&
                   !generator->offers(region, {}, device).empty();
          })) {
        if (region.ops().size() == ops.size())
          builders.whole.push_back(generator->name().str());
        else
          builders.hasParts = true;
      }
  }
  return builders;
}

/// With these generators alone.
static Cluster builtBy(Cluster cluster, const std::vector<std::string> &names) {
  for (ClusterPlace &place : cluster.places)
    place.context.generators = names;
  return cluster;
}

/// The same. A unit for the whole network and units for its operations are
/// explored apart: how fast the latter are is only known once they are built,
/// and what is tried in their stead should not depend on the former. Units for
/// parts of it stand beside those of the other operations only where these do
/// not serve the goal alone.
static FailureOr<Result> exploreBase(func::FuncOp base, const Goal &goal,
                                     const Cluster &cluster,
                                     const Steering &steering,
                                     double below = INFINITY) {
  Builders builders;
  if (steering.isEmpty())
    builders = buildersOf(base, goal, cluster);
  if (builders.single.empty() || (builders.whole.empty() && !builders.hasParts))
    return exploreAll(base, goal, cluster, steering, below);
  const Cluster units = builtBy(cluster, builders.single);
  if (builders.whole.empty()) {
    FailureOr<Result> alone = exploreAll(base, goal, units, steering, below);
    if (failed(alone) || (alone->fits && alone->meetsGoal))
      return alone;
    FailureOr<Result> mixed = exploreAll(base, goal, cluster, steering, below);
    if (succeeded(mixed))
      keepBetterOf(*mixed, std::move(*alone), goal, cluster);
    return mixed;
  }
  FailureOr<Result> whole =
      exploreAll(base, goal, builtBy(cluster, builders.whole), steering, below);
  if (failed(whole))
    return failure();
  // Slower ones are of no use.
  if (goal.kind == Goal::Kind::MaxThroughput && whole->fits &&
      whole->meetsGoal && !whole->nodes.empty())
    below = std::min(below, whole->seconds);
  FailureOr<Result> ofUnits = exploreAll(base, goal, units, steering, below);
  if (failed(ofUnits))
    return failure();
  keepBetterOf(*whole, std::move(*ofUnits), goal, cluster);
  return whole;
}

/// The best plan with or without bodies, if the steering names no operations.
/// A body takes its time for each trip, so it is for goals that leave time, and
/// for networks that fit no other way, or hardly. It is explored first where
/// that may spare the larger network, or much of the work for it.
static FailureOr<Result> exploreBoth(func::FuncOp network, const Goal &goal,
                                     const Cluster &cluster,
                                     const Steering &steering) {
  // Fold first only if at most a quarter of the operations remains.
  constexpr size_t kTimes = 4;
  const bool isRate = goal.kind == Goal::Kind::MaxThroughput;
  if (cluster.places.size() != 1 || goal.kind == Goal::Kind::MinLatency ||
      goal.latency > 0)
    return exploreBase(network, goal, cluster, steering);
  Refusals refused;
  std::vector<Repeat> repeats = findRepeats(network);
  func::FuncOp folded = foldAs(network, repeats, refused);
  llvm::scope_exit eraseIt([&] {
    if (folded != network)
      eraseFolded(folded);
  });
  std::optional<Result> plan;
  if (isRate && (folded == network || kTimes * hardwareOf(folded).size() >
                                          hardwareOf(network).size())) {
    FailureOr<Result> first = exploreBase(network, goal, cluster, steering);
    if (failed(first) || (first->fits && first->meetsGoal))
      return first;
    plan = std::move(*first);
  }
  std::optional<Result> bodies;
  if (folded != network) {
    FailureOr<Result> built = exploreBase(folded, goal, cluster, steering);
    if (failed(built))
      return failure();
    bodies = std::move(*built);
    bodies->repeats = std::move(repeats);
    if (!isRate && bodies->fits && bodies->meetsGoal &&
        takesMore(network, goal, cluster, shareOf(*bodies, cluster)))
      return std::move(*bodies);
  }
  if (!plan) {
    const bool isBound = isRate && bodies && bodies->fits && bodies->meetsGoal;
    FailureOr<Result> built = exploreBase(network, goal, cluster, steering,
                                          isBound ? bodies->seconds : INFINITY);
    if (failed(built))
      return failure();
    plan = std::move(*built);
  }
  if (bodies && servesBetter(*bodies, *plan, goal, cluster))
    std::swap(*plan, *bodies);
  if (bodies && isRate && bodies->refused.empty())
    plan->bound = std::min(plan->bound, bodies->bound);
  if (bodies)
    erase(*bodies);
  return std::move(*plan);
}

FailureOr<Result> explore(func::FuncOp network, const Goal &goal,
                          const Cluster &cluster, const Steering &steering) {
  Result refusal;
  func::FuncOp base =
      alteredAs(network, steering.splits, steering.repeats, refusal.refused);
  if (!refusal.refused.empty()) {
    if (base != network)
      base.erase();
    return refusal;
  }
  std::vector<Split> splits = wholeIds(network, steering.splits);
  std::vector<Repeat> repeats = wholeIds(network, steering.repeats);
  FailureOr<Result> result = base == network && steering.isEmpty()
                                 ? exploreBoth(network, goal, cluster, steering)
                                 : exploreBase(base, goal, cluster, steering);
  if (base != network) {
    eraseFolded(base);
    if (succeeded(result)) {
      result->splits = std::move(splits);
      result->repeats = std::move(repeats);
    }
  }
  if (succeeded(result))
    renumberValues(*result);
  return result;
}
} // namespace rhizome::explore
