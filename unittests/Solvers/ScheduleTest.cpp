// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of random graphs of every class pass the verifier, which rejects
// injected faults; exact ones are never worse than the heuristics', and equal
// the best that enumeration finds on tiny problems. RHIZOME_SCHEDULES sets how
// many graphs of each class (default 300).
#include "rhizome/Solvers/Solvers.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdlib>
#include <random>

using namespace rhizome::schedule;

namespace {
int rounds() {
  const char *text = std::getenv("RHIZOME_SCHEDULES");
  return text ? std::atoi(text) : 300;
}

class Random {
public:
  explicit Random(int seed) : rng(uint64_t(seed)) {}
  int64_t upTo(int64_t most) { return int64_t(rng() % uint64_t(most + 1)); }
  bool chance(int64_t percent) { return upTo(99) < percent; }

private:
  std::mt19937_64 rng;
};

/// Operations and dependences from lower to higher numbers.
void fill(Problem &p, Random &random, int count) {
  for (int i = 0; i < count; ++i) {
    p.add(random.upTo(3));
    for (int from = 0; from < i; ++from)
      if (random.chance(350 / count))
        p.depend(from, i, random.chance(10) ? random.upTo(2) : 0);
  }
}

void carry(CyclicProblem &p, Random &random) {
  for (int i = 0; i < p.size(); ++i)
    if (random.chance(20))
      p.carry(i, int(random.upTo(i)), 1 + random.upTo(2));
}

void share(SharedProblem &p, Random &random) {
  int resources = 1 + int(random.upTo(2));
  for (int r = 0; r < resources; ++r)
    p.addResource(1 + random.upTo(2));
  for (int i = 0; i < p.size(); ++i)
    if (random.chance(70))
      p.use(i, int(random.upTo(resources - 1)), random.upTo(1),
            1 + (random.chance(20) ? random.upTo(2) : 0));
}

void chain(ChainedProblem &p, Random &random) {
  p.period = 10;
  for (int i = 0; i < p.size(); ++i)
    p.setDelay(i, random.upTo(7),
               p.latency[i] > 0 && random.chance(50) ? random.upTo(4) : 0);
}

LoopProblem randomLoop(Random &random, int count) {
  LoopProblem p;
  fill(p, random, count);
  carry(p, random);
  share(p, random);
  if (random.chance(50))
    chain(p, random);
  return p;
}

/// A dependence that is tight, for an operation that could otherwise start
/// earlier; none if there is none.
const Dependence *tightOne(const Problem &p, const Schedule &s) {
  for (const Dependence &d : p.dependences)
    if (s.start[d.to] > 0 && d.from != d.to &&
        s.start[d.to] + s.interval * d.distance ==
            s.start[d.from] + p.latency[d.from] + d.wait)
      return &d;
  return nullptr;
}

/// The verifier rejects the schedule with a reader one cycle too early.
template <typename Class>
int plantEarlyReader(const Class &p, const Schedule &s) {
  const Dependence *d = tightOne(p, s);
  if (!d)
    return 0;
  Schedule wrong = s;
  --wrong.start[d->to];
  EXPECT_TRUE(verify(p, wrong));
  return 1;
}

TEST(Schedule, PlainAsSoonAndAsLateAsPossible) {
  int planted = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(round);
    Problem p;
    fill(p, random, 2 + int(random.upTo(30)));
    auto asap = scheduleAsap(p);
    ASSERT_TRUE(asap);
    ASSERT_EQ(verify(p, *asap), std::nullopt) << round;
    // The same by difference constraints.
    EXPECT_EQ(asap->start, *solveDifferences(p.size(), differencesOf(p)));
    auto alap = scheduleAlap(p, asap->length(p));
    ASSERT_TRUE(alap);
    ASSERT_EQ(verify(p, *alap), std::nullopt) << round;
    for (int i = 0; i < p.size(); ++i)
      EXPECT_LE(asap->start[i], alap->start[i]);
    bool isEmpty = asap->length(p) == 1 &&
                   *std::max_element(p.latency.begin(), p.latency.end()) == 0;
    EXPECT_TRUE(isEmpty || !scheduleAlap(p, asap->length(p) - 1));
    planted += plantEarlyReader(p, *asap);
  }
  EXPECT_GT(planted, rounds() / 2);
}

