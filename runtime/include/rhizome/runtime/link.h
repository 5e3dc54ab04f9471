// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One end of the link protocol in C++: the peer of the RTL endpoint. It is
// deterministic: no sockets, clocks or threads. Its caller passes in
// datagrams and the time, and takes datagrams out; udp.h does so with a socket.
// The protocol is docs/spec/link.md.
#pragma once

#include "rhizome/runtime/datagram.h"
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rhizome::link {
/// Nanoseconds from any fixed beginning.
using Time = uint64_t;
constexpr Time kNever = ~Time(0);

/// The controller's address, and the initial epoch of all parties.
constexpr uint16_t kHostAddress = 0;
constexpr uint16_t kFirstEpoch = 1;

/// One channel as seen by one of its two ends.
struct ChannelConfig {
  uint16_t id = 0;
  bool transmit = false;
  uint16_t peer = 0;      ///< address of the other end
  uint64_t frameBits = 0; ///< of one tensor, bit-packed
  /// Payload words of a full datagram: see `slotWordsFor`.
  unsigned slotWords = 128;
  /// Receiver: number of datagrams that it can hold, a power of two from 4
  /// to 64. Transmitter: maximum number that it keeps.
  unsigned window = 64;
  /// A medium without loss and reordering: nothing is kept or sent again.
  bool reliable = false;
  /// Frames that wait before (transmitter) or after (receiver) the window; for
  /// small ones as many as fill two datagrams.
  unsigned queueFrames = 4;
  /// Estimate of the round trip until it has been measured.
  Time roundTrip = 100'000;
  /// Minimum wait before retransmission, and the quiet time of a receiver
  /// before it acknowledges less than `ackEvery` datagrams.
  Time minimumWait = 20'000, ackDelay = 5'000;
  unsigned ackEvery = 4;
  /// Bytes of a frame, and words that it takes on the link.
  size_t frameBytes() const { return size_t((frameBits + 7) / 8); }
  size_t frameWords() const { return size_t((frameBits + 63) / 64); }
  size_t queueDepth() const {
    return std::max<size_t>(queueFrames, 2 * slotWords / frameWords());
  }
};

/// Payload words of a full datagram on a medium whose largest datagram has
/// `mtuBytes`: a power of two, at most 128.
unsigned slotWordsFor(size_t mtuBytes);

/// Counts of dropped and processed datagrams since the start.
struct Counters {
  uint64_t received = 0;  ///< datagrams that were accepted
  uint64_t malformed = 0; ///< no datagram of ours: length, check, version, kind
  uint64_t foreign = 0;   ///< well-formed, but with an unknown channel or node
  uint64_t stale = 0;     ///< with another epoch
  uint64_t duplicate =
      0;                ///< data that had already arrived, or beyond the window
  uint64_t framing = 0; ///< frames dropped because their borders did not fit
  uint64_t sent = 0;    ///< data datagrams sent for the first time
  uint64_t resent = 0;  ///< data datagrams sent again
  uint64_t polls = 0, acks = 0;
};

/// A datagram on its way out.
struct Outgoing {
  uint16_t peer = 0;
  std::vector<uint8_t> bytes;
};

/// A node's answer to Open or Probe, for the controller.
struct NodeStatus {
  uint16_t node = 0, epoch = 0;
  bool taken = false; ///< it has another controller, and the rest is unset
  uint32_t cookie = 0;
  uint16_t malformed = 0, foreign = 0, stale = 0, duplicate = 0;
};

class Sender;
class Receiver;

/// A node's channels. The times passed to the calls must not decrease.
class Endpoint {
public:
  /// Channel ids are unique. An endpoint at kHostAddress answers no Open.
  Endpoint(uint16_t address, std::vector<ChannelConfig> channels,
           uint16_t epoch = kFirstEpoch);
  ~Endpoint();
  Endpoint(const Endpoint &) = delete;
  Endpoint &operator=(const Endpoint &) = delete;

  uint16_t address() const { return self; }
  uint16_t epoch() const { return current; }

  /// Whether `send` accepts a frame now.
  bool canSend(uint16_t channel) const;
  /// Takes a frame of the channel's frameBytes(); false if its queue is
  /// full.
  bool send(uint16_t channel, std::vector<uint8_t> frame);
  /// The channel's next frame in the order sent, if available.
  std::optional<std::vector<uint8_t>> receive(uint16_t channel);
  /// Number of frames that `receive` can return at once.
  size_t available(uint16_t channel) const;
  /// Whether every frame sent was delivered to the peer's user.
  bool idle(uint16_t channel) const;

  /// Takes an arrived datagram. Foreign ones are counted and dropped.
  void push(Time now, std::span<const uint8_t> datagram);
  /// The next datagram to send at this time, if there is one.
  std::optional<Outgoing> pull(Time now);
  /// When `pull` will return a datagram even if nothing arrives: `now` if it
  /// has already, kNever if never.
  Time deadline(Time now) const;

  /// Begins an epoch: all channels restart, frames in them are lost. Nodes
  /// do so on their own when an Open arrives.
  void open(uint16_t epoch);
  /// For the controller: sends an Open or a Probe to a node.
  void control(Kind kind, uint16_t node, uint32_t cookie);
  /// Statuses that arrived, the oldest first.
  std::optional<NodeStatus> status();

  const Counters &counters() const { return counts; }
  const std::vector<ChannelConfig> &channels() const { return configs; }

private:
  uint16_t self, current;
  std::vector<ChannelConfig> configs;
  std::map<uint16_t, std::unique_ptr<Sender>> senders;
  std::map<uint16_t, std::unique_ptr<Receiver>> receivers;
  std::deque<Outgoing> urgent;
  std::deque<NodeStatus> statuses;
  Counters counts;
  size_t turn = 0;

  void pushControl(const Header &header, std::span<const uint8_t> payload);
};
} // namespace rhizome::link
