// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the solver's proposals; if a design takes more than its run's
// estimate, or the event simulator finds it slower, the next proposal
// accounts for it or aims lower.
#include "Explorer.h"
#include "rhizome/Design/Sizing.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Explore/Solver/Runs.h"
#include "rhizome/Support/Units.h"
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

Result noResult(double bound) {
  Result none;
  none.fits = none.meetsGoal = false;
  none.seconds = INFINITY;
  none.bound = bound;
  return none;
}

std::optional<Proposal> Explorer::fastest(const Limits &limits) {
  bool isPlain = limits.share == 1 && limits.least == 0 && limits.errorBars &&
                 limits.maxNodes >= int64_t(problem().places.size());
  if (isPlain && isSolved)
    return quickest;
  std::optional<Proposal> best;
  for (size_t o = 0; o < posed.orders.size(); ++o)
    if (auto s = solveFastest(posed.problems[o], limits))
      if (!best || s->seconds < best->solution.seconds ||
          (s->seconds == best->solution.seconds &&
           s->nodes() < best->solution.nodes()))
        best = Proposal{o, std::move(*s)};
  if (isPlain) {
    quickest = best;
    isSolved = true;
  }
  return best;
}

std::optional<Proposal> Explorer::within(double seconds, const Limits &limits) {
  std::optional<Proposal> best;
  auto solve = [&](const Problem &problem) {
    return problem.loop.cycles
               ? solveWithin(withLoops(problem), seconds, limits)
               : solveWithin(problem, seconds, limits);
  };
  for (size_t o = 0; o < posed.orders.size(); ++o)
    if (auto s = solve(posed.problems[o]))
      if (!best || s->nodes() < best->solution.nodes())
        best = Proposal{o, std::move(*s)};
  return best;
}

namespace {
/// The resources of a plan for places without budgets, and the budgets.
struct Overrun {
  std::optional<Solution> solution; ///< none if budgets are not the limit
  Resources need, budget;
};
} // namespace

static Resources needOf(const Solution &solution, bool errorBars) {
  Resources need;
  for (const Run &run : solution.runs)
    for (int c = 0; c < int(run.places.size()); ++c)
      need += errorBars ? run.cost.most() : run.cost.resources;
  return need;
}

/// The plan that exceeds the budgets of all places together least: a resource
/// that one plan overuses is more expensive for the next one.
static Overrun leastOverrun(Problem open, double seconds,
                            const Limits &limits) {
  constexpr int kSteps = 6;
  Overrun best;
  for (Kind &kind : open.kinds)
    kind.capacity = {};
  for (Place &place : open.places) {
    const Resources budget = place.budgetFor(seconds);
    best.budget += budget;
    Resources &most = open.kinds[place.kind].capacity;
    for (size_t k = 0; k < most.amount.size(); ++k)
      most.amount[k] = std::max(most.amount[k], budget.amount[k]);
    place.unlimit();
  }
  double least = INFINITY;
  for (int step = 0; step < kSteps; ++step) {
    auto solution = solveWithin(open, seconds, limits);
    if (!solution)
      break;
    Resources need = needOf(*solution, limits.errorBars);
    auto [worst, share] = scarcest(need, best.budget);
    if (share > least)
      break;
    least = share;
    best.need = need;
    best.solution = std::move(solution);
    if (share <= 1)
      break;
    for (Kind &kind : open.kinds)
      kind.capacity.amount[worst] /= 2;
  }
  return best;
}

std::optional<Proposal> Explorer::nearest() {
  Problem open = posed.problems[0];
  open.places.resize(1);
  for (Stage &stage : open.stages)
    stage.unpin();
  open.isChain = false;
  auto overrun = leastOverrun(std::move(open), INFINITY, {});
  if (!overrun.solution)
    return std::nullopt;
  return Proposal{0, std::move(*overrun.solution)};
}

/// Pins that contradict each other: no order of the stages places them along
/// the places. None if there are none.
static Limit contradiction(const std::vector<Problem> &problems) {
  Limit first;
  for (const Problem &problem : problems) {
    const Stage *before = nullptr;
    Limit why;
    for (const Stage &stage : problem.stages) {
      if (stage.place < 0)
        continue;
      if (before && stage.place < before->place && why.isNone()) {
        why.kind = Limit::Kind::PinOrder;
        why.stage = stage.name;
        why.place = stage.place;
        why.other = before->name;
        why.otherPlace = before->place;
      }
      before = &stage;
    }
    if (why.isNone())
      return why;
    if (first.isNone())
      first = why;
  }
  return first;
}

