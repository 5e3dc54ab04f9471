// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choice between two places for operations: costs of either place for
// each, costs of copies between them, and the optimal choice.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rhizome::place {
enum class Side { Host, Fpga };

/// All costs are whole picoseconds, so that sums are exact.
using Cost = int64_t;

/// Something that runs in one of the places.
struct Node {
  Cost onHost = 0, onFpga = 0;
  std::optional<Side> only = {}; ///< if it cannot run in the other
};

/// Tensors that travel together: paid for once if any node of `from` runs on
/// the host and any node of `to` on the FPGA (`toFpga`), or vice versa
/// (`toHost`). A tensor is one with a single `from` and the cost of its bytes;
/// a transfer of several tensors one with the latency.
struct Copy {
  std::vector<unsigned> from, to; ///< nodes
  Cost toFpga = 0, toHost = 0;
};

struct Problem {
  std::vector<Node> nodes;
  std::vector<Copy> copies;
  /// {a, b}: if node a runs on the FPGA, so does node b.
  std::vector<std::pair<unsigned, unsigned>> needs;
};

/// A side for each node.
using Sides = std::vector<Side>;

/// The cost of a choice; nothing if it violates a need or an `only`.
std::optional<Cost> costOf(const Problem &problem, const Sides &sides);

/// The cheapest choice: a minimum cut between the places, found by the
/// algorithm of Boykov and Kolmogorov ("An Experimental Comparison of
/// Min-Cut/Max-Flow Algorithms", 2004). Among choices of equal cost, the one
/// with the most on the FPGA. Nothing if needs and `only` contradict each
/// other.
std::optional<Sides> cheapest(const Problem &problem);
} // namespace rhizome::place
