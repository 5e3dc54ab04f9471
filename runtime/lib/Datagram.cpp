// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/datagram.h"
#include <algorithm>
#include <cassert>

namespace rhizome::link {
namespace {
void put(std::vector<uint8_t> &bytes, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    bytes[at + i] = uint8_t(value >> 8 * i);
}

uint64_t get(std::span<const uint8_t> bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= uint64_t(bytes[at + i]) << 8 * i;
  return value;
}

uint16_t joined(std::span<const uint8_t> header) {
  uint64_t value = 0;
  for (size_t at = 0; at < kHeaderBytes; at += 2)
    value ^= get(header, at, 2);
  return uint16_t(value);
}
} // namespace

std::vector<uint8_t> encode(const Header &h, std::span<const uint8_t> payload) {
  assert(payload.size() == h.words * kWordBytes && "payload is whole words");
  std::vector<uint8_t> bytes(kHeaderBytes + payload.size());
  bytes[0] = uint8_t(kVersion << 4 | unsigned(h.kind));
  bytes[1] = h.words;
  put(bytes, 2, h.epoch, 2);
  put(bytes, 4, h.id, 2);
  put(bytes, 8, h.sequence, 4);
  bytes[12] = h.first;
  bytes[13] = h.span;
  put(bytes, 6, joined(bytes) ^ kCheck, 2);
  std::copy(payload.begin(), payload.end(), bytes.begin() + kHeaderBytes);
  return bytes;
}

std::optional<Header> decode(std::span<const uint8_t> datagram) {
  if (datagram.size() < kHeaderBytes || joined(datagram) != kCheck ||
      datagram[0] >> 4 != kVersion ||
      (datagram[0] & 15) > unsigned(Kind::Taken) ||
      datagram.size() != kHeaderBytes + datagram[1] * kWordBytes)
    return std::nullopt;
  Header h;
  h.kind = Kind(datagram[0] & 15);
  h.words = datagram[1];
  h.epoch = uint16_t(get(datagram, 2, 2));
  h.id = uint16_t(get(datagram, 4, 2));
  h.sequence = uint32_t(get(datagram, 8, 4));
  h.first = datagram[12];
  h.span = datagram[13];
  // Each kind has its size.
  bool one = h.kind == Kind::Ack || h.kind == Kind::Status;
  bool fits = h.kind == Kind::Data ? h.words >= 1 && h.words <= kMaxSlotWords
                                   : h.words == (one ? 1 : 0);
  if (!fits)
    return std::nullopt;
  return h;
}

uint64_t readWord(std::span<const uint8_t> bytes) { return get(bytes, 0, 8); }

std::vector<uint8_t> wordBytes(uint64_t word) {
  std::vector<uint8_t> bytes(kWordBytes);
  put(bytes, 0, word, kWordBytes);
  return bytes;
}
} // namespace rhizome::link
