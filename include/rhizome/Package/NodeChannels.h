// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan's channels as seen by one of its nodes, in the order of
// rhz_node; used to emit, simulate and wrap a node.
#pragma once

#include "rhizome/Package/Plan.h"

namespace rhizome {
/// One channel at one node.
struct NodeChannel {
  const Channel *channel = nullptr;
  const PlannedLink *link = nullptr;
  bool transmit = false;
  unsigned port = 0; ///< index in the node's inputs or outputs
  uint16_t peer = 0; ///< address of the other end
  /// Of the frames that this node handles, counted from 0, those with
  /// k mod every == first pass the channel. A replica handles the frames of
  /// its index only.
  int64_t first = 0, every = 1;
  int64_t frameBits() const {
    return channel->elements * int64_t(channel->element.width());
  }
};

/// Receiving channels by input, then transmitting ones by output; those of one
/// port by `first`, then in the plan's order. Replicas have equal lists except
/// for ids, peers and `first`.
std::vector<NodeChannel> nodeChannels(const Plan &plan,
                                      const PlannedNode &node);

/// The constant input `channels_i` of rhz_node: for every channel
/// 48 bits, {first, peer, id} with the id lowest, as three 16-bit parts each,
/// the first channel first.
std::vector<uint16_t> nodeConfiguration(const Plan &plan,
                                        const PlannedNode &node);
} // namespace rhizome