TEST(Schedule, CyclesOfDependencesAreNoSchedule) {
  Problem p;
  int a = p.add(1), b = p.add(0);
  p.depend(a, b);
  p.depend(b, a);
  EXPECT_FALSE(scheduleAsap(p));
  EXPECT_FALSE(scheduleAlap(p, 10));
  LoopProblem loop;
  a = loop.add(1);
  b = loop.add(0);
  loop.depend(a, b);
  loop.depend(b, a);
  EXPECT_FALSE(scheduleChained(loop));
  EXPECT_FALSE(scheduleList(loop));
  EXPECT_FALSE(recurrenceInterval(loop));
  EXPECT_FALSE(scheduleModulo(loop));
  EXPECT_FALSE(scheduleExactly(loop).schedule);
}

TEST(Schedule, CyclicAtTheLeastInterval) {
  int planted = 0, longer = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(1000 + round);
    CyclicProblem p;
    fill(p, random, 2 + int(random.upTo(20)));
    carry(p, random);
    auto interval = recurrenceInterval(p);
    ASSERT_TRUE(interval);
    Schedule s;
    s.interval = *interval;
    s.start = *solveDifferences(p.size(), differencesOf(p, *interval));
    ASSERT_EQ(verify(p, s), std::nullopt) << round;
    planted += plantEarlyReader(p, s);
    if (*interval > 1) {
      ++longer;
      EXPECT_FALSE(solveDifferences(p.size(), differencesOf(p, *interval - 1)));
      s.interval = 0;
      EXPECT_TRUE(verify(p, s));
    }
  }
  EXPECT_GT(planted, rounds() / 2);
  EXPECT_GT(longer, rounds() / 4);
}

TEST(Schedule, ChainedByDelays) {
  int planted = 0, tooLong = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(2000 + round);
    ChainedProblem p;
    fill(p, random, 2 + int(random.upTo(30)));
    chain(p, random);
    auto s = scheduleChained(p);
    ASSERT_TRUE(s);
    ASSERT_EQ(verify(p, *s), std::nullopt) << round;
    planted += plantEarlyReader(p, *s);
    // As soon as possible is minimal with broken chains, too.
    Problem broken;
    broken.latency = p.latency;
    broken.dependences = p.dependences;
    auto breaks = chainBreaks(p);
    ASSERT_TRUE(breaks);
    broken.dependences.insert(broken.dependences.end(), breaks->begin(),
                              breaks->end());
    EXPECT_EQ(scheduleAsap(broken)->start, s->start) << round;
    // Without the breaks it would be too long.
    if (auto plain = scheduleAsap(p); plain->start != s->start) {
      ++tooLong;
      EXPECT_TRUE(verify(p, *plain)) << round;
    }
    ChainedProblem faster = p;
    faster.period = 0;
    for (int i = 0; i < p.size(); ++i)
      faster.period =
          std::max({faster.period, p.delayOf(i).before, p.delayOf(i).after});
    --faster.period;
    EXPECT_FALSE(faster.period > 0 && scheduleChained(faster));
  }
  EXPECT_GT(planted, rounds() / 2);
  EXPECT_GT(tooLong, rounds() / 4);
}

/// A model in which a chain's second half costs double: not a sum of delays.
class Doubling : public ChainModel {
public:
  explicit Doubling(const Problem &p, int64_t seed)
      : p(p), start(p.latency.size()), arrival(p.latency.size()), seed(seed) {}
  int64_t earliest(int op, const std::vector<int64_t> &starts) override {
    int64_t cycle = 0;
    for (const Dependence &d : p.dependences)
      if (d.to == op)
        cycle = std::max(cycle, starts[d.from]);
    return cycle;
  }
  Arrival place(int op, int64_t cycle) override {
    start[op] = cycle;
    int64_t before = 0;
    for (const Dependence &d : p.dependences)
      if (d.to == op && start[d.from] == cycle)
        before = std::max(before, arrival[d.from]);
    int64_t own = (op * 7 + seed) % 5;
    arrival[op] = before + own * (before > 3 ? 2 : 1);
    return {before, arrival[op]};
  }

private:
  const Problem &p;
  std::vector<int64_t> start, arrival;
  int64_t seed;
};

