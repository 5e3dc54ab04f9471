// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least depths of buffers before joins, against runs: with one token less a
// join never fires, and a run without bounds holds as many.
#include "rhizome/Timing/LeastDepths.h"
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::gen;

namespace {
/// Frames of 96 tokens through units that fork, delay and join.
struct Branches {
  static constexpr int64_t kTokens = 96, kUnbounded = INT64_MAX / 4;
  std::mt19937 random;
  ProcessNetwork network;
  std::vector<int> operands; ///< of joins

  explicit Branches(unsigned seed) : random(seed) {
    const int stream = channel();
    network.processes.push_back(
        {"source", {Phase::of(kTokens, {}, {1})}, 1, {}, {stream}});
    const int end = part(stream, draw(2, 3));
    network.processes.push_back(
        {"sink", {Phase::of(kTokens, {1}, {})}, 1, {end}, {}});
  }
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  int channel() { return network.addChannel("c", draw(1, 4), draw(1, 9)); }
  /// A unit that makes as many tokens as it takes, the first ones late: after
  /// a window, or in rounds of several.
  int unit(int from) {
    const int to = channel();
    Process process{"unit", {}, 1, {from}, {to}};
    if (draw(0, 1)) {
      const int64_t window = draw(0, 40);
      if (window > 0)
        process.phases.push_back({window, {1}, {1}, {0}});
      process.phases.push_back(Phase::of(kTokens - window, {1}, {1}));
      if (window > 0)
        process.phases.push_back({window, {}, {}, {1}});
    } else {
      const int64_t round = 1 << draw(0, 4);
      network.channels[size_t(from)].capacity += 16;
      process.phases.push_back({1, {round}, {0}, {1}});
      if (round > 2)
        process.phases.push_back({round - 2, {round}, {0}, {1}});
      process.phases.push_back({1, {round}, {round}, {round > 1}});
      process.periods = kTokens / round;
    }
    network.processes.push_back(process);
    return to;
  }
  /// Units one after the other, or two branches with parts of their own.
  int part(int from, int64_t depth) {
    if (depth == 0 || draw(0, 4) == 0) {
      for (int64_t units = draw(0, 3); units > 0; --units)
        from = unit(from);
      return from;
    }
    const int left = channel(), right = channel(), out = channel();
    network.processes.push_back(
        {"fork", {Phase::of(kTokens, {1}, {1, 1})}, 1, {from}, {left, right}});
    const int a = part(left, depth - 1), b = part(right, depth - 1);
    network.processes.push_back(
        {"join", {Phase::of(kTokens, {1, 1}, {1})}, 1, {a, b}, {out}});
    for (int operand : {a, b}) {
      operands.push_back(operand);
      network.channels[size_t(operand)].capacity = kUnbounded;
    }
    return part(out, depth - 1);
  }
};
} // namespace

TEST(LeastDepths, AreNeededAndHeld) {
  int deep = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Branches branches(seed);
    const ProcessNetwork &network = branches.network;
    const std::vector<int64_t> depths = leastDepths(network, branches.operands);
    Simulation run(network, branches.operands);
    ASSERT_FALSE(run.upTo(1).deadlock) << seed << ": " << run.upTo(1).blocked;
    for (auto [operand, depth] : llvm::zip(branches.operands, depths)) {
      ASSERT_LE(depth, run.occupancy(operand)) << "seed " << seed;
      if (depth < 2)
        continue;
      ++deep;
      ProcessNetwork less = network;
      less.channels[size_t(operand)].capacity = depth - 1;
      Simulation blocked(less);
      ASSERT_TRUE(blocked.upTo(1).deadlock)
          << "seed " << seed << ": " << depth - 1 << " are enough";
    }
  }
  EXPECT_GT(deep, 300);
}

TEST(LeastDepths, ChannelsBeforeABufferHoldSome) {
  // The window lets the first token through with the 31st. Five of those before
  // it lie in the channels of the other branch.
  ProcessNetwork network;
  const int in = network.addChannel("in", 2, 1),
            left = network.addChannel("left", 2, 1),
            right = network.addChannel("right", 2, 1),
            late = network.addChannel("late", 1000, 1),
            passed = network.addChannel("passed", 3, 1),
            early = network.addChannel("early", 1000, 1);
  network.processes = {
      {"source", {Phase::of(96, {}, {1})}, 1, {}, {in}},
      {"fork", {Phase::of(96, {1}, {1, 1})}, 1, {in}, {left, right}},
      {"window",
       {{30, {1}, {1}, {}}, Phase::of(66, {1}, {1}), {30, {}, {}, {1}}},
       1,
       {left},
       {late}},
      {"pass", {Phase::of(96, {1}, {1})}, 1, {right}, {passed}},
      {"again", {Phase::of(96, {1}, {1})}, 1, {passed}, {early}},
      {"join", {Phase::of(96, {1, 1}, {})}, 1, {late, early}, {}}};
  EXPECT_EQ(leastDepths(network, {late, early}),
            (std::vector<int64_t>{0, 31 - 5}));
}
