// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tensors use the same memory, one after the other: those of which none
// is written before the last read of the one before. The cheapest set of
// memories is chosen exactly, as a covering problem.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace rhizome::schedule {
/// A tensor's words, and the steps from its first write to its last read.
struct Lifetime {
  int64_t words = 1, width = 1;
  int64_t first = 0, last = 0;
};

/// True if two tensors may not have the same words: their steps overlap.
bool overlap(const Lifetime &a, const Lifetime &b);
/// The pairs that may share a memory, by number.
std::vector<std::pair<int, int>>
compatible(const std::vector<Lifetime> &lifetimes);

/// Memories, each a list of tensors by rising first step; they are ordered by
/// their first tensor.
using Sharing = std::vector<std::vector<int>>;

/// The cheapest memories that hold all tensors. A memory has the words of its
/// deepest tensor, the width of its widest one, and costs `costOf` of the two,
/// which must be positive and may not fall with either. Exact (GLPK), unless
/// there are more than `most` candidates for memories: then left-edge.
Sharing
shareMemories(const std::vector<Lifetime> &lifetimes,
              const std::function<double(int64_t words, int64_t width)> &costOf,
              int64_t most = 4000);

/// Tensors by first step, each into the first memory that is free: the fewest
/// memories.
Sharing leftEdge(const std::vector<Lifetime> &lifetimes);
} // namespace rhizome::schedule
