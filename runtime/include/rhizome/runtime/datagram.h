// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A datagram of the link protocol, read and written. Format and meaning:
// docs/spec/link.md, clauses D1 to D7 and H5 to H8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rhizome::link {
enum class Kind : uint8_t {
  Data = 0,   ///< payload of a channel
  Poll = 1,   ///< asks a receiver for an acknowledgement
  Ack = 2,    ///< what a receiver has, and how much more it accepts
  Open = 3,   ///< the controller begins an epoch
  Probe = 4,  ///< the controller asks for a status
  Status = 5, ///< a node's answer to Open and Probe
  /// A node's answers to an Open or a Probe from an unknown address:
  Challenge = 6, ///< try again with this token
  Taken = 7,     ///< another controller is active
};

constexpr unsigned kVersion = 1;
constexpr size_t kHeaderBytes = 16, kWordBytes = 8;
/// The exclusive or of the header's eight 16-bit words.
constexpr uint16_t kCheck = 0x6852;
constexpr uint8_t kNoFrameStart = 0xff;
/// Sequence numbers covered by an acknowledgement's map.
constexpr unsigned kMapBits = 64;
constexpr unsigned kMaxSlotWords = 128;

/// Fields that a kind does not use are zero.
struct Header {
  Kind kind = Kind::Data;
  uint8_t words = 0; ///< of payload, 8 bytes each
  uint16_t epoch = 0;
  uint16_t id = 0; ///< the channel; for Open, Probe and Status the node
  /// Data: the datagram's number; Poll: one above the latest number sent; Ack:
  /// the first number not delivered; Open, Probe and Status: a cookie;
  /// Challenge, and Open and Probe that answer one: the token's low 32 bits.
  uint32_t sequence = 0;
  /// Data: word at which a frame begins; Ack: window; with a token: its rest.
  uint8_t first = 0;
  /// Ack: highest known number + 1 - sequence; Challenge: the kind that it
  /// answers.
  uint8_t span = 0;
};
constexpr unsigned kTokenBits = 40;
inline uint64_t tokenOf(const Header &header) {
  return header.sequence | uint64_t(header.first) << 32;
}
inline void setToken(Header &header, uint64_t token) {
  header.sequence = uint32_t(token);
  header.first = uint8_t(token >> 32);
}

/// Header and payload as bytes; `payload` has 8 · header.words bytes.
std::vector<uint8_t> encode(const Header &header,
                            std::span<const uint8_t> payload);
/// Nothing if the bytes are not a datagram of this version: length, check,
/// kind.
std::optional<Header> decode(std::span<const uint8_t> datagram);

/// Little-endian 64-bit words of a payload.
uint64_t readWord(std::span<const uint8_t> bytes);
std::vector<uint8_t> wordBytes(uint64_t word);
} // namespace rhizome::link
