// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register positions of a circuit: lib/Solvers, with the cost model's
// delays.
#include "Pipeline.h"
#include "rhizome/Units/Circuit.h"
#include <algorithm>

namespace rhizome::gen {
int64_t CircuitDelays::earliest(int op, const std::vector<int64_t> &start) {
  int64_t latest = 0;
  auto join = [&](int o) { latest = std::max(latest, start[o]); };
  if (size_t(op) < circuit.nodes.size())
    circuit.nodes[op].forOperands(join);
  else
    for (int o : circuit.outputs)
      join(o);
  return latest;
}

schedule::ChainModel::Arrival CircuitDelays::place(int op, int64_t start) {
  if (size_t(op) == circuit.nodes.size()) // the outputs' beat: wires
    return {};
  auto [before, after] = words.place(op, start);
  return {words.total(before), words.total(after)};
}

schedule::Problem problemOf(const cost::WordGraph &circuit) {
  schedule::Problem p;
  int nodes = int(circuit.nodes.size());
  p.latency.assign(size_t(nodes) + 1, 0);
  for (int i = 0; i < nodes; ++i)
    circuit.nodes[i].forOperands([&](int o) { p.depend(o, i); });
  for (int o : circuit.outputs)
    p.depend(o, nodes);
  return p;
}

schedule::Schedule scheduleOf(const cost::WordGraph &circuit,
                              const cost::LogicPace &pace) {
  CircuitDelays delays(circuit, pace);
  return schedule::scheduleChained(int(circuit.nodes.size()) + 1, delays,
                                   pace.budget);
}

cost::WordStages stagesOf(const cost::WordGraph &circuit,
                          const cost::LogicPace &pace) {
  schedule::Schedule schedule = scheduleOf(circuit, pace);
  cost::WordStages stages;
  stages.count = int(schedule.start.back());
  stages.of = circuit.readers();
  for (size_t i = 0; i < circuit.nodes.size(); ++i)
    stages.of[i] = stages.of[i] > 0 ? int(schedule.start[i]) : -1;
  return stages;
}
} // namespace rhizome::gen
