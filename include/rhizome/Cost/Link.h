// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The link endpoint of a node as the explorer sees it: the size of its buffers,
// its cost, and the traffic and the time of a frame on a medium.
// The protocol is in docs/spec/link.md, the cells are rtl/src/rhz_link_*.
#pragma once

#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Resources.h"
#include "rhizome/Support/Medium.h"

namespace rhizome::gen {
/// One channel as seen by one of its two nodes.
struct LinkChannel {
  int64_t id = 0;
  bool transmit = false;
  int64_t frameBits = 0; ///< elements × width, bit-packed
  int64_t peer = 0;      ///< the other node's address
  int64_t port = 0;      ///< index of rhz_top's s_axis_… or m_axis_…
  /// The channel carries the frames f with f mod every == first.
  int64_t first = 0, every = 1;
  Medium medium; ///< what the channel needs of its link: linkMediumFor
  Medium link;   ///< the link itself
  /// What both ends together must be able to hold, so that paths that fork and
  /// join across nodes cannot block each other.
  int64_t minBufferBits = 0;
};

/// A node's endpoint: its byte streams to the shell and its channels.
struct LinkEndpoint {
  int64_t address = 1;
  int64_t streamBits = 64; ///< 8, 16, 32 or 64
  double clockMhz = 0;
  std::vector<LinkChannel> channels;
};

/// 64-bit words of payload in a full datagram: the largest power of two, at
/// most 128, that fits the medium's datagrams.
int64_t linkSlotWords(const Medium &medium);
/// Nanoseconds from sending a datagram to receiving its acknowledgement,
/// including the time of both endpoints.
double linkRoundTripNs(const Medium &medium, int64_t streamBits,
                       double clockMhz);
/// Datagrams that may be in flight or wait at the receiver: enough to cover
/// bandwidth × delay, a power of two from 4 to 64.
int64_t linkWindow(const LinkChannel &channel, int64_t streamBits,
                   double clockMhz);
/// Slots of the transmitter's memory: the window, or two on a reliable medium.
int64_t linkTransmitSlots(const LinkChannel &channel, int64_t streamBits,
                          double clockMhz);

/// The medium for a channel of `framesPerS` frames: windows cover
/// the wanted rate plus a quarter, not the full rate of the medium.
Medium linkMediumFor(const Medium &medium, double framesPerS,
                     int64_t frameBits);
/// Ticks of 16 cycles: until a datagram counts as lost, and for which a
/// receiver waits for more before it acknowledges. The link's rate decides: a
/// channel that needs little of it repairs a loss as soon as the others.
int64_t linkWaitTicks(const LinkChannel &channel, int64_t streamBits,
                      double clockMhz);
int64_t linkAckTicks(const LinkChannel &channel, double clockMhz);

/// Bytes that a frame takes on the medium at full rate, and those of its
/// acknowledgements take in the other direction.
double linkBytesPerFrame(const Medium &medium, int64_t frameBits);
double linkAckBytesPerFrame(const Medium &medium, int64_t frameBits);
/// Cycles for which a datagram of this many payload words is on a byte stream;
/// from the last beat that fills it at rhz_top until it has left; and from its
/// last beat on the byte stream until its first one reaches rhz_top, one per
/// cycle from then on. Without other traffic on the link.
int64_t linkStreamCycles(int64_t words, int64_t streamBits);
int64_t linkTransmitCycles(int64_t words, int64_t streamBits);
int64_t linkReceiveCycles();

/// The resources of the endpoint: everything in rhz_node except rhz_top and
/// the guards of its memory ports.
Resources endpointCost(const LinkEndpoint &endpoint,
                       const CostContext &context);
/// The resources of what guards a memory port with so many bits of data.
Resources guardCost(bool writes, int64_t bits, const CostContext &context);
} // namespace rhizome::gen
