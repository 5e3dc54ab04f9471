// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A physical medium between two nodes, as described by link files and plans
// and used by exploration, endpoints and simulation.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace rhizome {
struct Medium {
  /// Udp: datagrams that may be lost, repeated or reordered. Wire (LVDS,
  /// Aurora, PCIe): reliable, in order, with flow control.
  enum class Kind : uint8_t { Udp, Wire };

  Kind kind = Kind::Udp;
  double bitsPerS = 0;   ///< in each direction, at the same time
  int64_t latencyNs = 0; ///< of one bit from one node's shell to the other's
  /// The largest payload of one packet (for UDP, without its
  /// header), including the header of our frame protocol.
  int64_t mtuBytes = 1472;
  /// What the medium adds to every packet: preamble, headers, checksum,
  /// gap.
  int64_t overheadBytes = 66;

  /// Never loses or reorders, so no memory for retransmission is
  /// needed.
  bool isReliable() const { return kind == Kind::Wire; }
  /// Seconds for which a packet with `payload` bytes, at most mtuBytes,
  /// occupies it.
  double secondsFor(int64_t payload) const {
    return double(payload + overheadBytes) * 8 / bitsPerS;
  }
  bool operator==(const Medium &) const = default;
};

/// "udp", "wire": for files.
inline llvm::StringRef nameOf(Medium::Kind kind) {
  return kind == Medium::Kind::Udp ? "udp" : "wire";
}
/// The kind with this name.
inline std::optional<Medium::Kind> mediumKindOf(llvm::StringRef name) {
  for (Medium::Kind kind : {Medium::Kind::Udp, Medium::Kind::Wire})
    if (name == nameOf(kind))
      return kind;
  return std::nullopt;
}
} // namespace rhizome
