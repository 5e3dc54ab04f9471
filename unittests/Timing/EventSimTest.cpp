// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The event simulator against a literal implementation of its rules: every
// firing separately, with a full history. Random pipelines mix long phases,
// which the simulator handles at once, with short ones that break them up.
#include "rhizome/Timing/EventSim.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::gen;

namespace {
/// Times of a channel's tokens and of the places that they free.
struct Tokens {
  std::vector<int64_t> visible, popped;
};

/// When each process fires, one vector a process; and, if asked for, when the
/// tokens of each channel came and went.
std::vector<std::vector<int64_t>>
firingsOf(const ProcessNetwork &network, int frames,
          std::vector<Tokens> *passed = nullptr) {
  std::vector<Tokens> tokens(network.channels.size());
  for (size_t c = 0; c < tokens.size(); ++c)
    tokens[c].visible.assign(size_t(network.channels[c].initial), -1);
  std::vector<std::vector<int64_t>> fired(network.processes.size());
  std::vector<std::vector<const Phase *>> due(network.processes.size());
  for (size_t p = 0; p < due.size(); ++p) {
    const Process &process = network.processes[p];
    for (int64_t i = 0; i < frames * process.periods; ++i)
      for (const Phase &phase : process.phases)
        due[p].insert(due[p].end(), size_t(phase.repeat), &phase);
  }
  auto fire = [&](size_t p) {
    const Process &process = network.processes[p];
    if (fired[p].size() == due[p].size())
      return false;
    const Phase &phase = *due[p][fired[p].size()];
    int64_t time = fired[p].empty() ? 0 : fired[p].back() + 1;
    for (size_t i = 0; i < phase.need.size(); ++i) {
      const Tokens &t = tokens[process.inputs[i]];
      size_t need = t.popped.size() + size_t(phase.need[i]);
      if (phase.need[i] > 0 && t.visible.size() < need)
        return false;
      if (phase.need[i] > 0)
        time = std::max(time, t.visible[need - 1]);
    }
    for (size_t k = 0; k < phase.produce.size(); ++k) {
      int c = process.outputs[k];
      const Tokens &t = tokens[c];
      int64_t freed = int64_t(t.visible.size()) + phase.produce[k] -
                      network.channels[c].capacity;
      if (phase.produce[k] > 0 && freed > int64_t(t.popped.size()))
        return false;
      if (phase.produce[k] > 0 && freed > 0)
        time = std::max(time, t.popped[size_t(freed) - 1] + 1 +
                                  network.channels[c].returns);
    }
    fired[p].push_back(time);
    for (size_t i = 0; i < phase.consume.size(); ++i)
      tokens[process.inputs[i]].popped.insert(
          tokens[process.inputs[i]].popped.end(), size_t(phase.consume[i]),
          time);
    for (size_t k = 0; k < phase.produce.size(); ++k) {
      int c = process.outputs[k];
      tokens[c].visible.insert(tokens[c].visible.end(),
                               size_t(phase.produce[k]),
                               time + network.channels[c].latency);
    }
    return true;
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (size_t p = 0; p < fired.size(); ++p)
      while (fire(p))
        moves = true;
  }
  if (passed)
    *passed = tokens;
  return fired;
}

/// Most tokens that a channel held: from their producer's firing to their
/// consumer's, both cycles included, or until a place is known to be free.
int64_t mostIn(const Tokens &tokens, int64_t latency, int64_t returns) {
  int64_t most = 0;
  for (int64_t visible : tokens.visible) {
    int64_t cycle = visible - latency;
    auto came = std::upper_bound(tokens.visible.begin(), tokens.visible.end(),
                                 visible),
         went = std::lower_bound(tokens.popped.begin(), tokens.popped.end(),
                                 cycle - returns);
    most = std::max(most, int64_t(came - tokens.visible.begin()) -
                              int64_t(went - tokens.popped.begin()));
  }
  return most;
}

/// Random numbers, and a network that is made with them.
struct Drawn {
  std::mt19937 &random;
  ProcessNetwork network = {};

