// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan's channels as one party's link endpoint wants them, and which of them
// a port's next frame takes.
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/runtime/link.h"

namespace rhizome::cluster {
/// The channels of the party `name` (a node's, or kHost) for its endpoint.
std::vector<link::ChannelConfig> channelsOf(const Plan &plan,
                                            llvm::StringRef name);

/// The address of a node, or the host's.
uint16_t addressOf(const Plan &plan, llvm::StringRef name);

/// The ports of a party and the channels behind each. Frames are numbered over
/// the whole service; a replica sees every count-th of them.
class Routes {
public:
  /// Of all inputs (or outputs) of a party. The host's inputs are what it
  /// receives: its ports "output0", "output1", …
  Routes(const Plan &plan, llvm::StringRef name, bool receives);
  size_t size() const { return ports.size(); }
  /// The channels that port `k`'s next frame uses: one if it receives, all of
  /// a broadcast if it sends.
  const std::vector<uint16_t> &next(size_t k) const;
  /// The port's next frame is through.
  void advance(size_t k) { ++ports[k].frame; }

private:
  struct Port {
    /// By frame modulo its size; the period of all the port's channels.
    std::vector<std::vector<uint16_t>> channels;
    int64_t frame = 0; ///< of this party
  };
  int64_t first = 0, every = 1;
  std::vector<Port> ports;
};
} // namespace rhizome::cluster
