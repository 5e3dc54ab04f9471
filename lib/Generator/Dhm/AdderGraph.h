// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant matrix times a vector as additions and subtractions of shifted
// values. Weights are written in canonical signed digits, the fewest non-zero
// ones; sums of two digits that several results (or one result several times)
// contain are computed once.
#pragma once

#include "rhizome/Generator/Circuit.h"

namespace rhizome::gen::dhm {
/// The non-zero weights of one result: input and weight.
using Row = std::vector<std::pair<int, int64_t>>;

/// Non-zero digits of the canonical signed form.
int64_t digitsOf(int64_t weight);

/// How hard to look for what can be shared.
struct Effort {
  /// Pairs of digits that are looked at. Inputs are cut into as many blocks as
  /// keep within, and what is shared lies within a block.
  int64_t pairs = 400000;
  /// Levels of addition that a result may be deeper than without sharing.
  int64_t slack = 1;
};

/// Adds Σ weight · input + bias for each row; returns their nodes. `inputs` are
/// nodes of the circuit.
std::vector<int> addLinear(Circuit &circuit, const std::vector<int> &inputs,
                           const std::vector<Row> &rows,
                           const std::vector<int64_t> &bias,
                           const Effort &effort = {});
} // namespace rhizome::gen::dhm