  int64_t operator()(int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  int channel(int64_t capacity) {
    const int made = network.addChannel("", capacity, (*this)(1, 9));
    network.channels[made].returns = std::max<int64_t>(0, (*this)(-6, 4));
    return made;
  }
  /// So many words, one after the other, once what they are read from is there.
  void replay(int64_t words, int to) {
    const int store = channel((*this)(1, 2));
    network.processes.push_back({"source", {{1, {}, {}, {1}}}, 1, {}, {store}});
    std::vector<Phase> read = {{1, {1}, {}, {0}}};
    if (words > 1)
      read.push_back({words - 1, {}, {}, {1}});
    read.push_back({1, {}, {1}, {1}});
    network.processes.push_back({"read", read, 1, {store}, {to}});
  }
  /// So many tokens, each of `slow` beats.
  void gather(int64_t tokens, int64_t slow, int to) {
    const int beats = channel((*this)(1, 4));
    network.processes.push_back(
        {"beats", {{tokens * slow, {}, {}, {1}}}, 1, {}, {beats}});
    std::vector<Phase> gather = {Phase::of(1, {1}, {1})};
    if (slow > 1)
      gather.insert(gather.begin(), Phase::of(slow - 1, {1}, {}));
    network.processes.push_back({"gather", gather, tokens, {beats}, {to}});
  }
};

/// A source, units that read what they store again and again and fold what
/// they read, as windows and matrix-vector units do, and a sink.
ProcessNetwork pipelineOf(std::mt19937 &random) {
  Drawn draw{random};
  ProcessNetwork &network = draw.network;
  int64_t tokens = draw(1, 6) * 12;
  int stream = draw.channel(draw(1, 6));
  network.processes.push_back(
      {"source", {{tokens, {}, {}, {1}}}, 1, {}, {stream}});
  for (int64_t unit = 0, units = draw(1, 3); unit < units; ++unit) {
    int64_t row = 12 / draw(1, 3), rows = tokens / row, reads = draw(1, 90);
    bool whole = tokens % row == 0;
    if (!whole)
      row = tokens, rows = 1;
    int store = draw.channel(row * draw(1, 3));
    network.processes.push_back(
        {"write", {Phase::of(tokens, {1}, {1})}, 1, {stream}, {store}});
    int words = draw.channel(draw(1, 14)), out = draw.channel(draw(1, 4));
    int64_t opens = draw(0, 1); // with a word or without
    std::vector<Phase> read = {{1, {row}, {}, {opens}}};
    if (reads > 1)
      read.push_back({reads, {}, {}, {1}});
    read.push_back({1, {}, {row}, {1}});
    network.processes.push_back({"read", read, rows, {store}, {words}});
    int64_t beats = opens + (reads > 1 ? reads : 0) + 1, folds = beats;
    for (int64_t divisor : {5, 3, 2})
      if (beats % divisor == 0 && draw(0, 1))
        folds = beats / divisor;
    std::vector<Phase> fold = {Phase::of(1, {1}, {1})};
    if (folds > 1)
      fold.insert(fold.begin(), Phase::of(folds - 1, {1}, {}));
    tokens = rows * beats / folds;
    network.processes.push_back({"fold", fold, tokens, {words}, {out}});
    stream = out;
  }
  network.processes.push_back(
      {"sink", {Phase::of(tokens, {1}, {})}, 1, {stream}, {}});
  return network;
}

/// What a window reads again and again meets weights, each of which is used for
/// several words: taken with the first of them, or with the last, as a streamed
/// matrix-vector unit does.
ProcessNetwork tiledOf(std::mt19937 &random) {
  Drawn draw{random};
  ProcessNetwork &network = draw.network;
  const int64_t rounds = draw(1, 4), folds = draw(1, 3), uses = draw(1, 40),
                words = rounds * folds * uses, slow = draw(1, 50);
  const int read = draw.channel(draw(1, 6)), weights = draw.channel(draw(1, 3)),
            out = draw.channel(draw(1, 5));
  draw.replay(words, read);
  draw.gather(rounds * folds, slow, weights);
  const bool atFirst = draw(0, 1);
  Process tile{"tile", {}, rounds, {read, weights}, {out}};
  for (int64_t fold = 0; fold < folds; ++fold) {
    const bool makes = fold + 1 == folds;
    if (atFirst)
      tile.phases.push_back({1, {1, 1}, {1, 1}, {makes}});
    if (uses > 1)
      tile.phases.push_back(
          {uses - 1, {1, !atFirst}, {1, 0}, {makes && atFirst}});
    if (!atFirst)
      tile.phases.push_back({1, {1, 1}, {1, 1}, {makes}});
  }
  network.processes.push_back(tile);
  network.processes.push_back(
      {"sink",
       {Phase::of(rounds * (atFirst ? uses : 1), {1}, {})},
       1,
       {out},
       {}});
  return network;
}

/// Rounds that take something else in each firing, such as a depthwise unit's
/// weights from a memory; something that lies ready or comes late, each for
/// some firings; and something that stays. What reads the results keeps pace or
/// does not.
ProcessNetwork meetingsOf(std::mt19937 &random) {
  Drawn draw{random};
  ProcessNetwork &network = draw.network;
  const int64_t folds = draw(1, 12), rounds = draw(2, 40);
  const int out = draw.channel(draw(1, 6));
  Process meets{"meets", {}, rounds, {}, {out}};
  auto replayed = [&] {
    meets.inputs.push_back(draw.channel(draw(1, 6)));
    draw.replay(folds * rounds, meets.inputs.back());
  };
  replayed();
  const bool isPaired = draw(0, 2) > 0, hasTiles = draw(0, 2) > 0,
             hasStay = draw(0, 3) == 0;
  if (isPaired)
    replayed();
  int64_t tiles = 0; // in a round
  const bool tilesLast = draw(0, 1);
  for (int64_t left = folds; left > 0;) {
    const int64_t uses = std::min(left, draw(1, 5));
    left -= uses;
    auto add = [&](int64_t repeat, bool takes, bool makes) {
      if (repeat <= 0)
        return;
      Phase phase{repeat, {1}, {1}, {makes}};
      if (isPaired) {
        phase.need.push_back(1);
        phase.consume.push_back(1);
      }
      if (hasTiles) {
        phase.need.push_back(takes || tilesLast);
        phase.consume.push_back(takes);
      }
      if (hasStay) {
        phase.need.push_back(draw(0, 1));
        phase.consume.push_back(0);
      }
      meets.phases.push_back(phase);
    };
    const bool makes = left == 0;
    if (tilesLast) {
      add(uses - 1, false, false);
      add(1, true, makes);
    } else {
      add(1, true, makes && uses == 1);
      add(uses - 1 - makes, false, false);
      add(makes && uses > 1, false, true);
    }
    ++tiles;
  }
  if (hasTiles) {
    const int weights = draw.channel(draw(1, 30));
    draw.gather(rounds * tiles, draw(0, 1) ? 1 : draw(1, 9), weights);
    meets.inputs.push_back(weights);
  }
  if (hasStay) {
    // A token of the first frame that nothing takes.
    const int stay = draw.channel(12);
    network.channels[stay].initial = 1;
    meets.inputs.push_back(stay);
    network.processes.push_back({"none", {{1, {}, {}, {0}}}, 1, {}, {stay}});
  }
  network.processes.push_back(meets);
  const int64_t pace = draw(0, 1) ? 1 : draw(1, 14);
  std::vector<Phase> sink = {Phase::of(1, {1}, {})};
  if (pace > 1)
    sink.push_back({pace - 1, {0}, {0}, {}});
  network.processes.push_back({"sink", sink, rounds, {out}, {}});
  return network;
}

/// Sources of several rates, a process that joins them all in phases of
/// different counts and has several outputs, and their sinks.
ProcessNetwork starOf(std::mt19937 &random) {
  Drawn draw{random};
  ProcessNetwork &network = draw.network;
  Process join{"join", {}, draw(1, 5), {}, {}};
  size_t inputs = size_t(draw(1, 5)), outputs = size_t(draw(0, 4));
  std::vector<int64_t> taken(inputs), made(outputs);
  for (int64_t k = 0, phases = draw(1, 4); k < phases; ++k) {
    Phase phase;
    phase.repeat = draw(1, 12);
    for (size_t i = 0; i < inputs; ++i) {
      phase.consume.push_back(draw(k == 0, 3)); // all of them at least once
      phase.need.push_back(phase.consume[i] + (draw(0, 19) == 0));
      taken[i] += phase.repeat * phase.consume[i];
    }
    for (size_t o = 0; o < outputs; ++o) {
      phase.produce.push_back(draw(k == 0, 2));
      made[o] += phase.repeat * phase.produce[o];
    }
    join.phases.push_back(phase);
  }
  auto add = [&](bool isInput, size_t k, int64_t tokens) {
    const int channel = draw.channel(draw(4, 9));
    (isInput ? join.inputs : join.outputs).push_back(channel);
    tokens *= join.periods;
    if (isInput)
      network.processes.push_back({"source " + std::to_string(k),
                                   {{tokens, {}, {}, {1}}},
                                   1,
                                   {},
                                   {channel}});
    else
      network.processes.push_back({"sink " + std::to_string(k),
                                   {Phase::of(tokens, {1}, {})},
                                   1,
                                   {channel},
                                   {}});
  };
  for (size_t i = 0; i < inputs; ++i)
    add(true, i, taken[i]);
  for (size_t o = 0; o < outputs; ++o)
    add(false, o, made[o]);
  network.processes.push_back(join);
  return network;
}

/// A recurrence: a source joins what comes around, some stages follow, and
/// their end leaves and goes around through a buffer with a frame in it.
ProcessNetwork loopOf(std::mt19937 &random) {
  Drawn draw{random};
  ProcessNetwork &network = draw.network;
  const int64_t tokens = draw(1, 40), whole = draw(0, 2);
  const int in = draw.channel(draw(1, 6)),
            back = draw.channel(tokens + draw(0, 3));
  network.channels[back].initial = tokens;
  network.processes.push_back({"source", {{tokens, {}, {}, {1}}}, 1, {}, {in}});
  int stream = draw.channel(draw(1, 6));
  network.processes.push_back(
      {"join", {Phase::of(tokens, {1, 1}, {1})}, 1, {in, back}, {stream}});
  for (int64_t stages = draw(0, 3); stages > 0; --stages) {
    const int next = draw.channel(draw(1, 6));
    network.processes.push_back(
        {"stage", {Phase::of(tokens, {1}, {1})}, 1, {stream}, {next}});
    stream = next;
  }
  if (whole == 0) { // one that waits for the whole frame
    const int store = draw.channel(tokens);
    std::vector<Phase> read = {{1, {tokens}, {1}, {1}}};
    if (tokens > 1)
      read.push_back(Phase::of(tokens - 1, {1}, {1}));
    network.processes.push_back(
        {"write", {Phase::of(tokens, {1}, {1})}, 1, {stream}, {store}});
    stream = draw.channel(draw(1, 6));
    network.processes.push_back({"read", read, 1, {store}, {stream}});
  }
  const int out = draw.channel(draw(1, 6)), around = draw.channel(draw(1, 6));
  network.processes.push_back(
      {"fork", {Phase::of(tokens, {1}, {1, 1})}, 1, {stream}, {out, around}});
  network.processes.push_back(
      {"state", {Phase::of(tokens, {1}, {1})}, 1, {around}, {back}});
  network.processes.push_back(
      {"sink", {Phase::of(tokens, {1}, {})}, 1, {out}, {}});
  return network;
}

/// Simulates a network and compares every frame's first and last firing with
/// the literal rules. Returns whether it completed.
/// `repeats` counts the networks of which not every frame was simulated.
bool agrees(const ProcessNetwork &network, int number, int &repeats) {
  constexpr int kFrames = 9;
  auto fired = firingsOf(network, kFrames);
  Simulation simulation(network);
  simulation.upTo(1); // and continued
  simulation.upTo(4);
  const SimResult &run = simulation.upTo(kFrames);
  repeats += simulation.simulated() < kFrames;
  bool ends = true;
  for (size_t p = 0; p < fired.size(); ++p) {
    const Process &process = network.processes[p];
    size_t firings = 0;
    for (const Phase &phase : process.phases)
      firings += size_t(phase.repeat * process.periods);
    ends &= fired[p].size() == kFrames * firings;
    for (size_t f = 0; f < run.spans[p].size(); ++f) {
      if (f * firings >= fired[p].size()) {
        ADD_FAILURE() << number << " " << process.name << " frame " << f;
        return ends;
      }
      EXPECT_EQ(run.spans[p][f].first, fired[p][f * firings])
          << number << " " << process.name << " frame " << f;
      if ((f + 1) * firings <= fired[p].size())
        EXPECT_EQ(run.spans[p][f].second, fired[p][(f + 1) * firings - 1])
            << number << " " << process.name << " frame " << f;
    }
  }
  EXPECT_EQ(run.deadlock, !ends) << number;
  return ends;
}

TEST(EventSim, FiresWhenItsRulesSay) {
  std::mt19937 random(7);
  int finished = 0, repeats = 0;
  for (int n = 0; n < 400; ++n)
    finished += agrees(pipelineOf(random), n, repeats);
  EXPECT_GT(finished, 300);
  EXPECT_GT(repeats, 200);
}

TEST(EventSim, WeightsWaitForTheirTile) {
  std::mt19937 random(19);
  int repeats = 0;
  for (int n = 0; n < 400; ++n)
    EXPECT_TRUE(agrees(tiledOf(random), n, repeats)) << n;
}

TEST(EventSim, RoundsMeetWhatComesOtherwise) {
  std::mt19937 random(71);
  int finished = 0, repeats = 0;
  for (int n = 0; n < 1500; ++n)
    finished += agrees(meetingsOf(random), n, repeats);
  EXPECT_GT(finished, 1400);
  EXPECT_GT(repeats, 200);
}

// What a long run costs does not grow with its frames.
TEST(EventSim, SimulatesEqualFramesOnce) {
  std::mt19937 random(7);
  for (int n = 0; n < 100; ++n) {
    ProcessNetwork network = pipelineOf(random);
    Simulation some(network), many(network);
    some.upTo(20);
    const SimResult &run = many.upTo(2000);
    if (run.deadlock || some.simulated() == 20)
      continue;
    EXPECT_EQ(many.simulated(), some.simulated()) << n;
    EXPECT_TRUE(many.knows(1 << 20)) << n;
    EXPECT_EQ(run.firstOut[0].size(), 2000U) << n;
  }
}

TEST(EventSim, AnyNumberOfPorts) {
  std::mt19937 random(11);
  int finished = 0, repeats = 0;
  for (int n = 0; n < 400; ++n)
    finished += agrees(starOf(random), n, repeats);
  EXPECT_GT(finished, 200);
  EXPECT_GT(repeats, 100);
}

TEST(EventSim, TokensGoAroundALoop) {
  std::mt19937 random(17);
  int repeats = 0;
  // With a place for each token of a frame nothing waits forever.
  for (int n = 0; n < 400; ++n)
    EXPECT_TRUE(agrees(loopOf(random), n, repeats)) << n;
}

TEST(EventSim, CountsWhatChannelsHold) {
  std::mt19937 random(13);
  size_t deep = 0, slackened = 0;
  for (int n = 0; n < 200; ++n) {
    ProcessNetwork network = n % 3 == 2 ? loopOf(random)
                             : n % 3    ? starOf(random)
                                        : pipelineOf(random);
    // Some never fill, and their producers run far ahead.
    std::vector<int> watched;
    for (size_t c = 0; c < network.channels.size(); ++c)
      if (random() % 2) {
        watched.push_back(int(c));
        if (random() % 4)
          network.channels[c].capacity = INT64_MAX / 4;
      }
    constexpr int kFrames = 7;
    std::vector<Tokens> passed;
    auto fired = firingsOf(network, kFrames, &passed);
    Simulation simulation(network, watched);
    simulation.upTo(kFrames);
    for (int c : watched) {
      const TokenQueue &queue = network.channels[size_t(c)];
      int64_t most = mostIn(passed[size_t(c)], queue.latency, queue.returns);
      EXPECT_EQ(simulation.occupancy(c), most) << n << " channel " << c;
      deep += most > 20;
      // Tokens that come later by the slack change nothing.
      int64_t slack = simulation.slack(c);
      if (fired[0].empty() || slack == INT64_MAX)
        continue;
      EXPECT_GE(slack, 0);
      ProcessNetwork later = network;
      later.channels[size_t(c)].latency += slack;
      EXPECT_EQ(firingsOf(later, kFrames), fired) << n << " channel " << c;
      slackened += slack > 0;
    }
  }
  EXPECT_GT(deep, 30U);
  EXPECT_GT(slackened, 30U);
}

/// With processes before channels that pass tokens on, several in a row.
void addDelays(ProcessNetwork &network, std::mt19937 &random) {
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const size_t channels = network.channels.size();
  for (size_t c = 1; c < channels; ++c) {
    int64_t tokens = 0;
    for (const Process &from : network.processes)
      for (size_t k = 0; k < from.outputs.size(); ++k)
        for (const Phase &phase : from.phases)
          if (from.outputs[k] == int(c))
            tokens += phase.repeat * countAt(phase.produce, k) * from.periods;
    int first = int(c);
    for (int64_t count = draw(0, 3); count > 0; --count) {
      const int64_t latency = draw(1, 6);
      const int before = network.addChannel(
          "", std::max<int64_t>(1, latency + draw(-2, 4)), latency);
      network.channels[before].returns = std::max<int64_t>(0, draw(-6, 2));
      network.processes.push_back(
          {"pass", {Phase::of(tokens, {1}, {1})}, 1, {before}, {first}});
      first = before;
    }
    for (Process &process : network.processes)
      for (int &output : process.outputs)
        if (output == int(c) && process.name != "pass")
          output = first;
  }
}

// A run whose channels are watched, or that is asked for no spans, takes them
// as parts of channels.
TEST(EventSim, ProcessesThatPassTokensOnAreChannels) {
  std::mt19937 random(29);
  int finished = 0;
  for (int n = 0; n < 300; ++n) {
    ProcessNetwork network = pipelineOf(random);
    addDelays(network, random);
    constexpr int kFrames = 6;
    auto fired = firingsOf(network, kFrames);
    Simulation watching(network, {0});
    Simulation brief(network, {}, Simulation::Memories::IfTheyMatter,
                     Simulation::Spans::Omitted);
    const SimResult &run = watching.upTo(kFrames), &same = brief.upTo(kFrames);
    EXPECT_EQ(run.deadlock, same.deadlock) << n;
    EXPECT_TRUE(run.deadlock ||
                (run.firstOut == same.firstOut && run.lastOut == same.lastOut))
        << n;
    for (size_t p = 0; p < network.processes.size(); ++p) {
      const Process &sink = network.processes[p];
      if (!sink.outputs.empty())
        continue;
      const size_t firings = size_t(sink.phases[0].repeat);
      const bool ends = fired[p].size() == kFrames * firings;
      EXPECT_EQ(run.deadlock, !ends) << n;
      if (!ends || run.deadlock)
        continue;
      ++finished;
      EXPECT_TRUE(std::equal(run.taken[0].begin(), run.taken[0].end(),
                             fired[p].begin()))
          << n;
      for (size_t f = 0; f < kFrames; ++f) {
        EXPECT_EQ(run.firstOut[0][f], fired[p][f * firings]) << n;
        EXPECT_EQ(run.lastOut[0][f], fired[p][(f + 1) * firings - 1]) << n;
      }
    }
  }
  EXPECT_GT(finished, 200);
}

TEST(MemoryBank, AnswersByItsRules) {
  rhz::MemoryFigures figures;
  figures.bytesPerS = 500000000; // 2.5 bytes per cycle of 200 MHz
  figures.latencyNs = 21;        // rounded up to 5 cycles
  figures.turnaroundNs = 20;
  auto timing = rhz::MemoryTiming::of(figures, /*beatBytes=*/8, 200);
  rhz::MemoryServer bank(timing);
  auto beats = [&](int64_t accepted, bool turns, int count) {
    std::vector<int64_t> cycles;
    bank.begin(accepted, turns);
    for (int i = 0; i < count; ++i)
      cycles.push_back(bank.next());
    return cycles;
  };
  using Cycles = std::vector<int64_t>;
  EXPECT_EQ(beats(10, false, 4), (Cycles{15, 19, 22, 25})) << "3.2 a beat";
  EXPECT_EQ(beats(12, false, 2), (Cycles{28, 31})) << "when the bank is free";
  EXPECT_EQ(beats(12, true, 2), (Cycles{39, 42})) << "4 cycles later";
  EXPECT_EQ(beats(100, true, 1), (Cycles{105})) << "hidden by the latency";

  figures.bytesPerS = 400000000; // two beats of a byte a cycle
  bank = rhz::MemoryServer(rhz::MemoryTiming::of(figures, 1, 200));
  EXPECT_EQ(beats(10, false, 4), (Cycles{15, 16, 16, 17}));
  EXPECT_EQ(beats(10, true, 2), (Cycles{21, 22})) << "two cycles are left";

  figures.bytesPerS = 200000000;
  figures.refreshEveryNs = 5000; // 1000 cycles
  figures.refreshNs = 250;
  bank = rhz::MemoryServer(rhz::MemoryTiming::of(figures, 1, 200));
  EXPECT_EQ(beats(0, false, 2), (Cycles{5, 6})) << "none before the first";
  EXPECT_EQ(beats(993, false, 4), (Cycles{998, 999, 1050, 1051}));
  EXPECT_EQ(beats(1990, false, 1), (Cycles{1995}));
  EXPECT_EQ(beats(1996, false, 1), (Cycles{2050}));
}

/// A pipeline, one or two processes of which also take beats of one bank. The
/// first of them come early or late.
ProcessNetwork readingPipelineOf(std::mt19937 &random) {
  ProcessNetwork network = pipelineOf(random);
  auto draw = [&](int64_t least, int64_t most) {
    return least + int64_t(random() % uint64_t(most - least + 1));
  };
  network.channels[0].latency = draw(1, 200);
  const int bank = network.memory("ddr4", 0);
  rhz::MemoryFigures figures;
  figures.bytesPerS = draw(1, 4) * 800'000'000; // of 1.6 a cycle
  figures.latencyNs = draw(5, 100);
  figures.turnaroundNs = draw(0, 20);
  figures.refreshEveryNs = draw(0, 1) * draw(500, 2000);
  figures.refreshNs = 100;
  network.memories[bank].timing = rhz::MemoryTiming::of(figures, 8, 200);
  for (int64_t n = draw(1, 2); n > 0; --n) {
    size_t at = size_t(draw(1, int64_t(network.processes.size()) - 1));
    const int64_t burst = draw(1, 8);
    const int channel = network.addChannel("", burst * draw(1, 8), draw(1, 3));
    Process reader{"read", {}, 1, {}, {channel}};
    reader.memory = bank;
    reader.turn = draw(1, 2);
    Process &taker = network.processes[at];
    int64_t beats = 0;
    for (Phase &phase : taker.phases) {
      phase.need.resize(taker.inputs.size());
      phase.consume.resize(taker.inputs.size());
      // At least in the last phase; some need a beat that others take.
      const int64_t taken = &phase == &taker.phases.back() || draw(0, 3) > 0;
      phase.need.push_back(taken + (taken == 0 && draw(0, 1)));
      phase.consume.push_back(taken);
      beats += taken * phase.repeat * taker.periods;
    }
    taker.inputs.push_back(channel);
    if (beats >= burst)
      reader.phases.push_back({beats / burst, {}, {}, {burst}});
    if (beats % burst)
      reader.phases.push_back({1, {}, {}, {beats % burst}});
    network.processes.push_back(reader);
  }
  return network;
}

TEST(MemoryBank, ChangesNothingWhereItKeepsUp) {
  std::mt19937 random(19);
  int kept = 0, late = 0;
  for (int n = 0; n < 600; ++n) {
    ProcessNetwork network = readingPipelineOf(random);
    Simulation quick(network);
    for (auto [frames, ahead] : {std::pair{1, 4}, {4, 4}, {9, 5}}) {
      // What was granted cannot be taken back when more frames come.
      Simulation whole(network, {}, Simulation::Memories::Always);
      const SimResult &some = quick.upTo(frames, ahead),
                      &all = whole.upTo(frames, ahead);
      ASSERT_EQ(some.deadlock, all.deadlock) << n;
      if (all.deadlock)
        break;
      if (!quick.keepsUp()) {
        ++late;
        break;
      }
      kept += frames == 9;
      for (size_t p = 0; p < network.processes.size(); ++p)
        for (int f = 0; f < frames; ++f)
          ASSERT_EQ(some.spans[p][f], all.spans[p][f])
              << n << " " << network.processes[p].name << " frame " << f;
      EXPECT_EQ(some.interval(0), all.interval(0)) << n;
      EXPECT_EQ(some.latency(), all.latency()) << n;
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(late, 100);
}

TEST(MemoryBank, ReadersTakeTurns) {
  // Two readers of bursts of 2 and 4 beats; their data go into one sink
  // each, which accepts everything.
  ProcessNetwork network;
  std::vector<int> channels;
  for (int64_t burst : {2, 4}) {
    int channel = network.addChannel("", 2 * burst, 1);
    Process reader{"", {{1, {}, {}, {burst}}}, 1, {}, {channel}};
    reader.memory = network.memory("ddr4", 0);
    network.processes.push_back(reader);
    network.processes.push_back(
        {"", {Phase::of(burst, {1}, {})}, 1, {channel}, {}});
  }
  network.memories[0].timing.latency = 3;
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(2);
  ASSERT_FALSE(run.deadlock);
  // Both request in cycle 1; an arbiter adds one: the first beat arrives in 1 +
  // 1 + 3 and is visible in the next cycle. Then bursts of both in turn.
  EXPECT_EQ(run.firstOut[0][0], 6);
  EXPECT_EQ(run.firstOut[1][0], 8);
  EXPECT_EQ(run.firstOut[0][1], 12);
  EXPECT_EQ(run.firstOut[1][1], 14);
}

TEST(MemoryBank, ARunEndsWhenItIsEnough) {
  // What comes in every cycle waits for beats, of which the bank brings one in
  // four cycles.
  constexpr int64_t kBeats = 100'000;
  ProcessNetwork network;
  const int piled = network.addChannel("", INT64_MAX / 4, 1),
            beats = network.addChannel("", 8, 1);
  network.processes.push_back(
      {"source", {Phase::of(kBeats, {}, {1})}, 1, {}, {piled}});
  Process reader{"read", {{kBeats, {}, {}, {1}}}, 1, {}, {beats}};
  reader.memory = network.memory("ddr4", 0);
  network.processes.push_back(reader);
  network.processes.push_back(
      {"join", {Phase::of(kBeats, {1, 1}, {})}, 1, {piled, beats}, {}});
  rhz::MemoryFigures figures;
  figures.bytesPerS = 400'000'000;
  network.memories[0].timing = rhz::MemoryTiming::of(figures, 8, 200);

  Simulation whole(network, piled, Simulation::Memories::Always);
  std::vector<int64_t> held;
  whole.stopIf([&] {
    held.push_back(whole.occupancy(piled));
    return false;
  });
  whole.upTo(1, 0);
  EXPECT_FALSE(whole.isStopped());
  ASSERT_GT(held.size(), 3);
  EXPECT_TRUE(llvm::is_sorted(held));
  // After 2^14 beats, one in four cycles, three of four tokens wait.
  EXPECT_NEAR(double(held.front()), 3 * double(1 << 14), 100);
  EXPECT_LE(held.back(), whole.occupancy(piled));

  Simulation part(network, piled, Simulation::Memories::Always);
  part.stopIf([&] { return part.occupancy(piled) > 60'000; });
  part.upTo(1, 0);
  EXPECT_TRUE(part.isStopped());
  EXPECT_GT(part.occupancy(piled), 60'000);
  EXPECT_LT(part.occupancy(piled), whole.occupancy(piled));
}
} // namespace