/// Why no plan takes this few seconds per frame.
Limit Explorer::limitAt(double seconds, const Limits &limits) {
  Limit why;
  if (seconds < lowerBound(posed.problems[0], &why) &&
      why.kind != Limit::Kind::AllResources && why.kind != Limit::Kind::Border)
    return why;
  // What a plan would need at least of one place's budget, or of all.
  const Problem &open = posed.problems[0];
  Overrun overrun = leastOverrun(open, seconds, limits);
  if (!overrun.solution) {
    Problem free = open;
    for (Place &place : free.places)
      place.unlimit();
    for (Stage &stage : free.stages)
      stage.unpin();
    bool isPinned = llvm::any_of(
        open.stages, [](const Stage &stage) { return stage.isPinned(); });
    if (isPinned && solveWithin(free, seconds, limits)) {
      Limit pins = contradiction(posed.problems);
      return pins.isNone() ? Limit{Limit::Kind::Pins} : pins;
    }
    if (open.places[0].wire)
      return {Limit::Kind::Links};
    Limit border{Limit::Kind::Border};
    border.bits = open.places[0].streamBits;
    for (const Tensor &tensor : open.tensors)
      if (tensor.producer < 0 || tensor.toHost)
        border.beats = std::max(border.beats,
                                (tensor.bits + border.bits - 1) / border.bits);
    return border;
  }
  Limit resource = exceeded(overrun.need, overrun.budget, open.kinds[0]);
  if (!resource.isNone())
    return resource;
  if (open.places.size() > 1) {
    Limit cuts{Limit::Kind::Cuts};
    if (isLarge(open))
      cuts.resource =
          nameOf(scarcest(overrun.need, overrun.budget).first, open.kinds[0]);
    return cuts;
  }
  return {open.places[0].dies.count() > 1 ? Limit::Kind::Dies
                                          : Limit::Kind::Search};
}

/// Whether all nodes fit if the prediction has its maximum error.
bool Explorer::holds(const Result &result) const {
  const Problem &problem = posed.problems[0];
  for (const NodeResult &node : result.nodes) {
    const Place &place = problem.places[node.place];
    if (!fitsPlace(node, place, problem.kinds[place.kind]))
      return false;
  }
  return true;
}

/// The firings of a frame through all nodes, or through those that were
/// simulated.
static int64_t firingsOf(const Result &result, bool ofSimulated = false) {
  int64_t firings = 0;
  for (const NodeResult &node : result.nodes)
    if (!ofSimulated || node.isSimulated)
      firings += gen::firingsOf(node.design);
  return firings;
}

/// Firings of frames that take seconds to simulate, and some ten seconds.
static constexpr int64_t kLong = 20'000'000, kVeryLong = 10 * kLong;

bool Explorer::isTimed(const Built &built) const {
  // What never ran on several devices may fit.
  const int64_t most =
      built.isSized || problem().places.size() == 1 ? kLong : kVeryLong;
  return built.holds || buildsNearest || built.firings < most;
}

int64_t Explorer::mostFirings() const {
  constexpr int64_t kMost = 800'000'000;
  // To solve for several devices takes as long as half of these.
  const int64_t most = problem().places.size() > 1 ? kMost / 4 : kMost;
  return std::isinf(below) ? most : most / 2;
}

