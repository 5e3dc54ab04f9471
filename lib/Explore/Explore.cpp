// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goals as searches over the solver; what it proposes is built and simulated,
// and where the event simulator or the real glue says otherwise the next
// proposal aims lower.
#include "rhizome/Explore/Explore.h"
#include "Realise.h"
#include "Split.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
int64_t Result::devices() const {
  int64_t n = 0;
  for (const NodeResult &node : nodes)
    n += node.copies;
  return n;
}

namespace {
class Explorer {
public:
  Explorer(func::FuncOp network, const Cluster &cluster,
           const Steering &steering)
      : posed(network, cluster, steering) {}

  FailureOr<Result> run(const Goal &goal);

private:
  Posed posed;

  /// The best of all orders.
  std::optional<Proposal> fastest(const Limits &limits);
  std::optional<Proposal> within(double seconds, const Limits &limits);
  /// The plan without regard to budgets, on the first place.
  Proposal nearest();
  std::string limitAt(double seconds, const Limits &limits);
  bool holds(const Result &result) const;
  FailureOr<Result> realiseFastest(Limits limits);
  FailureOr<Result> realiseWithin(double target, Limits limits);
  FailureOr<Result> realiseQuickest(double target, Limits limits);
  void addOthers(Result &result);
};

std::optional<Proposal> Explorer::fastest(const Limits &limits) {
  std::optional<Proposal> best;
  for (size_t o = 0; o < posed.orders.size(); ++o)
    if (auto s = solveFastest(posed.problems[o], limits))
      if (!best || s->seconds < best->solution.seconds ||
          (s->seconds == best->solution.seconds &&
           s->nodes() < best->solution.nodes()))
        best = Proposal{o, std::move(*s)};
  return best;
}

std::optional<Proposal> Explorer::within(double seconds, const Limits &limits) {
  std::optional<Proposal> best;
  for (size_t o = 0; o < posed.orders.size(); ++o)
    if (auto s = solveWithin(posed.problems[o], seconds, limits))
      if (!best || s->nodes() < best->solution.nodes())
        best = Proposal{o, std::move(*s)};
  return best;
}

Proposal Explorer::nearest() {
  Problem open = posed.problems[0];
  open.places.resize(1);
  for (double &amount : open.places[0].budget.amount)
    amount = INFINITY;
  for (Stage &stage : open.stages) {
    stage.place = -1;
    stage.mustCut = false;
  }
  open.isChain = false;
  auto solution = solveWithin(open, INFINITY, {});
  assert(solution && "without budgets everything fits");
  return {0, std::move(*solution)};
}

/// Why no plan takes so few seconds a frame.
std::string Explorer::limitAt(double seconds, const Limits &limits) {
  std::string why;
  if (seconds < lowerBound(posed.problems[0], &why) &&
      why != "the resources of all devices together" && why != "the border")
    return why;
  // What the cheapest plan would need of one place's budget, or of all.
  Problem open = posed.problems[0];
  Resources all;
  for (Place &place : open.places) {
    all += place.budget;
    for (double &amount : place.budget.amount)
      amount = INFINITY;
  }
  auto solution = solveWithin(open, seconds, limits);
  if (!solution) {
    if (open.places[0].wire)
      return "the links";
    int64_t beats = 0, bits = open.places[0].streamBits;
    for (const Tensor &tensor : open.tensors)
      if (tensor.producer < 0 || tensor.toHost)
        beats = std::max(beats, (tensor.bits + bits - 1) / bits);
    return llvm::formatv("the border: {0} beats of {1} bits a frame", beats,
                         bits);
  }
  Resources need;
  for (const Run &run : solution->runs)
    for (int c = 0; c < int(run.places.size()); ++c)
      need += limits.errorBars ? run.cost.most() : run.cost.resources;
  std::string name = exceededName(need, all);
  return name.empty() ? "where the network can be cut: all devices together "
                        "would have enough"
                      : name;
}

/// Do all nodes fit, if the prediction is as far off as it may be?
bool Explorer::holds(const Result &result) const {
  for (const NodeResult &node : result.nodes) {
    Resources most = node.resources;
    most += node.errors;
    if (!exceededName(most, posed.problems[0].places[node.place].budget)
             .empty())
      return false;
  }
  return true;
}

FailureOr<Result> Explorer::realiseFastest(Limits limits) {
  std::optional<Result> last;
  for (bool errorBars : {true, false}) {
    limits.errorBars = errorBars;
    for (limits.share = 1; limits.share > 0.7; limits.share -= 0.03) {
      auto proposal = fastest(limits);
      if (!proposal)
        break;
      auto result = realise(posed, *proposal);
      if (failed(result))
        return failure();
      result->limit = limitAt(proposal->solution.seconds * (1 - 1e-9), limits);
      result->meetsGoal = holds(*result);
      if (last)
        erase(*last);
      if (result->meetsGoal)
        return result;
      last = std::move(*result);
    }
    if (last)
      return std::move(*last);
  }
  // Not even the smallest plan fits.
  Proposal proposal = nearest();
  auto result = realise(posed, proposal);
  if (succeeded(result)) {
    result->meetsGoal = false;
    Resources most = result->nodes[0].resources;
    most += result->nodes[0].errors;
    Resources all;
    for (const Place &place : posed.problems[0].places)
      all += place.budget;
    result->limit = exceededName(most, all);
    if (result->limit.empty())
      result->limit = limitAt(INFINITY, {});
    if (result->limit.empty())
      result->limit = "no way to cut the network fits the devices";
  }
  return result;
}

FailureOr<Result> Explorer::realiseWithin(double target, Limits limits) {
  // Rows that wait for each other cost a few cycles at times: aim lower.
  double seconds = target;
  std::string limit;
  for (int attempt = 0; attempt < 12; ++attempt) {
    auto proposal = within(seconds, limits);
    if (!proposal) {
      limit = limitAt(seconds, limits);
      break;
    }
    auto result = realise(posed, *proposal);
    if (failed(result))
      return failure();
    bool isFast = result->seconds <= target * (1 + 1e-9);
    bool fits = holds(*result);
    if (isFast && fits)
      return result;
    if (!isFast)
      seconds *= target / result->seconds * 0.995;
    else
      limits.share -= 0.03;
    erase(*result);
  }
  limits.share = 1;
  auto result = realiseFastest(limits);
  if (succeeded(result) && result->seconds > target * (1 + 1e-9)) {
    result->meetsGoal = false;
    if (!limit.empty())
      result->limit = limit;
  }
  return result;
}

FailureOr<Result> Explorer::realiseQuickest(double target, Limits limits) {
  // Fewer devices, fewer links: more are taken only if they are needed.
  int64_t most =
      std::min<int64_t>(limits.maxNodes, posed.problems[0].places.size());
  std::optional<Result> best;
  double low = 0;
  for (limits.maxNodes = 1;;
       limits.maxNodes = std::min(2 * limits.maxNodes, most)) {
    auto result = realiseFastest(limits);
    if (failed(result))
      return failure();
    bool good = result->meetsGoal && result->latency <= target;
    bool better = !best || (result->meetsGoal && !best->meetsGoal) ||
                  (result->meetsGoal == best->meetsGoal &&
                   result->latency < best->latency);
    if (better) {
      if (best)
        erase(*best);
      best = std::move(*result);
      low = best->seconds;
    } else {
      erase(*result);
    }
    if (good || limits.maxNodes >= most)
      break;
  }
  if (best->latency > target) {
    if (best->limit.empty())
      best->limit = "the latency of the quickest plan";
    best->meetsGoal = false;
  }
  // Slower and smaller, as long as the answer comes in time.
  double high = target;
  for (int step = 0; best->meetsGoal && step < 10 && high / low > 1.02;
       ++step) {
    double seconds = std::sqrt(low * high);
    auto proposal = within(seconds, limits);
    auto result =
        proposal ? realise(posed, *proposal) : FailureOr<Result>(failure());
    if (succeeded(result) && result->latency <= target && holds(*result)) {
      erase(*best);
      best = std::move(*result);
      low = seconds;
    } else {
      if (succeeded(result))
        erase(*result);
      high = seconds;
    }
  }
  return std::move(*best);
}

/// What else was looked at: fewer devices, other generators.
void Explorer::addOthers(Result &result) {
  int64_t devices = result.devices();
  for (int64_t fewer : {int64_t(1), devices - 1}) {
    if (isLarge(posed.problems[0]) || fewer < 1 || fewer >= devices ||
        (fewer == 1 && devices == 2 && !result.others.empty()))
      continue;
    Limits limits;
    limits.maxNodes = fewer;
    auto proposal = fastest(limits);
    std::string what =
        std::to_string(fewer) + (fewer == 1 ? " device" : " devices");
    if (proposal)
      result.others.push_back(
          {what,
           llvm::formatv("slower: {0:F0} of {1:F0} per second",
                         1 / proposal->solution.seconds, 1 / result.seconds),
           proposal->solution.nodes(), 1 / proposal->solution.seconds});
    else
      result.others.push_back({what, "does not fit", fewer, 0});
  }
  for (const NodeResult &node : result.nodes)
    posed.addOptions(node, result);
}

FailureOr<Result> Explorer::run(const Goal &goal) {
  if (!posed.menu.refused().empty()) {
    Result refused;
    refused.refused = posed.menu.refused();
    return refused;
  }
  Limits limits;
  limits.maxNodes = goal.maxNodes;
  FailureOr<Result> result = failure();
  switch (goal.kind) {
  case Goal::Kind::MinResources:
    result = realiseWithin(INFINITY, limits);
    break;
  case Goal::Kind::MinNodes:
    if (auto smallest = within(INFINITY, limits))
      limits.maxNodes = smallest->solution.nodes();
    [[fallthrough]];
  case Goal::Kind::MaxThroughput:
    result = realiseFastest(limits);
    break;
  case Goal::Kind::Throughput:
    result = realiseWithin(1 / goal.value, limits);
    break;
  case Goal::Kind::Latency:
    result = realiseQuickest(goal.value, limits);
    break;
  }
  if (failed(result))
    return failure();
  std::string why;
  result->fits = holds(*result);
  result->bound = INFINITY;
  for (const Problem &problem : posed.problems)
    result->bound = std::min(result->bound, lowerBound(problem, &why));
  addOthers(*result);
  return result;
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

namespace {
/// Is a plan with an operation split better than one without?
bool isBetter(const Result &split, const Result &whole) {
  if (split.fits != whole.fits)
    return split.fits;
  if (split.meetsGoal != whole.meetsGoal)
    return split.meetsGoal;
  return split.seconds < whole.seconds * (1 - 1e-6);
}

/// May sharing out an operation's channels help?
bool mayGain(const Result &result, const Goal &goal, const Cluster &cluster) {
  if (!result.meetsGoal || !result.fits)
    return true;
  bool isLink = result.bottleneck == "the link" ||
                result.bottleneck == "the host's link" ||
                result.bottleneck == "the border";
  return goal.kind == Goal::Kind::MaxThroughput && !isLink &&
         result.devices() <
             std::min<int64_t>(goal.maxNodes, cluster.places.size());
}

/// The operations most worth splitting: the most parameters, the most MACs.
std::vector<size_t> heaviest(func::FuncOp network) {
  std::vector<size_t> found;
  for (bool byMacs : {false, true}) {
    int64_t most = 0;
    size_t best = 0, at = 0;
    for (Operation &op : network.getBody().front()) {
      osa::Work work = osa::computeWork(&op);
      int64_t weight = byMacs ? work.macs : work.paramBits;
      if (isSplittable(&op, 2) && weight > most) {
        most = weight;
        best = at;
      }
      ++at;
    }
    if (most > 0 && !llvm::is_contained(found, best))
      found.push_back(best);
  }
  return found;
}
} // namespace

/// A copy of `base` behind `network` in its module.
static func::FuncOp copyOf(func::FuncOp base, func::FuncOp network) {
  auto copy = cast<func::FuncOp>(base->clone());
  copy.setSymName("network.split");
  network->getBlock()->getOperations().insertAfter(network->getIterator(),
                                                   copy);
  return copy;
}

/// The network with the splits that a user asks for.
static func::FuncOp splitAs(func::FuncOp network, const Steering &steering,
                            Refusals &refused) {
  if (steering.splits.empty())
    return network;
  func::FuncOp copy = copyOf(network, network);
  for (const auto &[name, parts] : steering.splits) {
    Operation *found = nullptr;
    for (Operation &op : copy.getBody().front())
      if (osa::nodeName(&op) == name && isSplittable(&op, parts))
        found = &op;
    if (found)
      splitChannels(found, parts);
    else
      refused.push_back({name, "",
                         "has no channels that " + std::to_string(parts) +
                             " devices could share",
                         "convolutions without groups and dense layers have"});
  }
  return copy;
}

FailureOr<Result> explore(func::FuncOp network, const Goal &goal,
                          const Cluster &cluster, const Steering &steering) {
  Result refusal;
  func::FuncOp base = splitAs(network, steering, refusal.refused);
  FailureOr<Result> best = refusal.refused.empty()
                               ? Explorer(base, cluster, steering).run(goal)
                               : FailureOr<Result>(std::move(refusal));
  auto finish = [&]() -> FailureOr<Result> {
    if (base != network)
      base.erase();
    return std::move(best);
  };
  if (failed(best) || cluster.places.size() < 2 || !steering.isEmpty())
    return finish();
  // One operation after the other, as long as it helps.
  std::string done;
  for (int round = 0; round < 2 && mayGain(*best, goal, cluster); ++round) {
    func::FuncOp next;
    for (size_t at : heaviest(base))
      for (int parts : {2, 3, 4, 8}) {
        Operation *op = &*std::next(base.getBody().front().begin(), at);
        if (parts > int(cluster.places.size()) || !isSplittable(op, parts))
          continue;
        std::string what = osa::nodeName(op) + " in " + std::to_string(parts);
        func::FuncOp copy = copyOf(base, network);
        splitChannels(&*std::next(copy.getBody().front().begin(), at), parts);
        auto split = Explorer(copy, cluster, steering).run(goal);
        if (failed(split))
          return failure();
        if (split->nodes.size() > 1 && isBetter(*split, *best)) {
          split->split = done + (done.empty() ? "" : ", ") + what;
          erase(*best);
          best = std::move(*split);
          if (next)
            next.erase();
          next = copy;
        } else {
          erase(*split);
          copy.erase();
        }
        if (!mayGain(*best, goal, cluster))
          break;
      }
    if (!next)
      break;
    if (base != network)
      base.erase();
    base = next;
    done = best->split;
  }
  return finish();
}
} // namespace rhizome::explore
