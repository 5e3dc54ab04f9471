// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Channel.h"
#include <algorithm>
#include <cassert>
#include <cmath>

namespace rhizome::link {
namespace {
/// Datagrams that may overtake one before it counts as lost (S6).
constexpr uint32_t kReorder = 3;
/// The window before the first acknowledgement of an epoch (S3).
constexpr unsigned kInitialWindow = 4;
constexpr unsigned kMaxBackoff = 4;
constexpr double kMaximumWait = 1e9;
/// The maximum wait, in shortest round trips.
constexpr double kMostWaits = 8;

/// a < b for numbers that wrap around.
bool below(uint32_t a, uint32_t b) { return int32_t(a - b) < 0; }
} // namespace

void RoundTrip::sample(double ns) {
  least = measured ? std::min(least, ns) : ns;
  if (!measured) {
    smoothed = ns;
    variation = ns / 2;
    measured = true;
    return;
  }
  variation += (std::abs(smoothed - ns) - variation) / 4;
  smoothed += (ns - smoothed) / 8;
}

Time RoundTrip::wait() const {
  // Lost acknowledgements look like a long delay, so it is limited.
  double most = measured ? kMostWaits * least : kMaximumWait;
  return Time(
      std::clamp(smoothed + 4 * variation, minimum, std::max(minimum, most)));
}

Sender::Sender(const ChannelConfig &config, Counters &counters)
    : config(config), counters(counters), roundTrip(config),
      window(kInitialWindow) {
  assert(config.frameBits > 0 && config.slotWords >= 1 &&
         config.slotWords <= kMaxSlotWords && config.window >= 1 &&
         config.window <= kMapBits && "a channel that cannot be");
}

void Sender::reset() {
  queue.clear();
  taken = 0;
  base = next = cumulative = seen = 0;
  window = kInitialWindow;
  map = 0;
  waits = false;
  backoff = 0;
}

void Sender::send(std::vector<uint8_t> frame) {
  assert(frame.size() == config.frameBytes() && "a frame has its size");
  frame.resize(config.frameWords() * kWordBytes);
  queue.push_back(std::move(frame));
}

bool Sender::blocked() const {
  return next - cumulative >= window || next - base >= config.window;
}

void Sender::acknowledge(Time now, const Header &ack, uint64_t bits) {
  // A datagram that was never sent cannot have been delivered, and of two
  // acknowledgements the later one is more recent.
  if (below(next, ack.sequence) || below(ack.sequence, cumulative))
    return;
  bool later = ack.sequence != cumulative;
  uint32_t heardOf = ack.sequence + ack.span;
  map = later ? bits : map | bits;
  if (later || below(seen, heardOf))
    seen = heardOf;
  cumulative = ack.sequence;
  window = std::clamp<unsigned>(ack.first, 1, kMapBits);
  heard = now;
  backoff = 0;
  if (config.reliable)
    return;
  for (uint32_t s = base; s != next; ++s) {
    Slot &k = slot(s);
    bool has = below(s, cumulative) || (map >> s % kMapBits & 1);
    if (k.delivered || !has)
      continue;
    k.delivered = true;
    // For a datagram sent twice, it is unknown which one is acknowledged
    // (Karn).
    if (!k.again)
      roundTrip.sample(double(now - k.sentAt));
  }
  while (base != cumulative) {
    slot(base).payload.clear();
    ++base;
  }
  waits = waits && (base != next || !queue.empty());
}

/// When a datagram must be sent again, kNever if it is not considered lost.
Time Sender::dueAgain(uint32_t sequence) const {
  const Slot &k = slot(sequence);
  if (k.delivered || backoff > 0 || !below(sequence + kReorder, seen))
    return kNever;
  return k.sentAt + roundTrip.wait();
}

Time Sender::pollAt() const {
  return waits && !config.reliable
             ? heard + ((2 * roundTrip.wait() + config.ackDelay) << backoff)
             : kNever;
}

/// Takes words from the queue until the slot is full or no frame waits.
void Sender::fill(Slot &k) {
  k = Slot();
  size_t limit = config.slotWords * kWordBytes;
  while (!queue.empty() && k.payload.size() < limit) {
    const std::vector<uint8_t> &frame = queue.front();
    if (taken == 0 && k.first == kNoFrameStart)
      k.first = uint8_t(k.payload.size() / kWordBytes);
    size_t from = taken * kWordBytes;
    size_t bytes = std::min(limit - k.payload.size(), frame.size() - from);
    auto start = frame.begin() + ptrdiff_t(from);
    k.payload.insert(k.payload.end(), start, start + ptrdiff_t(bytes));
    taken += bytes / kWordBytes;
    if (taken * kWordBytes == frame.size()) {
      queue.pop_front();
      taken = 0;
    }
  }
}

std::vector<uint8_t> Sender::datagram(const Slot &k, uint32_t sequence,
                                      uint16_t epoch) const {
  Header h;
  h.kind = Kind::Data;
  h.words = uint8_t(k.payload.size() / kWordBytes);
  h.epoch = epoch;
  h.id = config.id;
  h.sequence = sequence;
  h.first = k.first;
  return encode(h, k.payload);
}

std::optional<std::vector<uint8_t>> Sender::pull(Time now, uint16_t epoch) {
  for (uint32_t s = base; s != next; ++s)
    if (dueAgain(s) <= now) {
      Slot &k = slot(s);
      k.sentAt = now;
      k.again = true;
      ++counters.resent;
      return datagram(k, s, epoch);
    }
  if (!waits && (base != next || !queue.empty())) {
    waits = true;
    heard = now;
  }
  if (pollAt() <= now) {
    heard = now;
    backoff = std::min(backoff + 1, kMaxBackoff);
    // This acknowledgement reflects the silence, not the round trip.
    for (uint32_t s = base; s != next; ++s)
      slot(s).again = true;
    ++counters.polls;
    Header h;
    h.kind = Kind::Poll;
    h.epoch = epoch;
    h.id = config.id;
    // A poll's sequence allows no reordering margin.
    h.sequence = next + kReorder;
    return encode(h, {});
  }
  if (queue.empty() || blocked())
    return std::nullopt;
  Slot &k = slot(next);
  fill(k);
  k.sentAt = now;
  ++counters.sent;
  std::vector<uint8_t> bytes = datagram(k, next++, epoch);
  if (config.reliable) {
    k.payload.clear();
    base = next;
  }
  return bytes;
}

Time Sender::deadline(Time now) const {
  if ((!queue.empty() && !blocked()) ||
      (!waits && (base != next || !queue.empty())))
    return now;
  Time due = pollAt();
  for (uint32_t s = base; s != next; ++s)
    due = std::min(due, dueAgain(s));
  return std::max(due, now);
}
} // namespace rhizome::link
