// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two state machines of a channel: the sender keeps datagrams until they
// are delivered, the receiver holds them until the previous ones have arrived.
// Clauses S1 to S9 and R1 to R8 of docs/spec/link.md.
#pragma once

#include "rhizome/runtime/link.h"
#include <array>

namespace rhizome::link {
/// Round-trip time, smoothed, and how far it varies (RFC 6298).
class RoundTrip {
public:
  explicit RoundTrip(const ChannelConfig &config)
      : smoothed(double(config.roundTrip)), variation(smoothed / 4),
        minimum(double(config.minimumWait)) {}
  void sample(double ns);
  /// The age at which a datagram's acknowledgement is overdue.
  Time wait() const;

private:
  double smoothed, variation, minimum, least = 0;
  bool measured = false;
};

class Sender {
public:
  Sender(const ChannelConfig &config, Counters &counters);
  void reset();
  bool canSend() const { return queue.size() < config.queueDepth(); }
  void send(std::vector<uint8_t> frame);
  bool idle() const { return queue.empty() && base == next; }
  void acknowledge(Time now, const Header &ack, uint64_t map);
  std::optional<std::vector<uint8_t>> pull(Time now, uint16_t epoch);
  Time deadline(Time now) const;

private:
  struct Slot {
    std::vector<uint8_t> payload;
    uint8_t first = kNoFrameStart;
    Time sentAt = 0;
    bool again = false, delivered = false;
  };
  const ChannelConfig &config;
  Counters &counters;
  RoundTrip roundTrip;
  std::deque<std::vector<uint8_t>> queue; ///< frames, the first partly taken
  size_t taken = 0;                       ///< words of the first frame
  std::array<Slot, kMapBits> slots;       ///< by sequence number
  uint32_t base = 0,
           next = 0;       ///< oldest kept, next to be sent for the first time
  uint32_t cumulative = 0; ///< of the latest acknowledgement
  uint32_t seen = 0;       ///< one above its highest known number
  unsigned window;         ///< of the receiver
  uint64_t map = 0;
  Time heard = 0;     ///< since when the receiver has been quiet
  bool waits = false; ///< whether that matters
  unsigned backoff = 0;

  bool blocked() const;
  Slot &slot(uint32_t sequence) { return slots[sequence % kMapBits]; }
  const Slot &slot(uint32_t s) const { return slots[s % kMapBits]; }
  Time dueAgain(uint32_t sequence) const;
  Time pollAt() const;
  void fill(Slot &slot);
  std::vector<uint8_t> datagram(const Slot &slot, uint32_t sequence,
                                uint16_t epoch) const;
};

class Receiver {
public:
  Receiver(const ChannelConfig &config, Counters &counters);
  void reset();
  void data(Time now, const Header &header, std::span<const uint8_t> payload);
  void poll(const Header &header);
  std::optional<std::vector<uint8_t>> receive();
  size_t available() const { return frames.size(); }
  std::optional<std::vector<uint8_t>> pull(Time now, uint16_t epoch);
  Time deadline(Time now) const;

private:
  struct Slot {
    std::vector<uint8_t> payload;
    uint8_t first = kNoFrameStart;
    bool there = false;
  };
  const ChannelConfig &config;
  Counters &counters;
  std::array<Slot, kMapBits> slots;
  uint32_t base = 0;            ///< first not delivered
  uint32_t top = 0;             ///< one above the highest known number
  std::vector<uint8_t> partial; ///< the frame that is being assembled
  bool skipping = false;        ///< until the next frame begins
  std::deque<std::vector<uint8_t>> frames;
  uint32_t told = 0;   ///< `base` of the last acknowledgement
  unsigned events = 0; ///< datagrams received or delivered since then
  bool urgent = true;  ///< the epoch begins with one
  Time since = kNever; ///< of the first event, once the time is known

  void deliver();
  void append(const Slot &slot);
};
} // namespace rhizome::link
