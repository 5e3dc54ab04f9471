// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A design that is no network: five bytes in, twenty bits out, neither of them
// whole beats. Another one has that as one region and a second one besides, of
// other sizes.
#pragma once

#include "rhizome/runtime/driver.h"

namespace toy {
using rhizome::runtime::Bytes;
using rhizome::runtime::Design;

inline Design design(const std::string &folder) {
  Design design;
  design.name = "toy";
  design.folder = folder;
  design.inputs = {{"s_axis_0", 40, 32}};
  design.outputs = {{"m_axis_0", 20, 16}};
  return design;
}

/// Three bytes to forty bits are the second region.
inline Design regions(const std::string &folder) {
  Design both = design(folder);
  both.inputs.push_back({"s_axis_1", 24, 16});
  both.outputs.push_back({"m_axis_1", 40, 32});
  both.regions = {{0, 1, 0, 1}, {1, 1, 1, 1}};
  return both;
}

/// The answer's frameBytes(); of `frame` only the first five count.
inline Bytes compute(const Bytes &frame) {
  uint64_t value = 0;
  for (int i = 4; i >= 0; --i)
    value = value << 8 | frame[size_t(i)];
  value = (value * 0x9E3779B97F4A7C15u >> 20) & 0xfffff;
  return {uint8_t(value), uint8_t(value >> 8), uint8_t(value >> 16)};
}

/// A device that keeps the low byte of its answer, which changes the next one.
struct Keeping {
  uint8_t kept = 7;
  Bytes compute(const Bytes &frame) {
    Bytes answer = toy::compute(frame);
    kept = answer[0] ^= kept;
    return answer;
  }
};

/// The answer of a region; of the second one's frame only three bytes count.
inline Bytes compute(size_t region, const Bytes &frame) {
  if (region == 0)
    return compute(frame);
  return {frame[2], uint8_t(frame[0] + frame[1]), uint8_t(~frame[0]), frame[1],
          uint8_t(7 * frame[2])};
}

/// Frame number `number`.
inline Bytes frame(uint64_t number) {
  Bytes bytes;
  for (uint64_t i = 0; i < 5; ++i)
    bytes.push_back(uint8_t((number + 1) * (37 * i + 11)));
  return bytes;
}
/// Of a region.
inline Bytes frame(size_t region, uint64_t number) {
  Bytes bytes = frame(number + 100 * region);
  bytes.resize(region == 0 ? 5 : 3);
  return bytes;
}
} // namespace toy
