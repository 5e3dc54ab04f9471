// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memories: as few as left-edge finds where all tensors have one shape,
// and as cheap as the best partition of a few tensors of any shape.
#include "rhizome/Solvers/Sharing.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace rhizome::schedule;

namespace {
double bits(int64_t words, int64_t width) { return double(words * width); }

std::vector<Lifetime> randomLifetimes(std::mt19937_64 &rng, size_t count,
                                      bool alike) {
  std::vector<Lifetime> lifetimes(count);
  for (Lifetime &t : lifetimes) {
    t.first = int64_t(rng() % 12);
    t.last = t.first + int64_t(rng() % 5);
    if (!alike) {
      t.words = 1 + int64_t(rng() % 9);
      t.width = 1 + int64_t(rng() % 9);
    }
  }
  return lifetimes;
}

/// Every tensor has one memory, and no two in it overlap.
void check(const std::vector<Lifetime> &lifetimes, const Sharing &sharing) {
  std::vector<int> seen;
  for (const std::vector<int> &memory : sharing)
    for (size_t i = 0; i < memory.size(); ++i) {
      seen.push_back(memory[i]);
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(overlap(lifetimes[memory[i]], lifetimes[memory[j]]));
    }
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), lifetimes.size());
  for (size_t t = 0; t < seen.size(); ++t)
    EXPECT_EQ(seen[t], int(t));
}

double priceOf(const std::vector<Lifetime> &lifetimes, const Sharing &sharing) {
  double price = 0;
  for (const std::vector<int> &memory : sharing) {
    int64_t words = 0, width = 0;
    for (int t : memory) {
      words = std::max(words, lifetimes[t].words);
      width = std::max(width, lifetimes[t].width);
    }
    price += bits(words, width);
  }
  return price;
}

/// The least price of all partitions, tensor by tensor.
double best(const std::vector<Lifetime> &lifetimes, Sharing &sharing, int t) {
  if (t == int(lifetimes.size()))
    return priceOf(lifetimes, sharing);
  double least = INFINITY;
  for (size_t m = 0; m <= sharing.size(); ++m) {
    if (m == sharing.size()) {
      sharing.push_back({t});
      least = std::min(least, best(lifetimes, sharing, t + 1));
      sharing.pop_back();
      break;
    }
    if (std::any_of(sharing[m].begin(), sharing[m].end(), [&](int other) {
          return overlap(lifetimes[other], lifetimes[t]);
        }))
      continue;
    sharing[m].push_back(t);
    least = std::min(least, best(lifetimes, sharing, t + 1));
    sharing[m].pop_back();
  }
  return least;
}

TEST(Sharing, OfOneShapeIsLeftEdge) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 200; ++round) {
    auto lifetimes = randomLifetimes(rng, 1 + rng() % 14, /*alike=*/true);
    Sharing sharing = shareMemories(lifetimes, bits);
    check(lifetimes, sharing);
    Sharing edge = leftEdge(lifetimes);
    check(lifetimes, edge);
    EXPECT_EQ(sharing.size(), edge.size());
    // With too many candidates it is the answer.
    EXPECT_EQ(shareMemories(lifetimes, bits, /*most=*/0), edge);
  }
}

TEST(Sharing, OfAnyShapesIsTheBestPartition) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 100; ++round) {
    auto lifetimes = randomLifetimes(rng, 1 + rng() % 6, /*alike=*/false);
    Sharing sharing = shareMemories(lifetimes, bits), all;
    check(lifetimes, sharing);
    EXPECT_DOUBLE_EQ(priceOf(lifetimes, sharing), best(lifetimes, all, 0));
  }
}

TEST(Sharing, SixTemporariesInAChainNeedTwoMemories) {
  // Each is written from the one before: Helmholtz, without its borders.
  std::vector<Lifetime> lifetimes;
  for (int64_t step = 0; step < 6; ++step)
    lifetimes.push_back({1331, 32, step, step + 1});
  EXPECT_EQ(compatible(lifetimes).size(), 10u);
  EXPECT_EQ(shareMemories(lifetimes, bits), (Sharing{{0, 2, 4}, {1, 3, 5}}));
}
} // namespace
