// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Channel.h"
#include <algorithm>
#include <cassert>

namespace rhizome::link {
namespace {
/// Maximum number of waiting answers and of unread statuses: more are dropped.
constexpr size_t kMaxUrgent = 256, kMaxStatuses = 1024;

uint16_t saturated(uint64_t count) {
  return uint16_t(std::min<uint64_t>(count, 0xffff));
}
} // namespace

unsigned slotWordsFor(size_t mtuBytes) {
  unsigned words = 1;
  while (2 * words <= kMaxSlotWords &&
         2 * words * kWordBytes + kHeaderBytes <= mtuBytes)
    words *= 2;
  return words;
}

Endpoint::Endpoint(uint16_t address, std::vector<ChannelConfig> channels,
                   uint16_t epoch)
    : self(address), current(epoch), configs(std::move(channels)) {
  for (const ChannelConfig &config : configs) {
    bool isNew = config.transmit ? senders.emplace(config.id, nullptr).second
                                 : receivers.emplace(config.id, nullptr).second;
    assert(isNew && "channel ids are unique");
    (void)isNew;
  }
  for (const ChannelConfig &config : configs)
    if (config.transmit)
      senders[config.id] = std::make_unique<Sender>(config, counts);
    else
      receivers[config.id] = std::make_unique<Receiver>(config, counts);
}

Endpoint::~Endpoint() = default;

bool Endpoint::canSend(uint16_t channel) const {
  return senders.at(channel)->canSend();
}

bool Endpoint::send(uint16_t channel, std::vector<uint8_t> frame) {
  Sender &sender = *senders.at(channel);
  if (!sender.canSend())
    return false;
  sender.send(std::move(frame));
  return true;
}

std::optional<std::vector<uint8_t>> Endpoint::receive(uint16_t channel) {
  return receivers.at(channel)->receive();
}

size_t Endpoint::available(uint16_t channel) const {
  return receivers.at(channel)->available();
}

bool Endpoint::idle(uint16_t channel) const {
  return senders.at(channel)->idle();
}

void Endpoint::open(uint16_t epoch) {
  current = epoch;
  for (auto &[id, sender] : senders)
    sender->reset();
  for (auto &[id, receiver] : receivers)
    receiver->reset();
}

void Endpoint::push(Time now, std::span<const uint8_t> datagram) {
  std::optional<Header> h = decode(datagram);
  if (!h) {
    ++counts.malformed;
    return;
  }
  std::span<const uint8_t> payload = datagram.subspan(kHeaderBytes);
  if (h->kind >= Kind::Open) {
    pushControl(*h, payload);
    return;
  }
  auto sender = senders.find(h->id);
  auto receiver = receivers.find(h->id);
  bool ours = h->kind == Kind::Ack ? sender != senders.end()
                                   : receiver != receivers.end();
  if (!ours) {
    ++counts.foreign;
    return;
  }
  if (h->epoch != current) {
    ++counts.stale;
    return;
  }
  if (h->kind == Kind::Data) {
    receiver->second->data(now, *h, payload);
    return;
  }
  ++counts.received;
  if (h->kind == Kind::Poll)
    receiver->second->poll(*h);
  else
    sender->second->acknowledge(now, *h, readWord(payload));
}

void Endpoint::pushControl(const Header &h, std::span<const uint8_t> payload) {
  bool controller = self == kHostAddress;
  if (controller != (h.kind >= Kind::Status) || (!controller && h.id != self)) {
    ++counts.foreign;
    return;
  }
  if (h.kind == Kind::Open && h.epoch == 0) {
    ++counts.malformed; // E1
    return;
  }
  ++counts.received;
  if (h.kind == Kind::Challenge) {
    // Repeats the request with the token (H6).
    Header again;
    again.kind = h.span == uint8_t(Kind::Probe) ? Kind::Probe : Kind::Open;
    again.epoch = current;
    again.id = h.id;
    setToken(again, tokenOf(h));
    if (urgent.size() < kMaxUrgent)
      urgent.push_back({h.id, encode(again, {})});
    return;
  }
  if (controller) {
    const bool taken = h.kind == Kind::Taken;
    uint64_t word = taken ? 0 : readWord(payload);
    NodeStatus s{h.id,
                 h.epoch,
                 taken,
                 h.sequence,
                 uint16_t(word),
                 uint16_t(word >> 16),
                 uint16_t(word >> 32),
                 uint16_t(word >> 48)};
    if (statuses.size() < kMaxStatuses)
      statuses.push_back(s);
    return;
  }
  if (h.kind == Kind::Open && h.epoch != current)
    open(h.epoch);
  Header answer;
  answer.kind = Kind::Status;
  answer.words = 1;
  answer.epoch = current;
  answer.id = self;
  answer.sequence = h.sequence;
  uint64_t word = uint64_t(saturated(counts.malformed)) |
                  uint64_t(saturated(counts.foreign)) << 16 |
                  uint64_t(saturated(counts.stale)) << 32 |
                  uint64_t(saturated(counts.duplicate)) << 48;
  if (urgent.size() < kMaxUrgent)
    urgent.push_back({kHostAddress, encode(answer, wordBytes(word))});
}

void Endpoint::control(Kind kind, uint16_t node, uint32_t cookie) {
  assert(self == kHostAddress && (kind == Kind::Open || kind == Kind::Probe) &&
         "the controller opens and probes");
  Header h;
  h.kind = kind;
  h.epoch = current;
  h.id = node;
  h.sequence = cookie;
  if (urgent.size() < kMaxUrgent)
    urgent.push_back({node, encode(h, {})});
}

std::optional<NodeStatus> Endpoint::status() {
  if (statuses.empty())
    return std::nullopt;
  NodeStatus s = statuses.front();
  statuses.pop_front();
  return s;
}

std::optional<Outgoing> Endpoint::pull(Time now) {
  if (!urgent.empty()) {
    Outgoing out = std::move(urgent.front());
    urgent.pop_front();
    return out;
  }
  // Acknowledgements and data alternate, so that no channel starves another.
  for (size_t tried = 0; tried < configs.size(); ++tried) {
    const ChannelConfig &config = configs[turn];
    turn = (turn + 1) % configs.size();
    auto bytes = config.transmit ? senders[config.id]->pull(now, current)
                                 : receivers[config.id]->pull(now, current);
    if (bytes)
      return Outgoing{config.peer, std::move(*bytes)};
  }
  return std::nullopt;
}

Time Endpoint::deadline(Time now) const {
  if (!urgent.empty())
    return now;
  Time due = kNever;
  for (const auto &[id, sender] : senders)
    due = std::min(due, sender->deadline(now));
  for (const auto &[id, receiver] : receivers)
    due = std::min(due, receiver->deadline(now));
  return due;
}
} // namespace rhizome::link
