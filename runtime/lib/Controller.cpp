// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/control.h"
#include <algorithm>

namespace rhizome::link {
namespace {
/// 0 is not an epoch, and the initial epoch of nodes indicates a restart.
uint16_t legalEpoch(uint16_t epoch) {
  return epoch <= kFirstEpoch ? kFirstEpoch + 1 : epoch;
}
} // namespace

Controller::Controller(Endpoint &endpoint, const std::vector<uint16_t> &nodes,
                       uint16_t seed, ControlOptions options)
    : endpoint(endpoint), options(options), next(nodes.size(), 0) {
  for (uint16_t address : nodes)
    states.push_back({address, false, false, false, 0, {}});
  endpoint.open(legalEpoch(seed));
}

void Controller::restart(Time now) {
  endpoint.open(legalEpoch(uint16_t(endpoint.epoch() + 1)));
  lostNode = false;
  for (NodeState &node : states)
    node.joined = false;
  std::fill(next.begin(), next.end(), now);
}

void Controller::run(Time now) {
  while (auto status = endpoint.status()) {
    for (size_t i = 0; i < states.size(); ++i) {
      NodeState &node = states[i];
      if (node.address != status->node)
        continue;
      node.taken = status->taken;
      if (status->taken)
        continue;
      node.heard = now;
      node.alive = true;
      node.last = *status;
      bool here = status->epoch == endpoint.epoch();
      // An answer from before the Open has no meaning; one that left the epoch
      // has restarted.
      if (here && !node.joined)
        next[i] = now + options.probeEvery;
      if (!here && node.joined)
        lostNode = true;
      node.joined |= here;
    }
  }
  for (size_t i = 0; i < states.size(); ++i) {
    NodeState &node = states[i];
    if (node.alive && now - node.heard >= options.deadAfter)
      node.alive = false;
    if (now < next[i])
      continue;
    endpoint.control(node.joined ? Kind::Probe : Kind::Open, node.address,
                     ++cookie);
    next[i] = now + (node.joined ? options.probeEvery : options.openEvery);
  }
}

Time Controller::deadline(Time now) const {
  Time due = kNever;
  for (size_t i = 0; i < states.size(); ++i) {
    due = std::min(due, next[i]);
    if (states[i].alive)
      due = std::min(due, states[i].heard + options.deadAfter);
  }
  return std::max(due, now);
}

bool Controller::ready() const {
  return std::all_of(states.begin(), states.end(),
                     [](const NodeState &node) { return node.joined; });
}
} // namespace rhizome::link