TEST(Schedule, ChainedByAModel) {
  int planted = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(3000 + round);
    Problem p;
    fill(p, random, 2 + int(random.upTo(30)));
    std::fill(p.latency.begin(), p.latency.end(), 0);
    for (Dependence &d : p.dependences)
      d.wait = 0;
    Doubling model(p, round), fresh(p, round), again(p, round);
    Schedule s = scheduleChained(p.size(), model, 7);
    ASSERT_EQ(verifyChained(p, fresh, 7, s), std::nullopt) << round;
    // All in one cycle is too long if the schedule has several.
    if (s.length(p) > 1 &&
        *std::max_element(s.start.begin(), s.start.end()) > 0) {
      Schedule wrong = s;
      std::fill(wrong.start.begin(), wrong.start.end(), 0);
      EXPECT_TRUE(verifyChained(p, again, 7, wrong));
      ++planted;
    }
  }
  EXPECT_GT(planted, rounds() / 2);
}

/// Two operations that hold the last instance of a resource in different
/// cycles, in the same one; or with fewer instances than are held at once.
template <typename Class> int plantConflict(Class p, const Schedule &s) {
  for (size_t r = 0; r < p.limit.size(); ++r)
    if (p.limit[r] > 1) {
      Class fewer = p;
      fewer.limit[r] = 1;
      for (int i = 0; i < p.size(); ++i)
        for (int j = 0; j < i; ++j)
          if (!p.usesOf(i).empty() && !p.usesOf(j).empty() &&
              p.usesOf(i)[0].resource == int(r) &&
              p.usesOf(j)[0].resource == int(r) &&
              s.start[i] + p.usesOf(i)[0].first ==
                  s.start[j] + p.usesOf(j)[0].first) {
            EXPECT_TRUE(verify(fewer, s));
            return 1;
          }
    }
  return 0;
}

TEST(Schedule, SharedByListsAndExactly) {
  int planted = 0, better = 0, proved = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(4000 + round);
    SharedProblem p;
    fill(p, random, 2 + int(random.upTo(10)));
    share(p, random);
    auto list = scheduleList(p);
    if (!list) // an operation holds more than exists
      continue;
    ASSERT_EQ(verify(p, *list), std::nullopt) << round;
    planted += plantEarlyReader(p, *list) + plantConflict(p, *list);
    Effort effort;
    effort.nodes = 300;
    Exact exact = scheduleExactly(p, effort);
    ASSERT_TRUE(exact.schedule);
    ASSERT_EQ(verify(p, *exact.schedule), std::nullopt) << round;
    EXPECT_LE(exact.schedule->length(p), list->length(p));
    better += exact.schedule->length(p) < list->length(p);
    proved += exact.isProved;
  }
  EXPECT_GT(planted, rounds() / 2);
  EXPECT_GT(proved, rounds() * 9 / 10);
  std::printf("%d of %d lists could be shorter\n", better, rounds());
}

TEST(Schedule, LoopsByModuloSchedulingAndExactly) {
  int planted = 0, better = 0, proved = 0, atBound = 0, loops = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(5000 + round);
    LoopProblem p = randomLoop(random, 4 + int(random.upTo(10)));
    auto modulo = scheduleModulo(p);
    if (!modulo)
      continue;
    ++loops;
    ASSERT_EQ(verify(p, *modulo), std::nullopt) << round;
    planted += plantEarlyReader(p, *modulo) + plantConflict(p, *modulo);
    Effort effort;
    effort.nodes = 300;
    Exact exact = scheduleExactly(p, effort);
    ASSERT_TRUE(exact.schedule);
    ASSERT_EQ(verify(p, *exact.schedule), std::nullopt) << round;
    EXPECT_LE(exact.schedule->interval, modulo->interval) << round;
    better += exact.schedule->interval < modulo->interval;
    proved += exact.isProved;
    atBound += modulo->interval ==
               std::max(*recurrenceInterval(p), resourceInterval(p));
  }
  EXPECT_GT(loops, rounds() * 9 / 10);
  EXPECT_GT(planted, rounds() / 2);
  EXPECT_GT(proved, rounds() * 9 / 10);
  std::printf("%d of %d loops at the bound of dependences and resources, %d "
              "shorter by the exact solver, which proves %d\n",
              atBound, loops, better, proved);
}

