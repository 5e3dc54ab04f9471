// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant matrix times a vector as additions and subtractions of shifted
// values. Weights are written in canonical signed digits, which have the fewest
// non-zero digits; sums of two digits that several results (or one result
// several times) contain are computed once.
#pragma once

#include "rhizome/Units/Circuit.h"

namespace rhizome::gen::dhm {
/// The non-zero weights of one result: input and weight.
using Row = std::vector<std::pair<int, int64_t>>;

/// Non-zero digits of the canonical signed form.
int64_t digitsOf(int64_t weight);

/// The effort of the search for shared sums.
struct Effort {
  /// Pairs of digits that are considered. Inputs are cut into as many blocks as
  /// necessary for this, and sums are shared only within a block.
  int64_t pairs = 400000;
  /// Additional levels of addition that a result may have compared with no
  /// sharing.
  int64_t slack = 1;
};

/// Adds Σ weight · input + bias for each row; returns their nodes. `inputs` are
/// nodes of the circuit.
std::vector<int> addLinear(Circuit &circuit, const std::vector<int> &inputs,
                           const std::vector<Row> &rows,
                           const std::vector<int64_t> &bias,
                           const Effort &effort = {});
} // namespace rhizome::gen::dhm
