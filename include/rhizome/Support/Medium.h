// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A physical medium between two nodes, as link files describe it, plans carry
// it, and exploration, endpoints and simulation reckon with it.
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
  double bitsPerS = 0;   ///< in one direction; both work at once
  int64_t latencyNs = 0; ///< of one bit from one node's shell to the other's
  /// The largest payload that crosses in one piece (of UDP what follows its
  /// header), the header of our frame protocol included.
  int64_t mtuBytes = 1472;
  /// What the medium adds to every such piece: preamble, headers, checksum,
  /// gap.
  int64_t overheadBytes = 66;

  /// Loses and reorders nothing, so that no memory for retransmission is
  /// needed.
  bool isReliable() const { return kind == Kind::Wire; }
  /// Seconds that a piece with `payload` bytes, at most mtuBytes, holds it.
  double secondsFor(int64_t payload) const {
    return double(payload + overheadBytes) * 8 / bitsPerS;
  }
  bool operator==(const Medium &) const = default;
};

/// "udp", "wire": for files.
inline llvm::StringRef nameOf(Medium::Kind kind) {
  return kind == Medium::Kind::Udp ? "udp" : "wire";
}
/// The kind of that name.
inline std::optional<Medium::Kind> mediumKindOf(llvm::StringRef name) {
  for (Medium::Kind kind : {Medium::Kind::Udp, Medium::Kind::Wire})
    if (name == nameOf(kind))
      return kind;
  return std::nullopt;
}
} // namespace rhizome
