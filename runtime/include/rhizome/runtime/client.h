// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of a running service: sends frames to its nodes, be they boards or
// rhizome-node processes, and takes the answers in order. A node that falls
// silent is named within a second; one that comes back, or was started anew, is
// taken back, and what it had not answered is sent again. If each replica
// computes the whole network, the frames of a silent one go to the others.
#pragma once

#include "rhizome/runtime/control.h"
#include "rhizome/runtime/metrics.h"
#include "rhizome/runtime/service.h"
#include "rhizome/runtime/udp.h"
#include <deque>
#include <functional>

namespace rhizome::link {
struct ClientOptions {
  /// Where the client's socket is; "": at any port, on the loopback interface
  /// if all nodes are there, on all interfaces otherwise.
  std::string listen;
  Mac seal; ///< of parties that share a key; none: datagrams have no hash
  /// Where each node is, "address:port", by its address in the service.
  std::map<uint16_t, std::string> places;
  ControlOptions control;
  Time patience = 10'000'000'000; ///< of `open`, for all nodes
};

/// What a user should hear of while frames are on their way.
struct ClientEvent {
  enum Kind { Silent, Back, Restarted, Taken } kind = Silent;
  std::string node, place;
};

struct ClientStatistics {
  uint64_t frames = 0;   ///< answered
  uint64_t repeated = 0; ///< sent again after a node was lost
  /// From the moment a frame is handed to the link to its last answer.
  Time shortest = kNever, longest = 0, sum = 0;
  runtime::Histogram latency;
  Counters link;
  struct Node {
    std::string name, place;
    bool isUp = false;     ///< alive and in the epoch
    uint64_t silences = 0; ///< times that it fell silent
  };
  std::vector<Node> nodes;
  /// 0 unless each computes the whole network.
  size_t replicas = 0, replicasUp = 0;
  uint64_t failovers = 0; ///< a replica's frames went to the others

  /// A frame that was sent at `started` has its last answer.
  void answered(Time started, Time now);
};

class Sharing;

class Client {
public:
  /// A region's frame: bit-packed tensors, one per input or output.
  using Frame = std::vector<std::vector<uint8_t>>;

  Client(Service service, ClientOptions options);
  ~Client();
  /// Binds the socket and brings all nodes into one epoch, or those of one
  /// replica if the others do not answer in time. False with a sentence in
  /// `error`, which names the nodes that do not answer.
  bool open(std::string &error);
  /// A region's frame to be answered; it leaves as soon as the links take it.
  /// False with a sentence in `error` if the socket fails.
  bool post(size_t region, Frame frame, std::string &error);
  enum class Outcome {
    Answer,
    TimeOut, ///< all nodes are there, or it was too short to tell
    Silent,  ///< some node has been silent for `deadAfter` or longer
    Failed,  ///< the socket, or it was cancelled
  };
  /// The answer to the oldest frame that was posted and not taken. After a
  /// time-out or silence, whose sentence names the nodes, the frames are still
  /// on their way.
  Outcome take(Frame &answer, Time patience, std::string &error);
  /// Talks to the nodes for so long, so that each side knows of the other.
  /// False with a sentence in `error` if the socket fails or it was cancelled.
  bool tend(Time longest, std::string &error);
  /// Told of nodes that come and go; called from `open`, `post` and `take`.
  std::function<void(const ClientEvent &)> onEvent;
  /// Asked between steps; true ends `open` and `take` with an error.
  std::function<bool()> isCancelled;

  const Service &service() const { return theService; }
  /// Whether other replicas compute what a silent one had not answered.
  bool hasOthers() const { return bool(sharing); }
  ClientStatistics statistics() const;

private:
  /// A frame that was posted and not taken.
  struct Pending {
    Frame inputs, answers;
    Time started = 0;
  };
  /// A region: its frames wait for no other region's.
  struct Lane {
    runtime::Region ports;
    std::deque<Pending> pending;
    size_t complete = 0; ///< of `pending`, from its front, with all answers
  };

  bool step(Time until, const std::function<void(Time)> &work,
            std::string &error);
  void watch(Time now);
  void work(Time now);
  void startAnew(Time now);
  bool isAnswered(size_t region) const;
  bool goOnWithout();
  void receive(Lane &lane);
  void send(Lane &lane, Time now);
  void finish(Lane &lane, Time now);
  std::string silentNodes() const;
  std::string takenNodes() const;
  std::string ownPlace() const;

  Service theService;
  ClientOptions options;
  Endpoint endpoint;
  Controller controller;
  UdpSocket driver;
  Router inputs, outputs;
  std::vector<bool> wasAlive, wasHeard;
  std::vector<uint64_t> silences; ///< by node
  std::vector<Lane> lanes;
  std::deque<size_t> order; ///< regions of the frames not taken, as posted
  /// By port: how many of its lane's `pending`, from the front, were sent or
  /// received. Ports run ahead of each other.
  std::vector<size_t> sent, got;
  ClientStatistics counts;
  std::unique_ptr<Sharing> sharing; ///< instead of the lanes, with replicas
};
} // namespace rhizome::link
