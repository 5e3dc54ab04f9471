// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The event simulator against its rules taken literally: every firing by
// itself, every earlier one remembered. Random pipelines mix long phases, which
// the simulator takes at once, with short ones that break them up.
#include "rhizome/Generator/EventSim.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::gen;

namespace {
/// Times of a channel's tokens and of the places they free.
struct Tokens {
  std::vector<int64_t> visible, popped;
};

/// When each process fires, one vector a process.
std::vector<std::vector<int64_t>> firingsOf(const Network &network,
                                            int frames) {
  std::vector<Tokens> tokens(network.channels.size());
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
    for (size_t i = 0; i < process.inputs.size(); ++i) {
      const Tokens &t = tokens[process.inputs[i]];
      size_t need = t.popped.size() + size_t(phase.need[i]);
      if (phase.need[i] > 0 && t.visible.size() < need)
        return false;
      if (phase.need[i] > 0)
        time = std::max(time, t.visible[need - 1]);
    }
    for (int c : process.outputs) {
      const Tokens &t = tokens[c];
      int64_t freed = int64_t(t.visible.size()) + phase.produce -
                      network.channels[c].capacity;
      if (phase.produce > 0 && freed > int64_t(t.popped.size()))
        return false;
      if (phase.produce > 0 && freed > 0)
        time = std::max(time, t.popped[size_t(freed) - 1] + 1);
    }
    fired[p].push_back(time);
    for (size_t i = 0; i < process.inputs.size(); ++i)
      tokens[process.inputs[i]].popped.insert(
          tokens[process.inputs[i]].popped.end(), size_t(phase.consume[i]),
          time);
    for (int c : process.outputs)
      tokens[c].visible.insert(tokens[c].visible.end(), size_t(phase.produce),
                               time + network.channels[c].latency);
    return true;
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (size_t p = 0; p < fired.size(); ++p)
      while (fire(p))
        moves = true;
  }
  return fired;
}

/// A source, units that read what they store again and again and fold what
/// they read, as windows and matrix-vector units do, and a sink.
Network pipelineOf(std::mt19937 &random) {
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Network network;
  int64_t tokens = draw(1, 6) * 12;
  auto channel = [&](int64_t capacity) {
    return network.addChannel("", capacity, draw(1, 9));
  };
  int stream = channel(draw(1, 6));
  network.processes.push_back(
      {"source", {{tokens, {}, {}, 1}}, 1, {}, {stream}});
  for (int64_t unit = 0, units = draw(1, 3); unit < units; ++unit) {
    int64_t row = 12 / draw(1, 3), rows = tokens / row, reads = draw(1, 90);
    bool whole = tokens % row == 0;
    if (!whole)
      row = tokens, rows = 1;
    int store = channel(row * draw(1, 3));
    network.processes.push_back(
        {"write", {{tokens, {1, 0}, {1, 0}, 1}}, 1, {stream}, {store}});
    int words = channel(draw(1, 14)), out = channel(draw(1, 4));
    int64_t opens = draw(0, 1); // with a word or without
    std::vector<Phase> read = {{1, {row, 0}, {}, opens}};
    if (reads > 1)
      read.push_back({reads, {}, {}, 1});
    read.push_back({1, {}, {row, 0}, 1});
    network.processes.push_back({"read", read, rows, {store}, {words}});
    int64_t beats = opens + (reads > 1 ? reads : 0) + 1, folds = beats;
    for (int64_t divisor : {5, 3, 2})
      if (beats % divisor == 0 && draw(0, 1))
        folds = beats / divisor;
    std::vector<Phase> fold = {{1, {1, 0}, {1, 0}, 1}};
    if (folds > 1)
      fold.insert(fold.begin(), {folds - 1, {1, 0}, {1, 0}, 0});
    tokens = rows * beats / folds;
    network.processes.push_back({"fold", fold, tokens, {words}, {out}});
    stream = out;
  }
  network.processes.push_back(
      {"sink", {{tokens, {1, 0}, {1, 0}, 0}}, 1, {stream}, {}});
  return network;
}

TEST(EventSim, FiresWhenItsRulesSay) {
  std::mt19937 random(7);
  constexpr int kFrames = 3;
  size_t finished = 0;
  for (int n = 0; n < 400; ++n) {
    Network network = pipelineOf(random);
    auto fired = firingsOf(network, kFrames);
    Simulation simulation(network);
    simulation.upTo(1); // and carried on
    const SimResult &run = simulation.upTo(kFrames);
    bool ends = true;
    for (size_t p = 0; p < fired.size(); ++p) {
      const Process &process = network.processes[p];
      size_t firings = 0;
      for (const Phase &phase : process.phases)
        firings += size_t(phase.repeat * process.periods);
      ends &= fired[p].size() == kFrames * firings;
      for (size_t f = 0; f < run.spans[p].size(); ++f) {
        ASSERT_LT(f * firings, fired[p].size()) << n;
        EXPECT_EQ(run.spans[p][f].first, fired[p][f * firings])
            << n << " " << process.name << " frame " << f;
        if ((f + 1) * firings <= fired[p].size())
          EXPECT_EQ(run.spans[p][f].second, fired[p][(f + 1) * firings - 1])
              << n << " " << process.name << " frame " << f;
      }
    }
    EXPECT_EQ(run.deadlock, !ends) << n;
    finished += ends;
  }
  EXPECT_GT(finished, 300u);
}
} // namespace
