// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's own unit kind with a memory port next to its streams: description
// and model of plug_offset.sv. It exists as long as a WithOffset.
#pragma once

#include "rhizome/Generator/UnitModel.h"

namespace rhizome::test {
constexpr unit::Parameter kOffsetParameters[] = {
    {"DataWidth", 8, 1024, std::nullopt, true, "bits of a beat"},
    {"Words", 1, 1 << 20, std::nullopt, true, "beats of the segment"},
    {"Burst", 1, 256, std::nullopt, true, "beats of a burst"},
    {"Page", 0, 1 << 20, 0, true, "of 4 KiB, on which the segment begins"},
    {"Places", 2, 1 << 20, std::nullopt, true, "of what is read ahead"},
    {"Depth", 2, 1 << 20, std::nullopt, true, "places of the output buffer"},
    {"frameBeats", 0, int64_t(1) << 50, std::nullopt, false, "beats a frame"}};
inline int64_t offsetBits(const int64_t *v) { return v[0]; }
inline int64_t offsetBeats(const int64_t *v) { return v[6]; }
inline int64_t offsetOne(const int64_t *) { return 1; }
inline int64_t offsetNone(const int64_t *) { return 0; }
inline int64_t offsetBytes(const int64_t *v) { return v[6] * v[0] / 8; }
inline int64_t offsetBurst(const int64_t *v) { return v[2]; }
inline int64_t offsetInFlight(const int64_t *v) {
  int64_t burst = std::min(v[1], v[2]);
  return (v[4] + burst - 1) / burst + (v[4] + v[1] - 1) / v[1];
}
constexpr unit::Port kOffsetPorts[] = {
    {"in", unit::Protocol::Stream, true, offsetBits, offsetBeats, offsetOne,
     "DataWidth", "frameBeats"},
    {"mem",
     unit::Protocol::Axi4Read,
     false,
     offsetBits,
     offsetNone,
     offsetOne,
     "DataWidth",
     "0",
     {offsetBytes, offsetBurst, offsetInFlight, "Page"}},
    {"out", unit::Protocol::Stream, false, offsetBits, offsetBeats, offsetOne,
     "DataWidth", "frameBeats"}};
constexpr unit::SourceFile kOffsetSources[] = {
    {"rhz_counter.sv"},
    {"rhz_outbuf.sv"},
    {"rhz_mem_requests.sv"},
    {"rhz_mem_reader.sv"},
    {"plug_offset.sv", false, RHIZOME_SOURCE_DIR "/unittests/Generator"}};
constexpr const char *kOffsetCharacterized[] = {"plug_offset"};
inline const unit::Kind kOffset = {"plug_offset",
                                   "a stream and a segment, added",
                                   "plug_offset",
                                   "",
                                   {},
                                   kOffsetParameters,
                                   {},
                                   kOffsetPorts,
                                   {},
                                   {},
                                   kOffsetSources,
                                   kOffsetCharacterized};

class OffsetUnit final : public gen::UnitModel {
public:
  OffsetUnit() : UnitModel(kOffset) {}
  int64_t latency(const unit::Instance &a) const override {
    return 1 + gen::bufferLatency(a);
  }
  void processes(const gen::Actor &a, gen::ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    int64_t words = a.get("Words"), places = a.get("Places"),
            beats = a.get("frameBeats");
    int ahead = network.addChannel(a.name, places, places > 64 ? 3 : 2);
    gen::addReader(a, network, 0, words, std::min(words, a.get("Burst")),
                   beats / words, ahead);
    gen::addProcess(a, network, {gen::Phase::of(beats, {1, 1}, {1})}, 1,
                    {inputs[0], ahead}, outputs);
  }
  void structure(gen::cost::Builder &b) const override {
    int64_t bits = b.get("DataWidth");
    b.ff(double(2 + 2 * bits));
    b.adder(double(bits / 8), 8);
    b.outbuf(b.get("Places"), bits);
    b.outbuf(b.get("Depth"), bits);
  }
};

struct WithOffset {
  WithOffset() { gen::addUnit(std::make_unique<OffsetUnit>()); }
  ~WithOffset() { gen::removeUnit(kOffset.name); }
};
} // namespace rhizome::test
