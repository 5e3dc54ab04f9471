// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes, timing and cost of a link endpoint. Windows follow from bandwidth ×
// delay; LUTs and FFs are linear in the cells' widths and slots, as measured
// with Yosys.
#include "rhizome/Cost/Link.h"
#include "rhizome/Cost/Structure.h"
#include <cmath>

namespace rhizome::gen {
namespace {
constexpr int64_t kHeaderBytes = 16, kAckBytes = 24, kWordBytes = 8;
constexpr int64_t kMaxSlotWords = 128, kMinWindow = 4, kMaxWindow = 64;
/// An acknowledgement after this many datagrams (rhz_link_rx, AckEvery / 2).
constexpr int64_t kAckEvery = 4;
/// One acknowledgement in the time of so many full datagrams of the link takes
/// half a percent of it, as in the C++ peer.
constexpr int64_t kAckDatagrams = 16;
/// Cycles of both endpoints on the path of a datagram and its acknowledgement,
/// without those of their beats.
constexpr double kEndpointCycles = 64;
/// Cycles of a tick, and the uses of tick counters.
constexpr double kTickCycles = 16;
constexpr int64_t kMaxWaitTicks = 30000, kMaxAckTicks = 4000;
/// Stages between the last beat in and the header out, and between the last
/// beat of a datagram and the first beat to rhz_top.
constexpr int64_t kTransmitStages = 7, kReceiveStages = 8;

int64_t wordsOf(int64_t frameBits) { return cost::ceilDiv(frameBits, 64); }

/// Bytes of a full datagram on the medium.
double datagramBytes(const Medium &medium) {
  return double(linkSlotWords(medium) * kWordBytes + kHeaderBytes +
                medium.overheadBytes);
}
} // namespace

int64_t linkSlotWords(const Medium &medium) {
  int64_t words = 1;
  while (2 * words <= kMaxSlotWords &&
         2 * words * kWordBytes + kHeaderBytes <= medium.mtuBytes)
    words *= 2;
  return words;
}

double linkRoundTripNs(const Medium &medium, int64_t streamBits,
                       double clockMhz) {
  double beats = double(linkSlotWords(medium) * 64 / streamBits);
  // A datagram is stored completely at both ends. A shell takes two in advance:
  // with fewer places, the medium would run dry, or slots that end with a frame
  // would leave half empty although others wait.
  double endpoint = 1000 / clockMhz * (2 * beats + kEndpointCycles);
  double ahead = medium.isReliable() ? 1 : 2;
  double wire = (ahead + 1) * datagramBytes(medium) * 8e9 / medium.bitsPerS;
  return double(2 * medium.latencyNs) + endpoint + wire;
}

int64_t linkWindow(const LinkChannel &channel, int64_t streamBits,
                   double clockMhz) {
  const Medium &medium = channel.medium;
  double perS =
      std::min(medium.bitsPerS / 8 / datagramBytes(medium),
               clockMhz * 1e6 * double(streamBits) / 8 /
                   double(linkSlotWords(medium) * kWordBytes + kHeaderBytes));
  double slots =
      perS * linkRoundTripNs(medium, streamBits, clockMhz) * 1e-9 + kAckEvery;
  // Both ends hold a window each on a medium that may lose datagrams.
  double held = double(channel.minBufferBits) /
                double(linkSlotWords(medium) * 64) /
                (medium.isReliable() ? 1 : 2);
  int64_t window = kMinWindow;
  while (window < kMaxWindow && double(window) < std::max(slots, held))
    window *= 2;
  return window;
}

int64_t linkTransmitSlots(const LinkChannel &channel, int64_t streamBits,
                          double clockMhz) {
  return channel.medium.isReliable()
             ? 2
             : linkWindow(channel, streamBits, clockMhz);
}

Medium linkMediumFor(const Medium &medium, double framesPerS,
                     int64_t frameBits) {
  Medium needed = medium;
  double wanted = 1.25 * framesPerS * 8 * linkBytesPerFrame(medium, frameBits);
  if (wanted > 0)
    needed.bitsPerS = std::min(medium.bitsPerS, wanted);
  return needed;
}

int64_t linkWaitTicks(const LinkChannel &channel, int64_t streamBits,
                      double clockMhz) {
  double ns =
      1.5 * linkRoundTripNs(channel.link, streamBits, clockMhz) +
      1000 / clockMhz * kTickCycles * double(linkAckTicks(channel, clockMhz));
  return std::clamp<int64_t>(
      int64_t(std::ceil(ns * clockMhz / 1000 / kTickCycles)), 4, kMaxWaitTicks);
}

int64_t linkAckTicks(const LinkChannel &channel, double clockMhz) {
  // At full rate, this many datagrams are acknowledged because of their number.
  const double bits = 8e9 * datagramBytes(channel.link);
  const double ns = std::min(kAckEvery * bits / channel.medium.bitsPerS,
                             kAckDatagrams * bits / channel.link.bitsPerS);
  return std::clamp<int64_t>(
      int64_t(std::ceil(ns * clockMhz / 1000 / kTickCycles)) + 2, 4,
      kMaxAckTicks);
}

double linkBytesPerFrame(const Medium &medium, int64_t frameBits) {
  auto words = double(wordsOf(frameBits));
  return words * kWordBytes + words / double(linkSlotWords(medium)) *
                                  double(kHeaderBytes + medium.overheadBytes);
}

double linkAckBytesPerFrame(const Medium &medium, int64_t frameBits) {
  double datagrams = double(wordsOf(frameBits)) / double(linkSlotWords(medium));
  return datagrams / kAckEvery * double(kAckBytes + medium.overheadBytes);
}

int64_t linkTransmitCycles(int64_t words, int64_t streamBits) {
  return kTransmitStages + linkStreamCycles(words, streamBits);
}

int64_t linkStreamCycles(int64_t words, int64_t streamBits) {
  return (words + kHeaderBytes / kWordBytes) * 64 / streamBits;
}

int64_t linkReceiveCycles() { return kReceiveStages; }

Resources guardCost(bool writes, int64_t bits, const CostContext &context) {
  // What Yosys makes of rhz_mem_guard and rhz_mem_write_guard, for UltraScale+
  // and for ECP5; beats that are written pass through a register.
  const bool isWide = context.lutInputs >= 6;
  Resources r;
  r.lut() = isWide ? 118 : 288;
  r.ff() = 94;
  if (writes) {
    r.lut() += isWide ? 47 : 148;
    r.ff() += 98 + double(bits);
  }
  return r;
}

Resources endpointCost(const LinkEndpoint &endpoint,
                       const CostContext &context) {
  Resources r;
  if (endpoint.channels.empty())
    return r;
  auto width = double(endpoint.streamBits);
  bool parts = endpoint.streamBits < 64; // beats that form a word
  // Measured with six-input LUTs; with four inputs it takes half as many again.
  double luts = context.lutInputs >= 6 ? 1 : 1.55;
  auto add = [&](double lut, double ff) {
    r.lut() += luts * lut;
    r.ff() += ff;
  };
  auto memory = [&](int64_t words, int64_t bits) {
    cost::Memory m = cost::memoryOf(words, bits, context);
    r.bram() += m.blocks;
    r.lut() += m.luts;
    r.lutram() += m.luts;
    r.ff() += m.ffs;
  };
  // Parser, epochs and counters, and the multiplexer's buffer.
  add(parts ? 340 : 290, 840 - width);
  memory(2, endpoint.streamBits + 17);
  for (const LinkChannel &channel : endpoint.channels) {
    int64_t beats = linkSlotWords(channel.medium) * 64 / endpoint.streamBits;
    int64_t window =
        linkWindow(channel, endpoint.streamBits, endpoint.clockMhz);
    int64_t slots =
        channel.transmit
            ? linkTransmitSlots(channel, endpoint.streamBits, endpoint.clockMhz)
            : window;
    auto places = double(slots);
    bool retains = !channel.medium.isReliable();
    memory(slots * beats, endpoint.streamBits);
    memory(4, endpoint.streamBits + 1); // the output's buffer
    memory(slots, channel.transmit ? 16 : 8);
    if (!channel.transmit) {
      add(270 + 3.6 * places + (parts ? 45 : 0),
          382 + 0.6 * width + 2.4 * places);
    } else if (retains) {
      add(600 + 0.9 * places, 560 + 0.6 * width + 0.5 * places);
      memory(slots, 16); // the time when each was sent
    } else {
      add(parts ? 395 : 370, 384 + 0.6 * width);
    }
    add(0.36 * (width + 40), 2); // its part of the multiplexer
  }
  return r;
}
} // namespace rhizome::gen
