// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Services whose replicas each compute the whole network by themselves: any of
// them can answer any frame, so the frames of one that falls silent go to the
// others.
#pragma once

#include "rhizome/runtime/client.h"
#include <memory>

namespace rhizome::link {
/// One replica: its nodes by their index in the service, and the client's
/// channels with it, by port.
struct Replica {
  std::vector<size_t> nodes;
  std::vector<std::vector<uint16_t>> inputs; ///< several: a broadcast
  std::vector<uint16_t> outputs;
};

/// The replicas of a service, or none if it has but one, or replicas of parts
/// of the network: their nodes decide where a frame goes.
std::vector<Replica> replicasOf(const Service &service);

/// The client's frames, shared out. Replicas take turns; those that are silent
/// or not in the epoch are passed over. Answers are taken in order of posting.
class Sharing {
public:
  using Frame = Client::Frame;

  Sharing(std::vector<Replica> replicas,
          const std::vector<runtime::Region> &regions, Endpoint &endpoint,
          const Controller &controller);

  void post(size_t region, Frame inputs);
  /// Whether the region's oldest frame has its answer.
  bool isAnswered(size_t region) const;
  Frame take(size_t region);
  /// Receives and sends what is possible now.
  void work(Time now, ClientStatistics &counts);
  /// The epoch is over: what has no answer is sent again.
  void restart(ClientStatistics &counts);
  /// Whether some replica has all its nodes.
  bool isPossible() const { return countUsable() > 0; }
  size_t count() const { return replicas.size(); }
  size_t countUsable() const;

private:
  struct Job {
    Frame inputs, answers;
    Time started = 0;
    enum { Waiting, Out, Done } state = Waiting;
    size_t replica = 0; ///< that has it, if it is out
  };
  /// What a replica was sent of a region. A job may be in several queues; the
  /// first answer counts, and all are the same.
  struct Queue {
    struct Sent {
      std::shared_ptr<Job> job;
      Frame answers;
    };
    std::deque<Sent> sent;
    std::vector<size_t> got; ///< by output, how many of `sent`
  };
  struct Lane {
    runtime::Region ports;
    std::deque<std::shared_ptr<Job>> jobs; ///< posted and not taken
    size_t next = 0;                       ///< none before it waits
    size_t turn = 0;                       ///< the replica to be asked next
    std::vector<Queue> queues;             ///< by replica
  };

  bool isUsable(const Replica &replica) const;
  bool canTake(const Replica &replica, const runtime::Region &ports) const;
  void release(size_t replica, ClientStatistics &counts);
  void receive(Lane &lane, size_t replica, Time now, ClientStatistics &counts);
  void send(Lane &lane, Time now);

  std::vector<Replica> replicas;
  Endpoint &endpoint;
  const Controller &controller;
  std::vector<bool> wasUsable;
  std::vector<Lane> lanes;
};
} // namespace rhizome::link
