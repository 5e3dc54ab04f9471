// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounded sizes. A tensor is built for its largest size; what lies beyond the
// size of a frame is of no meaning and must not reach a result. Operations that
// mix elements along a bounded axis get inputs in which it is masked by what
// changes nothing; those for which that is not known are refused.
#pragma once

#include "Placement.h"

namespace rhizome::importer {
/// Whether an input of the node has a bound, or stands for one.
bool readsBounds(ImportState &state, const Node &file);
/// As importNode does, for such a node.
void importBounded(ImportState &state, const Node &file, Sides sides,
                   Refusals &refusals);
/// The tensor with zeros beyond its size; null if refused.
TensorRef withZeros(Place &place, const TensorRef &t);

/// What a node does to bounds (BoundRules.cpp).
struct BoundRule {
  /// An input's axis, and what stands there beyond its size.
  struct Mask {
    size_t input = 0;
    Bound bound;
    double fill = 0;
  };
  std::vector<Mask> masks;
  std::vector<Bound> out;   ///< of the first result
  bool keepsShape = false;  ///< `out` follows from the shapes before and after
  bool givesBounds = false; ///< its results are sizes
  /// Of a mean: the bound of the axis over which it is taken.
  std::optional<Bound> mean;
  /// Input 1 is the last index of this axis.
  std::optional<Bound> last;
};
/// The rule for a node with such an input; nullopt (refused) if there is none.
std::optional<BoundRule> boundRule(NodeContext &node);
} // namespace rhizome::importer
