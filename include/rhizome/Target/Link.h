// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A medium between nodes: how fast, how far and how reliable it is, read from
// one data file each (data/links/*.yaml).
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace rhizome {
struct Link {
  /// Udp: datagrams that may be lost, repeated or reordered. Wire: reliable, in
  /// order, with flow control.
  enum class Kind { Udp, Wire };

  std::string name;
  std::string description;
  Kind kind = Kind::Udp;
  double bitsPerS = 0;   ///< in one direction; both work at once
  int64_t latencyNs = 0; ///< of one bit from one node's shell to the other's
  /// The largest payload that crosses in one piece (of UDP what follows its
  /// header), the header of our frame protocol included.
  int64_t mtuBytes = 0;
  /// What the medium adds to every such piece: preamble, headers, checksum,
  /// gap.
  int64_t overheadBytes = 0;
  std::vector<std::string> sources; ///< where the figures come from

  /// Seconds that a piece with `payload` bytes, at most mtuBytes, holds it.
  double secondsFor(int64_t payload) const {
    return double(payload + overheadBytes) * 8 / bitsPerS;
  }
};

/// "udp", "wire".
llvm::StringRef nameOf(Link::Kind kind);

/// Reads a link by its name or from a path, as loadDevice does.
llvm::Expected<Link> loadLink(llvm::StringRef nameOrPath);

/// All links of the data folder, by name in ascending order.
llvm::Expected<std::vector<Link>> listLinks();
} // namespace rhizome
