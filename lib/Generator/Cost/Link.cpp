// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes, timing and cost of a link endpoint. Windows follow from bandwidth ×
// delay; LUTs and FFs are linear in the cells' widths and slots, as measured
// with Yosys.
#include "rhizome/Generator/Link.h"
#include "Structure.h"
#include <cmath>

namespace rhizome::gen {
namespace {
constexpr int64_t kHeaderBytes = 16, kAckBytes = 24, kWordBytes = 8;
constexpr int64_t kMaxSlotWords = 128, kMinWindow = 4, kMaxWindow = 64;
/// An acknowledgement after so many datagrams (rhz_link_rx, AckEvery / 2).
constexpr int64_t kAckEvery = 4;
/// Cycles of both endpoints on a datagram's way and its acknowledgement's,
/// without those of their beats.
constexpr double kEndpointCycles = 64;
/// Cycles of a tick, and what counters of ticks are for.
constexpr double kTickCycles = 16;
constexpr int64_t kMaxWaitTicks = 30000, kMaxAckTicks = 4000;
/// Stages between the last beat in and the header out, and between the last
/// beat of a datagram and the first beat to rhz_top.
constexpr int64_t kTransmitStages = 7, kReceiveStages = 8;

int64_t wordsOf(int64_t frameBits) { return cost::ceilDiv(frameBits, 64); }

/// Words of the datagram that ends a frame.
int64_t lastWords(const LinkMedium &medium, int64_t frameBits) {
  return (wordsOf(frameBits) - 1) % linkSlotWords(medium) + 1;
}

/// Bytes of a full datagram on the medium.
double datagramBytes(const LinkMedium &medium) {
  return double(linkSlotWords(medium) * kWordBytes + kHeaderBytes +
                medium.overheadBytes);
}
} // namespace

int64_t linkSlotWords(const LinkMedium &medium) {
  int64_t words = 1;
  while (2 * words <= kMaxSlotWords &&
         2 * words * kWordBytes + kHeaderBytes <= medium.mtuBytes)
    words *= 2;
  return words;
}

double linkRoundTripNs(const LinkMedium &medium, int64_t streamBits,
                       double clockMhz) {
  double beats = double(linkSlotWords(medium) * 64 / streamBits);
  // A datagram is stored whole at both ends; it shares the medium with one
  // other.
  double endpoint = 1000 / clockMhz * (2 * beats + kEndpointCycles);
  double wire = 2 * datagramBytes(medium) * 8e9 / medium.bitsPerS;
  return 2 * medium.latencyNs + endpoint + wire;
}

int64_t linkWindow(const LinkChannel &channel, int64_t streamBits,
                   double clockMhz) {
  const LinkMedium &medium = channel.medium;
  double perS =
      std::min(medium.bitsPerS / 8 / datagramBytes(medium),
               clockMhz * 1e6 * double(streamBits) / 8 /
                   double(linkSlotWords(medium) * kWordBytes + kHeaderBytes));
  double slots =
      perS * linkRoundTripNs(medium, streamBits, clockMhz) * 1e-9 + kAckEvery;
  // Both ends hold a window each on a medium that may lose.
  double held = double(channel.minBufferBits) /
                double(linkSlotWords(medium) * 64) / (medium.reliable ? 1 : 2);
  int64_t window = kMinWindow;
  while (window < kMaxWindow && double(window) < std::max(slots, held))
    window *= 2;
  return window;
}

int64_t linkTransmitSlots(const LinkChannel &channel, int64_t streamBits,
                          double clockMhz) {
  return channel.medium.reliable ? 2
                                 : linkWindow(channel, streamBits, clockMhz);
}

LinkMedium linkMediumFor(const LinkMedium &medium, double framesPerS,
                         int64_t frameBits) {
  LinkMedium needed = medium;
  double wanted = 1.25 * framesPerS * 8 * linkBytesPerFrame(medium, frameBits);
  if (wanted > 0)
    needed.bitsPerS = std::min(medium.bitsPerS, wanted);
  return needed;
}

int64_t linkWaitTicks(const LinkMedium &medium, int64_t streamBits,
                      double clockMhz) {
  double ns =
      1.5 * linkRoundTripNs(medium, streamBits, clockMhz) +
      1000 / clockMhz * kTickCycles * double(linkAckTicks(medium, clockMhz));
  return std::clamp<int64_t>(
      int64_t(std::ceil(ns * clockMhz / 1000 / kTickCycles)), 4, kMaxWaitTicks);
}

int64_t linkAckTicks(const LinkMedium &medium, double clockMhz) {
  // So many datagrams at full rate are acknowledged by their number.
  double ns = kAckEvery * datagramBytes(medium) * 8e9 / medium.bitsPerS;
  return std::clamp<int64_t>(
      int64_t(std::ceil(ns * clockMhz / 1000 / kTickCycles)) + 2, 4,
      kMaxAckTicks);
}

double linkBytesPerFrame(const LinkMedium &medium, int64_t frameBits) {
  auto words = double(wordsOf(frameBits));
  return words * kWordBytes + words / double(linkSlotWords(medium)) *
                                  double(kHeaderBytes + medium.overheadBytes);
}

double linkAckBytesPerFrame(const LinkMedium &medium, int64_t frameBits) {
  double datagrams = double(wordsOf(frameBits)) / double(linkSlotWords(medium));
  return datagrams / kAckEvery * double(kAckBytes + medium.overheadBytes);
}

double linkFramesPerS(const LinkChannel &channel, int64_t streamBits,
                      double clockMhz) {
  const LinkMedium &medium = channel.medium;
  double wire =
      medium.bitsPerS / 8 / linkBytesPerFrame(medium, channel.frameBits);
  auto slotWords = double(linkSlotWords(medium));
  double words = double(wordsOf(channel.frameBits));
  // A datagram's beats, two of header words and the gap to the next.
  double beats = (slotWords + 2) * 64 / double(streamBits) + 4;
  double stream = clockMhz * 1e6 / beats * slotWords / words;
  double window =
      double(linkWindow(channel, streamBits, clockMhz) - kAckEvery) * 1e9 /
      linkRoundTripNs(medium, streamBits, clockMhz) * slotWords / words;
  return std::min({wire, stream, window});
}

int64_t linkTransmitCycles(const LinkMedium &medium, int64_t frameBits,
                           int64_t streamBits) {
  return kTransmitStages + (lastWords(medium, frameBits) + 2) * 64 / streamBits;
}

int64_t linkReceiveCycles(const LinkMedium &medium, int64_t frameBits,
                          int64_t streamBits) {
  return kReceiveStages + lastWords(medium, frameBits) * 64 / streamBits;
}

Resources endpointCost(const LinkEndpoint &endpoint,
                       const CostContext &context) {
  Resources r;
  if (endpoint.channels.empty())
    return r;
  auto width = double(endpoint.streamBits);
  auto add = [&](double lut, double ff) {
    r.lut() += lut;
    r.ff() += ff;
  };
  auto memory = [&](int64_t words, int64_t bits) {
    cost::Memory m = cost::memoryOf(words, bits, context);
    r.bram() += m.blocks;
    r.lut() += m.luts;
    r.lutram() += m.luts;
    r.ff() += m.ffs;
  };
  // Four inputs do about two thirds of what six do.
  double luts = context.lutInputs >= 6 ? 1 : 1.5;
  add(luts * (220 + width), 420 + 5 * width);
  for (const LinkChannel &channel : endpoint.channels) {
    int64_t beats = linkSlotWords(channel.medium) * 64 / endpoint.streamBits;
    int64_t window =
        linkWindow(channel, endpoint.streamBits, endpoint.clockMhz);
    auto slots = double(window);
    if (channel.transmit) {
      int64_t stored =
          linkTransmitSlots(channel, endpoint.streamBits, endpoint.clockMhz);
      memory(stored * beats, endpoint.streamBits);
      bool retains = !channel.medium.reliable;
      add(luts * (retains ? 460 : 260), (retains ? 420 : 280) + 2 * width);
    } else {
      memory(window * beats, endpoint.streamBits);
      add(luts * (250 + 2 * slots), 260 + slots + 2 * width);
    }
    add(luts * width / 2, 0); // its part of the multiplexer
  }
  return r;
}
} // namespace rhizome::gen