FailureOr<std::optional<Explorer::Built>> Explorer::settle(Propose propose,
                                                           Limits &limits) {
  // Sizing a plan takes as long as its frames have firings: fewer are tried of
  // those with many, and none beyond what takes too long in all.
  constexpr int kAttempts = 12, kFewestRuns = 3;
  constexpr int64_t kFirings = 250'000'000;
  const int64_t most = mostFirings();
  int64_t spent = 0; // here
  int runs = 0;
  std::optional<Built> last;
  std::optional<Proposal> moved;
  bool hasLearned = false, spillsDies = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto proposal = moved ? std::exchange(moved, {}) : propose(limits);
    // What was learned from one plan may not apply to others.
    if (!proposal && hasLearned) {
      forget(posed);
      isSolved = hasLearned = false;
      limits.share -= 0.03;
      proposal = propose(limits);
    }
    if (!proposal)
      break;
    // What was learned only makes promises worse.
    if (!std::isinf(below) && proposal->solution.seconds >= below) {
      if (last)
        erase(last->result);
      isBeaten = true;
      return std::optional<Built>();
    }
    const bool waits =
        last && llvm::any_of(last->result.nodes,
                             [](const NodeResult &node) { return node.waits; });
    Trial trial;
    trial.isFirst = true;
    trial.waits = waits;
    trial.spillsDies = spillsDies;
    trial.mostFirings = most - spentInAll.firings;
    trial.hasRun = spentInAll.firings > 0;
    auto result = realize(posed, *proposal, trial);
    if (failed(result))
      return failure();
    if (last)
      erase(last->result);
    const int64_t simulated = firingsOf(*result, /*ofSimulated=*/true);
    const bool fits = holds(*result),
               isSized =
                   llvm::all_of(result->nodes, [](const NodeResult &node) {
                     return node.isSimulated;
                   });
    const int64_t firings = firingsOf(*result);
    last = Built{std::move(*proposal), std::move(*result), fits && isSized,
                 isSized, firings};
    spent += simulated;
    spentInAll.firings += simulated;
    runs += simulated > 0;
    if (fits || (simulated > 0 && runs >= kFewestRuns && spent > kFirings))
      break;
    limits.least = std::max(limits.least, last->proposal.solution.seconds);
    if (learn(posed, last->proposal, last->result)) {
      isSolved = false;
      hasLearned = true;
      moved = laidOutAgain(posed, last->proposal, last->result, limits);
    } else {
      limits.share -= 0.03;
    }
    // Where no other layout does, FIFOs leave the dies that lack blocks.
    spillsDies =
        !moved && llvm::any_of(last->result.nodes, [](const NodeResult &node) {
          return node.maySpill;
        });
    if (spillsDies)
      moved = last->proposal;
  }
  if (last && !last->holds && isTimed(*last)) {
    erase(last->result);
    auto whole = realize(posed, last->proposal);
    if (failed(whole))
      return failure();
    last->result = std::move(*whole);
    last->holds = holds(last->result);
  }
  return last;
}

FailureOr<Result> Explorer::realizeFastest(Limits limits,
                                           std::optional<Proposal> &taken) {
  taken.reset();
  for (bool errorBars : {true, false}) {
    limits.errorBars = errorBars;
    limits.share = 1;
    limits.least = 0;
    auto built = settle([&](const Limits &l) { return fastest(l); }, limits);
    if (failed(built))
      return failure();
    if (isBeaten)
      return noResult();
    if (!*built)
      continue;
    auto &[proposal, result, holds, isSized, firings] = **built;
    // A plan with fewer devices is valid for more: so many are not worse.
    // Where one stands already, not all of that time is spent.
    if (int64_t nodes = proposal.solution.nodes(); !holds && nodes > 1) {
      if (!std::isinf(below) && spentInAll.firings >= mostFirings()) {
        erase(result);
        isBeaten = true;
        return noResult();
      }
      Limits fewer = limits;
      fewer.maxNodes = nodes / 2;
      forget(posed);
      isSolved = false;
      auto other = realizeFastest(fewer, taken);
      if (failed(other))
        return failure();
      if (other->meetsGoal || isBeaten) {
        erase(result);
        return other;
      }
      erase(*other);
      taken.reset();
    }
    if (!isTimed(**built)) {
      outlineTiming(posed, proposal, result);
      result.fits = false; // with its FIFOs
    } else if (failed(addTiming(posed, proposal, result))) {
      return failure();
    }
    result.limit = limitAt(proposal.solution.seconds * (1 - 1e-9), limits);
    result.meetsGoal = holds;
    if (holds)
      taken = std::move(proposal);
    return std::move(result);
  }
  // By the offers' estimates not even the smallest plan fits.
  auto found = nearest();
  if (!found)
    return noResult();
  Proposal &proposal = *found;
  Resources all;
  for (const Place &place : posed.problems[0].places)
    all += place.budgetFor(INFINITY);
  auto excess = [&](const Result &result) {
    Resources most = result.nodes[0].resources;
    most += result.nodes[0].errors;
    return exceeded(most, all, posed.problems[0].kinds[0]);
  };
  // Simulating a plan that cannot be built may take longer than everything
  // else.
  FailureOr<Result> result = failure();
  bool isBuilt = buildsNearest;
  if (!buildsNearest) {
    result = outline(posed, proposal);
    if (failed(result))
      return failure();
    isBuilt = excess(*result).isNone() && firingsOf(*result) < kVeryLong;
  }
  if (isBuilt) {
    if (succeeded(result))
      erase(*result);
    result = realize(posed, proposal);
    if (failed(result) || failed(addTiming(posed, proposal, *result)))
      return failure();
  }
  result->limit = contradiction(posed.problems);
  // Built, it may take less than the offers say. It was found without pins, and
  // lies on no dies.
  result->meetsGoal = isBuilt && result->limit.isNone() && holds(*result) &&
                      problem().places[0].dies.count() < 2 &&
                      llvm::none_of(
                          problem().stages,
                          [](const Stage &stage) { return stage.isPinned(); });
  if (!result->limit.isNone())
    return result;
  if (result->meetsGoal) {
    result->limit = limitAt(INFINITY, {});
    taken = std::move(proposal);
    return result;
  }
  result->limit = excess(*result);
  for (int s = 0; result->limit.isNone() && s < int(problem().stages.size());
       ++s)
    if (std::isinf(aloneSeconds(problem(), s)))
      result->limit = whyNotAlone(problem(), s);
  if (result->limit.isNone())
    result->limit = limitAt(INFINITY, {});
  assert(!result->limit.isNone() && "limitAt always knows one");
  return result;
}

