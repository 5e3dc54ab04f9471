// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The controller of a cluster: brings all nodes into one epoch, detects which
// of them is silent or has restarted, and readmits it with a new epoch.
// Clauses E1 to E7 of docs/spec/link.md. Deterministic, like the endpoint.
#pragma once

#include "rhizome/runtime/link.h"

namespace rhizome::link {
struct ControlOptions {
  Time openEvery = 20'000'000;   ///< repeats an unanswered Open
  Time probeEvery = 100'000'000; ///< between probes of a node
  Time deadAfter = 500'000'000;  ///< of silence
};

/// One node as seen by the controller.
struct NodeState {
  uint16_t address = 0;
  bool joined = false; ///< it answered in the current epoch
  bool alive = false;  ///< heard within `deadAfter`
  bool taken = false;  ///< it last reported another controller
  Time heard = 0;
  NodeStatus last;
};

class Controller {
public:
  /// `endpoint` has the address kHostAddress. `seed` determines the first
  /// epoch; two runs should not use the same.
  Controller(Endpoint &endpoint, const std::vector<uint16_t> &nodes,
             uint16_t seed, ControlOptions options = {});

  /// Begins a new epoch: the endpoint's channels and all nodes restart.
  /// Unanswered frames must be sent again.
  void restart(Time now);
  /// To be called when datagrams have arrived or `deadline` has come.
  void run(Time now);
  Time deadline(Time now) const;

  /// All nodes are in the current epoch.
  bool ready() const;
  /// A node that had joined has restarted: it has lost its work,
  /// and `restart` is due.
  bool lost() const { return lostNode; }
  const std::vector<NodeState> &nodes() const { return states; }

private:
  Endpoint &endpoint;
  ControlOptions options;
  std::vector<NodeState> states;
  std::vector<Time> next; ///< when to ask each node again
  uint32_t cookie = 0;
  bool lostNode = false;
};
} // namespace rhizome::link
