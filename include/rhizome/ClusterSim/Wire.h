// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The medium of a simulated cluster: when a datagram sent by one party
// reaches another, and whether it does. A party is the host or a node; its
// number is its MPI rank, the host's 0. The meaning of datagrams is defined
// elsewhere.
#pragma once

#include "rhizome/Package/Plan.h"
#include <cstdint>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace rhizome::clustersim {
using Picoseconds = int64_t;
constexpr Picoseconds kNever = INT64_MAX;

/// The time of a number of bits at a rate, rounded up.
Picoseconds transmissionTime(int64_t bytes, double bitsPerS);

struct Datagram {
  int from = 0, to = 0;     ///< ranks
  uint64_t number = 0;      ///< among those sent by `from`
  size_t link = 0;          ///< index in the plan
  Picoseconds firstBit = 0; ///< when its first bit reaches the receiver's port
  Picoseconds lastBit = 0;  ///< the earliest time for its last one
  std::vector<uint8_t> bytes;
};

/// The disturbances of datagrams on links of kind "udp".
struct Disturbance {
  double loss = 0;              ///< probability
  double reorder = 0;           ///< probability of an additional delay
  Picoseconds reorderDelay = 0; ///< the largest such delay
  uint64_t seed = 1;
};

/// The shortest time between a send and anything that it causes at another
/// party, over all links: the lookahead of the simulation, at least 1.
Picoseconds lookahead(const std::vector<PlannedLink> &links);

/// A party's connections: it has one port for all links of kind "udp", as fast
/// as its fastest such link, connected to a cut-through switch that queues at
/// the receiver's port, and one port for each "wire" and peer. Time never goes
/// back in successive calls.
class Ports {
public:
  Ports(int rank, std::vector<PlannedLink> links, Disturbance disturbance)
      : rank(rank), links(std::move(links)), disturbance(disturbance) {}

  /// Registers that this party uses the link.
  void connect(size_t link);
  /// Sends at time `now` or as soon as the port is free.
  void send(Picoseconds now, int to, size_t link, std::vector<uint8_t> bytes);
  /// When the port to `to` will have sent all its datagrams.
  Picoseconds freeAt(int to, size_t link) const;
  /// When all ports will have.
  Picoseconds freeAt() const;
  /// The datagrams sent since the last call.
  std::vector<Datagram> takeSent() { return std::exchange(sent, {}); }

  /// Delivers a datagram of another party. Later datagrams never have an
  /// earlier first bit than one already received.
  void bring(Datagram datagram);
  /// When the next datagram will have been received; kNever if there is none.
  Picoseconds nextArrival() const;
  /// Takes the next datagram that has arrived by `now`, if any.
  bool receive(Picoseconds now, Datagram &datagram);

  struct Statistics {
    int64_t sent = 0, received = 0, lost = 0, delayed = 0; ///< datagrams
    int64_t bytesSent = 0, bytesReceived = 0;              ///< payload
    Picoseconds sendBusy = 0, receiveBusy = 0; ///< of the busiest port
  };
  Statistics statistics() const;

private:
  struct Later {
    bool operator()(const Datagram &a, const Datagram &b) const;
  };
  /// One direction of a port: the switched one, or a wire to a peer.
  struct Lane {
    Picoseconds free = 0, busy = 0;
  };
  using Key = std::pair<size_t, int>; // link and peer; {kSwitched, 0}
  Key keyOf(size_t link, int peer) const;
  double rateOf(size_t link) const;
  Picoseconds arrivalAtSwitchedPort(const Datagram &datagram) const;

  int rank;
  std::vector<PlannedLink> links;
  Disturbance disturbance;
  double switchedRate = 0; ///< bits per second
  std::map<Key, Lane> sending, receiving;
  std::vector<Datagram> sent;
  std::priority_queue<Datagram, std::vector<Datagram>, Later> switched, wired;
  uint64_t sequence = 0;
  Statistics counts;
};
} // namespace rhizome::clustersim
