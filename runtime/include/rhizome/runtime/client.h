// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of a running service: sends frames to its nodes, be they boards or
// rhizome-node processes, and takes the answers in order. A node that falls
// silent is named within a second; one that comes back, or was started anew, is
// taken back, and what it had not answered is sent again.
#pragma once

#include "rhizome/runtime/control.h"
#include "rhizome/runtime/service.h"
#include "rhizome/runtime/udp.h"
#include <functional>

namespace rhizome::link {
struct ClientOptions {
  std::string listen = "0.0.0.0:0"; ///< where the client's socket is
  /// Where each node is, "address:port", by its address in the service.
  std::map<uint16_t, std::string> places;
  ControlOptions control;
  /// Gives up after so long without all nodes, or without an answer.
  Time patience = 10'000'000'000;
};

/// What a user should hear of while frames are on their way.
struct ClientEvent {
  enum Kind { Silent, Back, Restarted } kind = Silent;
  std::string node, place;
};

struct ClientStatistics {
  uint64_t frames = 0;   ///< answered
  uint64_t repeated = 0; ///< sent again after a node had started anew
  Time elapsed = 0;      ///< of all calls of `infer`
  /// From the moment a frame is handed to the link to its last answer.
  Time shortest = kNever, longest = 0, sum = 0;
  Counters link;
};

class Client {
public:
  /// A frame: bit-packed tensors, one per input or output.
  using Frame = std::vector<std::vector<uint8_t>>;

  Client(Service service, ClientOptions options);
  ~Client();
  /// Binds the socket and brings all nodes into one epoch. False with a
  /// sentence in `error`, which names the nodes that do not answer.
  bool open(std::string &error);
  /// Answers to `frames`, in order; `outstanding` of them, at most, are on
  /// their way at a time (0: as many as the link takes). False with a sentence
  /// in `error`; the answers until then stay in `answers`.
  bool infer(const std::vector<Frame> &frames, std::vector<Frame> &answers,
             std::string &error, size_t outstanding = 0);
  /// Told of nodes that come and go; called from `open` and `infer`.
  std::function<void(const ClientEvent &)> onEvent;
  /// Asked between steps; true ends `open` and `infer` with an error.
  std::function<bool()> isCancelled;

  const Service &service() const { return theService; }
  ClientStatistics statistics() const;

private:
  bool step(Time until, const std::function<void(Time)> &work,
            std::string &error);
  void watch(Time now);
  std::string silentNodes() const;

  Service theService;
  ClientOptions options;
  Endpoint endpoint;
  Controller controller;
  UdpSocket driver;
  Router inputs, outputs;
  std::vector<bool> wasAlive, wasHeard;
  ClientStatistics counts;
  bool unfinished = false; ///< the last call of `infer` failed
};
} // namespace rhizome::link
