// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Channel.h"
#include <algorithm>
#include <cassert>

namespace rhizome::link {
Receiver::Receiver(const ChannelConfig &config, Counters &counters)
    : config(config), counters(counters) {
  assert(config.frameBits > 0 && config.window >= 4 &&
         config.window <= kMapBits &&
         (config.window & (config.window - 1)) == 0 &&
         "a window is a power of two from 4 to 64");
}

void Receiver::reset() {
  slots = {};
  base = top = 0;
  partial.clear();
  skipping = false;
  frames.clear();
  told = 0;
  events = 0;
  urgent = true;
  since = kNever;
}

void Receiver::data(Time now, const Header &h,
                    std::span<const uint8_t> payload) {
  uint32_t ahead = h.sequence - base;
  Slot &k = slots[h.sequence % kMapBits];
  if (ahead >= config.window || k.there) {
    // The acknowledgement was lost, or the sender assumes another window.
    ++counters.duplicate;
    urgent = true;
    return;
  }
  ++counters.received;
  k.payload.assign(payload.begin(), payload.end());
  k.first = h.first;
  k.there = true;
  // Out of order: the sender should learn it at once.
  urgent |= h.sequence != top;
  if (int32_t(h.sequence + 1 - top) > 0)
    top = h.sequence + 1;
  ++events;
  since = std::min(since, now);
  deliver();
}

void Receiver::poll(const Header &h) {
  urgent = true;
  // A poll may refer to a few datagrams that have not been sent yet.
  uint32_t ahead = h.sequence - base;
  if (ahead < 2 * kMapBits && int32_t(h.sequence - top) > 0)
    top = h.sequence;
}

/// Delivers slots in order, while the user's queue has room.
void Receiver::deliver() {
  while (slots[base % kMapBits].there && frames.size() < config.queueDepth()) {
    Slot &k = slots[base % kMapBits];
    append(k);
    k = Slot();
    ++base;
    if (int32_t(base - top) > 0)
      top = base;
    ++events;
  }
}

void Receiver::append(const Slot &k) {
  size_t size = config.frameWords() * kWordBytes;
  // Where the next frame begins by our count.
  size_t border = partial.empty() ? 0 : size - partial.size();
  bool within = border < k.payload.size();
  uint8_t expected = within ? uint8_t(border / kWordBytes) : kNoFrameStart;
  size_t at = 0;
  if (skipping || k.first != expected) {
    counters.framing += !skipping;
    partial.clear();
    skipping =
        k.first == kNoFrameStart || k.first * kWordBytes >= k.payload.size();
    if (skipping)
      return;
    at = k.first * kWordBytes;
  }
  while (at < k.payload.size()) {
    size_t bytes = std::min(size - partial.size(), k.payload.size() - at);
    auto from = k.payload.begin() + ptrdiff_t(at);
    partial.insert(partial.end(), from, from + ptrdiff_t(bytes));
    at += bytes;
    if (partial.size() == size) {
      partial.resize(config.frameBytes());
      frames.push_back(std::move(partial));
      partial.clear();
    }
  }
}

std::optional<std::vector<uint8_t>> Receiver::receive() {
  if (frames.empty())
    return std::nullopt;
  std::vector<uint8_t> frame = std::move(frames.front());
  frames.pop_front();
  deliver();
  // The sender may be waiting for the window to move.
  urgent |= base - told >= config.window / 2;
  return frame;
}

std::optional<std::vector<uint8_t>> Receiver::pull(Time now, uint16_t epoch) {
  if (events > 0)
    since = std::min(since, now);
  if (deadline(now) > now)
    return std::nullopt;
  urgent = false;
  events = 0;
  since = kNever;
  told = base;
  uint64_t map = 0;
  for (uint32_t i = 0; i < kMapBits; ++i)
    map |= uint64_t(slots[i].there) << i;
  Header h;
  h.kind = Kind::Ack;
  h.words = 1;
  h.epoch = epoch;
  h.id = config.id;
  h.sequence = base;
  h.first = uint8_t(config.window);
  h.span = uint8_t(std::min<uint32_t>(top - base, 255));
  ++counters.acks;
  return encode(h, wordBytes(map));
}

Time Receiver::deadline(Time now) const {
  // A datagram counts when it arrives and when it is delivered.
  if (urgent || events >= 2 * config.ackEvery)
    return now;
  if (events == 0)
    return kNever;
  return std::max(now, std::min(since, now) + config.ackDelay);
}
} // namespace rhizome::link