FailureOr<Result> Explorer::realizeWithin(double target, Limits limits) {
  // Rows that wait for each other sometimes cost a few cycles, loops of a state
  // more: aim lower, if need be by more each time.
  double seconds = target;
  Limit limit;
  for (int attempt = 0; attempt < 6; ++attempt) {
    limits.least = 0;
    auto built =
        settle([&](const Limits &l) { return within(seconds, l); }, limits);
    if (failed(built))
      return failure();
    if (!*built) {
      limit = limitAt(seconds, limits);
      break;
    }
    auto &[proposal, result, holds, isSized, firings] = **built;
    if (holds) {
      if (failed(addTiming(posed, proposal, result)))
        return failure();
      if (result.seconds <= target * (1 + 1e-9))
        return std::move(result);
      seconds *= std::pow(target / result.seconds * 0.995, 1 + attempt / 2);
    }
    erase(result);
    if (!holds)
      break;
  }
  limits.share = 1;
  std::optional<Proposal> taken;
  auto result = realizeFastest(limits, taken);
  if (succeeded(result) && result->seconds > target * (1 + 1e-9)) {
    result->meetsGoal = false;
    if (!limit.isNone())
      result->limit = limit;
  }
  return result;
}

namespace {
/// Another choice for a stage of a run, and what it was found to bring.
struct Quicker {
  size_t run;
  int stage, choice;
  double price = 0; ///< beyond that of the present choice
  double seconds = 0;
};
} // namespace

/// For each stage of a plan the cheapest choices that are at least twice and
/// eight times as quick, where what the plan leaves of its places may hold
/// them.
static std::vector<Quicker> quickerChoices(const Problem &problem,
                                           const Solution &solution,
                                           const Result &result) {
  std::vector<Quicker> found;
  for (auto [r, run] : llvm::enumerate(solution.runs)) {
    const Place &place = problem.places[run.places[0]];
    const Kind &kind = problem.kinds[place.kind];
    const NodeResult &node = result.nodes[r];
    Resources left = place.budget;
    for (size_t k = 0; k < kResourceNames.size(); ++k)
      left.amount[k] -= node.resources.amount[k] + node.errors.amount[k];
    for (int s = run.begin; s < run.end; ++s) {
      const std::vector<Choice> &all = kind.choices[s];
      const Choice &now = all[run.choices[s - run.begin]];
      if (now.unit >= 0 || now.region >= 0)
        continue;
      const double price = priceOf(now.cost.resources, kind.capacity);
      int before = -1;
      for (int64_t times : {2, 8}) {
        Quicker best{r, s, -1, INFINITY};
        for (auto [c, choice] : llvm::enumerate(all)) {
          if (choice.unit >= 0 || choice.region >= 0 ||
              choice.interval * times > now.interval)
            continue;
          bool fits = true;
          for (size_t k = 0; k < kResourceNames.size(); ++k)
            fits &= choice.cost.resources.amount[k] -
                        now.cost.resources.amount[k] <=
                    std::max(0.0, left.amount[k]);
          const double more =
              priceOf(choice.cost.resources, kind.capacity) - price;
          if (fits && more < best.price) {
            best.choice = int(c);
            best.price = more;
          }
        }
        if (best.choice >= 0 &&
            best.choice != std::exchange(before, best.choice))
          found.push_back(best);
      }
    }
  }
  return found;
}

