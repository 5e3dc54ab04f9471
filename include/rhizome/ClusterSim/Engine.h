// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conservative simulation of parties that exchange datagrams. All parties
// process the same windows of time, each so short that nothing sent within it
// can arrive within it (Nicol's YAWNS windows, JACM 1993); between two windows
// they exchange what they sent. So the result does not depend on scheduling.
#pragma once

#include "rhizome/ClusterSim/Wire.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace rhizome::clustersim {
/// One end of the cluster: the host or a node.
class Party {
public:
  Party(int rank, std::vector<PlannedLink> links, Disturbance disturbance)
      : ports(rank, std::move(links), disturbance) {}
  virtual ~Party() = default;
  /// The earliest time at which it acts on its own or receives what
  /// was delivered; kNever if there is neither.
  virtual Picoseconds next() const = 0;
  /// Processes all events before `until`. An error ends the run.
  virtual llvm::Error run(Picoseconds until) = 0;
  /// True once it wants the simulation to end; only the host is asked.
  virtual bool isDone() const { return false; }
  /// Called if no event is left although the host is not done.
  virtual llvm::Error standsStill() { return llvm::Error::success(); }

  Ports ports;
};

/// The status that a party sends to all others after a window.
struct PartyStatus {
  Picoseconds next = kNever;
  bool done = false; ///< the host wants the simulation to end
};

/// Transfers datagrams between parties.
class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends every other party its datagrams and `mine`; returns the status of
  /// all, by rank, and the datagrams for this party.
  virtual std::vector<PartyStatus>
  exchange(const PartyStatus &mine, std::vector<Datagram> sent,
           std::vector<Datagram> &received) = 0;
};

struct RunStatistics {
  Picoseconds end = 0; ///< simulated
  int64_t windows = 0;
};

/// Simulates until the host is done. After an error, the other parties wait
/// for this one forever; the caller ends them.
llvm::Expected<RunStatistics> simulate(Party &party, Transport &transport,
                                       Picoseconds lookahead);
} // namespace rhizome::clustersim
