// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations are split by channels: first those that fit no device
// or are too slow on any, as far as necessary; then what limits the rate, as
// long as that helps. Variants are compared by the solver's predictions; only
// the best is built.
#include "Sharing.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
/// Whether `wanted` names this operation.
static bool names(const OperationId &wanted, const OperationId &id) {
  return wanted.node == id.node && (wanted.op.empty() || wanted.op == id.op) &&
         (wanted.nth < 0 || wanted.nth == id.nth);
}

std::vector<Split> wholeIds(func::FuncOp network,
                            const std::vector<Split> &splits) {
  std::vector<Operation *> ops = hardwareOf(network);
  std::vector<OperationId> ids = idsOf(ops);
  std::vector<Split> whole = splits;
  for (Split &split : whole) {
    OperationId wanted = split.of;
    for (size_t i = 0; i < ops.size(); ++i)
      if (names(wanted, ids[i]) && isSplittable(ops[i], split.parts))
        split.of = ids[i];
  }
  return whole;
}

/// A copy of `base` after `network` in its module.
static func::FuncOp copyOf(func::FuncOp base, func::FuncOp network) {
  auto copy = cast<func::FuncOp>(base->clone());
  copy->removeAttr(flow::kPlace); // it is not a task of the model
  copy.setSymName("network.split");
  network->getBlock()->getOperations().insertAfter(network->getIterator(),
                                                   copy);
  return copy;
}

func::FuncOp splitAs(func::FuncOp network, const std::vector<Split> &splits,
                     Refusals &refused) {
  if (splits.empty())
    return network;
  func::FuncOp copy = copyOf(network, network);
  std::vector<Operation *> ops = hardwareOf(copy);
  std::vector<OperationId> ids = idsOf(ops);
  std::vector<std::pair<Operation *, int>> found;
  for (const Split &split : splits) {
    Operation *one = nullptr;
    for (size_t i = 0; i < ops.size(); ++i)
      if (names(split.of, ids[i]) && isSplittable(ops[i], split.parts))
        one = ops[i];
    if (one)
      found.push_back({one, split.parts});
    else
      refused.push_back({split.of.node, "",
                         "has no channels that " + std::to_string(split.parts) +
                             " devices could share",
                         "convolutions without groups and dense layers have"});
  }
  if (refused.empty())
    for (auto [op, parts] : found)
      splitChannels(op, parts);
  return copy;
}

/// A network with some operations split.
struct Sharing::Variant {
  func::FuncOp network, function; ///< as given, and with the parts
  Parts parts;
  /// For operations that may be split further: the index in the network.
  DenseMap<Operation *, size_t> origins;
  std::unique_ptr<Explorer> explorer;
  Prospect prospect;

  ~Variant() {
    explorer.reset();
    if (function != network)
      function.erase();
  }
};

Sharing::Sharing(func::FuncOp network, const Goal &goal, const Cluster &cluster,
                 const Steering &steering, Spent &spent)
    : network(network), goal(goal), cluster(cluster), steering(steering),
      spent(spent) {
  for (Operation &op : network.getBody().front())
    ops.push_back(&op);
}

Sharing::~Sharing() = default;

Explorer &Sharing::whole() {
  if (!unsplit)
    unsplit = variant({});
  return *unsplit->explorer;
}

Sharing::Handle Sharing::variant(const Parts &parts) {
  auto v = std::make_unique<Variant>();
  v->network = v->function = network;
  v->parts = parts;
  if (!parts.empty())
    v->function = copyOf(network, network);
  std::vector<Operation *> copies;
  for (Operation &op : v->function.getBody().front()) {
    if (isSplittable(&op, 2))
      v->origins[&op] = copies.size();
    copies.push_back(&op);
  }
  for (auto [at, count] : parts) {
    v->origins.erase(copies[at]);
    for (Operation *part : splitChannels(copies[at], count))
      v->origins[part] = at;
  }
  v->explorer =
      std::make_unique<Explorer>(v->function, cluster, steering, cache, spent);
  return v;
}

std::optional<size_t> Sharing::originOf(const Variant &v, int stage) const {
  auto found = v.origins.find(v.explorer->operation(stage));
  if (found == v.origins.end())
    return std::nullopt;
  return found->second;
}

/// The next larger number of parts, at least `factor` times as many.
std::optional<int> Sharing::more(size_t at, int parts, double factor) const {
  static const int kParts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
  for (int count : kParts)
    if (count > parts && double(count) >= factor * parts * (1 - 1e-9) &&
        count <= devices() && isSplittable(ops[at], count))
      return count;
  return std::nullopt;
}

/// Splits everything that is too slow for the goal on any device, or fits
/// none; null if that is not possible or nothing is.
Sharing::Handle Sharing::necessary() {
  double target = std::min(goal.mostSeconds(), 1e30); // as slow as allowed
  Handle v;
  for (Parts parts;;) {
    v = variant(parts);
    const Problem &problem = v->explorer->problem();
    Parts next = parts;
    for (int s = 0; s < int(problem.stages.size()); ++s) {
      double alone = aloneSeconds(problem, s);
      if (alone <= target * (1 + 1e-9))
        continue;
      auto at = originOf(*v, s);
      if (!at)
        return nullptr;
      int now = parts.count(*at) ? parts[*at] : 1;
      // Parts need not be as fast as equal shares of the whole would be.
      auto count = more(*at, now, std::isinf(alone) ? 1 : 0.7 * alone / target);
      if (!count)
        return nullptr;
      next[*at] = std::max(next[*at], *count);
    }
    if (next == parts)
      break;
    parts = std::move(next);
  }
  if (v->parts.empty())
    return nullptr;
  v->prospect = v->explorer->prospect(goal);
  return v;
}