/// Shortens the way of a frame with what a plan leaves of its places. The rate
/// decides which choices a plan takes, and a frame also waits for stages that
/// are quick enough for it. Each is tried alone; what brings most for its price
/// is taken first, as long as it helps.
LogicalResult Explorer::quicken(Proposal proposal, Result &result) {
  constexpr double kLeast = 1e-4; // that is worth a change
  const Problem &problem = posed.problems[proposal.order];
  if (isLarge(problem))
    return success();
  auto with = [&](const Quicker &change) {
    Proposal other = proposal;
    Run &run = other.solution.runs[change.run];
    run.choices[change.stage - run.begin] = change.choice;
    return other;
  };
  // A plan that fits, is as fast and sooner than `latency`.
  auto build = [&](const Proposal &other,
                   double latency) -> FailureOr<std::optional<Result>> {
    auto built = realize(posed, other, {/*isFirst=*/true});
    if (failed(built))
      return failure();
    if (holds(*built)) {
      if (failed(addTiming(posed, other, *built)))
        return failure();
      if (built->latency < latency &&
          built->seconds <= result.seconds * (1 + 1e-9))
        return std::optional(std::move(*built));
    }
    erase(*built);
    return std::optional<Result>();
  };
  std::vector<Quicker> changes =
      quickerChoices(problem, proposal.solution, result);
  const double least = kLeast * result.latency;
  for (Quicker &change : changes) {
    auto built = build(with(change), result.latency - least);
    if (failed(built))
      return failure();
    if (!*built)
      continue;
    change.seconds = result.latency - (*built)->latency;
    erase(**built);
  }
  llvm::erase_if(changes, [](const Quicker &c) { return c.seconds <= 0; });
  llvm::sort(changes, [](const Quicker &a, const Quicker &b) {
    const double ofA = a.seconds / std::max(1e-6, a.price),
                 ofB = b.seconds / std::max(1e-6, b.price);
    return std::tuple(-ofA, a.run, a.stage, a.choice) <
           std::tuple(-ofB, b.run, b.stage, b.choice);
  });
  for (const Quicker &change : changes) {
    Proposal other = with(change);
    auto built = build(other, result.latency - least);
    if (failed(built))
      return failure();
    if (!*built)
      continue;
    (*built)->limit = result.limit;
    (*built)->meetsGoal = result.meetsGoal;
    erase(result);
    result = std::move(**built);
    proposal = std::move(other);
  }
  return success();
}

FailureOr<Result> Explorer::realizeQuickest(const Goal &goal, Limits limits) {
  // Fewer devices need fewer links: more are only used if they are needed.
  int64_t most =
      std::min<int64_t>(limits.maxNodes, posed.problems[0].places.size());
  double target = goal.latency > 0 ? goal.latency : INFINITY;
  bool isRate = goal.kind == Goal::Kind::MaxThroughput;
  bool isSmallest = !isRate && goal.kind != Goal::Kind::MinLatency;
  auto meets = [&](const Result &result) {
    return result.meetsGoal && result.latency <= target &&
           result.seconds <= goal.mostSeconds() * (1 + 1e-9);
  };
  std::optional<Result> best;
  std::optional<Proposal> taken, ofBest;
  double low = 0;
  for (limits.maxNodes = 1;;
       limits.maxNodes = std::min(2 * limits.maxNodes, most)) {
    auto result = realizeFastest(limits, taken);
    if (failed(result))
      return failure();
    bool good = meets(*result);
    auto rank = [&](const Result &r) {
      return std::tuple(!r.meetsGoal, !meets(r),
                        isRate && meets(r) ? r.seconds : r.latency);
    };
    if (!best || rank(*result) < rank(*best)) {
      if (best)
        erase(*best);
      best = std::move(*result);
      ofBest = std::move(taken);
      low = best->seconds;
    } else {
      erase(*result);
    }
    if ((good && isSmallest) || limits.maxNodes >= most)
      break;
  }
  if (goal.usesRest && ofBest)
    if (failed(quicken(std::move(*ofBest), *best)))
      return failure();
  // A plan that is too slow is not limited by a resource.
  if (best->latency > target) {
    best->limit = Limit::Kind::Latency;
    best->limit.seconds = best->latency;
  }
  best->meetsGoal = meets(*best);
  // Slower and smaller, as long as the result arrives in time.
  double high = std::min(target, goal.mostSeconds());
  for (int step = 0;
       isSmallest && best->meetsGoal && step < 10 && high / low > 1.02;
       ++step) {
    double seconds = std::sqrt(low * high);
    limits.least = 0;
    auto built =
        settle([&](const Limits &l) { return within(seconds, l); }, limits);
    if (failed(built))
      return failure();
    bool good = *built && (*built)->holds;
    if (good && failed(addTiming(posed, (*built)->proposal, (*built)->result)))
      return failure();
    if (good && (*built)->result.latency <= target &&
        (*built)->result.seconds <= goal.mostSeconds() * (1 + 1e-9)) {
      erase(*best);
      best = std::move((*built)->result);
      low = seconds;
    } else {
      if (*built)
        erase((*built)->result);
      high = seconds;
    }
  }
  return std::move(*best);
}

