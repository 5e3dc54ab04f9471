// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parties of a simulated cluster: a node is a Verilated design with its
// link endpoint, the host sends frames, keeps the answers and takes the time.
#pragma once

#include "rhizome/ClusterSim/Channels.h"
#include "rhizome/ClusterSim/Engine.h"
#include "rhizome/ClusterSim/Model.h"
#include "rhizome/runtime/link.h"
#include <deque>
#include <functional>
#include <map>
#include <optional>

namespace rhizome::clustersim {
/// A rank's party: 0 is the host, k + 1 the plan's node k.
int rankOf(const Plan &plan, uint16_t address);
/// "host" or a node's name.
std::string nameOf(const Plan &plan, int rank);

/// A party of a plan: who its peers are and over which links they are reached.
class PlannedParty : public Party {
public:
  PlannedParty(const Plan &plan, int rank, Disturbance disturbance);

protected:
  /// Sends to the party at an address.
  void sendTo(Picoseconds now, uint16_t address, std::vector<uint8_t> bytes);

  bool knows(uint16_t address) const { return routes.count(address); }

  const Plan &plan;
  const int rank;
  std::optional<size_t> switched; ///< some link of kind "udp"
  Picoseconds twoDatagrams = 0;   ///< of the largest size, on the slowest link

private:
  std::map<uint16_t, std::pair<int, size_t>> routes; ///< peer: rank and link
};

/// A party whose endpoint is the runtime's.
class LinkParty : public PlannedParty {
public:
  LinkParty(const Plan &plan, int rank, Disturbance disturbance);
  const link::Endpoint &endpoint() const { return protocol; }

protected:
  /// Brings what has arrived to the endpoint.
  void receive(Picoseconds now);
  /// Sends what the endpoint has while the port is free.
  void send(Picoseconds now);
  /// When `receive` or `send` will do something, `now` at the earliest.
  Picoseconds nextOnLink(Picoseconds now) const;

  link::Endpoint protocol;
  link::Router inputs, outputs;
};

/// A node's clock; cycle 0 begins at time 0.
struct Clock {
  int64_t hertz = 0;
  Picoseconds edge(int64_t cycle) const;
  /// The first cycle whose edge is not before `time`.
  int64_t cycleAt(Picoseconds time) const;
};

/// A node without an endpoint of its own: rhz_top behind the runtime's.
class NodeParty : public LinkParty {
public:
  NodeParty(const Plan &plan, int rank, Disturbance disturbance,
            std::unique_ptr<Model> model);
  Picoseconds next() const override;
  llvm::Error run(Picoseconds until) override;
  const Model &design() const { return *model; }
  /// Cycles that were not simulated because they would have changed nothing.
  int64_t skipped() const { return cyclesSkipped; }

private:
  std::unique_ptr<Model> model;
  Clock clock;
  int64_t cycle = 0, cyclesSkipped = 0;
};

/// A node as on a board: rhz_node behind a shell, which takes whole datagrams
/// from the port and holds two on their way to it.
class BoardParty : public PlannedParty {
public:
  BoardParty(const Plan &plan, int rank, Disturbance disturbance,
             std::unique_ptr<NodeModel> model);
  /// Its endpoint has timers: every cycle counts.
  Picoseconds next() const override { return clock.edge(model->cycles()); }
  llvm::Error run(Picoseconds until) override;
  const NodeModel &design() const { return *model; }
  /// Data that left more than once, which its endpoint does not count.
  int64_t resent() const { return sentAgain; }

private:
  void count(const std::vector<uint8_t> &datagram);

  std::unique_ptr<NodeModel> model;
  Clock clock;
  /// By epoch and channel: the number of the next new datagram.
  std::map<std::pair<uint16_t, uint16_t>, uint32_t> nextNumbers;
  int64_t sentAgain = 0;
};

class HostParty : public LinkParty {
public:
  struct Request {
    /// [input or output]: frames one behind the other, bit-packed.
    std::vector<std::vector<uint8_t>> inputs;
    int64_t frames = 1; ///< in `inputs`
    int64_t total = 1;  ///< to send at full rate; the frames are repeated
    bool latency = false;
    /// Simulated time without any answer that counts as a hang.
    Picoseconds patience = kNever;
    /// Called, if set, with the number of complete frames of `total`.
    std::function<void(int64_t frames, Picoseconds now)> progress;
  };
  HostParty(const Plan &plan, Disturbance disturbance, Request request);
  Picoseconds next() const override;
  llvm::Error run(Picoseconds until) override;
  bool isDone() const override { return phase == Phase::Done; }
  llvm::Error standsStill() override;

  /// Answers to the given frames, as the inputs came.
  const std::vector<std::vector<uint8_t>> &answers() const { return kept; }
  /// Frames a second: the mean over the last half of the frames, at least
  /// eight distances; 0 if there are fewer.
  double throughputPerS() const;
  /// Of a single request with nothing else on its way, or 0.
  Picoseconds latency() const { return measuredLatency; }

private:
  enum class Phase { Frames, Pause, Latency, Done };
  llvm::Error collect();
  void offer();
  llvm::Error finished();
  std::string whatIsMissing() const;

  Request request;
  Phase phase = Phase::Frames;
  std::vector<int64_t> offered, taken; ///< frames of this phase, by port
  int64_t toSend = 0;                  ///< in this phase
  Picoseconds now = 0, started = 0, progress = 0, resume = 0;
  Picoseconds measuredLatency = 0;
  bool awake = true;
  std::vector<std::vector<uint8_t>> kept;
  std::vector<Picoseconds> completed; ///< by frame, of the first phase
};

/// The host of a cluster whose jobs, frames of one region, come one by one from
/// a client. Simulated time stands still while the client has nothing on its
/// way.
class LiveHostParty : public LinkParty {
public:
  /// A frame by input or output of its region, each tensor bit-packed.
  using Frame = std::vector<std::vector<uint8_t>>;
  struct Job {
    size_t region = 0;
    Frame inputs;
  };
  class Client {
  public:
    enum class Asked { Frame, Nothing, End };
    virtual ~Client() = default;
    /// Told once, when all parties are there.
    virtual llvm::Error ready() = 0;
    /// The next job; `Nothing` only if it is not to wait for one.
    virtual llvm::Expected<Asked> next(bool waits, Job &job) = 0;
    virtual llvm::Error answer(const Frame &frame) = 0;
  };
  /// `patience`: simulated time without an answer that counts as a hang.
  LiveHostParty(const Plan &plan, Disturbance disturbance, Client &client,
                Picoseconds patience);
  Picoseconds next() const override;
  llvm::Error run(Picoseconds until) override;
  bool isDone() const override { return ended; }
  llvm::Error standsStill() override;
  int64_t frames() const { return answered; }

private:
  llvm::Error ask(bool waits);
  llvm::Error collect();
  void offer();

  Client &client;
  const std::vector<runtime::Region> regions;
  const Picoseconds patience, window;
  bool isReady = false, awake = true, ended = false;
  std::vector<std::deque<std::vector<uint8_t>>> waiting, taken; ///< by port
  std::deque<size_t> order; ///< regions of the jobs without an answer
  int64_t asked = 0, answered = 0;
  Picoseconds now = 0, progress = 0;
};
} // namespace rhizome::clustersim