/// What a better plan falls below.
static double mostOfBetter(const Prospect &prospect) {
  return prospect.seconds * (1 - 1e-6);
}

static bool isBetter(const Prospect &a, const Prospect &b) {
  if (a.meets != b.meets)
    return a.meets;
  return a.seconds < mostOfBetter(b);
}

/// Whether splitting more than necessary may help.
bool Sharing::mayGain(const Prospect &prospect, const Problem &problem) const {
  if (std::isinf(prospect.seconds))
    return false;
  if (goal.throughput > 0 && goal.kind != Goal::Kind::MaxThroughput)
    return !prospect.meets;
  Limit why;
  double bound = lowerBound(problem, &why);
  bool isLink =
      (why.kind == Limit::Kind::Border || why.kind == Limit::Kind::HostLink) &&
      prospect.seconds <= bound * (1 + 1e-6);
  return goal.kind == Goal::Kind::MaxThroughput && !isLink;
}

/// Splits more of what limits the rate, as long as it helps. If every
/// device already has work, little is tried: it would have to move as well.
Sharing::Handle Sharing::climb(Handle best) {
  constexpr int kSteps = 8;
  for (int step = 0; step < kSteps; ++step) {
    const Problem &problem = best->explorer->problem();
    if (!mayGain(best->prospect, problem))
      break;
    bool idle = best->prospect.nodes < devices();
    size_t widest = idle ? 2 : 1;
    int furthest = idle ? 2 : 1;
    std::vector<std::pair<double, size_t>> slowest;
    for (int s = 0; s < int(problem.stages.size()); ++s)
      if (auto at = originOf(*best, s))
        slowest.push_back({-aloneSeconds(problem, s), *at});
    llvm::sort(slowest);
    std::vector<size_t> tried;
    Handle better;
    for (auto [seconds, at] : slowest) {
      if (better || tried.size() >= widest)
        break;
      if (llvm::is_contained(tried, at))
        continue;
      tried.push_back(at);
      int count = best->parts.count(at) ? best->parts[at] : 1;
      for (int further = 0; !better && further < furthest; ++further) {
        auto next = more(at, count, 1);
        if (!next)
          break;
        count = *next;
        Parts parts = best->parts;
        parts[at] = count;
        Handle tries = variant(parts);
        if (!tries->explorer->isWithin(mostOfBetter(best->prospect), goal))
          continue;
        tries->prospect = tries->explorer->prospect(goal);
        if (isBetter(tries->prospect, best->prospect))
          better = std::move(tries);
      }
    }
    if (!better)
      break;
    best = std::move(better);
  }
  return best;
}

std::vector<Split> Sharing::splitsOf(const Parts &parts) const {
  std::vector<Operation *> hardware = hardwareOf(network);
  std::vector<OperationId> ids = idsOf(hardware);
  std::vector<Split> splits;
  for (auto [at, count] : parts)
    splits.push_back(
        {ids[llvm::find(hardware, ops[at]) - hardware.begin()], count});
  return splits;
}

bool isBetter(const Result &a, const Result &b, const Goal &goal) {
  if (a.refused.empty() != b.refused.empty())
    return a.refused.empty();
  if (a.fits != b.fits)
    return a.fits;
  if (a.meetsGoal != b.meetsGoal)
    return a.meetsGoal;
  if (goal.kind == Goal::Kind::MinLatency)
    return a.latency < b.latency * (1 - 1e-6);
  return a.seconds < b.seconds * (1 - 1e-6);
}

void keepBetter(Result &plan, Result other, const Goal &goal) {
  if (isBetter(other, plan, goal))
    std::swap(other, plan);
  erase(other);
}

/// Whether a device builds operations one by one, so that parts of them may lie
/// on several.
static bool buildsSingle(const Cluster &cluster) {
  return llvm::any_of(allGenerators(), [&](const auto &generator) {
    return generator->offersAnywhere() &&
           llvm::any_of(cluster.places, [&](const ClusterPlace &place) {
             return mayOffer(*generator, place.context);
           });
  });
}

void Sharing::choose() {
  if (chosen)
    return;
  bool mayShare =
      cluster.places.size() > 1 && steering.isEmpty() && buildsSingle(cluster);
  whole();
  chosen = std::move(unsplit);
  if (!mayShare)
    return;
  chosen->prospect = chosen->explorer->prospect(goal);
  if (!chosen->prospect.meets)
    if (Handle v = necessary())
      if (isBetter(v->prospect, chosen->prospect))
        chosen = std::move(v);
  chosen = climb(std::move(chosen));
}

Prospect Sharing::promise() {
  choose();
  return chosen->prospect;
}

Limit Sharing::limitBelow(double seconds) {
  return (chosen ? *chosen->explorer : whole()).limitBelow(seconds);
}

FailureOr<Result> Sharing::run(double below) {
  choose();
  auto result = chosen->explorer->run(goal, below);
  if (failed(result) || chosen->parts.empty())
    return result;
  result->splits = splitsOf(chosen->parts);
  if (result->meetsGoal && result->fits)
    return result;
  // The built plan was worse than predicted.
  auto whole = variant({})->explorer->run(goal, below);
  if (failed(whole))
    return failure();
  keepBetter(*result, std::move(*whole), goal);
  return result;
}
} // namespace rhizome::explore