/// The alternatives: fewer devices, other generators.
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
           "slower: " + rateText(1 / proposal->solution.seconds) + " of " +
               rateText(1 / result.seconds) + " per second",
           proposal->solution.nodes(), 1 / proposal->solution.seconds});
    else
      result.others.push_back({what, "does not fit", fewer, 0});
  }
  for (const NodeResult &node : result.nodes)
    posed.addOffers(node, result);
}

FailureOr<Result> Explorer::run(const Goal &goal, double below) {
  if (!posed.menu.refused().empty()) {
    Result refused;
    refused.refused = posed.menu.refused();
    return refused;
  }
  buildsNearest = goal.buildsNearest;
  Limits limits;
  limits.maxNodes = goal.maxNodes;
  FailureOr<Result> result = failure();
  if (goal.latency > 0 || goal.kind == Goal::Kind::MinLatency) {
    result = realizeQuickest(goal, limits);
  } else if (goal.kind == Goal::Kind::MinResources ||
             (goal.kind == Goal::Kind::MinNodes && goal.throughput > 0)) {
    result = realizeWithin(goal.mostSeconds(), limits);
  } else {
    if (goal.kind == Goal::Kind::MinNodes)
      if (auto smallest = within(INFINITY, limits))
        limits.maxNodes = smallest->solution.nodes();
    if (goal.kind == Goal::Kind::MaxThroughput)
      this->below = below;
    std::optional<Proposal> taken;
    result = realizeFastest(limits, taken);
    if (isBeaten)
      return result;
    if (succeeded(result) && result->seconds > goal.mostSeconds() * (1 + 1e-9))
      result->meetsGoal = false;
  }
  if (failed(result))
    return failure();
  // More of anything would not help.
  if (result->bottleneck.kind == flow::BottleneckKind::State &&
      (result->limit.isNone() || !goal.isBounded() || !result->meetsGoal ||
       result->limit.kind == Limit::Kind::State)) {
    result->limit = Limit::Kind::State;
    result->limit.stage = result->bottleneck.node;
    result->limit.seconds = result->seconds;
  }
  result->fits &= holds(*result);
  result->bound = INFINITY;
  for (const Problem &problem : posed.problems)
    result->bound = std::min(result->bound, lowerBound(problem));
  addOthers(*result);
  return result;
}
Prospect Explorer::prospect(const Goal &goal) {
  Limits limits;
  limits.maxNodes = goal.maxNodes;
  std::optional<Proposal> found;
  bool wantsRate = goal.kind == Goal::Kind::MaxThroughput ||
                   goal.kind == Goal::Kind::MinLatency;
  if (goal.throughput > 0 && !wantsRate)
    found = within(goal.mostSeconds(), limits);
  else if (!wantsRate && !goal.isBounded())
    found = within(INFINITY, limits);
  bool meets = found || goal.throughput == 0;
  if (!found && (wantsRate || goal.isBounded()))
    found = fastest(limits);
  if (wantsRate && found)
    meets = found->solution.seconds <= goal.mostSeconds() * (1 + 1e-9);
  if (!found)
    return {};
  return {meets, found->solution.seconds, found->solution.nodes()};
}
} // namespace rhizome::explore
