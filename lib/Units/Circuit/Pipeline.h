// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A circuit as a problem of lib/Solvers: its nodes, followed by the beat
// of its outputs as one more operation.
#pragma once

#include "rhizome/Cost/Words.h"
#include "rhizome/Solvers/Solvers.h"

namespace rhizome::gen {
/// The position of signals in their stage, by the cost model.
class CircuitDelays final : public schedule::ChainModel {
public:
  CircuitDelays(const cost::WordGraph &circuit, const cost::LogicPace &pace)
      : circuit(circuit), words(circuit, pace) {}
  int64_t earliest(int op, const std::vector<int64_t> &start) override;
  Arrival place(int op, int64_t start) override;

private:
  const cost::WordGraph &circuit;
  cost::WordDelays words;
};

/// The operands of each operation.
schedule::Problem problemOf(const cost::WordGraph &circuit);
/// With stages of at most this length of logic, as soon as possible.
schedule::Schedule scheduleOf(const cost::WordGraph &circuit,
                              const cost::LogicPace &pace);
} // namespace rhizome::gen