/// Whether any starts below `horizon` form a schedule.
template <typename Class>
bool enumerate(const Class &p, Schedule &s, int64_t horizon, int64_t length) {
  std::vector<int64_t> &start = s.start;
  start.assign(p.latency.size(), 0);
  while (true) {
    if (!verify(p, s) && (length == 0 || s.length(p) <= length))
      return true;
    size_t at = 0;
    while (at < start.size() && ++start[at] == horizon)
      start[at++] = 0;
    if (at == start.size())
      return false;
  }
}

TEST(Schedule, ExactIsTheBestThereIs) {
  int proved = 0, loops = 0;
  for (int round = 0; round < rounds(); ++round) {
    Random random(6000 + round);
    LoopProblem p = randomLoop(random, 2 + int(random.upTo(2)));
    Exact exact = scheduleExactly(p);
    if (!exact.schedule)
      continue;
    ++loops;
    proved += exact.isProved;
    Schedule found;
    found.interval = exact.schedule->interval - 1;
    // Far enough for four operations of up to three cycles.
    EXPECT_FALSE(found.interval > 0 && enumerate(p, found, 14, 0)) << round;

    SharedProblem shared;
    shared.latency = p.latency;
    for (const Dependence &d : p.dependences)
      if (d.distance == 0)
        shared.dependences.push_back(d);
    shared.limit = p.limit;
    shared.uses = p.uses;
    Exact shortest = scheduleExactly(shared);
    ASSERT_TRUE(shortest.schedule);
    EXPECT_TRUE(shortest.isProved);
    int64_t length = shortest.schedule->length(shared);
    Schedule shorter;
    EXPECT_FALSE(length > 1 && enumerate(shared, shorter, 14, length - 1))
        << round;
  }
  EXPECT_EQ(proved, loops);
  EXPECT_GT(loops, rounds() * 9 / 10);
}

TEST(Schedule, HeuristicsMaySpendNothing) {
  // Only executing iterations one after the other remains.
  Random random(7);
  LoopProblem p = randomLoop(random, 12);
  Effort none;
  none.placements = 0;
  none.nodes = 0;
  auto s = scheduleModulo(p, none);
  ASSERT_TRUE(s);
  EXPECT_EQ(verify(p, *s), std::nullopt);
  EXPECT_GE(s->interval, scheduleModulo(p)->interval);
  Exact exact = scheduleExactly(p, none);
  EXPECT_EQ(exact.schedule->start, s->start);
}

TEST(Schedule, AnAccumulatorOfThreeCycles) {
  // load, multiply, add to what the last iteration made; one port, one adder.
  LoopProblem p;
  int port = p.addResource(1), adder = p.addResource(1);
  int load = p.add(1), multiply = p.add(2), add = p.add(3);
  p.depend(load, multiply);
  p.depend(multiply, add);
  p.carry(add, add, 1);
  p.use(load, port);
  p.use(add, adder);
  Exact exact = scheduleExactly(p);
  ASSERT_TRUE(exact.isProved);
  EXPECT_EQ(exact.schedule->interval, 3);
  EXPECT_EQ(exact.schedule->start, (std::vector<int64_t>{0, 1, 3}));
  // Four partial sums alternate: the adder accepts one per cycle.
  p.dependences.back().distance = 4;
  EXPECT_EQ(scheduleExactly(p).schedule->interval, 1);
}
} // namespace
